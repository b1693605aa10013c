"""Reading a run directory, finished or not, and choosing the pairs that stand for it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from generator.errors import DataError, no_run
from generator.journal import count_staged
from generator.preview.counts import Counts
from generator.records import SPLITS, Sample, find_shards, read_shard
from generator.shards import STAGING, Row, read_rows

# A pair costs reading its whole shard: a large run is shown through a few shards of each kind, spread evenly.
MAX_SHARDS = 8
T = TypeVar("T")
PerShard = dict[Path, int]


@dataclass(frozen=True)
class Run:
    """A run directory as found, in numbers only: a run may hold millions of pairs.

    accepted: by split and task, how many each shard has; rejected: the same by reason; staged: finished pairs that
    are in no complete shard yet.
    """

    shards: tuple[Path, ...]
    accepted: Mapping[tuple[str, str], PerShard]
    rejected: Mapping[str, PerShard]
    counts: Counts
    staged: int


def read_run(out: Path) -> Run:
    """Raises DataError where `out` is no run directory or a shard is damaged."""
    if not (out / "run.json").exists():
        raise DataError(no_run(out))
    shards = tuple(sorted(find_shards([out]), key=_order))
    accepted: dict[tuple[str, str], PerShard] = defaultdict(Counter)
    rejected: dict[str, PerShard] = defaultdict(Counter)
    counts = Counts()
    for path in shards:
        for row in read_rows(path.with_suffix(".parquet")):
            counts.add(row)
            if row.status == "accepted":
                accepted[row.split, row.task][path] += 1
            else:
                rejected[row.reason][path] += 1
    return Run(shards, accepted, rejected, counts, count_staged(out / STAGING))


def shards_to_open(run: Run, limit: int) -> list[Path]:
    """The shards that `choose_samples` will read."""
    return list(_choose(run.accepted, limit))


def choose_samples(run: Run, limit: int) -> list[Sample]:
    """At most `limit` accepted pairs, evenly over splits and tasks and within each, in the order of the shards."""
    wanted = _choose(run.accepted, limit)
    samples = []
    for path in run.shards:
        if path not in wanted:
            continue
        passed: Counter[tuple[str, str]] = Counter()
        for sample in read_shard(path):
            group = (sample.record.split, sample.record.task)
            if (group, passed[group]) in wanted[path]:
                samples.append(sample)
            passed[group] += 1
    return samples


def choose_rejected(run: Run, limit: int) -> list[Row]:
    """At most `limit` rejected pairs, evenly over the reasons, sorted by reason."""
    wanted = _choose(run.rejected, limit)
    rows = []
    for path in run.shards:
        if path not in wanted:
            continue
        passed: Counter[str] = Counter()
        for row in read_rows(path.with_suffix(".parquet")):
            if row.status == "rejected":
                if (row.reason, passed[row.reason]) in wanted[path]:
                    rows.append(row)
                passed[row.reason] += 1
    return sorted(rows, key=lambda row: row.reason)


def share_out(sizes: Mapping[T, int], limit: int) -> dict[T, int]:
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


def _choose(groups: Mapping[T, PerShard], limit: int) -> dict[Path, set[tuple[T, int]]]:
    """For each shard to be read, which of its pairs: (group, how many of that group come before it there)."""
    quotas = share_out({group: sum(shards.values()) for group, shards in groups.items()}, limit)
    wanted: dict[Path, set[tuple[T, int]]] = defaultdict(set)
    for group, shards in groups.items():
        places = [(path, place) for path in evenly(list(shards), MAX_SHARDS) for place in range(shards[path])]
        for path, place in evenly(places, quotas[group]):
            wanted[path].add((group, place))
    return wanted


def _order(shard: Path) -> tuple[int, Path]:
    """The splits in their usual order, then by number."""
    split = shard.parent.name
    return SPLITS.index(split) if split in SPLITS else len(SPLITS), shard
