"""Frozen towers that several judges share: every image and every caption passes them once, cached on disk.

Plain CLIP reads float32 pooled embeddings of whole captions, as the authors of the benchmarks do; trained runs read
half-precision tokens, cut to the rows they were trained with. One pass yields both.

Shapes: B images, L texts, C tower context, T text tokens of a run, I image tokens, D joint dimensions.
"""

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scorer.bank import BATCH, DECODERS, SEGMENT, Progress, TokenStore
from scorer.benchmarks.base import Picture
from scorer.cache import TokenCache
from scorer.data import content_key, decode
from scorer.errors import DataError
from scorer.features import Clip, load_clip


class Towers:
    """Features of one pair of towers, for every judge that uses them. clip: with its whole context."""

    def __init__(self, clip: Clip, cache: Path, progress: Progress) -> None:
        self.clip = clip
        self._root, self._progress = cache, progress
        # A pooled embedding is kept in float32, as the bytes of twice as many halves: rounding would move near ties.
        packed = (1, 2 * clip.shape.width)
        self._pooled_images = TokenCache(cache, clip.fingerprint, "images-pooled", packed)
        self._pooled_texts = TokenCache(cache, clip.fingerprint, "texts-pooled", packed)
        self._image_tokens: TokenCache | None = None
        self._views: dict[int, tuple[Clip, TokenCache]] = {}
        self._names: dict[Picture, str | None] = {}

    def view(self, text_tokens: int) -> Clip:
        """The towers with so many rows of each text. From now on all tokens are kept, not just the pooled ones."""
        view = self.clip.cut_to(text_tokens)
        shape, fingerprint = view.shape, self.clip.fingerprint
        if shape.text_tokens not in self._views:
            store = TokenCache(self._root, view.fingerprint, "texts", (shape.text_tokens, shape.width))
            self._views[shape.text_tokens] = view, store
        if self._image_tokens is None:
            self._image_tokens = TokenCache(self._root, fingerprint, "images", (shape.image_tokens, shape.width))
        return self._views[shape.text_tokens][0]

    def load_images(self, pictures: Sequence[Picture]) -> frozenset[Picture]:
        """Compute what the caches lack; the pictures that are not readable."""
        fresh = [picture for picture in pictures if picture not in self._names]
        with ThreadPoolExecutor(min(DECODERS, os.cpu_count() or 1)) as pool:
            for start in range(0, len(fresh), SEGMENT // 2):
                self._progress(start, len(fresh), "image features")
                some = fresh[start : start + SEGMENT // 2]
                ready = list(pool.map(partial(_read, self.clip, self._has_image), some))
                self._names |= {picture: name for picture, (name, _) in zip(some, ready, strict=True)}
                self._add_images({name: pixels for name, pixels in ready if name is not None and pixels is not None})
        if fresh:
            self._progress(len(fresh), len(fresh), "image features")
        return frozenset(picture for picture in pictures if self._names[picture] is None)

    def load_texts(self, texts: Sequence[str]) -> None:
        """Compute what the caches lack."""
        wanted = [text for text in dict.fromkeys(texts) if not self._has_text(content_key(text.encode()))]
        for start in range(0, len(wanted), SEGMENT):
            self._progress(start, len(wanted), "text features")
            self._add_texts(wanted[start : start + SEGMENT])
        if wanted:
            self._progress(len(wanted), len(wanted), "text features")

    def pooled_images(self, pictures: Sequence[Picture]) -> Tensor:
        """(B, D) in float32 on the device."""
        return self._unpack(self._pooled_images, [self._name(picture) for picture in pictures])

    def pooled_texts(self, texts: Sequence[str]) -> Tensor:
        """(L, D) in float32 on the device."""
        return self._unpack(self._pooled_texts, [content_key(text.encode()) for text in texts])

    def image_store(self, pictures: Sequence[Picture]) -> TokenStore:
        """Tokens (I, D) of each picture, by its place."""
        assert self._image_tokens is not None, "ask for a view first"
        return TokenStore(self._image_tokens, [self._name(picture) for picture in pictures], self.clip.device)

    def text_store(self, texts: Sequence[str], rows: int) -> TokenStore:
        """Tokens (T, D) of each text, by its place. rows: T, as the view has it."""
        return TokenStore(self._views[rows][1], [content_key(text.encode()) for text in texts], self.clip.device)

    def _name(self, picture: Picture) -> str:
        name = self._names[picture]
        assert name is not None, picture
        return name

    def _has_image(self, name: str) -> bool:
        return name in self._pooled_images and (self._image_tokens is None or name in self._image_tokens)

    def _has_text(self, name: str) -> bool:
        return name in self._pooled_texts and all(name in store for _, store in self._views.values())

    def _add_images(self, pixels: dict[str, Tensor]) -> None:
        names, pooled, tokens = list(pixels), [], []
        for start in range(0, len(names), BATCH):
            batch = self.clip.image_tokens(torch.stack([pixels[name] for name in names[start : start + BATCH]]))
            pooled.append(_pack(batch[:, 0]))
            if self._image_tokens is not None:
                tokens.append(batch.half().cpu().numpy())
        if tokens and self._image_tokens is not None:
            _add(self._image_tokens, names, np.concatenate(tokens))
        if pooled:
            _add(self._pooled_images, names, np.concatenate(pooled))

    def _add_texts(self, texts: list[str]) -> None:
        """One pass for everything: a run's rows are the first ones of the whole context, as the towers are causal.

        Only texts that a run cuts are another text for it, with the end elsewhere, and pass once more.
        """
        names = [content_key(text.encode()) for text in texts]
        ids, eos, _ = self.clip.tokenize(texts)
        cut = {rows: view.tokenize(texts)[0] for rows, (view, _) in self._views.items()}
        pooled: list[NDArray[np.float16]] = []
        kept: dict[int, list[NDArray[np.float16]]] = {rows: [] for rows in cut}
        for start in range(0, len(texts), BATCH):
            part = slice(start, start + BATCH)
            whole = self.clip.text_tokens(ids[part])
            pooled.append(_pack(whole[torch.arange(len(whole)), eos[part].to(whole.device)]))
            for rows, short in cut.items():
                tokens = whole[:, :rows].clone()
                other = (short[part] != ids[part, :rows]).any(dim=1)
                if bool(other.any()):
                    tokens[other.to(tokens.device)] = self._views[rows][0].text_tokens(short[part][other])
                kept[rows].append(tokens.half().cpu().numpy())
        for rows, parts in kept.items():
            _add(self._views[rows][1], names, np.concatenate(parts))
        _add(self._pooled_texts, names, np.concatenate(pooled))

    def _unpack(self, cache: TokenCache, names: Sequence[str]) -> Tensor:
        halves = cache.gather(names)[:, 0]
        return torch.from_numpy(halves.view(np.float32)).to(self.clip.device)


class TowerPool:
    """Towers by name, each loaded once for all its judges."""

    def __init__(self, device: str, cache: Path, progress: Progress) -> None:
        self._device, self._cache, self._progress = device, cache, progress
        self._towers: dict[tuple[str, str], Towers] = {}

    def of(self, clip: str, pretrained: str) -> Towers:
        """Towers with their whole context. Raises TowerError where they cannot be had."""
        if (clip, pretrained) not in self._towers:
            whole = load_clip(clip, pretrained, sys.maxsize, self._device)
            self._towers[clip, pretrained] = Towers(whole, self._cache, self._progress)
        return self._towers[clip, pretrained]


def _read(clip: Clip, known: Callable[[str], bool], picture: Picture) -> tuple[str | None, Tensor | None]:
    """A picture's name in the caches and the tower's input; no input where it is known, no name where unreadable."""
    try:
        data = picture.read()
        name = content_key(data if picture.box is None else data + repr(picture.box).encode())
        if known(name):
            return name, None
        image = decode(data, str(picture.path))
        if picture.box is not None:
            image = image.crop(picture.box)
        return (name, clip.preprocess(image)) if min(image.size) > 0 else (None, None)
    except (OSError, ValueError, DataError):  # the run counts and reports them
        return None, None


def _pack(pooled: Tensor) -> NDArray[np.float16]:
    """(N, D) in float32 -> (N, 1, 2 D) halves that hold the same bytes."""
    return np.ascontiguousarray(pooled.cpu().numpy())[:, None].view(np.float16)


def _add(cache: TokenCache, names: Sequence[str], tokens: NDArray[np.float16]) -> None:
    fresh = [place for place, name in enumerate(names) if name not in cache]
    cache.add([names[place] for place in fresh], tokens[fresh])
