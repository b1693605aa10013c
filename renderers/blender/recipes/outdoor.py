"""Recipes: what stands in gardens and in the street."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.kit import (
    Part,
    block,
    cylinder,
    extrude,
    fused,
    lathe,
    loft,
    paired,
    sphere,
    torus,
    tube,
    turned,
)
from renderers.blender.recipes.materials import (
    DARK_STEEL,
    DARK_WOOD,
    LEAF,
    RUBBER,
    STEEL,
    WHITE,
    WOOD,
    Material,
    material,
    paint,
)
from renderers.blender.recipes.paths import Vec3, arc, oval, spline

CLAY = material("clay", "#a9613f", 0.7)
SOIL = material("soil", "#3b2a20", 0.9)
SEEDS = material("seeds", "#4a2f1b", 0.8)
SPINE = material("spine", "#f3ecd2", 0.5)
WICKER = material("wicker", "#a9763f", 0.8)


def traffic_cone() -> list[Part]:
    plastic = paint("#e8641e", 0.45)
    base = block((2.1, 2.1, 0.2), plastic, 0.07).at(z=0.1)
    cone = lathe([(0, 0.2), (0.85, 0.2), (0.78, 0.32), (0.17, 2.62), (0.12, 2.66), (0, 2.66)], plastic, 32)
    stripes = [_cone_band(low, high) for low, high in ((0.82, 1.28), (1.72, 2.1))]
    return [base, cone, *stripes]


def _cone_band(low: float, high: float) -> Part:
    """A white sleeve around the cone."""
    radii = [0.78 - 0.61 * (z - 0.32) / 2.3 + 0.025 for z in (low, high)]
    return lathe([(0, low), (radii[0], low), (radii[1], high), (0, high)], WHITE, 32)


def mailbox() -> list[Part]:
    tin = paint("#2f66b0", 0.35)
    outline = [(-0.55, 0.0), *arc(0.55, 180, 0, 13, z=0.62), (0.55, 0.0)]
    body = extrude(outline, 1.9, tin, 0.03, 1).creased(50).at(z=1.1)
    lip = [(x * 1.07, z * 1.05 - 0.02) for x, z in outline]
    door = extrude(lip, 0.14, tin, 0.03, 1).creased(50).at(0, -0.95, 1.1)
    back = extrude(lip, 0.1, tin, 0.03, 1).creased(50).at(0, 0.92, 1.1)
    latch = block((0.2, 0.14, 0.12), STEEL, 0.03).at(0, -1.04, 2.0)
    plate = block((0.5, 0.04, 0.22), WHITE).at(0, -1.03, 1.55)
    pivot = cylinder(0.09, 0.14, STEEL, sides=12).turned(y=90).at(-0.6, -0.35, 1.6)
    arm = block((0.07, 0.1, 0.95), WHITE).at(-0.63, -0.35, 2.0)
    flag = block((0.07, 0.5, 0.32), WHITE).at(-0.63, -0.16, 2.34)
    shelf = block((0.9, 1.5, 0.12), WOOD, 0.03).at(0, 0, 1.05)
    post = block((0.36, 0.36, 1.05), WOOD, 0.05).at(0, 0, 0.53)
    return turned([body, door, back, latch, plate, pivot, arm, flag, shelf, post], 38)


def cactus() -> list[Part]:
    flesh = paint("#4c8f4b", 0.55)
    pot = lathe(
        [(0, 0), (0.5, 0), (0.64, 0.55), (0.74, 0.55), (0.74, 0.78), (0.62, 0.78), (0.62, 0.7), (0, 0.7)], CLAY, 24
    )
    soil = cylinder(0.62, 0.06, SOIL, sides=20).at(z=0.72)
    trunk = _ribbed(
        [(0, 0, 0.7), (0, 0, 1.6), (0, 0, 2.7), (0, 0, 3.05), (0, 0, 3.24), (0, 0, 3.32)],
        [0.42, 0.47, 0.45, 0.37, 0.2, 0.0],
        flesh,
    )
    left = spline([(-0.3, 0, 1.55), (-0.78, 0, 1.58), (-0.98, 0, 1.85), (-1.0, 0, 2.5)], 3)
    right = spline([(0.3, 0, 1.95), (0.72, 0, 1.98), (0.92, 0, 2.2), (0.94, 0, 2.78)], 3)
    arms = []
    for path in (left, right):
        x, y, z = path[-1]
        ends = [(x, y, z + 0.13), (x, y, z + 0.21), (x, y, z + 0.25)]
        arms.append(_ribbed([*path, *ends], [0.25] * 6 + [0.26] * (len(path) - 6) + [0.21, 0.12, 0.0], flesh))
    spines = []
    for z, start in ((1.1, 0), (1.6, 20), (2.1, 0), (2.6, 20)):
        spines += [_spine(0.46, z, start + 40 * k) for k in range(9)]
    return [pot, soil, trunk, *arms, *spines]


def _ribbed(path: list[Vec3], radii: list[float], skin: Material) -> Part:
    return tube(path, radii, skin, 20, up=(0, 1, 0)).creased(80)


def _spine(radius: float, z: float, angle_deg: float) -> Part:
    return tube([(radius - 0.04, 0, z), (radius + 0.14, 0, z + 0.05)], [0.035, 0.0], SPINE, 3).turned(z=angle_deg)


def flower() -> list[Part]:
    bloom = paint("#d84b7b", 0.5)
    pot = lathe(
        [(0, 0), (0.42, 0), (0.54, 0.5), (0.62, 0.5), (0.62, 0.68), (0.52, 0.68), (0.52, 0.6), (0, 0.6)], CLAY, 22
    )
    soil = cylinder(0.52, 0.06, SOIL, sides=18).at(z=0.62)
    stem = tube(spline([(0, 0.1, 0.6), (0, 0.16, 1.2), (0, 0.02, 1.9)], 3), 0.09, LEAF, 10)
    petal = sphere((0.42, 0.13, 0.62), bloom, 16, 10)
    petal.bent(lambda p: (p[0] * (1 + 0.35 * p[2]), p[1] - 0.16 * p[2] * abs(p[2]) - 0.25 * p[0] ** 2, p[2]))
    petals = [petal.copy().at(0, 0, 0.72).turned(y=360 * k / 7) for k in range(7)]
    heart = sphere((0.4, 0.22, 0.4), SEEDS, 18, 10).at(0, -0.1, 0)
    head = [part.turned(x=-12).at(0, -0.1, 2.05) for part in (*petals, heart)]
    leaf = sphere((0.52, 0.2, 0.06), LEAF, 14, 8).bent(lambda p: (p[0], p[1], p[2] + 0.4 * p[0] - 0.4 * p[0] ** 2))
    leaves = [leaf.at(0.5, 0.12, 0.95), leaf.mirrored("x")]
    return [pot, soil, stem, *head, *leaves]


def hot_air_balloon() -> list[Part]:
    cloth = paint("#d1422f", 0.55)
    outline = spline([(0.3, 1.0), (0.52, 1.25), (1.1, 2.0), (1.4, 2.75), (1.28, 3.5), (0.75, 4.08), (0.0, 4.28)], 3)
    outline[-1] = (0.0, outline[-1][1])
    sides = 40

    def bulge(p: Vec3) -> Vec3:
        angle = math.atan2(p[1], p[0])
        swell = 0.94 + 0.06 * abs(math.cos(angle * 5))
        return p[0] * swell, p[1] * swell, p[2]

    envelope = lathe([(0.0, 1.05), *outline], cloth, sides).bent(bulge).creased(80)
    ring = [(r + 0.02, z) for r, z in outline if 2.2 < z < 2.85]
    band = lathe([(0, ring[0][1]), *ring, (0, ring[-1][1])], WHITE, sides).bent(bulge).creased(60)
    skirt = lathe([(0.24, 0.82), (0.32, 1.04), (0.26, 1.04), (0.2, 0.82)], WHITE, 20)
    basket = block((0.62, 0.62, 0.5), WICKER, 0.08).at(z=0.25)
    rim = block((0.7, 0.7, 0.1), DARK_WOOD, 0.04).at(z=0.5)
    weave = block((0.65, 0.65, 0.05), DARK_WOOD).at(z=0.22)
    burner = cylinder(0.08, 0.2, STEEL, sides=10).at(z=0.72)
    ropes = [tube([(0.3, 0.3, 0.5), (0.2, 0.2, 1.05)], 0.03, DARK_WOOD, 5).turned(z=90 * k) for k in range(4)]
    return [envelope, band, skirt, basket, rim, weave, burner, *ropes]


def wheelbarrow() -> list[Part]:
    tin = paint("#2f8f57", 0.4)

    def rim(z: float, low: float, high: float, wide: float) -> list[Vec3]:
        return oval(z, (high - low) / 2, wide, 24, 8, x=(high + low) / 2)

    walls = [
        rim(0.78, -0.72, 0.75, 0.5),
        rim(1.6, -1.62, 1.12, 0.92),
        rim(1.6, -1.52, 1.04, 0.84),
        rim(0.86, -0.66, 0.7, 0.44),
    ]
    tray = loft(walls, tin).creased(60)
    edge = tube(rim(1.6, -1.6, 1.1, 0.9), 0.07, tin, 8, closed=True)
    handle = tube([(-1.55, -0.2, 0.42), (-0.6, -0.42, 0.66), (0.9, -0.56, 0.86), (2.1, -0.62, 1.22)], 0.085, WOOD, 10)
    grip = tube([(1.72, -0.605, 1.105), (2.14, -0.625, 1.235)], 0.125, RUBBER, 10)
    leg = tube([(0.75, -0.5, 0.8), (0.95, -0.6, 0.05), (0.6, -0.6, 0.05)], 0.07, DARK_STEEL, 8)
    brace = tube([(-1.5, -0.2, 0.42), (-0.95, -0.42, 0.95)], 0.06, DARK_STEEL, 8)
    tyre = torus(0.38, 0.15, RUBBER, 24, 8).turned(x=90).at(-1.5, 0, 0.53)
    hub = lathe(
        [(0, -0.13), (0.12, -0.13), (0.14, -0.07), (0.3, -0.08), (0.3, 0.08), (0.14, 0.07), (0.12, 0.13), (0, 0.13)],
        tin,
        18,
    )
    hub = hub.turned(x=90).at(-1.5, 0, 0.53)
    axle = cylinder(0.05, 0.5, STEEL, sides=8).turned(x=90).at(-1.5, 0, 0.53)
    twins = paired("y", handle, grip, leg, brace)
    return turned([tray, edge, *twins, tyre, hub, axle], 24)


def tree() -> list[Part]:
    crown_paint = paint("#4a8f3c", 0.75)
    trunk = tube(
        spline([(0, 0, 0), (0.03, 0, 0.5), (0.0, 0, 1.3), (0, 0, 1.9)], 3),
        [0.42, 0.34, 0.29, 0.27, 0.25, 0.24, 0.23, 0.22, 0.2, 0.18],
        WOOD,
        12,
    )
    branches = [tube([(0, 0, 1.1), (x, y, 1.75)], [0.14, 0.09], WOOD, 8) for x, y in ((-0.6, -0.1), (0.58, 0.05))]
    clouds = [
        (0, 0, 2.75, 0.95),
        (-0.8, -0.1, 2.2, 0.7),
        (0.8, 0.05, 2.25, 0.72),
        (0.1, -0.6, 2.15, 0.66),
        (-0.1, 0.6, 2.2, 0.66),
        (0.45, -0.3, 3.15, 0.6),
        (-0.5, 0.1, 3.1, 0.62),
    ]
    foliage = fused([sphere(r, crown_paint).at(x, y, z) for x, y, z, r in clouds], 0.08, crown_paint, 1500)
    return [trunk, *branches, foliage]


def fire_hydrant() -> list[Part]:
    iron = paint("#cf3a2a", 0.4)
    foot = lathe([(0, 0), (0.82, 0), (0.82, 0.16), (0.6, 0.22), (0, 0.22)], iron, 28)
    barrel = lathe([(0, 0.2), (0.52, 0.2), (0.52, 1.75), (0, 1.75)], iron, 28)
    flange = lathe([(0, 1.7), (0.7, 1.7), (0.7, 1.86), (0, 1.86)], iron, 28)
    low_flange = lathe([(0, 0.48), (0.62, 0.48), (0.62, 0.6), (0, 0.6)], iron, 28)
    dome = lathe([(0, 1.84), (0.6, 1.84), (0.56, 2.1), (0.42, 2.34), (0.22, 2.46), (0, 2.5)], iron, 28).creased(50)
    nut = cylinder(0.15, 0.24, STEEL, sides=5).at(0, 0, 2.58)
    arm = cylinder(0.26, 0.5, iron, sides=20).turned(y=90).at(-0.6, 0, 1.32)
    cap = cylinder(0.34, 0.22, iron, bevel=0.04, sides=20).turned(y=90).at(-0.86, 0, 1.32)
    tip = cylinder(0.12, 0.16, STEEL, sides=5).turned(y=90).at(-1.03, 0, 1.32)
    front = cylinder(0.36, 0.4, iron, sides=22).turned(x=90).at(0, -0.5, 1.2)
    front_cap = cylinder(0.45, 0.22, iron, bevel=0.05, sides=22).turned(x=90).at(0, -0.74, 1.2)
    front_nut = cylinder(0.14, 0.18, STEEL, sides=5).turned(x=90).at(0, -0.92, 1.2)
    bolts = cylinder(0.06, 0.1, STEEL, sides=6).at(0.71, 0, 0.2).around(8, 22.5)
    top_bolts = cylinder(0.05, 0.08, STEEL, sides=6).at(0.635, 0, 1.9).around(8, 22.5)
    twins = paired("x", arm, cap, tip)
    return [foot, barrel, flange, low_flange, dome, nut, *twins, front, front_cap, front_nut, *bolts, *top_bolts]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "cactus": cactus,
    "fire hydrant": fire_hydrant,
    "flower": flower,
    "hot air balloon": hot_air_balloon,
    "mailbox": mailbox,
    "traffic cone": traffic_cone,
    "tree": tree,
    "wheelbarrow": wheelbarrow,
}
