"""Places for the objects to stand in: a wall behind them, the ground, and what furniture is made of.

The bundled ones are painted by this package from nothing but seeded noise, so they carry no licence but ours;
a folder of the user's images gives walls made of photographs. Both twins of a pair share one background.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from generator.backgrounds import photos, rooms, textures
from generator.backgrounds.photos import Skipped
from generator.rng import unit
from generator.specs import Rgb, SurfaceSpec

__all__ = ["Background", "Skipped", "bundled", "from_folder"]


@dataclass(frozen=True)
class Background:
    """One place. fill_rgb: tint of the light from all around, sRGB, its largest component 1."""

    id: str
    kind: Literal["indoor", "outdoor", "photo"]
    wall: SurfaceSpec
    floor: SurfaceSpec
    furniture: SurfaceSpec
    fill_rgb: Rgb


def bundled(cache: Path) -> tuple[Background, ...]:
    """The bundled places, sorted by id.

    Their textures are painted into `cache` once, always with the same bytes (about 5 s and 20 MB).
    Raises OutputError where the cache cannot be written.
    """
    paths = textures.write_textures(cache)
    kinds: tuple[tuple[Literal["indoor", "outdoor"], tuple[rooms.Row, ...]], ...] = (
        ("indoor", rooms.INDOOR),
        ("outdoor", rooms.OUTDOOR),
    )
    places = [
        Background(name, kind, _surface(wall, paths), _surface(floor, paths), _surface(furniture, paths), fill)
        for kind, rows in kinds
        for name, wall, floor, furniture, fill in rows
    ]
    return tuple(sorted(places, key=lambda place: place.id))


def from_folder(folder: Path, cache: Path) -> tuple[tuple[Background, ...], tuple[Skipped, ...]]:
    """One place for each image below `folder`, sorted by id, and the files that could not be used.

    The image stands behind the objects; floor and furniture are a bundled place's, chosen by the file's hash.
    Identical files count once. Raises BackgroundError where the folder is missing or has no usable image.
    """
    found, skipped = photos.find(folder, cache)
    rest = bundled(cache)
    places = []
    for photo in found:
        other = rest[int(unit(0, "background", photo.sha256) * len(rest))]
        wall = SurfaceSpec((1.0, 1.0, 1.0), roughness=1.0, texture=str(photo.path), projection="camera", lit=False)
        name = f"photo_{photo.sha256[:16]}"
        places.append(Background(name, "photo", wall, other.floor, other.furniture, _ambient(photo.mean_rgb)))
    return tuple(sorted(places, key=lambda place: place.id)), tuple(skipped)


def _surface(look: rooms.Look, paths: dict[str, Path]) -> SurfaceSpec:
    texture, rgb, tile_m, roughness = look
    view = texture.startswith(("view_", "studio_"))
    return SurfaceSpec(rgb, roughness, str(paths[texture]), tile_m, "camera" if view else "tile", lit=not view)


def _ambient(mean: Rgb) -> Rgb:
    """A photograph's light on the objects: its mean colour, washed out so that it tints none of them."""
    top = max(*mean, 1e-3)
    tint = tuple(0.85 + 0.15 * channel / top for channel in mean)
    return (tint[0], tint[1], tint[2])
