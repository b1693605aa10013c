"""Reading a run directory, finished or not, and choosing the pairs that stand for it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from generator.errors import DataError
from generator.records import SPLITS, Sample, find_shards, read_shard
from generator.shards import STAGING, Row, read_rows

# A sample costs reading its whole shard: a large run is shown through a few shards of each split, spread evenly.
MAX_SHARDS = 8
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """A run directory as found: complete shards with their rows, and how many finished pairs are not in one yet."""

    out: Path
    shards: tuple[tuple[Path, tuple[Row, ...]], ...]
    staged: int

    @property
    def rows(self) -> list[Row]:
        """All planned pairs of the complete shards."""
        return [row for _, rows in self.shards for row in rows]


def read_run(out: Path) -> Run:
    """Raises DataError where `out` is no run directory or a shard is damaged."""
    if not (out / "run.json").exists():
        raise DataError(f"{out}: not a run directory (no run.json); give what --out of render was")
    shards = tuple(
        (path, tuple(read_rows(path.with_suffix(".parquet")))) for path in sorted(find_shards([out]), key=_order)
    )
    return Run(out, shards, sum(1 for _ in (out / STAGING).glob("*/*.pair")))


def choose_samples(run: Run, limit: int) -> list[Sample]:
    """At most `limit` accepted pairs, evenly over splits and tasks and within each, in the order of the shards."""
    groups: dict[tuple[str, str], list[tuple[Path, str]]] = defaultdict(list)
    for path, rows in run.shards:
        for row in rows:
            if row.status == "accepted":
                groups[row.split, row.task].append((path, row.key))
    quotas = share_out({group: len(pairs) for group, pairs in groups.items()}, limit)
    wanted: dict[Path, set[str]] = defaultdict(set)
    for group, pairs in groups.items():
        paths = set(evenly(list(dict.fromkeys(path for path, _ in pairs)), MAX_SHARDS))
        for path, key in evenly([pair for pair in pairs if pair[0] in paths], quotas[group]):
            wanted[path].add(key)
    return [
        sample
        for path, _ in run.shards
        if path in wanted
        for sample in read_shard(path)
        if sample.record.key in wanted[path]
    ]


def choose_rejected(run: Run, limit: int) -> list[Row]:
    """At most `limit` rejected pairs, evenly over the reasons."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in run.rows:
        if row.status == "rejected":
            groups[row.reason].append(row)
    quotas = share_out({reason: len(rows) for reason, rows in groups.items()}, limit)
    return [row for reason in sorted(groups) for row in evenly(groups[reason], quotas[reason])]


def _order(shard: Path) -> tuple[int, Path]:
    """The splits in their usual order, then by number."""
    split = shard.parent.name
    return SPLITS.index(split) if split in SPLITS else len(SPLITS), shard


def share_out(sizes: dict[T, int], limit: int) -> dict[T, int]:
    """Places for each group: equal, except that a group too small for its share leaves the rest to the others."""
    shares: dict[T, int] = {}
    left = limit
    for position, group in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        shares[group] = min(sizes[group], left // (len(sizes) - position))
        left -= shares[group]
    return shares


def evenly(items: Sequence[T], count: int) -> list[T]:
    """At most `count` of the items, spread evenly over them."""
    if len(items) <= count:
        return list(items)
    return [items[(2 * place + 1) * len(items) // (2 * count)] for place in range(count)]
