"""`python -m generator validate DIR`: is a finished run what it claims to be? Everything is read again.

Files against their digests and counts; records against their schema, images, masks and captions; pairs against one
another. Shards are checked in several processes; what the whole run must hold in memory is some 210 bytes a pair.
"""

import bisect
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from generator.cli import Validate
from generator.errors import ConfigError
from generator.progress import Meter
from generator.records import SPLITS
from generator.shards import STAGING
from generator.storage import Reading, is_stats, lacking
from generator.validate.lookalikes import LOOK, Looks, candidates, glances, perceptual_hash, same_glance
from generator.validate.shard import SUFFIXES, ShardReport, check_shard

__all__ = ["perceptual_hash", "run_validate", "validate"]

SHOWN = 40
# Pairs that look like another one which are looked at closely; a run where there are more is broken anyway.
CLOSELY = 2000


@dataclass
class Found:
    """What came out for one run: accepted pairs, and how many of them have the captions of another."""

    pairs: int = 0
    repeated: int = 0


def run_validate(config: Validate) -> int:
    """The `validate` verb: 0 when nothing is wrong, 1 when something is, each fault on a line."""
    if not config.dirs:
        raise ConfigError("nothing to check; name one or more run directories")
    shown, faults = 0, 0
    total = Found()

    def report(fault: str) -> None:
        nonlocal shown, faults
        faults += 1
        if shown < SHOWN:
            shown += 1
            print(f"fault: {fault}")

    for folder in config.dirs:
        found = validate(folder, config.workers or os.cpu_count() or 1, report)
        total.pairs += found.pairs
        total.repeated += found.repeated
    if faults > shown:
        print(f"... and {faults - shown} more faults")
    if total.repeated:
        print(f"{total.repeated} pairs say the same as another one and show something else")
    print(f"{total.pairs} accepted pairs checked, {faults or 'no'} fault{'' if faults == 1 else 's'}")
    return 1 if faults else 0


def validate(out: Path, workers: int, report: Callable[[str], None]) -> Found:
    """Check a run, by directory or URL; `report` gets every fault. Raises DataError where there is no run."""
    run = Reading(out)
    names = run.names()
    described = run.described(names)
    staged = any((out / STAGING).glob("*/*.pair"))
    checked = _Checked()
    shards = sorted((name.removesuffix(".json") for name in names if is_stats(name)), key=_order)
    for fault in _unfinished(run, names, shards, staged):
        report(fault)
    with Meter("shards checked", len(shards)) as meter:
        for shard in _reports(run, shards, names, str(described.get("fingerprint", "")), workers):
            for fault in shard.faults:
                report(f"{shard.name}: {fault}")
            checked.add(shard)
            meter.step()
    if fault := lacking(described, checked.planned):
        report(fault)
    looks = checked.looks()
    same = 0
    for fault in _twice(run, checked, looks):
        report(fault)
        same += 1
    return Found(len(looks), max(0, len(looks) - len(np.unique(looks["captions"])) - same))


def _unfinished(run: Reading, names: set[str], shards: list[str], staged: bool) -> Iterator[str]:
    complete = set(shards)
    for name in sorted(names):
        if name.startswith(SPLITS) and name.endswith(".tar") and name.removesuffix(".tar") not in complete:
            yield f"{name.removesuffix('.tar')}: not complete (no json); the same render command again finishes it"
    if staged:
        yield f"{run.name}: unfinished shards in {STAGING}; the same render command again finishes them"
    if not shards:
        yield f"{run.name}: no complete shard"


def _reports(run: Reading, shards: list[str], names: set[str], fingerprint: str, workers: int) -> Iterator[ShardReport]:
    there = [tuple(suffix for suffix in SUFFIXES if name + suffix in names) for name in shards]
    if workers == 1 or len(shards) < 2:
        yield from (check_shard(run, name, has, fingerprint) for name, has in zip(shards, there, strict=True))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(shards)), context) as pool:
        # A few at a time: `map` would hold the reports of all shards.
        step = 4 * workers
        for start in range(0, len(shards), step):
            part = shards[start : start + step]
            count = len(part)
            yield from pool.map(check_shard, [run] * count, part, there[start : start + step], [fingerprint] * count)


@dataclass
class _Checked:
    """The shards checked so far, in order, and what their pairs look like."""

    names: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    parts: list[Looks] = field(default_factory=list)
    planned: int = 0

    def add(self, shard: ShardReport) -> None:
        self.names.append(shard.name)
        self.starts.append(self.starts[-1] + len(shard.looks))
        self.parts.append(shard.looks)
        self.planned += shard.planned

    def looks(self) -> Looks:
        """Of all pairs, in one piece."""
        self.parts = [np.concatenate([np.empty(0, LOOK), *self.parts])]
        return self.parts[0]

    def place(self, number: int) -> tuple[str, int]:
        """The shard of a pair of the run, and its rank there."""
        shard = bisect.bisect_right(self.starts, number) - 1
        return self.names[shard], number - self.starts[shard]


def _twice(run: Reading, checked: _Checked, looks: Looks) -> Iterator[str]:
    """Pairs that show the same as another one."""
    found = sorted(candidates(looks))
    close = [(checked.place(one), checked.place(other)) for one, other in found[:CLOSELY]]
    wanted: dict[str, set[int]] = {}
    for name, rank in {place for pair in close for place in pair}:
        wanted.setdefault(name, set()).add(rank)
    seen = glances(run, wanted)
    for earlier, later in close:
        (key, pictures), (other_key, others) = seen[later], seen[earlier]
        if len(pictures) == len(others) and all(map(same_glance, pictures, others)):
            yield f"{later[0]} {key} shows the same as {earlier[0]} {other_key}"
    if len(found) > CLOSELY:
        yield f"{len(found) - CLOSELY} more pairs look like another one"


def _order(name: str) -> tuple[int, str]:
    """Shards in the usual order of the splits."""
    split, _, number = name.partition("/")
    return SPLITS.index(split), number.zfill(12)
