"""The plan: which pair belongs to which split and shard, and which assets each split may show.

Everything here is a function of (seed, index): nothing is drawn in advance, so ten million pairs cost no memory and
the first shard is known at once.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generator.assets.catalog import Catalog
from generator.errors import AssetError, ConfigError, unknown
from generator.records import SPLITS
from generator.rng import digest, unit

GOLDEN = (math.sqrt(5) - 1) / 2
CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """The pairs of one shard: their indices, ascending."""

    split: str
    number: int
    indices: tuple[int, ...]


def parse_shares(text: str) -> dict[str, float]:
    """`train=0.9,val=0.05,test=0.05` as shares that add up to 1, splits in their usual order, zero shares left out."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        if name not in SPLITS:
            raise ConfigError(f"--split: {unknown('split', name, SPLITS)}")
        if name in shares:
            raise ConfigError(f"--split: {name} is given twice")
        try:
            shares[name] = float(value)
        except ValueError:
            raise ConfigError(f"--split: {part.strip()!r} is not like train=0.9") from None
    if any(not 0 <= share <= 1 for share in shares.values()) or not math.isclose(
        sum(shares.values()), 1.0, abs_tol=1e-6
    ):
        raise ConfigError(f"--split: shares must be between 0 and 1 and add up to 1; {text!r} does not")
    return {name: shares[name] for name in SPLITS if shares.get(name, 0.0) > 0}


def splits_of(seed: int, indices: NDArray[np.int64], shares: Mapping[str, float]) -> list[str]:
    """The split of each index. A golden-ratio sequence keeps the shares exact to a few pairs in every prefix."""
    names = list(shares)
    bounds = np.cumsum([shares[name] for name in names])
    places = np.modf(indices * GOLDEN + unit(seed, "split"))[0]
    numbers = np.minimum(np.searchsorted(bounds, places, side="right"), len(names) - 1)
    return [names[int(number)] for number in np.atleast_1d(numbers)]


def shard_plans(seed: int, n: int, shares: Mapping[str, float], shard_size: int) -> Iterator[ShardPlan]:
    """The shards of a run in the order in which they fill up; the last of each split may be short."""
    filling: dict[str, list[int]] = {name: [] for name in shares}
    numbers = dict.fromkeys(shares, 0)
    for start in range(0, n, CHUNK):
        indices = np.arange(start, min(start + CHUNK, n))
        for index, split in zip(indices.tolist(), splits_of(seed, indices, shares), strict=True):
            filling[split].append(index)
            if len(filling[split]) == shard_size:
                yield ShardPlan(split, numbers[split], tuple(filling[split]))
                filling[split] = []
                numbers[split] += 1
    for split, indices_left in filling.items():
        if indices_left:
            yield ShardPlan(split, numbers[split], tuple(indices_left))


# Assets or nouns of a split with a small share, where there are enough: its pairs should not all be alike.
SMALLEST_SPLIT = 8


def split_catalogs(catalog: Catalog, by: str, shares: Mapping[str, float], least: int) -> dict[str, Catalog]:
    """The assets that each split may show. by "pair": all; "asset" or "noun": no asset, or noun, is in two splits.

    The same for every seed and task, so that runs of several can be merged and still share nothing between splits.
    least: nouns that the task needs at a time.
    """
    if by == "pair" or len(shares) == 1:
        return dict.fromkeys(shares, catalog)
    nouns = list(catalog.by_noun)
    units = nouns if by == "noun" else [asset.uid for asset in catalog.assets]
    units = sorted(units, key=lambda name: digest(0, "split by", by, name))
    floor = min(SMALLEST_SPLIT, len(units) // len(shares))
    counts = {name: max(floor, round(share * len(units))) for name, share in shares.items()}
    largest = max(shares, key=lambda name: shares[name])
    counts[largest] += len(units) - sum(counts.values())
    catalogs, start = {}, 0
    for name, count in counts.items():
        chosen = set(units[start : start + count])
        start += count
        part = tuple(asset for asset in catalog.assets if (asset.noun if by == "noun" else asset.uid) in chosen)
        catalogs[name] = Catalog(part, ())
        found = len(catalogs[name].by_noun)
        if found < least:
            raise AssetError(
                f"--split-by {by}: split {name} would have {found} nouns and the task needs {least}: "
                f"there are {len(nouns)} nouns in all; give more assets or fewer splits"
            )
    return catalogs
