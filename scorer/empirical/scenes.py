"""Pictures with k labelled objects: photographs with COCO annotations, or cut-outs of rendered runs pasted on grey."""

import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from generator.records import read_shard
from scorer.benchmarks.base import read_json
from scorer.data import decode, shards_of
from scorer.errors import ConfigError, DataError

SIDE_PX = 224
MARGIN = 0.92  # of a cell that the longer side of an object takes
SMALLEST_PX = 12
WHOLE = 0.9  # visible fraction of an object that is cut out
KEPT = 12  # cut-outs of one noun


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture, made when it is asked for, and the labels of what is in it."""

    labels: tuple[str, ...]
    open: Callable[[], Image.Image]


def made_scenes(data: Sequence[Path], most: int, count: int, rng: np.random.Generator) -> list[Scene]:
    """`count` series of pictures with 1 to `most` objects of different nouns; each has one object more than the last.

    Objects keep their place and size through a series, so that only their number changes. Raises DataError for data
    without masks, ConfigError when there are too few nouns.
    """
    sprites = cut_outs(data)
    if len(sprites) < most:
        raise ConfigError(f"--most {most}: the data have cut-outs of {len(sprites)} nouns")
    scenes = []
    nouns = sorted(sprites)
    for _ in range(count):
        chosen = [nouns[i] for i in rng.permutation(len(nouns))[:most]]
        pieces = [sprites[noun][int(rng.integers(len(sprites[noun])))] for noun in chosen]
        places = rng.permutation(_across(most) ** 2)[:most].tolist()
        for k in range(1, most + 1):
            scenes.append(Scene(tuple(chosen[:k]), _Paste(tuple(pieces[:k]), tuple(places[:k]), most)))
    return scenes


@dataclass(frozen=True, slots=True)
class _Paste:
    """Cut-outs in cells of a square grid, on grey."""

    pieces: tuple[Image.Image, ...]
    places: tuple[int, ...]
    most: int

    def __call__(self) -> Image.Image:
        across = _across(self.most)
        cell = SIDE_PX // across
        canvas = Image.new("RGB", (SIDE_PX, SIDE_PX), (128, 128, 128))
        for piece, place in zip(self.pieces, self.places, strict=True):
            scale = MARGIN * cell / max(piece.size)
            size = max(1, round(piece.width * scale)), max(1, round(piece.height * scale))
            small = piece.resize(size, Image.Resampling.LANCZOS)
            row, column = divmod(place, across)
            canvas.paste(small, (column * cell + (cell - size[0]) // 2, row * cell + (cell - size[1]) // 2), small)
        return canvas


def _across(most: int) -> int:
    return int(np.ceil(np.sqrt(most)))


def cut_outs(data: Sequence[Path]) -> Mapping[str, list[Image.Image]]:
    """Objects of rendered pictures, their masks as alpha: the first ones of each noun. DataError without masks."""
    found: dict[str, list[Image.Image]] = defaultdict(list)
    for shard in shards_of(tuple(data), None):
        for sample in read_shard(shard):
            for side, objects in enumerate((sample.record.objects_0, sample.record.objects_1)):
                data_of_mask, encoded = sample.mask(side), sample.image(side)
                if data_of_mask is None or encoded is None:
                    continue
                wanted = [
                    (number, item)
                    for number, item in enumerate(objects, start=1)
                    if item.visible_fraction >= WHOLE and len(found[item.noun]) < KEPT
                ]
                if not wanted:
                    continue
                picture = decode(encoded, sample.record.key)
                mask = np.asarray(Image.open(io.BytesIO(data_of_mask)))
                for number, item in wanted:
                    x0, y0, x1, y1 = item.box
                    if min(x1 - x0, y1 - y0) >= SMALLEST_PX:
                        piece = picture.crop(item.box)
                        piece.putalpha(Image.fromarray(np.uint8(255) * (mask[y0:y1, x0:x1] == number)))
                        found[item.noun].append(piece)
    sprites = {noun: pieces for noun, pieces in found.items() if pieces}
    if not sprites:
        raise DataError(f"{', '.join(map(str, data))}: no masks there to cut objects out with; render with --masks")
    return sprites


def coco_scenes(annotations: Path, folder: Path) -> tuple[list[Scene], int]:
    """Photographs with their distinct categories as labels, in the file's order; how many of them are not there.

    DataError when the file is damaged or no photograph is there.
    """
    content = read_json(annotations)
    try:
        names = {row["id"]: str(row["name"]) for row in content["categories"]}
        labels: dict[int, dict[str, None]] = defaultdict(dict)
        for row in content["annotations"]:
            labels[row["image_id"]][names[row["category_id"]]] = None
        rows = [(str(row["file_name"]), tuple(labels[row["id"]])) for row in content["images"] if labels[row["id"]]]
    except (KeyError, TypeError) as error:
        raise DataError(f"{annotations}: not an instances file in COCO's format ({error!r})") from error
    here = [(folder / name, mine) for name, mine in rows if (folder / name).is_file()]
    if not here:
        raise DataError(f"{folder}: none of the {len(rows)} photographs of {annotations} is there")
    return [Scene(mine, _Photograph(path)) for path, mine in here], len(rows) - len(here)


@dataclass(frozen=True, slots=True)
class _Photograph:
    path: Path

    def __call__(self) -> Image.Image:
        return decode(self.path.read_bytes(), str(self.path))


def noise_pictures(count: int, rng: np.random.Generator) -> Iterator[Image.Image]:
    """Pictures of random pixels."""
    for _ in range(count):
        pixels: Any = rng.integers(0, 256, (SIDE_PX, SIDE_PX, 3), dtype=np.uint8)
        yield Image.fromarray(pixels)
