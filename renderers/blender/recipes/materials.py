"""The materials of the bundled library: `paint`, which a scene recolours, and realistic secondary ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

PAINT = "paint"


@dataclass(frozen=True)
class Material:
    """A flat Principled material. `colour` is sRGB in 0..1; `roughness` and `metallic` are in 0..1."""

    name: str
    colour: tuple[float, float, float]
    roughness: float = 0.5
    metallic: float = 0.0

    def linear(self) -> tuple[float, float, float]:
        """The colour in linear light, which is what Principled and glTF take, rounded to 5 decimals."""
        red, green, blue = (round(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4, 5) for c in self.colour)
        return red, green, blue


def material(name: str, colour: str, roughness: float = 0.5, metallic: float = 0.0) -> Material:
    """A material of that name from an sRGB hex colour such as `#c8452f`."""
    assert re.fullmatch("#[0-9a-f]{6}", colour), f"not a hex colour: {colour!r}"
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return Material(name, (red, green, blue), roughness, metallic)


def paint(colour: str, roughness: float = 0.45) -> Material:
    """The main colour of an object: the one that a scene replaces."""
    return material(PAINT, colour, roughness)


# Metals are only half metallic: a full metal mirrors the surroundings, and there is little to mirror in a
# plain studio, so it would turn black.
STEEL = material("steel", "#b9bec4", 0.35, 0.5)
DARK_STEEL = material("dark_steel", "#4b4f55", 0.4, 0.4)
GOLD = material("gold", "#d8a93a", 0.35, 0.5)
BRASS = material("brass", "#b8923f", 0.35, 0.5)
WOOD = material("wood", "#a06a3c", 0.6)
DARK_WOOD = material("dark_wood", "#6b4226", 0.6)
PALE_WOOD = material("pale_wood", "#d9b483", 0.6)
RUBBER = material("rubber", "#1f2023", 0.8)
BLACK = material("black", "#17181a", 0.5)
WHITE = material("white", "#f1efe9", 0.5)
GREY = material("grey", "#85898e", 0.6)
DARK_GLASS = material("dark_glass", "#20262e", 0.1)
LEAF = material("leaf", "#4e8a38", 0.6)
STEM = material("stem", "#6f4a2a", 0.7)
PINK = material("pink", "#e79aa6", 0.6)
RIBBON = material("ribbon", "#f4efe6", 0.35)
HEADLIGHT = material("headlight", "#fff2cc", 0.25)
