"""Recipes: what one wears or carries."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.kit import Part, box, capsule, cylinder, extrude, lathe, loft, sphere, torus, tube
from renderers.blender.recipes.materials import (
    BLACK,
    BRASS,
    DARK_STEEL,
    GOLD,
    RUBBER,
    STEEL,
    WHITE,
    WOOD,
    material,
    paint,
)
from renderers.blender.recipes.paths import Vec3, oval, spline


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


def suitcase() -> list[Part]:
    shell = paint("#3a9a9a", 0.4)
    body = box((2.0, 1.0, 2.7), shell, 0.24, 3).at(z=1.65)
    ribs = [box((0.13, 1.06, 2.3), shell, 0.05).at(x, 0, 1.65) for x in (-0.66, -0.33, 0, 0.33, 0.66)]
    seam = box((2.04, 0.07, 2.74), DARK_STEEL, 0.03).at(0, 0.12, 1.65)
    wheels = cylinder(0.2, 0.16, RUBBER, sides=18).turned(y=90).at(0.72, 0.28, 0.2).both_sides()
    front = cylinder(0.2, 0.16, RUBBER, sides=18).turned(y=90).at(0.72, -0.28, 0.2).both_sides()
    rods = cylinder(0.075, 0.6, STEEL, sides=10).at(0.45, 0.3, 3.2).both_sides()
    bar = capsule(0.13, 1.2, BLACK, 12).turned(y=90).at(0, 0.3, 3.5)
    strap = spline([(-0.4, -0.1, 2.95), (-0.34, -0.1, 3.18), (0.34, -0.1, 3.18), (0.4, -0.1, 2.95)], 3)
    return [body, *ribs, seam, *wheels, *front, *rods, bar, tube(strap, 0.09, BLACK, 8, up=(0, 1, 0))]


def handbag() -> list[Part]:
    leather = paint("#b03a5b", 0.4)
    outline = [(-1.15, 0.12), (1.15, 0.12), (1.3, 0.35), (1.08, 1.75), (-1.08, 1.75), (-1.3, 0.35)]
    body = extrude(outline, 0.95, leather, 0.16, 3)
    flap_outline = [(-1.1, 1.82), (1.1, 1.82), (1.14, 1.3), *spline([(0.85, 0.98), (0, 0.8), (-0.85, 0.98)], 3)]
    flap = extrude([*flap_outline, (-1.14, 1.3)], 1.1, leather, 0.07)
    clasp = cylinder(0.17, 0.1, GOLD, bevel=0.03, sides=18).turned(x=90).at(0, -0.57, 1.0)
    rings = torus(0.15, 0.045, GOLD, 16, 6).turned(x=90).at(0.62, 0, 1.88).both_sides()
    arch = spline([(-0.62, 0, 1.9), (-0.6, 0, 2.5), (0, 0, 2.95), (0.6, 0, 2.5), (0.62, 0, 1.9)], 4)
    return [body, flap, clasp, *rings, tube(arch, 0.12, leather, 10, up=(0, 1, 0))]


def shirt() -> list[Part]:
    cotton = paint("#4a8fd0", 0.8)
    right = [(0.42, 2.62), (0.95, 2.44), (1.75, 1.72), (1.28, 1.2), (0.88, 1.52), (0.86, 0.9), (0.92, 0.04)]
    left = [(-x, z) for x, z in reversed(right)]
    neck = [(-0.26, 2.42), (0.0, 2.36), (0.26, 2.42)]
    # Clockwise from the collar, the hem slightly rounded.
    torso = extrude([*right, (0, 0), *left, *neck], 0.9, cotton, 0.28, 3)
    hems = box((0.76, 0.92, 0.1), WHITE, 0.03).turned(y=-48).at(1.46, 0, 1.5)
    bottom = box((1.86, 0.92, 0.1), WHITE, 0.03).at(0, 0, 0.2)
    collar_path = spline([(-0.44, 0, 2.62), (-0.28, 0, 2.43), (0, 0, 2.36), (0.28, 0, 2.43), (0.44, 0, 2.62)], 3)
    collar = tube(collar_path, 0.1, WHITE, 8, up=(0, 1, 0), flatten=3.0)
    return [torso, *hems.both_sides(), bottom, collar]


def mitten() -> list[Part]:
    wool = paint("#c8404a", 0.85)
    trim = material("fleece", "#f3eee2", 0.9)
    palm = [(-0.72, 0.6), (0.72, 0.6), (0.82, 1.2), (1.05, 1.5), (1.45, 1.75), (1.6, 2.05), (1.4, 2.3), (1.05, 2.2)]
    palm += [(0.82, 1.98), (0.8, 2.5), (0.55, 3.0), (0.0, 3.2), (-0.55, 3.0), (-0.82, 2.5), (-0.86, 1.6)]
    hand = extrude([*spline(palm[1:], 2), palm[0]], 0.85, wool, 0.3, 4).creased(80)
    cuff = loft([oval(z, 0.92 * f, 0.58 * f, 28, 3.0) for z, f in ((0, 0.86), (0.06, 1), (0.62, 1), (0.7, 0.88))], trim)
    return [hand, cuff]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "umbrella": umbrella,
    "backpack": backpack,
    "hat": hat,
    "boot": boot,
    "suitcase": suitcase,
    "handbag": handbag,
    "shirt": shirt,
    "mitten": mitten,
}
