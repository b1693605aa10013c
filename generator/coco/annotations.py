"""The official annotation files of COCO, read with every fault either refused in one line or counted."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.errors import DataError, missing

Faults = Counter[str]


@dataclass(frozen=True, slots=True)
class Photo:
    """One image of an annotation file. width, height: stored pixels, before any EXIF rotation, as COCO's boxes are."""

    id: int
    file_name: str
    width: int
    height: int
    license_id: int
    flickr_url: str


@dataclass(frozen=True, slots=True)
class Caption:
    """One caption of a photo, with blanks and line ends tidied."""

    id: int
    photo_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Instance:
    """One annotated object.

    box_xywh: COCO's own [x, y, width, height) in pixels, clipped to the photo. area_px: pixels of the object itself,
    the box's where the file does not say. segmentation: polygons or RLE as in the file, None where there is none.
    """

    id: int
    photo_id: int
    category: str
    box_xywh: tuple[float, float, float, float]
    area_px: float
    is_crowd: bool
    segmentation: Any = field(hash=False)

    @property
    def box(self) -> tuple[int, int, int, int]:
        """[x0, y0, x1, y1) in whole pixels: the box's edges rounded."""
        x, y, width, height = self.box_xywh
        return round(x), round(y), round(x + width), round(y + height)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Photos with their captions and instances, by photo id; `faults` counts what was left out and why.

    licenses: id -> (name, url).
    """

    photos: Mapping[int, Photo]
    captions: Mapping[int, list[Caption]]
    instances: Mapping[int, list[Instance]]
    licenses: Mapping[int, tuple[str, str]]
    faults: Faults


MAX_WORDS = 60


def read_corpus(captions: Path, instances: Path | None, segmentations: bool = False) -> Corpus:
    """Both files as one corpus. DataError names the file and its first fault that cannot be worked around.

    Without `segmentations` the boxes' outlines are dropped: they are most of a large file, and only masks need them.

    A photo need not have captions or instances; a caption or box of a photo that neither file lists is counted.
    """
    faults: Faults = Counter()
    caption_file = _read_file(captions, "caption")
    photos = _photos(caption_file, captions, faults)
    licenses = _licenses(caption_file)
    boxes: dict[int, list[Instance]] = {}
    if instances is not None:
        instance_file = _read_file(instances, "bbox")
        photos |= _photos(instance_file, instances, faults)
        licenses |= _licenses(instance_file)
        boxes = _instances(instance_file, instances, photos, segmentations, faults)
    return Corpus(photos, _captions(caption_file, photos, faults), boxes, licenses, faults)


def read_captions(path: Path) -> list[Caption]:
    """The captions of one file alone, for statistics."""
    data = _read_file(path, "caption")
    by_photo = _captions(data, _photos(data, path, Counter()), Counter())
    return [caption for captions in by_photo.values() for caption in captions]


def mask_of(instance: Instance, photo: Photo) -> NDArray[np.bool_] | None:
    """The instance's segmentation as a mask, (height, width), or None where it has none.

    DataError on a segmentation that pycocotools does not take.
    """
    from pycocotools import mask as coco_mask

    segmentation = instance.segmentation
    if not segmentation:
        return None
    # The C code behind pycocotools trusts its input, so its shape is checked here.
    if isinstance(segmentation, list) and all(_is_polygon(part) for part in segmentation):
        runs = coco_mask.merge(coco_mask.frPyObjects(segmentation, photo.height, photo.width))
    elif _is_run_lengths(segmentation, photo):
        runs = segmentation
        if isinstance(segmentation["counts"], list):
            runs = coco_mask.frPyObjects(segmentation, photo.height, photo.width)
    else:
        raise DataError(f"annotation {instance.id}: segmentation is neither polygons nor run lengths of its photo")
    mask: NDArray[np.bool_] = coco_mask.decode(runs).astype(bool)
    return mask


def _is_polygon(part: Any) -> bool:
    numbers = isinstance(part, list) and all(isinstance(value, int | float) for value in part)
    return numbers and len(part) >= 6 and len(part) % 2 == 0


def _is_run_lengths(segmentation: Any, photo: Photo) -> bool:
    if not isinstance(segmentation, dict) or segmentation.get("size") != [photo.height, photo.width]:
        return False
    counts = segmentation.get("counts")
    if isinstance(counts, list):
        return all(isinstance(run, int) and run >= 0 for run in counts) and sum(counts) == photo.height * photo.width
    return isinstance(counts, str)


def _read_file(path: Path, key: str) -> dict[str, Any]:
    """The file as a dict; `key` tells captions ("caption") from instances ("bbox") by the first annotation."""
    wanted = {"caption": "captions", "bbox": "instances"}
    try:
        with path.open(encoding="utf-8") as stream:
            data = json.load(stream)
    except FileNotFoundError:
        raise DataError(missing(path, "file")) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise DataError(f"{path}: not JSON, or cut off ({error}); download it again") from error
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("annotations"), list)
        or not isinstance(data.get("images"), list)
    ):
        raise DataError(f"{path}: no COCO annotation file: it needs the lists 'images' and 'annotations'")
    first = next((entry for entry in data["annotations"] if isinstance(entry, dict)), {})
    if data["annotations"] and key not in first:
        other = wanted["bbox" if key == "caption" else "caption"]
        seen = f"it looks like a file of {other}" if ("bbox" in first or "caption" in first) else f"no {key!r} in it"
        raise DataError(f"{path}: given as --{wanted[key]}, but {seen}")
    if key == "bbox" and not data.get("categories"):
        raise DataError(f"{path}: no 'categories'; use an instances_*.json of COCO")
    return data


def _photos(data: Mapping[str, Any], path: Path, faults: Faults) -> dict[int, Photo]:
    photos: dict[int, Photo] = {}
    for entry in data["images"]:
        try:
            photo = Photo(
                id=int(entry["id"]),
                file_name=str(entry["file_name"]),
                width=int(entry["width"]),
                height=int(entry["height"]),
                license_id=int(entry.get("license", 0)),
                flickr_url=str(entry.get("flickr_url", "")),
            )
        except (KeyError, TypeError, ValueError):
            faults["image entry malformed"] += 1
            continue
        if Path(photo.file_name).name != photo.file_name or photo.file_name in ("", ".", ".."):
            raise DataError(f"{path}: image {photo.id} has the file name {photo.file_name!r}; it must be a plain name")
        photos[photo.id] = photo
    if not photos:
        raise DataError(f"{path}: lists no usable images")
    return photos


def _captions(data: Mapping[str, Any], photos: Mapping[int, Photo], faults: Faults) -> dict[int, list[Caption]]:
    """Captions by photo: blanks tidied; empty, overlong and repeated ones counted and left out."""
    captions: dict[int, list[Caption]] = {}
    seen: set[tuple[int, str]] = set()
    for entry in data["annotations"]:
        try:
            caption = Caption(int(entry["id"]), int(entry["image_id"]), " ".join(_text(entry["caption"]).split()))
        except (KeyError, TypeError, ValueError):
            faults["caption entry malformed"] += 1
            continue
        same = (caption.photo_id, caption.text.lower().rstrip(". "))
        if caption.photo_id not in photos:
            faults["caption of an unknown image"] += 1
        elif not caption.text:
            faults["caption empty"] += 1
        elif caption.text.count(" ") >= MAX_WORDS:
            faults["caption too long"] += 1
        elif same in seen:
            faults["caption repeated"] += 1
        else:
            seen.add(same)
            captions.setdefault(caption.photo_id, []).append(caption)
    return captions


def _instances(
    data: Mapping[str, Any], path: Path, photos: Mapping[int, Photo], segmentations: bool, faults: Faults
) -> dict[int, list[Instance]]:
    try:
        names = {int(entry["id"]): str(entry["name"]) for entry in data["categories"]}
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: 'categories' is malformed ({error!r})") from error
    instances: dict[int, list[Instance]] = {}
    for entry in data["annotations"]:
        try:
            photo = photos.get(int(entry["image_id"]))
            x, y, width, height = (float(value) for value in entry["bbox"])
            number, category, crowd = int(entry["id"]), names[int(entry["category_id"])], bool(entry.get("iscrowd", 0))
            area = float(entry.get("area") or width * height)
        except (KeyError, TypeError, ValueError):
            faults["box entry malformed"] += 1
            continue
        if photo is None:
            faults["box of an unknown image"] += 1
            continue
        box = _clip(x, y, width, height, photo)
        if box is None:
            faults["box empty or outside its image"] += 1
            continue
        item = Instance(
            number, photo.id, category, box, area, crowd, entry.get("segmentation") if segmentations else None
        )
        instances.setdefault(photo.id, []).append(item)
    return instances


def _clip(x: float, y: float, width: float, height: float, photo: Photo) -> tuple[float, float, float, float] | None:
    """The box inside the photo, None when less than one pixel is left. NaN never compares greater."""
    x0, y0 = max(x, 0.0), max(y, 0.0)
    x1, y1 = min(x + width, float(photo.width)), min(y + height, float(photo.height))
    return (x0, y0, x1 - x0, y1 - y0) if x1 - x0 >= 1 and y1 - y0 >= 1 else None


def _licenses(data: Mapping[str, Any]) -> dict[int, tuple[str, str]]:
    entries = [entry for entry in data.get("licenses") or () if isinstance(entry, dict) and "id" in entry]
    return {int(entry["id"]): (str(entry.get("name", "")), str(entry.get("url", ""))) for entry in entries}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"caption is {type(value).__name__}, not text")
    return value
