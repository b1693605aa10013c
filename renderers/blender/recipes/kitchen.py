"""Recipes: things that stand in a kitchen."""

from __future__ import annotations

from collections.abc import Callable

from renderers.blender.recipes.kit import Part, box, capsule, cylinder, extrude, lathe, sphere, torus, tube
from renderers.blender.recipes.materials import BLACK, DARK_STEEL, STEEL, WHITE, material, paint
from renderers.blender.recipes.paths import spline


def mug() -> list[Part]:
    glaze = paint("#c8452f", 0.3)
    profile = [(0, 0), (0.88, 0), (0.98, 0.06), (1, 0.16), (1, 2.1), (0.97, 2.16), (0.91, 2.16), (0.88, 2.1)]
    body = lathe([*profile, (0.88, 0.3), (0.8, 0.2), (0, 0.2)], glaze)
    loop = [(0.9, 0, 1.75), (1.35, 0, 1.8), (1.72, 0, 1.45), (1.65, 0, 0.85), (1.3, 0, 0.45), (0.9, 0, 0.45)]
    return [body, tube(spline(loop), 0.16, glaze, up=(0, 1, 0))]


def teapot() -> list[Part]:
    glaze = paint("#3f7fae", 0.25)
    outside = spline([(0.75, 0.12), (1.25, 0.5), (1.42, 1.0), (1.22, 1.55), (0.72, 1.9)], 3)
    body = lathe([(0, 0), (0.72, 0), (0.78, 0.06), *outside, (0, 1.9)], glaze)
    lid = lathe([(0, 1.85), (0.8, 1.85), (0.82, 1.93), *spline([(0.7, 2.0), (0.4, 2.15), (0, 2.2)], 3)], glaze)
    knob = sphere((0.2, 0.2, 0.18), WHITE, 16, 10).at(z=2.34)
    spout_path = spline([(1.0, 0, 0.65), (1.62, 0, 0.85), (1.8, 0, 1.4), (2.1, 0, 1.9)], 3)
    widths = [0.46 - 0.3 * (i / 9) ** 0.7 for i in range(10)]
    spout = tube(spout_path, widths, glaze, 12, up=(0, 1, 0))
    loop = spline([(-1.2, 0, 1.55), (-1.75, 0, 1.78), (-2.02, 0, 1.2), (-1.75, 0, 0.65), (-1.25, 0, 0.6)], 4)
    band = lathe([(0.755, 0.1), (0.87, 0.2), (0.92, 0.2), (0.8, 0.02), (0.755, 0.02)], WHITE)
    return [body, lid, knob, spout, tube(loop, 0.17, glaze, up=(0, 1, 0)), band]


def bottle() -> list[Part]:
    glass = paint("#2f7d4a", 0.15)
    shoulder = spline([(0.6, 1.75), (0.58, 1.95), (0.32, 2.3), (0.22, 2.55), (0.21, 3.0)], 4)
    body = lathe([(0, 0.05), (0.5, 0), (0.58, 0.06), (0.6, 0.16), *shoulder, (0, 3.0)], glass, 28)
    collar = lathe([(0.2, 2.86), (0.28, 2.88), (0.28, 3.0), (0.2, 3.02)], glass, 24)
    label = lathe([(0.59, 0.55), (0.62, 0.56), (0.62, 1.34), (0.59, 1.35)], WHITE, 28)
    stripe = lathe([(0.61, 0.82), (0.632, 0.83), (0.632, 1.07), (0.61, 1.08)], glass, 28)
    cork = cylinder(0.17, 0.3, material("cork", "#b98a58", 0.8), bevel=0.03, sides=20).at(z=3.12)
    return [body, collar, label, stripe, cork]


def vase() -> list[Part]:
    glaze = paint("#7a5aa6", 0.25)
    outside = [(0.5, 0.1), (0.85, 0.6), (1.05, 1.25), (0.85, 1.95), (0.42, 2.4), (0.38, 2.65), (0.72, 3.05)]
    inside = [(0.64, 3.06), (0.3, 2.65), (0.34, 2.4)]
    body = lathe([(0, 0), (0.52, 0), *spline(outside, 3), *spline(inside, 2), (0, 2.3)], glaze)
    bands = [
        lathe([(r - 0.03, z - 0.06), (r + 0.02, z - 0.06), (r + 0.02, z + 0.06), (r - 0.03, z + 0.06)], WHITE)
        for r, z in ((1.03, 1.05), (1.04, 1.42))
    ]
    return [body, *bands]


def bowl() -> list[Part]:
    glaze = paint("#e0a526", 0.3)
    outside = spline([(0.55, 0.14), (0.95, 0.3), (1.32, 0.72), (1.5, 1.25)], 3)
    inside = spline([(1.4, 1.26), (1.22, 0.78), (0.88, 0.42), (0.4, 0.3)], 3)
    profile = [
        (0, 0.04),
        (0.5, 0.04),
        (0.52, 0),
        (0.6, 0),
        (0.62, 0.06),
        *outside,
        (1.46, 1.3),
        *inside,
        (0, 0.28),
    ]
    return [lathe(profile, glaze, 32)]


def frying_pan() -> list[Part]:
    enamel = paint("#d2533a", 0.35)
    profile = [
        (0, 0),
        (1.05, 0),
        (1.15, 0.05),
        (1.36, 0.5),
        (1.4, 0.53),
        (1.36, 0.55),
        (1.3, 0.53),
        (1.1, 0.12),
    ]
    pan = lathe([*profile, (1.0, 0.08), (0, 0.08)], enamel, 32)
    # Short and steep, so that the pan has the larger share of the bounding box.
    grip_path = spline([(1.22, 0, 0.34), (1.6, 0, 0.62), (2.1, 0, 0.98), (2.5, 0, 1.12)], 3)
    grip = tube(grip_path, [0.15, 0.15, 0.16, *[0.22] * 6, 0.14], BLACK, 12, flatten=0.6).turned(z=12)
    blob = spline(
        [(0.62, 0.05), (0.45, 0.5), (0.0, 0.55), (-0.5, 0.5), (-0.6, 0.0), (-0.35, -0.55), (0.2, -0.5)],
        4,
        closed=True,
    )
    egg = extrude(blob, 0.07, WHITE, 0.03).turned(x=-90).at(-0.05, 0, 0.12)
    yolk = sphere((0.28, 0.28, 0.17), material("yolk", "#f0a818", 0.35), 18, 10).at(-0.08, 0.02, 0.16)
    return [pan, grip, egg, yolk]


def cooking_pot() -> list[Part]:
    enamel = paint("#2f6db5", 0.3)
    body = lathe([(0, 0), (1.15, 0), (1.25, 0.08), (1.28, 0.2), (1.28, 1.45), (0, 1.45)], enamel)
    rim = torus(1.28, 0.06, STEEL).at(z=1.45)
    lid = lathe([(0, 1.46), (1.22, 1.46), (1.22, 1.54), *spline([(1.12, 1.6), (0.7, 1.78), (0, 1.86)], 3)], enamel)
    stalk = cylinder(0.09, 0.2, STEEL, sides=12).at(z=1.93)
    knob = sphere((0.24, 0.24, 0.14), BLACK, 18, 10).at(z=2.1)
    loop = spline([(1.2, -0.42, 1.1), (1.58, -0.4, 1.14), (1.74, 0, 1.16), (1.58, 0.4, 1.14), (1.2, 0.42, 1.1)], 3)
    return [body, rim, lid, stalk, knob, *tube(loop, 0.11, BLACK, 10).both_sides()]


def toaster() -> list[Part]:
    enamel = paint("#49a08c", 0.3)
    outline = [(-1.5, 0.2), (1.5, 0.2), (1.5, 1.35), (1.36, 1.68), (1.05, 1.85), (-1.05, 1.85), (-1.36, 1.68)]
    body = extrude([*outline, (-1.5, 1.35)], 1.5, enamel, 0.14, 3)
    foot = box((2.86, 1.36, 0.24), BLACK, 0.05).at(z=0.13)
    bread = material("bread", "#d99a4e", 0.8)
    crumb = material("crumb", "#f0d29a", 0.85)
    slice_outline = [(-0.8, 0), (0.8, 0), (0.8, 0.75), (0.95, 0.95), (0.9, 1.2), (0.65, 1.32)]
    slice_outline += [(-0.65, 1.32), (-0.9, 1.2), (-0.95, 0.95), (-0.8, 0.75)]
    crust = extrude(slice_outline, 0.26, bread, 0.05).at(z=1.25)
    face = extrude([(x * 0.84, 0.08 + z * 0.86) for x, z in slice_outline], 0.3, crumb, 0.02).at(z=1.25)
    slices = [p.copy().at(y=y) for y in (-0.33, 0.33) for p in (crust, face)]
    slots = [box((2.15, 0.4, 0.06), DARK_STEEL, 0.02).at(0, y, 1.84) for y in (-0.33, 0.33)]
    track = box((0.06, 0.14, 1.0), BLACK).at(1.49, 0, 1.0)
    lever = box((0.28, 0.46, 0.18), BLACK, 0.05).at(1.6, 0, 1.3)
    dial = cylinder(0.2, 0.12, STEEL, bevel=0.03, sides=20).turned(x=90).at(0.95, -0.78, 0.62)
    return [body, foot, *slices, *slots, track, lever, dial]


def kettle() -> list[Part]:
    enamel = paint("#c23b46", 0.25)
    outside = spline([(1.3, 0.2), (1.28, 0.5), (1.08, 1.05), (0.72, 1.5), (0.5, 1.62)], 3)
    body = lathe([(0, 0.1), (1.24, 0.1), *outside, (0, 1.62)], enamel)
    base = lathe([(0, 0), (1.22, 0), (1.3, 0.06), (1.32, 0.18), (1.2, 0.2), (0, 0.2)], STEEL)
    lid = lathe([(0, 1.55), (0.5, 1.6), (0.52, 1.68), (0.4, 1.76), (0, 1.8)], STEEL, 24)
    knob = sphere((0.17, 0.17, 0.16), BLACK, 16, 10).at(z=1.92)
    spout = tube([(0.8, 0, 0.75), (1.3, 0, 1.15), (1.72, 0, 1.55)], [0.36, 0.25, 0.17], enamel, 16, up=(0, 1, 0))
    tip = capsule(0.2, 0.46, BLACK, 14).turned(y=46).at(1.74, 0, 1.57)
    arch = spline(
        [(-0.98, 0, 1.1), (-1.08, 0, 1.75), (-0.7, 0, 2.42), (0, 0, 2.62), (0.7, 0, 2.42), (0.92, 0, 1.35)], 4
    )
    frame = tube(arch, 0.09, STEEL, 10, up=(0, 1, 0), flatten=1.6)
    grip = tube(arch[6:16], 0.17, BLACK, 12, up=(0, 1, 0))
    return [body, base, lid, knob, spout, tip, frame, grip]


def refrigerator() -> list[Part]:
    enamel = paint("#7fb8c9", 0.3)
    cabinet = box((1.9, 1.5, 3.5), enamel, 0.22, 3).at(z=1.95)
    upper = box((1.86, 0.3, 1.1), enamel, 0.14, 3).at(0, -0.78, 3.08)
    lower = box((1.86, 0.3, 2.12), enamel, 0.14, 3).at(0, -0.78, 1.42)
    plinth = box((1.7, 1.4, 0.3), BLACK, 0.03).at(0, 0.04, 0.2)
    handles = []
    for z, h in ((2.95, 0.32), (1.9, 0.46)):
        bow = [(-0.66, -0.9, z - h), (-0.66, -1.1, z - 0.7 * h), (-0.66, -1.1, z + 0.7 * h), (-0.66, -0.9, z + h)]
        handles.append(tube(spline(bow, 3), 0.075, STEEL, 8))
    badge = box((0.46, 0.05, 0.12), STEEL, 0.02).at(0.45, -0.94, 3.35)
    feet = [cylinder(0.1, 0.2, BLACK, sides=10).at(x, y, 0.06) for x in (-0.7, 0.7) for y in (-0.5, 0.5)]
    return [cabinet, upper, lower, plinth, *handles, badge, *feet]


RECIPES: dict[str, Callable[[], list[Part]]] = {
    "mug": mug,
    "teapot": teapot,
    "bottle": bottle,
    "vase": vase,
    "bowl": bowl,
    "frying pan": frying_pan,
    "cooking pot": cooking_pot,
    "toaster": toaster,
    "kettle": kettle,
    "refrigerator": refrigerator,
}
