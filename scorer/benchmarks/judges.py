"""Who is judged: anything that scores pictures against captions. Standard library and NumPy only.

Shapes: B pictures, L captions of a block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scorer.benchmarks.base import Picture

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Block:
    """Every picture is to be scored against every caption."""

    pictures: tuple[Picture, ...]
    captions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What came up while features were made: pictures that are not readable, and how many captions were cut to fit."""

    unreadable: frozenset[Picture] = frozenset()
    cut: int = 0


class Judge(Protocol):
    """A scorer of the benchmarks: a trained run, plain CLIP, or a control.

    Attributes:
        name: In reports; unique among the judges of one run.
        fingerprint: Changes when its scores may change; saved scores are reused while it is the same.
        needs_images: False for one that reads the captions alone.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def needs_images(self) -> bool: ...

    def prepare(self, pictures: Sequence[Picture], captions: Sequence[str]) -> Prepared:
        """Compute what all scores of a part will need."""
        ...

    def as_read(self, caption: str) -> str:
        """The first prepared caption that reads the same: those that differ only in what is cut off are one to it.

        It is scored in place of all of them. Computed apart they would differ by rounding, which would decide a tie.
        """
        ...

    def scores(self, blocks: Sequence[Block]) -> list[Matrix]:
        """(B, L) for every block; higher fits better. Pictures and captions were prepared."""
        ...

    def text_scores(self, pairs: Sequence[tuple[str, str]]) -> Matrix | None:
        """How close two texts are, one number a pair; None for a scorer that cannot compare texts."""
        ...


class Shorter:
    """A control that prefers the caption with fewer characters and never looks: what a benchmark gives away."""

    name = "shorter caption"
    fingerprint = "shorter-1"
    needs_images = False

    def prepare(self, pictures: Sequence[Picture], captions: Sequence[str]) -> Prepared:  # noqa: ARG002
        return Prepared()

    def as_read(self, caption: str) -> str:
        return caption

    def scores(self, blocks: Sequence[Block]) -> list[Matrix]:
        return [
            np.tile(np.array([-len(text) for text in block.captions], dtype=np.float32), (len(block.pictures), 1))
            for block in blocks
        ]

    def text_scores(self, pairs: Sequence[tuple[str, str]]) -> Matrix | None:  # noqa: ARG002
        return None
