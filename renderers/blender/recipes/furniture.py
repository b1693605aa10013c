"""Recipes: furniture."""

from __future__ import annotations

from collections.abc import Callable

from renderers.blender.recipes.kit import Part, box, cylinder, extrude, lathe, loft, sphere, torus, tube
from renderers.blender.recipes.materials import (
    BLACK,
    BRASS,
    DARK_WOOD,
    PALE_WOOD,
    STEEL,
    WHITE,
    Material,
    material,
    paint,
)
from renderers.blender.recipes.paths import Vec3, oval, spline


def _legs(x: float, y: float, height: float, width: float, finish: Material) -> list[Part]:
    """Four square legs with their centres at (+-x, +-y)."""
    leg = box((width, width, height), finish, 0.03)
    return [leg.copy().at(sx * x, sy * y, height / 2) for sx in (-1, 1) for sy in (-1, 1)]


def chair() -> list[Part]:
    lacquer = paint("#b5443a", 0.4)
    seat = box((1.6, 1.5, 0.2), lacquer, 0.06).at(z=1.4)
    front = box((0.22, 0.22, 1.4), lacquer, 0.04).at(-0.66, -0.6, 0.7).both_sides()
    rear_path = [(-0.66, 0.62, 0.0), (-0.66, 0.64, 1.4), (-0.66, 0.7, 2.3), (-0.66, 0.9, 3.25)]
    rear = tube(rear_path, 0.14, lacquer, 10, up=(1, 0, 0)).both_sides()
    rails = [box((1.3, 0.14, h), lacquer, 0.05).turned(x=-11).at(0, y, z)
             for y, z, h in ((0.85, 3.0, 0.42), (0.72, 2.4, 0.24), (0.66, 1.95, 0.24))]  # fmt: skip
    stretchers = [box((0.12, 1.2, 0.14), lacquer, 0.03).at(x, 0, 0.6) for x in (-0.66, 0.66)]
    return [seat, *front, *rear, *rails, *stretchers, box((1.2, 0.12, 0.14), lacquer, 0.03).at(0, -0.6, 0.85)]


def table() -> list[Part]:
    lacquer = paint("#8a5a34", 0.4)
    top = box((3.6, 2.2, 0.22), lacquer, 0.07).at(z=1.95)
    apron = [box((2.9, 0.12, 0.34), lacquer, 0.02).at(0, y, 1.68) for y in (-0.8, 0.8)]
    apron += [box((0.12, 1.5, 0.34), lacquer, 0.02).at(x, 0, 1.68) for x in (-1.48, 1.48)]
    return [top, *apron, *_legs(1.5, 0.82, 1.86, 0.3, lacquer)]


def sofa() -> list[Part]:
    fabric = paint("#3d7a78", 0.8)
    base = box((2.9, 1.5, 0.55), fabric, 0.08).at(0, 0, 0.5)
    back = box((2.9, 0.5, 1.6), fabric, 0.18, 3).turned(x=-8).at(0, 0.68, 1.15)
    arm = box((0.5, 1.6, 1.15), fabric, 0.2, 4).at(-1.5, -0.02, 0.8)
    seats = box((1.24, 1.3, 0.36), fabric, 0.13, 3).at(-0.63, -0.14, 0.93).both_sides()
    pillows = box((1.22, 0.36, 0.9), fabric, 0.15, 3).turned(x=-12).at(-0.63, 0.4, 1.54).both_sides()
    legs = [cylinder(0.1, 0.26, DARK_WOOD, 0.13, sides=12).at(sx * 1.5, sy * 0.6, 0.13)
            for sx in (-1, 1) for sy in (-1, 1)]  # fmt: skip
    return [base, back, *arm.both_sides(), *seats, *pillows, *legs]


def bed() -> list[Part]:
    fabric = paint("#4f79b8", 0.8)
    frame = box((2.3, 3.3, 0.42), fabric, 0.05).at(0, 0, 0.5)
    head_outline = [(-1.25, 0), (1.25, 0), (1.25, 1.6), *spline([(1.0, 1.82), (0, 2.05), (-1.0, 1.82)], 3)]
    head = extrude([*head_outline, (-1.25, 1.6)], 0.26, fabric, 0.1).at(0, 1.7, 0.12)
    foot = box((2.5, 0.26, 0.7), fabric, 0.1).at(0, -1.7, 0.55)
    legs = _legs(1.1, 1.68, 0.24, 0.22, DARK_WOOD)
    mattress = box((2.16, 3.2, 0.4), WHITE, 0.12, 3).at(0, 0, 0.86)
    cover = box((2.44, 2.3, 0.62), fabric, 0.16, 3).at(0, -0.46, 0.88)
    fold = box((2.46, 0.36, 0.2), WHITE, 0.09, 3).at(0, 0.66, 1.14)
    pillow = box((0.95, 0.7, 0.34), WHITE, 0.16, 3).turned(x=28).at(-0.54, 1.24, 1.22)
    return [frame, head, foot, mattress, cover, fold, *pillow.both_sides(), *legs]


def lamp() -> list[Part]:
    cloth = paint("#e2b13c", 0.7)
    glow = material("bulb", "#fff3cf", 0.5)
    shade = lathe([(1.25, 1.75), (1.28, 1.78), (0.74, 3.1), (0.7, 3.12), (0.68, 3.08), (1.2, 1.8)], cloth, 32)
    body = lathe([(0, 0), (0.7, 0), (0.74, 0.06), (0.7, 0.14), (0.3, 0.2),
                  *spline([(0.3, 0.24), (0.52, 0.6), (0.46, 1.0), (0.16, 1.35)], 3), (0.12, 1.4), (0, 1.4)],
                 cloth, 24)  # fmt: skip
    rod = cylinder(0.07, 1.7, BRASS, sides=12).at(z=2.2)
    return [shade, body, rod, sphere(0.26, glow, 16, 10).at(z=2.2), sphere(0.13, BRASS, 12, 8).at(z=3.16)]


def stool() -> list[Part]:
    lacquer = paint("#d0743c", 0.4)
    seat = cylinder(0.95, 0.24, lacquer, bevel=0.08, sides=32).at(z=1.98)
    leg = tube([(0.62, 0, 1.9), (1.0, 0, 0.0)], [0.14, 0.11], lacquer, 12)
    ring = torus(0.84, 0.08, STEEL, 32, 8).at(z=0.72)
    return [seat, *leg.around(4, 45), ring]


def bookcase() -> list[Part]:
    lacquer = paint("#5b8f4c", 0.45)
    sides = box((0.16, 0.9, 3.4), lacquer, 0.03).at(-1.22, 0, 1.7).both_sides()
    shelves = [box((2.32, 0.84, 0.14), lacquer, 0.02).at(0, 0, z) for z in (0.16, 1.18, 2.2)]
    top = box((2.66, 0.98, 0.18), lacquer, 0.04).at(0, 0, 3.44)
    back = box((2.36, 0.06, 3.3), lacquer).at(0, 0.4, 1.72)
    covers = [
        material("cream_book", "#e8dcc0"),
        material("brown_book", "#7a4c33"),
        material("grey_book", "#9aa3ad"),
    ]
    books = []
    for shelf, (z, count) in enumerate(((0.23, 6), (1.25, 8), (2.27, 7))):
        x = -1.08
        for k in range(count):
            width, height = (
                (0.2, 0.26, 0.17, 0.23)[(k + shelf) % 4],
                (0.72, 0.62, 0.78, 0.66, 0.7)[(2 * k + shelf) % 5],
            )
            spine = box((width - 0.02, 0.55, height), covers[(k + 2 * shelf) % 3], 0.02, 1)
            books.append(spine.at(x + width / 2, -0.1, z + height / 2))
            x += width
    return [*sides, *shelves, top, back, *books]


def bathtub() -> list[Part]:
    enamel = paint("#5aa3b5", 0.25)
    foam = material("foam", "#f6f8fa", 0.7)

    def outlines(*radii_and_z: tuple[float, float, float]) -> list[list[Vec3]]:
        return [oval(z, rx, ry, 32, 2.6) for rx, ry, z in radii_and_z]

    outside = outlines((1.0, 0.55, 0.32), (1.25, 0.74, 0.44), (1.5, 0.92, 1.0), (1.62, 1.02, 1.7))
    rim = outlines((1.78, 1.16, 1.68), (1.8, 1.18, 1.76), (1.76, 1.14, 1.84), (1.58, 0.96, 1.82))
    inside = outlines((1.45, 0.86, 1.0), (1.1, 0.5, 0.5))
    tub = loft([*outside, *rim, *inside], enamel)
    water = loft(outlines((1.42, 0.82, 1.2), (1.46, 0.86, 1.42)), foam)
    heap = ((-0.95, 0.1, 0.42), (-0.5, -0.3, 0.36), (-0.1, 0.2, 0.34), (-0.4, 0.42, 0.36))
    bubbles = [sphere((r, r, r * 0.9), foam, 12, 8).at(x, y, 1.5 + r * 0.3) for x, y, r in heap]
    foot = [
        sphere(0.18, BRASS, 12, 8).at(0.95, 0.62, 0.17),
        tube([(0.95, 0.62, 0.17), (0.98, 0.56, 0.55)], [0.13, 0.22], BRASS, 10),
    ]
    feet = [corner for part in foot for side in part.both_sides("x") for corner in side.both_sides("y")]
    spout = spline([(1.68, 0, 1.7), (1.68, 0, 2.3), (1.5, 0, 2.52), (1.22, 0, 2.46), (1.16, 0, 2.2)], 3)
    tap = cylinder(0.11, 0.4, BRASS, sides=12).at(1.7, -0.42, 1.98)
    handle = cylinder(0.06, 0.42, BRASS, sides=8).turned(x=90).at(1.7, -0.42, 2.2)
    taps = [*tap.both_sides("y"), *handle.both_sides("y")]
    return [tub, water, *bubbles, *feet, tube(spout, 0.12, BRASS, 10, up=(0, 1, 0)), *taps]


def piano() -> list[Part]:
    lacquer = paint("#3a2a55", 0.2)
    # Seen from above: the keyboard towards the front, the straight side on the left, the curved one on the right.
    right = spline([(1.5, -0.6), (1.46, 0.1), (1.0, 0.75), (0.55, 1.3), (0.1, 1.75), (-0.55, 1.95)], 3)
    rim = [(-1.5, -0.6), *right, (-1.15, 1.85), (-1.5, 1.4)]
    case = extrude(rim, 0.62, lacquer, 0.05).turned(x=-90).at(z=1.75)
    lid = extrude(rim, 0.09, lacquer, 0.03).turned(x=-90).at(1.5).turned(y=-38).at(-1.5, 0, 2.1)
    bed = box((3.0, 0.75, 0.22), lacquer, 0.04).at(0, -0.92, 1.58)
    cheeks = box((0.16, 0.72, 0.36), lacquer, 0.04).at(-1.42, -0.92, 1.8).both_sides()
    keys = box((0.17, 0.52, 0.1), WHITE, 0.01, 1).at(-1.24, -0.98, 1.73).repeated(15, x=0.177)
    sharps = box((0.1, 0.3, 0.1), BLACK, 0.01, 1).at(-1.15, -0.87, 1.79).repeated(14, x=0.177)
    sharps = [key for k, key in enumerate(sharps) if k % 7 not in (2, 6)]
    prop = tube([(1.3, 0.1, 2.0), (0.62, 0.1, 3.72)], 0.045, PALE_WOOD, 8)
    desk = box((1.5, 0.06, 0.5), lacquer, 0.03).turned(x=-15).at(0, -0.42, 2.3)
    leg = lathe([(0, 0), (0.1, 0), (0.12, 0.1), (0.2, 1.5), (0, 1.5)], lacquer, 14)
    legs = [leg.copy().at(x, y, 0) for x, y in ((-1.3, -0.9), (1.3, -0.9), (-0.8, 1.5))]
    pedals = [
        box((0.5, 0.2, 1.3), lacquer, 0.04).at(0, -0.5, 0.85),
        box((0.6, 0.3, 0.12), BRASS, 0.03).at(0, -0.6, 0.18),
    ]
    return [case, lid, bed, *cheeks, *keys, *sharps, prop, desk, *legs, *pedals]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "chair": chair,
    "table": table,
    "sofa": sofa,
    "bed": bed,
    "lamp": lamp,
    "stool": stool,
    "bookcase": bookcase,
    "bathtub": bathtub,
    "piano": piano,
}
