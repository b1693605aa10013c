"""Specs: plain JSON and back without loss, and the camera that planner and renderers share."""

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import context_of

from generator.specs import (
    CameraSpec,
    PairSpec,
    RenderSettings,
    Vec3,
    camera_axes,
    fields_of,
    from_json,
    project,
    to_json,
)
from generator.tasks import TASKS

COORDINATE = st.floats(-5, 5).map(lambda value: round(value, 3))


@pytest.mark.parametrize("task", list(TASKS))
def test_round_trip_through_json_text(task: str) -> None:
    spec = TASKS[task].sample(context_of(), 3, 1, "val")
    assert from_json(PairSpec, json.loads(json.dumps(to_json(spec)))) == spec


@pytest.mark.parametrize("task", list(TASKS))
def test_two_ways_to_json_are_one(task: str) -> None:
    spec = TASKS[task].sample(context_of(), 3, 1, "val")
    assert json.dumps(spec, default=fields_of) == json.dumps(to_json(spec))


def test_a_tuple_of_another_length_is_a_programmers_mistake() -> None:
    data = to_json(CameraSpec((0.0, -1.0, 0.0), (0.0, 0.0, 0.0), 36.0))
    with pytest.raises(AssertionError, match="2 values"):
        from_json(CameraSpec, {**data, "position_m": [0.0, 1.0]})


def test_specs_are_frozen() -> None:
    spec = TASKS["spatial"].sample(context_of(), 0, 0, "train")
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.index = 1  # type: ignore[misc]


def test_an_unknown_key_is_a_programmers_mistake() -> None:
    data = to_json(RenderSettings("cycles", 64, 1, "cpu", 1))
    with pytest.raises(AssertionError, match="colour"):
        from_json(RenderSettings, {**data, "colour": 1})


@st.composite
def cameras(draw: st.DrawFn) -> CameraSpec:
    look_at = (draw(COORDINATE), draw(COORDINATE), draw(COORDINATE))
    azimuth, elevation = draw(st.floats(-180, 180)), draw(st.floats(-90, 90))
    distance = draw(st.floats(0.5, 4))
    up, around = math.radians(elevation), math.radians(azimuth)
    offset = (math.sin(around) * math.cos(up), -math.cos(around) * math.cos(up), math.sin(up))
    position = tuple(a + distance * b for a, b in zip(look_at, offset, strict=True))
    return CameraSpec(
        (position[0], position[1], position[2]), look_at, draw(st.floats(20, 120)), draw(st.floats(-45, 45))
    )


@given(cameras())
def test_camera_axes_are_a_right_handed_frame(camera: CameraSpec) -> None:
    right, up, forward = camera_axes(camera)
    for one, other, dot in (
        (right, right, 1), (up, up, 1), (forward, forward, 1), (right, up, 0), (right, forward, 0), (up, forward, 0),
    ):  # fmt: skip
        assert sum(a * b for a, b in zip(one, other, strict=True)) == pytest.approx(dot, abs=1e-9)
    # right x up points back at the viewer.
    cross = (
        right[1] * up[2] - right[2] * up[1],
        right[2] * up[0] - right[0] * up[2],
        right[0] * up[1] - right[1] * up[0],
    )
    assert cross == pytest.approx(tuple(-value for value in forward), abs=1e-9)


@given(cameras())
def test_what_the_camera_looks_at_is_in_the_middle(camera: CameraSpec) -> None:
    assert project(camera, camera.look_at_m) == pytest.approx((0.5, 0.5), abs=1e-6)


@pytest.mark.parametrize(
    ("camera", "point", "expected"),
    [
        # One metre of frame at one metre: a half to the right is the edge, a quarter up is a quarter from the top.
        (CameraSpec((0, -1, 0), (0, 0, 0), 36.0), (0.5, 0.0, 0.0), (1.0, 0.5)),
        (CameraSpec((0, -1, 0), (0, 0, 0), 36.0), (0.0, 0.0, 0.25), (0.5, 0.25)),
        (CameraSpec((0, -1, 0), (0, 0, 0), 72.0), (0.25, 0.0, 0.0), (1.0, 0.5)),
        # Straight down: +y is up in the image.
        (CameraSpec((0, 0, 1), (0, 0, 0), 36.0), (0.0, 0.25, 0.0), (0.5, 0.25)),
        # A camera rolled by 90 degrees: what stood above lies to one side.
        (CameraSpec((0, -1, 0), (0, 0, 0), 36.0, roll_deg=90.0), (0.0, 0.0, 0.25), (0.75, 0.5)),
        # A lens shifted to the right and up shows what is there: what was in the middle moves left and down.
        (CameraSpec((0, -1, 0), (0, 0, 0), 36.0, shift=(0.25, 0.125)), (0.0, 0.0, 0.0), (0.25, 0.625)),
    ],
)
def test_projection_by_hand(camera: CameraSpec, point: Vec3, expected: tuple[float, float]) -> None:
    assert project(camera, point) == pytest.approx(expected, abs=1e-9)


@given(cameras(), st.floats(0.2, 0.9), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_crop_is_a_longer_lens_and_a_shift(camera: CameraSpec, share: float, left: float, top: float) -> None:
    """A window of a wide picture, `share` of its width, with (left, top) of the room beside it on those sides."""
    left, top = left * (1 - share), top * (1 - share)
    crop = dataclasses.replace(
        camera,
        focal_length_mm=camera.focal_length_mm / share,
        shift=((left + share / 2 - 0.5) / share, (0.5 - top - share / 2) / share),
    )
    right, up, _ = camera_axes(camera)
    point = tuple(a + 0.1 * b - 0.07 * c for a, b, c in zip(camera.look_at_m, right, up, strict=True))
    u, v = project(camera, (point[0], point[1], point[2]))
    assert project(crop, (point[0], point[1], point[2])) == pytest.approx(
        ((u - left) / share, (v - top) / share), abs=1e-6
    )
