"""Verification: is what the captions say visible in the picture? Judged from masks and pixels, not from intentions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from generator.colour import Measured, measure
from generator.records import FactRecord, ObjectRecord
from generator.specs import PairSpec, Rgb, SceneSpec

Reason = Literal[
    "too_small",
    "occluded",
    "cut_off",
    "relation_unclear",
    "relation_wrong",
    "colour_unclear",
    "colour_wrong",
    "size_unclear",
    "too_dark",
    "too_bright",
    "flat",
    "twins_alike",
    "render_failed",
    "renderer_crashed",
    "renderer_timed_out",
    "renderer_out_of_memory",
    "asset_quarantined",
]
Box = tuple[int, int, int, int]

MIN_AREA = 0.015  # visible pixels of a named object / pixels of the image
MIN_VISIBLE = 0.70  # visible / unoccluded pixels
MIN_SEPARATION = 0.02  # gap between the boxes along the relation's axis / side of the image
MAX_SLANT = 0.70  # offset across the axis / offset along it, between the boxes' centres
MIN_COLOUR_SHARE = 0.40  # pixels of an object that vote for its named colour
MIN_COLOUR_MARGIN = 0.15  # ... and how far that is before the second
MIN_LENGTH_RATIO = 1.35  # longest sides of the boxes, big / small
MIN_AREA_RATIO = 1.5  # visible pixels, big / small
DARK, BRIGHT = 25.0, 235.0  # mean of the image's pixel values, 0 to 255
MIN_SPREAD = 8.0  # standard deviation of the image's pixel values
MIN_CHANGE = 0.01  # pixels that differ between the twins / pixels of the image


@dataclass(frozen=True, slots=True)
class Rendered:
    """One rendered side: image (H, W, 3) uint8; visible (H, W) uint8, 0 = stage, 1 + i = object i; amodal (n, H, W)."""

    image: NDArray[np.uint8]
    visible: NDArray[np.uint8]
    amodal: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Verdict:
    """accepted with what was measured of each side's objects, or rejected with the first reason and its figures."""

    accepted: bool
    reason: str
    detail: str
    objects: tuple[tuple[ObjectRecord, ...], tuple[ObjectRecord, ...]]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The objects of one side: their records, and what their colours say in full."""

    records: tuple[ObjectRecord, ...]
    colours: tuple[Measured, ...]


class _Rejected(Exception):
    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.detail = detail


def judge(spec: PairSpec, sides: tuple[Rendered, Rendered], colours: Mapping[str, Rgb]) -> Verdict:
    """Check both sides of a pair, then the fact that tells them apart."""
    try:
        for number, side in enumerate(sides):
            _check_image(side.image, number)
        seen = tuple(_objects(scene, side, colours) for scene, side in zip(spec.scenes, sides, strict=True))
        objects = (seen[0].records, seen[1].records)
        _check_change(sides[0].image, sides[1].image)
        _check_fact(spec, sides, objects, (seen[0].colours, seen[1].colours))
    except _Rejected as rejected:
        return Verdict(False, rejected.reason, rejected.detail, ((), ()))
    return Verdict(True, "", "", objects)


def box_of(mask: NDArray[np.bool_]) -> Box:
    """[x0, y0, x1, y1) around the True pixels of (H, W); (0, 0, 0, 0) when there are none."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return (0, 0, 0, 0)
    return (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)


def relation_of(a: Box, b: Box, size_px: int) -> str:
    """The relation of box a to box b in the image plane: "left of", "right of", "above", "below", or "" when unclear.

    Clear: a gap of MIN_SEPARATION along one axis, and centres offset mostly along that axis.
    """
    gap = MIN_SEPARATION * size_px
    dx, dy = (b[0] + b[2] - a[0] - a[2]) / 2, (b[1] + b[3] - a[1] - a[3]) / 2
    if abs(dy) <= MAX_SLANT * abs(dx):
        if b[0] - a[2] >= gap:
            return "left of"
        if a[0] - b[2] >= gap:
            return "right of"
    if abs(dx) <= MAX_SLANT * abs(dy):
        if b[1] - a[3] >= gap:
            return "above"
        if a[1] - b[3] >= gap:
            return "below"
    return ""


def _check_image(image: NDArray[np.uint8], side: int) -> None:
    # Sums of whole numbers, exact in rows of up to 258; numpy's own deviation walks the picture four times in float64.
    rows = image.reshape(-1, image.shape[1]).astype(np.float32)
    mean = float(rows.sum(axis=1).sum(dtype=np.float64)) / rows.size
    square = float(np.einsum("ij,ij->i", rows, rows).sum(dtype=np.float64)) / rows.size
    spread = math.sqrt(max(0.0, square - mean**2))
    if spread < MIN_SPREAD:
        raise _Rejected("flat", f"image {side}: standard deviation {spread:.1f}")
    if mean < DARK:
        raise _Rejected("too_dark", f"image {side}: mean {mean:.0f} of 255")
    if mean > BRIGHT:
        raise _Rejected("too_bright", f"image {side}: mean {mean:.0f} of 255")


def _check_change(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> None:
    differs: NDArray[np.bool_] = one != other
    pixels = differs.size // 3
    # Values that differ belong to at least a third as many pixels: mostly enough to know, and counted in no time.
    if np.count_nonzero(differs) / 3 >= MIN_CHANGE * pixels:
        return
    change = np.count_nonzero(differs.any(axis=2)) / pixels
    if change < MIN_CHANGE:
        raise _Rejected("twins_alike", f"{change:.1%} of the pixels differ")


def _objects(scene: SceneSpec, side: Rendered, colours: Mapping[str, Rgb]) -> _Seen:
    """Measure every object of a side, and reject it where a person would not see it well."""
    records, measured = [], []
    for number, spec in enumerate(scene.objects):
        mask = side.visible == number + 1
        pixels, whole = int(np.count_nonzero(mask)), int(np.count_nonzero(side.amodal[number]))
        who = f"{spec.noun} ({spec.role})"
        if pixels < MIN_AREA * mask.size:
            raise _Rejected("too_small", f"{who}: {pixels / mask.size:.1%} of the image")
        if pixels < MIN_VISIBLE * whole:
            raise _Rejected("occluded", f"{who}: {pixels / whole:.0%} visible")
        box = box_of(side.amodal[number])
        if min(box[:2]) == 0 or max(box[2:]) == mask.shape[0]:
            raise _Rejected("cut_off", f"{who}: box {box} touches the frame")
        box = box_of(mask)
        seen = measure(_core_pixels(side.image, mask, box), colours)
        measured.append(seen)
        records.append(
            ObjectRecord(
                role=spec.role,
                uid=spec.uid,
                noun=spec.noun,
                colour=spec.colour or "",
                size=spec.size or "",
                box=box,
                visible_px=pixels,
                visible_fraction=round(pixels / whole, 4),
                measured_colour=seen.name,
                measured_lab=seen.lab,
            )
        )
    return _Seen(tuple(records), tuple(measured))


def _core_pixels(image: NDArray[np.uint8], mask: NDArray[np.bool_], box: Box) -> NDArray[np.uint8]:
    """(N, 3): the mask's pixels without its rim, where they are mixed with what lies behind; all when it is thin."""
    x0, y0, x1, y1 = box
    # One more all around: what lies beside the box counts as outside, what lies beyond the frame does not.
    window = np.s_[max(0, y0 - 1) : y1 + 1, max(0, x0 - 1) : x1 + 1]
    mask = mask[window]
    core = mask.copy()
    core[1:] &= mask[:-1]
    core[:-1] &= mask[1:]
    core[:, 1:] &= mask[:, :-1]
    core[:, :-1] &= mask[:, 1:]
    chosen = core if np.count_nonzero(core) >= 0.3 * np.count_nonzero(mask) else mask
    return image[window].reshape(-1, 3).take(np.flatnonzero(chosen), axis=0)


def _check_fact(
    spec: PairSpec,
    sides: tuple[Rendered, Rendered],
    objects: tuple[tuple[ObjectRecord, ...], tuple[ObjectRecord, ...]],
    colours: tuple[tuple[Measured, ...], tuple[Measured, ...]],
) -> None:
    if spec.fact.kind == "relation":
        for number, (a, b) in enumerate(objects):
            wanted = (spec.fact.value_0, spec.fact.value_1)[number]
            found = relation_of(a.box, b.box, sides[number].visible.shape[0])
            if found != wanted:
                reason: Reason = "relation_wrong" if found else "relation_unclear"
                raise _Rejected(reason, f"image {number}: {a.box} is {found or 'not clearly'} {wanted} {b.box}")
    elif spec.fact.kind == "colour":
        for records, measured in zip(objects, colours, strict=True):
            for record, seen in zip(records, measured, strict=True):
                _check_colour(record, seen)
    elif spec.fact.kind == "size":
        for number, records in enumerate(objects):
            _check_sizes(records, number)
    # Presence needs no more: each side shows its own objects, and the scene holds no others.


def _check_colour(record: ObjectRecord, seen: Measured) -> None:
    share = seen.shares[record.colour]
    other = max((name for name in seen.shares if name != record.colour), key=lambda name: seen.shares[name])
    said = f"{record.noun}: {share:.0%} {record.colour}, {seen.shares[other]:.0%} {other}"
    if seen.name != record.colour:
        raise _Rejected("colour_wrong", said)
    if share < MIN_COLOUR_SHARE or seen.margin < MIN_COLOUR_MARGIN:
        raise _Rejected("colour_unclear", said)


def _check_sizes(records: tuple[ObjectRecord, ...], side: int) -> None:
    # The planner gives the big one the longer side; which word it carries does not matter here.
    big, small = sorted(records, key=lambda item: -max(item.box[2] - item.box[0], item.box[3] - item.box[1]))
    lengths = [max(item.box[2] - item.box[0], item.box[3] - item.box[1]) for item in (big, small)]
    length_ratio, area_ratio = lengths[0] / lengths[1], big.visible_px / small.visible_px
    if length_ratio < MIN_LENGTH_RATIO or area_ratio < MIN_AREA_RATIO or not is_big(big.size) or is_big(small.size):
        raise _Rejected(
            "size_unclear", f"image {side}: {big.noun} / {small.noun}: length {length_ratio:.2f}, area {area_ratio:.2f}"
        )


def is_big(word: str) -> bool:
    """Whether a size word names the larger of two."""
    return word in ("big", "large")


def fact_record(spec: PairSpec) -> FactRecord:
    """The fact as the record on disk has it."""
    return FactRecord(spec.fact.kind, spec.fact.value_0, spec.fact.value_1)
