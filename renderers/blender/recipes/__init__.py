"""Recipes of the bundled asset library: one function per noun that models it with `kit`.

`recipes()` is the registry. Each theme module holds an explicit dict `RECIPES` of noun -> function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from renderers.blender.recipes.kit import Part

THEMES = (
    "kitchen",
    "food",
    "furniture",
    "household",
    "wear",
    "yard",
    "vehicles",
    "craft",
    "animals",
    "water_animals",
    "tools_toys",
    "outdoor",
    "buildings",
)


@dataclass(frozen=True)
class Recipe:
    """How to model one noun: `model()` returns its parts; `theme` is the module that it lives in."""

    noun: str
    theme: str
    model: Callable[[], list[Part]]

    @property
    def file(self) -> str:
        """Name of its GLB in the library folder."""
        return f"{self.noun.replace(' ', '_')}.glb"


def recipes() -> dict[str, Recipe]:
    """Every recipe by noun, in alphabetical order. Imports the theme modules, and with them bpy."""
    found: dict[str, Recipe] = {}
    for theme in THEMES:
        for noun, model in import_module(f"{__name__}.{theme}").RECIPES.items():
            assert noun not in found, f"two recipes for {noun!r}: {found[noun].theme} and {theme}"
            found[noun] = Recipe(noun, theme, model)
    return dict(sorted(found.items()))
