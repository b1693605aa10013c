"""Points, outlines and curves that the shapes of `kit` are made from: plain tuples, no Blender."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

Vec2: TypeAlias = tuple[float, float]
Vec3: TypeAlias = tuple[float, float, float]


def circle(radius: float, count: int, z: float = 0.0) -> list[Vec3]:
    """`count` points on a flat circle about Z, counter-clockwise from +X."""
    return oval(z, radius, radius, count)


def oval(
    z: float, rx: float, ry: float, count: int = 24, power: float = 2.0, x: float = 0.0, y: float = 0.0
) -> list[Vec3]:
    """A flat closed outline about (x, y, z): an ellipse at `power` 2, a rounded rectangle at 4 and more."""
    points: list[Vec3] = []
    for k in range(count):
        c, s = math.cos(2 * math.pi * k / count), math.sin(2 * math.pi * k / count)
        shrink = (abs(c) ** power + abs(s) ** power) ** (-1 / power)
        points.append((x + rx * c * shrink, y + ry * s * shrink, z))
    return points


def arc(radius: float, start_deg: float, end_deg: float, count: int, x: float = 0.0, z: float = 0.0) -> list[Vec2]:
    """`count` points on an arc about (x, z), 0 degrees towards +X, counter-clockwise seen from the front."""
    angles = [math.radians(start_deg + (end_deg - start_deg) * i / (count - 1)) for i in range(count)]
    return [(x + radius * math.cos(a), z + radius * math.sin(a)) for a in angles]


def upright(points: Iterable[Vec2], y: float = 0.0) -> list[Vec3]:
    """(x, z) points as 3D points in the plane that faces the camera."""
    return [(x, y, z) for x, z in points]


def spline(points: Sequence[Any], steps: int = 4, closed: bool = False) -> list[Any]:
    """A smooth (Catmull-Rom) curve through 2D or 3D points, with `steps` pieces between two of them."""
    count = len(points)
    if closed:
        padded = [points[-1], *points, points[0], points[1]]
    else:
        first = tuple(2 * a - b for a, b in zip(points[0], points[1], strict=True))
        last = tuple(2 * a - b for a, b in zip(points[-1], points[-2], strict=True))
        padded = [first, *points, last]
    curve = []
    for i in range(count if closed else count - 1):
        p0, p1, p2, p3 = padded[i : i + 4]
        for k in range(steps):
            t = k / steps
            curve.append(
                tuple(
                    0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
                    for a, b, c, d in zip(p0, p1, p2, p3, strict=True)
                )
            )
    return curve if closed else [*curve, tuple(points[-1])]


def star(outer: float, inner: float, points: int) -> list[Vec2]:
    """The (x, z) outline of a star with one point upwards."""
    outline = []
    for k in range(2 * points):
        angle, radius = math.pi / 2 + math.pi * k / points, inner if k % 2 else outer
        outline.append((radius * math.cos(angle), radius * math.sin(angle)))
    return outline
