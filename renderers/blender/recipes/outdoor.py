"""Recipes: outdoor."""

from __future__ import annotations

from collections.abc import Callable

from renderers.blender.recipes.kit import Part

RECIPES: dict[str, Callable[[], list[Part]]] = {}
