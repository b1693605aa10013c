"""Recipes: animals that live in the water or beside it. Most look to -X and a little towards the camera."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.anatomy import eye_pair, limb, taper
from renderers.blender.recipes.kit import Part, cylinder, fused, lathe, paired, slab, sphere, torus, tube, turned
from renderers.blender.recipes.materials import (
    BLACK,
    GREY,
    WHITE,
    material,
    paint,
)
from renderers.blender.recipes.paths import Vec3, spline

BEAK = material("beak", "#e8932f", 0.45)
DARK_FUR = material("dark_fur", "#3a2a20", 0.7)
HOOF = material("hoof", "#2b2522", 0.6)
TUSK = material("tusk", "#efe8d6", 0.4)
# How far the noses are turned towards the camera.
TURN_DEG = 28.0


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
    eyes = eye_pair((-0.98, -0.28, 0.26), 0.21, (-0.35, -0.93, 0.05))
    mouth = torus(0.13, 0.07, scales, 14, 8).turned(y=90).scaled(1, 0.7, 1).at(-1.44, 0, -0.06)
    gullet = sphere((0.05, 0.1, 0.13), BLACK, 10, 6).at(-1.45, 0, -0.06)
    return turned([body, tail, top, under, *fin.both_sides("y"), *eyes, mouth, gullet], 18)


def duck() -> list[Part]:
    down = paint("#f0c02e", 0.4)
    body = sphere((1.15, 0.85, 0.72), down).at(0, 0, 0.72)
    chest = sphere((0.65, 0.7, 0.65), down).at(-0.6, 0, 0.8)
    tail = tube(spline([(0.7, 0, 0.8), (1.15, 0, 1.05), (1.35, 0, 1.5)], 3), taper(0.5, 0.1, 7), down, 16)
    neck = tube([(-0.6, 0, 1.0), (-0.65, 0, 1.7)], (0.48, 0.42), down, 16)
    head = sphere(0.62, down).at(-0.72, 0, 1.92)
    skin = fused([body, chest, tail, neck, head], 0.05, down, 1200).bent(lambda p: (p[0], p[1], max(p[2], 0.06)))
    wing = sphere((0.6, 0.16, 0.36), down, 16, 10).turned(x=-10, y=-16).at(0.28, -0.78, 0.92)
    upper = sphere((0.42, 0.32, 0.1), BEAK, 16, 10).bent(lambda p: (p[0], p[1], p[2] + 0.35 * p[0] ** 2))
    upper = upper.at(-1.38, 0, 1.83)
    lower = sphere((0.32, 0.26, 0.08), BEAK, 16, 8).turned(y=-12).at(-1.3, 0, 1.72)
    eyes = eye_pair((-1.12, -0.36, 2.14), 0.13, (-0.7, -0.7, 0.15))
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
    fore = limb([(-0.75, -0.7, 0.3), (-1.08, -1.12, 0.12)], (0.26, 0.2), skin)
    hind = limb([(0.8, -0.7, 0.3), (1.05, -1.1, 0.12)], (0.26, 0.2), skin)
    feet = [sphere((0.3, 0.22, 0.13), skin, 10, 6).at(x, -1.12, 0.14) for x in (-1.15, 1.05)]
    tail = tube([(1.2, 0, 0.4), (1.75, 0, 0.2)], (0.16, 0.03), skin, 10)
    eyes = eye_pair((-2.12, -0.23, 1.22), 0.1, (-0.7, -0.7, 0.1))
    return turned([dome, brim, ring, *lines, neck, head, *paired("y", fore, hind, *feet), tail, *eyes], TURN_DEG)


def whale() -> list[Part]:
    hide = paint("#3f7fb5", 0.4)
    # (x, z, radius) of the body from the brow to the tail.
    rings = [(-1.55, 0.95, 0.45), (-1.35, 0.95, 0.72), (-0.9, 0.97, 0.93), (-0.2, 0.95, 0.95), (0.5, 0.85, 0.76)]
    rings = spline([*rings, (1.1, 0.82, 0.46), (1.6, 1.1, 0.26), (1.85, 1.55, 0.18)], 3)
    body = tube([(x, 0, z) for x, z, _ in rings], [radius for _, _, radius in rings], hide, 36)
    skin = fused([body, sphere((0.55, 0.85, 0.8), hide, 36, 24).at(-1.2, 0, 0.95)], 0.05, hide, 1500)
    belly = sphere((1.25, 0.78, 0.62), WHITE, 20, 10).at(-0.72, 0, 0.62)
    grooves = [
        tube([(-1.86 + 0.07 * abs(y), y, 0.5), (-1.2, 1.4 * y, 0.12)], 0.03, GREY, 5)
        for y in (-0.45, -0.22, 0, 0.22, 0.45)
    ]
    fluke = sphere((0.34, 0.62, 0.1), hide, 14, 8).bent(lambda p: (p[0] + 0.5 * p[1] ** 2, p[1], p[2]))
    fluke = fluke.turned(y=-35, z=14).at(1.98, -0.5, 1.72)
    fin = sphere((0.3, 0.62, 0.09), hide, 14, 8).turned(x=22, z=26).at(-0.55, -1.15, 0.42)
    pupils = eye_pair((-1.2, -0.8, 1.12), 0.13, (-0.3, -0.95, 0.1))
    return turned([skin, belly, *grooves, *paired("y", fluke, fin), *pupils], TURN_DEG)


def crab() -> list[Part]:
    shell = paint("#d0452f", 0.45)
    body = sphere((1.05, 0.72, 0.5), shell, 20, 10).at(0, 0, 0.78)
    rim = torus(0.98, 0.14, shell, 22, 6).scaled(1.02, 0.72, 1).at(0, 0, 0.72)
    arm_path = [(-0.8, -0.25, 0.75), (-1.4, -0.45, 0.85), (-1.55, -0.6, 1.25)]
    arm = tube(spline(arm_path, 3), 0.17, shell, 10)
    palm = sphere((0.44, 0.26, 0.5), shell, 16, 10).turned(y=12).at(-1.52, -0.66, 1.6)
    outer = tube(
        spline([(-1.8, -0.68, 1.75), (-1.95, -0.7, 2.15), (-1.62, -0.7, 2.5)], 3), taper(0.2, 0.05, 7), shell, 10
    )
    inner = tube(
        spline([(-1.3, -0.68, 1.8), (-1.22, -0.7, 2.1), (-1.42, -0.7, 2.4)], 3), taper(0.17, 0.05, 7), shell, 10
    )
    legs = [
        tube(
            spline([(-0.7, y, 0.7), (-1.25 - 0.1 * k, y * 1.5, 0.85), (-1.6 - 0.06 * k, y * 1.9, 0.05)], 3),
            taper(0.15, 0.05, 7),
            shell,
            8,
        )
        for k, y in enumerate((-0.1, 0.2, 0.48))
    ]
    stalk = cylinder(0.07, 0.4, shell, sides=10).at(-0.3, -0.42, 1.3)
    white = sphere(0.2, WHITE, 14, 8).at(-0.3, -0.44, 1.56)
    pupil = sphere(0.12, BLACK, 12, 8).at(-0.29, -0.56, 1.58)
    smile = tube(spline([(-0.28, -0.69, 0.78), (0, -0.74, 0.68), (0.28, -0.69, 0.78)], 4), 0.035, BLACK, 6)
    return [body, rim, smile, *paired("x", arm, palm, outer, inner, *legs, stalk, white, pupil)]


def octopus() -> list[Part]:
    skin = paint("#8a4fa3", 0.45)
    head = sphere((0.85, 0.8, 0.95), skin).at(0, 0.05, 1.75)
    neck = tube([(0, 0, 1.2), (0, 0, 0.55)], (0.62, 0.8), skin, 20)
    arms = []
    for k in range(8):
        curl = spline(
            [(0.4, 0, 0.62), (0.95, 0, 0.32), (1.35, 0, 0.2), (1.72, 0, 0.28), (1.85, 0, 0.62), (1.62, 0, 0.78)], 3
        )
        arms.append(tube(curl, taper(0.36, 0.1, len(curl)), skin, 12).turned(z=22.5 + 45 * k))
    body = fused([head, neck, *arms], 0.06, skin, 2400).bent(lambda p: (p[0], p[1], max(p[2], 0.0)))
    white = sphere((0.25, 0.16, 0.29), WHITE, 14, 10).at(-0.3, -0.67, 1.72)
    pupil = sphere((0.13, 0.09, 0.16), BLACK, 12, 8).at(-0.28, -0.79, 1.7)
    smile = tube(spline([(-0.22, -0.72, 1.28), (0, -0.78, 1.18), (0.22, -0.72, 1.28)], 4), 0.04, BLACK, 6)
    return [body, smile, *paired("x", white, pupil)]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "crab": crab,
    "duck": duck,
    "fish": fish,
    "octopus": octopus,
    "penguin": penguin,
    "turtle": turtle,
    "whale": whale,
}
