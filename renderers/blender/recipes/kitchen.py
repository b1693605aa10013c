"""Recipes: things that stand in a kitchen."""

from __future__ import annotations

from collections.abc import Callable

from renderers.blender.recipes.kit import Part, lathe, spline, tube
from renderers.blender.recipes.materials import paint


def mug() -> list[Part]:
    glaze = paint("#c8452f", 0.3)
    profile = [(0, 0), (0.88, 0), (0.98, 0.06), (1, 0.16), (1, 2.1), (0.97, 2.16), (0.91, 2.16), (0.88, 2.1)]
    body = lathe([*profile, (0.88, 0.3), (0.8, 0.2), (0, 0.2)], glaze)
    loop = spline(
        [(0.9, 0, 1.75), (1.35, 0, 1.8), (1.72, 0, 1.45), (1.65, 0, 0.85), (1.3, 0, 0.45), (0.9, 0, 0.45)]
    )
    return [body, tube(loop, 0.16, glaze, up=(0, 1, 0))]


RECIPES: dict[str, Callable[[], list[Part]]] = {"mug": mug}
