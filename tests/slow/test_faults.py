"""Whatever is killed, full, read-only or lost, at whatever moment: the same command again ends in the same bytes.

TWINSCENE_KILLS sets how many random moments are tried (default 20). A moment and its victim follow from its number.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from generator.shards import read_json

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FAKE_CLI = ROOT / "tests" / "fake_cli.py"
FLAGS = ("--task", "attribute", "--n", "60", "--shard-size", "10", "--size", "64", "--renderer", "fake", "--masks")
MOMENTS = int(os.environ.get("TWINSCENE_KILLS", "20"))
VICTIMS = ("parent", "worker", "renderer", "group")


def start(out: Path, *flags: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(FAKE_CLI), "render", *FLAGS, "--workers", "2", "--out", str(out), *flags]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finish(out: Path, *flags: str) -> str:
    """Run the command to its end; what it printed."""
    process = start(out, *flags)
    printed, errors = process.communicate(timeout=180)
    assert process.returncode == 0, errors
    return printed


def final_files(out: Path) -> dict[str, bytes]:
    """Everything of a run that must not differ, by its place: shards whole, their json but for the seconds."""
    files = {
        str(path.relative_to(out)): path.read_bytes()
        for pattern in ("*/*.tar", "*/*.parquet", "credits.csv")
        for path in out.glob(pattern)
    }
    for path in out.glob("*/*.json"):
        stats = {key: value for key, value in read_json(path).items() if key not in ("seconds", "round")}
        files[str(path.relative_to(out))] = repr(sorted(stats.items())).encode()
    return files


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], float]:
    """The files of an undisturbed run, and how long it takes."""
    out = tmp_path_factory.mktemp("calm") / "run"
    begin = time.monotonic()
    finish(out)
    return final_files(out), time.monotonic() - begin


def family(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children(recursive=True)
    return []


def strike(process: "subprocess.Popen[str]", victim: str, rng: random.Random) -> None:
    """Kill -9."""
    if victim == "group":
        # All that a batch system or the kernel would end at once, renderers in sessions of their own included.
        everybody = family(process)
        os.killpg(process.pid, signal.SIGKILL)
        for member in everybody:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        return
    members = family(process)
    if victim == "renderer":
        members = [member for member in members if is_renderer(member)]
    elif victim == "worker":
        members = [member for member in members if not is_renderer(member)]
    target = rng.choice(members) if members and victim != "parent" else psutil.Process(process.pid)
    with contextlib.suppress(psutil.NoSuchProcess):
        target.kill()


def wait_for_pairs(out: Path) -> None:
    until = time.monotonic() + 60
    while not list(out.glob(".staging/*/*.pair")) and time.monotonic() < until:
        time.sleep(0.02)


def is_renderer(member: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return "renderers.fake" in member.cmdline()
    return False


def check_whole_shards(out: Path, wanted: dict[str, bytes]) -> None:
    """What is marked complete at this moment is complete."""
    for path in out.glob("*/*.json"):
        if path.parent.name in ("train", "val", "test"):
            for suffix in (".tar", ".parquet"):
                name = str(path.with_suffix(suffix).relative_to(out))
                assert (out / name).read_bytes() == wanted[name]


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_at_any_moment(moment: int, tmp_path: Path, calm: tuple[dict[str, bytes], float]) -> None:
    wanted, seconds = calm
    rng = random.Random(moment)
    out = tmp_path / "run"
    victim = VICTIMS[moment % len(VICTIMS)]
    process = start(out)
    time.sleep(rng.uniform(0.1, 0.95) * seconds)
    members = family(process)
    strike(process, victim, rng)
    printed, errors = process.communicate(timeout=180)
    _, alive = psutil.wait_procs(members, timeout=15)
    assert not [member for member in alive if member.status() != psutil.STATUS_ZOMBIE]
    check_whole_shards(out, wanted)
    if victim in ("worker", "renderer") and process.returncode == 0:
        assert "60 pairs accepted" in printed, errors  # It went on by itself.
    kept = {path: path.stat().st_mtime_ns for path in out.glob("*/*.tar") if path.with_suffix(".json").exists()}
    finish(out)
    assert final_files(out) == wanted
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert not list(out.rglob("*.tmp"))
    assert not list((out / ".staging").glob("*"))


def test_killed_again_and_again(tmp_path: Path, calm: tuple[dict[str, bytes], float]) -> None:
    """One run that never gets further than a second or two at a time."""
    wanted, seconds = calm
    rng = random.Random(99)
    out = tmp_path / "run"
    for _ in range(max(3, MOMENTS // 3)):
        process = start(out)
        time.sleep(rng.uniform(0.5, 0.9) * seconds)
        strike(process, "group", rng)
        process.communicate(timeout=60)
        check_whole_shards(out, wanted)
    finish(out)
    assert final_files(out) == wanted


def test_a_worker_and_a_renderer_are_replaced_in_flight(tmp_path: Path, calm: tuple[dict[str, bytes], float]) -> None:
    wanted, seconds = calm
    out = tmp_path / "run"
    process = start(out)
    rng = random.Random(7)
    wait_for_pairs(out)
    strike(process, "renderer", rng)
    strike(process, "worker", rng)
    _, errors = process.communicate(timeout=180)
    assert process.returncode == 0, errors
    assert final_files(out) == wanted
    assert seconds > 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def remount(place: Path, *options: str) -> None:
    subprocess.run(["mount", "-o", ",".join(("remount", *options)), str(place)], check=True)


def test_a_full_disk(disk: Path, calm: tuple[dict[str, bytes], float]) -> None:
    process = start(disk / "run")
    _, errors = process.communicate(timeout=180)
    assert process.returncode == 2, errors
    assert "cannot write" in errors
    assert "Traceback" not in errors
    check_whole_shards(disk / "run", calm[0])
    remount(disk, "size=64m")
    finish(disk / "run")
    assert final_files(disk / "run") == calm[0]


def test_a_directory_that_became_read_only(disk: Path, calm: tuple[dict[str, bytes], float]) -> None:
    remount(disk, "size=64m")
    process = start(disk / "run")
    wait_for_pairs(disk / "run")
    strike(process, "group", random.Random(0))
    process.communicate(timeout=60)
    remount(disk, "ro")
    for _ in range(2):
        again = start(disk / "run")
        _, errors = again.communicate(timeout=180)
        assert again.returncode == 2, errors
        assert "Read-only file system" in errors
        assert "Traceback" not in errors
    remount(disk, "rw")
    finish(disk / "run")
    assert final_files(disk / "run") == calm[0]


def test_a_lost_mount(disk: Path, calm: tuple[dict[str, bytes], float]) -> None:
    """The mount point takes files once its disk is gone: nothing may be sealed there."""
    keep = disk.with_name("keep")
    keep.mkdir()
    remount(disk, "size=64m")
    subprocess.run(["mount", "--bind", str(disk), str(keep)], check=True)
    try:
        process = start(disk / "run")
        wait_for_pairs(disk / "run")
        subprocess.run(["umount", "-l", str(disk)], check=True)
        _, errors = process.communicate(timeout=180)
        assert process.returncode == 2, errors
        assert "was a mount lost" in errors or "cannot" in errors
        assert not list(disk.glob("run/*/*.json"))
        finish(keep / "run")
        assert final_files(keep / "run") == calm[0]
    finally:
        subprocess.run(["umount", "-l", str(keep)], check=False)
