"""What is exported: the shards of finished runs, read one pair at a time, and what all their pairs have in common."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.errors import ConfigError, DataError, unknown
from generator.merge import read_run
from generator.records import SPLITS, PairRecord, Sample, find_shards, read_shard
from generator.shards import read_json

NO_SECOND_IMAGE = "no second image"


@dataclass(frozen=True)
class Source:
    """Finished runs and the splits asked for.

    shards: by split, in the order of the runs, splits without a pair left out. pairs: accepted pairs in them.
    twins: splits with a pair that has a second image. masks, jpeg: whether all pairs have masks, JPEG pictures.
    digest: of the content.
    """

    folders: tuple[Path, ...]
    runs: tuple[Mapping[str, Any], ...]
    shards: Mapping[str, tuple[Path, ...]]
    pairs: int
    twins: frozenset[str]
    masks: bool
    jpeg: bool
    digest: str

    def samples(self, split: str) -> Iterator[Sample]:
        """The pairs of a split, one in memory at a time. Raises DataError on a damaged shard."""
        for path in self.shards[split]:
            count, accepted = 0, read_json(path.with_suffix(".json"))["accepted"]
            for sample in read_shard(path):
                yield sample
                count += 1
            if count != accepted:
                raise DataError(
                    f"{path} holds {count} pairs, its json says {accepted}; `python -m generator validate` tells more"
                )


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


def read_source(folders: tuple[Path, ...], split: str) -> Source:
    """Look at the runs without reading their pairs. ConfigError, DataError where there is nothing to export."""
    wanted = _splits(split)
    runs = tuple(read_run(folder) for folder in folders)
    shards: dict[str, tuple[Path, ...]] = {}
    digest = hashlib.sha256()
    pairs, firsts = 0, list[Sample]()
    twins = set[str]()
    for name in wanted:
        chosen = []
        for path in (path for folder in folders for path in find_shards([folder], name)):
            stats = read_json(path.with_suffix(".json"))
            digest.update(f"{name} {stats['sha256'][path.name]}\n".encode())
            if stats["accepted"]:
                chosen.append(path)
                pairs += stats["accepted"]
                # All pairs of a shard are made alike: the first one tells of all.
                first = next(read_shard(path), None)
                if first is None:
                    raise DataError(f"{path}: no pair in it, its json says {stats['accepted']}")
                firsts.append(first)
                if first.record.has_image_1:
                    twins.add(name)
        if chosen:
            shards[name] = tuple(chosen)
    if not pairs:
        raise DataError(
            f"no accepted pair in {', '.join(map(str, folders))}" + (f" in the split {split}" if split else "")
        )
    return Source(
        folders=folders,
        runs=runs,
        shards=shards,
        pairs=pairs,
        twins=frozenset(twins),
        masks=all(sample.mask(0) is not None for sample in firsts),
        jpeg=all("image_0.jpg" in sample.files for sample in firsts),
        digest=digest.hexdigest(),
    )


def _splits(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in SPLITS:
            raise ConfigError(f"--split: {unknown('split', name, SPLITS)}")
    return tuple(name for name in SPLITS if name in names or not names)
