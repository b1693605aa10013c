"""Reading what is audited: every row for splits, a bounded number of pairs for everything that looks inside."""

import dataclasses
import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.audit.labels import Fault, label_faults
from generator.audit.pictures import Picture, measure
from generator.errors import ConfigError, DataError, no_run
from generator.progress import Meter
from generator.records import SPLITS, PairRecord, Sample, find_shards, read_shard
from generator.rng import unit
from generator.shards import read_json, read_rows

# Shards are opened until they hold so many times the pairs wanted: enough to draw from, without reading a large run.
SPARE = 2
LIGHT = (
    "light from the right", "light from above", "light softness", "key strength", "fill strength", "fill red",
    "fill green", "fill blue", "camera to the right", "camera height", "focal length", "camera roll",
)  # fmt: skip


BySplit = dict[str, Counter[str]]


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair as the checks see it.

    record: without its scenes. pictures: measured images, None where the pair has none. light: (12,) what LIGHT names,
    empty where there is no scene. progress: its place in its run, 0 first to 1 last. faults: of its labels.
    """

    record: PairRecord
    pictures: tuple[Picture, Picture | None]
    light: NDArray[np.float32]
    progress: float
    faults: tuple[Fault, ...]
    masked: bool


@dataclass(frozen=True)
class Group:
    """Pairs that ask the same kind of question. source: "render", "coco", ...; protocol: "shared" or ""."""

    source: str
    task: str
    protocol: str
    pairs: tuple[Pair, ...]
    available: int

    @property
    def name(self) -> str:
        """As people read it: "negation (shared) of photographs"."""
        protocol = f" ({self.protocol})" if self.protocol else ""
        return f"{self.task}{protocol}{' of photographs' if self.source == 'coco' else ''}"


@dataclass(frozen=True)
class Holdings:
    """What every split shows, over all accepted pairs: split -> how often each asset, noun, background, photo.

    promise: what no two splits share beyond the pair itself: "pair" nothing, "asset", or "noun".
    """

    promise: str
    pairs: Counter[str] = field(default_factory=Counter)
    assets: BySplit = field(default_factory=lambda: defaultdict(Counter))
    nouns: BySplit = field(default_factory=lambda: defaultdict(Counter))
    backgrounds: BySplit = field(default_factory=lambda: defaultdict(Counter))
    photos: BySplit = field(default_factory=lambda: defaultdict(Counter))


@dataclass(frozen=True)
class Found:
    """Everything that was read."""

    groups: tuple[Group, ...]
    holdings: Holdings


def read(folders: Sequence[Path], limit: int, seed: int) -> Found:
    """At most `limit` pairs of every task, drawn at random over the folders and splits, with what was measured of them.

    Raises ConfigError on a limit below 1, DataError where a folder is no run, holds no pair, or is damaged.
    """
    if limit < 1:
        raise ConfigError(f"--limit must be at least 1, not {limit}")
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise ConfigError("a run directory is given twice")
    configs = [config for folder in folders for config in _configs(folder)]
    shards = [shard for folder in folders for shard in find_shards([folder])]
    holdings = Holdings(_promise(configs))
    sizes: dict[tuple[str, str], dict[Path, int]] = defaultdict(dict)
    last: dict[str, int] = {}
    for shard in shards:
        counts: Counter[tuple[str, str]] = Counter()
        for row in read_rows(shard.with_suffix(".parquet")):
            last[str(_root(shard))] = max(last.get(str(_root(shard)), 0), row.index)
            if row.status != "accepted":
                continue
            counts[row.task, row.split] += 1
            holdings.pairs[row.split] += 1
            if not row.image_ids:
                holdings.assets[row.split].update(set(row.uids))
                holdings.nouns[row.split].update(set(row.nouns))
            holdings.backgrounds[row.split].update({row.background} - {""})
            holdings.photos[row.split].update(row.image_ids)
        for part, count in counts.items():
            sizes[part][shard] = count
    if not sizes:
        raise DataError(f"{', '.join(map(str, folders))}: no accepted pair in a complete shard; nothing to audit yet")
    wanted = _choose(sizes, limit, seed)
    pairs: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    with Meter("shards read", len(wanted)) as meter:
        for shard in sorted(wanted):
            end = max(1, last[str(_root(shard))])
            for sample in read_shard(shard):
                if sample.record.key in wanted[shard]:
                    record = sample.record
                    pairs[record.source, record.task, _protocol(record)].append(_pair(sample, end, shard))
            meter.step()
    totals: Counter[str] = Counter()
    for (task, _), parts in sizes.items():
        totals[task] += sum(parts.values())
    groups = tuple(Group(*key, tuple(found), totals[key[1]]) for key, found in sorted(pairs.items()))
    return Found(groups, holdings)


def _root(shard: Path) -> Path:
    """OUT of OUT/train/00000.tar."""
    return shard.parent.parent


def _configs(folder: Path) -> Iterator[dict[str, Any]]:
    if not (folder / "run.json").is_file():
        raise DataError(no_run(folder))
    run = read_json(folder / "run.json")
    for part in run.get("runs", [run]):
        # A merge of merges holds its runs one level deeper.
        yield from (inner["config"] for inner in part.get("runs", [part]))


def _promise(configs: Sequence[Mapping[str, Any]]) -> str:
    """What no two splits share: "noun" and "asset" only if all rendered runs say so."""
    said = {str(config["split_by"]) for config in configs if "split_by" in config}
    return said.pop() if len(said) == 1 else "asset" if said == {"asset", "noun"} else "pair"


def _choose(sizes: Mapping[tuple[str, str], Mapping[Path, int]], limit: int, seed: int) -> dict[Path, set[str]]:
    """Keys to read from each shard: `limit` of every task, shared out over its splits as they are, none left out."""
    wanted: dict[Path, set[str]] = defaultdict(set)
    by_task: dict[str, dict[str, int]] = defaultdict(dict)
    for (task, split), shards in sizes.items():
        by_task[task][split] = sum(shards.values())
    for task, splits in by_task.items():
        for split, quota in _quotas(splits, limit).items():
            shards = sizes[task, split]
            opened, held = [], 0
            for shard in sorted(shards, key=lambda path: unit(seed, "audit", "shard", *path.parts[-3:])):
                if held >= SPARE * quota:
                    break
                opened.append(shard)
                held += shards[shard]
            drawn = heapq.nsmallest(quota, _keys(opened, task, split, seed))
            for _, key, number in drawn:
                wanted[opened[number]].add(key)
    return wanted


def _quotas(sizes: Mapping[str, int], limit: int) -> dict[str, int]:
    """Pairs to draw from each split: in proportion, but a tenth of the places where a split is so small, for copies and
    memories are looked for between splits; the largest split gets what is left."""
    total, largest = sum(sizes.values()), max(sizes, key=lambda split: sizes[split])
    quotas = {split: min(size, max(round(limit * size / total), limit // 10)) for split, size in sizes.items()}
    quotas[largest] = min(sizes[largest], limit - sum(quotas[split] for split in sizes if split != largest))
    return quotas


def _keys(shards: Sequence[Path], task: str, split: str, seed: int) -> Iterator[tuple[float, str, int]]:
    for number, shard in enumerate(shards):
        for row in read_rows(shard.with_suffix(".parquet")):
            if (row.status, row.task, row.split) == ("accepted", task, split):
                yield unit(seed, "audit", "pair", *shard.parts[-3:], row.key), row.key, number


def _protocol(record: PairRecord) -> str:
    return "shared" if record.task == "negation" and record.words[1] == "and" else ""


def _pair(sample: Sample, last_index: int, shard: Path) -> Pair:
    record = sample.record
    # One region for both images: a hole where an object is on one side only would tell the side.
    twins = record.source != "coco" or record.task != "negation"
    objects = (record.objects_0 + record.objects_1,) * 2 if twins else (record.objects_0, record.objects_1)
    pictures: list[Picture | None] = []
    for side in (0, 1):
        data = sample.image(side)
        where = f"{shard}: {record.key}.image_{side}"
        pictures.append(None if data is None else measure(data, objects[side], (record.width, record.height), where))
    first, second = pictures
    assert first is not None, "read_shard checks that every pair has its first image"
    return Pair(
        record=dataclasses.replace(record, scene_0="", scene_1=""),
        pictures=(first, second),
        light=_light(record.scene_0),
        progress=record.index / last_index,
        faults=tuple(label_faults(sample)),
        masked=sample.mask(0) is not None,
    )


def _light(scene: str) -> NDArray[np.float32]:
    try:
        raw = json.loads(scene or "{}")
        light, camera = raw["light"], raw["camera"]
        values = [
            light["azimuth_deg"],
            light["elevation_deg"],
            light["angle_deg"],
            light["key_strength"],
            light["fill_strength"],
            *light["fill_rgb"],
            camera["position_m"][0] - camera["look_at_m"][0],
            camera["position_m"][2] - camera["look_at_m"][2],
            camera["focal_length_mm"],
            camera["roll_deg"],
        ]
    except (KeyError, ValueError):
        return np.empty(0, np.float32)
    return np.array(values, np.float32)


def splits_of(holdings: Holdings) -> tuple[str, ...]:
    """The splits that hold pairs, in their usual order."""
    return tuple(split for split in SPLITS if holdings.pairs[split])
