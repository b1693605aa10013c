"""Recipes: animals of the land. Those best known from the side look to -X and a little towards the camera."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.anatomy import eye_pair, limb, pointed_ear, taper
from renderers.blender.recipes.kit import Part, block, cylinder, fused, lathe, paired, slab, sphere, torus, tube, turned
from renderers.blender.recipes.materials import (
    BLACK,
    PINK,
    STEEL,
    WHITE,
    material,
    paint,
)
from renderers.blender.recipes.paths import spline

BEAK = material("beak", "#e8932f", 0.45)
CLAW = material("claw", "#e6dcc0", 0.5)
DARK_FUR = material("dark_fur", "#3a2a20", 0.7)
HOOF = material("hoof", "#2b2522", 0.6)
TUSK = material("tusk", "#efe8d6", 0.4)
# How far the noses are turned towards the camera.
TURN_DEG = 28.0


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
    ear = pointed_ear(0.36, 0.66, coat).turned(y=-20).at(-0.4, -0.2, 2.6)
    path = spline([(0.35, 0.75, 0.25), (1.05, 0.7, 0.25), (1.4, 0.45, 0.7), (1.22, 0.35, 1.3), (1.45, 0.3, 1.75)], 4)
    tail = tube(path, taper(0.19, 0.13, len(path)), coat, 12)
    tip = sphere(0.14, coat, 12, 8).at(1.45, 0.3, 1.76)
    skin = fused([seat, chest, *paired("x", haunch, leg, *paws, cheek), head, tail, tip], 0.055, coat, 1400)
    inner = pointed_ear(0.22, 0.46, PINK).turned(y=-20).at(-0.41, -0.3, 2.65)
    muzzle = sphere((0.19, 0.16, 0.14), WHITE, 14, 8).at(-0.13, -0.77, 2.06)
    nose = sphere((0.09, 0.07, 0.07), PINK, 10, 6).at(0, -0.88, 2.16)
    iris = sphere((0.15, 0.07, 0.16), material("iris", "#d8d66a", 0.3), 14, 8).turned(z=-16).at(-0.28, -0.74, 2.34)
    pupil = sphere((0.06, 0.05, 0.13), BLACK, 10, 6).at(-0.285, -0.795, 2.34)
    whiskers = [
        tube([(-0.2, -0.86, 2.06 + 0.03 * k), (-0.88, -0.8, 2.02 + 0.12 * k)], 0.016, WHITE, 4) for k in (-1, 0, 1)
    ]
    return [skin, nose, *paired("x", ear, inner, muzzle, iris, pupil, *whiskers)]


def dog() -> list[Part]:
    coat = paint("#b5783f", 0.6)
    trunk = tube(spline([(-0.85, 0, 1.42), (-0.2, 0, 1.36), (0.75, 0, 1.4)], 4), 0.46, coat, 16)
    chest = sphere((0.52, 0.48, 0.56), coat).at(-0.65, 0, 1.36)
    rump = sphere((0.48, 0.46, 0.5), coat).at(0.66, 0, 1.36)
    fore = limb([(-0.72, -0.27, 1.2), (-0.74, -0.27, 0.6), (-0.72, -0.27, 0.12)], (0.24, 0.17, 0.17), coat)
    hind = limb([(0.72, -0.27, 1.2), (0.92, -0.27, 0.62), (0.82, -0.27, 0.12)], (0.3, 0.18, 0.17), coat)
    paws = [sphere((0.24, 0.19, 0.14), coat).at(x, -0.27, 0.14) for x in (-0.8, 0.74)]
    neck = tube([(-0.72, 0, 1.5), (-1.05, 0, 2.15)], (0.42, 0.36), coat, 16)
    head = sphere((0.54, 0.5, 0.48), coat).at(-1.18, 0, 2.35)
    muzzle = tube([(-1.3, 0, 2.26), (-1.9, 0, 2.18)], (0.34, 0.25), coat, 16)
    nose_end = sphere((0.2, 0.25, 0.24), coat).at(-1.88, 0, 2.18)
    tail = tube(spline([(0.95, 0, 1.55), (1.3, 0, 1.95), (1.36, 0, 2.5)], 4), taper(0.17, 0.08, 9), coat, 12)
    skin = fused(
        [trunk, chest, rump, *paired("y", fore, hind, *paws), neck, head, muzzle, nose_end, tail], 0.06, coat, 1700
    )
    ear = sphere((0.27, 0.1, 0.5), DARK_FUR, 14, 10).turned(x=-14, y=14).at(-1.02, -0.54, 2.3)
    nose = sphere((0.15, 0.17, 0.13), BLACK, 14, 8).at(-2.04, 0, 2.28)
    tongue = block((0.34, 0.2, 0.07), PINK, 0.03).turned(y=-38).at(-1.94, 0, 1.9)
    collar = torus(0.37, 0.075, STEEL, 20, 8).turned(y=-27).at(-0.94, 0, 1.93)
    eyes = eye_pair((-1.56, -0.27, 2.53), 0.1, (-0.8, -0.45, 0.1))
    return turned([skin, *ear.both_sides("y"), nose, tongue, collar, *eyes], TURN_DEG)


def elephant() -> list[Part]:
    hide = paint("#8d949c", 0.65)
    trunk_path = spline(
        [(-1.5, 0, 2.1), (-1.98, 0, 1.75), (-2.12, 0, 1.1), (-2.2, 0, 0.55), (-2.6, 0, 0.42), (-2.82, 0, 0.7)], 4
    )
    body = sphere((1.25, 0.92, 0.95), hide).at(0.05, 0, 1.7)
    rump = sphere((0.8, 0.82, 0.85), hide).at(0.6, 0, 1.6)
    legs = [limb([(x, -0.46, 1.4), (x, -0.46, 0.3), (x, -0.46, 0.02)], (0.4, 0.33, 0.37), hide) for x in (-0.72, 0.82)]
    head = sphere((0.68, 0.62, 0.72), hide).at(-1.3, 0, 2.25)
    trunk = tube(trunk_path, taper(0.42, 0.15, len(trunk_path)), hide, 16)
    tail = tube(spline([(1.2, 0, 1.9), (1.5, 0, 1.6), (1.55, 0, 1.1)], 3), 0.08, hide, 8)
    skin = fused([body, rump, *paired("y", *legs), head, trunk], 0.07, hide, 1600)
    ear = sphere((0.68, 0.1, 0.85), hide, 16, 10).bent(lambda p: (p[0], p[1] + 0.25 * p[0] ** 2, p[2]))
    ear = ear.turned(x=-8, z=-32).at(-0.75, -0.85, 2.15)
    tusk_path = spline([(-1.62, -0.34, 1.8), (-2.0, -0.42, 1.5), (-2.42, -0.42, 1.55)], 4)
    tusk = tube(tusk_path, taper(0.13, 0.03, len(tusk_path)), TUSK, 10)
    brush = sphere((0.12, 0.12, 0.22), DARK_FUR, 10, 6).at(1.55, 0, 1.0)
    nails = [sphere((0.14, 0.26, 0.12), TUSK, 10, 6).at(x - 0.28, -0.48, 0.12) for x in (-0.72, 0.82)]
    eyes = eye_pair((-1.72, -0.47, 2.45), 0.09, (-0.6, -0.7, 0.1))
    return turned([skin, tail, brush, *paired("y", ear, tusk, *nails), *eyes], TURN_DEG)


def horse() -> list[Part]:
    coat = paint("#8a5230", 0.5)
    body = tube(spline([(-0.8, 0, 2.02), (0.0, 0, 1.95), (0.85, 0, 2.05)], 3), 0.5, coat, 16)
    chest = sphere((0.55, 0.46, 0.62), coat).at(-0.72, 0, 2.0)
    rump = sphere((0.58, 0.5, 0.58), coat).at(0.78, 0, 2.05)
    fore = limb([(-0.82, -0.25, 1.8), (-0.82, -0.25, 1.0), (-0.84, -0.25, 0.2)], (0.28, 0.17, 0.14), coat)
    hind = limb(
        [(0.88, -0.27, 1.9), (0.8, -0.27, 1.35), (1.02, -0.27, 0.95), (0.94, -0.27, 0.2)],
        (0.38, 0.26, 0.17, 0.14),
        coat,
    )
    neck = tube(spline([(-0.75, 0, 2.1), (-1.15, 0, 2.65), (-1.4, 0, 3.25)], 3), taper(0.5, 0.28, 7), coat, 16)
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
    eyes = eye_pair((-1.58, -0.25, 3.28), 0.085, (-0.5, -0.8, 0.1))
    return turned([skin, mane, tail, *paired("y", *hooves, ear), *eyes], 22)


def pig() -> list[Part]:
    hide = paint("#e39aa3", 0.55)
    body = sphere((1.25, 0.9, 0.88), hide).at(0.1, 0, 1.2)
    head = sphere((0.68, 0.66, 0.64), hide).at(-1.05, 0, 1.6)
    snout = tube([(-1.3, 0, 1.5), (-1.86, 0, 1.45)], (0.42, 0.34), hide, 18)
    legs = [limb([(x, -0.42, 1.0), (x, -0.42, 0.2)], (0.34, 0.26), hide) for x in (-0.62, 0.82)]
    skin = fused([body, head, snout, *paired("y", *legs)], 0.06, hide, 1500)
    disc = cylinder(0.36, 0.14, PINK, sides=20).turned(y=-85).scaled(1, 1.05, 0.95).at(-1.88, 0, 1.45)
    nostril = sphere((0.05, 0.07, 0.11), HOOF, 8, 6).at(-1.95, -0.13, 1.46)
    hooves = [cylinder(0.27, 0.24, HOOF, sides=14).at(x, -0.42, 0.12) for x in (-0.62, 0.82)]
    ear = pointed_ear(0.3, 0.52, hide).turned(x=16, y=-30, z=-50).at(-0.98, -0.42, 2.02)
    curl = [
        (1.3 + 0.09 * t, 0.17 * math.sin(1.9 * t), 1.45 + 0.17 * math.cos(1.9 * t))
        for t in (i * 0.42 for i in range(16))
    ]
    tail = tube(curl, 0.065, hide, 6)
    eyes = eye_pair((-1.5, -0.4, 1.86), 0.1, (-0.8, -0.6, 0.1))
    return turned([skin, disc, tail, *paired("y", nostril, *hooves, ear), *eyes], TURN_DEG)


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
    foot = tube(sole, taper(0.05, 0.34, len(sole)), flesh, 14).creased(180)
    foot.bent(lambda p: (p[0], p[1] * 1.15, max(p[2], 0.0)))
    face = sphere((0.36, 0.36, 0.34), flesh, 16, 10).at(-1.6, 0, 1.0)
    stalk = tube([(-1.62, -0.16, 1.15), (-1.8, -0.32, 1.8)], (0.09, 0.07), flesh, 8)
    feeler = tube([(-1.8, -0.12, 0.95), (-2.08, -0.2, 0.9)], (0.06, 0.05), flesh, 6)
    eyes = eye_pair((-1.82, -0.34, 1.86), 0.16, (-0.8, -0.55, 0.1))
    return turned([house, foot, face, *paired("y", stalk, feeler), *eyes], 22)


def rabbit() -> list[Part]:
    fur = paint("#a8998a", 0.7)
    body = sphere((0.78, 0.85, 0.82), fur).at(0, 0.2, 0.82)
    chest = sphere((0.52, 0.5, 0.62), fur).at(0, -0.2, 1.05)
    haunch = sphere((0.38, 0.55, 0.5), fur).at(-0.56, 0.1, 0.48)
    foot = sphere((0.22, 0.48, 0.16), fur).at(-0.5, -0.42, 0.16)
    fore = tube([(-0.24, -0.45, 0.95), (-0.22, -0.62, 0.14)], (0.2, 0.16), fur, 14)
    head = sphere((0.56, 0.55, 0.52), fur).at(0, -0.32, 1.9)
    cheek = sphere((0.26, 0.26, 0.22), fur).at(-0.28, -0.55, 1.76)
    skin = fused([body, chest, head, *paired("x", haunch, foot, fore, cheek)], 0.05, fur, 1300)
    long_ear = sphere((0.22, 0.13, 0.72), fur, 14, 12).turned(x=-8, y=-11).at(-0.34, -0.12, 2.85)
    inner = sphere((0.13, 0.06, 0.54), PINK, 12, 10).turned(x=-8, y=-11).at(-0.345, -0.23, 2.85)
    nose = sphere((0.1, 0.08, 0.08), PINK, 10, 6).at(0, -0.9, 1.88)
    muzzle = sphere((0.17, 0.14, 0.14), WHITE, 12, 8).at(-0.12, -0.8, 1.76)
    teeth = block((0.13, 0.05, 0.16), WHITE).at(0, -0.88, 1.62)
    eye = sphere((0.1, 0.08, 0.13), BLACK, 12, 8).at(-0.27, -0.77, 2.06)
    glint = sphere(0.035, WHITE, 6, 4).at(-0.3, -0.84, 2.11)
    tail = sphere(0.28, WHITE, 14, 10).at(0, 1.08, 0.62)
    return [skin, nose, teeth, tail, *paired("x", long_ear, inner, muzzle, eye, glint)]


def dinosaur() -> list[Part]:
    hide = paint("#5f9a58", 0.6)
    body = sphere((1.15, 0.8, 0.82), hide).at(0, 0, 1.45)
    neck_path = spline([(-0.7, 0, 1.7), (-1.3, 0, 2.2), (-1.5, 0, 3.0), (-1.75, 0, 3.5)], 4)
    neck = tube(neck_path, taper(0.58, 0.27, len(neck_path)), hide, 16)
    head = sphere((0.5, 0.34, 0.32), hide).turned(y=-12).at(-2.0, 0, 3.62)
    snout = sphere((0.3, 0.27, 0.22), hide).at(-2.32, 0, 3.5)
    tail_path = spline([(0.7, 0, 1.5), (1.5, 0, 1.05), (2.3, 0, 0.75), (3.0, 0, 1.0)], 4)
    tail = tube(tail_path, taper(0.6, 0.07, len(tail_path)), hide, 16)
    legs = [limb([(x, -0.42, 1.2), (x, -0.46, 0.3), (x, -0.46, 0.0)], (0.38, 0.3, 0.34), hide) for x in (-0.6, 0.68)]
    skin = fused([body, neck, head, snout, tail, *paired("y", *legs)], 0.065, hide, 1800)
    nails = [sphere((0.13, 0.22, 0.11), CLAW, 8, 6).at(x - 0.26, -0.46, 0.11) for x in (-0.6, 0.68)]
    ridge = [
        (-1.32, 3.2, 70),
        (-1.08, 2.65, 62),
        (-0.72, 2.3, 35),
        (-0.2, 2.28, 5),
        (0.38, 2.2, -14),
        (0.95, 1.9, -32),
        (1.5, 1.55, -30),
    ]
    plate = lathe([(0, -0.18), (0.24, -0.1), (0.16, 0.22), (0, 0.42)], CLAW, 8).scaled(1, 0.4, 1)
    plates = [plate.copy().turned(y=-angle).at(x, 0, z) for x, z, angle in ridge]
    pupils = eye_pair((-2.12, -0.26, 3.74), 0.1, (-0.5, -0.8, 0.1))
    return turned([skin, *paired("y", *nails), *plates, *pupils], TURN_DEG)


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "cat": cat,
    "dinosaur": dinosaur,
    "dog": dog,
    "elephant": elephant,
    "horse": horse,
    "pig": pig,
    "rabbit": rabbit,
    "snail": snail,
}
