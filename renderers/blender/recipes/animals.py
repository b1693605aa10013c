"""Recipes: animals. Those best known from the side look to -X and a little towards the camera."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from renderers.blender.recipes.kit import (
    Part,
    Vec3,
    block,
    cylinder,
    fused,
    lathe,
    paired,
    slab,
    sphere,
    spline,
    torus,
    tube,
    turned,
)
from renderers.blender.recipes.materials import BLACK, PINK, STEEL, WHITE, Material, material, paint

BEAK = material("beak", "#e8932f", 0.45)
DARK_FUR = material("dark_fur", "#3a2a20", 0.7)
HOOF = material("hoof", "#2b2522", 0.6)
TUSK = material("tusk", "#efe8d6", 0.4)
# How far the noses are turned towards the camera.
TURN_DEG = 28.0


def dog() -> list[Part]:
    coat = paint("#b5783f", 0.6)
    trunk = tube(spline([(-0.85, 0, 1.42), (-0.2, 0, 1.36), (0.75, 0, 1.4)], 4), 0.46, coat, 16)
    chest = sphere((0.52, 0.48, 0.56), coat).at(-0.65, 0, 1.36)
    rump = sphere((0.48, 0.46, 0.5), coat).at(0.66, 0, 1.36)
    fore = _leg([(-0.72, -0.27, 1.2), (-0.74, -0.27, 0.6), (-0.72, -0.27, 0.12)], (0.24, 0.17, 0.17), coat)
    hind = _leg([(0.72, -0.27, 1.2), (0.92, -0.27, 0.62), (0.82, -0.27, 0.12)], (0.3, 0.18, 0.17), coat)
    paws = [sphere((0.24, 0.19, 0.14), coat).at(x, -0.27, 0.14) for x in (-0.8, 0.74)]
    neck = tube([(-0.72, 0, 1.5), (-1.05, 0, 2.15)], (0.42, 0.36), coat, 16)
    head = sphere((0.54, 0.5, 0.48), coat).at(-1.18, 0, 2.35)
    muzzle = tube([(-1.3, 0, 2.26), (-1.9, 0, 2.18)], (0.34, 0.25), coat, 16)
    nose_end = sphere((0.2, 0.25, 0.24), coat).at(-1.88, 0, 2.18)
    tail = tube(spline([(0.95, 0, 1.55), (1.3, 0, 1.95), (1.36, 0, 2.5)], 4), _taper(0.17, 0.08, 9), coat, 12)
    skin = fused(
        [trunk, chest, rump, *paired("y", fore, hind, *paws), neck, head, muzzle, nose_end, tail], 0.06, coat, 1700
    )
    ear = sphere((0.27, 0.1, 0.5), DARK_FUR, 14, 10).turned(x=-14, y=14).at(-1.02, -0.54, 2.3)
    nose = sphere((0.15, 0.17, 0.13), BLACK, 14, 8).at(-2.04, 0, 2.28)
    tongue = block((0.34, 0.2, 0.07), PINK, 0.03).turned(y=-38).at(-1.94, 0, 1.9)
    collar = torus(0.37, 0.075, STEEL, 20, 8).turned(y=-27).at(-0.94, 0, 1.93)
    eyes = _eyes((-1.56, -0.27, 2.53), 0.1, (-0.8, -0.45, 0.1))
    return turned([skin, *ear.both_sides("y"), nose, tongue, collar, *eyes], TURN_DEG)


def cat() -> list[Part]:
    coat = paint("#d98a3d", 0.6)
    seat = sphere((0.78, 0.82, 0.68), coat).at(0, 0.2, 0.66)
    chest = sphere((0.52, 0.5, 0.85), coat).at(0, -0.12, 1.15)
    haunch = sphere((0.36, 0.55, 0.48), coat).at(-0.58, -0.02, 0.46)
    leg = tube([(-0.23, -0.42, 1.1), (-0.24, -0.56, 0.15)], (0.24, 0.18), coat, 14)
    paws = [
        sphere((0.21, 0.28, 0.15), coat).at(-0.24, -0.66, 0.15),
        sphere((0.22, 0.3, 0.16), coat).at(-0.66, -0.5, 0.16),
    ]
    head = sphere((0.68, 0.56, 0.55), coat).at(0, -0.25, 2.25)
    cheek = sphere((0.3, 0.3, 0.24), coat).at(-0.4, -0.42, 2.1)
    ear = _ear(0.36, 0.66, coat).turned(y=-20).at(-0.4, -0.2, 2.6)
    path = spline([(0.35, 0.75, 0.25), (1.05, 0.7, 0.25), (1.4, 0.45, 0.7), (1.22, 0.35, 1.3), (1.45, 0.3, 1.75)], 4)
    tail = tube(path, _taper(0.19, 0.13, len(path)), coat, 12)
    tip = sphere(0.14, coat, 12, 8).at(1.45, 0.3, 1.76)
    skin = fused([seat, chest, *paired("x", haunch, leg, *paws, cheek), head, tail, tip], 0.055, coat, 1400)
    inner = _ear(0.22, 0.46, PINK).turned(y=-20).at(-0.41, -0.3, 2.65)
    muzzle = sphere((0.19, 0.16, 0.14), WHITE, 14, 8).at(-0.13, -0.77, 2.06)
    nose = sphere((0.09, 0.07, 0.07), PINK, 10, 6).at(0, -0.88, 2.16)
    iris = sphere((0.15, 0.07, 0.16), material("iris", "#d8d66a", 0.3), 14, 8).turned(z=-16).at(-0.28, -0.74, 2.34)
    pupil = sphere((0.06, 0.05, 0.13), BLACK, 10, 6).at(-0.285, -0.795, 2.34)
    whiskers = [
        tube([(-0.2, -0.86, 2.06 + 0.03 * k), (-0.88, -0.8, 2.02 + 0.12 * k)], 0.016, WHITE, 4) for k in (-1, 0, 1)
    ]
    return [skin, nose, *paired("x", ear, inner, muzzle, iris, pupil, *whiskers)]


def elephant() -> list[Part]:
    hide = paint("#8d949c", 0.65)
    trunk_path = spline(
        [(-1.5, 0, 2.1), (-1.98, 0, 1.75), (-2.12, 0, 1.1), (-2.2, 0, 0.55), (-2.6, 0, 0.42), (-2.82, 0, 0.7)], 4
    )
    body = sphere((1.25, 0.92, 0.95), hide).at(0.05, 0, 1.7)
    rump = sphere((0.8, 0.82, 0.85), hide).at(0.6, 0, 1.6)
    legs = [_leg([(x, -0.46, 1.4), (x, -0.46, 0.3), (x, -0.46, 0.02)], (0.4, 0.33, 0.37), hide) for x in (-0.72, 0.82)]
    head = sphere((0.68, 0.62, 0.72), hide).at(-1.3, 0, 2.25)
    trunk = tube(trunk_path, _taper(0.42, 0.15, len(trunk_path)), hide, 16)
    tail = tube(spline([(1.2, 0, 1.9), (1.5, 0, 1.6), (1.55, 0, 1.1)], 3), 0.08, hide, 8)
    skin = fused([body, rump, *paired("y", *legs), head, trunk], 0.07, hide, 1600)
    ear = sphere((0.68, 0.1, 0.85), hide, 16, 10).bent(lambda p: (p[0], p[1] + 0.25 * p[0] ** 2, p[2]))
    ear = ear.turned(x=-8, z=-32).at(-0.75, -0.85, 2.15)
    tusk_path = spline([(-1.62, -0.34, 1.8), (-2.0, -0.42, 1.5), (-2.42, -0.42, 1.55)], 4)
    tusk = tube(tusk_path, _taper(0.13, 0.03, len(tusk_path)), TUSK, 10)
    brush = sphere((0.12, 0.12, 0.22), DARK_FUR, 10, 6).at(1.55, 0, 1.0)
    nails = [sphere((0.14, 0.26, 0.12), TUSK, 10, 6).at(x - 0.28, -0.48, 0.12) for x in (-0.72, 0.82)]
    eyes = _eyes((-1.72, -0.47, 2.45), 0.09, (-0.6, -0.7, 0.1))
    return turned([skin, tail, brush, *paired("y", ear, tusk, *nails), *eyes], TURN_DEG)


def fish() -> list[Part]:
    scales = paint("#e07a2a", 0.35)
    outline = spline(
        [(0, -1.45), (0.16, -1.4), (0.3, -1.1), (0.72, -0.4), (0.88, 0.3), (0.72, 0.95), (0.36, 1.35), (0, 1.48)], 3
    )
    body = lathe(outline, scales, 24).turned(y=-90).scaled(1, 0.55, 1).creased(180)
    tail_line = spline([(1.1, 0.2), (1.75, 0.75), (2.25, 0.95)], 3) + spline(
        [(1.95, 0.0), (2.25, -0.95), (1.75, -0.75), (1.1, -0.2)], 3
    )
    tail = slab(tail_line, 0.14, scales, 0.05)
    top = slab(
        [*spline([(-0.75, 0.7), (-0.35, 1.25), (0.45, 1.2), (1.0, 0.75)], 4), (0.9, 0.35), (-0.6, 0.6)],
        0.14,
        scales,
        0.05,
    )
    under = slab([(0.1, -0.7), (0.3, -1.12), (0.72, -1.1), (0.85, -0.4)], 0.13, scales, 0.05)
    fin = slab(spline([(0.0, 0.14), (0.5, 0.34), (0.72, 0.0), (0.45, -0.36), (0.0, -0.14)], 3), 0.09, scales, 0.03)
    fin = fin.turned(y=22, z=-24).at(-0.15, -0.47, -0.18)
    eyes = _eyes((-0.98, -0.28, 0.26), 0.21, (-0.35, -0.93, 0.05))
    mouth = torus(0.13, 0.07, scales, 14, 8).turned(y=90).scaled(1, 0.7, 1).at(-1.44, 0, -0.06)
    gullet = sphere((0.05, 0.1, 0.13), BLACK, 10, 6).at(-1.45, 0, -0.06)
    return turned([body, tail, top, under, *fin.both_sides("y"), *eyes, mouth, gullet], 18)


def duck() -> list[Part]:
    down = paint("#f0c02e", 0.4)
    body = sphere((1.15, 0.85, 0.72), down).at(0, 0, 0.72)
    chest = sphere((0.65, 0.7, 0.65), down).at(-0.6, 0, 0.8)
    tail = tube(spline([(0.7, 0, 0.8), (1.15, 0, 1.05), (1.35, 0, 1.5)], 3), _taper(0.5, 0.1, 7), down, 16)
    neck = tube([(-0.6, 0, 1.0), (-0.65, 0, 1.7)], (0.48, 0.42), down, 16)
    head = sphere(0.62, down).at(-0.72, 0, 1.92)
    skin = fused([body, chest, tail, neck, head], 0.05, down, 1200).bent(lambda p: (p[0], p[1], max(p[2], 0.06)))
    wing = sphere((0.6, 0.16, 0.36), down, 16, 10).turned(x=-10, y=-16).at(0.28, -0.78, 0.92)
    upper = sphere((0.42, 0.32, 0.1), BEAK, 16, 10).bent(lambda p: (p[0], p[1], p[2] + 0.35 * p[0] ** 2))
    upper = upper.at(-1.38, 0, 1.83)
    lower = sphere((0.32, 0.26, 0.08), BEAK, 16, 8).turned(y=-12).at(-1.3, 0, 1.72)
    eyes = _eyes((-1.12, -0.36, 2.14), 0.13, (-0.7, -0.7, 0.15))
    return turned([skin, *wing.both_sides("y"), upper, lower, *eyes], TURN_DEG)


def penguin() -> list[Part]:
    coat = paint("#2c3e66", 0.45)
    body = sphere((0.86, 0.76, 1.1), coat).at(0, 0.05, 1.2)
    head = sphere((0.62, 0.58, 0.58), coat).at(0, 0, 2.42)
    skin = fused([body, head, tube([(0, 0, 1.8), (0, 0, 2.4)], (0.62, 0.56), coat, 20)], 0.05, coat, 1200)
    belly = sphere((0.5, 0.3, 0.74), WHITE, 18, 12).at(0, -0.49, 1.06)
    face = sphere((0.2, 0.18, 0.22), WHITE, 12, 8).at(-0.18, -0.45, 2.44)
    beak = (
        lathe([(0, 0), (0.19, 0), (0.1, 0.3), (0, 0.46)], BEAK, 14).scaled(1.1, 0.7, 1).turned(x=98).at(0, -0.5, 2.28)
    )
    flipper = sphere((0.15, 0.4, 0.88), coat, 12, 10).turned(x=8, y=24).at(-1.0, 0.0, 1.35)
    foot = sphere((0.3, 0.42, 0.13), BEAK, 12, 6).bent(lambda p: (p[0] * (1 - 0.4 * p[1]), p[1], max(p[2], -0.08)))
    foot = foot.turned(z=-14).at(-0.42, -0.42, 0.1)
    pupil = sphere(0.085, BLACK, 12, 8).at(-0.24, -0.6, 2.5)
    tail = lathe([(0, 0), (0.3, 0), (0, 0.6)], coat, 14).scaled(1, 0.5, 1).turned(x=-125).at(0, 0.6, 0.55)
    return [skin, belly, beak, tail, *paired("x", face, flipper, foot, pupil)]


def pig() -> list[Part]:
    hide = paint("#e39aa3", 0.55)
    body = sphere((1.25, 0.9, 0.88), hide).at(0.1, 0, 1.2)
    head = sphere((0.68, 0.66, 0.64), hide).at(-1.05, 0, 1.6)
    snout = tube([(-1.3, 0, 1.5), (-1.86, 0, 1.45)], (0.42, 0.34), hide, 18)
    legs = [_leg([(x, -0.42, 1.0), (x, -0.42, 0.2)], (0.34, 0.26), hide) for x in (-0.62, 0.82)]
    skin = fused([body, head, snout, *paired("y", *legs)], 0.06, hide, 1500)
    disc = cylinder(0.36, 0.14, PINK, sides=20).turned(y=-85).scaled(1, 1.05, 0.95).at(-1.88, 0, 1.45)
    nostril = sphere((0.05, 0.07, 0.11), HOOF, 8, 6).at(-1.95, -0.13, 1.46)
    hooves = [cylinder(0.27, 0.24, HOOF, sides=14).at(x, -0.42, 0.12) for x in (-0.62, 0.82)]
    ear = _ear(0.3, 0.52, hide).turned(x=16, y=-30, z=-50).at(-0.98, -0.42, 2.02)
    curl = [
        (1.3 + 0.09 * t, 0.17 * math.sin(1.9 * t), 1.45 + 0.17 * math.cos(1.9 * t))
        for t in (i * 0.42 for i in range(16))
    ]
    tail = tube(curl, 0.065, hide, 6)
    eyes = _eyes((-1.5, -0.4, 1.86), 0.1, (-0.8, -0.6, 0.1))
    return turned([skin, disc, tail, *paired("y", nostril, *hooves, ear), *eyes], TURN_DEG)


def horse() -> list[Part]:
    coat = paint("#8a5230", 0.5)
    body = tube(spline([(-0.8, 0, 2.02), (0.0, 0, 1.95), (0.85, 0, 2.05)], 3), 0.5, coat, 16)
    chest = sphere((0.55, 0.46, 0.62), coat).at(-0.72, 0, 2.0)
    rump = sphere((0.58, 0.5, 0.58), coat).at(0.78, 0, 2.05)
    fore = _leg([(-0.82, -0.25, 1.8), (-0.82, -0.25, 1.0), (-0.84, -0.25, 0.2)], (0.28, 0.17, 0.14), coat)
    hind = _leg(
        [(0.88, -0.27, 1.9), (0.8, -0.27, 1.35), (1.02, -0.27, 0.95), (0.94, -0.27, 0.2)],
        (0.38, 0.26, 0.17, 0.14),
        coat,
    )
    neck = tube(spline([(-0.75, 0, 2.1), (-1.15, 0, 2.65), (-1.4, 0, 3.25)], 3), _taper(0.5, 0.28, 7), coat, 16)
    head = tube([(-1.32, 0, 3.3), (-1.62, 0, 3.1), (-2.1, 0, 2.68)], (0.32, 0.3, 0.2), coat, 16)
    muzzle = sphere((0.24, 0.21, 0.24), coat).at(-2.08, 0, 2.7)
    skin = fused([body, chest, rump, *paired("y", fore, hind), neck, head, muzzle], 0.06, coat, 1700)
    hooves = [
        lathe([(0, 0), (0.22, 0), (0.16, 0.28), (0, 0.28)], HOOF, 12).at(x, y, 0)
        for x, y in ((-0.86, -0.25), (0.94, -0.27))
    ]
    ear = lathe([(0, 0), (0.1, 0.02), (0.09, 0.2), (0, 0.42)], coat, 8).turned(y=8).at(-1.28, -0.16, 3.45)
    crest = spline([(-1.62, 3.6), (-1.12, 3.68), (-0.66, 3.12), (-0.18, 2.5)], 3)
    throat = spline([(-0.72, 2.32), (-1.05, 2.7), (-1.3, 3.2), (-1.72, 3.4)], 3)
    mane = slab([*crest, *throat], 0.3, DARK_FUR, 0.09)
    tail_path = spline([(1.22, 0, 2.3), (1.62, 0, 2.1), (1.72, 0, 1.4), (1.62, 0, 0.75)], 3)
    tail = tube(tail_path, (0.1, 0.16, 0.2, 0.23, 0.25, 0.26, 0.25, 0.22, 0.16, 0.04), DARK_FUR, 12)
    eyes = _eyes((-1.58, -0.25, 3.28), 0.085, (-0.5, -0.8, 0.1))
    return turned([skin, mane, tail, *paired("y", *hooves, ear), *eyes], 22)


def snail() -> list[Part]:
    shell = paint("#b8623a", 0.35)
    flesh = material("flesh", "#d9bd93", 0.5)
    coil, radii = [], []
    for i in range(67):
        turn = i / 66
        radius = 0.98 * math.exp(-2.5 * turn)
        angle = math.radians(-110 - 990 * turn)
        coil.append((-radius * math.cos(angle), 0.0, 1.42 + radius * math.sin(angle)))
        radii.append(0.62 * radius if i else 0.0)
    house = tube(coil, radii, shell, 14, up=(0, 1, 0)).creased(180)
    sole = spline([(1.75, 0, 0.1), (1.0, 0, 0.2), (0.0, 0, 0.3), (-0.8, 0, 0.3), (-1.3, 0, 0.5), (-1.55, 0, 0.95)], 3)
    foot = tube(sole, _taper(0.05, 0.34, len(sole)), flesh, 14).creased(180)
    foot.bent(lambda p: (p[0], p[1] * 1.15, max(p[2], 0.0)))
    face = sphere((0.36, 0.36, 0.34), flesh, 16, 10).at(-1.6, 0, 1.0)
    stalk = tube([(-1.62, -0.16, 1.15), (-1.8, -0.32, 1.8)], (0.09, 0.07), flesh, 8)
    feeler = tube([(-1.8, -0.12, 0.95), (-2.08, -0.2, 0.9)], (0.06, 0.05), flesh, 6)
    eyes = _eyes((-1.82, -0.34, 1.86), 0.16, (-0.8, -0.55, 0.1))
    return turned([house, foot, face, *paired("y", stalk, feeler), *eyes], 22)


def turtle() -> list[Part]:
    shell = paint("#4d7a3a", 0.45)
    skin = material("skin", "#b7b075", 0.55)
    seam = material("seam", "#2c2f22", 0.6)
    radii = (1.42, 1.2, 1.2)

    def on_dome(z_deg: float, lift_deg: float) -> Vec3:
        flat, up = math.cos(math.radians(lift_deg)), math.sin(math.radians(lift_deg))
        c, s = math.cos(math.radians(z_deg)), math.sin(math.radians(z_deg))
        return radii[0] * flat * c, radii[1] * flat * s, 0.45 + radii[2] * up

    profile = [(math.cos(math.radians(a)), math.sin(math.radians(a))) for a in range(0, 90, 15)]
    dome = lathe([(0, -0.1), (0.92, -0.1), *profile, (0, 1)], shell, 24).scaled(*radii).at(z=0.45).creased(80)
    brim = torus(1.42, 0.15, shell, 24, 6).scaled(1.02, 0.85, 1).at(z=0.45)
    ring = tube([on_dome(a, 58) for a in range(0, 360, 20)], 0.035, seam, 4, closed=True)
    lines = [tube([on_dome(a, h) for h in (58, 42, 26, 10)], 0.035, seam, 4) for a in range(0, 360, 45)]
    neck = tube(spline([(-1.0, 0, 0.45), (-1.55, 0, 0.6), (-1.75, 0, 0.95)], 3), 0.22, skin, 12)
    head = sphere((0.42, 0.33, 0.33), skin, 16, 10).at(-1.9, 0, 1.1)
    fore = _leg([(-0.75, -0.7, 0.3), (-1.08, -1.12, 0.12)], (0.26, 0.2), skin)
    hind = _leg([(0.8, -0.7, 0.3), (1.05, -1.1, 0.12)], (0.26, 0.2), skin)
    feet = [sphere((0.3, 0.22, 0.13), skin, 10, 6).at(x, -1.12, 0.14) for x in (-1.15, 1.05)]
    tail = tube([(1.2, 0, 0.4), (1.75, 0, 0.2)], (0.16, 0.03), skin, 10)
    eyes = _eyes((-2.12, -0.23, 1.22), 0.1, (-0.7, -0.7, 0.1))
    return turned([dome, brim, ring, *lines, neck, head, *paired("y", fore, hind, *feet), tail, *eyes], TURN_DEG)


def _leg(joints: Sequence[Vec3], radii: Sequence[float], coat: Material) -> Part:
    return tube(joints, radii, coat, 14)


def _ear(width: float, height: float, skin: Material) -> Part:
    """A pointed ear, flat from front to back, its tip rounded."""
    outline = [(0, -0.15), (width, -0.1), (0.7 * width, 0.4 * height), (0.09, height), (0, height + 0.03)]
    return lathe(outline, skin, 12).scaled(1, 0.45, 1)


def _eyes(at: Vec3, radius: float, look: Vec3) -> list[Part]:
    """A pair of white eyes on both sides of y = 0 with dark pupils towards `look`."""
    length = math.sqrt(sum(c * c for c in look))
    x, y, z = (a + 0.5 * radius * c / length for a, c in zip(at, look, strict=True))
    white = sphere(radius, WHITE, 12, 8).at(*at)
    return paired("y", white, sphere(0.72 * radius, BLACK, 10, 6).at(x, y, z))


def _taper(start: float, end: float, count: int) -> list[float]:
    return [start + (end - start) * i / (count - 1) for i in range(count)]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "cat": cat,
    "dog": dog,
    "duck": duck,
    "elephant": elephant,
    "fish": fish,
    "horse": horse,
    "penguin": penguin,
    "pig": pig,
    "snail": snail,
    "turtle": turtle,
}
