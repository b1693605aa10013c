"""Sprites against Blender: the same spec rendered whole and put together from layers looks alike, masks included."""

import math
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest
from blender_jobs import Blender, Picture, ball_mesh, box_mesh, thing, write_model
from numpy.typing import NDArray
from PIL import Image

from generator.assets.catalog import Catalog
from generator.child import Child
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
    to_json,
)

pytestmark = pytest.mark.blender
pytest.importorskip("bpy", reason="renders with Blender")

SIZE = 96
UP = math.radians(12.0)
# Looks at an object's foot, which is where sprites have their exact elevation.
CAMERA = CameraSpec((0.0, -4.0 * math.cos(UP), 4.0 * math.sin(UP)), (0.0, 0.0, 0.0), 144.0, shift=(0.0, 0.15))
LIGHT = LightSpec(35.0, 45.0, 9.0, 2.4, (1.0, 0.97, 0.93), 0.42, (1.0, 0.98, 0.95))
GROUND = SlabSpec("ground", (0.0, 0.0, -0.03), (20.0, 8.0, 0.06), SurfaceSpec((0.72, 0.66, 0.58), 0.8))
WALL = SlabSpec("wall", (0.0, 1.2, 2.0), (20.0, 0.0, 12.0), SurfaceSpec((0.7, 0.72, 0.74), 0.9))
PLAN = PaintPlan("all", "", 0.2, 1.0)


class Sprites:
    """One worker process and its bank. Use as a context manager."""

    def __init__(self, bank: Path) -> None:
        self._settings = RenderSettings("sprites", SIZE, 1, "cpu", 1, str(bank))

    def __enter__(self) -> "Sprites":
        self._scratch = tempfile.TemporaryDirectory()
        self._child = Child("renderers.sprites", Path(self._scratch.name) / "log")
        assert self.ask({"settings": to_json(self._settings)})["ready"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()
        self._scratch.cleanup()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request, one answer."""
        self._child.send(request)
        return self._child.receive(240)

    def job(self, scene: SceneSpec) -> Any:
        """A job for a scene, as JSON."""
        return to_json(RenderJob("job", scene, 7, str(Path(self._scratch.name) / "out")))

    def render(self, scene: SceneSpec) -> Picture:
        """Put one scene together."""
        answer = self.ask({"job": self.job(scene)})
        assert answer["ok"], answer["error"]
        data = np.fromfile(Path(self._scratch.name) / "out.raw", np.uint8)
        area = SIZE * SIZE
        image, visible, amodal = np.split(data, [3 * area, 4 * area])
        return Picture(
            image.reshape(SIZE, SIZE, 3), visible.reshape(SIZE, SIZE), amodal.reshape(-1, SIZE, SIZE).astype(bool)
        )


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bank")


@pytest.fixture(scope="module")
def sprites(bank: Path) -> Iterator[Sprites]:
    with Sprites(bank) as started:
        yield started


def test_a_damaged_layer_is_made_again(box: Path, tmp_path: Path) -> None:
    scene = scene_of(thing(box, scale=0.4))
    with Sprites(tmp_path) as started:
        before = started.render(scene)
    layers = sorted(tmp_path.rglob("*.npy"))
    assert len(layers) == 3
    for layer in layers:
        layer.write_bytes(layer.read_bytes()[:200])
    with Sprites(tmp_path) as started:
        after = started.render(scene)
    assert np.array_equal(before.image, after.image)


def test_a_device_that_is_not_here_shows_at_once(tmp_path: Path) -> None:
    child = Child("renderers.sprites", tmp_path / "log")
    child.send({"settings": to_json(RenderSettings("sprites", SIZE, 1, "optix", 1, str(tmp_path / "bank")))})
    answer = child.receive(120)
    child.close()
    assert not answer["ready"]
    assert "optix" in answer["error"]


@pytest.fixture(scope="module")
def blender() -> Iterator[Blender]:
    with Blender(SIZE, samples_per_pixel=16) as started:
        yield started


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "box.npz", *box_mesh(1.0, 0.6, 0.8))


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "ball.npz", *ball_mesh(24))


def scene_of(*objects: ObjectSpec, slabs: tuple[SlabSpec, ...] = (GROUND, WALL)) -> SceneSpec:
    return SceneSpec("ground", "test", objects, slabs, CAMERA, LIGHT)


def iou(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    return float((one & other).sum() / (one | other).sum())


def lab(srgb: NDArray[np.uint8]) -> NDArray[np.float64]:
    """CIELAB (D65) of 8-bit sRGB."""
    values = srgb / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    xyz = linear @ np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])
    xyz = xyz / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def difference(one: Picture, other: Picture) -> float:
    """Mean CIELAB difference where both show the first object, a pixel inside its edge."""
    shown = np.pad((one.visible == 1) & (other.visible == 1), 1)
    both = np.lib.stride_tricks.sliding_window_view(shown, (3, 3)).all(axis=(2, 3))
    return float(np.linalg.norm(lab(one.image) - lab(other.image), axis=-1)[both].mean())


def test_the_same_scene_looks_alike(sprites: Sprites, blender: Blender, box: Path, ball: Path) -> None:
    """Masks, light and shadows of two objects beside and partly before one another."""
    scene = scene_of(
        thing(ball, (-0.12, -0.15, 0.0), 0.34), thing(box, (0.16, 0.12, 0.0), 0.45, yaw=30.0)
    )  # fmt: skip
    whole, composed = blender.render(scene), sprites.render(scene)
    for number in range(2):
        assert iou(whole.amodal[number], composed.amodal[number]) > 0.93
        assert iou(whole.visible == 1 + number, composed.visible == 1 + number) > 0.93
    assert (whole.visible == composed.visible).mean() > 0.985
    error = np.abs(whole.image.astype(float) - composed.image)
    assert error.mean() < 4.0
    # Shadows: where objects darken the stage in one picture, they darken it in the other.
    empty = blender.render(scene_of(thing(ball, (0.0, 0.0, -9.0)))).image.astype(float).mean(axis=2)
    stage = (whole.visible == 0) & (composed.visible == 0)
    drops = [(empty - picture.image.mean(axis=2))[stage] for picture in (whole, composed)]
    assert drops[0].max() > 25
    assert np.corrcoef(*drops)[0, 1] > 0.9
    assert drops[1].mean() == pytest.approx(drops[0].mean(), rel=0.25)


def test_two_colours_from_one_sprite_are_as_rendered(
    sprites: Sprites, blender: Blender, bundled_catalog: Catalog
) -> None:
    """A few of the library's models, as large in the picture as usual; the second colour needs no new layer."""
    differences = []
    paintable = bundled_catalog.paintable.assets
    colours: tuple[Rgb, Rgb] = ((0.8, 0.1, 0.1), (0.95, 0.95, 0.92))
    for asset in paintable[:: max(1, len(paintable) // 3)][:3]:
        for number, paint in enumerate(colours):
            item = replace(thing(Path(asset.model), scale=0.4, yaw=20.0), paint=paint, paint_plan=asset.paint_plan)
            if number:
                assert sprites.ask({"missing": sprites.job(scene_of(item))})["missing"] == []
            differences.append(difference(blender.render(scene_of(item)), sprites.render(scene_of(item))))
    assert np.mean(differences) <= 3.0, differences


@pytest.mark.parametrize("lit", [False, True])
def test_a_photograph_fills_the_frame_whatever_the_plate(
    sprites: Sprites, blender: Blender, ball: Path, tmp_path: Path, lit: bool
) -> None:
    """Another picture on the wall: no new plate, and as Blender shows it, glowing or lit."""
    scenes = []
    for number in range(2):
        picture = np.random.default_rng(number).integers(60, 255, (6, 6, 3), np.uint8)
        path = tmp_path / f"{number}.png"
        Image.fromarray(picture).resize((192, 192), Image.Resampling.BICUBIC).save(path)
        wall = replace(WALL, surface=SurfaceSpec((1.0, 1.0, 1.0), 1.0, str(path), projection="camera", lit=lit))
        scenes.append(scene_of(thing(ball, (0.1, 0.0, 0.0), 0.3), slabs=(GROUND, wall)))
    sprites.render(scenes[0])
    assert sprites.ask({"missing": sprites.job(scenes[1])})["missing"] == []
    composed, whole = sprites.render(scenes[1]), blender.render(scenes[1])
    top = np.s_[: SIZE // 3]
    assert (whole.visible[top] == 0).all()
    assert np.abs(whole.image[top].astype(float) - composed.image[top]).mean() < (4.0 if lit else 2.0)


def test_a_board_in_front_hides_what_is_behind_it(sprites: Sprites, blender: Blender, ball: Path) -> None:
    board = SlabSpec("board", (0.0, -0.4, 0.06), (2.0, 0.02, 0.2), SurfaceSpec((0.4, 0.3, 0.2), 0.8))
    scene = scene_of(thing(ball, (0.0, 0.0, 0.0), 0.4), slabs=(GROUND, WALL, board))
    whole, composed = blender.render(scene), sprites.render(scene)
    assert 0.2 < (whole.visible == 1).sum() / whole.amodal[0].sum() < 0.9
    assert iou(whole.visible == 1, composed.visible == 1) > 0.93
    assert iou(whole.amodal[0], composed.amodal[0]) > 0.93


def test_layers_are_made_once_and_always_the_same(sprites: Sprites, bank: Path, box: Path, tmp_path: Path) -> None:
    scene = scene_of(thing(box, (0.0, 0.0, 0.0), 0.4, yaw=-15.0))
    first = sprites.render(scene)
    assert sprites.ask({"warm": sprites.job(scene)})["made"] == 0
    with Sprites(tmp_path / "other") as other:
        answer = other.ask({"warm": other.job(scene)})
        assert (answer["ok"], answer["made"]) == (True, 3)
        assert first.same_as(other.render(scene))
    files = {path.name: path.read_bytes() for path in (tmp_path / "other").rglob("*.npy")}
    assert files
    for name, data in files.items():
        assert next(bank.rglob(name)).read_bytes() == data


def test_a_layer_that_cannot_be_made_is_an_answer(sprites: Sprites, tmp_path: Path, box: Path) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no model")
    answer = sprites.ask({"job": sprites.job(scene_of(thing(broken)))})
    assert not answer["ok"]
    assert "own-" in answer["error"]
    # The process and its child go on.
    assert sprites.ask({"warm": sprites.job(scene_of(thing(box, (0.0, 0.0, 0.0), 0.4, yaw=-15.0)))})["ok"]
