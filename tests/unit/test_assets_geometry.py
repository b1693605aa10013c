"""The geometry of preparation: what is dropped, what stays, and where it stands."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from renderers.geometry import (
    Soup,
    Unusable,
    components,
    coverage,
    drop_covered,
    drop_degenerate,
    drop_duplicates,
    find_backdrop,
    join,
    spread_points,
    to_unit_box,
    triangle_areas,
)
from tests.glb import CORNERS, QUADS

TRIANGLES = QUADS.reshape(-1, 3).astype(np.int64)


def soup(positions: NDArray[np.float64], triangles: NDArray[np.int64]) -> Soup:
    count = len(triangles)
    return Soup(
        positions=np.asarray(positions, dtype=np.float64),
        triangles=np.asarray(triangles, dtype=np.int64),
        normals=np.zeros((count, 3, 3)),
        uv=np.zeros((count, 3, 2)),
        rgba=np.ones((count, 3, 4)),
        material=np.arange(count),
    )


CUBE = soup(CORNERS.astype(np.float64), TRIANGLES)


POLE = soup(np.array([[0, 0, 0], [0.02, 0, 0], [0.02, 0, 9], [0, 0, 9]]), np.array([[0, 1, 2], [0, 2, 3]]))


def plane(side: float, z: float) -> Soup:
    corners = np.array([[-side, -side, z], [side, -side, z], [side, side, z], [-side, side, z]]) / 2
    return soup(corners + np.array([0, 0, z / 2]), np.array([[0, 1, 2], [0, 2, 3]]))


@settings(deadline=None, max_examples=60)
@given(
    scale=st.floats(1e-6, 1e6),
    shift=st.tuples(*[st.floats(-100, 100)] * 3),
    sides=st.tuples(*[st.floats(0.05, 1)] * 3),
)
def test_unit_box(scale: float, shift: tuple[float, ...], sides: tuple[float, ...]) -> None:
    moved = replace(CUBE, positions=(CUBE.positions * np.array(sides) + np.array(shift)) * scale)
    box = to_unit_box(moved).positions
    low, high = box.min(axis=0), box.max(axis=0)
    assert (high - low).max() == pytest.approx(1, abs=1e-6)
    assert low[2] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose((low + high)[:2], 0, atol=1e-6)
    np.testing.assert_allclose(high - low, np.array(sides) / max(sides), atol=1e-6)


def test_unused_vertices_do_not_count() -> None:
    far = np.concatenate([CUBE.positions, [[50, 50, 50], [np.nan, 0, 0]]])
    box = to_unit_box(replace(CUBE, positions=far))
    assert len(box.positions) == 24
    assert box.positions.max() == 1.0


@pytest.mark.parametrize(
    ("positions", "reason"),
    [
        (np.zeros((24, 3)), "no_extent"),
        (CUBE.positions * 0 + 7, "no_extent"),
        (CUBE.positions + 1e7, "lost_precision"),
        (CUBE.positions * 0 + 1e7, "lost_precision"),
        (np.where(np.arange(24)[:, None] == 3, np.inf, CUBE.positions), "bad_numbers"),
    ],
)
def test_boxes_that_cannot_be(positions: NDArray[np.float64], reason: str) -> None:
    with pytest.raises(Unusable) as caught:
        to_unit_box(replace(CUBE, positions=positions))
    assert caught.value.reason == reason


def test_no_area() -> None:
    line = soup(np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]]), np.array([[0, 1, 2]]))
    with pytest.raises(Unusable, match="zero area"):
        drop_degenerate(line)
    assert len(drop_degenerate(join([line, CUBE])).triangles) == 12


def test_back_to_back_faces_leave_the_outer_one() -> None:
    inner = replace(CUBE, triangles=CUBE.triangles[:, ::-1], material=CUBE.material + 100)
    for parts in ([CUBE, inner], [inner, CUBE]):
        assert sorted(drop_duplicates(join(parts)).material) == list(range(12))


def test_no_duplicates_no_change() -> None:
    assert drop_duplicates(CUBE) is CUBE
    assert drop_covered(CUBE) is CUBE


def test_quads_cut_along_the_other_diagonal() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, -1]], dtype=np.float64)
    top = soup(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    bottom = replace(soup(corners, np.array([[1, 0, 3], [1, 3, 2]])), material=np.array([100, 101]))
    below = replace(soup(corners, np.array([[0, 4, 1]])), material=np.array([200]))
    kept = drop_covered(drop_duplicates(join([bottom, top, below])))
    assert sorted(kept.material) == [0, 1, 200], "the side that looks away from the middle stays"


def test_a_face_half_covered_stays() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float64)
    whole = soup(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    half = replace(soup(corners, np.array([[2, 1, 0]])), material=np.array([100]))
    assert len(drop_covered(join([whole, half])).triangles) == 2


def test_points_are_spread_by_area() -> None:
    big = replace(CUBE, positions=CUBE.positions * 3 + 9)
    both = join([CUBE, big])
    triangle, weights = spread_points(both, 10_000)
    assert (triangle >= 12).mean() == pytest.approx(0.9, abs=0.01)
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert triangle_areas(both).sum() == pytest.approx(60)


@pytest.mark.parametrize(("sides", "expected"), [((1, 1, 1), (1, 1, 1)), ((0.1, 0.1, 1), (0.1, 0.1, 0.01))])
def test_coverage(sides: tuple[float, ...], expected: tuple[float, ...]) -> None:
    scaled = replace(CUBE, positions=CUBE.positions * np.array(sides))
    triangle, weights = spread_points(scaled, 60_000)
    points = np.einsum("nc,ncd->nd", weights, scaled.positions[scaled.triangles[triangle]])
    np.testing.assert_allclose(coverage(points), expected, atol=0.02)
    assert coverage(np.zeros((0, 3))) == (0, 0, 0)


def test_components() -> None:
    apart = replace(CUBE, positions=CUBE.positions + 5)
    labels = components(join([CUBE, apart, CUBE]))
    assert len(set(labels)) == 2
    assert set(labels[:12]) == set(labels[24:])


def test_ground_plane_is_found() -> None:
    assert find_backdrop(to_unit_box(CUBE)) is None
    scene = to_unit_box(join([CUBE, plane(100, -0.5)]))
    assert find_backdrop(scene) == "without its flat part the object is 1.0% of the whole"


@pytest.mark.parametrize(
    "parts",
    [
        [plane(1.6, -0.5)],  # a saucer
        [plane(1, 0.5)],  # a lid
        [
            soup(np.array([[0, 0, 0], [0.02, 0, 0], [0.02, 0, 9], [0, 0, 9]]), np.array([[0, 1, 2], [0, 2, 3]]))
        ],  # a pole
    ],
)
def test_flat_parts_of_the_object_itself_are_no_backdrop(parts: list[Soup]) -> None:
    assert find_backdrop(to_unit_box(join([CUBE, *parts]))) is None


def test_a_flat_object_is_no_backdrop() -> None:
    assert find_backdrop(to_unit_box(join([plane(1, 0), plane(0.9, 0.01)]))) is None
