"""The whole main job with the fake renderer: real processes, real signals, real files; only the pixels are simple."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from PIL import Image
from worlds import NOUNS

from generator.journal import count_staged
from generator.records import Sample, find_shards, read_shard
from generator.shards import read_json, read_rows

ROOT = Path(__file__).resolve().parents[2]
FAKE_CLI = ROOT / "tests" / "fake_cli.py"
BASE = ("--task", "spatial", "--n", "24", "--shard-size", "12", "--size", "64", "--renderer", "fake")


def command(out: Path, *flags: str, base: tuple[str, ...] = BASE) -> list[str]:
    return [sys.executable, str(FAKE_CLI), "render", *base, "--out", str(out), *flags]


def render(out: Path, *flags: str, base: tuple[str, ...] = BASE, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command(out, *flags, base=base), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == code, done.stderr
    return done


def samples(out: Path) -> dict[str, Sample]:
    return {sample.record.key: sample for path in find_shards([out]) for sample in read_shard(path)}


def final_files(out: Path) -> dict[str, bytes]:
    """Tars and parquets, by their place in the run."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for pattern in ("*/*.tar", "*/*.parquet")
        for path in sorted(out.glob(pattern))
    }


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undisturbed run."""
    out = tmp_path_factory.mktemp("base") / "run"
    render(out, "--workers", "2")
    return out


def test_what_lies_in_a_finished_run(base: Path) -> None:
    names = {path.name for path in base.iterdir() if not path.name.startswith(".")}
    assert names >= {"run.json", "README.md", "index.html", "train", "val", "test"}
    found = samples(base)
    rows = [row for path in sorted(base.glob("*/*.parquet")) for row in read_rows(path)]
    assert sorted(row.index for row in rows) == list(range(24))
    assert sorted(found) == sorted(row.key for row in rows if row.status == "accepted")
    for path in base.glob("*/*.json"):
        stats = read_json(path)
        assert stats["planned"] == stats["accepted"] + stats["rejected"]
        assert stats["fingerprint"] == read_json(base / "run.json")["fingerprint"]
    splits = Counter(sample.record.split for sample in found.values())
    assert set(splits) == {"train", "val", "test"}
    assert splits["train"] >= 20
    assert len({member for sample in found.values() for member in sample.files}) == 2


def test_records_say_what_the_pictures_show(base: Path) -> None:
    for sample in samples(base).values():
        record = sample.record
        assert (record.width, record.height) == (64, 64)
        for side, objects in enumerate((record.objects_0, record.objects_1)):
            data = sample.image(side)
            assert data is not None
            with Image.open(io.BytesIO(data)) as picture:
                assert picture.size == (64, 64)
            a, b = (item.box for item in objects)
            relation = record.fact.value_0 if side == 0 else record.fact.value_1
            apart = {"left of": b[0] - a[2], "right of": a[0] - b[2], "above": b[1] - a[3], "below": a[1] - b[3]}
            assert apart[relation] > 0


def test_nothing_in_a_record_tells_where_it_was_made(base: Path) -> None:
    """No path of this machine: it would leak names, and make the same run other bytes elsewhere."""
    for sample in samples(base).values():
        text = sample.record.scene_0 + sample.record.scene_1
        assert "/nowhere/" not in text
        assert str(Path.home()) not in text
        scene = json.loads(sample.record.scene_0)
        assert {"camera", "light", "objects", "slabs"} <= set(scene)


@pytest.mark.parametrize(
    ("task", "flags"),
    [
        ("attribute", ("--masks", "--image-format", "png")),
        ("negation", ("--negation", "shared", "--image-format", "webp", "--phrasing", "varied", "--split", "train=1")),
    ],
)
def test_other_tasks_end_to_end(task: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    base = ("--task", task, "--n", "12", "--size", "96", "--renderer", "fake", "--workers", "1", *flags)
    done = render(tmp_path / "run", base=base)
    rows = [row for path in (tmp_path / "run").glob("*/*.parquet") for row in read_rows(path)]
    found = samples(tmp_path / "run")
    assert len(rows) == 12
    assert len(found) == sum(row.status == "accepted" for row in rows) >= 6
    assert f"{len(found)} of 12 pairs accepted" in done.stdout
    for sample in found.values():
        assert sample.record.task == task
        suffix = {"attribute": "png", "negation": "webp"}[task]
        assert {f"image_0.{suffix}", f"image_1.{suffix}"} <= set(sample.files)
        for side, objects in enumerate((sample.record.objects_0, sample.record.objects_1)):
            mask = sample.mask(side)
            assert (mask is not None) == (task == "attribute")
            if mask is not None:
                with Image.open(io.BytesIO(mask)) as picture:
                    values = np.asarray(picture)
                assert [int((values == 1 + i).sum()) for i in range(2)] == [item.visible_px for item in objects]


def test_rejected_pairs_are_rows_with_reasons(tmp_path: Path) -> None:
    """Sizes come out unclear now and then with the fake renderer's cubes; with one attempt those pairs are lost."""
    base = ("--task", "attribute", "--attributes", "size", "--n", "20", "--size", "64", "--renderer", "fake")
    done = render(tmp_path, "--attempts", "1", "--split", "train=1", "--workers", "1", base=base)
    stats = read_json(tmp_path / "train" / "00000.json")
    rows = read_rows(tmp_path / "train" / "00000.parquet")
    rejected = [row for row in rows if row.status == "rejected"]
    assert 0 < len(rejected) < 20
    assert (stats["planned"], stats["accepted"], stats["rejected"]) == (20, 20 - len(rejected), len(rejected))
    assert stats["reasons"] == dict(Counter(row.reason for row in rejected))
    assert all(row.detail and row.captions_0 and row.nouns for row in rejected)
    assert f"{len(rejected)} rejected: " in done.stdout
    assert sorted(samples(tmp_path)) == sorted(row.key for row in rows if row.status == "accepted")


def test_a_run_without_any_accepted_pair_is_no_success(tmp_path: Path) -> None:
    """Seed 3's first pair has sizes too near each other for the fake renderer's cubes."""
    base = ("--task", "attribute", "--attributes", "size", "--n", "1", "--size", "64", "--renderer", "fake")
    done = render(tmp_path, "--attempts", "1", "--workers", "1", "--seed", "3", base=base, code=2)
    assert "0 of 1 pairs accepted" in done.stdout
    assert re.search(r"error: no pair was accepted, e\.g\. attribute-000000000: .*length", done.stderr)
    assert (tmp_path / "train" / "00000.json").exists()


def test_workers_and_shard_sizes_change_no_pair(base: Path, tmp_path: Path) -> None:
    render(tmp_path / "run", "--workers", "1", "--shard-size", "32")
    assert samples(tmp_path / "run") == samples(base)
    assert len(list((tmp_path / "run").glob("train/*.tar"))) == 1
    assert len(list(base.glob("train/*.tar"))) == 2


def test_the_same_command_gives_the_same_bytes_whatever_the_workers(base: Path, tmp_path: Path) -> None:
    render(tmp_path / "elsewhere", "--workers", "1")
    assert final_files(tmp_path / "elsewhere") == final_files(base)
    assert len(final_files(base)) == 2 * len(find_shards([base]))


def test_a_short_run_is_a_prefix_of_a_long_one(base: Path, tmp_path: Path) -> None:
    render(tmp_path / "run", "--n", "8", "--workers", "1")
    short, long = samples(tmp_path / "run"), samples(base)
    assert short == {key: sample for key, sample in long.items() if sample.record.index < 8}
    assert short


def test_a_finished_run_has_nothing_to_do(base: Path) -> None:
    before = final_files(base)
    done = render(base, "--workers", "1")
    assert "nothing was missing" in done.stdout
    assert "24 of 24 pairs accepted" in done.stdout
    assert final_files(base) == before


# --- interruptions ---------------------------------------------------------------------------------------------------


def started(out: Path, pairs: int) -> subprocess.Popen[str]:
    """The base run, in a process group of its own, once some pairs are final."""
    process = subprocess.Popen(
        command(out, "--workers", "2"),
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while count_staged(out / ".staging") < pairs and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    return process


def test_ctrl_c_leaves_a_run_that_the_same_command_finishes(base: Path, tmp_path: Path) -> None:
    """A terminal sends SIGINT to the workers and renderers too: they leave it to the parent."""
    out = tmp_path / "run"
    process = started(out, 3)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "run the same command again" in errors
    assert "Traceback" not in errors
    assert not (out / "README.md").exists()
    made = count_staged(out / ".staging") + sum(len(read_rows(p)) for p in out.glob("*/*.parquet"))
    assert 3 <= made < 24
    done = render(out, "--workers", "1")
    # Only what was missing was made.
    found = re.search(r"(\d+) images in", done.stdout)
    assert found is not None
    assert int(found[1]) <= 2 * (24 - made)
    assert final_files(out) == final_files(base)
    assert "24 of 24 pairs accepted" in done.stdout


def test_kill_leaves_no_process_behind_and_a_run_that_goes_on(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = started(out, 3)
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    # At once, as a job scheduler would: what is left of the first run must not meet the second.
    render(out, "--workers", "2")
    assert final_files(out) == final_files(base)
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not [item for item in alive if item.status() != psutil.STATUS_ZOMBIE]


def test_a_damaged_shard_in_the_making_is_made_anew(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = started(out, 4)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    staged = sorted(out.glob(".staging/*/*.pair"))
    if staged:
        staged[0].write_bytes(staged[0].read_bytes()[:-100])
    # A crash between the tar and the json: the tar is there, and not complete.
    (out / "train").mkdir(exist_ok=True)
    for number in range(2):
        if not (out / "train" / f"{number:05d}.json").exists():
            (out / "train" / f"{number:05d}.tar").write_bytes(b"half a tar")
    render(out, "--workers", "1")
    assert final_files(out) == final_files(base)


# --- directories of other runs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--seed", "1"), "seed: 0 there, 1 asked"),
        (("--size", "96"), "size: 64 there, 96 asked"),
        (("--n", "25"), "n: 24 there, 25 asked"),
        (("--masks",), "masks: False there, True asked"),
        (("--synonyms", "--attempts", "7"), "attempts: .*; synonyms: "),
    ],
)
def test_a_directory_of_another_run_is_refused_naming_what_differs(
    base: Path, flags: tuple[str, ...], named: str
) -> None:
    before = final_files(base)
    done = render(base, *flags, code=2)
    assert re.fullmatch(
        rf"error: {re.escape(str(base))} holds another run \(.*{named}.*\); give another --out\n", done.stderr
    )
    assert final_files(base) == before


# In this process: nothing is rendered before these are refused.


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command line here, over the fake world: the exit code and the lines on stderr."""
    import fake_cli

    from generator.__main__ import main

    monkeypatch.setattr("generator.pipeline.load_catalog", fake_cli.load_catalog)
    monkeypatch.setattr("generator.pipeline.bundled", fake_cli.bundled)

    def run(*arguments: str) -> tuple[int, list[str]]:
        code = main(["render", *arguments])
        return code, capsys.readouterr().err.splitlines()

    return run


def test_a_directory_with_other_things_is_refused(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    code, errors = cli(*BASE, "--out", str(tmp_path))
    assert code == 2
    assert errors == [f"error: {tmp_path} is not empty and holds no run; give another --out"]
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_place_of_the_directory_is_refused(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    code, errors = cli(*BASE, "--out", str(path))
    assert code == 2
    assert len(errors) == 1
    assert re.match(f"error: .*{path}.*give another --out", errors[0])
    code, errors = cli(*BASE, "--out", str(path / "below"))
    assert code == 2
    assert len(errors) == 1


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"fingerprint": 3}'])
def test_a_damaged_run_json_is_refused(cli: Any, tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    code, errors = cli(*BASE, "--out", str(tmp_path))
    assert code == 2
    assert len(errors) == 1
    assert "run.json" in errors[0]


def test_a_dry_run_writes_the_plan_and_a_real_one_follows(cli: Any, tmp_path: Path) -> None:
    import pyarrow.parquet

    out = tmp_path / "run"
    flags = ("--task", "spatial", "--n", "6", "--size", "64", "--renderer", "fake", "--out", str(out), "--workers", "1")
    assert cli(*flags, "--dry-run")[0] == 0
    table = pyarrow.parquet.read_table(out / "plan.parquet").to_pylist()
    assert sorted(row["index"] for row in table) == list(range(6))
    assert not list(out.glob("*/*.tar"))
    done = render(out, base=flags[:8], code=0)
    assert "pairs accepted" in done.stdout
    planned = {row["key"]: row["captions_0"] for row in table}
    for key, sample in samples(out).items():
        assert list(sample.record.captions_0) == planned[key]


def test_the_tar_opens_with_plain_tarfile(base: Path) -> None:
    for path in find_shards([base]):
        with tarfile.open(path) as tar:
            names = tar.getnames()
        assert names == sorted(names)
        assert all(re.fullmatch(r"spatial-\d{9}\.(image_[01]\.jpg|json)", name) for name in names)


def test_every_noun_of_the_world_is_in_the_run(base: Path) -> None:
    nouns = {item.noun for sample in samples(base).values() for item in sample.record.objects_0}
    assert nouns == set(NOUNS)


@pytest.mark.parametrize("suffix", [".tar", ".parquet"])
def test_a_lost_file_of_a_complete_shard_is_named_and_made_anew(base: Path, tmp_path: Path, suffix: str) -> None:
    out = Path(shutil.copytree(base, tmp_path / "run"))
    lost = next(out.glob(f"train/*{suffix}"))
    content = lost.read_bytes()
    lost.unlink()
    said = render(out, code=2).stderr
    assert str(lost) in said
    assert f"delete {lost.with_suffix('.json')}" in said
    lost.with_suffix(".json").unlink()
    render(out)
    assert lost.read_bytes() == content
