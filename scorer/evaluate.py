"""Evaluation on held-out pairs: metrics by group with intervals, CLIP's cosine beside, controls, report, figures."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scorer import checkpoint
from scorer.bank import Bank, build_bank
from scorer.cache import default_root
from scorer.checkpoint import Meta
from scorer.configs import EvalConfig, ModelConfig
from scorer.controls import control_figures, negation_figures
from scorer.data import ImageReader, decode
from scorer.errors import CheckpointError, ConfigError
from scorer.features import Clip, load_clip
from scorer.figures import map_figure, scatter_figure
from scorer.functional import Marker
from scorer.metrics import METRICS, Figure, Scores, figure
from scorer.models import Scorer
from scorer.openvocab import rewriter
from scorer.plain import plain_scores
from scorer.predict import score_pairs
from scorer.report import report_text
from scorer.splits import evaluation_shards, show_progress


@dataclass(frozen=True, slots=True)
class Group:
    """Figures of some of the pairs: `name` is like "task: spatial"; metrics and cosine by metric name."""

    name: str
    pairs: int
    metrics: dict[str, Figure]
    cosine: dict[str, Figure]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything an evaluation found."""

    run: str
    model: ModelConfig
    clip: str
    split: str
    pairs: int
    without_image_1: int
    unusable: int
    cut_texts: int
    alike: dict[str, int]
    epoch: int
    groups: list[Group]
    controls: dict[str, Figure]


def evaluate(config: EvalConfig) -> Report:
    """Judge a run; writes report.json, report.md and figures, and returns the report.

    Raises a UserError for unusable runs or data, and when the towers are not those the run was trained with.
    """
    if config.resamples < 0:
        raise ConfigError(f"--resamples {config.resamples}: must not be negative")
    if config.run is None or not config.data:
        raise ConfigError("give the run and its data, or --benchmark NAME --root PATH")
    if config.root is not None or config.clip is not None:
        raise ConfigError("--root and --clip are for --benchmark NAME")
    path = checkpoint.checkpoint_path(config.run)
    shards, split = evaluation_shards(config.data, config.split)
    meta, _ = checkpoint.read(path)
    clip = towers_of(meta, path, config.device)
    scorer, _ = checkpoint.load(path, clip.device)
    cache = config.cache or default_root()
    marker = Marker(meta.lexicon, clip, meta.model.placement, rewriter(meta.model.simplify, config.llm))
    bank = build_bank(shards, clip, marker, cache, show_progress)
    scores, plain = score_pairs(scorer, bank), plain_scores(bank, clip, cache, show_progress)
    groups = [
        Group(
            name,
            len(members),
            _figures(scores[members], config, name),
            _figures(plain[members], config, name),
        )
        for name, members in groups_of(bank, set(meta.seen_nouns)).items()
    ]
    controls = control_figures(scorer, bank, config.run, config.resamples, config.seed)
    controls |= negation_figures(scorer, bank, clip, marker, cache, show_progress, config.resamples, config.seed)
    report = Report(
        run=str(config.run),
        model=meta.model,
        clip=clip.name,
        split=split,
        pairs=len(bank.pairs),
        without_image_1=sum(not pair.has_image_1 for pair in bank.pairs),
        unusable=sum(bank.tally.bad.values()),
        cut_texts=bank.cut_texts,
        alike=dict(bank.alike),
        epoch=meta.epoch,
        groups=groups,
        controls=controls,
    )
    _write(config, config.run, report, scorer, bank, clip, marker, scores, plain)
    return report


def towers_of(meta: Meta, path: Path, device: str) -> Clip:
    """The towers a checkpoint was trained with. CheckpointError when those at hand have other weights."""
    return checked_towers(load_clip(meta.clip, meta.pretrained, meta.model.text_tokens, device), meta, path)


def checked_towers(clip: Clip, meta: Meta, path: Path) -> Clip:
    """`clip` itself. CheckpointError when its weights are not those the checkpoint was trained with."""
    if clip.fingerprint != meta.clip_fingerprint:
        raise CheckpointError(
            f"{path}: was trained with other weights of {clip.name} ({meta.clip_fingerprint}, here {clip.fingerprint})"
        )
    return clip


def groups_of(bank: Bank, seen: set[str]) -> dict[str, list[int]]:
    """Pair numbers of every group worth a line: all, tasks, relations, attribute kinds, functional words, nouns."""
    groups: dict[str, list[int]] = {"all": list(range(len(bank.pairs)))}
    for number, pair in enumerate(bank.pairs):
        names = [f"task: {pair.task}", f"source: {pair.source}"]
        if pair.fact.kind == "relation" and pair.task == "spatial":
            names.append(f"relation: {pair.fact.value_0}")
        elif pair.task == "attribute":
            names.append(f"attribute: {pair.fact.kind}")
        elif pair.task == "negation":
            names.append(f"negation: {pair.words[0]}")
        nouns = {item.noun for item in pair.objects_0 + pair.objects_1}
        names.append(f"nouns: {'all seen in training' if nouns <= seen else 'some unseen in training'}")
        for name in names:
            groups.setdefault(name, []).append(number)
    order = ["all", "task", "relation", "attribute", "negation", "source", "nouns"]
    return dict(sorted(groups.items(), key=lambda item: (order.index(item[0].partition(":")[0]), item[0])))


def _figures(scores: Scores, config: EvalConfig, name: str) -> dict[str, Figure]:
    return {
        metric: figure(values(scores), config.resamples, config.seed, f"{name} {metric}")
        for metric, values in METRICS.items()
    }


def _write(
    config: EvalConfig,
    run: Path,
    report: Report,
    scorer: Scorer,
    bank: Bank,
    clip: Clip,
    marker: Marker,
    scores: Scores,
    plain: Scores,
) -> None:
    base = run if run.is_dir() else run.parent
    out = config.out or base / "eval"
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(_plain(asdict(report)), indent=1), "utf-8")
    (out / "report.md").write_text(report_text(report), "utf-8")
    np.savez(out / "scores.npz", keys=np.array([pair.key for pair in bank.pairs]), scores=scores, cosine=plain)
    scatter_figure(scores, plain, [pair.task for pair in bank.pairs], out / "scatter.png")
    for number in {members[0] for members in bank.families().values()}:
        pair = bank.pairs[number]
        with torch.inference_mode():
            image = bank.image_tokens(bank.image_rows[number, :1])
            texts = bank.text_tokens(bank.text_rows[number, :, 0])
        picture = decode(ImageReader().read(bank.shards[number], pair.key, 0), pair.key)
        captions = marker.read([pair.captions_0[0], pair.captions_1[0]])
        map_figure(scorer, clip, picture, image, texts, captions, out / f"maps-{pair.key}.png")


def _plain(value: Any) -> Any:
    """The same with null for NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
