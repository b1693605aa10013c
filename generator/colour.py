"""Colour measured as people see it: sRGB to CIELAB (D65, 2 degrees), and the colour word nearest to some pixels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from generator.specs import Rgb

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
_TO_RELATIVE_XYZ = _TO_XYZ / _WHITE[:, None]
# Light and shade change lightness more than hue: a difference in L counts this much of one in a or b.
LIGHTNESS_WEIGHT = 0.5
_WEIGHTS = np.array([LIGHTNESS_WEIGHT, 1.0, 1.0])


@dataclass(frozen=True, slots=True)
class Measured:
    """What an object's visible pixels say: median CIELAB, share of pixels nearest to each colour word, the best word.

    margin: share of the best word minus that of the second.
    """

    lab: tuple[float, float, float]
    shares: dict[str, float]
    name: str
    margin: float


def to_lab(srgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 3) sRGB in [0, 1] to CIELAB (..., 3): L 0 to 100, a and b about -128 to 127."""
    values = np.asarray(srgb, dtype=np.float64)
    return _lab(_linear(values).reshape(-1, 3).T).T.reshape(values.shape)


def measure(pixels: NDArray[np.uint8], colours: Mapping[str, Rgb]) -> Measured:
    """Name the colour of (N, 3) sRGB pixels: each pixel votes for the nearest word.

    A vote, not a mean: white lettering on a red can must not make it pink.
    """
    count = len(pixels)
    assert count > 0, "no pixels to measure"
    lab = _lab(_LINEAR[pixels.T])  # (3, N)
    names, slopes, offsets = _focal(tuple(colours.items()))
    # In shade a surface keeps its hue and loses lightness and chroma together.
    distance = slopes @ lab + offsets  # (K, N): squared, less what all words have in common
    # A pixel right between two words votes for both.
    votes = np.count_nonzero(distance == distance.min(axis=0), axis=1)  # (K,)
    shares = votes / votes.sum()
    order = np.argsort(-shares, kind="stable")
    lower, upper = (count - 1) // 2, count // 2
    ordered = np.partition(lab, (lower, upper), axis=1)
    median = (ordered[:, lower] + ordered[:, upper]) / 2
    return Measured(
        lab=(round(float(median[0]), 2), round(float(median[1]), 2), round(float(median[2]), 2)),
        shares=dict(zip(names, shares.tolist(), strict=True)),
        name=names[int(order[0])],
        margin=float(shares[order[0]] - shares[order[1]]),
    )


def _linear(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """sRGB in [0, 1] to linear light."""
    linear: NDArray[np.float64] = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return linear


_LINEAR = _linear(np.arange(256) / 255.0)


def _lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear sRGB (3, N) to CIELAB (3, N)."""
    xyz = _TO_RELATIVE_XYZ @ linear
    f = np.cbrt(xyz)
    dark = xyz <= 216 / 24389
    f[dark] = (24389 / 27 * xyz[dark] + 16) / 116
    lab: NDArray[np.float64] = np.empty_like(f)
    lab[0] = 116 * f[1] - 16
    lab[1] = 500 * (f[0] - f[1])
    lab[2] = 200 * (f[1] - f[2])
    return lab


@lru_cache(maxsize=8)
def _focal(
    colours: tuple[tuple[str, Rgb], ...],
) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """Names of K words, and slopes (K, 3) and offsets (K, 1) of their weighted distance: |x - f|^2 - |x|^2."""
    focal = to_lab(np.array([rgb for _, rgb in colours])) * _WEIGHTS
    return tuple(name for name, _ in colours), -2 * focal * _WEIGHTS, (focal**2).sum(axis=1, keepdims=True)
