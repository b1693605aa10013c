"""COCO: instances.json and captions.json with the images, for pycocotools and all that reads through it."""

import contextlib
import io
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.errors import DataError
from generator.export.captions import captions_of, replaced
from generator.export.credits import photo_credits
from generator.export.folder import file_name, json_items, picture, put, sides_of, size_of, text_of
from generator.export.rle import encode
from generator.export.source import Format, Part
from generator.records import ObjectRecord, PairRecord, Sample

READING = """```python
from pycocotools.coco import COCO

instances = COCO("{split}/instances.json")
captions = COCO("{split}/captions.json")
first = instances.loadImgs(instances.getImgIds())[0]
print(first["file_name"], instances.loadAnns(instances.getAnnIds(first["id"])))
print([item["caption"] for item in captions.loadAnns(captions.getAnnIds(first["id"]))])
```

Each picture of a pair is an image; `pair` and `side` say which belong together. `negative_caption` is a caption of the
other picture, false of this one. Categories are the nouns, numbered in every split by themselves.
"""
WITH_MASKS = "Segmentations are the visible pixels of each object, as compressed RLE."
WITHOUT = "The data has no masks: segmentations are empty, and only boxes are given."


def write(part: Part) -> Iterator[PairRecord]:
    """{split}/images/, instances.json, captions.json. Objects that nobody located are in no annotation."""
    base = part.folder / part.split
    licences = _Licences(part)
    categories: dict[str, int] = {}
    names = ("images", "annotations", "captions")
    parts = {name: base / f"{name}.part" for name in names}
    with contextlib.ExitStack() as stack:
        add = {name: stack.enter_context(json_items(path, "")) for name, path in parts.items()}
        instances = captions = 0
        for number, sample in part.samples:
            record = sample.record
            for side in sides_of(sample):
                image_id = 2 * number + side + 1
                add["images"](text_of(_image(base, number, sample, side, licences)))
                for item in _instances(sample, side):
                    instances += 1
                    noun = item.pop("noun")
                    category = categories.setdefault(noun, len(categories) + 1)
                    ids = {"id": instances, "image_id": image_id, "category_id": category}
                    add["annotations"](text_of(ids | item))
                for caption, negative in _captions(record, side):
                    captions += 1
                    line = {"id": captions, "image_id": image_id, "caption": caption, "negative_caption": negative}
                    add["captions"](text_of(line))
            yield record
    head: dict[str, Any] = {
        "info": {"description": "Twin scenes. " + (WITH_MASKS if part.source.masks else WITHOUT), "version": "1.0"},
        "licenses": licences.entries,
        "categories": [{"id": of, "name": noun, "supercategory": "object"} for noun, of in categories.items()],
    }
    _join(base / "instances.json", head, {"images": parts["images"], "annotations": parts["annotations"]})
    del head["categories"]
    _join(base / "captions.json", head, {"images": parts["images"], "annotations": parts["captions"]})
    for path in parts.values():
        path.unlink()


def _image(base: Path, number: int, sample: Sample, side: int, licences: "_Licences") -> dict[str, Any]:
    data, suffix = picture(sample, side)
    width, height = size_of(sample, side)
    record = sample.record
    photo = record.image_ids[min(side, len(record.image_ids) - 1)] if record.image_ids else ""
    return {
        "id": 2 * number + side + 1,
        "file_name": put(base / "images", file_name(number, f"{side}.{suffix}"), data),
        "width": width,
        "height": height,
        "pair": record.key,
        "side": side,
        **licences.of(photo),
    }


def _instances(sample: Sample, side: int) -> Iterator[dict[str, Any]]:
    record = sample.record
    objects: tuple[ObjectRecord, ...] = (record.objects_0, record.objects_1)[side]
    mask = _mask(sample, side)
    for place, item in enumerate(objects):
        x0, y0, x1, y1 = item.box
        if x1 <= x0 or y1 <= y0:
            continue
        segmentation: Any = []
        if mask is not None:
            segmentation = {"size": list(mask.shape), "counts": encode(mask == place + 1)}
        yield {
            "noun": item.noun,
            "bbox": [x0, y0, x1 - x0, y1 - y0],
            "area": item.visible_px,
            "iscrowd": 0,
            "segmentation": segmentation,
            "attributes": [value for value in (item.colour, item.size) if value],
        }


def _mask(sample: Sample, side: int) -> NDArray[np.uint8] | None:
    """(H, W), 1 + i where object i is seen."""
    from PIL import Image

    data = sample.mask(side)
    if data is None:
        return None
    try:
        with Image.open(io.BytesIO(data)) as image:
            return np.asarray(image)
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{sample.record.key}: mask_{side} does not decode ({error})") from error


def _captions(record: PairRecord, side: int) -> Iterator[tuple[str, str]]:
    others = captions_of(record, 1 - side)
    for caption, place in zip(captions_of(record, side), replaced(record).opposite, strict=True):
        yield caption, others[place]


def _join(path: Path, head: Mapping[str, Any], arrays: Mapping[str, Path]) -> None:
    """One JSON object of the small things in `head` and of arrays whose items were written to files."""
    with path.open("w", encoding="ascii", newline="\n") as whole:
        whole.write(text_of(head)[:-1])
        for name, items in arrays.items():
            whole.write(f',\n"{name}": [')
            with items.open(encoding="ascii") as stream:
                shutil.copyfileobj(stream, whole)
            whole.write("]")
        whole.write("}\n")


class _Licences:
    """COCO's list of licences: those of the photographs as the runs name them, and one that points to the credits."""

    def __init__(self, part: Part) -> None:
        self.entries: list[dict[str, Any]] = [{"id": 0, "name": "see credits.csv beside this folder", "url": ""}]
        self._photos: dict[str, tuple[int, str]] = {}
        numbers: dict[tuple[str, str], int] = {}
        with part.source.credits() as folders:
            rows = [row for folder in folders for row in photo_credits(folder)]
        for row in rows:
            number = numbers.setdefault((row.license, row.license_url), len(numbers) + 1)
            self._photos[str(row.image_id)] = number, row.flickr_url
        self.entries += [{"id": number, "name": name, "url": url} for (name, url), number in numbers.items()]

    def of(self, photo: str) -> dict[str, Any]:
        """The keys that an image of this photograph ("": rendered) has of it."""
        number, url = self._photos.get(photo, (0, ""))
        return {"license": number} | ({"coco_id": photo, "flickr_url": url} if photo else {})


FORMAT = Format(write, READING)
