"""Recipes: vehicles of the road and the field. Noses point to -X and a little towards the camera."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from renderers.blender.recipes.kit import Part, block, cylinder, lathe, loft, paired, slab, sphere, torus, tube, turned
from renderers.blender.recipes.materials import (
    BLACK,
    DARK_GLASS,
    DARK_STEEL,
    GREY,
    HEADLIGHT,
    RUBBER,
    STEEL,
    WHITE,
    Material,
    paint,
)
from renderers.blender.recipes.paths import Vec2, Vec3, arc, spline, star

# How far the noses are turned towards the camera.
TURN_DEG = 28.0


def car() -> list[Part]:
    coat = paint("#c5352b", 0.3)
    arches = [point for x in (-1.3, 1.32) for point in arc(0.54, 182, -2, 8, x=x, z=0.46)]
    upper = [(2.2, 0.62), (2.14, 1.08), (1.9, 1.22), (0.0, 1.24), (-1.0, 1.22), (-1.9, 1.06), (-2.14, 0.9), (-2.2, 0.6)]
    body = slab([(-2.12, 0.36), *arches, (2.12, 0.36), *upper], 1.9, coat, 0.07)

    def taper(p: Vec3) -> Vec3:
        return p[0], p[1] * (1 - 0.22 * max(0.0, p[2] - 1.15) / 0.66), p[2]

    cabin = slab([(-1.05, 1.15), (-0.45, 1.82), (0.95, 1.82), (1.65, 1.15)], 1.7, DARK_GLASS, 0.05)
    roof = slab([(-0.53, 1.74), (-0.36, 1.9), (0.85, 1.9), (1.08, 1.74)], 1.76, coat, 0.06)
    middle = slab([(0.2, 1.15), (0.2, 1.8), (0.38, 1.8), (0.38, 1.15)], 1.74, coat)
    rear = slab([(1.72, 1.15), (1.0, 1.83), (0.75, 1.83), (1.18, 1.15)], 1.74, coat)
    post = tube([(-1.07, -0.83, 1.18), (-0.46, -0.66, 1.8)], 0.06, coat, sides=6)
    house = [part.bent(taper) for part in (cabin, roof, middle, rear)]
    rear_window = block((0.05, 1.1, 0.42), DARK_GLASS).turned(y=-46.6).at(1.38, 0, 1.5)
    chassis = block((3.7, 1.5, 0.45), BLACK).at(z=0.6)
    lamps = sphere((0.1, 0.2, 0.16), HEADLIGHT, 10, 6).at(-2.12, -0.6, 0.8).both_sides("y")
    bumpers = [block((0.2, 1.8, 0.2), GREY, 0.05).at(x, 0, 0.46) for x in (-2.16, 2.16)]
    handle = block((0.22, 0.04, 0.06), STEEL).at(0.62, -0.955, 1.02).both_sides("y")
    wheels = _wheels([(-1.3, 0.46), (1.32, 0.46)], y=0.8, width=0.34)
    return turned(
        [body, *house, *post.both_sides("y"), rear_window, chassis, *lamps, *bumpers, *handle, *wheels], TURN_DEG
    )


def truck() -> list[Part]:
    coat = paint("#2f6db3", 0.35)
    box_part = block((2.9, 1.75, 2.0), coat, 0.07).at(0.95, 0, 1.75)
    ribs = block((0.07, 1.83, 1.84), coat).at(-0.1, 0, 1.75).repeated(4, x=0.7)
    nose = [(-2.3, 0.5), (-2.34, 1.2), (-2.08, 2.08), (-1.9, 2.2), (-0.82, 2.2), (-0.76, 0.5)]
    cab = slab(nose, 1.6, coat, 0.09)
    side_window = [(-2.0, 1.3), (-1.8, 1.98), (-1.2, 1.98), (-1.2, 1.3)]
    windows = slab(side_window, 1.64, DARK_GLASS)
    shield = block((0.06, 1.36, 0.74), DARK_GLASS, 0.02).turned(y=16.5).at(-2.2, 0, 1.64)
    grille = block((0.08, 0.9, 0.36), BLACK, 0.02).at(-2.33, 0, 0.92)
    bars = block((0.1, 0.86, 0.06), STEEL).at(-2.34, 0, 0.84).repeated(2, z=0.15)
    lamps = sphere((0.08, 0.14, 0.14), HEADLIGHT, 10, 6).at(-2.33, -0.6, 0.92).both_sides("y")
    bumper = block((0.26, 1.72, 0.26), GREY, 0.07).at(-2.3, 0, 0.52)
    chassis = block((4.4, 1.0, 0.3), BLACK).at(0.1, 0, 0.6)
    mirror = block((0.1, 0.2, 0.42), BLACK, 0.03).at(-1.98, -0.98, 1.6).both_sides("y")
    stack = cylinder(0.09, 2.2, STEEL, sides=10).at(-0.64, -0.66, 1.75).both_sides("y")
    guards = block((1.9, 1.72, 0.12), DARK_STEEL, 0.02).at(1.35, 0, 0.7)
    wheels = _wheels([(-1.55, 0.5), (0.85, 0.5), (1.85, 0.5)], y=0.68, width=0.4)
    return turned(
        [box_part, *ribs, cab, windows, shield, grille, *bars, *lamps, bumper, chassis, *mirror, *stack,
         guards, *wheels], TURN_DEG)  # fmt: skip


def bus() -> list[Part]:
    coat = paint("#e3a51a", 0.35)
    outline = [
        (-2.4, 0.36), *arc(0.5, 184, -4, 8, x=-1.45, z=0.44), *arc(0.5, 184, -4, 8, x=1.5, z=0.44),
        (2.4, 0.36), *spline([(2.45, 0.6), (2.42, 2.1), (2.2, 2.36), (-2.05, 2.36), (-2.36, 2.1), (-2.48, 0.9),
                              (-2.46, 0.5)], 2),
    ]  # fmt: skip
    body = slab(outline, 1.7, coat, 0.13)
    panes = [block((0.58, 1.74, 0.6), DARK_GLASS).at(x, 0, 1.62) for x in (-0.92, -0.2, 0.52, 1.24, 1.96)]
    door = block((0.56, 0.06, 1.0), DARK_GLASS).at(-1.72, -0.85, 1.47)
    door_bar = block((0.05, 0.08, 1.6), coat).at(-1.72, -0.86, 1.18)
    far_pane = block((0.6, 0.06, 0.66), DARK_GLASS, 0.02).at(-1.7, 0.85, 1.62)
    shield = block((0.1, 1.44, 0.95), DARK_GLASS, 0.04).turned(y=5.5).at(-2.4, 0, 1.56)
    sign = block((0.1, 1.0, 0.16), WHITE, 0.03).turned(y=30).at(-2.27, 0, 2.2)
    rear_pane = block((0.1, 1.2, 0.6), DARK_GLASS, 0.04).at(2.42, 0, 1.65)
    lamps = sphere((0.08, 0.16, 0.13), HEADLIGHT, 10, 6).at(-2.46, -0.58, 0.76).both_sides("y")
    stripe = block((3.7, 1.74, 0.09), WHITE).at(0.53, 0, 1.1)
    bumpers = [block((0.16, 1.6, 0.2), BLACK, 0.05).at(x, 0, 0.46) for x in (-2.46, 2.44)]
    mirror = tube([(-2.3, -0.8, 1.9), (-2.6, -0.98, 1.9), (-2.62, -1.0, 1.6)], 0.05, BLACK, 6).both_sides("y")
    chassis = block((4.2, 1.4, 0.5), BLACK).at(z=0.62)
    wheels = _wheels([(-1.45, 0.44), (1.5, 0.44)], y=0.7, width=0.34)
    return turned(
        [body, *panes, door, door_bar, far_pane, shield, sign, rear_pane, *lamps, stripe, *bumpers, *mirror,
         chassis, *wheels], TURN_DEG)  # fmt: skip


def bicycle() -> list[Part]:
    coat = paint("#3a9a57", 0.3)
    rear, front, crank, seat, head, fork = (
        (1.12, 0.78),
        (-1.15, 0.78),
        (0.22, 0.66),
        (0.5, 1.5),
        (-0.7, 1.52),
        (-0.78, 1.26),
    )

    def bar(a: Vec2, b: Vec2, radius: float, y: float = 0.0, y_end: float | None = None) -> Part:
        return tube([(a[0], y, a[1]), (b[0], y if y_end is None else y_end, b[1])], radius, coat, 10)

    frame = [bar(crank, seat, 0.13), bar(crank, fork, 0.16), bar(seat, head, 0.13), bar(fork, head, 0.17)]
    stays = [
        bar(crank, rear, 0.085, -0.15, -0.17),
        bar(seat, rear, 0.08, -0.08, -0.17),
        bar(fork, front, 0.1, -0.15, -0.17),
    ]
    wheels: list[Part] = []
    for x in (rear[0], front[0]):
        tyre = torus(0.73, 0.07, RUBBER, 26, 6)
        rim = torus(0.61, 0.12, coat, 26, 6)
        hub = cylinder(0.09, 0.3, STEEL, sides=10)
        spokes = tube([(0, 0, 0), (0.58, 0, 0)], 0.018, STEEL, 3).around(8)
        wheels += [part.turned(x=90).at(x, 0, 0.79) for part in (tyre, rim, hub, *spokes)]
    joints = [sphere(0.15, coat, 12, 8).at(crank[0], 0, crank[1])]
    post = tube([(seat[0], 0, seat[1]), (0.58, 0, 1.74)], 0.06, STEEL, 8)
    spans = ((0.16, 0.03), (0.25, 0.08), (0.55, 0.13), (0.82, 0.24), (0.95, 0.2), (0.98, 0.08))
    ribs = [[(x, wide * c, 1.8 + 0.09 * s) for c, s in arc(1, 0, 330, 12)] for x, wide in spans]
    saddle = loft(ribs, BLACK).creased(180)
    stem = tube([(head[0], 0, head[1]), (-0.66, 0, 1.72), (-0.82, 0, 1.8)], 0.08, coat, 8)
    half = spline([(-0.82, 0, 1.8), (-0.84, -0.25, 1.82), (-0.66, -0.48, 1.88), (-0.42, -0.54, 1.86)], 4)
    handlebar = tube(half, 0.06, coat, 8).both_sides("y")
    grip = tube([(-0.5, -0.53, 1.865), (-0.28, -0.55, 1.84)], 0.085, BLACK, 10).both_sides("y")
    ring = cylinder(0.25, 0.05, coat, sides=18).turned(x=90).at(crank[0], -0.17, crank[1])
    arms = [
        tube([(0.22, -0.22, 0.66), (-0.02, -0.24, 0.3)], 0.04, STEEL, 8),
        tube([(0.22, 0.22, 0.66), (0.46, 0.24, 1.02)], 0.04, STEEL, 8),
    ]
    pedals = [
        block((0.3, 0.24, 0.08), BLACK, 0.02).at(-0.02, -0.36, 0.3),
        block((0.3, 0.24, 0.08), BLACK, 0.02).at(0.46, 0.36, 1.02),
    ]
    twins = paired("y", *stays)
    return turned([*frame, *twins, *wheels, *joints, post, saddle, stem, *handlebar, *grip, ring, *arms, *pedals], 15)


def tractor() -> list[Part]:
    coat = paint("#c43a2c", 0.35)
    hood_line = [(-1.75, 0.75), (-1.8, 1.55), (-1.6, 1.72), (0.3, 1.82), (0.3, 0.75)]
    hood = slab(hood_line, 0.94, coat, 0.1)
    grille = block((0.08, 0.6, 0.62), BLACK, 0.02).at(-1.79, 0, 1.12)
    lamps = sphere((0.08, 0.13, 0.13), HEADLIGHT, 10, 6).at(-1.75, -0.26, 1.58).both_sides("y")
    vents = block((0.9, 0.98, 0.05), BLACK).at(-0.95, 0, 1.2).repeated(3, z=0.13)
    frame = block((2.9, 0.6, 0.4), DARK_STEEL, 0.04).at(-0.1, 0, 0.72)
    cabin = slab([(0.17, 1.4), (0.3, 2.6), (1.4, 2.6), (1.58, 1.4)], 1.04, DARK_GLASS)
    base = block((1.5, 1.14, 1.05), coat, 0.06).at(0.9, 0, 1.32)
    roof = block((1.5, 1.36, 0.2), coat, 0.07).at(0.85, 0, 2.68)
    posts = [
        tube([(x, -0.55, 1.3), (top, -0.55, 2.6)], 0.09, coat, 8)
        for x, top in ((0.14, 0.29), (0.85, 0.85), (1.6, 1.41))
    ]
    outer, inner = arc(1.16, 10, 170, 13, x=1.05, z=0.95), arc(1.04, 170, 10, 13, x=1.05, z=0.95)
    fender = slab([*outer, *inner], 0.6, coat, 0.03).at(y=-0.82)
    exhaust = [
        cylinder(0.07, 1.0, DARK_STEEL, sides=10).at(-0.75, 0, 2.2),
        cylinder(0.12, 0.5, BLACK, sides=12).at(-0.75, 0, 2.15),
    ]
    axle = cylinder(0.1, 1.4, DARK_STEEL, sides=8).turned(x=90).at(-1.3, 0, 0.52)
    wheels = []
    for side in (-1, 1):
        wheels += _wheel(1.05, side * 0.82, 0.95, 0.5, 24, coat, 0.74)
        wheels += _wheel(-1.3, side * 0.66, 0.54, 0.34, 18, coat, 0.72)
    treads = slab(star(1.02, 0.93, 18), 0.42, RUBBER).at(1.05, -0.82, 0.98).both_sides("y")
    twins = paired("y", *posts, fender)
    return turned(
        [hood, grille, *lamps, *vents, frame, cabin, base, roof, *twins, *exhaust, axle, *wheels, *treads], TURN_DEG
    )


def _wheels(axles: Sequence[Vec2], y: float, width: float) -> list[Part]:
    """Road wheels at both ends of each axle, given as (x, radius)."""
    return [part for x, r in axles for side in (-y, y) for part in _wheel(x, side, r, width)]


def _wheel(
    x: float, y: float, radius: float, width: float, sides: int = 18, hub: Material = STEEL, share: float = 0.62
) -> list[Part]:
    """A wheel that stands on the ground at (x, y) and rolls along X; its hub cap, `share` of it, is outside."""
    r, w, rim = radius, width, share * radius
    tyre = [
        (0, -0.4 * w),
        (0.86 * r, -0.5 * w),
        (r, -0.26 * w),
        (r, 0.26 * w),
        (0.86 * r, 0.5 * w),
        (0.9 * rim, 0.5 * w),
    ]
    cap = [(rim, 0.42 * w), (0.97 * rim, 0.53 * w), (0.3 * r, 0.4 * w), (0.22 * r, 0.54 * w), (0, 0.54 * w)]
    turn = 90.0 if y <= 0 else -90.0
    return [lathe(p, m, sides).turned(x=turn).at(x, y, r) for p, m in ((tyre, RUBBER), (cap, hub))]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "bicycle": bicycle,
    "bus": bus,
    "car": car,
    "tractor": tractor,
    "truck": truck,
}
