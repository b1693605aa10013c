"""Recipes: things of the household, and things one wears or carries."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.kit import (
    Part,
    Vec3,
    box,
    cylinder,
    extrude,
    lathe,
    loft,
    oval,
    sphere,
    spline,
    torus,
    tube,
)
from renderers.blender.recipes.materials import (
    BLACK,
    BRASS,
    DARK_GLASS,
    DARK_STEEL,
    DARK_WOOD,
    RIBBON,
    RUBBER,
    STEEL,
    WHITE,
    WOOD,
    material,
    paint,
)

FLAME = material("flame", "#f5a623", 0.4)
PAPER = material("paper", "#f3ecd9", 0.8)


def clock() -> list[Part]:
    lacquer = paint("#d24a43", 0.3)
    # Lathed about Z, then turned so that the dial, which is the top, faces the front.
    rim = [(1.14, 1.0), (0.98, 1.06), (0.87, 1.0), (0.86, 0.92), (0, 0.92)]
    case = lathe([(0, 0), (0.95, 0), (1.15, 0.12), (1.2, 0.3), (1.2, 0.85), *rim], lacquer, 32)
    dial = cylinder(0.86, 0.04, WHITE, sides=36).at(z=0.93)
    ticks = []
    for k in range(12):
        size = (0.09, 0.22, 0.03) if k % 3 == 0 else (0.06, 0.13, 0.03)
        ticks.append(box(size, BLACK).at(0, 0.68, 0.96).turned(z=30 * k))
    hour = box((0.11, 0.5, 0.04), BLACK).at(0, 0.2, 0.98).turned(z=55)
    minute = box((0.08, 0.66, 0.04), BLACK).at(0, 0.28, 1.0).turned(z=-60)
    hub = cylinder(0.1, 0.1, BLACK, sides=14).at(z=1.0)
    face = [part.turned(x=90).at(0, 0.52, 1.45) for part in (case, dial, *ticks, hour, minute, hub)]
    bell = lathe([(0, 0), (0.56, 0), (0.58, 0.06), *spline([(0.52, 0.24), (0.3, 0.42), (0, 0.48)], 3)], lacquer, 20)
    post = cylinder(0.07, 0.4, STEEL, sides=10).at(z=-0.1)
    nut = sphere(0.1, STEEL, 10, 6).at(z=0.5)
    bells = [twin for part in (bell, post, nut) for twin in part.turned(y=34).at(0.82, 0, 2.55).both_sides()]
    leg = tube([(0.62, 0, 0.55), (0.98, 0, 0.0)], [0.16, 0.1], lacquer, 12)
    hammer = [cylinder(0.05, 0.5, STEEL, sides=8).at(z=2.8), box((0.26, 0.16, 0.2), STEEL, 0.04).at(z=3.05)]
    return [*face, *bells, *leg.both_sides(), *hammer]


def television() -> list[Part]:
    lacquer = paint("#c9622c", 0.4)
    trim = material("trim", "#efe6d2", 0.5)
    case = box((3.2, 1.5, 2.2), lacquer, 0.26, 3).at(0, 0, 1.85)
    frame = box((1.84, 0.1, 1.5), trim, 0.2, 3).at(-0.42, -0.74, 1.85)
    screen = box((1.68, 0.12, 1.34), DARK_GLASS, 0.25, 3).at(-0.42, -0.77, 1.85)
    gleam = extrude([(-0.98, 2.18), (-0.68, 2.18), (-0.92, 1.75), (-1.06, 1.75)], 0.02, WHITE).at(0, -0.835, 0.1)
    knobs = [cylinder(0.17, 0.16, trim, bevel=0.03, sides=18).turned(x=90).at(1.05, -0.8, z) for z in (2.45, 1.9)]
    grille = [box((0.44, 0.06, 0.06), DARK_STEEL).at(1.05, -0.76, 1.4 - 0.15 * k) for k in range(3)]
    ears = tube([(0.1, 0, 2.95), (0.85, 0, 3.65)], 0.055, STEEL, 8).both_sides()
    tips = sphere(0.1, STEEL, 10, 6).at(0.85, 0, 3.65).both_sides()
    dock = sphere((0.4, 0.3, 0.2), BLACK, 16, 8).at(0, 0, 2.95)
    leg = tube([(1.0, -0.4, 0.85), (1.25, -0.55, 0.0)], [0.13, 0.08], DARK_WOOD, 10)
    legs = [corner for side in leg.both_sides("x") for corner in side.both_sides("y")]
    return [case, frame, screen, gleam, *knobs, *grille, *ears, *tips, dock, *legs]


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


def umbrella() -> list[Part]:
    cloth = paint("#3f62b8", 0.6)
    ribs, sides = 8, 40
    outer = [(0.12, 3.4), (0.7, 3.22), (1.3, 2.82), (1.75, 2.25), (1.9, 1.9)]
    profile = [(0, 3.42), *outer, (1.84, 1.9), (1.68, 2.23), (1.22, 2.76), (0, 3.28)]

    def scallop(p: Vec3) -> Vec3:
        """Between two ribs the cloth is pulled in, and its hem is higher."""
        reach = math.hypot(p[0], p[1]) / 1.9
        between = 1 - abs(math.cos(ribs / 2 * math.atan2(p[1], p[0])))
        shrink = 1 - 0.1 * between * reach
        return (p[0] * shrink, p[1] * shrink, p[2] + 0.3 * between * reach**4)

    canopy = lathe(profile, cloth, sides).bent(scallop).creased(28)
    shaft = cylinder(0.07, 3.2, STEEL, sides=10).at(z=1.95)
    ferrule = lathe([(0, 3.3), (0.1, 3.35), (0.08, 3.55), (0.04, 3.8), (0, 3.82)], WOOD, 12)
    hook = spline([(0, 0, 1.0), (0, 0, 0.35), (0.06, 0, 0.12), (0.3, 0, 0.0), (0.54, 0, 0.12), (0.6, 0, 0.36)], 3)
    tips = sphere(0.07, STEEL, 8, 5).at(1.88, 0, 1.9).around(ribs)
    return [canopy, shaft, ferrule, tube(hook, 0.12, WOOD, 10, up=(0, 1, 0)), *tips]


def backpack() -> list[Part]:
    cloth = paint("#e07a35", 0.7)
    strap = material("strap", "#3a3f4a", 0.8)
    leather = material("leather", "#8a5a35", 0.6)
    outline = [
        (-1, 0.1),
        (1, 0.1),
        (1.05, 1.7),
        *spline([(0.95, 2.2), (0.55, 2.62), (-0.55, 2.62), (-0.95, 2.2)], 3),
    ]
    body = extrude([*outline, (-1.05, 1.7)], 1.1, cloth, 0.26, 3)
    pocket = box((1.5, 0.5, 1.0), cloth, 0.2, 3).at(0, -0.62, 0.72)
    pocket_zip = box((1.3, 0.05, 0.07), strap).at(0, -0.865, 0.98)
    side_pocket = box((0.4, 0.7, 0.8), cloth, 0.16, 3).at(1.08, 0, 0.6).both_sides()
    flap_sections = []
    for y, z in spline([(0.25, 2.6), (-0.3, 2.66), (-0.62, 2.35), (-0.68, 1.75)], 3):
        flap_sections.append(oval(0, 0.98, 0.09, 20, 4, y=y))
        flap_sections[-1] = [(x, py, z) for x, py, _ in flap_sections[-1]]
    flap = loft(flap_sections, cloth)
    belts = [box((0.18, 0.07, 1.1), leather, 0.02).at(x, -0.78, 1.75) for x in (-0.5, 0.5)]
    buckles = [box((0.3, 0.08, 0.26), BRASS, 0.03).at(x, -0.84, 1.5) for x in (-0.5, 0.5)]
    loop = spline([(-0.3, 0.3, 2.55), (-0.26, 0.3, 2.95), (0.26, 0.3, 2.95), (0.3, 0.3, 2.55)], 3)
    path = spline([(0.45, 0.5, 2.3), (0.6, 0.95, 2.2), (0.7, 1.05, 1.3), (0.7, 0.7, 0.5), (0.8, 0.5, 0.35)], 3)
    shoulder = tube(path, 0.2, strap, 10, flatten=0.4, up=(0, 1, 0)).both_sides()
    top = tube(loop, 0.09, strap, 8, up=(0, 1, 0))
    return [body, pocket, pocket_zip, *side_pocket, flap, *belts, *buckles, top, *shoulder]


def hat() -> list[Part]:
    felt = paint("#5a2c45", 0.6)
    band = material("ribbon", "#17181a", 0.35)
    crown = [(0.98, 0.3), (0.95, 0.9), (1.0, 1.5), (1.12, 1.95), (1.06, 2.02), (0, 2.02)]
    brim = [
        (0, 0.12),
        (0.9, 0.12),
        (1.4, 0.06),
        (1.62, 0.14),
        (1.68, 0.24),
        (1.62, 0.28),
        (1.35, 0.2),
        (1.04, 0.22),
    ]
    shape = lathe([*brim, *crown], felt, 36)
    shape.bent(lambda p: (p[0], p[1] * 0.9, p[2] + (0.14 * p[0] ** 2 / 2.6 if p[2] < 0.29 else 0)))
    ribbon = lathe([(0.9, 0.24), (1.02, 0.24), (1.0, 0.62), (0.9, 0.62)], band, 36).scaled(1, 0.9, 1)
    return [shape, ribbon]


def boot() -> list[Part]:
    gum = paint("#e3b92f", 0.25)

    def outlines(*centre_radii_z: tuple[float, float, float, float]) -> list[list[Vec3]]:
        return [oval(z, rx, ry, 28, 2.4, x=x) for x, rx, ry, z in centre_radii_z]

    foot = [
        (-0.5, 1.35, 0.58, 0.2),
        (-0.5, 1.38, 0.62, 0.4),
        (-0.4, 1.24, 0.6, 0.72),
        (-0.1, 0.92, 0.56, 1.0),
    ]
    shaft = [
        (0.08, 0.72, 0.54, 1.3),
        (0.12, 0.68, 0.56, 1.8),
        (0.12, 0.72, 0.62, 2.5),
        (0.12, 0.76, 0.66, 3.0),
    ]
    inside = [(0.12, 0.66, 0.56, 3.02), (0.12, 0.6, 0.52, 2.3), (0.12, 0.5, 0.4, 2.0)]
    cuff_outside = [(0.12, 0.8, 0.7, 2.72), (0.12, 0.83, 0.73, 2.76), (0.12, 0.84, 0.74, 3.04)]
    cuff_inside = [(0.12, 0.8, 0.7, 3.08), (0.12, 0.66, 0.56, 3.06), (0.12, 0.64, 0.54, 2.9)]
    welt = [
        (-0.5, 1.38, 0.62, 0.1),
        (-0.5, 1.44, 0.67, 0.14),
        (-0.5, 1.44, 0.67, 0.3),
        (-0.5, 1.38, 0.62, 0.34),
    ]
    leg = loft(outlines(*foot, *shaft, *inside), gum)
    cuff = loft(outlines(*cuff_outside, *cuff_inside), WHITE)
    sole = loft(outlines(*welt), RUBBER)
    heel = loft(outlines((0.42, 0.5, 0.6, 0.0), (0.42, 0.52, 0.62, 0.2)), RUBBER)
    tread = loft(outlines((-1.05, 0.75, 0.56, 0.0), (-1.05, 0.78, 0.58, 0.14)), RUBBER)
    return [leg, cuff, sole, heel, tread]


def gift_box() -> list[Part]:
    card = paint("#c03a6b", 0.5)
    body = box((2.2, 2.2, 1.7), card, 0.05).at(z=0.85)
    lid = box((2.4, 2.4, 0.5), card, 0.06).at(z=1.82)
    bands = [
        part.copy().turned(z=turn)
        for turn in (0, 90)
        for part in (
            box((0.3, 2.26, 1.66), RIBBON, 0.02).at(z=0.86),
            box((0.3, 2.46, 0.54), RIBBON, 0.02).at(z=1.83),
        )
    ]
    # The two bands would share the plane of the lid's top where they cross.
    bands = [band.scaled(1, 1, 1 + 0.006 * (i // 2)) for i, band in enumerate(bands)]
    path = spline([(0, 0, 2.15), (0.5, 0, 2.8), (1.0, 0, 2.95), (1.12, 0, 2.5), (0.6, 0, 2.2), (0, 0, 2.2)], 4)
    loop = tube(path, 0.26, RIBBON, 12, flatten=0.25)
    tail = tube(spline([(0, 0, 2.2), (0.3, -0.5, 2.3), (0.5, -1.0, 2.14)], 3), 0.22, RIBBON, 10, flatten=0.25)
    knot = sphere((0.26, 0.26, 0.22), RIBBON, 14, 8).at(z=2.28)
    return [body, lid, *bands, *loop.turned(z=25).both_sides(), *tail.both_sides(), knot]


def book() -> list[Part]:
    cloth = paint("#a8352f", 0.55)
    edge = material("page_edge", "#cfc4a8", 0.8)
    covers = box((1.7, 0.1, 2.4), cloth, 0.03).at(0.08, -0.42, 1.2).both_sides("y")
    outline = [(-0.72, -0.42), (-0.84, -0.47), (-0.98, -0.28), (-1.03, 0)]
    outline = [*outline, *((x, -y) for x, y in reversed(outline[:3]))]
    spine = extrude(outline, 2.4, cloth, 0.03).turned(x=-90).at(0, 0, 1.2)
    cords = [
        extrude(outline, 0.09, cloth).scaled(1.05, 1, 1.05).turned(x=-90).at(0, 0, z) for z in (0.35, 0.75, 1.65, 2.05)
    ]
    pages = box((1.62, 0.76, 2.32), PAPER, 0.02).at(0, 0, 1.2)
    leaves = [box((1.63, 0.014, 2.33), edge).at(0, y, 1.2) for y in (-0.24, -0.08, 0.08, 0.24)]
    plate = box((0.85, 0.03, 0.4), RIBBON, 0.01).at(0.14, -0.47, 1.75)
    rules = box((1.2, 0.02, 0.06), RIBBON).at(0.14, -0.47, 0.42).repeated(2, z=0.15)
    spine_label = extrude(outline, 0.5, RIBBON).scaled(1.02, 0.6, 1).turned(x=-90).at(0, 0, 1.2)
    return [part.turned(z=-14) for part in (*covers, spine, *cords, pages, *leaves, plate, *rules, spine_label)]


def candle() -> list[Part]:
    wax = paint("#e9d8b0", 0.4)
    dish = lathe([(0, 0), (0.9, 0), (1.3, 0.18), (1.36, 0.3), (1.28, 0.3), (0.85, 0.12), (0, 0.12)], BRASS, 32)
    socket = lathe([(0, 0.1), (0.88, 0.1), (0.94, 0.16), (0.92, 0.4), (0.78, 0.42), (0, 0.42)], BRASS, 24)
    ring = torus(0.32, 0.09, BRASS, 20, 8).turned(x=90).at(1.6, 0, 0.34)
    pillar = lathe([(0, 0.3), (0.8, 0.3), (0.8, 2.3), (0.76, 2.4), (0.66, 2.4), (0.54, 2.3), (0, 2.28)], wax, 26)
    drips = []
    for angle, length, width in (
        (-100, 0.95, 0.16),
        (-50, 0.5, 0.14),
        (-150, 0.45, 0.14),
        (25, 0.8, 0.15),
        (110, 0.6, 0.15),
    ):
        path = [(0.7, 0, 2.38), (0.8, 0, 2.3), (0.8, 0, 2.3 - length)]
        drip = tube(path, [width * 0.7, width * 0.8, width], wax, 8)
        drop = sphere((width, width, width * 1.3), wax, 10, 6).at(0.8, 0, 2.3 - length)
        drips += [part.turned(z=angle) for part in (drip, drop)]
    wick = cylinder(0.04, 0.3, BLACK, sides=8).at(z=2.4)
    flame_edge = spline([(0.14, 2.52), (0.26, 2.75), (0.16, 3.1), (0.02, 3.45)], 3)
    flame = lathe([(0, 2.46), *flame_edge, (0, 3.46)], FLAME, 16)
    return [dish, socket, ring, pillar, *drips, wick, flame]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "clock": clock,
    "television": television,
    "trash can": trash_can,
    "umbrella": umbrella,
    "backpack": backpack,
    "hat": hat,
    "boot": boot,
    "gift box": gift_box,
    "book": book,
    "candle": candle,
}
