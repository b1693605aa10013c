"""Figures of pair scores, each with a bootstrap interval over pairs.

Shapes: P pairs; scores (P, 2 images, 2 sides, 2 versions), NaN where there is no second image. A higher own score must
be strictly higher: a tie is wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorer.predict import caption_accuracy
from scorer.seeding import seed_of

Scores = NDArray[np.float32]
Values = NDArray[np.float64]

CHANCE = {"caption_accuracy": 1 / 2, "text_score": 1 / 4, "image_score": 1 / 4, "group_score": 1 / 6}


@dataclass(frozen=True, slots=True)
class Figure:
    """A share in [0, 1] with its 95 % interval, over `count` pairs. value is NaN where nothing could be counted."""

    value: float
    low: float
    high: float
    count: int


def text_score(scores: Scores) -> Values:
    """By pair, (P,): both images prefer their own caption, averaged over versions; NaN without a second image."""
    correct = (scores[:, 0, 0] > scores[:, 0, 1]) & (scores[:, 1, 1] > scores[:, 1, 0])
    return _whole(scores, correct)


def image_score(scores: Scores) -> Values:
    """By pair, (P,): both captions prefer their own image, averaged over versions."""
    correct = (scores[:, 0, 0] > scores[:, 1, 0]) & (scores[:, 1, 1] > scores[:, 0, 1])
    return _whole(scores, correct)


def group_score(scores: Scores) -> Values:
    """By pair, (P,): text_score and image_score hold at once, averaged over versions."""
    text = (scores[:, 0, 0] > scores[:, 0, 1]) & (scores[:, 1, 1] > scores[:, 1, 0])
    image = (scores[:, 0, 0] > scores[:, 1, 0]) & (scores[:, 1, 1] > scores[:, 0, 1])
    return _whole(scores, text & image)


METRICS: Mapping[str, Callable[[Scores], Values]] = {
    "caption_accuracy": caption_accuracy,
    "text_score": text_score,
    "image_score": image_score,
    "group_score": group_score,
}


def first_image_accuracy(scores: Scores) -> Values:
    """By pair, (P,): image_0 alone prefers captions_0, averaged over versions.

    Over both sides a scorer that cannot see is right half of the time by construction; on one side it shows its bias.
    """
    return np.asarray((scores[:, 0, 0] > scores[:, 0, 1]).mean(axis=1), dtype=np.float64)


def figure(values: Values, resamples: int, seed: int, name: str) -> Figure:
    """Mean and bootstrap interval (percentiles 2.5 and 97.5 over pairs) of values that may hold NaN."""
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return Figure(float("nan"), float("nan"), float("nan"), 0)
    low, high = interval(float(known.mean()), resampled_means(known, resamples, seed, name))
    return Figure(float(known.mean()), low, high, len(known))


def resampled_means(known: Values, resamples: int, seed: int, name: str) -> Values:
    """Means of `resamples` bootstrap samples of `known`, which holds no NaN and at least one value."""
    rng = np.random.Generator(np.random.PCG64(seed_of(seed, "bootstrap", name)))
    return np.array([known[rng.integers(len(known), size=len(known))].mean() for _ in range(resamples)])


def interval(value: float, means: Values) -> tuple[float, float]:
    """The 95 % interval of resampled means; just `value` where there are none."""
    low, high = np.percentile(means, [2.5, 97.5]) if len(means) else (value, value)
    return float(low), float(high)


def _whole(scores: Scores, correct: NDArray[np.bool_]) -> Values:
    complete = ~np.isnan(scores).any(axis=(1, 2, 3))
    return np.where(complete, correct.mean(axis=1), np.nan)
