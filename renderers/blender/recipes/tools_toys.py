"""Recipes: tools, instruments and toys."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.kit import (
    Part,
    block,
    box,
    cylinder,
    extrude,
    faces_where,
    fused,
    lathe,
    loft,
    paired,
    slab,
    sphere,
    torus,
    tube,
    turned,
)
from renderers.blender.recipes.materials import (
    BLACK,
    DARK_STEEL,
    DARK_WOOD,
    PALE_WOOD,
    STEEL,
    WHITE,
    Material,
    material,
    paint,
)
from renderers.blender.recipes.paths import Vec3, arc, spline, upright

CREAM = material("cream", "#ecdcb9", 0.65)
LIGHT = material("light", "#fff4cf", 0.3)


def hammer() -> list[Part]:
    grip = paint("#d2452d", 0.5)
    outline = spline([(0.42, 0.0), (0.48, 0.25), (0.41, 0.8), (0.41, 1.5), (0.34, 2.2), (0.29, 2.9)], 3)
    handle = lathe([(0, -0.05), (0.34, -0.05), *outline, (0, 3.0)], grip, 20).scaled(1.05, 0.85, 1)
    eye = block((0.6, 0.56, 0.56), DARK_STEEL, 0.08).at(0, 0, 3.1)
    top = block((0.36, 0.36, 0.12), PALE_WOOD, 0.03).at(0, 0, 3.42)
    face = lathe(
        [(0, -1.02), (0.33, -1.02), (0.37, -0.96), (0.37, -0.72), (0.24, -0.6), (0.24, -0.2), (0, -0.2)], STEEL, 20
    )
    face = face.turned(y=90).at(0, 0, 3.12)
    path = spline([(0.2, -0.15, 3.14), (0.62, -0.17, 3.16), (0.98, -0.2, 3.02), (1.22, -0.24, 2.72)], 3)
    claw = tube(path, [0.24, 0.23, 0.22, 0.21, 0.2, 0.18, 0.16, 0.13, 0.1, 0.05], STEEL, 10, flatten=0.8)
    return [handle, eye, top, face, *claw.both_sides("y")]


def guitar() -> list[Part]:
    lacquer = paint("#c2702e", 0.3)
    half = spline(
        [(0.0, 0.0), (0.62, 0.1), (1.08, 0.62), (0.92, 1.15), (0.68, 1.48), (0.82, 1.92), (0.56, 2.3), (0.0, 2.4)], 4
    )
    outline = [*half[:-1], *[(-x, z) for x, z in reversed(half[1:])]]
    body = extrude(outline, 0.52, lacquer, 0.06)
    hole = cylinder(0.33, 0.54, BLACK, sides=24).turned(x=90).at(0, -0.005, 1.52)
    ring = torus(0.36, 0.045, CREAM, 24, 6).turned(x=90).at(0, -0.26, 1.52)
    bridge = block((0.7, 0.1, 0.16), DARK_WOOD, 0.03).at(0, -0.29, 0.68)
    neck = block((0.3, 0.16, 1.85), DARK_WOOD, 0.03).at(0, -0.27, 2.72)
    frets = block((0.31, 0.03, 0.03), STEEL).at(0, -0.345, 2.1).repeated(6, z=0.24)
    head = slab(
        [(-0.19, 3.55), (-0.32, 3.7), (-0.28, 4.22), (0.0, 4.32), (0.28, 4.22), (0.32, 3.7), (0.19, 3.55)],
        0.18,
        lacquer,
        0.03,
    )
    pegs = [sphere((0.13, 0.06, 0.08), STEEL, 8, 6).at(-0.39, -0.24, z) for z in (3.77, 3.95, 4.13)]
    strings = [
        tube([(0.3 * x, -0.37, 0.68), (0.24 * x, -0.37, 3.65)], 0.012, CREAM, 3) for x in (-0.5, -0.17, 0.17, 0.5)
    ]
    knobs = paired("x", *pegs)
    return turned([body, hole, ring, bridge, neck, *frets, head.at(y=-0.22), *knobs, *strings], 12)


def drum() -> list[Part]:
    shell = paint("#c8322f", 0.35)
    body = lathe([(0, 0.12), (1.0, 0.12), (1.0, 1.5), (0, 1.5)], shell, 32)
    skin = lathe([(0, 1.56), (0.99, 1.54), (0.99, 1.45), (0, 1.45)], WHITE, 32)
    hoop = lathe([(0.98, -0.12), (1.09, -0.12), (1.09, 0.12), (0.98, 0.12), (0.98, -0.12)], shell, 32)
    hoops = hoop.at(z=0.12).repeated(2, z=1.36)
    cord = [
        (1.035 * math.cos(math.pi * k / 9), 1.035 * math.sin(math.pi * k / 9), 1.36 if k % 2 else 0.24)
        for k in range(18)
    ]
    rope = tube(cord, 0.035, WHITE, 5, closed=True)
    sticks = []
    for side in (-1, 1):
        start, end = (side * 1.1, -0.5, 1.72), (-side * 0.55, 0.32, 1.68 + 0.14 * (side > 0))
        sticks += [tube([start, end], [0.075, 0.055], PALE_WOOD, 10), sphere(0.12, PALE_WOOD, 10, 8).at(*end)]
    return [body, skin, *hoops, rope, *sticks]


def bell() -> list[Part]:
    metal = paint("#d6a32c", 0.25)
    outer = spline([(1.22, 0.62), (1.15, 0.76), (0.92, 1.1), (0.78, 1.6), (0.68, 2.05), (0.42, 2.36), (0.14, 2.44)], 3)
    inner = [(0.93 * r - 0.03, z) for r, z in reversed(outer[:-5])]
    body = lathe([(0, 2.46), *reversed(outer), *reversed(inner), (0, 2.1)], metal, 28)
    bands = [
        lathe([(r - 0.05, z - 0.05), (r + 0.05, z - 0.05), (r + 0.04, z + 0.05), (r - 0.05, z + 0.05)], metal, 28)
        for r, z in ((0.985, 1.02), (0.715, 1.94))
    ]
    loop = torus(0.27, 0.1, metal, 18, 8).turned(x=90).at(0, 0, 2.68)
    rod = cylinder(0.06, 1.4, DARK_STEEL, sides=8).at(0, 0, 1.1)
    clapper = sphere(0.4, DARK_STEEL, 18, 10).at(0, 0, 0.4)
    return [body, *bands, loop, rod, clapper]


def robot() -> list[Part]:
    shell = paint("#3fa7a0", 0.35)
    head = box((1.3, 0.95, 0.95), shell, 0.14).at(0, 0, 2.95)
    face = block((1.0, 0.1, 0.56), BLACK, 0.05).at(0, -0.46, 3.02)
    eye = cylinder(0.17, 0.1, LIGHT, sides=16).turned(x=90).at(-0.26, -0.52, 3.07)
    pupil = cylinder(0.07, 0.12, BLACK, sides=12).turned(x=90).at(-0.26, -0.53, 3.07)
    mouth = block((0.1, 0.06, 0.12), LIGHT).at(-0.24, -0.51, 2.82).repeated(4, x=0.16)
    ear = cylinder(0.22, 0.16, STEEL, sides=16).turned(y=90).at(-0.71, 0, 2.98)
    mast = cylinder(0.04, 0.45, STEEL, sides=8).at(0, 0, 3.6)
    ball = sphere(0.14, LIGHT, 14, 8).at(0, 0, 3.88)
    neck = cylinder(0.26, 0.3, DARK_STEEL, sides=16).at(0, 0, 2.42)
    body = box((1.55, 1.1, 1.4), shell, 0.14).at(0, 0, 1.65)
    panel = block((0.95, 0.08, 0.62), WHITE, 0.04).at(0, -0.55, 1.78)
    dial = cylinder(0.17, 0.08, DARK_STEEL, sides=16).turned(x=90).at(-0.22, -0.6, 1.82)
    keys = block((0.13, 0.08, 0.13), BLACK).at(0.1, -0.59, 1.92).repeated(2, x=0.2)
    bars = block((0.34, 0.08, 0.07), STEEL).at(0.2, -0.59, 1.65)
    shoulder = sphere(0.26, DARK_STEEL, 14, 8).at(-0.9, 0, 2.1)
    arm = tube([(-0.92, 0, 2.1), (-1.2, -0.05, 1.7)], 0.15, DARK_STEEL, 12)
    fore = cylinder(0.27, 0.75, shell, top_radius=0.2, sides=16).turned(y=12).at(-1.25, -0.08, 1.4)
    claw = [
        tube(
            spline([(-1.31, -0.08, 1.05), (-1.31 + s * 0.3, -0.1, 0.92), (-1.31 + s * 0.14, -0.12, 0.66)], 3),
            0.085,
            STEEL,
            8,
        )
        for s in (-1, 1)
    ]
    leg = cylinder(0.22, 0.6, DARK_STEEL, sides=14).at(-0.4, 0, 0.75)
    foot = box((0.62, 0.95, 0.45), shell, 0.1).at(-0.42, -0.1, 0.22)
    twins = paired("x", eye, pupil, ear, shoulder, arm, fore, *claw, leg, foot)
    return [head, face, *mouth, mast, ball, neck, body, panel, dial, *keys, bars, *twins]


def teddy_bear() -> list[Part]:
    fur = paint("#b07a43", 0.75)
    body = sphere((0.88, 0.78, 0.95), fur).at(0, 0.1, 0.92)
    head = sphere((0.82, 0.72, 0.72), fur).at(0, 0, 2.25)
    ear = sphere((0.31, 0.2, 0.31), fur).at(-0.66, 0.05, 2.86)
    arm = tube([(-0.62, 0, 1.5), (-1.2, -0.28, 1.05)], (0.32, 0.3), fur, 16)
    paw = sphere(0.33, fur).at(-1.22, -0.3, 1.0)
    leg = tube([(-0.5, 0, 0.42), (-0.82, -0.85, 0.4)], (0.4, 0.36), fur, 16)
    foot = sphere((0.42, 0.3, 0.46), fur).at(-0.86, -0.95, 0.46)
    skin = fused([body, head, *paired("x", ear, arm, paw, leg, foot)], 0.05, fur, 1600)
    inner = sphere((0.19, 0.08, 0.19), CREAM, 14, 8).at(-0.66, -0.13, 2.86)
    muzzle = sphere((0.38, 0.28, 0.29), CREAM, 18, 10).at(0, -0.65, 2.08)
    nose = sphere((0.15, 0.1, 0.11), BLACK, 12, 8).at(0, -0.91, 2.2)
    smile = tube([(0, -0.92, 2.12), (0, -0.92, 1.97)], 0.025, BLACK, 5)
    mouth = tube(spline([(-0.17, -0.86, 2.03), (0, -0.92, 1.96), (0.17, -0.86, 2.03)], 3), 0.025, BLACK, 5)
    eye = sphere(0.11, BLACK, 12, 8).at(-0.31, -0.62, 2.44)
    glint = sphere(0.035, WHITE, 6, 4).at(-0.34, -0.72, 2.49)
    pad = sphere((0.27, 0.07, 0.3), CREAM, 14, 8).turned(z=-6).at(-0.89, -1.23, 0.46)
    return [skin, muzzle, nose, smile, mouth, *paired("x", inner, eye, glint, pad)]


def beach_ball() -> list[Part]:
    vinyl = paint("#d94040", 0.25)

    def panel(point: Vec3) -> int:
        """0 to 6 towards a painted panel, 7 to 9 towards a white one (each counts 12 degrees)."""
        return int(math.degrees(math.atan2(point[1], point[0])) % 120 // 12)

    cap = 1.35
    painted = faces_where(_ball(vinyl), lambda p: panel(p) < 7 and abs(p[2]) < cap)
    plain = faces_where(_ball(WHITE), lambda p: panel(p) >= 7 or abs(p[2]) >= cap)
    valve = cylinder(0.11, 0.06, WHITE, sides=12).at(0, 0, 1.41)
    return [part.turned(x=24, y=-22) for part in (painted, plain, valve)]


def key() -> list[Part]:
    metal = paint("#d0a032", 0.3)
    bow = [
        torus(0.46, 0.17, metal, 22, 8).turned(x=90).at(0.5 * math.sin(a), 0, 3.35 + 0.5 * math.cos(a))
        for a in (0, math.radians(115), math.radians(-115))
    ]
    shaft = cylinder(0.23, 2.9, metal, sides=16).at(0, 0, 1.45)
    collars = [
        cylinder(r, h, metal, bevel=0.05, sides=18).at(0, 0, z)
        for r, h, z in ((0.37, 0.18, 2.62), (0.31, 0.16, 2.36), (0.3, 0.14, 1.35))
    ]
    bit = slab(
        [
            (0.1, 0.15),
            (1.05, 0.15),
            (1.05, 0.4),
            (0.72, 0.4),
            (0.72, 0.6),
            (1.05, 0.6),
            (1.05, 1.1),
            (0.62, 1.1),
            (0.62, 0.92),
            (0.42, 0.92),
            (0.42, 1.1),
            (0.1, 1.1),
        ],
        0.24,
        metal,
        0.04,
    )
    return [*bow, shaft, *collars, bit]


def padlock() -> list[Part]:
    enamel = paint("#2f62b5", 0.3)
    body = box((2.0, 0.85, 1.65), enamel, 0.2, 3).at(0, 0, 0.83)
    rims = [block((2.06, 0.9, 0.12), enamel, 0.05).at(0, 0, z) for z in (0.32, 1.34)]
    bow = upright([(-0.6, 1.4), (-0.6, 2.2), *arc(0.6, 180, 0, 13, z=2.25), (0.6, 2.2), (0.6, 1.4)])
    shackle = tube(bow, 0.19, STEEL, 14)
    sockets = cylinder(0.28, 0.14, DARK_STEEL, sides=18).at(-0.6, 0, 1.68).both_sides("x")
    plate = cylinder(0.4, 0.06, STEEL, sides=24).turned(x=90).at(0, -0.43, 0.83)
    hole = cylinder(0.15, 0.08, BLACK, sides=16).turned(x=90).at(0, -0.44, 0.92)
    slot = slab([(-0.07, 0.9), (0.07, 0.9), (0.12, 0.56), (-0.12, 0.56)], 0.08, BLACK).at(y=-0.44)
    return [body, *rims, shackle, *sockets, plate, hole, slot]


def crown() -> list[Part]:
    gold = paint("#e2b332", 0.25)
    points, steps = 7, 6

    def ring(radius: float, height: float, peak: float) -> list[Vec3]:
        result = []
        for k in range(points * steps):
            angle = 2 * math.pi * k / (points * steps) - math.pi / 2
            rise = abs((k % steps) / steps * 2 - 1)
            r = radius + 0.16 * peak * rise
            result.append((r * math.cos(angle), r * math.sin(angle), height + peak * rise))
        return result

    wall = [ring(1.0, 0.0, 0), ring(1.08, 0.7, 1.0), ring(1.0, 0.7, 1.0), ring(0.92, 0.0, 0), ring(1.0, 0.0, 0)]
    body = loft(wall, gold, caps=False).creased(50)
    hoops = [torus(r, 0.09, gold, 28, 6).at(0, 0, z) for r, z in ((1.0, 0.09), (1.06, 0.52))]
    tips = [part.at(0, 0, 1.8) for part in sphere(0.15, WHITE, 10, 7).at(1.24, 0, 0).around(points, -90)]
    gems = sphere((0.07, 0.14, 0.14), DARK_STEEL, 8, 6).at(1.06, 0, 0.31).around(points, -90)
    return [body, *hoops, *tips, *gems]


def anchor() -> list[Part]:
    iron = paint("#3d4a5c", 0.4)
    ring = torus(0.36, 0.11, iron, 22, 8).turned(x=90).at(0, 0, 3.55)
    shank = tube([(0, 0, 0.3), (0, 0, 3.2)], (0.26, 0.18), iron, 14)
    stock = tube([(-0.95, 0, 2.75), (0, 0, 2.75), (0.95, 0, 2.75)], 0.15, iron, 12)
    knob = sphere(0.22, iron, 14, 8).at(-0.98, 0, 2.75)
    bend = upright(arc(1.35, 200, 340, 17, z=1.6))
    arms = tube(bend, [0.13 + 0.14 * math.sin(math.pi * i / 16) for i in range(17)], iron, 12)
    fluke = slab([(-1.62, 1.0), (-1.36, 1.85), (-0.82, 1.12)], 0.34, iron, 0.07)
    return turned([ring, shank, stock, arms, *paired("x", knob, fluke)], 12)


def magnet() -> list[Part]:
    coat = paint("#d23a30", 0.35)
    outer, inner = arc(1.2, 180, 360, 19, z=1.2), arc(0.52, 360, 180, 15, z=1.2)
    body = extrude([(-1.2, 2.0), *outer, (1.2, 2.0), (0.52, 2.0), *inner, (-0.52, 2.0)], 0.72, coat, 0.09)
    pole = box((0.7, 0.74, 0.62), STEEL, 0.08).at(-0.86, 0, 2.26)
    return turned([body, *paired("x", pole)], 18)


def _ball(skin: Material) -> Part:
    return sphere(1.4, skin, 30, 18)


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "anchor": anchor,
    "beach ball": beach_ball,
    "bell": bell,
    "crown": crown,
    "drum": drum,
    "guitar": guitar,
    "hammer": hammer,
    "key": key,
    "magnet": magnet,
    "padlock": padlock,
    "robot": robot,
    "teddy bear": teddy_bear,
}
