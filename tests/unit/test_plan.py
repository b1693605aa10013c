"""The plan: exact shares, shards that are a partition, prefixes that stay, and splits that share nothing."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import NOUNS, catalog_of

from generator.errors import AssetError, ConfigError
from generator.plan import ShardPlan, parse_shares, shard_plans, split_catalogs, splits_of

SHARES = parse_shares("train=0.9,val=0.05,test=0.05")
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "plan.json"
SEEDS = st.integers(0, 2**32)


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("train=0.9,val=0.05,test=0.05", {"train": 0.9, "val": 0.05, "test": 0.05}),
        ("test=0.5, train=0.5", {"train": 0.5, "test": 0.5}),
        ("train=1", {"train": 1.0}),
        ("train=1,val=0,test=0", {"train": 1.0}),
    ],
)
def test_shares(text: str, shares: dict[str, float]) -> None:
    assert list(parse_shares(text).items()) == list(shares.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train=0.9", "add up to 1"),
        ("train=0.9,val=0.2", "add up to 1"),
        ("train=1.5,val=-0.5", "between 0 and 1"),
        ("train=nan", "--split"),
        ("train=0.5,dev=0.5", "unknown split 'dev'; known: train, val, test"),
        ("train=0.5,train=0.5", "train is given twice"),
        ("train", "'train' is not like train=0.9"),
        ("train=most", "'train=most' is not like"),
        ("", "unknown split ''"),
    ],
)
def test_shares_that_make_no_sense(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_shares(text)
    assert "--split" in str(caught.value)


@given(SEEDS, st.sampled_from(["train=0.9,val=0.05,test=0.05", "train=0.6,val=0.2,test=0.2", "val=0.3,test=0.7"]))
def test_shares_are_exact_in_every_prefix(seed: int, text: str) -> None:
    shares = parse_shares(text)
    splits = np.array(splits_of(seed, np.arange(3000), shares))
    for name, share in shares.items():
        counts = np.cumsum(splits == name)
        assert np.abs(counts - share * np.arange(1, 3001)).max() < 4


@given(SEEDS, st.lists(st.integers(0, 10**9), min_size=1, max_size=20))
def test_a_split_belongs_to_its_index_alone(seed: int, indices: list[int]) -> None:
    together = splits_of(seed, np.array(indices), SHARES)
    assert together == [splits_of(seed, np.array([index]), SHARES)[0] for index in indices]


def test_the_seed_decides_who_is_in_which_split() -> None:
    assert splits_of(0, np.arange(200), SHARES) != splits_of(1, np.arange(200), SHARES)


@given(SEEDS, st.integers(1, 700), st.integers(1, 90))
def test_shards_are_a_partition(seed: int, n: int, size: int) -> None:
    plans = list(shard_plans(seed, n, SHARES, size))
    indices = [index for plan in plans for index in plan.indices]
    assert sorted(indices) == list(range(n))
    for split in SHARES:
        own = [plan for plan in plans if plan.split == split]
        assert [plan.number for plan in own] == list(range(len(own)))
        assert [index for plan in own for index in plan.indices] == sorted(i for plan in own for i in plan.indices)
        assert all(len(plan.indices) == size for plan in own[:-1])
        assert all(0 < len(plan.indices) <= size for plan in own[-1:])
    where = {index: plan.split for plan in plans for index in plan.indices}
    assert [where[index] for index in range(n)] == splits_of(seed, np.arange(n), SHARES)


@given(SEEDS, st.integers(1, 300), st.integers(0, 300))
def test_a_short_run_is_a_prefix_of_a_long_one(seed: int, n: int, more: int) -> None:
    def first(plans: list[ShardPlan]) -> dict[tuple[str, int], tuple[int, ...]]:
        return {(plan.split, plan.number): tuple(index for index in plan.indices if index < n) for plan in plans}

    short = first(list(shard_plans(seed, n, SHARES, 20)))
    long = first(list(shard_plans(seed, n + more, SHARES, 20)))
    assert short == {key: indices for key, indices in long.items() if indices}


def test_chunks_leave_no_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(shard_plans(3, 500, SHARES, 7))
    monkeypatch.setattr("generator.plan.CHUNK", 64)
    assert list(shard_plans(3, 500, SHARES, 7)) == whole


def test_the_plan_of_a_huge_run_starts_at_once() -> None:
    first = next(shard_plans(0, 10**12, SHARES, 250))
    assert (first.split, first.number, len(first.indices)) == ("train", 0, 250)


# --- splits that share no asset, or no noun --------------------------------------------------------------------------


def test_by_pair_every_split_has_everything() -> None:
    catalog = catalog_of()
    assert set(split_catalogs(catalog, "pair", SHARES, 2)) == set(SHARES)
    assert all(part is catalog for part in split_catalogs(catalog, "pair", SHARES, 2).values())


@pytest.mark.parametrize(("by", "least"), [("asset", 2), ("noun", 2), ("noun", 4)])
def test_no_two_splits_share(by: str, least: int) -> None:
    catalog = catalog_of(each=4 if by == "asset" else 2)
    parts = split_catalogs(catalog, by, SHARES, least)
    names = [
        name for part in parts.values() for name in (part.by_noun if by == "noun" else (a.uid for a in part.assets))
    ]
    assert max(Counter(names).values()) == 1
    assert sorted(asset.uid for part in parts.values() for asset in part.assets) == [a.uid for a in catalog.assets]
    assert all(len(part.by_noun) >= least for part in parts.values())
    if by == "noun":
        for noun in NOUNS:
            assert sum(noun in part.by_noun for part in parts.values()) == 1
    assert len(parts["train"].assets) > len(parts["val"].assets) > 0


@pytest.mark.parametrize("by", ["asset", "noun"])
def test_all_tasks_part_alike(by: str) -> None:
    catalog = catalog_of(each=4)
    assert split_catalogs(catalog, by, SHARES, 2) == split_catalogs(catalog, by, SHARES, 4)


@pytest.mark.parametrize("by", ["asset", "noun"])
def test_too_few_say_so(by: str) -> None:
    with pytest.raises(AssetError, match=f"--split-by {by}: split .* nouns and the task needs 4: .*5 nouns in all"):
        split_catalogs(catalog_of(NOUNS[:5], each=1), by, SHARES, 4)


def test_one_split_needs_no_parting() -> None:
    catalog = catalog_of(NOUNS[:5])
    assert split_catalogs(catalog, "noun", {"train": 1.0}, 4) == {"train": catalog}


def test_golden_plan() -> None:
    """What tests/golden/make.py wrote: another plan for the same seed is another data set."""
    import importlib.util

    found = importlib.util.spec_from_file_location("golden_make", GOLDEN.with_name("make.py"))
    assert found is not None
    assert found.loader is not None
    make = importlib.util.module_from_spec(found)
    found.loader.exec_module(make)
    assert make.plan() == json.loads(GOLDEN.read_text(encoding="utf-8"))
