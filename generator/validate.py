"""`python -m generator validate DIR`: is a finished run what it claims to be? Everything is read again from disk.

Files against their digests and counts; records against their schema, images, masks and captions; pairs against one
another. Shards are checked in several processes; what the whole run must hold in memory is 24 bytes a pair.
"""

import hashlib
import io
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generator.cli import Validate
from generator.errors import DataError, UserError
from generator.progress import Meter
from generator.records import SPLITS, ObjectRecord, PairRecord, Sample, key_of, read_shard
from generator.shards import STAGING, Row, read_json, read_rows, row_of, sha256
from generator.truth import captions_fault, fact_fault
from generator.verify import box_of

SHOWN = 40
# Side of the grid of the perceptual hash: brightness differences between neighbours in a picture of so few pixels.
HASH_SIDE = 16
DIGEST = np.dtype([("low", "<u8"), ("high", "<u8")])


@dataclass(frozen=True)
class ShardReport:
    """What was found in one shard: faults, and the digest of the pictures of each pair in the tar."""

    name: str
    faults: tuple[str, ...]
    digests: tuple[bytes, ...]


def run_validate(config: Validate) -> int:
    """The `validate` verb: 0 when nothing is wrong, 1 when something is, each fault on a line."""
    shown = 0
    faults, pairs = 0, 0

    def report(fault: str) -> None:
        nonlocal shown, faults
        faults += 1
        if shown < SHOWN:
            shown += 1
            print(f"fault: {fault}")

    for folder in config.dirs:
        pairs += validate(folder, config.workers or os.cpu_count() or 1, report)
    if faults > shown:
        print(f"... and {faults - shown} more faults")
    print(f"{pairs} accepted pairs checked, {faults or 'no'} fault{'' if faults == 1 else 's'}")
    return 1 if faults else 0


def validate(out: Path, workers: int, report: Callable[[str], None]) -> int:
    """Check a run directory; `report` gets every fault. The number of accepted pairs.

    Raises DataError where `out` is no run directory.
    """
    if not (out / "run.json").is_file():
        raise DataError(f"{out}: not a run directory (no run.json)")
    fingerprint = str(read_json(out / "run.json").get("fingerprint", ""))
    bases = sorted(path.with_suffix("") for split in SPLITS for path in (out / split).glob("*.json"))
    for fault in _unfinished(out, bases):
        report(fault)
    if not bases:
        report(f"{out}: no complete shard")
    digests: list[NDArray[np.void]] = []
    names: list[str] = []
    with Meter("shards checked", len(bases)) as meter:
        for shard in _checked(bases, fingerprint, workers):
            for fault in shard.faults:
                report(f"{shard.name}: {fault}")
            digests.append(np.frombuffer(b"".join(shard.digests), DIGEST))
            names.append(shard.name)
            meter.step()
    for fault in _duplicates(names, digests, out):
        report(fault)
    return sum(len(part) for part in digests)


def check_shard(base: Path, fingerprint: str) -> ShardReport:
    """Everything that one shard must hold by itself. base: OUT/train/00000."""
    name = f"{base.parent.name}/{base.name}"
    faults: list[str] = []
    digests: list[bytes] = []
    try:
        stats = read_json(base.with_suffix(".json"))
        faults += _file_faults(base, stats, fingerprint)
        rows = read_rows(base.with_suffix(".parquet"))
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
            digest, found = check_sample(sample)
            faults += [f"{record.key}: {fault}" for fault in found]
            digests.append(digest)
        faults += [f"{key} is an accepted row of the parquet and not in the tar" for key in wanted]
    except (UserError, KeyError, ValueError) as error:
        faults.append(str(error) if isinstance(error, UserError) else f"damaged: {error!r}")
    return ShardReport(name, tuple(faults), tuple(digests))


def check_sample(sample: Sample) -> tuple[bytes, list[str]]:
    """The digest of a pair's pictures by what they show, 16 bytes, and what is wrong with the pair."""
    record = sample.record
    faults: list[str] = []
    if record.key != key_of(record.task, record.index):
        faults.append(f"its key does not follow from task {record.task!r} and index {record.index}")
    hashes: list[bytes] = []
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
                hashes.append(perceptual_hash(picture))
        except (OSError, ValueError, SyntaxError) as error:
            faults.append(f"image_{side} does not decode ({error})")
    if len(hashes) == 2 and sample.image(0) == sample.image(1):
        faults.append("the two images are the same")
    for side, objects in enumerate((record.objects_0, record.objects_1)):
        faults += _mask_faults(sample.mask(side), objects, record, side)
    faults += [fault for fault in (captions_fault(record), fact_fault(record)) if fault]
    return hashlib.sha256(b"".join(hashes)).digest()[:16], faults


def perceptual_hash(picture: Image.Image) -> bytes:
    """Which of neighbouring cells is brighter, in a grid of 16 x 16, across and down: the same after recompression."""
    side = HASH_SIDE + 1
    values = np.asarray(picture.convert("L").resize((side, side), Image.Resampling.BOX), np.int16)
    across, down = values[:-1, 1:] > values[:-1, :-1], values[1:, :-1] > values[:-1, :-1]
    return np.packbits(np.stack([across, down])).tobytes()


def _unfinished(out: Path, bases: list[Path]) -> Iterator[str]:
    complete = set(bases)
    for split in SPLITS:
        for path in sorted((out / split).glob("*.tar")):
            if path.with_suffix("") not in complete:
                yield f"{split}/{path.stem}: not complete (no json); the same render command again finishes it"
    if any((out / STAGING).glob("*/*.pair")):
        yield f"{out}: unfinished shards in {STAGING}; the same render command again finishes them"


def _checked(bases: list[Path], fingerprint: str, workers: int) -> Iterator[ShardReport]:
    if workers == 1 or len(bases) < 2:
        yield from (check_shard(base, fingerprint) for base in bases)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(bases)), context) as pool:
        # A few at a time: `map` would hold the reports of all shards.
        step = 4 * workers
        for start in range(0, len(bases), step):
            part = bases[start : start + step]
            yield from pool.map(check_shard, part, [fingerprint] * len(part))


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


def _duplicates(names: list[str], by_shard: list[NDArray[np.void]], out: Path) -> Iterator[str]:
    """Pairs whose pictures show the same as another pair's."""
    every = np.concatenate([np.empty(0, DIGEST), *by_shard])
    order = np.lexsort((every["high"], every["low"]))
    ranked = every[order]
    same = np.flatnonzero(ranked[1:] == ranked[:-1])
    starts = np.cumsum([0, *(len(part) for part in by_shard)])

    def place(position: int) -> str:
        shard = int(np.searchsorted(starts, position, side="right")) - 1
        rank = position - int(starts[shard])
        return f"{names[shard]} {_key_at(out / names[shard], rank)}"

    for number in same:
        yield f"{place(int(order[number + 1]))} shows the same as {place(int(order[number]))}"


def _key_at(base: Path, rank: int) -> str:
    """The key of the accepted pair at a place of a shard."""
    accepted = [row.key for row in read_rows(base.with_suffix(".parquet")) if row.status == "accepted"]
    return accepted[rank] if rank < len(accepted) else f"pair {rank}"
