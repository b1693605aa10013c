"""Parts that many animals share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from renderers.blender.recipes.kit import Part, lathe, paired, sphere, tube
from renderers.blender.recipes.materials import (
    BLACK,
    WHITE,
    Material,
)
from renderers.blender.recipes.paths import Vec3


def limb(joints: Sequence[Vec3], radii: Sequence[float], coat: Material) -> Part:
    """A leg through its joints, the first inside the body."""
    return tube(joints, radii, coat, 14)


def pointed_ear(width: float, height: float, skin: Material) -> Part:
    """A pointed ear, flat from front to back, its tip rounded."""
    outline = [(0, -0.15), (width, -0.1), (0.7 * width, 0.4 * height), (0.09, height), (0, height + 0.03)]
    return lathe(outline, skin, 12).scaled(1, 0.45, 1)


def eye_pair(at: Vec3, radius: float, look: Vec3) -> list[Part]:
    """A pair of white eyes on both sides of y = 0 with dark pupils towards `look`."""
    length = math.sqrt(sum(c * c for c in look))
    x, y, z = (a + 0.5 * radius * c / length for a, c in zip(at, look, strict=True))
    white = sphere(radius, WHITE, 12, 8).at(*at)
    return paired("y", white, sphere(0.72 * radius, BLACK, 10, 6).at(x, y, z))


def taper(start: float, end: float, count: int) -> list[float]:
    """`count` radii from `start` to `end`."""
    return [start + (end - start) * i / (count - 1) for i in range(count)]
