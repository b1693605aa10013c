"""Recipes: fruit, cakes and other food."""

from __future__ import annotations

import math
from collections.abc import Callable

from renderers.blender.recipes.kit import Part, cylinder, extrude, lathe, loft, sphere, torus, tube
from renderers.blender.recipes.materials import LEAF, STEM, WHITE, Material, material, paint
from renderers.blender.recipes.paths import Vec3, spline

CRUST = material("crust", "#c98f4e", 0.75)
WAFFLE = material("waffle", "#d39a55", 0.75)
SEED = material("seed", "#f2dc8c", 0.6)
FLAME = material("flame", "#f5a623", 0.4)


def _ribbed(count: int, depth: float, sharpness: float = 1.0) -> Callable[[Vec3], Vec3]:
    """Grooves from pole to pole: `count` of them, `depth` as a share of the radius."""

    def shape(p: Vec3) -> Vec3:
        groove = abs(math.cos(math.atan2(p[1], p[0]) * count / 2)) ** sharpness
        factor = 1 - depth * (1 - groove)
        return (p[0] * factor, p[1] * factor, p[2])

    return shape


def _leaf(length: float, width: float, material: Material = LEAF) -> Part:
    """A leaf lying along +X from the origin, its tip raised."""
    path: list[Vec3] = [(length * t, 0.0, 0.3 * length * t * t) for t in (0, 0.25, 0.5, 0.75, 1)]
    return tube(path, [0.02, 0.42 * width, 0.5 * width, 0.34 * width, 0], material, 10, flatten=0.22)


def apple() -> list[Part]:
    skin = paint("#b8272c", 0.3)
    outside = [(0.22, 0.14), (0.5, 0.02), (0.86, 0.32), (1.12, 0.95), (1.08, 1.5), (0.72, 1.84), (0.3, 1.78)]
    body = lathe([(0, 0.24), *spline(outside), (0, 1.45)], skin, 30).creased(180)
    body.bent(lambda p: (p[0], p[1], p[2] + 0.05 * math.cos(5 * math.atan2(p[1], p[0])) * max(0, 0.6 - p[2])))
    stalk = tube(spline([(0, 0, 1.45), (0.03, 0, 1.9), (0.16, 0, 2.3)], 3), [0.06] * 4 + [0.07, 0.08, 0.1], STEM, 8)
    leaf = _leaf(1.0, 0.62).turned(y=-12, z=-25).at(0.06, 0, 1.98)
    return [body, stalk, leaf]


def banana() -> list[Part]:
    skin = paint("#f0c62c", 0.45)
    dark = material("stem", "#5a4326", 0.7)
    angles = [math.radians(198 + 144 * i / 16) for i in range(17)]
    path: list[Vec3] = [(2.2 * math.cos(a), 0, 2.2 * math.sin(a)) for a in angles]
    radii = [0.2, 0.32, 0.54, 0.68, 0.74, 0.78, 0.8, 0.82, 0.82, 0.8, 0.78, 0.74, 0.68, 0.58, 0.46, 0.32, 0.2]
    # Five blunt sides, as the fruit has, instead of a round section.
    body = tube(path, radii, skin, 5, up=(0, 1, 0)).bevelled(0.12, 2, above_deg=50).creased(35)
    stalk_path: list[Vec3] = [(2.2 * math.cos(a), 0, 2.2 * math.sin(a)) for a in (angles[0] + 0.03, angles[0] - 0.1)]
    stalk = tube([*stalk_path, (-2.2, 0, -0.2)], [0.2, 0.18, 0.25], dark, 8, up=(0, 1, 0))
    tip = sphere(0.2, dark, 10, 6).at(*path[-1])
    return [body, stalk, tip]


def pear() -> list[Part]:
    skin = paint("#b4c23c", 0.35)
    outside = [
        (0.2, 0.06),
        (0.62, 0.08),
        (1.02, 0.5),
        (1.1, 1.0),
        (0.84, 1.6),
        (0.56, 2.15),
        (0.42, 2.55),
        (0.2, 2.74),
    ]
    body = lathe([(0, 0.12), *spline(outside, 3), (0, 2.68)], skin, 28).creased(180)
    body.bent(lambda p: (p[0] + 0.07 * max(0, p[2] - 1) ** 2, p[1], p[2]))
    stalk = tube(spline([(0.18, 0, 2.66), (0.24, 0, 2.95), (0.42, 0, 3.2)], 3), [0.07] * 5 + [0.09, 0.1], STEM, 8)
    leaf = _leaf(0.95, 0.6).turned(y=-5, z=200).at(0.22, 0, 2.84)
    return [body, stalk, leaf]


def pumpkin() -> list[Part]:
    skin = paint("#e07b20", 0.45)
    outside = [(0.3, 0.1), (0.8, 0.04), (1.3, 0.36), (1.46, 0.9), (1.3, 1.45), (0.8, 1.78), (0.3, 1.7)]
    body = lathe([(0, 0.2), *spline(outside, 3), (0, 1.6)], skin, 60).creased(180).bent(_ribbed(10, 0.2, 0.6))
    path = spline([(0, 0, 1.55), (0.04, 0, 1.95), (0.2, 0, 2.2), (0.5, 0, 2.36)], 3)
    stalk = tube(path, [0.3, 0.22, 0.18, 0.16, 0.15, 0.15, 0.15, 0.16, 0.17, 0.2], LEAF, 8).creased(25)
    return [body, stalk]


def cupcake() -> list[Part]:
    frosting = paint("#e88fb2", 0.5)
    paper = material("paper", "#7b4a2d", 0.7)
    cup = lathe([(0, 0), (0.78, 0), (1.08, 1.0), (0, 1.0)], paper, 48).bent(_pleated(24, 0.05)).creased(25)
    swirl = []
    pearls = []
    pearl = sphere(0.09, WHITE, 8, 5)
    for level, (radius, z) in enumerate(((1.3, 1.12), (1.08, 1.58), (0.8, 2.0), (0.48, 2.36))):
        edge = spline([(radius * 0.7, z - 0.32), (radius, z), (radius * 0.66, z + 0.3)], 3)
        ring = lathe([(0, z - 0.34), *edge, (0, z + 0.3)], frosting, 32).creased(180)
        swirl.append(ring.bent(_pleated(8, 0.07, twist=0.5 * level)))
        if level < 3:
            pearls += pearl.copy().at(radius - 0.1, 0, z + 0.23).around(6 - level, 40 * level)
    tip = lathe([(0, 2.4), (0.3, 2.5), (0.16, 2.74), (0, 2.92)], frosting, 16).creased(180)
    return [cup, *swirl, tip, *pearls]


def _pleated(count: int, depth: float, twist: float = 0.0) -> Callable[[Vec3], Vec3]:
    """A wavy outline: `count` waves of `depth` as a share of the radius, turned by `twist` radians."""

    def shape(p: Vec3) -> Vec3:
        factor = 1 + depth * math.cos(count * (math.atan2(p[1], p[0]) - twist))
        return (p[0] * factor, p[1] * factor, p[2])

    return shape


def ice_cream() -> list[Part]:
    scoop = paint("#8fd0b4", 0.55)
    cone = lathe([(0, 0), (0.12, 0), (0.18, 0.08), (0.92, 1.55), (0.96, 1.7), (0.8, 1.7), (0, 1.6)], WAFFLE, 24)
    ridges = []
    for way in (1, -1):
        for k in range(7):
            turns = [(t / 5, way * (k / 7 * 2 * math.pi + 1.0 * t / 5)) for t in range(6)]
            path = [
                ((0.19 + 0.73 * t) * math.cos(a), (0.19 + 0.73 * t) * math.sin(a), 0.1 + 1.43 * t) for t, a in turns
            ]
            ridges.append(tube(path, 0.045, CRUST, 3))
    lower = sphere((1.22, 1.22, 1.0), scoop, 24, 12).at(z=2.2)
    skirt = torus(1.06, 0.22, scoop, 32, 6).bent(_wavy(8, 0.1)).at(z=1.82)
    upper = sphere((1.0, 1.0, 0.88), scoop, 22, 11).at(z=3.25)
    collar = torus(0.88, 0.18, scoop, 28, 6).bent(_wavy(7, 0.08)).at(z=2.92)
    return [cone, *ridges, lower, skirt, upper, collar]


def _wavy(count: int, height: float) -> Callable[[Vec3], Vec3]:
    """Lift and lower a ring `count` times on its way round."""
    return lambda p: (p[0], p[1], p[2] + height * math.cos(count * math.atan2(p[1], p[0])))


def birthday_cake() -> list[Part]:
    icing = paint("#e3a0bd", 0.5)
    wax = material("wax", "#f4f0e2", 0.5)
    plate = lathe([(0, 0), (1.2, 0), (1.95, 0.1), (1.95, 0.16), (0, 0.12)], WHITE, 36)
    lower = cylinder(1.6, 1.0, icing, bevel=0.1, sides=40).at(z=0.62)
    upper = cylinder(1.05, 0.85, icing, bevel=0.1, sides=32).at(z=1.54)
    low_bead = sphere((0.16, 0.16, 0.15), WHITE, 8, 5).at(1.6, 0, 0.22)
    high_bead = sphere((0.13, 0.13, 0.12), WHITE, 8, 5).at(1.05, 0, 1.18)
    beads = low_bead.around(20) + high_bead.around(14)
    candles = []
    for part in (
        cylinder(0.09, 0.7, wax, sides=10).at(z=2.3),
        lathe([(0, 2.68), (0.11, 2.82), (0.08, 2.95), (0, 3.12)], FLAME, 10),
    ):
        candles += [part.copy(), *part.at(0.62).around(6, 30)]
    return [plate, lower, upper, *beads, *candles]


def mushroom() -> list[Part]:
    cap_skin = paint("#c22e2a", 0.35)
    flesh = material("flesh", "#efe4cf", 0.7)
    stalk = lathe([(0, 0), *spline([(0.6, 0.02), (0.68, 0.25), (0.5, 0.8), (0.42, 1.5)], 3), (0, 1.5)], flesh, 24)
    ring = lathe([(0.42, 1.12), (0.74, 0.95), (0.76, 1.0), (0.44, 1.22)], flesh, 24)
    dome = spline([(1.52, 1.3), (1.56, 1.5), (1.2, 2.15), (0.6, 2.55), (0.12, 2.66)], 4)
    cap = lathe([(0.9, 1.38), (1.42, 1.22), *dome, (0, 2.67)], cap_skin, 32).creased(180)
    gills = lathe([(0, 1.45), (1.0, 1.38), (1.42, 1.24)], flesh, 32)
    dots = []
    for elevation, azimuths, size in (
        (16, range(0, 360, 60), 0.21),
        (46, range(25, 385, 90), 0.24),
        (80, (200,), 0.26),
    ):
        for azimuth in azimuths:
            e = math.radians(elevation)
            dot = sphere((size, size, 0.09), WHITE, 12, 4).turned(y=90 - elevation)
            r, z = 1.5 * math.cos(e) + 0.02, 1.42 + 1.24 * math.sin(e)
            dots.append(dot.at(r, 0, z).turned(z=azimuth))
    return [stalk, ring, cap, gills, *dots]


def strawberry() -> list[Part]:
    skin = paint("#d3242f", 0.3)
    outside = [(0.2, 0.02), (0.5, 0.3), (0.95, 1.1), (1.14, 1.75), (1.0, 2.25), (0.5, 2.48)]
    profile = spline(outside, 3)
    body = lathe([(0, 0), *profile, (0, 2.46)], skin, 28).creased(180)
    seeds = []
    for row, i in enumerate((3, 5, 7, 9, 11)):
        r, z = profile[i]
        slope = math.degrees(math.atan2(profile[i + 1][0] - profile[i - 1][0], profile[i + 1][1] - profile[i - 1][1]))
        seed = sphere((0.035, 0.06, 0.1), SEED, 6, 4).turned(y=slope).at(r, 0, z)
        seeds += seed.around(round(3 + 4.5 * r), 30 * row)
    leaves = [leaf.at(z=2.475) for leaf in _leaf(1.15, 0.66).turned(y=14).around(6)]
    stalk = tube(spline([(0, 0, 2.4), (0.02, 0, 2.7), (0.2, 0, 3.0)], 3), 0.09, LEAF, 8)
    return [body, *seeds, *leaves, stalk]


def donut() -> list[Part]:
    icing = paint("#e58ab0", 0.3)
    dough = torus(1.0, 0.56, CRUST, 30, 12).scaled(1, 1, 0.9)
    sections = []
    for k in range(32):
        angle = 2 * math.pi * k / 32
        reach = math.radians(158 + 14 * math.cos(8 * angle) + 8 * math.cos(5 * angle + 1))
        around = [-(reach - math.pi) / 2 + reach * i / 10 for i in range(11)]
        outer = [(1.0 + 0.62 * math.cos(a), 0.56 * math.sin(a) + 0.03) for a in around]
        inner = [(1.0 + 0.45 * math.cos(a), 0.4 * math.sin(a)) for a in (around[-1], around[5], around[0])]
        sections.append([(r * math.cos(angle), r * math.sin(angle), z) for r, z in outer + inner])
    glaze = loft([*sections, sections[0]], icing, caps=False)
    colours = [WHITE, material("yellow_sugar", "#f3cf45"), material("blue_sugar", "#4aa3d8")]
    sprinkles = []
    for k in range(24):
        angle, tilt = 2 * math.pi * k * 0.382, math.radians((45, 95, 140, 70, 115)[k % 5])
        stick = (
            cylinder(0.045, 0.24, colours[k % 3], sides=6)
            .turned(x=90)
            .turned(z=70 * k)
            .turned(y=90 - math.degrees(tilt))
        )
        stick.at(1.0 + 0.63 * math.cos(tilt), 0, 0.57 * math.sin(tilt) + 0.04)
        sprinkles.append(stick.turned(z=math.degrees(angle)))
    # Leaning back: flat on the ground its hole would hardly be seen.
    return [part.turned(x=52) for part in (dough, glaze, *sprinkles)]


def carrot() -> list[Part]:
    skin = paint("#e8761f", 0.5)
    outside = [(0.06, 0.02), (0.3, 0.7), (0.55, 1.6), (0.74, 2.4), (0.7, 2.75), (0.36, 2.9)]
    root = lathe([(0, 0), *spline(outside, 4), (0, 2.86)], skin, 24).creased(180)
    root.bent(lambda p: (p[0] * _rings(p[2]), p[1] * _rings(p[2]), p[2]))
    fronds = []
    for k, (lean, length) in enumerate(((0, 1.7), (24, 1.5), (34, 1.3), (26, 1.6), (34, 1.3), (24, 1.5))):
        path: list[Vec3] = [(0, 0, length * t) for t in (0, 0.3, 0.6, 0.85, 1)]
        frond = tube(path, [0.08, 0.1, 0.2, 0.17, 0], LEAF, 8)
        fronds.append(frond.turned(y=lean).turned(z=72 * k).at(z=2.8))
    # Lying askew, its tip to the left: upright it would balance on a point.
    return [part.turned(y=58) for part in (root, *fronds)]


def _rings(z: float) -> float:
    return 1 + 0.025 * math.sin(9 * z)


def pineapple() -> list[Part]:
    skin = paint("#e0a02c", 0.5)
    body = sphere((0.98, 0.98, 1.3), skin, 20, 12).at(z=1.25)
    scales = []
    for row in range(9):
        z = 0.3 + 0.24 * row
        r = 0.98 * math.sqrt(max(0.0, 1 - ((z - 1.25) / 1.3) ** 2))
        slope = math.degrees(math.asin((z - 1.25) / 1.3))
        scale = cylinder(0.2, 0.16, skin, top_radius=0.05, sides=4).turned(y=90 - 0.8 * slope)
        scales += scale.at(r, 0, z).around(12, 15 * (row % 2))
    leaves = []
    for count, lean, length, z in ((7, 52, 0.95, 2.4), (7, 30, 1.25, 2.45), (5, 10, 1.5, 2.45)):
        path: list[Vec3] = [(0.12 * t * t * (lean / 20), 0, length * t) for t in (0, 0.35, 0.7, 1)]
        leaf = tube(path, [0.16, 0.2, 0.13, 0], LEAF, 6, flatten=0.35, up=(1, 0, 0)).turned(y=lean)
        leaves += leaf.at(z=z).around(count, lean)
    return [body, *scales, *leaves]


def eggplant() -> list[Part]:
    skin = paint("#5b2a6e", 0.2)
    path = spline([(-1.7, 0, 0.55), (-1.4, 0, 0.72), (-0.5, 0, 0.8), (0.5, 0, 0.86), (1.25, 0, 1.2)], 4)
    widths = spline([(0.0, 0), (0.62, 0), (0.84, 0), (0.62, 0), (0.42, 0)], 4)
    radii = [0, *(max(r, 0.3) for r, _ in widths[1:])]
    body = tube(path, radii, skin, 22, up=(0, 1, 0)).creased(180)
    calyx = [leaf.turned(y=-135).at(1.42, 0, 1.36) for leaf in _leaf(0.85, 0.5).turned(y=40).around(6)]
    stem = spline([(1.2, 0, 1.15), (1.5, 0, 1.42), (1.7, 0, 1.75)], 3)
    return [body, *calyx, tube(stem, [0.2, 0.17, 0.15, 0.13, 0.13, 0.14, 0.16], LEAF, 8)]


def cheese() -> list[Part]:
    rind = paint("#f0c23c", 0.45)
    wedge = extrude([(-1.5, 0), (1.5, 0), (1.5, 1.3), (-1.5, 1.3)], 2.0, rind)
    wedge.bent(lambda p: (p[0], p[1] * (1 if p[0] > 0 else 0.06), p[2])).bevelled(0.06)
    front = [(-0.3, -0.5, 0.8, 0.26), (0.5, -0.78, 0.45, 0.3), (1.05, -0.95, 0.95, 0.2), (0.05, -0.55, 0.3, 0.16)]
    side = [(1.55, 0.1, 0.75, 0.3), (1.52, 0.6, 0.35, 0.2), (1.5, -0.55, 0.4, 0.18)]
    top = [(0.7, 0.2, 1.35, 0.3), (-0.5, 0.0, 1.36, 0.2)]
    wedge.minus(*(sphere(r, rind, 14, 10).at(x, y, z) for x, y, z, r in (*front, *side, *top)))
    return [wedge]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "apple": apple,
    "banana": banana,
    "pear": pear,
    "pumpkin": pumpkin,
    "cupcake": cupcake,
    "ice cream": ice_cream,
    "birthday cake": birthday_cake,
    "mushroom": mushroom,
    "strawberry": strawberry,
    "donut": donut,
    "carrot": carrot,
    "pineapple": pineapple,
    "eggplant": eggplant,
    "cheese": cheese,
}
