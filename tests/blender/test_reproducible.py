"""The same job gives the same pixels: again, after others, on more threads; and the same run the same bytes."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from blender_jobs import FLOOR, ROOT, Blender, ball_mesh, box_mesh, render, scene_of, thing, write_model
from worlds import context_of, options

from generator.assets.catalog import Catalog
from generator.backgrounds import bundled
from generator.records import Sample, find_shards, read_shard
from generator.specs import SceneSpec
from generator.tasks import TASKS

pytestmark = pytest.mark.blender
pytest.importorskip("bpy", reason="renders with Blender")

SIZE = 96


@pytest.fixture(scope="module")
def scenes(bundled_catalog: Catalog, twinscene_cache: Path) -> list[SceneSpec]:
    """Real scenes of all tasks and stages: textures, paint, boards."""
    context = replace(context_of(0, options(), bundled_catalog), backgrounds=bundled(twinscene_cache / "backgrounds"))
    specs = [TASKS[task].sample(context, index, 0, "train") for task in TASKS for index in range(2)]
    return [scene for spec in specs for scene in spec.scenes]


@pytest.fixture(scope="module")
def blender() -> Iterator[Blender]:
    with Blender(SIZE) as started:
        yield started


def test_a_job_does_not_depend_on_those_before_it(blender: Blender, scenes: list[SceneSpec]) -> None:
    """Forwards, backwards, and each alone in a process of its own: nothing is left over from another job."""
    forwards = [blender.render(scene) for scene in scenes]
    backwards = [blender.render(scene) for scene in reversed(scenes)][::-1]
    assert all(one.same_as(two) for one, two in zip(forwards, backwards, strict=True))
    for number in (0, len(scenes) - 1):
        with Blender(SIZE) as fresh:
            assert fresh.render(scenes[number]).same_as(forwards[number])


def test_threads_change_nothing(blender: Blender, scenes: list[SceneSpec]) -> None:
    with Blender(SIZE, threads=2) as other:
        assert all(other.render(scene).same_as(blender.render(scene)) for scene in scenes[::3])


def test_the_seed_changes_the_noise_alone(blender: Blender, scenes: list[SceneSpec]) -> None:
    one, two = blender.render(scenes[0], seed=1), blender.render(scenes[0], seed=2)
    assert (one.visible == two.visible).all()
    assert (one.image != two.image).any()


def test_many_jobs_leave_nothing_behind(blender: Blender, tmp_path: Path) -> None:
    """More models than the worker keeps loaded: it forgets old ones, comes back to them, and memory levels off."""
    meshes = (box_mesh(1.0, 0.5, 0.7), ball_mesh(12))
    models = [write_model(tmp_path / f"{number}.npz", *meshes[number % 2]) for number in range(60)]
    small = [scene_of([thing(model)], (FLOOR,)) for model in models]
    first = [blender.render(scene) for scene in small[:2]]
    for scene in small:
        blender.render(scene)
    held = blender.resident_bytes()
    for scene in small:
        blender.render(scene)
    assert all(blender.render(scene).same_as(before) for scene, before in zip(small[:2], first, strict=True))
    assert blender.resident_bytes() - held < 60 << 20


# --- whole runs ------------------------------------------------------------------------------------------------------

RUN = ("--task", "attribute", "--n", "4", "--size", "96", "--split", "train=1", "--shard-size", "2")


def samples(out: Path) -> dict[str, Sample]:
    return {sample.record.key: sample for path in find_shards([out]) for sample in read_shard(path)}


def final_files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for pattern in ("*/*.tar", "*/*.parquet")
        for path in sorted(out.glob(pattern))
    }


@pytest.fixture(scope="module")
def base(bundled_catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert bundled_catalog.assets
    out = tmp_path_factory.mktemp("base") / "run"
    render(out, *RUN, "--workers", "1")
    assert len(samples(out)) >= 2
    return out


def test_two_workers_make_the_same_bytes(base: Path, tmp_path: Path) -> None:
    render(tmp_path / "run", *RUN, "--workers", "2")
    assert final_files(tmp_path / "run") == final_files(base)


def test_another_shard_size_and_a_prefix_make_the_same_pairs(base: Path, tmp_path: Path) -> None:
    render(tmp_path / "run", *RUN, "--n", "3", "--shard-size", "4", "--workers", "1")
    whole = samples(base)
    assert samples(tmp_path / "run") == {key: item for key, item in whole.items() if item.record.index < 3}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_ends_in_the_same_bytes(base: Path, tmp_path: Path, how: signal.Signals) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "generator", "render", "--out", str(out), "--device", "cpu", *RUN]
    process = subprocess.Popen([*command, "--workers", "1"], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while not [*out.glob(".staging/*/*.pair"), *out.glob("train/*.json")]:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(how)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in errors
    render(out, *RUN, "--workers", "1")
    assert final_files(out) == final_files(base)
