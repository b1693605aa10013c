"""Recipes: what flies, sails and runs on rails. Noses point to -X and a little towards the camera."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from renderers.blender.recipes.kit import Part, block, cylinder, lathe, loft, paired, slab, sphere, torus, tube, turned
from renderers.blender.recipes.materials import (
    BLACK,
    DARK_GLASS,
    DARK_STEEL,
    GOLD,
    HEADLIGHT,
    PALE_WOOD,
    RUBBER,
    STEEL,
    WHITE,
    WOOD,
    Material,
    paint,
)
from renderers.blender.recipes.paths import Vec2, Vec3, arc, oval, spline

# How far the noses are turned towards the camera.
TURN_DEG = 28.0


def airplane() -> list[Part]:
    coat = paint("#3b7fc4", 0.3)
    outline = spline([(0, -2.4), (0.14, -2.3), (0.36, -1.3), (0.5, -0.4), (0.52, 0.8), (0.47, 1.4), (0.32, 1.85),
                      (0.12, 2.08), (0, 2.12)], 2)  # fmt: skip
    fuselage = _nose_left(lathe(outline, coat, 20)).creased(180)
    fuselage.bent(lambda p: (p[0], p[1], p[2] + 0.09 * max(0.0, p[0] - 0.4) ** 2))
    wing = _wing([(-0.75, 0.3), (0.5, 2.35), (0.98, 2.35), (0.55, 0.3)], 0.15, coat)
    wing.bent(lambda p: (p[0], p[1], p[2] - 0.14 - 0.1 * p[1]))
    stabiliser = _wing([(1.55, 0.1), (2.15, 1.0), (2.5, 1.0), (2.3, 0.1)], 0.1, coat).at(z=0.32)
    fin = slab([(1.2, 0.3), (2.02, 1.65), (2.5, 1.65), (2.3, 0.2)], 0.13, coat, 0.05)
    tip = slab([(1.87, 1.43), (2.0, 1.68), (2.52, 1.68), (2.49, 1.43)], 0.15, WHITE, 0.04)
    engine = _nose_left(lathe([(0, -0.5), (0.14, -0.5), (0.25, 0.1), (0.25, 0.42), (0.2, 0.46), (0.18, 0.3),
                               (0, 0.3)], STEEL, 16)).at(-0.25, -1.05, -0.36)  # fmt: skip
    panes = block((0.15, 1.035, 0.17), DARK_GLASS).at(-1.05, 0, 0.14).repeated(8, x=0.3)
    cockpit = sphere((0.3, 0.33, 0.2), DARK_GLASS, 14, 8).turned(y=-24).at(-1.72, 0, 0.2)
    strut = tube([(0.35, -0.5, -0.3), (0.35, -0.55, -0.8)], 0.06, STEEL, 8)
    front = tube([(-1.45, 0, -0.3), (-1.45, 0, -0.8)], 0.06, STEEL, 8)
    tyre = cylinder(0.18, 0.16, RUBBER, sides=14).turned(x=90)
    wheels = [tyre.copy().at(x, y, -0.81) for x, y in ((0.35, -0.55), (0.35, 0.55), (-1.45, 0))]
    twins = paired("y", wing, stabiliser, engine, strut)
    return turned([fuselage, *twins, fin, tip, *panes, cockpit, front, *wheels], 38)


def helicopter() -> list[Part]:
    coat = paint("#d9622b", 0.35)
    cabin = sphere((1.15, 0.8, 0.85), coat, 20, 12).at(0, 0, 1.25)
    glass = sphere((0.6, 0.62, 0.5), DARK_GLASS, 20, 12).turned(y=-20).at(-0.68, 0, 1.47)
    door = slab([(0.2, 1.2), (0.18, 1.66), (0.56, 1.62), (0.64, 1.2)], 1.56, DARK_GLASS, 0.04)
    boom = tube([(0.4, 0, 1.45), (1.3, 0, 1.56), (2.6, 0, 1.72)], [0.56, 0.34, 0.17], coat, 16)
    fin = slab([(2.35, 1.6), (2.75, 2.3), (3.05, 2.3), (2.9, 1.3), (2.6, 1.3)], 0.12, coat, 0.04)
    plane = block((0.4, 1.3, 0.08), coat, 0.03).at(2.2, 0, 1.66)
    tail_rotor = [block((0.16, 0.06, 0.95), coat).turned(y=a).at(2.78, -0.16, 1.75) for a in (30, 120)]
    engine = block((1.1, 0.7, 0.4), coat, 0.15).at(0.35, 0, 2.05)
    mast = cylinder(0.09, 0.5, DARK_STEEL, sides=12).at(0.1, 0, 2.4)
    hub = cylinder(0.22, 0.16, DARK_STEEL, bevel=0.03, sides=16).at(0.1, 0, 2.62)
    blades = [blade.at(0.1, 0, 2.63) for blade in block((2.0, 0.34, 0.09), coat, 0.03).at(1.15, 0, 0).around(4, 12)]
    skid = tube(spline([(-1.35, -0.8, 0.3), (-1.15, -0.8, 0.08), (0.0, -0.8, 0.07), (1.1, -0.8, 0.07)], 3), 0.07,
                DARK_STEEL, 8)  # fmt: skip
    legs = [tube([(x, -0.45, 0.65), (x, -0.8, 0.08)], 0.06, DARK_STEEL, 8) for x in (-0.6, 0.6)]
    twins = paired("y", skid, *legs)
    return turned([cabin, glass, door, boom, fin, plane, *tail_rotor, engine, mast, hub, *blades, *twins], TURN_DEG)


def sailboat() -> list[Part]:
    coat = paint("#2d8fb0", 0.45)
    hull = loft([_hull_section(x, w, low, high) for x, w, low, high in _HULL], coat)
    band = loft([_hull_section(x, w + 0.03, high - 0.16, high - 0.02) for x, w, low, high in _HULL], WHITE).scaled(
        1.008, 1, 1
    )
    deck = loft([_hull_section(x, w - 0.08, high - 0.1, high + 0.03) for x, w, low, high in _HULL], PALE_WOOD).scaled(
        0.985, 1, 1
    )
    mast = cylinder(0.07, 3.75, WOOD, sides=10).at(-0.1, 0, 2.45)
    boom = tube([(-0.1, 0, 1.05), (1.62, 0, 1.05)], 0.06, WOOD, 8)
    main = _sail(lambda t: (0.0, 1.55 * (1 - t) + 0.28 * t * (1 - t) + 0.06 * t), 1.15, 4.2, coat)
    jib = _sail(lambda t: (-1.6 + 1.36 * t, -0.24 - 0.1 * (1 - t)), 1.05, 3.7, coat)
    cabin = block((0.75, 0.55, 0.3), WHITE, 0.08).at(-0.75, 0, 0.84)
    return turned([hull, band, deck, mast, boom, main, jib, cabin], 18)


def train() -> list[Part]:
    coat = paint("#2f7d4a", 0.35)
    boiler = _nose_left(cylinder(0.69, 2.8, coat, sides=24)).at(-0.65, 0, 1.55)
    smokebox = _nose_left(cylinder(0.7, 0.34, BLACK, sides=24)).at(-2.13, 0, 1.55)
    door = _nose_left(lathe([(0, 0), (0.5, 0), (0.47, 0.07), (0.25, 0.14), (0, 0.16)], STEEL, 16)).at(-2.3, 0, 1.55)
    bands = [_nose_left(cylinder(0.72, 0.08, GOLD, sides=24)).at(x, 0, 1.55) for x in (-1.25, -0.4)]
    lamp = _nose_left(cylinder(0.17, 0.24, HEADLIGHT, sides=12)).at(-2.15, 0, 2.36)
    funnel = lathe([(0, 0), (0.22, 0), (0.2, 0.5), (0.4, 0.95), (0.4, 1.08), (0.27, 1.08), (0.2, 0.8), (0, 0.8)],
                   BLACK, 14).at(-1.75, 0, 2.15)  # fmt: skip
    dome = lathe([(0, 0), (0.3, 0), (0.3, 0.3), (0.26, 0.44), (0.14, 0.53), (0, 0.55)], GOLD, 14).at(-0.7, 0, 2.1)
    cab = block((1.35, 1.6, 1.75), coat, 0.07).at(1.35, 0, 1.75)
    panes = block((0.62, 1.64, 0.56), DARK_GLASS).at(1.35, 0, 2.1)
    roof = slab([(x, 1.2 * z) for x, z in arc(1.15, 35, 145, 7)], 1.65, coat, 0.04)
    roof = roof.turned(z=90).at(1.38, 0, 1.82)
    frame = block((4.5, 1.0, 0.3), BLACK, 0.04).at(-0.1, 0, 0.8)
    tank = block((2.9, 1.54, 0.26), coat, 0.04).at(-0.75, 0, 1.0)
    beam = block((0.2, 1.7, 0.36), coat, 0.04).at(-2.35, 0, 0.8)
    catcher = [
        tube([(-2.4, y, 0.72), (-2.95 + 0.35 * abs(y), 0.75 * y, 0.08)], 0.08, coat, 6)
        for y in (-0.72, -0.43, -0.14, 0.14, 0.43, 0.72)
    ]
    shoe = block((0.12, 1.3, 0.12), DARK_STEEL, 0.03).at(-2.72, 0, 0.1)
    wheels = [w for x in (-0.65, 0.4, 1.45) for w in _spoked(x, 0.52, coat)]
    wheels += [w for x in (-1.75,) for w in _spoked(x, 0.34, coat)]
    rod = block((2.4, 0.07, 0.14), STEEL, 0.02).at(0.4, -0.84, 0.52).both_sides("y")
    piston = _nose_left(cylinder(0.24, 0.75, DARK_STEEL, sides=12)).at(-1.72, -0.72, 0.86).both_sides("y")
    return turned(
        [boiler, smokebox, door, *bands, lamp, funnel, dome, cab, panes, roof, frame, tank, beam, *catcher, shoe,
         *wheels, *rod, *piston], TURN_DEG)  # fmt: skip


def rocket() -> list[Part]:
    coat = paint("#c9392f", 0.35)
    outline = spline([(0.42, 0.5), (0.68, 1.2), (0.78, 2.0), (0.68, 2.9), (0.42, 3.6), (0.12, 4.1)], 3)
    body = lathe([(0, 0.5), *outline, (0, 4.2)], coat, 24)
    tip = lathe([(0, 3.55), *[(r + 0.025, z) for r, z in outline if z > 3.55], (0.0, 4.26)], WHITE, 24)
    band = lathe([(0, 2.96), (0.68, 2.96), (0.625, 3.12), (0, 3.12)], WHITE, 24)
    nozzle = lathe([(0, 0.55), (0.3, 0.55), (0.46, 0.12), (0.4, 0.12), (0, 0.4)], DARK_STEEL, 24)
    outer = spline([(0.4, 1.55), (0.95, 1.15), (1.4, 0.45), (1.45, 0.0)], 3)
    fin = slab([*outer, *spline([(1.2, 0.0), (0.9, 0.45), (0.4, 0.62)], 3)], 0.14, coat, 0.05)
    fins = fin.around(4, 45)
    ring = torus(0.33, 0.09, STEEL, 20, 6).turned(x=90).at(0, -0.77, 2.35)
    pane = sphere((0.31, 0.08, 0.31), DARK_GLASS, 16, 8).at(0, -0.77, 2.35)
    return [body, tip, band, nozzle, *fins, ring, pane]


_HULL = ((1.75, 0.5, 0.1, 0.72), (1.3, 0.62, 0.02, 0.7), (0.4, 0.7, 0.0, 0.68), (-0.5, 0.64, 0.0, 0.7),
         (-1.2, 0.42, 0.03, 0.78), (-1.7, 0.16, 0.12, 0.88), (-1.9, 0.1, 0.3, 0.93))  # fmt: skip


def submarine() -> list[Part]:
    coat = paint("#e2b52a", 0.35)
    outline = spline([(0, -2.1), (0.32, -1.95), (0.7, -1.2), (0.82, -0.2), (0.8, 0.9), (0.56, 1.6), (0, 1.9)], 2)
    hull = _nose_left(lathe(outline, coat, 22)).creased(180).at(z=0.95)
    tower = loft(
        [oval(z, rx, ry, 18, x=-0.2) for z, rx, ry in ((1.5, 0.72, 0.42), (2.25, 0.58, 0.36), (2.33, 0.5, 0.3))], coat
    )
    scope = tube(spline([(-0.1, 0, 2.2), (-0.1, 0, 2.75), (-0.2, 0, 2.95), (-0.48, 0, 2.97)], 3), 0.09, STEEL, 10)
    lens = sphere((0.05, 0.08, 0.08), DARK_GLASS, 8, 6).at(-0.5, 0, 2.97)
    ports = []
    for x in (-0.95, -0.1, 0.75):
        ports += [
            torus(0.22, 0.07, STEEL, 18, 6).turned(x=90).at(x, -0.8, 1.05),
            sphere((0.2, 0.08, 0.2), DARK_GLASS, 14, 8).at(x, -0.79, 1.05),
        ]
    fin = slab([(1.3, 1.2), (1.75, 1.95), (2.1, 1.95), (2.0, 1.0)], 0.13, coat, 0.04)
    keel = slab([(1.3, 0.7), (1.75, 0.05), (2.1, 0.05), (2.0, 0.9)], 0.13, coat, 0.04)
    plane = _wing([(1.3, 0.3), (1.75, 1.0), (2.1, 1.0), (2.0, 0.1)], 0.12, coat).at(z=0.95)
    screw = [
        block((0.1, 0.22, 0.5), STEEL, 0.03).turned(z=25).at(0, 0, 0.28).turned(x=120 * k).at(2.3, 0, 0.95)
        for k in range(3)
    ]
    shaft = _nose_left(cylinder(0.09, 0.5, STEEL, sides=10)).at(2.2, 0, 0.95)
    return turned([hull, tower, scope, lens, *paired("y", *ports, plane), fin, keel, *screw, shaft], TURN_DEG)


def _hull_section(x: float, half_width: float, low: float, high: float) -> list[Vec3]:
    """A U across the boat at `x`, flat on top."""
    height = high - low
    shape = ((-1.0, 1.0), (-0.96, 0.6), (-0.8, 0.25), (-0.4, 0.03), (0.0, 0.0))
    left = [(x, half_width * y, low + height * z) for y, z in shape]
    return [*left, *[(x, -y, z) for x, y, z in reversed(left[:-1])]]


def _sail(span: Callable[[float], Vec2], low: float, high: float, cloth: Material) -> Part:
    """A bellied sail: at height share t it reaches from x = span(t)[0] to span(t)[1]."""
    sections = []
    for i in range(9):
        t = i / 8 * 0.985
        start, end = span(t)
        shares = [k / 8 for k in range(9)]
        skin = [(start + (end - start) * s, -0.9 * (end - start) * s * (1 - s) * 0.45) for s in shares]
        z = low + (high - low) * t
        near = [(x, y - 0.035, z) for x, y in skin]
        far = [(x, y + 0.035, z) for x, y in reversed(skin)]
        sections.append([*near, *far])
    return loft(sections, cloth)


def _spoked(x: float, radius: float, coat: Material) -> list[Part]:
    """A railway wheel at both sides: dark rim, painted disc."""
    disc = lathe([(0, 0.1), (radius * 0.22, 0.1), (radius * 0.26, 0.05), (radius * 0.86, 0.05)], coat, 14)
    rim = lathe(
        [(0, -0.08), (radius, -0.08), (radius, 0.08), (radius * 0.84, 0.08), (radius * 0.84, 0)], DARK_STEEL, 16
    )
    return paired("y", *(part.turned(x=90).at(x, -0.72, radius) for part in (disc, rim)))


def _wing(outline: Sequence[Vec2], thickness: float, coat: Material) -> Part:
    """A flat slab from an outline of (x, distance to the near side)."""
    return slab(outline, thickness, coat, thickness * 0.4).turned(x=90)


def _nose_left(part: Part) -> Part:
    """Lay an upright part down, its top towards -X."""
    return part.turned(y=-90)


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "airplane": airplane,
    "helicopter": helicopter,
    "rocket": rocket,
    "sailboat": sailboat,
    "submarine": submarine,
    "train": train,
}
