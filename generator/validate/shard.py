"""One shard, by itself: files against digests and counts, records against schema, images, masks and captions."""

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from generator.errors import UserError
from generator.records import ObjectRecord, PairRecord, Sample, key_of, read_shard
from generator.shards import Row, read_json, read_rows, row_of, sha256
from generator.storage import Reading
from generator.truth import captions_fault, fact_fault
from generator.validate.lookalikes import LOOK, Looks, look_of, plain
from generator.verify import box_of

SUFFIXES = (".tar", ".parquet", ".json")


@dataclass(frozen=True)
class ShardReport:
    """What was found in one shard: faults, and the look of each pair in the tar. planned: rows of its parquet."""

    name: str
    faults: tuple[str, ...]
    looks: Looks
    planned: int


def check_shard(run: Reading, name: str, there: tuple[str, ...], fingerprint: str) -> ShardReport:
    """Everything that one shard must hold by itself. name: train/00000; there: which of SUFFIXES it has."""
    with run.at_hand([name + suffix for suffix in there]) as folder:
        return _check_files(folder / name, name, fingerprint)


def _check_files(base: Path, name: str, fingerprint: str) -> ShardReport:
    faults: list[str] = []
    looks: list[Looks] = []
    planned = 0
    try:
        stats = read_json(base.with_suffix(".json"))
        faults += _file_faults(base, stats, fingerprint)
        rows = read_rows(base.with_suffix(".parquet"))
        planned = len(rows)
        faults += _count_faults(stats, rows)
        wanted = {row.key: row for row in rows if row.status == "accepted"}
        previous = -1
        for sample in read_shard(base.with_suffix(".tar")):
            record = sample.record
            row = wanted.pop(record.key, None)
            if row is None:
                faults.append(f"{record.key} is in the tar and not among the accepted rows of the parquet")
            elif row_of(record) != row:
                faults.append(f"{record.key}: tar and parquet disagree")
            if record.index <= previous:
                faults.append(f"{record.key} is out of order")
            previous = record.index
            if record.split != base.parent.name:
                faults.append(f"{record.key} says that it belongs to {record.split}")
            look, found = check_sample(sample)
            faults += [f"{record.key}: {fault}" for fault in found]
            looks.append(look)
        faults += [f"{key} is an accepted row of the parquet and not in the tar" for key in wanted]
    except (UserError, KeyError, ValueError) as error:
        faults.append(str(error) if isinstance(error, UserError) else f"damaged: {error!r}")
    return ShardReport(name, tuple(faults), np.concatenate([np.empty(0, LOOK), *looks]), planned)


def check_sample(sample: Sample) -> tuple[Looks, list[str]]:
    """What a pair looks like, one row, and what is wrong with it."""
    record = sample.record
    faults: list[str] = []
    if record.key != key_of(record.task, record.index):
        faults.append(f"its key does not follow from task {record.task!r} and index {record.index}")
    pictures: list[Image.Image] = []
    for side in range(2):
        data = sample.image(side)
        if (data is not None) != (side == 0 or record.has_image_1):
            faults.append(f"image_{side} is {'there' if data else 'missing'}, has_image_1 is {record.has_image_1}")
        if data is None:
            continue
        try:
            with Image.open(io.BytesIO(data)) as picture:
                picture.load()
                # Width and height are image_0's; only rendered twins, and swapped photographs, share them.
                same = side == 0 or not (record.task == "negation" and record.source == "coco")
                if same and picture.size != (record.width, record.height):
                    faults.append(f"image_{side} is {picture.size}, the record says {record.width, record.height}")
                pictures.append(picture)
        except (OSError, ValueError, SyntaxError) as error:
            faults.append(f"image_{side} does not decode ({error})")
    if len(pictures) == 2 and pictures[0].size == pictures[1].size and pictures[0].tobytes() == pictures[1].tobytes():
        faults.append("the two images are the same")
    for side, objects in enumerate((record.objects_0, record.objects_1)):
        faults += _mask_faults(sample.mask(side), objects, record, side)
    faults += [fault for fault in (_repeated(record), captions_fault(record), fact_fault(record)) if fault]
    return look_of(record, pictures), faults


def _repeated(record: PairRecord) -> str:
    """A caption that comes twice in a pair but for case and spaces: on both sides, or as both versions of one side.

    What people wrote of a photograph cannot always be said in two ways.
    """
    first, second = ([plain(caption) for caption in side] for side in (record.captions_0, record.captions_1))
    both = set(first) & set(second)
    if both:
        return f"{both.pop()!r} is a caption of both sides"
    if record.source != "render":
        return ""
    side = next((number for number, said in enumerate((first, second)) if said[0] == said[1]), None)
    return "" if side is None else f"captions_{side} are two times the same"


def _file_faults(base: Path, stats: dict[str, object], fingerprint: str) -> Iterator[str]:
    digests = stats["sha256"]
    assert isinstance(digests, dict)
    for suffix in (".tar", ".parquet"):
        path = base.with_suffix(suffix)
        if not path.is_file():
            yield f"{path.name} is missing"
        elif sha256(path) != digests.get(path.name):
            yield f"{path.name} is not the file that was written (sha256 differs)"
    # Shards of a merged run keep the fingerprints of their own runs.
    if fingerprint and stats.get("fingerprint", fingerprint) != fingerprint and "merged_from" not in stats:
        yield "made by another configuration than run.json says"


def _count_faults(stats: dict[str, object], rows: list[Row]) -> Iterator[str]:
    accepted = sum(row.status == "accepted" for row in rows)
    counted = {
        "planned": len(rows),
        "accepted": accepted,
        "rejected": len(rows) - accepted,
        "reasons": dict(Counter(row.reason for row in rows if row.reason)),
    }
    for name, value in counted.items():
        if stats[name] != value:
            yield f"{name}: the json says {stats[name]}, the parquet holds {value}"


def _mask_faults(data: bytes | None, objects: tuple[ObjectRecord, ...], record: PairRecord, side: int) -> Iterator[str]:
    if data is None:
        return
    try:
        with Image.open(io.BytesIO(data)) as picture:
            mask = np.asarray(picture)
    except (OSError, ValueError, SyntaxError) as error:
        yield f"mask_{side} does not decode ({error})"
        return
    if mask.shape != (record.height, record.width) or mask.dtype != np.uint8:
        yield f"mask_{side} is {mask.shape} {mask.dtype}"
        return
    if int(mask.max()) > len(objects):
        yield f"mask_{side} holds {int(mask.max())}, there are {len(objects)} objects"
    for number, item in enumerate(objects):
        own = mask == number + 1
        if box_of(own) != item.box:
            yield f"mask_{side}: the {item.noun} is in {box_of(own)}, the record says {item.box}"
        if int(own.sum()) != item.visible_px:
            yield f"mask_{side}: the {item.noun} has {int(own.sum())} pixels, the record says {item.visible_px}"
