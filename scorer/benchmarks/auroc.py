"""How well one threshold would tell true captions from false ones, whatever the image. NumPy only."""

import numpy as np
from numpy.typing import NDArray


def auroc(scores: NDArray[np.float32], truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values of N rows whose mean is the area under the ROC curve. scores: (N, 2), NaN where a row was not scored.

    A row's value is what it contributes to the area: the share of all false captions below its true one, plus the
    share of all true ones above its false one, less the area. So resampling rows gives the right interval.
    """
    assert scores.shape[1] == 2
    rows = np.flatnonzero(~np.isnan(scores).any(axis=1))
    true, false = scores[rows, truth[rows]], scores[rows, 1 - truth[rows]]
    below = _share_below(false, true)
    above = 1 - _share_below(true, false)
    values = np.full(len(scores), np.nan)
    if len(rows):
        values[rows] = below + above - below.mean()
    return values


def _share_below(pool: NDArray[np.float32], scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """The share of the pool that is lower than each score, equals counted half."""
    ordered = np.sort(pool)
    below, not_above = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return np.asarray((below + not_above) / (2 * max(len(pool), 1)), dtype=np.float64)
