"""What is exported: the shards of finished runs, read one pair at a time, and what all their pairs have in common."""

import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.errors import ConfigError, DataError, unknown
from generator.merge import read_run
from generator.records import SPLITS, PairRecord, Sample, read_shard
from generator.shards import read_json
from generator.storage import Reading, is_stats, lacking, url_of

NO_SECOND_IMAGE = "no second image"


@dataclass(frozen=True)
class Shard:
    """One shard of a run: its name ("train/00000"), and how many pairs it says it has."""

    run: Reading
    name: str
    accepted: int

    @contextlib.contextmanager
    def tar(self) -> Iterator[Path]:
        """The tar, fetched where the run is in a store."""
        with self.run.at_hand([f"{self.name}.tar"]) as folder:
            yield folder / f"{self.name}.tar"


@dataclass(frozen=True)
class Source:
    """Finished runs, in directories or stores, and the splits asked for.

    shards: by split, in the order of the runs, splits without a pair left out. pairs: accepted pairs in them.
    twins: splits with a pair that has a second image. masks, jpeg: whether all pairs have masks, JPEG pictures.
    digest: of the content.
    """

    runs: tuple[Mapping[str, Any], ...]
    shards: Mapping[str, tuple[Shard, ...]]
    pairs: int
    twins: frozenset[str]
    masks: bool
    jpeg: bool
    digest: str
    _readings: tuple[Reading, ...]

    def samples(self, split: str) -> Iterator[Sample]:
        """The pairs of a split, one in memory at a time. Raises DataError on a damaged shard."""
        for shard in self.shards[split]:
            count = 0
            with shard.tar() as path:
                for sample in read_shard(path):
                    yield sample
                    count += 1
            if count != shard.accepted:
                raise DataError(
                    f"{shard.run.name}: {shard.name}.tar holds {count} pairs, its json says {shard.accepted}; "
                    "`python -m generator validate` tells more"
                )

    @contextlib.contextmanager
    def credits(self) -> Iterator[tuple[Path, ...]]:
        """For each run a folder with those of its credit tables that there are."""
        with contextlib.ExitStack() as stack:
            folders = []
            for run in self._readings:
                names = sorted({"credits.csv", "photo_credits.csv"} & run.names())
                folders.append(stack.enter_context(run.at_hand(names)))
            yield tuple(folders)


@dataclass(frozen=True)
class Part:
    """One split of an export, as a format gets it.

    folder: where the whole export is written. samples: (number from 0, pair). left_out: pairs that the format cannot
    hold, counted by reason.
    """

    folder: Path
    split: str
    samples: Iterator[tuple[int, Sample]]
    source: Source
    left_out: Counter[str]


# Writes the part and yields the record of every pair as soon as it is written.
Write = Callable[[Part], Iterator[PairRecord]]


@dataclass(frozen=True)
class Format:
    """How to write a format, what the card says on reading it, and where the Hub finds the files of a split."""

    write: Write
    reading: str
    data_files: str = ""


def read_source(wheres: tuple[Path, ...], split: str) -> Source:
    """Look at the runs without reading all their pairs. ConfigError, DataError where there is nothing to export."""
    if not wheres:
        raise ConfigError("nothing to export; name one or more run directories")
    wanted = _splits(split)
    readings = tuple(Reading(where) for where in wheres)
    runs = tuple(_run_json(run, where) for run, where in zip(readings, wheres, strict=True))
    for run, described in zip(readings, runs, strict=True):
        _check_whole(run, described)
    shards: dict[str, tuple[Shard, ...]] = {}
    digest = hashlib.sha256()
    firsts: dict[tuple[Reading, str], Sample] = {}
    twins = set[str]()
    for name in wanted:
        chosen = []
        for run in readings:
            for shard, stats in _shards(run, name):
                digest.update(f"{shard.name} {stats['sha256'][shard.name.rpartition('/')[2] + '.tar']}\n".encode())
                if not shard.accepted:
                    continue
                chosen.append(shard)
                # All pairs that one configuration made are alike: the first one tells of all.
                made_by = (run, stats.get("fingerprint") or shard.name)
                if made_by not in firsts:
                    firsts[made_by] = _first(shard)
                if firsts[made_by].record.has_image_1:
                    twins.add(name)
        if chosen:
            shards[name] = tuple(chosen)
    if not shards:
        where = ", ".join(run.name for run in readings) + (f" in the split {split}" if split else "")
        raise DataError(f"no accepted pair in {where}")
    return Source(
        runs=runs,
        shards=shards,
        pairs=sum(shard.accepted for chosen in shards.values() for shard in chosen),
        twins=frozenset(twins),
        masks=all(sample.mask(0) is not None for sample in firsts.values()),
        jpeg=all("image_0.jpg" in sample.files for sample in firsts.values()),
        digest=digest.hexdigest(),
        _readings=readings,
    )


def _run_json(run: Reading, where: Path) -> dict[str, Any]:
    if url_of(where) and "run.json" not in run.names():
        raise DataError(f"{run.name}: no run is there (no run.json)")
    with run.at_hand(["run.json"]) as folder:
        return read_run(folder)


def _shards(run: Reading, split: str) -> list[tuple[Shard, dict[str, Any]]]:
    """The complete shards of a split with their jsons, by number."""
    names = sorted(name for name in run.names() if is_stats(name) and name.startswith(f"{split}/"))
    with run.at_hand(names) as folder:
        stats = [read_json(folder / name) for name in names]
    return [
        (Shard(run, name.removesuffix(".json"), found["accepted"]), found)
        for name, found in zip(names, stats, strict=True)
    ]


def _check_whole(run: Reading, described: dict[str, Any]) -> None:
    """DataError where whole shards are missing."""
    if fault := lacking(described, sum(stats["planned"] for split in SPLITS for _, stats in _shards(run, split))):
        raise DataError(f"{run.name}: {fault}")


def _first(shard: Shard) -> Sample:
    with shard.tar() as path:
        first = next(read_shard(path), None)
    if first is None:
        raise DataError(f"{shard.run.name}: no pair in {shard.name}.tar, its json says {shard.accepted}")
    return first


def _splits(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in SPLITS:
            raise ConfigError(f"--split: {unknown('split', name, SPLITS)}")
    return tuple(name for name in SPLITS if name in names or not names)
