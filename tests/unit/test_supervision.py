"""Renderers that crash, hang, grow or fail cost the pair that does it to them, and no other pair a byte."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from generator import child as child_module
from generator import render
from generator.child import Child, ChildFailure
from generator.errors import OutputError, RendererError
from generator.plan import ShardPlan
from generator.quarantine import quarantined
from generator.records import read_shard
from generator.retry import begin_round, current_round, end_round
from generator.shard_job import Recipe, make_shard
from generator.shards import Row, read_rows, sha256, write_json
from generator.specs import RenderSettings
from tests.worlds import asset_of, catalog_of, context_of

PAIRS = 30
BAD = asset_of("guitar", 0).uid
BAD_TWIN = asset_of("guitar", 1).uid
SETTINGS = RenderSettings("cycles", 64, 4, "cpu", 1)

Order = Callable[..., None]


@pytest.fixture(autouse=True)
def _faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(render.RENDERERS, "faulty", "tests.faulty_renderer")


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> Order:
    """Order faults for the renderers started from now on."""

    def place(**faults: Any) -> None:
        monkeypatch.setenv("TWINSCENE_FAULTS", json.dumps(faults))

    return place


def recipe_of(out: Path, round_number: int = 0, **changes: Any) -> Recipe:
    given: dict[str, Any] = {
        "task": "spatial",
        "out": out,
        "contexts": {"train": context_of()},
        "renderer": "faulty",
        "settings": SETTINGS,
        "image_format": "png",
        "masks": False,
        "attempts": 3,
        "timeout_s": 1.5,
        "memory_limit_bytes": 0,
        "fingerprint": "f",
        "round": round_number,
        "store": "",
    }
    return Recipe(**{**given, **changes})


def made(out: Path, indices: tuple[int, ...] = tuple(range(PAIRS)), number: int = 0, **changes: Any) -> dict[int, Row]:
    write_json(out / "run.json", {})
    make_shard(recipe_of(out, **changes), ShardPlan("train", number, indices), lambda *_: None, lambda: False)
    return {row.index: row for row in read_rows(out / "train" / f"{number:05d}.parquet")}


def shows(row: Row, uid: str) -> bool:
    return uid in row.uids


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Row]]:
    """An undisturbed run, in which the bad assets do take part."""
    out = tmp_path_factory.mktemp("calm")
    rows = made(out, renderer="fake")
    assert sum(shows(row, BAD) for row in rows.values()) >= 1
    return out, rows


@pytest.mark.parametrize("fault", ["crash", "hang", "grow", "fail"])
def test_a_fault_from_outside_changes_no_byte(
    fault: str, tmp_path: Path, order: Order, calm: tuple[Path, dict[int, Row]]
) -> None:
    """Every pair with the asset takes the renderer down once: each is rendered again, as it was planned."""
    order(**{fault: [BAD], "once": str(tmp_path)})
    limit = (300 << 20) if fault == "grow" else 0
    made(tmp_path / "out", memory_limit_bytes=limit, timeout_s=30.0 if fault == "grow" else 1.5)
    assert any(tmp_path.glob(f"{fault}-*"))
    for name in ("00000.tar", "00000.parquet"):
        assert sha256(tmp_path / "out" / "train" / name) == sha256(calm[0] / "train" / name)
    assert quarantined(tmp_path / "out", 0) == (0, [])


@pytest.mark.parametrize("fault", ["crash", "fail"])
def test_a_bad_asset_is_found_out_and_its_pairs_take_another(
    fault: str, tmp_path: Path, order: Order, calm: tuple[Path, dict[int, Row]]
) -> None:
    order(**{fault: [BAD]})
    rows = made(tmp_path, attempts=9)
    for index, row in rows.items():
        assert row.status == "accepted"
        assert not shows(row, BAD)
        if not shows(calm[1][index], BAD):
            assert row == calm[1][index]
    pairs, assets = quarantined(tmp_path, 0)
    assert pairs >= 1
    reason = {"crash": "renderer_crashed", "fail": "render_failed"}[fault]
    assert assets == [f"{BAD}: {reason}"]
    (entry,) = (json.loads(path.read_text()) for path in (tmp_path / "quarantine").glob("*/assets/*.json"))
    assert f"about to {fault}" in entry["log_tail"]
    if fault == "crash":
        assert "SIGSEGV" in entry["detail"]


def test_who_finds_out_first_changes_nothing(tmp_path: Path, order: Order) -> None:
    """The same pairs as one shard and as two made in the other order: the same rows and pictures."""
    order(crash=[BAD])
    whole = made(tmp_path / "one")
    half = PAIRS // 2
    late = made(tmp_path / "two", tuple(range(half, PAIRS)), 1)
    early = made(tmp_path / "two", tuple(range(half)), 0)
    assert {**early, **late} == whole
    pictures = [
        {s.record.key: s.files for path in sorted((tmp_path / run / "train").glob("*.tar")) for s in read_shard(path)}
        for run in ("one", "two")
    ]
    assert pictures[0] == pictures[1]


def test_a_noun_of_bad_assets_alone_is_rejected_with_the_reason(tmp_path: Path, order: Order) -> None:
    order(hang=[BAD, BAD_TWIN])
    rows = made(tmp_path, timeout_s=0.7)
    bad = [row for row in rows.values() if "guitar" in row.nouns]
    assert bad
    for row in bad:
        assert (row.status, row.reason) == ("rejected", "asset_quarantined")
        assert "renderer_timed_out" in row.detail
    assert all(row.status == "accepted" for row in rows.values() if "guitar" not in row.nouns)


def test_where_everything_fails_no_asset_is_blamed(tmp_path: Path, order: Order) -> None:
    order(crash=[asset.uid for asset in catalog_of().assets])
    rows = made(tmp_path, (0, 1))
    assert [row.reason for row in rows.values()] == ["renderer_crashed"] * 2
    assert [row.attempts for row in rows.values()] == [1, 1]
    assert "about to crash" in rows[0].detail
    assert quarantined(tmp_path, 0) == (2, [])


def test_a_process_that_grew_is_replaced_between_pairs(tmp_path: Path) -> None:
    """A limit below what any renderer holds: a fresh one for every pair, no strike, the same bytes."""
    log = tmp_path / "log"
    with render.RenderProcess("fake", SETTINGS, log, 10.0, 0) as renderer:
        held = renderer.resident_bytes()
        renderer._limit = held // 2
        from generator.tasks import TASKS

        for index in range(2):
            renderer.submit(TASKS["spatial"].sample(context_of(), index, 0, "train"))
            _, result = renderer.collect()
            assert not isinstance(result, render.RenderFault)
            assert renderer._child is None
    assert held > 0


def test_a_quick_renderer_goes_on_from_shard_to_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same process, the same bytes; one that does not last, or was killed meanwhile, is made anew."""
    write_json(tmp_path / "run.json", {})
    started: list[Path] = []

    class Counted(Child):
        def __init__(self, module: str, log: Path, memory_limit_bytes: int = 0) -> None:
            started.append(log)
            super().__init__(module, log, memory_limit_bytes=memory_limit_bytes)

    monkeypatch.setattr(render, "Child", Counted)

    def run(renderer: str, number: int, indices: tuple[int, ...]) -> None:
        plan = ShardPlan("train", number, indices)
        make_shard(recipe_of(tmp_path, renderer=renderer), plan, lambda *_: None, lambda: False, renderers)

    with render.Renderers() as renderers:
        run("fake", 0, (0, 1))
        run("fake", 1, (2, 3))
        assert len(started) == 1
        assert renderers._kept is not None
        child = renderers._kept[1]._child
        assert child is not None
        child._process.kill()
        run("fake", 2, (4, 5))
        assert [log.name for log in started] == ["train-00000.log", "train-00002.log"]
        run("faulty", 3, (6, 7))
        run("faulty", 4, (8, 9))
        assert len(started) == 4
        assert renderers._kept is None
    made(tmp_path / "alone", (4, 5), 2, renderer="fake")
    assert sha256(tmp_path / "train" / "00002.tar") == sha256(tmp_path / "alone" / "train" / "00002.tar")


def test_retrying_gives_rejected_pairs_another_chance(
    tmp_path: Path, order: Order, calm: tuple[Path, dict[int, Row]]
) -> None:
    """The fault is mended, and the retried shard is what an undisturbed run makes, byte for byte."""
    order(crash=[BAD, BAD_TWIN])
    rows = made(tmp_path)
    rejected = {index for index, row in rows.items() if row.reason}
    assert rejected
    order()
    assert current_round(tmp_path) == 0
    begin_round(tmp_path)
    begin_round(tmp_path)  # An interrupted round goes on; it does not begin another.
    assert current_round(tmp_path) == 1
    kept = {index: row for index, row in rows.items() if index not in rejected}
    again = made(tmp_path, round_number=1)
    end_round(tmp_path)
    assert {index: again[index] for index in kept} == kept
    assert all(row == calm[1][index] for index, row in again.items() if index in rejected)
    before = (tmp_path / "train" / "00000.json").read_bytes()
    assert made(tmp_path, round_number=1) == again
    assert (tmp_path / "train" / "00000.json").read_bytes() == before


def test_a_retry_interrupted_anywhere_goes_on(tmp_path: Path, order: Order) -> None:
    """Stopped after each number of pairs in turn, then run through: always the same tar."""
    digests = set()
    for stop_after in (0, 2):
        out = tmp_path / str(stop_after)
        order(crash=[asset.uid for asset in catalog_of().assets])
        made(out, (0, 1, 2))
        order()
        begin_round(out)
        assert sorted([*remade(out, stop_after), *remade(out, 99)]) == [0, 1, 2]
        digests.add(sha256(out / "train" / "00000.tar"))
    assert len(digests) == 1


def remade(out: Path, stop_after: int) -> list[int]:
    """Which pairs a call makes anew that is stopped after some."""
    fresh: list[int] = []
    make_shard(
        recipe_of(out, 1),
        ShardPlan("train", 0, (0, 1, 2)),
        lambda row, new: fresh.append(row.index) if new else None,
        lambda: len(fresh) >= stop_after,
    )
    return fresh


def test_two_processes_do_not_make_one_shard(tmp_path: Path) -> None:
    from generator.shards import ShardStage

    with (
        ShardStage(tmp_path, "train", 0).lock(),
        pytest.raises(OutputError, match="train/00000 is being made by another process"),
    ):
        made(tmp_path)


def test_a_renderer_that_does_not_start_is_the_users_to_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(render.RENDERERS, "faulty", "tests.no_such_renderer")
    with pytest.raises(RendererError, match=r"does not start .*exit code 1.*doctor"):
        made(tmp_path)


def test_a_log_beside_the_caller_is_found_from_the_childs_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    child = Child("renderers.fake", Path("out", "logs", "log"))
    child.send({"settings": {"engine": "cycles", "size_px": 64, "samples_per_pixel": 1, "device": "cpu", "threads": 1}})
    assert child.receive(30)["ready"]
    child.close()
    assert (tmp_path / "out" / "logs" / "log").is_file()


def test_a_full_scratch_folder_is_no_pairs_fault(tmp_path: Path, order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    order(fail=[BAD])
    monkeypatch.setattr(render, "SCRATCH_BYTES", 1 << 60)
    with pytest.raises(OutputError, match=r"is full .* set TMPDIR"):
        made(tmp_path)
    assert not list(tmp_path.glob("train/*"))


def test_a_stopped_renderer_has_no_pulse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noticed long before the time limit: a process that uses no processor time is not at work."""
    monkeypatch.setattr(child_module, "PULSE_S", 2.0)
    child = Child("renderers.fake", tmp_path / "log")
    child.send({"settings": {"engine": "cycles", "size_px": 64, "samples_per_pixel": 1, "device": "cpu", "threads": 1}})
    assert child.receive(30)["ready"]
    os.kill(child._process.pid, signal.SIGSTOP)
    begin = time.monotonic()
    with pytest.raises(ChildFailure) as caught:
        child.receive(60)
    assert "no processor time" in caught.value.detail
    assert caught.value.kind == "timed_out"
    assert time.monotonic() - begin < 20


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="/proc tells what a process was started with")
def test_a_renderers_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else's colour management, and one thread for numpy."""
    monkeypatch.setenv("OCIO", "/studio/config.ocio")
    monkeypatch.setenv("BLENDER_USER_CONFIG", "/studio/blender")
    monkeypatch.setenv("KEPT", "yes")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    child = Child("renderers.fake", tmp_path / "log")
    child.send({"settings": {"engine": "cycles", "size_px": 64, "samples_per_pixel": 1, "device": "cpu", "threads": 1}})
    assert child.receive(30)["ready"]  # Started for sure: what /proc shows is its own.
    given = psutil.Process(child._process.pid).environ()
    child.close()
    assert given["KEPT"] == "yes"
    # As many processes as cores: threads of numpy's would fight for them. Unless the user says otherwise.
    assert (given["OPENBLAS_NUM_THREADS"], given["MKL_NUM_THREADS"]) == ("1", "3")
    assert not {"OCIO", "BLENDER_USER_CONFIG"} & set(given)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends orphans on Linux alone")
def test_a_hung_renderer_dies_with_its_parent(tmp_path: Path) -> None:
    program = (
        "import time, pathlib; from generator.child import Child; "
        f"c = Child('tests.faulty_renderer', pathlib.Path({str(tmp_path / 'log')!r})); "
        "c.send({'settings': {'engine': 'cycles', 'size_px': 64, 'samples_per_pixel': 1, 'device': 'cpu', "
        "'threads': 1}}); c.receive(60); "
        "c.send({'job': {'job_id': 'x', 'scene': {'objects': [{'uid': 'bad'}]}}}); "
        "print(c._process.pid, flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "TWINSCENE_FAULTS": json.dumps({"hang": ["bad"]})}
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment)
    assert parent.stdout is not None
    renderer = psutil.Process(int(parent.stdout.readline()))
    time.sleep(0.3)
    parent.kill()
    parent.wait()
    renderer_gone, _ = psutil.wait_procs([renderer], timeout=10)
    assert renderer_gone or renderer.status() == psutil.STATUS_ZOMBIE
