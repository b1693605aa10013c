"""Which layers a scene needs: what scenes share and what they do not, and that plates hold their crops."""

import dataclasses
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.specs import (
    CameraSpec,
    LightSpec,
    ObjectSpec,
    PaintPlan,
    SceneSpec,
    SlabSpec,
    SurfaceSpec,
    project,
)  # fmt: skip
from renderers.sprites.keys import azimuth_deg, elevation_deg, name_of, plate_key, scene_keys, sprite_keys
from renderers.sprites.view import View

SIZE = 224
PLAN = PaintPlan("material", "paint", 0.5, 0.9)
CAMERA = CameraSpec((0.4, -3.9, 0.7), (0.0, 0.0, 0.2), 144.0, shift=(0.1, -0.2))
LIGHT = LightSpec(30.0, 40.0, 8.0, 2.0, (1.0, 0.98, 0.95), 0.4, (1.0, 1.0, 1.0))
GROUND = SlabSpec("ground", (0.0, 0.0, -0.5), (8.0, 8.0, 1.0), SurfaceSpec((0.5, 0.4, 0.3), 0.8))


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.npz"
    path.write_bytes(b"a model")
    return str(path)


def thing(model: str, x: float = 0.0, paint: tuple[float, float, float] | None = None) -> ObjectSpec:
    return ObjectSpec(
        "A", "uid", "mug", model, (x, 0.0, 0.0), 20.0, 0.0, 0.3, None, paint, PLAN if paint is not None else None
    )


def scene(*objects: ObjectSpec, camera: CameraSpec = CAMERA, light: LightSpec = LIGHT) -> SceneSpec:
    return SceneSpec("ground", "hall", objects, (GROUND,), camera, light)


@st.composite
def crops(draw: st.DrawFn) -> CameraSpec:
    focal = draw(st.floats(30.0, 400.0))
    shift = (draw(st.floats(-1.5, 1.5)), draw(st.floats(-1.5, 1.5)))
    position = (draw(st.floats(-2, 2)), draw(st.floats(-6, -2)), draw(st.floats(0, 4)))
    return CameraSpec(position, (0.0, 0.0, 0.2), focal, draw(st.floats(-20, 20)), shift=shift)


@given(crops())
def test_a_plate_holds_its_crop_without_enlarging_it(camera: CameraSpec) -> None:
    key = plate_key(scene(camera=camera), SIZE)
    share = key.camera.focal_length_mm / camera.focal_length_mm
    left, top, right, bottom = View(camera, SIZE).window(key.camera, key.px)
    # All of the crop is inside (a window is cut off at the plate's edges, and must not have been).
    assert right - left == pytest.approx(share * key.px, rel=1e-6)
    assert bottom - top == pytest.approx(share * key.px, rel=1e-6)
    assert right - left >= SIZE * (1 - 1e-6)
    assert key.camera.shift == (0.0, 0.0)


@given(crops(), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.floats(0.0, 0.6))
def test_the_window_is_where_the_cameras_say(camera: CameraSpec, x: float, y: float, z: float) -> None:
    key = plate_key(scene(camera=camera), SIZE)
    left, top, right, bottom = View(camera, SIZE).window(key.camera, key.px)
    u, v = project(camera, (x, y, z))
    wide_u, wide_v = project(key.camera, (x, y, z))
    assert left + u * (right - left) == pytest.approx(wide_u * key.px, abs=1e-3 * key.px)
    assert top + v * (bottom - top) == pytest.approx(wide_v * key.px, abs=1e-3 * key.px)


@given(crops(), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_many_points_are_projected_as_one(camera: CameraSpec, x: float, z: float) -> None:
    view = View(camera, SIZE)
    expected = np.array(project(camera, (x, 0.1, z))) * SIZE
    np.testing.assert_allclose(view.project(np.array([[x, 0.1, z]]))[0], expected, rtol=1e-6, atol=1e-6)


@given(crops(), st.floats(0.5, 9.0), st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
def test_points_behind_pixels_project_to_their_middles(camera: CameraSpec, depth: float, row: int, column: int) -> None:
    view = View(camera, SIZE)
    point = view.points(np.full((SIZE, SIZE), depth, np.float32))[:, row, column].astype(np.float64)
    assert view.depth(point[None])[0] == pytest.approx(depth, rel=1e-3)
    np.testing.assert_allclose(
        view.project(point[None])[0], [column + 0.5, row + 0.5], atol=0.05 * camera.focal_length_mm / depth / 10
    )


def test_what_arithmetic_puts_in_needs_no_new_layers(model: str) -> None:
    """Paint colours, strengths and colours of light, crops and small moves: all share their layers."""
    item = thing(model, paint=(0.8, 0.1, 0.1))
    base = scene_keys(scene(item), SIZE)
    repainted = scene_keys(scene(replace(item, paint=(0.1, 0.1, 0.8))), SIZE)
    assert repainted == base
    brighter = replace(LIGHT, key_strength=3.0, fill_rgb=(0.9, 0.95, 1.0))
    assert scene_keys(scene(item, light=brighter), SIZE)[1:] == base[1:]
    assert scene_keys(scene(item, camera=replace(CAMERA, focal_length_mm=120.0, shift=(0.0, 0.1))), SIZE) == base
    assert scene_keys(scene(replace(item, scale_m=0.28, position_m=(0.0, 0.0, 0.05))), SIZE)[1:] == base[1:]


def test_what_looks_different_needs_its_own(model: str) -> None:
    item = thing(model)
    look, cast = sprite_keys(scene(item), item, SIZE)
    assert (look.kind, cast.kind) == ("own", "cast")
    for other in (replace(item, yaw_deg=25.0), replace(item, pitch_deg=-90.0), replace(item, spin_deg=5.0)):
        assert sprite_keys(scene(other), other, SIZE)[0] != look
        assert sprite_keys(scene(other), other, SIZE)[1] != cast
    for light in (replace(LIGHT, azimuth_deg=40.0), replace(LIGHT, elevation_deg=50.0), replace(LIGHT, angle_deg=4.0)):
        assert sprite_keys(scene(item, light=light), item, SIZE)[0] != look
        assert plate_key(scene(light=light), SIZE) != plate_key(scene(), SIZE)
    painted = thing(model, paint=(1.0, 0.0, 0.0))
    assert sprite_keys(scene(painted), painted, SIZE)[0].kind == "paint"
    near = replace(CAMERA, position_m=(0.1, -1.0, 0.2))
    assert sprite_keys(scene(item, camera=near), item, SIZE)[0].closeness > look.closeness
    # Seen from far above and from its own height: not the same picture.
    above = replace(CAMERA, position_m=(0.4, -2.0, 3.0))
    assert sprite_keys(scene(item, camera=above), item, SIZE)[0].elevation_deg != look.elevation_deg


def test_turning_everything_about_the_object_changes_nothing(model: str) -> None:
    """Camera, object and light carried round together: the same sprite."""
    item = thing(model)
    camera = CameraSpec((0.0, -4.0, 0.8), (0.0, 0.0, 0.0), 144.0)
    base = sprite_keys(scene(item, camera=camera), item, SIZE)
    round_it = replace(camera, position_m=(4.0, 0.0, 0.8))  # A quarter round, to +x.
    turned = replace(item, yaw_deg=item.yaw_deg + 90.0)
    light = replace(LIGHT, azimuth_deg=LIGHT.azimuth_deg + 90.0)
    assert sprite_keys(scene(turned, camera=round_it, light=light), turned, SIZE) == base
    assert azimuth_deg(round_it) == pytest.approx(90.0)
    assert elevation_deg(round_it) == pytest.approx(elevation_deg(camera))


def test_a_projected_picture_is_no_part_of_the_plate(tmp_path: Path) -> None:
    keys = []
    for name in ("one.jpg", "two.jpg"):
        (tmp_path / name).write_bytes(name.encode())
        wall = SlabSpec(
            "wall", (0, 2, 0), (8, 0, 8),
            SurfaceSpec((1, 1, 1), 1.0, str(tmp_path / name), projection="camera", lit=False),
        )  # fmt: skip
        keys.append(plate_key(replace(scene(), slabs=(GROUND, wall)), SIZE))
    assert keys[0] == keys[1]
    assert keys[0] != plate_key(scene(), SIZE)


def test_names_are_of_contents_not_paths(tmp_path: Path) -> None:
    for name, content in (("a", b"same"), ("b", b"same"), ("c", b"other")):
        (tmp_path / name).write_bytes(content)
    items = [thing(str(tmp_path / name)) for name in "abc"]
    first, second, third = (name_of(sprite_keys(scene(item), item, SIZE)[0]) for item in items)
    assert first == second
    assert first != third
    assert first.startswith("own-")
    assert all(field.name for field in dataclasses.fields(plate_key(scene(), SIZE)))
