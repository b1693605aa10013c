"""Where the scorer's random numbers come from: a seed and a path of names and numbers, hashed.

A draw depends on its path alone (the epoch, the step, the name of a row), never on what was drawn before. So a
resumed run needs no saved generator states, and a functional row keeps its values when others are added.
"""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

Part = str | int


def seed_of(seed: int, *path: Part) -> int:
    """A 63-bit seed for `path` under `seed`; parts are length-prefixed so that no two paths collide."""
    state = hashlib.sha256()
    for part in (seed, *path):
        text = f"{type(part).__name__}={part}".encode()
        state.update(len(text).to_bytes(4, "big") + text)
    return int.from_bytes(state.digest()[:8], "big") >> 1


def generator(seed: int, *path: Part) -> "torch.Generator":
    """A CPU torch generator that belongs to `path` under `seed` alone (so that every device sees the same)."""
    import torch  # late, so that programs without torch can use seed_of

    return torch.Generator().manual_seed(seed_of(seed, *path))
