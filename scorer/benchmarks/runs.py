"""Judges made of CLIP towers: plain CLIP, and trained runs.

Shapes: B images, L texts, T text tokens, I image tokens, D joint dimensions.
"""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from scorer import checkpoint
from scorer.bank import first_alike
from scorer.benchmarks.base import Picture
from scorer.benchmarks.judges import Block, Matrix, Prepared
from scorer.benchmarks.towers import TowerPool, Towers
from scorer.configs import LlmConfig
from scorer.evaluate import checked_towers
from scorer.functional import Marker
from scorer.models import ImageTokens, Scorer, TextTokens
from scorer.models.pooled import Cosine, Projections
from scorer.openvocab import rewriter

MAPS = {"cpu": 256, "cuda": 4096}  # maps made at once
PAIRS = 4096  # pairs of texts compared at once

Item = TypeVar("Item", bound=Hashable)


class CosineJudge:
    """Plain CLIP: the cosine of the pooled embeddings."""

    needs_images = True

    def __init__(self, towers: Towers) -> None:
        self.name = f"CLIP cosine ({towers.clip.name})"
        self.fingerprint = f"cosine {towers.clip.fingerprint}"
        self._towers = towers
        self._pictures: dict[Picture, int] = {}
        self._captions: dict[str, int] = {}
        self._same: dict[str, str] = {}
        self._images = self._texts = torch.empty(0)

    def prepare(self, pictures: Sequence[Picture], captions: Sequence[str]) -> Prepared:
        """Features by place; repeated calls are cheap."""
        bad = self._towers.load_images(pictures)
        good = [picture for picture in pictures if picture not in bad]
        self._towers.load_texts(captions)
        ids, _, cut = self._towers.clip.tokenize(captions)
        self._same = _same(captions, first_alike(ids, ids[:, :0]))
        self._pictures, self._captions = _places(good), _places(captions)
        self._images, self._texts = self._towers.pooled_images(good), self._towers.pooled_texts(captions)
        return Prepared(bad, cut)

    def as_read(self, caption: str) -> str:
        return self._same.get(caption, caption)

    def scores(self, blocks: Sequence[Block]) -> list[Matrix]:
        found = []
        for block in blocks:
            images = self._images[[self._pictures[picture] for picture in block.pictures]]
            texts = self._texts[[self._captions[text] for text in block.captions]]
            found.append(images @ texts.t())
        return _arrays(found)

    def text_scores(self, pairs: Sequence[tuple[str, str]]) -> Matrix:
        first, second = (self._texts[[self._captions[pair[side]] for pair in pairs]] for side in (0, 1))
        close: Matrix = (first * second).sum(dim=1).cpu().numpy()
        return close


class RunJudge:
    """A trained run. name: in reports. path: its checkpoint. Raises CheckpointError when it is not usable."""

    needs_images = True

    def __init__(self, name: str, path: Path, pool: "TowerPool", llm: LlmConfig) -> None:
        meta, _ = checkpoint.read(path)
        self.name = name
        self._towers = pool.of(meta.clip, meta.pretrained)
        self._view = checked_towers(self._towers.view(meta.model.text_tokens), meta, path)
        self._scorer, _ = checkpoint.load(path, self._view.device)
        self._marker = Marker(meta.lexicon, self._view, meta.model.placement, rewriter(meta.model.simplify, llm))
        rewriting = f" {llm.url} {llm.name}" if meta.model.simplify == "llm" else ""
        self.fingerprint = f"run {hashlib.sha256(path.read_bytes()).hexdigest()[:32]}{rewriting}"
        self._pictures: dict[Picture, int] = {}
        self._captions: dict[str, int] = {}
        self._same: dict[str, str] = {}

    def prepare(self, pictures: Sequence[Picture], captions: Sequence[str]) -> Prepared:
        bad = self._towers.load_images(pictures)
        good = [picture for picture in pictures if picture not in bad]
        read = self._marker.read(captions)
        # The captions as they are, too: plain CLIP beside this run reads those, in the same pass.
        self._towers.load_texts([*captions, *read] if read != list(captions) else read)
        ids, self._eos, cut = self._view.tokenize(read)
        self._marks = self._marker.mark(read, ids, self._eos)
        self._same = _same(captions, first_alike(ids, self._marks))
        self._pictures, self._captions = _places(good), _places(captions)
        self._images = self._towers.image_store(good)
        self._texts = self._towers.text_store(read, self._view.shape.text_tokens)
        return Prepared(bad, cut)

    def as_read(self, caption: str) -> str:
        return self._same.get(caption, caption)

    @torch.inference_mode()
    def scores(self, blocks: Sequence[Block]) -> list[Matrix]:
        images = self._images.gather(torch.tensor([self._pictures[p] for block in blocks for p in block.pictures]))
        texts = self._text_tokens([text for block in blocks for text in block.captions])
        found, at, on = [], 0, 0
        for block in blocks:
            below, right = at + len(block.pictures), on + len(block.captions)
            found.append(self._tiles(images[at:below], _slice(texts, on, right)))
            at, on = below, right
        return _arrays(found)

    @torch.inference_mode()
    def text_scores(self, pairs: Sequence[tuple[str, str]]) -> Matrix | None:
        if _text_embedding(self._scorer) is None:
            return None
        found = []
        for start in range(0, len(pairs), PAIRS):
            some = pairs[start : start + PAIRS]
            first, second = (self._embedded([pair[side] for pair in some]) for side in (0, 1))
            found.append((first * second).sum(dim=1))
        close: Matrix = torch.cat(found).cpu().numpy()
        return close

    def _embedded(self, texts: list[str]) -> Tensor:
        embed = _text_embedding(self._scorer)
        assert embed is not None
        return embed(self._text_tokens(texts).pooled)

    def _text_tokens(self, texts: list[str]) -> TextTokens:
        rows = torch.tensor([self._captions[text] for text in texts])
        tokens = self._texts.gather(rows)
        return TextTokens(tokens, self._eos[rows].to(tokens.device), self._marks[rows])

    def _tiles(self, images: Tensor, texts: TextTokens) -> Tensor:
        """A block in tiles that fit in memory. Scores that depend on their company see one image's captions at once."""
        limit = MAPS.get(images.device.type, MAPS["cpu"])
        alone = self._scorer.config.z_score == "batch"
        wide = len(texts.tokens) if alone else min(len(texts.tokens), limit)
        deep = 1 if alone else max(1, limit // wide)
        rows = []
        for at in range(0, len(images), deep):
            some = ImageTokens(images[at : at + deep])
            tiles = [self._scorer(some, _slice(texts, on, on + wide)) for on in range(0, len(texts.tokens), wide)]
            rows.append(torch.cat(tiles, dim=1))
        return torch.cat(rows).float()


def _slice(texts: TextTokens, start: int, stop: int) -> TextTokens:
    part = slice(start, stop)
    return TextTokens(texts.tokens[part], texts.eos[part], texts.marks[part])


def _text_embedding(scorer: Scorer) -> Callable[[Tensor], Tensor] | None:
    """Pooled text (L, D) -> unit embeddings, for scorers that have an embedding of a text alone."""
    if isinstance(scorer, Cosine):
        return lambda pooled: pooled
    if isinstance(scorer, Projections):
        return lambda pooled: torch.nn.functional.normalize(scorer.text(pooled).float(), dim=-1)
    return None


def _arrays(found: list[Tensor]) -> list[Matrix]:
    """All tensors to the host in one transfer."""
    flat = torch.cat([item.reshape(-1) for item in found]).cpu().numpy()
    ends = np.cumsum([item.numel() for item in found])
    return [part.reshape(item.shape) for part, item in zip(np.split(flat, ends[:-1]), found, strict=True)]


def _same(captions: Sequence[str], first: Tensor) -> dict[str, str]:
    """By caption, the one at its place of `first`, (L,)."""
    return {text: captions[place] for text, place in zip(captions, first.tolist(), strict=True)}


def _places(items: Sequence[Item]) -> dict[Item, int]:
    return {item: place for place, item in enumerate(items)}
