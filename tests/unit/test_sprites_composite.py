"""Pictures from layers made of numbers: what twins share, what order may not decide, and masks that fit the picture."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from generator.specs import (
    CameraSpec,
    LightSpec,
    ObjectSpec,
    PaintPlan,
    RenderJob,
    RenderSettings,
    Rgb,
    SceneSpec,
    SlabSpec,
    SurfaceSpec,
    project,
    to_json,
)
from renderers.blender.layers import store
from renderers.sprites.__main__ import Worker
from renderers.sprites.bank import Bank, Maker
from renderers.sprites.composite import Compositor
from renderers.sprites.keys import Key, PlateKey, SpriteKey, scene_keys

SIZE = 64
PLAN = PaintPlan("material", "paint", 0.5, 0.9)
CAMERA = CameraSpec((0.0, -4.0, 0.0), (0.0, 0.0, 0.0), 144.0)
LIGHT = LightSpec(0.0, 45.0, 8.0, float(np.pi), (1.0, 1.0, 1.0), 1.0, (1.0, 1.0, 1.0))
FLOOR = SlabSpec("floor", (0.0, 0.0, -0.35), (8.0, 8.0, 0.1), SurfaceSpec((0.5, 0.5, 0.5), 0.8))
RED: Rgb = (1.0, 0.0, 0.0)
BLUE: Rgb = (0.0, 0.0, 1.0)
PLATE_LEVEL = 0.25


def layer_of(key: Key) -> tuple[NDArray[np.float64], dict[str, object]]:
    """A grey plate half lit by the key; white balls; no light kept off but straight below."""
    if isinstance(key, PlateKey):
        plane = np.ones((key.px, key.px))
        down = ((np.arange(key.px) + 0.5) / key.px - 0.5) * key.camera.sensor_width_mm / key.camera.focal_length_mm
        floor = down > 0.05
        depth, ids = (line[:, None] * plane for line in (np.where(floor, 0.3 / np.maximum(down, 0.05), 6.0), floor))
        return np.stack([PLATE_LEVEL * plane] * 3 + [0.5 * plane, depth, ids]), {}
    middles = (np.arange(key.px) + 0.5) / key.px - 0.5
    disc = np.clip((0.45 - np.hypot(middles[None], middles[:, None])) * key.px + 0.5, 0, 1)
    if key.kind == "cast":
        facts = {"centre": [0.0, 0.0, 0.5], "axes": [[1, 0, 0], [0, 0.7071, -0.7071], [0, 0.7071, 0.7071]]}
        return np.stack([disc, 0.5 * disc, 1 - 0.5 * disc]), {**facts, "half": 0.6, "floor": 1.25}
    box = [(x, y, z) for z in (0.0, 1.0) for y in (-0.5, 0.5) for x in (-0.5, 0.5)]
    pixels = [((0.5 + x) * key.px, (1.0 - z) * key.px) for x, _, z in box]
    zero = 0 * disc
    colours = [0.5 * disc] * 6 if key.kind == "own" else [zero] * 6 + [0.5 * disc] * 6
    return np.stack([*colours, disc]), {"corners": box, "pixels": pixels}


def fill(bank: Bank, keys: tuple[Key, ...]) -> None:
    """Have layers in the bank."""
    for key in keys:
        planes, facts = layer_of(key)
        # As renders come: channels last in memory.
        last = np.ascontiguousarray(np.moveaxis(planes, 0, 2), np.float32)
        store(bank._path(key), np.moveaxis(last, 2, 0), facts)


def ball(model: Path, x: float, y: float = 0.0, paint: Rgb | None = None, role: str = "A") -> ObjectSpec:
    return ObjectSpec(role, role, "ball", str(model), (x, y, -0.3), 0.0, 0.0, 0.4, None, paint, PLAN)


def scene(*objects: ObjectSpec, light: LightSpec = LIGHT) -> SceneSpec:
    return SceneSpec("ground", "hall", objects, (FLOOR,), CAMERA, light)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.npz"
    path.write_bytes(b"a ball")
    return path


class World:
    """A bank of such layers, which would fail if it had to render one, and a compositor."""

    def __init__(self, folder: Path) -> None:
        self.settings = RenderSettings("sprites", SIZE, 1, "cpu", 1, str(folder / "bank"))
        self.bank = Bank(self.settings, folder / "log")
        self._compositor = Compositor(self.bank, SIZE, self.settings.layer_cache_bytes)

    def render(self, item: SceneSpec, seed: int = 3) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_]]:
        fill(self.bank, scene_keys(item, SIZE))
        return self._compositor.render(item, seed)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_ball_is_where_the_camera_sees_it(world: World, model: Path) -> None:
    item = ball(model, 0.1)
    image, visible, amodal = world.render(scene(item))
    assert image.shape == (SIZE, SIZE, 3)
    rows, columns = np.nonzero(amodal[0])
    u, v = project(CAMERA, (0.1, 0.0, -0.1))
    assert columns.mean() + 0.5 == pytest.approx(u * SIZE, abs=0.5)
    assert rows.mean() + 0.5 == pytest.approx(v * SIZE, abs=0.7)
    # 0.4 m of a frame of 1 m, nine tenths of it filled.
    assert columns.max() - columns.min() + 1 == pytest.approx(0.36 * SIZE, abs=1.5)
    assert np.array_equal(visible == 1, amodal[0])
    assert set(np.unique(visible)) == {0, 1}


def test_twins_differ_in_nothing_but_the_paint(world: World, model: Path) -> None:
    """Pixels that neither object covers or shades are the same, grain included; the colours have changed places."""
    one = scene(ball(model, -0.25, paint=RED), ball(model, 0.25, paint=BLUE, role="B"))
    two = scene(ball(model, -0.25, paint=BLUE), ball(model, 0.25, paint=RED, role="B"))
    first, visible, amodal = world.render(one)
    second, visible_too, amodal_too = world.render(two)
    assert np.array_equal(visible, visible_too)
    assert np.array_equal(amodal, amodal_too)
    # Three pixels away from either: edges are softer than masks.
    near = np.pad(amodal.any(axis=0), 3)
    windows = np.lib.stride_tricks.sliding_window_view(near, (7, 7))
    outside = ~windows.any(axis=(2, 3))
    assert np.array_equal(first[outside], second[outside])
    assert first[amodal[0]].mean(axis=0).argmax() == 0
    assert second[amodal[0]].mean(axis=0).argmax() == 2


def test_order_of_objects_decides_nothing(world: World, model: Path) -> None:
    """Named in the other order, the picture is the same to the byte: nobody can tell what was set in second."""
    near, far = ball(model, -0.05, -0.3, RED), ball(model, 0.1, 0.3, BLUE, "B")
    first, visible, amodal = world.render(scene(near, far))
    second, visible_too, amodal_too = world.render(scene(far, near))
    assert np.array_equal(first, second)
    assert np.array_equal(amodal, amodal_too[::-1])
    assert np.array_equal(visible, np.array([0, 2, 1], np.uint8)[visible_too])
    # The near one hides the far one, of which all is still known.
    both = amodal.all(axis=0)
    assert both.any()
    assert (visible[both] == 1).all()
    assert amodal[1].sum() > (visible == 2).sum() > 0


def test_paint_and_light_are_linear(world: World, model: Path) -> None:
    """Half the light, half the radiance; painted white shows what the layers hold."""
    item = ball(model, 0.0, paint=(1.0, 1.0, 1.0))
    image, _, amodal = world.render(scene(item))
    # Key and fill give 0.5 each: white, a little darker for the dark floor. Nothing stands before the light.
    assert image[amodal[0]].mean() == pytest.approx(247, abs=8)
    dim = replace(LIGHT, key_strength=float(np.pi) / 4, fill_strength=0.25)
    darker, _, _ = world.render(scene(item, light=dim))
    middle = darker[amodal[0]].mean()
    assert middle == pytest.approx(255 * (1.055 * 0.25 ** (1 / 2.4) - 0.055), abs=8)


def test_shadows_fall_below_and_only_where_slabs_are(world: World, model: Path) -> None:
    image, _, amodal = world.render(scene(ball(model, 0.0)))
    level = 255 * (1.055 * PLATE_LEVEL ** (1 / 2.4) - 0.055)
    outside = ~amodal[0]
    # The corners are far away: nothing but the plate and its grain.
    for corner in (image[:6, :6], image[:6, -6:]):
        assert corner.mean() == pytest.approx(level, abs=0.5)
    foot = int(np.flatnonzero(amodal[0].any(axis=1))[-1])
    below = image[foot + 1 : foot + 4, 26:38][outside[foot + 1 : foot + 4, 26:38]]
    assert below.mean() < level - 4


def test_the_seed_is_the_grain(world: World, model: Path) -> None:
    item = scene(ball(model, 0.0))
    first, again, other = world.render(item, 1)[0], world.render(item, 1)[0], world.render(item, 2)[0]
    assert np.array_equal(first, again)
    difference = first.astype(int) - other
    assert 0 < np.abs(difference).mean() < 1.5


def test_the_worker_speaks_the_protocol(world: World, model: Path, tmp_path: Path) -> None:
    item = scene(ball(model, 0.0))
    worker = Worker(tmp_path / "log")
    assert worker.handle({"settings": to_json(world.settings)}) == {"ready": True, "error": ""}
    job = to_json(RenderJob("pair/0", item, 3, str(tmp_path / "out")))
    missing = worker.handle({"missing": job})["missing"]
    assert sorted(name.partition("-")[0] for name in missing) == ["cast", "own", "plate"]
    image, visible, amodal = world.render(item)
    assert worker.handle({"missing": job})["missing"] == []
    assert worker.handle({"warm": job})["made"] == 0
    answer = worker.handle({"job": job})
    assert (answer["ok"], answer["job_id"]) == (True, "pair/0")
    whole = np.concatenate([part.ravel().view(np.uint8) for part in (image, visible, amodal)])
    assert (tmp_path / "out.raw").read_bytes() == whole.tobytes()


def test_a_damaged_layer_is_made_again(
    world: World, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = scene_keys(scene(ball(model, 0.0)), SIZE)
    fill(world.bank, keys)
    made: list[Key] = []

    def make(_maker: Maker, key: Key, _path: Path) -> int:
        made.append(key)
        fill(world.bank, (key,))
        return 1

    monkeypatch.setattr(Maker, "make", make)
    path = world.bank._path(keys[0])
    whole = np.array(world.bank.read(keys[0]).planes)  # Off the file that is about to be cut short.
    flipped = np.array(whole)
    flipped[0, 0, 0] ^= 1
    kept = Path(f"{path}.json").read_text()
    damages: dict[str, Callable[[], object]] = {
        "cut short": lambda: Path(f"{path}.npy").write_bytes(b"\x93NUMPY, cut short"),
        "empty": lambda: Path(f"{path}.npy").write_bytes(b""),
        "another shape": lambda: np.save(f"{path}.npy", whole[:, :3]),
        "a bit": lambda: np.save(f"{path}.npy", flipped),
        "no planes": lambda: Path(f"{path}.npy").unlink(),
        "no facts": lambda: Path(f"{path}.json").unlink(),
        "empty facts": lambda: Path(f"{path}.json").write_text(""),
        "null": lambda: Path(f"{path}.json").write_text("null"),
        "a list": lambda: Path(f"{path}.json").write_text("[]"),
        "other facts": lambda: Path(f"{path}.json").write_text("{}"),
    }
    for number, (name, damage) in enumerate(damages.items(), start=1):
        damage()
        bank = Bank(world.settings, tmp_path / "log")  # Each process looks at what it has not seen yet.
        assert np.array_equal(bank.read(keys[0]).planes, whole), name
        assert Path(f"{path}.json").read_text() == kept, name
        assert made == [keys[0]] * number, name


def test_a_layer_that_stays_damaged_is_an_answer(
    world: World, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = scene(ball(model, 0.0))
    keys = scene_keys(item, SIZE)
    fill(world.bank, keys)
    look = next(key for key in keys if isinstance(key, SpriteKey) and key.kind == "own")
    Path(f"{world.bank._path(look)}.npy").write_bytes(b"\x93NUMPY, cut short")
    monkeypatch.setattr(Maker, "make", lambda *_: 0)
    worker = Worker(tmp_path / "log")
    worker.handle({"settings": to_json(world.settings)})
    answer = worker.handle({"job": to_json(RenderJob("pair/0", item, 3, str(tmp_path / "out")))})
    assert not answer["ok"]
    assert "also when made anew" in answer["error"]


def test_a_bank_knows_no_half_written_layer(world: World, model: Path) -> None:
    keys = scene_keys(scene(ball(model, 0.0)), SIZE)
    fill(world.bank, keys)
    Path(f"{world.bank._path(keys[0])}.json").unlink()
    assert world.bank.missing(keys) == [keys[0]]
