"""Recipes: buildings and tents."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.kit import Part, block, cylinder, extrude, lathe, slab, sphere, torus, tube, turned
from renderers.blender.recipes.materials import (
    BLACK,
    DARK_GLASS,
    DARK_STEEL,
    DARK_WOOD,
    PALE_WOOD,
    STEEL,
    WHITE,
    WOOD,
    material,
    paint,
)
from renderers.blender.recipes.paths import arc, spline

ROOF = material("roof", "#4a4443", 0.7)


def house() -> list[Part]:
    walls = paint("#d9a441", 0.6)
    body = extrude([(-1.25, 0.0), (1.25, 0.0), (1.25, 2.1), (0.0, 2.95), (-1.25, 2.1)], 2.2, walls)
    run, rise = 1.25, 0.85
    slope = math.degrees(math.atan2(rise, run))
    eaves = block((1.7, 2.36, 0.12), ROOF, 0.03).at(-0.81, 0, 0.07).turned(y=-slope).at(0, 0, 2.95)
    chimney = block((0.42, 0.42, 0.9), walls, 0.03).at(0.7, 0.4, 2.85)
    chimney_cap = block((0.52, 0.52, 0.12), ROOF, 0.03).at(0.7, 0.4, 3.3)
    door = block((0.58, 0.1, 1.1), DARK_WOOD, 0.03).at(0, -1.1, 0.55)
    knob = sphere(0.06, STEEL, 8, 6).at(0.18, -1.19, 0.55)
    step = block((0.8, 0.3, 0.1), ROOF, 0.02).at(0, -1.24, 0.05)
    windows = [part.at(y=0.15) for x in (-0.76, 0.76) for part in _window(x, 1.05)]
    round_window = [
        cylinder(0.26, 0.1, WHITE, sides=20).turned(x=90).at(0, -1.1, 2.12),
        cylinder(0.19, 0.14, DARK_GLASS, sides=20).turned(x=90).at(0, -1.1, 2.12),
    ]
    side = [part.turned(z=90 * s) for s in (-1, 1) for part in _window(0, 1.05)]
    return turned(
        [body, *eaves.both_sides("x"), chimney, chimney_cap, door, knob, step, *windows, *round_window, *side], 20
    )


def lighthouse() -> list[Part]:
    coat = paint("#c8372d", 0.5)
    rock = lathe(
        [(0, 0), (0.92, 0), (0.88, 0.14), (0.76, 0.24), (0, 0.24)], material("rock", "#77726b", 0.9), 11
    ).creased(20)
    tower = lathe([(0, 0.2), (0.76, 0.2), (0.48, 3.0), (0, 3.0)], coat, 24)
    stripes = [
        lathe([(0, z), (_tower(z), z), (_tower(z + 0.34), z + 0.34), (0, z + 0.34)], WHITE, 24) for z in (1.05, 2.05)
    ]
    gallery = lathe([(0, 2.85), (0.48, 2.85), (0.68, 3.0), (0.68, 3.14), (0, 3.14)], coat, 24)
    rail = torus(0.63, 0.03, BLACK, 20, 5).at(z=3.34)
    posts = cylinder(0.025, 0.22, BLACK, sides=5).at(0.63, 0, 3.24).around(8)
    lamp = cylinder(0.32, 0.5, material("lamp", "#fff0c0", 0.2), sides=16).at(z=3.36)
    bars = cylinder(0.03, 0.55, BLACK, sides=5).at(0.33, 0, 3.4).around(6)
    roof = lathe([(0, 3.6), (0.52, 3.6), (0.36, 3.9), (0.08, 4.2), (0, 4.22)], coat, 20)
    ball = sphere(0.1, BLACK, 10, 6).at(z=4.27)
    door = slab([(-0.17, 0.3), (-0.17, 0.7), *arc(0.17, 180, 0, 7, z=0.7), (0.17, 0.3)], 0.16, DARK_WOOD).at(y=-0.69)
    panes = [block((0.16, 0.1, 0.24), DARK_GLASS).at(0, -_tower(z), z) for z in (1.72, 2.62)]
    return [rock, tower, *stripes, gallery, rail, *posts, lamp, *bars, roof, ball, door, *panes]


def tent() -> list[Part]:
    canvas = paint("#3f8f5a", 0.7)
    left = spline([(-1.5, 0.0), (-0.85, 0.8), (0.0, 2.0)], 4)
    outline = [*left, *[(-x, z) for x, z in reversed(left[:-1])]]
    body = slab(outline, 2.9, canvas, 0.03)
    gap = spline([(-0.62, 0.0), (-0.36, 0.75), (0.0, 1.72)], 3)
    door = slab([*gap, *[(-x, z) for x, z in reversed(gap[:-1])]], 0.06, BLACK).at(y=-1.44)
    roll = tube([(-0.7, -1.5, 0.12), (-0.44, -1.52, 0.7), (-0.06, -1.5, 1.7)], [0.13, 0.14, 0.06], canvas, 10)
    tie = torus(0.16, 0.035, PALE_WOOD, 14, 6).turned(y=22).at(-0.46, -1.52, 0.66)
    poles = [tube([(0, y, 0.0), (0, y, 2.2)], 0.06, PALE_WOOD, 8) for y in (-1.56, 1.5)]
    ridge = tube([(0, -1.5, 2.02), (0, 1.5, 2.02)], 0.06, canvas, 8)
    ropes = [tube([(0, 1.5 * s, 2.05), (0, 1.98 * s, 0.05)], 0.025, PALE_WOOD, 5) for s in (-1, 1)]
    pegs = [tube([(0, 1.96 * s, 0.2), (0, 2.02 * s, 0.0)], 0.05, DARK_STEEL, 6) for s in (-1, 1)]
    return turned([body, door, *roll.both_sides("x"), *tie.both_sides("x"), *poles, ridge, *ropes, *pegs], 12)


def castle() -> list[Part]:
    stone = paint("#b9a98c", 0.75)
    wall = block((2.4, 2.0, 1.5), stone).at(0, 0, 0.75)
    keep = block((1.1, 1.0, 2.6), stone).at(0, 0.3, 1.3)
    teeth = [block((0.26, 0.22, 0.26), stone).at(x, -0.9, 1.6) for x in (-0.44, 0, 0.44)]
    top = [block((0.26, 0.26, 0.26), stone).at(x, y, 2.7) for x in (-0.42, 0, 0.42) for y in (-0.07, 0.67)]
    towers = []
    for x, y in ((-1.2, -1.0), (1.2, -1.0), (-1.2, 1.0), (1.2, 1.0)):
        trunk = lathe([(0, 0), (0.5, 0), (0.44, 1.85), (0.56, 2.0), (0.56, 2.25), (0, 2.25)], stone, 18)
        crown = block((0.24, 0.2, 0.24), stone).at(0.46, 0, 2.34).around(5, 18)
        towers += [part.at(x, y, 0) for part in (trunk, *crown)]
    gate = slab(
        [(-0.34, 0.0), (-0.34, 0.6), *arc(0.34, 180, 0, 9, z=0.62), (0.34, 0.6), (0.34, 0.0)], 0.12, DARK_WOOD
    ).at(y=-1.0)
    slits = [
        block((0.12, 0.1, 0.34), DARK_GLASS).at(x, y, z)
        for x, y, z in ((-1.2, -1.45, 1.35), (1.2, -1.45, 1.35), (0, -0.2, 2.1))
    ]
    pole = cylinder(0.035, 0.9, DARK_WOOD, sides=6).at(0, 0.3, 3.0)
    flag = slab([(0.03, 3.42), (0.62, 3.25), (0.03, 3.08)], 0.05, WHITE).at(y=0.3)
    return turned([wall, keep, *teeth, *top, *towers, gate, *slits, pole, flag], 20)


def windmill() -> list[Part]:
    walls = paint("#3f78b8", 0.6)
    tower = lathe([(0, 0), (1.1, 0), (0.68, 2.3), (0, 2.3)], walls, 8).creased(20)
    cap = lathe([(0, 2.25), (0.74, 2.25), (0.7, 2.45), (0.4, 2.85), (0, 3.0)], walls, 16)
    balcony = torus(0.94, 0.07, WOOD, 16, 6).at(z=1.05)
    door = slab([(-0.22, 0.0), (-0.22, 0.5), *arc(0.22, 180, 0, 7, z=0.5), (0.22, 0.0)], 0.2, DARK_WOOD).at(y=-0.97)
    pane = block((0.26, 0.14, 0.34), DARK_GLASS).at(0, -0.76, 1.62)
    frame = block((0.36, 0.12, 0.44), WHITE).at(0, -0.75, 1.62)
    axle = cylinder(0.13, 0.55, DARK_WOOD, sides=12).turned(x=90).at(0, -0.85, 2.5)
    sails = []
    for k in range(4):
        spar = block((0.1, 0.1, 1.85), DARK_WOOD).at(0, 0, 0.92)
        cloth = block((0.42, 0.06, 1.32), walls).at(0.26, 0, 1.1)
        bars = block((0.44, 0.09, 0.05), WHITE).at(0.26, 0, 0.5).repeated(4, z=0.4)
        sails += [part.turned(y=45 + 90 * k).at(0, -1.08, 2.5) for part in (spar, cloth, *bars)]
    return turned([tower, cap, balcony, door, frame, pane, axle, *sails], 15)


def _window(x: float, z: float) -> list[Part]:
    """A framed window in the front wall, y = -1.25."""
    frame = block((0.5, 0.1, 0.56), WHITE).at(x, -1.25, z)
    panes = [
        block((0.18, 0.14, 0.2), DARK_GLASS).at(x + dx, -1.25, z + dz) for dx in (-0.11, 0.11) for dz in (-0.125, 0.125)
    ]
    return [frame, *panes]


def _tower(z: float) -> float:
    """Radius of a stripe around the lighthouse at height z."""
    return 0.78 - 0.28 * (z - 0.2) / 2.8


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "castle": castle,
    "house": house,
    "lighthouse": lighthouse,
    "tent": tent,
    "windmill": windmill,
}
