"""Slices: every shard belongs to exactly one, and whichever ends last finishes the run."""

import dataclasses
import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.cli import Render, parse_slice
from generator.errors import ConfigError, OutputError
from generator.pipeline import all_complete, claim, missing_plans
from generator.plan import parse_shares, shard_plans
from generator.shards import read_json, write_json, write_json_once
from generator.summary import Summary


def config_of(out: Path, n: int = 1000, slice: str = "") -> Render:
    return Render(task="spatial", n=n, out=out, shard_size=50, workers=1, slice=slice).resolved()


@given(number=st.integers(1, 40), of=st.integers(1, 40))
def test_slices_are_read(number: int, of: int) -> None:
    if number <= of:
        assert parse_slice(f"{number}/{of}") == (number, of)
    else:
        with pytest.raises(ConfigError, match="--slice must be like"):
            parse_slice(f"{number}/{of}")


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/", "/4", "a/b", "-1/4", "1/4/2", "1.0/4", " 1/4"])
def test_what_is_no_slice(text: str) -> None:
    with pytest.raises(ConfigError, match="--slice must be like"):
        parse_slice(text)
    with pytest.raises(ConfigError, match="--slice"):
        config_of(Path("x"), slice=text)


@pytest.mark.parametrize("of", [1, 2, 7, 50])
def test_every_shard_is_in_one_slice(tmp_path: Path, of: int) -> None:
    found = []
    for number in range(1, of + 1):
        config = config_of(tmp_path, slice=f"{number}/{of}")
        found += [(plan.split, plan.number) for plan in missing_plans(config, 0, Summary(config, 0))]
    config = config_of(tmp_path)
    plans = shard_plans(config.seed, config.n, parse_shares(config.split), config.shard_size)
    assert sorted(found) == sorted((plan.split, plan.number) for plan in plans)


def test_only_the_last_slice_finds_all_complete(tmp_path: Path) -> None:
    for number in (2, 3, 1):
        config = config_of(tmp_path, slice=f"{number}/3")
        assert not all_complete(config, 0)
        for plan in missing_plans(config, 0, Summary(config, 0)):
            path = tmp_path / plan.split / f"{plan.number:05d}.json"
            write_json(path, {"planned": len(plan.indices), "rejected": 0, "reasons": {}})
        assert list(missing_plans(config, 0, Summary(config, 0))) == []
    assert all_complete(config_of(tmp_path, slice="1/3"), 0)
    summary = Summary(config_of(tmp_path), 0)
    assert list(missing_plans(config_of(tmp_path), 0, summary)) == []
    assert summary.planned == 1000


def test_missing_shards_are_looked_for_only_as_far_as_asked(tmp_path: Path) -> None:
    """Of ten million pairs the first shard is known at once."""
    config = config_of(tmp_path, n=10_000_000)
    first = next(missing_plans(config, 0, Summary(config, 0)))
    assert (first.split, first.number, len(first.indices)) == ("train", 0, 50)


def _claim(folder: Path, fingerprint: str, gate: Path, answers: "multiprocessing.Queue[str]") -> None:
    while not gate.exists():
        pass
    try:
        claim(folder, {"config": {"n": 1}, "versions": {}, "sources": {}, "fingerprint": fingerprint})
        answers.put("mine")
    except OutputError as error:
        answers.put("refused" if "holds another run" in str(error) else str(error))


def test_slices_that_start_at_once_agree_on_one_run(tmp_path: Path) -> None:
    """Eight processes claim the same directory in the same moment, two of them for another run."""
    context = multiprocessing.get_context("fork")
    for turn in range(5):
        out, gate = tmp_path / f"run{turn}", tmp_path / f"gate{turn}"
        answers = context.Queue()
        names = ["f", "f", "f", "g", "f", "f", "g", "f"]
        crowd = [context.Process(target=_claim, args=(out, name, gate, answers)) for name in names]
        for process in crowd:
            process.start()
        gate.touch()
        heard = [answers.get(timeout=60) for _ in crowd]
        for process in crowd:
            process.join()
        winner = read_json(out / "run.json")["fingerprint"]
        assert heard.count("mine") == names.count(winner)
        assert heard.count("refused") == len(names) - names.count(winner)
        assert [path.name for path in out.iterdir()] == ["run.json"]


def test_what_is_there_first_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    assert write_json_once(path, {"a": 1})
    assert not write_json_once(path, {"a": 2})
    assert read_json(path) == {"a": 1}

    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", no_links)
    assert not write_json_once(path, {"a": 3})
    assert write_json_once(tmp_path / "other.json", {"a": 4})
    assert sorted(item.name for item in tmp_path.iterdir()) == ["other.json", "run.json"]


def test_the_run_records_no_slice(tmp_path: Path) -> None:
    """The flag is not part of what a run is: another slice, or none, goes on with the same directory."""
    from generator.pipeline import NOT_IN_FINGERPRINT

    fields = {field.name for field in dataclasses.fields(Render)}
    assert set(NOT_IN_FINGERPRINT) <= fields
    assert {"slice", "retry_rejected", "workers"} <= set(NOT_IN_FINGERPRINT)
    assert config_of(tmp_path, slice="2/3").slice == "2/3"
