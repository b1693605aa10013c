"""Recipes: things of the yard and the shed."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.kit import Part, capsule, cylinder, lathe, torus, tube
from renderers.blender.recipes.materials import (
    DARK_STEEL,
    STEEL,
    WOOD,
    paint,
)
from renderers.blender.recipes.paths import Vec3, spline


def trash_can() -> list[Part]:
    metal = paint("#6f8f5a", 0.4)
    wall = lathe([(0, 0.05), (0.86, 0.05), (1.08, 2.3), (0, 2.3)], metal, 72).creased(180)
    wall.bent(lambda p: _grooved(p, 18, 0.05))
    hoops = [torus(0.9, 0.07, metal).at(z=0.1), torus(1.1, 0.07, metal).at(z=2.28)]
    dome = spline([(1.05, 2.54), (0.6, 2.72), (0, 2.78)], 3)
    lid = lathe([(0, 2.32), (1.22, 2.32), (1.26, 2.4), (1.2, 2.5), *dome], metal)
    top_path = spline([(-0.36, 0, 2.68), (-0.3, 0, 2.98), (0.3, 0, 2.98), (0.36, 0, 2.68)], 3)
    grip_path = spline([(1.02, -0.32, 1.75), (1.3, -0.3, 1.72), (1.3, 0.3, 1.72), (1.02, 0.32, 1.75)], 3)
    grips = tube(grip_path, 0.08, DARK_STEEL, 8).both_sides()
    return [wall, *hoops, lid, tube(top_path, 0.09, DARK_STEEL, 10, up=(0, 1, 0)), *grips]


def _grooved(p: Vec3, count: int, depth: float) -> Vec3:
    """Upright waves around Z; the axis itself stays where it is."""
    factor = 1 + depth * math.cos(count * math.atan2(p[1], p[0]))
    return (p[0] * factor, p[1] * factor, p[2])


def bucket() -> list[Part]:
    tin = paint("#3f7fc0", 0.35)
    inside = [(1.06, 2.0), (0.78, 0.16), (0, 0.16)]
    body = lathe([(0, 0), (0.8, 0), (0.84, 0.06), (1.1, 1.95), (1.17, 1.97), (1.17, 2.06), (1.1, 2.08), *inside], tin)
    hoop = torus(1.02, 0.055, tin).at(z=1.4)
    ears = cylinder(0.18, 0.1, STEEL, bevel=0.02, sides=16).turned(y=90).at(1.14, 0, 1.75).both_sides()
    half: list[Vec3] = [(-1.2, 0, 1.75), (-1.16, 0, 2.5), (-0.65, 0, 3.15)]
    bail = spline([*half, *((-x, y, z) for x, y, z in reversed(half))])
    grip = capsule(0.17, 0.9, WOOD, 14).turned(y=90).at(0, 0, 3.22)
    return [part.turned(z=10) for part in (body, hoop, *ears, tube(bail, 0.06, STEEL, 8, up=(0, 1, 0)), grip)]


def barrel() -> list[Part]:
    staves = paint("#a5673a", 0.65)
    edge = [(0.86, 0.04), (1.08, 0.75), (1.15, 1.35), (1.08, 1.95), (0.86, 2.66)]
    lip = [(0.8, 2.7), (0.76, 2.68), (0.74, 2.56), (0, 2.56)]
    body = lathe([(0, 0), (0.82, 0), *spline(edge, 3), *lip], staves, 48).bent(lambda p: _grooved(p, 16, 0.012))
    hoops = []
    for z, low, high in ((0.34, 0.955, 1.02), (0.88, 1.1, 1.14), (1.82, 1.14, 1.1), (2.36, 1.02, 0.955)):
        outer = [(low + 0.05, z - 0.11), (high + 0.05, z + 0.11)]
        hoops.append(lathe([(low, z - 0.11), *outer, (high, z + 0.11)], DARK_STEEL, 32))
    bung = cylinder(0.13, 0.14, WOOD, sides=14).turned(x=90).at(0, -1.16, 1.35)
    return [body, *hoops, bung]


def watering_can() -> list[Part]:
    tin = paint("#5aa04a", 0.35)
    body = lathe([(0, 0), (0.98, 0), (1.04, 0.06), (0.95, 1.6), (0.88, 1.72), (0.78, 1.72), (0.74, 1.5), (0, 1.5)], tin)
    hoops = [torus(1.03, 0.06, tin).at(z=0.14), torus(0.96, 0.06, tin).at(z=1.58)]
    spout = tube([(0.7, 0, 0.4), (1.2, 0, 0.8), (1.8, 0, 1.9)], [0.36, 0.28, 0.17], tin, 14, up=(0, 1, 0))
    rose = lathe([(0, 0), (0.16, 0), (0.46, 0.4), (0.46, 0.48), (0, 0.56)], STEEL, 22).turned(y=36).at(1.74, 0, 1.8)
    back = [(-0.85, 0, 0.5), (-1.3, 0, 0.8), (-1.5, 0, 1.5), (-1.1, 0, 2.25), (-0.3, 0, 2.45), (0.55, 0, 1.7)]
    handle = tube(spline(back), 0.14, tin, 10, up=(0, 1, 0))
    half_cover = lathe([(0, 1.66), (0.86, 1.66), (0.86, 1.74), (0, 1.8)], tin)
    half_cover.bent(lambda p: (max(p[0], -0.05), p[1], p[2]))
    return [body, *hoops, spout, rose, handle, half_cover]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "trash can": trash_can,
    "bucket": bucket,
    "barrel": barrel,
    "watering can": watering_can,
}
