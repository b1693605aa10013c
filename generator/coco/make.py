"""Planned pairs -> shards: read the photos, edit, verify, encode, store. One process per shard."""

import dataclasses
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from generator.coco import spatial
from generator.coco.annotations import mask_of
from generator.coco.images import PhotoFault, Pixels, is_grey, read_photo
from generator.coco.plan import PlannedPair, Swap
from generator.coco.swap import Swapped, swap_boxes, swap_masked
from generator.errors import DataError, UserError
from generator.records import ImageFormat
from generator.shards import Row, ShardStage, encode_image, row_of

Paste = Literal["box", "mask"]

MIN_CHANGE = 6.0  # mean difference of the swapped boxes' pixels between the twins, 0 to 255


@dataclass(frozen=True)
class ShardJob:
    """One shard to make. paste: whole boxes change places, or only the objects, with a soft edge of feather_px."""

    out: Path
    split: str
    number: int
    pairs: tuple[PlannedPair, ...]
    images: Path
    image_format: ImageFormat
    paste: Paste
    feather_px: float
    fingerprint: str


def make_shard(job: ShardJob) -> list[Row]:
    """Make what is missing of the shard and seal it; the rows that were made now."""
    stage = ShardStage(job.out, job.split, job.number)
    if stage.complete():
        return []
    begin = time.monotonic()
    done = stage.done()
    rows = [_make_pair(job, pair, stage) for pair in job.pairs if pair.record.index not in done]
    stage.seal({"fingerprint": job.fingerprint, "seconds": round(time.monotonic() - begin, 3)})
    return rows


def make_all(jobs: Sequence[ShardJob], workers: int, report: Callable[[Row], None]) -> None:
    """All shards over `workers` processes; `report` gets every new row. Its exceptions stop the run; the made stays."""
    if workers == 1 or len(jobs) <= 1:
        for job in jobs:
            for row in make_shard(job):
                report(row)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), context) as pool:
        futures = [pool.submit(make_shard, job) for job in jobs]
        try:
            for future in as_completed(futures):
                for row in future.result():
                    report(row)
        except BrokenProcessPool as error:
            raise UserError("a worker process was killed; run the same command again to go on") from error
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def shard_sizes(pairs: Sequence[PlannedPair], shard_size: int) -> Iterator[tuple[str, int, tuple[PlannedPair, ...]]]:
    """(split, number, pairs) of every shard, each split's pairs in the order of their indices."""
    by_split: dict[str, list[PlannedPair]] = {}
    for pair in pairs:
        by_split.setdefault(pair.record.split, []).append(pair)
    for split, members in by_split.items():
        for number, start in enumerate(range(0, len(members), shard_size)):
            yield split, number, tuple(members[start : start + shard_size])


def images_of(job: ShardJob, pair: PlannedPair) -> list[Pixels]:
    """The pair's images, checked. PhotoFault says why it cannot be made."""
    pixels = [read_photo(job.images, photo) for photo in pair.photos]
    if pair.record.fact.kind == "colour" and is_grey(pixels[0]):
        raise PhotoFault("photo_grey", f"{pair.photos[0].file_name} has no colours")
    if pair.swap is not None:
        if wrong := spatial.check(pair.record):
            raise PhotoFault("relation_wrong", wrong)
        pixels.append(_swapped(job, pair, pair.swap, pixels[0]).pixels)
        change = _change(pixels[0], pixels[1], pair.swap)
        if change < MIN_CHANGE:
            raise PhotoFault("twins_alike", f"the boxes differ by {change:.1f} of 255 on average")
    return pixels


def _make_pair(job: ShardJob, pair: PlannedPair, stage: ShardStage) -> Row:
    try:
        pixels = images_of(job, pair)
    except PhotoFault as fault:
        row = _rejected(pair, fault)
        stage.reject(row)
        return row
    names = (f"image_{side}.{job.image_format}" for side in range(len(pixels)))
    files = {name: encode_image(image, job.image_format) for name, image in zip(names, pixels, strict=True)}
    return stage.accept(pair.record, files)


def _swapped(job: ShardJob, pair: PlannedPair, swap: Swap, pixels: Pixels) -> Swapped:
    boxes = (swap.a.box, swap.b.box)
    if job.paste == "box":
        return swap_boxes(pixels, *boxes)
    try:
        masks = (mask_of(swap.a, pair.photos[0]), mask_of(swap.b, pair.photos[0]))
    except DataError as error:
        raise PhotoFault("segmentation_invalid", str(error)) from error
    if masks[0] is None or masks[1] is None:
        return swap_boxes(pixels, *boxes)
    return swap_masked(pixels, boxes, (masks[0], masks[1]), job.feather_px)


def _change(before: Pixels, after: Pixels, swap: Swap) -> float:
    """Mean absolute difference inside the box that changed less."""
    changes = []
    for x0, y0, x1, y1 in (swap.a.box, swap.b.box):
        old, new = before[y0:y1, x0:x1].astype(np.int16), after[y0:y1, x0:x1].astype(np.int16)
        changes.append(float(np.abs(old - new).mean()))
    return min(changes)


def _rejected(pair: PlannedPair, fault: PhotoFault) -> Row:
    return dataclasses.replace(row_of(pair.record), status="rejected", reason=fault.reason, detail=fault.detail)
