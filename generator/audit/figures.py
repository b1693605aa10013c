"""What a check comes to: a figure, its interval, how likely chance alone gives as much, and the verdict from that."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

# ok: at chance. shortcut: tells more than it should. inherent: so does it, and the protocol means it to (closed list).
# fault: plainly wrong (a label, a copy, something in two splits). too few: such a shortcut could not have been told.
Verdict = Literal["ok", "shortcut", "inherent", "fault", "too few"]
BAD: tuple[Verdict, ...] = ("shortcut", "fault")

# Chance of even one false alarm in a whole audit of clean data.
ALPHA = 0.001
CHANCE = 0.5
# With so few pairs that not even this accuracy would stand out, a check says that it cannot tell.
TELLING = 0.75
Z95 = 1.96

Scores = NDArray[np.float64]  # (n,) per pair: 1 right, 0 wrong, between where it was asked several times; 0.5 is a tie


@dataclass(frozen=True)
class Table:
    """Counts behind a figure: column names, rows as text."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Finding:
    """What one check measured.

    figure with its 95 % interval [low, high]: an accuracy between two options, or a share. pairs: how many it is
    over. p: the chance of as much where nothing tells, None where the check is a plain yes or no and `wrong` says it.
    """

    figure: float
    low: float
    high: float
    pairs: int
    p: float | None
    detail: str = ""
    wrong: bool = False
    table: Table | None = None


@dataclass(frozen=True)
class Result:
    """A finding with its name, the data it is about, its verdict and, where the verdict has one, the reason."""

    group: str
    check: str
    question: str
    finding: Finding
    verdict: Verdict
    reason: str = ""


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of `n`. For means of values within [0, 1] it is, if anything, too wide."""
    if n == 0:
        return 0.0, 1.0
    centre = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
    # Rounding must not push the share itself out of its interval.
    return min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half))


def accuracy(scores: Scores, detail: str = "") -> Finding:
    """The mean score against chance: a one-sided sign test over pairs, ties left out.

    One-sided: balanced data make a learner do a little worse than chance on pairs held out, and nobody can use that.
    """
    from scipy.stats import binomtest

    n, wins, losses = len(scores), int((scores > CHANCE).sum()), int((scores < CHANCE).sum())
    mean = float(scores.mean()) if n else CHANCE
    p = float(binomtest(wins, wins + losses, CHANCE, alternative="greater").pvalue) if wins + losses else 1.0
    return Finding(mean, *wilson(mean, n), n, p, detail)


def share(count: int, n: int, detail: str, wrong: bool, table: Table | None = None) -> Finding:
    """`count` of `n`, as a plain yes or no."""
    figure = count / n if n else 1.0
    return Finding(figure, *wilson(figure, n), n, None, detail, wrong, table)


def holm(values: Sequence[float]) -> list[float]:
    """p values adjusted for their number (Holm 1979), in the order given."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda number: values[number])):
        highest = max(highest, min(1.0, values[place] * (len(values) - rank)))
        adjusted[place] = highest
    return adjusted


def telling_accuracy(n: int, tests: int) -> float:
    """The lowest accuracy over `n` pairs that counts as a shortcut among `tests` checks; 1.0 or more: none does."""
    from scipy.stats import binom

    return float(binom.isf(ALPHA / max(tests, 1), n, CHANCE) + 1) / n if n else math.inf
