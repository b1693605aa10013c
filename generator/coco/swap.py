"""CutMix: the contents of two boxes of a photo change places (paper B.2). No pixel outside the boxes is touched."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from generator.coco.images import Pixels

Box = tuple[int, int, int, int]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Swapped:
    """pixels: the new image. boxes: where the first and the second object lie in it."""

    pixels: Pixels
    boxes: tuple[Box, Box]


def swap_boxes(pixels: Pixels, first: Box, second: Box) -> Swapped:
    """Each box's content, resized, in the other's place. pixels: (H, W, 3) uint8; boxes must not overlap."""
    assert not overlap(first, second), (first, second)
    result = pixels.copy()
    _view(result, second)[:] = _resized(_view(pixels, first), second)
    _view(result, first)[:] = _resized(_view(pixels, second), first)
    return Swapped(result, (second, first))


def swap_masked(pixels: Pixels, boxes: tuple[Box, Box], masks: tuple[Mask, Mask], feather_px: float) -> Swapped:
    """As `swap_boxes`, but each place keeps its own background around the two objects' outlines.

    Within a box, what is replaced is the newcomer's outline and that of the object that leaves, so that nothing of the
    latter stays visible; between the replaced part and the background lies a soft edge of `feather_px` pixels.
    masks: (H, W) of the two objects.
    """
    whole = swap_boxes(pixels, *boxes)
    result = pixels.copy()
    for place, mask_here, source, mask_there in ((1, masks[1], 0, masks[0]), (0, masks[0], 1, masks[1])):
        arriving = _resized_mask(_view(mask_there, boxes[source]), boxes[place])
        weight = _feathered(arriving | _view(mask_here, boxes[place]), feather_px)[..., None]
        target = _view(result, boxes[place])
        mixed = weight * _view(whole.pixels, boxes[place]) + (1 - weight) * target
        target[:] = np.rint(mixed).astype(np.uint8)
    return Swapped(result, whole.boxes)


def overlap(first: Box, second: Box) -> bool:
    """Do the two boxes share a pixel?"""
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def _view(array: NDArray[Any], box: Box) -> NDArray[Any]:
    x0, y0, x1, y1 = box
    return array[y0:y1, x0:x1]


def _resized(content: Pixels, box: Box) -> Pixels:
    size = (box[2] - box[0], box[3] - box[1])
    return np.asarray(Image.fromarray(content).resize(size, Image.Resampling.BICUBIC))


def _resized_mask(mask: Mask, box: Box) -> Mask:
    size = (box[2] - box[0], box[3] - box[1])
    grey = Image.fromarray(mask.astype(np.uint8) * 255).resize(size, Image.Resampling.BILINEAR)
    return np.asarray(grey) >= 128


def _feathered(mask: Mask, feather_px: float) -> NDArray[np.float32]:
    """1 inside the mask, falling to 0 at about `feather_px` outside it; an empty mask stands for the whole box."""
    if not mask.any():
        return np.ones(mask.shape, np.float32)
    grown = Image.fromarray(mask.astype(np.uint8) * 255)
    radius = feather_px / 2
    if radius > 0:
        grown = grown.filter(ImageFilter.MaxFilter(2 * math.ceil(radius) + 1)).filter(ImageFilter.BoxBlur(radius))
    soft: NDArray[np.float32] = np.asarray(grown, np.float32) / 255
    return np.maximum(soft, mask.astype(np.float32))
