"""Recipes: things of the household, and things one wears or carries."""

from __future__ import annotations

from collections.abc import Callable

from renderers.blender.recipes.kit import Part, box, cylinder, extrude, lathe, loft, sphere, torus, tube
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
    material,
    paint,
)
from renderers.blender.recipes.paths import oval, spline

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
    frame = box((1.7, 0.1, 1.38), trim, 0.2, 3).at(-0.42, -0.74, 1.85)
    screen = box((1.54, 0.12, 1.22), DARK_GLASS, 0.25, 3).at(-0.42, -0.77, 1.85)
    gleam = extrude([(-0.98, 2.18), (-0.68, 2.18), (-0.92, 1.75), (-1.06, 1.75)], 0.02, WHITE).at(0, -0.835, 0.1)
    knobs = [cylinder(0.15, 0.16, trim, bevel=0.03, sides=18).turned(x=90).at(1.05, -0.8, z) for z in (2.45, 1.9)]
    grille = [box((0.44, 0.06, 0.06), DARK_STEEL).at(1.05, -0.76, 1.4 - 0.15 * k) for k in range(3)]
    ears = tube([(0.1, 0, 2.95), (0.85, 0, 3.65)], 0.055, STEEL, 8).both_sides()
    tips = sphere(0.1, STEEL, 10, 6).at(0.85, 0, 3.65).both_sides()
    dock = sphere((0.4, 0.3, 0.2), BLACK, 16, 8).at(0, 0, 2.95)
    leg = tube([(1.0, -0.4, 0.85), (1.25, -0.55, 0.0)], [0.13, 0.08], DARK_WOOD, 10)
    legs = [corner for side in leg.both_sides("x") for corner in side.both_sides("y")]
    return [case, frame, screen, gleam, *knobs, *grille, *ears, *tips, dock, *legs]


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


def telephone() -> list[Part]:
    bakelite = paint("#b8362f", 0.3)
    foot = [(1.45, 1.15, 0.0, 0.0), (1.5, 1.2, 0.1, 0.0), (1.4, 1.05, 0.45, 0.05)]
    top = [(0.95, 0.62, 1.15, 0.3), (0.82, 0.5, 1.3, 0.34)]
    body = loft([oval(z, rx, ry, 32, 4.0, y=y) for rx, ry, z, y in (*foot, *top)], bakelite)
    dial = [
        cylinder(0.62, 0.1, material("dial", "#efe9dc", 0.4), bevel=0.03, sides=28),
        *cylinder(0.095, 0.05, BLACK, sides=10).at(0.44, 0, 0.05).around(10),
        cylinder(0.22, 0.08, bakelite, sides=18).at(z=0.06),
    ]
    dial = [part.turned(x=46).at(0, -0.72, 0.755) for part in dial]
    cradle = box((0.2, 0.6, 0.36), STEEL, 0.05).at(0.55, 0.32, 1.42).both_sides()
    bar = spline([(-1.35, 0.32, 1.55), (-0.9, 0.32, 1.86), (0, 0.32, 1.96), (0.9, 0.32, 1.86), (1.35, 0.32, 1.55)], 3)
    handset = tube(bar, 0.2, bakelite, 12, up=(0, 1, 0))
    cup = lathe([(0, 0), (0.4, 0), (0.44, 0.08), (0.36, 0.34), (0.2, 0.46), (0, 0.46)], bakelite, 20)
    cups = cup.turned(y=-18).at(1.42, 0.32, 1.24).both_sides()
    return [body, *dial, *cradle, handset, *cups]


def camera() -> list[Part]:
    leather = paint("#3f6f9a", 0.5)
    body = box((2.8, 0.95, 1.75), leather, 0.16, 3).at(z=0.9)
    hump = extrude([(-0.55, 1.6), (0.55, 1.6), (0.38, 2.15), (-0.38, 2.15)], 0.85, leather, 0.1)
    lens = [
        cylinder(0.7, 0.3, STEEL, bevel=0.05).turned(x=90).at(0, -0.58, 0.9),
        cylinder(0.61, 0.5, BLACK, bevel=0.06).turned(x=90).at(0, -0.85, 0.9),
        cylinder(0.45, 0.06, material("lens", "#2a2440", 0.05), sides=28).turned(x=90).at(0, -1.1, 0.9),
        sphere((0.1, 0.03, 0.1), WHITE, 10, 6).at(-0.18, -1.13, 1.08),
    ]
    shutter = cylinder(0.2, 0.2, STEEL, bevel=0.04, sides=18).at(-1.0, 0, 1.84)
    dial = cylinder(0.26, 0.22, BLACK, bevel=0.04, sides=18).at(0.98, 0, 1.84)
    flash = box((0.44, 0.08, 0.26), WHITE, 0.04).at(0, -0.42, 1.9)
    window = box((0.42, 0.06, 0.28), DARK_GLASS, 0.03).at(1.0, -0.47, 1.42)
    return [body, hump, *lens, shutter, dial, flash, window]


def light_bulb() -> list[Part]:
    glass = paint("#f2d36b", 0.12)
    outside = [(0.42, 0.98), (0.5, 1.3), (0.9, 1.9), (1.08, 2.5), (0.86, 3.15), (0.4, 3.46)]
    bulb = lathe([(0, 0.96), *spline(outside, 4), (0, 3.54)], glass, 28).creased(180)
    thread = [(0.44 + (0.06 if k % 2 else -0.02), 0.22 + 0.1 * k) for k in range(8)]
    screw = lathe([(0, 0.16), (0.36, 0.16), *thread, (0.42, 1.02), (0, 1.02)], STEEL, 24).creased(60)
    foot = lathe([(0, 0), (0.16, 0), (0.34, 0.16), (0, 0.18)], BLACK, 20)
    return [bulb, screw, foot]


def trophy() -> list[Part]:
    metal = paint("#d8a831", 0.25)
    outside = spline([(0.18, 1.15), (0.5, 1.3), (0.92, 1.8), (1.08, 2.4), (1.12, 2.85)], 3)
    stem = [(0.62, 0.58), (0.6, 0.68), *spline([(0.24, 0.78), (0.13, 0.95), (0.18, 1.15)], 3)[:-1]]
    inside = [(1.18, 2.92), (1.06, 2.94), (0.95, 2.3), (0.5, 1.6), (0, 1.5)]
    cup = lathe([(0, 0.5), (0.62, 0.5), *stem, *outside, *inside], metal)
    base = [box((1.5, 1.5, 0.36), BLACK, 0.05).at(z=0.18), box((1.2, 1.2, 0.2), BLACK, 0.04).at(z=0.44)]
    plate = box((0.7, 0.04, 0.18), metal, 0.01).at(0, -0.76, 0.19)
    ear = spline([(1.02, 0, 2.62), (1.5, 0, 2.75), (1.72, 0, 2.35), (1.42, 0, 1.9), (0.85, 0, 1.7)], 4)
    return [cup, *base, plate, *tube(ear, 0.11, metal, 10, up=(0, 1, 0)).both_sides()]


def washing_machine() -> list[Part]:
    enamel = paint("#6fa8a0", 0.35)
    body = box((2.2, 2.0, 2.7), enamel, 0.12, 3).at(z=1.45)
    feet = [cylinder(0.13, 0.2, RUBBER, sides=12).at(x, y, 0.08) for x in (-0.85, 0.85) for y in (-0.75, 0.75)]
    ring = torus(0.66, 0.12, WHITE, 32, 10).turned(x=90).at(0, -1.02, 1.3)
    door = sphere((0.6, 0.2, 0.6), material("door_glass", "#2c3a48", 0.1), 24, 12).at(0, -0.98, 1.3)
    gleam = sphere((0.12, 0.03, 0.08), WHITE, 10, 6).turned(y=40).at(-0.22, -1.15, 1.54)
    panel = box((2.0, 0.06, 0.36), WHITE, 0.02).at(0, -1.0, 2.5)
    knob = cylinder(0.14, 0.14, DARK_STEEL, bevel=0.03, sides=16).turned(x=90).at(0.66, -1.07, 2.5)
    drawer = box((0.62, 0.05, 0.2), enamel, 0.02).at(-0.58, -1.03, 2.5)
    return [body, *feet, ring, door, gleam, panel, knob, drawer]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "clock": clock,
    "television": television,
    "gift box": gift_box,
    "book": book,
    "candle": candle,
    "telephone": telephone,
    "camera": camera,
    "light bulb": light_bulb,
    "trophy": trophy,
    "washing machine": washing_machine,
}
