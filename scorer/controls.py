"""Controls that stand beside every result: could the answer be had without looking, or without reading?

- blind: the scorer sees the average image in every image's place; on image_0 alone this is its text prior.
- text only, image only: a linear probe on the pooled embeddings of the evaluated pairs themselves, cross-validated by
  pair, tells side 0 from side 1. Above chance means that the data leak.
- shuffled: the same scorer trained on shuffled labels, where the run has one (train --control-epochs).
- negation probes: pairs of captions that "is the first noun there?" cannot tell apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from generator.records import PairRecord
from scorer import checkpoint
from scorer.bank import Bank, Progress, cache_texts
from scorer.errors import DataError
from scorer.features import Clip
from scorer.functional import Marker
from scorer.metrics import Figure, Values, figure, first_image_accuracy
from scorer.models import ImageTokens, Scorer, TextTokens
from scorer.predict import caption_accuracy, score_pairs
from scorer.seeding import generator

FOLDS = 5
RIDGE = 1e-2
MEAN_OVER = 256  # images averaged into the blind one


def mean_image(bank: Bank) -> Tensor:
    """The average of some images' tokens, as unit tokens (I, D)."""
    rows = torch.unique(bank.image_rows[bank.image_rows >= 0])[:MEAN_OVER]
    return torch.nn.functional.normalize(bank.images.gather(rows).mean(dim=0), dim=-1)


def control_figures(scorer: Scorer, bank: Bank, run: Path, resamples: int, seed: int) -> dict[str, Figure]:
    """All controls that this data and this run allow, by name."""
    blind = score_pairs(scorer, bank, mean_image(bank))
    found = {
        "blind scorer, image_0 alone": first_image_accuracy(blind),
        "text-only probe, image_0 alone": text_probe(bank, seed),
        "image-only probe": image_probe(bank, seed),
    }
    shuffled = run / checkpoint.CONTROL
    if run.is_dir() and shuffled.exists():
        control, _ = checkpoint.load(shuffled, next(scorer.buffers()).device)
        found["trained on shuffled labels"] = caption_accuracy(score_pairs(control, bank))
    return {name: figure(values, resamples, seed, name) for name, values in found.items()}


def text_probe(bank: Bank, seed: int) -> Values:
    """By pair: a linear probe on text alone prefers captions_0 to captions_1 (both versions averaged)."""
    rows = bank.text_rows.permute(0, 2, 1).reshape(-1)  # (P, version, side)
    pooled = bank.text_tokens(rows).pooled.cpu().view(len(bank.pairs), 2, 2, -1)
    return _probe(pooled[:, :, 0] - pooled[:, :, 1], seed)


def image_probe(bank: Bank, seed: int) -> Values:
    """By pair: a linear probe on the images alone tells image_0 from image_1; NaN without a second image."""
    whole = (bank.image_rows >= 0).all(dim=1)
    out = np.full(len(bank.pairs), np.nan)
    if int(whole.sum()) >= 2:
        rows = bank.image_rows[whole]
        pooled = bank.images.gather(rows.flatten())[:, 0].cpu().view(len(rows), 2, -1)
        out[whole.numpy()] = _probe((pooled[:, 0] - pooled[:, 1])[:, None], seed)
    return out


def _probe(differences: Tensor, seed: int) -> Values:
    """(P, K, D) of side 0 minus side 1 -> (P,): is the held-out difference classified as side 0?

    Ridge regression to 1 on the differences, without intercept: what separates the sides in the other folds.
    """
    pairs, versions, width = differences.shape
    if pairs < FOLDS:
        return np.full(pairs, np.nan)
    fold = torch.randperm(pairs, generator=generator(seed, "folds")) % FOLDS
    wide = differences.double()
    out = torch.empty(pairs, versions)
    for k in range(FOLDS):
        x = wide[fold != k].reshape(-1, width)
        gram = x.t() @ x + RIDGE * len(x) * torch.eye(width, dtype=torch.float64)
        weights = torch.linalg.solve(gram, x.sum(dim=0))
        out[fold == k] = (wide[fold == k] @ weights > 0).float()
    return out.mean(dim=1).double().numpy()


@dataclass(frozen=True, slots=True)
class NegationProbe:
    """On one image (side of a pair): the caption that is true of it, and one that denies what is visible."""

    pair: int
    side: int
    true: str
    false: str


def negation_probes(pairs: Sequence[PairRecord]) -> list[NegationProbe]:
    """ "A1 but not B1" against "A1 but not A2" on an image of A1 and A2: only reading the negation tells them apart."""
    probes = []
    for number, pair in enumerate(pairs):
        if pair.fact.kind != "presence":
            continue
        for side in (0, 1) if pair.has_image_1 else (0,):
            probe = _probe_of(pair, side)
            if probe is not None:
                probes.append(NegationProbe(number, side, *probe))
    return probes


def _probe_of(pair: PairRecord, side: int) -> tuple[str, str] | None:
    """The negated caption of this side, and the same with the absent noun replaced by the other one that is there."""
    shown = [item.noun for item in (pair.objects_0, pair.objects_1)[side]]
    others = [item.noun for item in (pair.objects_0, pair.objects_1)[1 - side] if item.noun not in shown]
    captions = (*pair.captions_0, *pair.captions_1)
    for caption in (pair.captions_0, pair.captions_1)[side]:
        named = [noun for noun in shown if _phrase(noun).search(caption)]
        absent = [noun for noun in others if _phrase(noun).search(caption)]
        hidden = [noun for noun in shown if noun not in named]
        if len(named) == len(absent) == len(hidden) == 1:
            visible = next((m.group() for text in captions if (m := _phrase(hidden[0]).search(text))), None)
            if visible is not None:
                return caption, _phrase(absent[0]).sub(visible.lower(), caption)
    return None


def _phrase(noun: str) -> re.Pattern[str]:
    """A noun with its article, if it has one."""
    return re.compile(rf"(?:\b(?:an?|the|some)\s+)?(?<!\w){re.escape(noun)}(?!\w)", re.IGNORECASE)


@torch.inference_mode()
def negation_figures(
    scorer: Scorer, bank: Bank, clip: Clip, marker: Marker, cache: Path, progress: Progress, resamples: int, seed: int
) -> dict[str, Figure]:
    """The probes answered by the scorer with the image, and with the average image (its text prior)."""
    probes = negation_probes(bank.pairs)
    if not probes:
        return {}
    captions = list(dict.fromkeys(text for probe in probes for text in (probe.true, probe.false)))
    row_of = {text: row for row, text in enumerate(captions)}
    read = cache_texts(captions, clip, marker, cache, clip.fingerprint, progress)
    blind = mean_image(bank)[None]
    seen, unseen = np.empty(len(probes)), np.empty(len(probes))
    for number, probe in enumerate(probes):
        rows = read.first[[row_of[probe.true], row_of[probe.false]]]
        tokens = read.store.gather(rows)
        texts = TextTokens(tokens, read.eos[rows].to(tokens.device), read.marks[rows])
        image = bank.images.gather(bank.image_rows[probe.pair, probe.side][None])
        scores = scorer(ImageTokens(torch.cat([image, blind])), texts).float().cpu()
        if not bool(torch.isfinite(scores).all()):
            raise DataError(f"{bank.pairs[probe.pair].key}: the score is not a number")
        seen[number], unseen[number] = (scores[:, 0] > scores[:, 1]).double()
    return {
        "negation: absent noun against hidden noun": figure(seen, resamples, seed, "negation"),
        "negation: the same without the image": figure(unseen, resamples, seed, "negation blind"),
    }
