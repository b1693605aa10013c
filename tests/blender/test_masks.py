"""Masks are exact: at every pixel's centre they say what a ray through it meets, hidden or not."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from blender_jobs import (
    FLOOR,
    FRONT,
    WALL,
    Blender,
    ball_mesh,
    box_mesh,
    expected,
    pane_mesh,
    placed,
    rays,
    scene_of,
    slab,
    thing,
    write_model,
)
from numpy.typing import NDArray

from generator.specs import project

pytestmark = pytest.mark.blender
pytest.importorskip("bpy", reason="renders with Blender")

SIZE = 96
# Pixels whose centre lies on an edge to within float32 may fall either way.
ON_THE_EDGE = 3


@pytest.fixture(scope="module")
def blender() -> Iterator[Blender]:
    with Blender(SIZE, samples_per_pixel=1) as started:
        assert started.ready["ready"]
        yield started


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "box.npz", *box_mesh(1.0, 0.6, 0.8))


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "ball.npz", *ball_mesh())


def differing(one: NDArray[np.generic], other: NDArray[np.generic]) -> int:
    return int((one != other).sum())


def test_a_box_is_where_rays_meet_it(blender: Blender, box: Path) -> None:
    scene = scene_of([thing(box, (0.1, -0.2, 0.0), 0.9, yaw=27.0)])
    picture = blender.render(scene)
    visible, amodal = expected(scene, [box_mesh(1.0, 0.6, 0.8)], SIZE)
    assert amodal.sum() > 500
    assert differing(picture.amodal, amodal) <= ON_THE_EDGE
    assert differing(picture.visible, visible) <= ON_THE_EDGE
    # Nothing hides any of it.
    assert differing(picture.visible == 1, picture.amodal[0]) <= ON_THE_EDGE


def test_a_ball_is_a_ball(blender: Blender, ball: Path) -> None:
    """Against the sphere itself: within a pixel of its rim everywhere, and the same area."""
    spec = thing(ball, (0.0, 0.1, 0.0), 0.9)
    picture = blender.render(scene_of([spec]))
    centre = np.array([0.0, 0.1, 0.45 + 0.0009])
    directions = rays(FRONT, SIZE)
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    towards = centre - np.array(FRONT.position_m)
    miss = np.linalg.norm(np.cross(directions, towards), axis=2)  # Distance of each ray from the middle.
    pixel = np.linalg.norm(towards) * 36 / FRONT.focal_length_mm / SIZE
    inside, outside = miss < 0.45 - pixel, miss > 0.45 + pixel
    assert picture.amodal[0][inside].all()
    assert not picture.amodal[0][outside].any()
    assert picture.amodal[0].sum() == pytest.approx((miss < 0.45).sum(), rel=0.01)


@pytest.mark.parametrize("cover", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_hidden_part_is_known(blender: Blender, box: Path, cover: float) -> None:
    spec = thing(box, (0.0, 0.0, 0.0), 0.9)
    positions = placed(spec, box_mesh(1.0, 0.6, 0.8)[0])
    low, high = positions[:, 0].min(), positions[:, 0].max()
    edge = low + cover * (high - low)
    board = slab("board", ((edge + low) / 2 - 0.5, -0.6, 0.6), (edge - low + 1.0, 0.02, 1.2))
    scene = scene_of([spec], (FLOOR, WALL, board))
    picture = blender.render(scene)
    visible, amodal = expected(scene, [box_mesh(1.0, 0.6, 0.8)], SIZE)
    assert differing(picture.amodal, amodal) <= ON_THE_EDGE
    assert differing(picture.visible, visible) <= ON_THE_EDGE
    share = (picture.visible == 1).sum() / picture.amodal[0].sum()
    assert share == pytest.approx((visible == 1).sum() / amodal[0].sum(), abs=0.005)


def test_objects_hide_each_other(blender: Blender, box: Path, ball: Path) -> None:
    near = thing(ball, (0.1, -0.7, 0.0), 0.6)
    far = thing(box, (0.0, 0.2, 0.0), 1.0, yaw=-20.0)
    third = thing(box, (-0.5, -0.5, 0.0), 0.4, yaw=50.0)
    meshes = {near: ball_mesh(), far: box_mesh(1.0, 0.6, 0.8), third: box_mesh(1.0, 0.6, 0.8)}
    for order in ([near, far, third], [third, far, near]):
        scene = scene_of(order)
        picture = blender.render(scene)
        visible, amodal = expected(scene, [meshes[item] for item in order], SIZE)
        assert differing(picture.visible, visible) <= 3 * ON_THE_EDGE
        assert differing(picture.amodal, amodal) <= 3 * ON_THE_EDGE
        assert set(np.unique(picture.visible)) == {0, 1, 2, 3}
        number = order.index(far)
        assert (picture.visible == 1 + number).sum() < 0.8 * picture.amodal[number].sum()


@pytest.mark.parametrize("layers", [1, 3, 7, 36])
def test_an_object_behind_many_layers_is_hidden_and_still_there(blender: Blender, box: Path, layers: int) -> None:
    spec = thing(box, (0.0, 0.0, 0.0), 0.8, yaw=15.0)
    panes = [slab(f"pane {number}", (0.0, -0.7 - 0.02 * number, 1.0), (6.0, 0.0, 4.0)) for number in range(layers)]
    picture = blender.render(scene_of([spec], (FLOOR, WALL, *panes)))
    _, amodal = expected(scene_of([spec], (FLOOR,)), [box_mesh(1.0, 0.6, 0.8)], SIZE)
    assert (picture.visible == 0).all()
    assert differing(picture.amodal, amodal) <= ON_THE_EDGE


def holed() -> NDArray[np.uint8]:
    """A 64 x 64 texture: opaque, but a hole in its upper left quarter and a stripe of alpha 0.3 along its bottom."""
    pixels = np.full((64, 64, 4), 255, np.uint8)
    pixels[:32, :32, 3] = 0
    pixels[56:, :, 3] = 77
    return pixels


@pytest.mark.parametrize("mode", ["mask", "blend", "opaque"])
def test_cut_outs_follow_alpha(blender: Blender, box: Path, tmp_path: Path, mode: str) -> None:
    positions, triangles, uv = pane_mesh()
    pane = write_model(tmp_path / "pane.npz", positions, triangles, mode, holed(), uv)
    camera = replace(FRONT, position_m=(0.0, -3.0, 0.5), look_at_m=(0.0, 0.0, 0.5), roll_deg=0.0)
    front, behind = thing(pane, (0.0, -0.5, 0.0), 0.8), thing(box, (0.0, 0.3, 0.0), 0.9)
    picture = blender.render(scene_of([front, behind], camera=camera))
    whole, amodal = expected(
        scene_of([front, behind], camera=camera), [(positions, triangles), box_mesh(1.0, 0.6, 0.8)], SIZE
    )
    pane_px = amodal[0]
    rows, columns = np.flatnonzero(pane_px.any(axis=1)), np.flatnonzero(pane_px.any(axis=0))
    height, width = len(rows), len(columns)
    top_left = np.zeros_like(pane_px)
    # Not the outermost pixels: a texture that repeats blends its edges into one another.
    top_left[rows[0] + 2 : rows[0] + height // 2 - 1, columns[0] + 2 : columns[0] + width // 2 - 1] = True
    bottom = np.zeros_like(pane_px)
    bottom[rows[-1] - height // 8 + 2 : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
    rest = pane_px & ~np.isin(np.arange(SIZE), range(rows[-1] - height // 8 - 1, SIZE))[:, None]
    rest[: rows[0] + height // 2 + 2, : columns[0] + width // 2 + 2] = False
    assert picture.amodal[0][rest].all()
    assert (picture.visible[rest] == 1).all()
    if mode == "opaque":
        assert differing(picture.visible, whole) <= ON_THE_EDGE
        return
    # Through holes one sees what is behind; at an alpha of 0.3 a cut-out has one, and tinted glass has not.
    if mode == "blend":
        assert (picture.visible[bottom & pane_px] == 1).all()
    for hole in (top_left, bottom) if mode == "mask" else (top_left,):
        assert not picture.amodal[0][hole].any()
        seen = picture.visible[hole]
        assert (seen != 1).all()
    assert (picture.visible[top_left & amodal[1]] == 2).all()


def test_a_camera_looking_straight_down(blender: Blender, box: Path) -> None:
    camera = replace(FRONT, position_m=(0.1, 0.0, 3.0), look_at_m=(0.1, 0.0, 0.0), roll_deg=0.0)
    scene = scene_of([thing(box, (-0.2, 0.3, 0.0), 0.7, yaw=10.0, pitch=-90.0)], (FLOOR,), camera)
    picture = blender.render(scene)
    visible, amodal = expected(scene, [box_mesh(1.0, 0.6, 0.8)], SIZE)
    assert differing(picture.visible, visible) <= ON_THE_EDGE
    assert differing(picture.amodal, amodal) <= ON_THE_EDGE
    rows, columns = np.nonzero(picture.amodal[0])
    # +y is up and +x right in the picture.
    assert rows.mean() < SIZE / 2
    assert columns.mean() < SIZE / 2


def test_a_shifted_lens_sees_a_window_of_the_wide_picture(blender: Blender, box: Path) -> None:
    """Twice the focal length and a shift is the upper right quarter, to the pixel; rays and `project` agree."""
    item = thing(box, (0.55, 0.0, 0.4), 0.5, yaw=20.0)
    wide = replace(FRONT, focal_length_mm=40.0)
    quarter = replace(wide, focal_length_mm=80.0, shift=(0.5, 0.5))
    scene = scene_of([item], camera=quarter)
    picture = blender.render(scene)
    visible, amodal = expected(scene, [box_mesh(1.0, 0.6, 0.8)], SIZE)
    assert amodal.sum() > 500
    assert differing(picture.amodal, amodal) <= ON_THE_EDGE
    assert differing(picture.visible, visible) <= ON_THE_EDGE
    u, v = project(quarter, item.position_m)
    rows, columns = np.nonzero(picture.amodal[0])
    assert u * SIZE == pytest.approx(columns.mean(), abs=2)
    assert v * SIZE == pytest.approx(rows.max(), abs=0.2 * SIZE)
    # Every other pixel of the window is a pixel of the wide picture but for half a pixel.
    whole = blender.render(scene_of([item], camera=wide)).amodal[0][: SIZE // 2, SIZE // 2 :]
    assert np.abs(picture.amodal[0].reshape(SIZE // 2, 2, SIZE // 2, 2).mean(axis=(1, 3)) - whole).mean() < 0.02


def test_the_mask_is_of_the_thing_in_the_picture(blender: Blender, box: Path) -> None:
    """Both passes look through the same camera: the picture changes inside the mask when the object does, and the
    object's own shadow aside, not far from it."""
    spec = thing(box, (0.0, 0.0, 0.0), 0.9, yaw=27.0)
    empty = blender.render(scene_of([replace(spec, position_m=(0.0, 0.0, -5.0))]))
    full = blender.render(scene_of([spec]))
    change = np.abs(full.image.astype(int) - empty.image.astype(int)).max(axis=2)
    mask = full.amodal[0]
    assert not empty.visible.any()
    assert np.mean(change[mask] > 3) > 0.8
    # Above the object, where no shadow falls, nothing changes.
    top = int(np.flatnonzero(mask.any(axis=1))[0])
    assert math.isclose(float((change[: top - 4] > 8).mean()), 0.0, abs_tol=0.02)
