"""The only source of randomness: a path of names and numbers, hashed into a numpy Generator.

Two streams with different paths are independent, and a stream depends on nothing but its path, so
pair 7 of a run is the same whether it is made first, last, alone, or by another worker.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Part = str | int
T = TypeVar("T")


def digest(seed: int, *path: Part) -> bytes:
    """SHA-256 of the seed and the path.

    Each part is written with its type and length, so that ("a", "b") and ("ab",), or 1 and "1", differ.
    """
    state = hashlib.sha256()
    for part in (seed, *path):
        # A numpy integer would be hashed as text, and be another path than the same int.
        assert isinstance(part, str | int), f"{part!r} is a {type(part).__name__}"
        text = str(part).encode()
        state.update(f"{'i' if isinstance(part, int) else 's'}{len(text)}:".encode() + text)
    return state.digest()


def stream(seed: int, *path: Part) -> np.random.Generator:
    """A numpy Generator (PCG64) that belongs to `path` under `seed` alone."""
    words = np.frombuffer(digest(seed, *path), dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([int(word) for word in words])))


def unit(seed: int, *path: Part) -> float:
    """One uniform number in [0, 1) for the path, cheaper than a stream."""
    return int.from_bytes(digest(seed, *path)[:7], "big") / float(1 << 56)


def choice(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One element of `options`, uniformly. (numpy's own `choice` turns the elements into an array.)"""
    return options[int(rng.integers(len(options)))]
