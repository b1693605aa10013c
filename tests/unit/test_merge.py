"""`merge` joins runs without touching a byte of their shards."""

import shutil
from pathlib import Path

import pytest
from preview_run import finished_run
from test_validate import faults_of, render

from generator.cli import Merge, Status
from generator.errors import ConfigError, DataError, OutputError
from generator.journal import Journal
from generator.merge import run_merge
from generator.shards import read_json, sha256, write_json
from generator.status import run_status


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("parts")
    return render(folder / "a"), render(folder / "b", "negation", seed=1)


def test_shards_are_joined_byte_for_byte(parts: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "all"
    assert run_merge(Merge(parts, out)) == 0
    tars = [sha256(path) for part in parts for path in sorted((part / "train").glob("*.tar"))]
    assert [sha256(path) for path in sorted((out / "train").glob("*.tar"))] == tars
    stats = read_json(out / "train" / "00002.json")
    assert stats["shard"] == 2
    assert stats["merged_from"] == {"fingerprint": "f1", "shard": 0}
    assert set(stats["sha256"]) == {"00002.tar", "00002.parquet"}
    assert faults_of(out) == []
    card = (out / "README.md").read_text()
    assert "spatial" in card
    assert "negation" in card
    assert (out / "index.html").exists()
    assert [run["fingerprint"] for run in read_json(out / "run.json")["runs"]] == ["f0", "f1"]
    assert run_status(Status(out)) == 0


def test_an_interrupted_merge_goes_on(parts: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "all"
    run_merge(Merge(parts, out))
    (out / "train" / "00001.json").unlink()
    kept = (out / "train" / "00002.json").stat().st_mtime_ns
    run_merge(Merge(parts, out))
    assert (out / "train" / "00001.json").exists()
    assert (out / "train" / "00002.json").stat().st_mtime_ns == kept


def test_credits_of_all_parts_are_kept(tmp_path: Path) -> None:
    part = render(tmp_path / "a")
    (part / "credits.csv").write_text(
        "uid,noun,title,author,licence,url,sha256,pairs\ntest/apple/0,apple,An apple,Ann,CC-BY-4.0,https://x.org,00,3\n"
    )
    run_merge(Merge((part, render(tmp_path / "b", seed=1)), tmp_path / "all"))
    assert "Ann" in (tmp_path / "all" / "credits.csv").read_text() + (tmp_path / "all" / "README.md").read_text()


def test_what_cannot_be_merged(parts: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="hold the same pairs"):
        run_merge(Merge((parts[0], parts[0]), tmp_path / "x"))
    with pytest.raises(DataError, match="not a run directory"):
        run_merge(Merge((tmp_path,), tmp_path / "x"))
    with pytest.raises(OutputError, match="its own part"):
        run_merge(Merge(parts, parts[0]))
    run_merge(Merge((parts[0],), tmp_path / "one"))
    with pytest.raises(OutputError, match="holds another run"):
        run_merge(Merge(parts, tmp_path / "one"))


def test_a_run_and_its_prefix_hold_the_same_pairs(parts: tuple[Path, Path], tmp_path: Path) -> None:
    longer = render(tmp_path / "longer")
    run = read_json(longer / "run.json")
    write_json(longer / "run.json", {**run, "config": {**run["config"], "n": 80}, "fingerprint": "another"})
    stats = read_json(longer / "train" / "00000.json")
    write_json(longer / "train" / "00000.json", {**stats, "planned": stats["planned"] + 72})
    with pytest.raises(DataError, match="hold the same pairs"):
        run_merge(Merge((parts[0], longer), tmp_path / "x"))


def test_a_run_that_is_not_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = render(tmp_path / "part")
    Journal(part / ".staging" / "test-00000").append(8, b"{}", b"")
    with pytest.raises(DataError, match="is not finished"):
        run_merge(Merge((part,), tmp_path / "x"))
    assert run_status(Status(part)) == 1
    assert "unfinished shards: 1, 1 pairs done in them" in capsys.readouterr().out


def test_status_of_a_run_with_rejects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = finished_run(tmp_path / "run")
    assert run_status(Status(run)) == 0
    shown = capsys.readouterr().out
    assert "rejected: 2 occluded, 2 too_small" in shown or "rejected: 2 too_small, 2 occluded" in shown
    assert "40 of 40 pairs planned are final" in shown
    (run / "val" / "00000.json").unlink()
    assert run_status(Status(run)) == 1


def test_a_damaged_part_is_named(parts: tuple[Path, Path], tmp_path: Path) -> None:
    part = shutil.copytree(parts[0], tmp_path / "part")
    tar = part / "train" / "00000.tar"
    tar.write_bytes(tar.read_bytes()[:-1024])
    with pytest.raises(DataError, match=r"part/train/00000\.tar is damaged"):
        run_merge(Merge((part, parts[1]), tmp_path / "x"))


def test_a_part_that_lacks_a_shard(parts: tuple[Path, Path], tmp_path: Path) -> None:
    part = shutil.copytree(parts[0], tmp_path / "part")
    (part / "train" / "00000.json").unlink()
    with pytest.raises(DataError, match=r"part: \d of 8 planned pairs are in complete shards"):
        run_merge(Merge((part, parts[1]), tmp_path / "x"))
    assert not (tmp_path / "x").exists()


def test_nothing_to_merge(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to merge"):
        run_merge(Merge((), tmp_path / "x"))
    assert not (tmp_path / "x").exists()


def test_splits_that_promise_to_share_no_asset_share_none(parts: tuple[Path, Path], tmp_path: Path) -> None:
    promising = []
    for part in parts:  # Their splits all draw from the same assets.
        copy = shutil.copytree(part, tmp_path / part.name)
        run = read_json(copy / "run.json")
        write_json(copy / "run.json", {**run, "config": {**run["config"], "split_by": "asset"}})
        promising.append(copy)
    with pytest.raises(DataError, match=r"is in train of .* and in (val|test) of .*--split-by promises"):
        run_merge(Merge((promising[0], promising[1]), tmp_path / "x"))
    assert run_merge(Merge((promising[0], parts[1]), tmp_path / "x")) == 0  # One of them promises nothing.
