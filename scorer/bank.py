"""Everything training and evaluation read: pairs, and their token features by row number.

Shapes: P pairs, N rows asked for, L texts, T text tokens, I image tokens, D joint dimensions.
"""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from generator.records import PairRecord
from scorer.augment import AugmentedImages
from scorer.cache import TokenCache
from scorer.data import LoadedPair, Tally, check_digest, content_key, decode, read_pairs
from scorer.errors import DataError
from scorer.features import Clip
from scorer.functional import Marker
from scorer.models import ImageTokens, TextTokens
from scorer.truth import PairTruth, pair_truths

BATCH = 32
DECODERS = 8
SEGMENT = 512  # images in one cache segment: what an interruption can cost
RESIDENT_SHARE = 0.6  # of a device's free memory that features may take

Progress = Callable[[int, int, str], None]
Select = Callable[[PairRecord], bool]


class EmptyError(DataError):
    """No usable pair is among those asked for."""


class ImageSource(Protocol):
    """Where image tokens come from: the cache, or the towers at every step."""

    def gather(self, rows: Tensor) -> Tensor: ...


class TokenStore:
    """Cached tokens by row number; all of them on the device when they fit there, else memory-mapped."""

    def __init__(self, cache: TokenCache, keys: Sequence[str], device: torch.device) -> None:
        self._cache, self._keys, self._device = cache, keys, device
        self._resident: Tensor | None = None
        if device.type == "cuda":
            size = len(keys) * cache.shape[0] * cache.shape[1] * 2
            if size < RESIDENT_SHARE * torch.cuda.mem_get_info(device)[0]:
                self._resident = torch.empty((len(keys), *cache.shape), dtype=torch.float16, device=device)
                for start in range(0, len(keys), SEGMENT):
                    part = torch.from_numpy(cache.gather(keys[start : start + SEGMENT]))
                    self._resident[start : start + len(part)] = part.to(device)

    def gather(self, rows: Tensor) -> Tensor:
        """(N, T, D) or (N, I, D) in float32 on the device."""
        if self._resident is not None:
            return self._resident[rows.to(self._device, non_blocking=True)].float()
        tokens = torch.from_numpy(self._cache.gather([self._keys[row] for row in rows.tolist()]))
        return tokens.to(self._device).float()


@dataclass(frozen=True, slots=True)
class Texts:
    """What is read of some captions: their features, pooled rows (L,), functional rows (L, T), and how many were cut.

    first: (L,) the first caption that reads the same. Scored apart they would differ by rounding, which would decide a
    tie.
    """

    store: TokenStore
    eos: Tensor
    marks: Tensor
    cut: int
    first: Tensor


@dataclass(slots=True)
class Bank:
    """The pairs of a data set with their features; pairs[i] was read from shards[i].

    image_rows: (P, 2) rows of `images`, -1 where there is no second image. text_rows: (P, 2, 2) rows of `texts`, by
    side and version; captions that read the same have one row. texts, eos, marks: per distinct caption. alike: by task,
    the pairs of which a caption reads the same as its twin: what tells them apart was cut off or simplified away.
    """

    pairs: list[PairRecord]
    shards: list[Path]
    truths: list[PairTruth]
    images: ImageSource
    texts: TokenStore
    captions: list[str]
    image_rows: Tensor
    text_rows: Tensor
    eos: Tensor
    marks: Tensor
    tally: Tally
    cut_texts: int
    alike: Counter[str]

    def families(self) -> dict[str, list[int]]:
        """Pair numbers by task, tasks in alphabetical order."""
        found: dict[str, list[int]] = {}
        for number, record in enumerate(self.pairs):
            found.setdefault(record.task, []).append(number)
        return dict(sorted(found.items()))

    def image_tokens(self, rows: Tensor) -> ImageTokens:
        return ImageTokens(self.images.gather(rows))

    def text_tokens(self, rows: Tensor) -> TextTokens:
        tokens = self.texts.gather(rows)
        return TextTokens(tokens, self.eos[rows].to(tokens.device, non_blocking=True), self.marks[rows])


def build_bank(
    shards: Sequence[Path],
    clip: Clip,
    marker: Marker,
    cache: Path,
    progress: Progress,
    select: Select | None = None,
    augment_seed: int | None = None,
) -> Bank:
    """Read the pairs of the shards and compute what features the cache lacks.

    select: which pairs to read, None for all. augment_seed: take images through the augmentation and the towers at
    every look instead of from the cache.
    Raises DataError for damaged shards or too many bad pairs, EmptyError when no pair is left.
    """
    fingerprint, tally = clip.fingerprint, Tally()
    image_cache = TokenCache(cache, fingerprint, "images", (clip.shape.image_tokens, clip.shape.width))
    pairs: list[PairRecord] = []
    where: list[Path] = []
    keys: list[tuple[str, str | None]] = []
    for number, shard in enumerate(shards):
        progress(number, len(shards), "image features")
        wanted = (pair for pair in read_pairs(shard, tally) if select is None or select(pair.record))
        for record, names in _cache_images(wanted, clip, image_cache if augment_seed is None else None, tally):
            pairs.append(record)
            where.append(shard)
            keys.append(names)
    progress(len(shards), len(shards), "image features")
    tally.check()
    if not pairs:
        raise EmptyError("the shards hold no usable pair of those asked for")
    order = {key: row for row, key in enumerate(dict.fromkeys(key for names in keys for key in names if key))}
    image_rows = torch.tensor([[order[a], order[b] if b else -1] for a, b in keys])
    captions = list(dict.fromkeys(text for pair in pairs for text in (*pair.captions_0, *pair.captions_1)))
    row_of = {text: row for row, text in enumerate(captions)}
    texts = cache_texts(captions, clip, marker, cache, fingerprint, progress)
    whole = torch.tensor([[[row_of[t] for t in side] for side in (p.captions_0, p.captions_1)] for p in pairs])
    text_rows = texts.first[whole]
    same = (text_rows[:, 0] == text_rows[:, 1]) & (whole[:, 0] != whole[:, 1])
    images: ImageSource
    if augment_seed is None:
        images = TokenStore(image_cache, list(order), clip.device)
    else:
        sides = [(i, side) for i in range(len(pairs)) for side in (0, 1) if keys[i][side]]
        place = {int(image_rows[i, side]): (where[i], pairs[i].key, side) for i, side in sides}
        images = AugmentedImages(clip, [place[row] for row in range(len(order))], augment_seed)
    return Bank(
        pairs=pairs,
        shards=where,
        truths=pair_truths(pairs),
        images=images,
        texts=texts.store,
        captions=captions,
        image_rows=image_rows,
        text_rows=text_rows,
        eos=texts.eos,
        marks=texts.marks,
        tally=tally,
        cut_texts=texts.cut,
        alike=Counter(pair.task for pair, any_same in zip(pairs, same.any(dim=1).tolist(), strict=True) if any_same),
    )


def cache_texts(
    captions: Sequence[str], clip: Clip, marker: Marker, cache: Path, fingerprint: str, progress: Progress
) -> Texts:
    """What is read of the captions, after computing the features that are not cached yet."""
    captions = marker.read(captions)
    store = TokenCache(cache, fingerprint, "texts", (clip.shape.text_tokens, clip.shape.width))
    keys = [content_key(text.encode()) for text in captions]
    read, eos, marks, cut = [], [], [], 0
    for start in range(0, len(captions), SEGMENT):
        progress(start, len(captions), "text features")
        texts, names = captions[start : start + SEGMENT], keys[start : start + SEGMENT]
        ids, ends, shortened = clip.tokenize(texts)
        read.append(ids)
        eos.append(ends)
        marks.append(marker.mark(texts, ids, ends))
        cut += shortened
        missing = [i for i, name in enumerate(names) if name not in store]
        parts = [clip.text_tokens(ids[missing[at : at + BATCH]]) for at in range(0, len(missing), BATCH)]
        if parts:
            store.add([names[i] for i in missing], torch.cat(parts).half().cpu().numpy())
    progress(len(captions), len(captions), "text features")
    placed = torch.cat(marks)
    first = first_alike(torch.cat(read), placed)
    return Texts(TokenStore(store, keys, clip.device), torch.cat(eos), placed, cut, first)


def first_alike(ids: Tensor, marks: Tensor) -> Tensor:
    """(L, T) token ids and functional rows -> (L,): for each text, the place of the first that reads the same."""
    seen: dict[tuple[int, ...], int] = {}
    rows = torch.cat([ids, marks.to(ids.dtype)], dim=1).tolist()
    return torch.tensor([seen.setdefault(tuple(row), place) for place, row in enumerate(rows)])


def _cache_images(
    pairs: Iterable[LoadedPair], clip: Clip, cache: TokenCache | None, tally: Tally
) -> list[tuple[PairRecord, tuple[str, str | None]]]:
    """Names of the images of one shard's good pairs, after computing the features that are not cached yet.

    Pictures are decoded in threads: a GPU takes them faster than one core decodes. Without a cache they are checked.
    Before the first features of a shard are made its digest is checked. DataError when it is another.
    """
    checked = False
    good: list[tuple[PairRecord, tuple[str, str | None]]] = []
    stream = iter(pairs)
    with ThreadPoolExecutor(min(DECODERS, os.cpu_count() or 1)) as pool:
        while chunk := list(itertools.islice(stream, SEGMENT // 2)):
            names = [(content_key(p.images[0]), _key(p.images[1])) for p in chunk]
            wanted: dict[str, bytes] = {}
            for pair, both in zip(chunk, names, strict=True):
                for name, data in zip(both, pair.images, strict=True):
                    if name is not None and data is not None and (cache is None or name not in cache):
                        wanted[name] = data
            if wanted and not checked:
                check_digest(chunk[0].shard)
                checked = True
            ready = dict(zip(wanted, pool.map(partial(_prepare, clip), wanted.values()), strict=True))
            for pair, (first, second) in zip(chunk, names, strict=True):
                if any(ready.get(name, True) is None for name in (first, second) if name):
                    tally.reject(pair.record.key, "an image is not readable")
                else:
                    good.append((pair.record, (first, second)))
            if cache is not None:
                _flush({name: pixels for name, pixels in ready.items() if pixels is not None}, clip, cache)
    return good


def _key(data: bytes | None) -> str | None:
    return None if data is None else content_key(data)


def _prepare(clip: Clip, data: bytes) -> Tensor | None:
    """The tower's input for one encoded picture, None when it is not readable."""
    try:
        return clip.preprocess(decode(data, ""))
    except DataError:
        return None


def _flush(pending: dict[str, Tensor], clip: Clip, cache: TokenCache) -> None:
    names = list(pending)
    parts = []
    for start in range(0, len(names), BATCH):
        batch = torch.stack([pending[name] for name in names[start : start + BATCH]])
        parts.append(clip.image_tokens(batch).half().cpu().numpy())
    if parts:
        cache.add(names, np.concatenate(parts))
