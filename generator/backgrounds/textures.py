"""Every bundled texture by name, and the cache of PNG files they are painted into, once."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image as Pil

from generator.backgrounds import indoor, outdoor
from generator.backgrounds.noise import Image
from generator.errors import OutputError
from generator.rng import stream
from generator.specs import Rgb

# Part of the cache directory's name: raise it whenever a texture changes, so that no run mixes old ones with new ones.
VERSION = 1

Painter = Callable[[np.random.Generator], Image]

OAK = ((0.45, 0.34, 0.24), (0.70, 0.57, 0.42))
ASH = ((0.60, 0.53, 0.44), (0.80, 0.73, 0.63))
WALNUT = ((0.27, 0.20, 0.15), (0.47, 0.36, 0.28))
GREYED = ((0.42, 0.40, 0.37), (0.62, 0.59, 0.55))
LIMED = ((0.66, 0.63, 0.59), (0.82, 0.80, 0.76))


def _deck(rng: np.random.Generator) -> Image:
    return outdoor.deck(rng, indoor.planks(rng, *GREYED, rows=9, per_row=1, variety=0.15), rows=9)


def _sky(rng: np.random.Generator, cover: float, warm: bool = False) -> Image:
    if warm:
        return outdoor.sky(rng, (0.58, 0.64, 0.73), (0.86, 0.80, 0.73), cover)
    return outdoor.sky(rng, (0.50, 0.63, 0.77), (0.80, 0.84, 0.87), cover)


def _hills(rng: np.random.Generator, near: Rgb, haze: Rgb, cover: float, warm: bool = False) -> Image:
    return outdoor.hills(rng, _sky(rng, cover, warm), near, haze, ridges=4, skyline=0.20)


def _trees(rng: np.random.Generator, leaf: Rgb, light: Rgb, cover: float) -> Image:
    return outdoor.trees(rng, _sky(rng, cover), leaf, light, skyline=0.16)


TEXTURES: dict[str, Painter] = {
    # Wood
    "planks_oak": partial(indoor.planks, dark=OAK[0], light=OAK[1], rows=12, per_row=1, variety=0.16),
    "planks_ash": partial(indoor.planks, dark=ASH[0], light=ASH[1], rows=11, per_row=1, variety=0.14),
    "planks_walnut": partial(indoor.planks, dark=WALNUT[0], light=WALNUT[1], rows=12, per_row=1, variety=0.18),
    "planks_grey": partial(indoor.planks, dark=GREYED[0], light=GREYED[1], rows=10, per_row=1, variety=0.14),
    "planks_limed": partial(indoor.planks, dark=LIMED[0], light=LIMED[1], rows=9, per_row=1, variety=0.12),
    "parquet_oak": partial(indoor.parquet, dark=OAK[0], light=OAK[1], blocks=6, strips=5),
    "parquet_ash": partial(indoor.parquet, dark=ASH[0], light=ASH[1], blocks=8, strips=4),
    "board_oak": partial(indoor.board, dark=(0.48, 0.37, 0.27), light=(0.70, 0.58, 0.44)),
    "board_ash": partial(indoor.board, dark=ASH[0], light=ASH[1]),
    "board_walnut": partial(indoor.board, dark=WALNUT[0], light=WALNUT[1]),
    "board_painted": partial(indoor.board, dark=(0.84, 0.84, 0.84), light=(0.92, 0.92, 0.92)),
    "slats_ash": partial(indoor.slats, dark=ASH[0], light=ASH[1], count=14),
    "slats_walnut": partial(indoor.slats, dark=WALNUT[0], light=WALNUT[1], count=16),
    # Stone and tiles
    "tiles_white": partial(
        indoor.tiles, glaze=(0.84, 0.84, 0.82), grout=(0.64, 0.63, 0.60), rows=8, per_row=8, shift=0.0
    ),
    "tiles_metro": partial(
        indoor.tiles, glaze=(0.82, 0.83, 0.82), grout=(0.62, 0.62, 0.60), rows=14, per_row=7, shift=0.5
    ),
    "tiles_sage": partial(
        indoor.tiles, glaze=(0.62, 0.67, 0.62), grout=(0.76, 0.76, 0.73), rows=12, per_row=6, shift=0.5
    ),
    "tiles_blue": partial(
        indoor.tiles, glaze=(0.58, 0.65, 0.70), grout=(0.78, 0.79, 0.79), rows=10, per_row=10, shift=0.0
    ),
    "tiles_stone": partial(
        indoor.tiles, glaze=(0.62, 0.59, 0.55), grout=(0.47, 0.45, 0.42), rows=4, per_row=4, shift=0.0
    ),
    "tiles_terracotta": partial(
        indoor.tiles, glaze=(0.66, 0.51, 0.43), grout=(0.70, 0.65, 0.58), rows=6, per_row=6, shift=0.0
    ),
    "checker_grey": partial(indoor.checker, one=(0.56, 0.56, 0.55), other=(0.73, 0.72, 0.70), across=6),
    "terrazzo_warm": partial(
        indoor.terrazzo,
        ground=(0.76, 0.73, 0.69),
        chips=((0.60, 0.50, 0.43), (0.52, 0.52, 0.51), (0.68, 0.60, 0.50), (0.85, 0.83, 0.79)),
    ),
    "terrazzo_grey": partial(
        indoor.terrazzo,
        ground=(0.60, 0.61, 0.61),
        chips=((0.42, 0.43, 0.44), (0.76, 0.76, 0.74), (0.52, 0.49, 0.46)),
    ),
    "marble_white": partial(indoor.marble, ground=(0.82, 0.81, 0.79), vein=(0.52, 0.52, 0.54), slabs=0),
    "marble_tiles": partial(indoor.marble, ground=(0.78, 0.75, 0.70), vein=(0.56, 0.49, 0.42), slabs=3),
    "travertine": partial(indoor.marble, ground=(0.74, 0.68, 0.59), vein=(0.56, 0.48, 0.39), slabs=0),
    "slate": partial(indoor.concrete, tone=(0.40, 0.43, 0.46), panels=0),
    "marble_grey": partial(indoor.marble, ground=(0.50, 0.51, 0.52), vein=(0.74, 0.74, 0.73), slabs=0),
    "concrete": partial(indoor.concrete, tone=(0.62, 0.61, 0.59), panels=0),
    "concrete_panels": partial(indoor.concrete, tone=(0.66, 0.65, 0.64), panels=2),
    "concrete_dark": partial(indoor.concrete, tone=(0.44, 0.44, 0.44), panels=0),
    # Soft floors
    "carpet_beige": partial(indoor.carpet, dark=(0.56, 0.50, 0.43), light=(0.74, 0.68, 0.60)),
    "carpet_grey": partial(indoor.carpet, dark=(0.42, 0.43, 0.45), light=(0.58, 0.59, 0.61)),
    "carpet_blue": partial(indoor.carpet, dark=(0.34, 0.39, 0.46), light=(0.48, 0.53, 0.60)),
    "carpet_moss": partial(indoor.carpet, dark=(0.40, 0.42, 0.35), light=(0.55, 0.57, 0.49)),
    "rug_diamond": partial(indoor.rug, ground=(0.76, 0.72, 0.65), line=(0.52, 0.49, 0.46), across=6),
    "linoleum_green": partial(indoor.linoleum, dark=(0.50, 0.55, 0.50), light=(0.66, 0.70, 0.64)),
    "linoleum_sand": partial(indoor.linoleum, dark=(0.60, 0.55, 0.47), light=(0.76, 0.71, 0.63)),
    # Wall coverings
    "plaster": partial(indoor.plaster, rough=0.15),
    "plaster_rustic": partial(indoor.plaster, rough=1.0),
    "wainscot": partial(indoor.wainscot, across=2),
    "beadboard": partial(indoor.beadboard, count=14),
    "brick_red": partial(
        indoor.bricks,
        palette=((0.46, 0.33, 0.28), (0.60, 0.43, 0.36), (0.66, 0.50, 0.42)),
        mortar=(0.66, 0.63, 0.58),
        rows=16,
        per_row=5,
    ),
    "brick_white": partial(
        indoor.bricks,
        palette=((0.74, 0.73, 0.70), (0.82, 0.81, 0.78)),
        mortar=(0.70, 0.69, 0.66),
        rows=16,
        per_row=5,
    ),
    "brick_sand": partial(
        indoor.bricks,
        palette=((0.58, 0.52, 0.43), (0.74, 0.67, 0.56)),
        mortar=(0.60, 0.57, 0.52),
        rows=14,
        per_row=5,
    ),
    "stripes_grey": partial(indoor.stripes, one=(0.76, 0.75, 0.73), other=(0.67, 0.67, 0.67), count=8, share=0.5),
    "stripes_blue": partial(indoor.stripes, one=(0.80, 0.80, 0.78), other=(0.64, 0.69, 0.74), count=10, share=0.35),
    "dots_cream": partial(indoor.dots, ground=(0.78, 0.74, 0.67), dot=(0.66, 0.60, 0.52), across=10, radius=0.13),
    "dots_slate": partial(indoor.dots, ground=(0.48, 0.52, 0.57), dot=(0.70, 0.72, 0.74), across=12, radius=0.10),
    "damask_sand": partial(indoor.damask, ground=(0.74, 0.69, 0.61), figure=(0.65, 0.59, 0.51), across=4),
    "damask_slate": partial(indoor.damask, ground=(0.46, 0.50, 0.54), figure=(0.55, 0.59, 0.62), across=4),
    "leaves_sage": partial(indoor.leaves, ground=(0.77, 0.77, 0.72), leaf=(0.58, 0.63, 0.55), across=5),
    "cork": indoor.cork,
    "chalkboard_green": partial(indoor.chalkboard, tone=(0.24, 0.31, 0.28)),
    "chalkboard_grey": partial(indoor.chalkboard, tone=(0.27, 0.28, 0.30)),
    "felt": partial(indoor.felt, tone=(0.90, 0.90, 0.90)),
    "weave": partial(indoor.weave, tone=(0.90, 0.90, 0.90), threads=64),
    # Ground outside
    "grass": partial(outdoor.grass, dark=(0.24, 0.31, 0.17), light=(0.55, 0.62, 0.38), blades=9000),
    "grass_dry": partial(outdoor.grass, dark=(0.38, 0.36, 0.23), light=(0.70, 0.66, 0.46), blades=8000),
    "sand": partial(outdoor.sand, tone=(0.76, 0.69, 0.57), ripples=0.0),
    "sand_ripples": partial(outdoor.sand, tone=(0.72, 0.65, 0.54), ripples=1.0),
    "gravel": partial(outdoor.gravel, palette=((0.44, 0.42, 0.40), (0.62, 0.60, 0.57), (0.76, 0.73, 0.68)), across=30),
    "gravel_warm": partial(
        outdoor.gravel, palette=((0.50, 0.43, 0.36), (0.68, 0.60, 0.50), (0.80, 0.75, 0.67)), across=40
    ),
    "paving": partial(
        outdoor.paving,
        palette=((0.52, 0.51, 0.49), (0.66, 0.63, 0.59), (0.60, 0.55, 0.49)),
        rows=5,
        per_row=3,
        shift=0.5,
    ),
    "paving_sandstone": partial(
        outdoor.paving,
        palette=((0.64, 0.57, 0.46), (0.74, 0.67, 0.56), (0.68, 0.58, 0.48)),
        rows=4,
        per_row=4,
        shift=0.0,
    ),
    "cobbles": partial(
        outdoor.cobbles, palette=((0.46, 0.46, 0.46), (0.58, 0.56, 0.53), (0.66, 0.63, 0.59)), across=13
    ),
    "asphalt": partial(outdoor.asphalt, tone=(0.42, 0.42, 0.43)),
    "earth": partial(outdoor.earth, dark=(0.42, 0.35, 0.28), light=(0.58, 0.50, 0.41)),
    "snow": outdoor.snow,
    "deck": _deck,
    # Views
    "view_sky": partial(_sky, cover=0.45),
    "view_overcast": partial(_sky, cover=0.95),
    "view_evening": partial(_sky, cover=0.35, warm=True),
    "view_hills": partial(_hills, near=(0.42, 0.48, 0.33), haze=(0.70, 0.76, 0.81), cover=0.5),
    "view_heath": partial(_hills, near=(0.50, 0.45, 0.38), haze=(0.78, 0.75, 0.73), cover=0.3, warm=True),
    "view_dunes": partial(_hills, near=(0.72, 0.64, 0.52), haze=(0.82, 0.80, 0.77), cover=0.2),
    "view_snow": partial(_hills, near=(0.74, 0.78, 0.83), haze=(0.66, 0.72, 0.79), cover=0.8),
    "view_trees": partial(_trees, leaf=(0.20, 0.27, 0.16), light=(0.50, 0.56, 0.36), cover=0.4),
    "view_autumn": partial(_trees, leaf=(0.34, 0.27, 0.17), light=(0.64, 0.56, 0.40), cover=0.7),
    "view_sea": lambda rng: outdoor.sea(rng, _sky(rng, 0.4), (0.42, 0.53, 0.58), skyline=0.34),
    "view_garden": partial(
        outdoor.bokeh,
        top=(0.44, 0.52, 0.38),
        bottom=(0.30, 0.37, 0.25),
        lights=((0.66, 0.72, 0.50), (0.76, 0.78, 0.62), (0.50, 0.60, 0.42)),
        count=70,
        radius_px=24.0,
    ),
    "view_city": partial(
        outdoor.bokeh,
        top=(0.30, 0.33, 0.40),
        bottom=(0.22, 0.23, 0.27),
        lights=((0.86, 0.74, 0.54), (0.80, 0.80, 0.80), (0.62, 0.68, 0.78)),
        count=55,
        radius_px=26.0,
    ),
    "view_town": lambda rng: outdoor.town(
        rng,
        _sky(rng, 0.6),
        ((0.72, 0.65, 0.55), (0.62, 0.57, 0.52), (0.70, 0.68, 0.64), (0.60, 0.62, 0.62)),
        skyline=0.06,
    ),
    "view_room": partial(
        outdoor.room,
        wall=(0.66, 0.62, 0.56),
        glow=(0.90, 0.89, 0.85),
        things=((0.42, 0.36, 0.30), (0.50, 0.47, 0.43)),
    ),
    "view_office": partial(
        outdoor.room,
        wall=(0.60, 0.63, 0.66),
        glow=(0.86, 0.89, 0.92),
        things=((0.38, 0.40, 0.44), (0.54, 0.55, 0.57)),
    ),
    "studio_grey": partial(outdoor.studio, edge=(0.46, 0.46, 0.47), centre=(0.72, 0.72, 0.72)),
    "studio_warm": partial(outdoor.studio, edge=(0.50, 0.46, 0.42), centre=(0.76, 0.72, 0.67)),
    "studio_blue": partial(outdoor.studio, edge=(0.36, 0.41, 0.47), centre=(0.62, 0.67, 0.72)),
}


def paint(name: str) -> Image:
    """The (512, 512, 3) sRGB image of a bundled texture: the same on every machine."""
    return np.clip(TEXTURES[name](stream(VERSION, "texture", name)), 0.0, 1.0)


def write_textures(cache: Path) -> dict[str, Path]:
    """Paths of all textures as PNG files under `cache`, painting those that are not there yet.

    Raises OutputError where the cache cannot be written.
    """
    folder = cache.resolve() / f"textures-v{VERSION}"
    paths = {name: folder / f"{name}.png" for name in TEXTURES}
    for name, path in paths.items():
        if not path.exists():
            save(Pil.fromarray(np.rint(paint(name) * 255).astype(np.uint8)), path)
    return paths


def save(image: Pil.Image, path: Path) -> None:
    """Write a PNG or JPEG so that no reader, in this process or another, ever sees half of it. Raises OutputError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream_out:
            if path.suffix == ".png":
                image.save(stream_out, "PNG", compress_level=4)
            else:
                image.save(stream_out, "JPEG", quality=95, subsampling=0)
            stream_out.flush()
            os.fsync(stream_out.fileno())
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}; choose another cache folder") from error
