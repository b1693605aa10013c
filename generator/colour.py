"""Colour measured as people see it: sRGB to CIELAB (D65, 2 degrees), and the colour word nearest to some pixels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generator.specs import Rgb

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
# Light and shade change lightness more than hue: a difference in L counts this much of one in a or b.
LIGHTNESS_WEIGHT = 0.5


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
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _TO_XYZ.T / _WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def measure(pixels: NDArray[np.uint8], colours: Mapping[str, Rgb]) -> Measured:
    """Name the colour of (N, 3) sRGB pixels: each pixel votes for the nearest word.

    A vote, not a mean: white lettering on a red can must not make it pink.
    """
    assert len(pixels) > 0, "no pixels to measure"
    lab = to_lab(pixels / 255.0)  # (N, 3)
    names = list(colours)
    focal = to_lab(np.array([colours[name] for name in names]))  # (K, 3)
    difference = lab[:, None, :] - focal[None, :, :]
    # In shade a surface keeps its hue and loses lightness and chroma together.
    distance = np.sqrt((LIGHTNESS_WEIGHT * difference[..., 0]) ** 2 + difference[..., 1] ** 2 + difference[..., 2] ** 2)
    votes = np.bincount(distance.argmin(axis=1), minlength=len(names)) / len(pixels)
    order = np.argsort(-votes, kind="stable")
    median = np.median(lab, axis=0)
    return Measured(
        lab=(round(float(median[0]), 2), round(float(median[1]), 2), round(float(median[2]), 2)),
        shares={name: float(share) for name, share in zip(names, votes, strict=True)},
        name=names[int(order[0])],
        margin=float(votes[order[0]] - votes[order[1]]),
    )
