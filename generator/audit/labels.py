"""Do the labels agree with the pixels? Boxes, relations, sizes and colours measured again from masks and images."""

import io
from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from generator.colour import measure
from generator.records import ObjectRecord, PairRecord, Sample
from generator.truth import captions_fault, fact_fault
from generator.verify import Box, box_of, is_big, relation_of
from generator.vocabulary import load_vocabulary

# What disagrees, and how.
Fault = tuple[Literal["label", "colour"], str]


def label_faults(sample: Sample) -> Iterator[Fault]:
    """Everything that disagrees in one pair. Without masks, boxes and colours are taken as the record has them."""
    record = sample.record
    for fault in (captions_fault(record), fact_fault(record)):
        if fault:
            yield "label", fault
    for side, objects in enumerate((record.objects_0, record.objects_1)):
        data, image = sample.mask(side), sample.image(side)
        if data is None or image is None:
            continue
        mask = np.asarray(Image.open(io.BytesIO(data)))
        shown = [mask == number + 1 for number in range(len(objects))]
        for item, own in zip(objects, shown, strict=True):
            if box_of(own) != item.box:
                yield "label", f"image {side}: the {item.noun} is in {box_of(own)}, the record says {item.box}"
        yield from (("label", fault) for fault in _fact_faults(record, side, objects, shown))
        if record.fact.kind == "colour":
            pixels = np.asarray(Image.open(io.BytesIO(image)).convert("RGB"))
            yield from (("colour", fault) for fault in _colour_faults(side, objects, shown, pixels))


def _fact_faults(
    record: PairRecord, side: int, objects: tuple[ObjectRecord, ...], shown: list[NDArray[np.bool_]]
) -> Iterator[str]:
    """Relation and size from the masks alone."""
    if len(objects) != 2:
        return
    a, b = (box_of(own) for own in shown)
    if record.fact.kind == "relation":
        wanted = (record.fact.value_0, record.fact.value_1)[side]
        found = relation_of(a, b, record.width)
        if found != wanted:
            yield f"image {side}: by the masks A is {found or 'not clearly'} {wanted} B"
    elif record.fact.kind == "size":
        longer = _length(a) > _length(b)
        if is_big(objects[0].size) != longer:
            seen = "longer" if longer else "shorter"
            yield f"image {side}: by the masks A is the {seen}, the record says {objects[0].size}"


def _colour_faults(
    side: int, objects: tuple[ObjectRecord, ...], shown: list[NDArray[np.bool_]], pixels: NDArray[np.uint8]
) -> Iterator[str]:
    for item, own in zip(objects, shown, strict=True):
        core = _core(own)
        if item.colour and core.any():
            seen = measure(pixels[core], load_vocabulary().colours).name
            if seen != item.colour:
                yield f"image {side}: the {item.noun} looks {seen}, the record says {item.colour}"


def _length(box: Box) -> int:
    return max(box[2] - box[0], box[3] - box[1])


def _core(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The mask without its rim, whose pixels are half background; the mask itself where it is thin."""
    core = np.asarray(Image.fromarray(mask).convert("L").filter(ImageFilter.MinFilter(3))) > 0
    return core if core.sum() >= 0.3 * mask.sum() else mask
