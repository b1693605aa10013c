"""Engines and devices: those that are here work with the same masks, those that are not are named."""

from pathlib import Path

import numpy as np
import pytest
from blender_jobs import Blender, box_mesh, render, scene_of, thing, write_model

from generator.assets.catalog import Catalog
from generator.child import Child, ChildFailure

pytestmark = pytest.mark.blender
pytest.importorskip("bpy", reason="renders with Blender")


def can_render(engine: str, log: Path) -> str:
    """Why an engine cannot render here, "" when it can: some need a display or a GPU, and end the process without."""
    child = Child("renderers.blender.probe", log)
    try:
        child.send({"ask": "render", "engine": engine, "device": "cpu"})
        answer = child.receive(90)
        return "" if answer["ok"] else str(answer["error"])
    except ChildFailure as failure:
        return str(failure)
    finally:
        child.close()


@pytest.mark.parametrize("engine", ["eevee", "workbench"])
def test_other_engines_show_the_same_things(engine: str, tmp_path: Path) -> None:
    """Masks always come from Cycles' rays; the picture must be of the same object in the same place."""
    if why := can_render(engine, tmp_path / "log"):
        pytest.skip(f"{engine} cannot render here: {why}")
    model = write_model(tmp_path / "box.npz", *box_mesh(1.0, 0.6, 0.8), base_rgba=(0.8, 0.02, 0.02, 1.0))
    scene = scene_of([thing(model, scale=0.9, yaw=25.0)])
    with Blender(96) as cycles, Blender(96, engine=engine, samples_per_pixel=8) as other:
        expected, seen = cycles.render(scene), other.render(scene)
    assert np.array_equal(seen.visible, expected.visible)
    assert np.array_equal(seen.amodal, expected.amodal)
    inside = seen.image[seen.visible == 1].astype(float)
    assert inside[:, 0].mean() > 1.5 * inside[:, 1:].mean()
    outside = seen.image[seen.visible == 0].astype(float)
    assert abs(outside[:, 0].mean() - outside[:, 1].mean()) < 25


@pytest.mark.parametrize("device", ["optix", "hip", "oneapi", "metal"])
def test_a_device_that_is_not_here_is_named(device: str) -> None:
    with Blender(32, device=device) as blender:
        if blender.ready["ready"]:
            pytest.skip(f"this machine has a {device} device")
        assert f"no {device} device; found: " in blender.ready["error"]
        assert "CPU" in blender.ready["error"]


def test_auto_always_finds_a_device(tmp_path: Path) -> None:
    model = write_model(tmp_path / "box.npz", *box_mesh())
    with Blender(32, device="auto", samples_per_pixel=1) as blender:
        assert blender.ready == {"ready": True, "error": ""}
        assert blender.render(scene_of([thing(model)])).visible.any()


def test_the_command_line_refuses_a_device_that_is_not_here(bundled_catalog: Catalog, tmp_path: Path) -> None:
    assert bundled_catalog.assets  # In the cache now.
    done = render(tmp_path / "run", "--task", "spatial", "--n", "1", "--device", "metal", "--workers", "1", check=False)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "no metal device; found: " in line
    assert "doctor" in line
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "run").glob("*/*.tar"))


def test_a_broken_job_is_its_own_fault(tmp_path: Path) -> None:
    """A job that cannot be built is answered as failed, and the next one is rendered as if nothing had been."""
    from generator.specs import RenderJob, RenderSettings, to_json

    model = write_model(tmp_path / "box.npz", *box_mesh())
    child = Child("renderers.blender", tmp_path / "log")
    child.send({"settings": to_json(RenderSettings("cycles", 32, 1, "cpu", 1))})
    assert child.receive(180)["ready"]
    answers = []
    for number, path in enumerate((tmp_path / "missing.npz", model)):
        job = RenderJob(f"job {number}", scene_of([thing(path)]), 0, str(tmp_path / f"out-{number}"))
        child.send({"job": to_json(job)})
        answers.append(child.receive(60))
    child.close()
    assert not answers[0]["ok"]
    assert "missing.npz" in answers[0]["error"]
    assert answers[1]["ok"], answers[1]
