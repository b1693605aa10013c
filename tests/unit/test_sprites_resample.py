"""Pixels cut, warped and encoded: by hand, and as properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from renderers.sprites import resample
from renderers.sprites.resample import GRAIN, encode, grain, level_of, shrunk, to_linear, warp


def identity(scale: float = 1.0, x: float = 0.0, y: float = 0.0) -> np.ndarray:  # type: ignore[type-arg]
    return np.array([[scale, 0.0], [0.0, scale], [x, y]])


def test_srgb_survives_linear_light_and_back() -> None:
    levels = np.arange(256, dtype=np.uint8)
    picture = np.broadcast_to(levels, (3, 256, 256))
    encoded = encode(to_linear(picture), seed=5).astype(int)
    error = encoded - picture.transpose(1, 2, 0)
    assert abs(error.mean()) < 0.02
    assert abs(error).max() <= 2
    # Clipped, not wrapped.
    over = encode(np.full((3, 8, 8), 7.0, np.float32), 0)
    assert over.min() >= 253
    assert encode(np.full((3, 8, 8), -1.0, np.float32), 0).max() <= 2


@given(st.integers(0, 2**31 - 1))
def test_grain_belongs_to_the_seed(seed: int) -> None:
    one = grain(seed, 64)
    assert np.array_equal(one, grain(seed, 64))
    assert not np.array_equal(one, grain(seed + 1, 64))
    steps = one / 2**resample.FINE_BITS
    assert abs(steps.mean()) < 0.05
    assert steps.std() == pytest.approx(GRAIN, rel=0.1)


def test_a_warp_by_nothing_is_nothing() -> None:
    planes = np.random.default_rng(1).random((4, 20, 30)).astype(np.float32)
    values, (rows, columns) = warp(planes, identity(x=-5.0, y=-7.0), 64)
    whole = np.zeros((4, 64, 64), np.float32)
    whole[:, rows, columns] = values
    np.testing.assert_allclose(whole[:, 7:27, 5:35], planes, atol=1e-5)
    whole[:, 7:27, 5:35] = 0
    assert not whole.any()


@given(st.floats(1.0, 4.0), st.floats(-0.2, 0.2), st.floats(10, 40), st.floats(10, 40))
def test_a_warp_keeps_place_and_amount(scale: float, lean: float, x: float, y: float) -> None:
    """A blob keeps its middle and its mass under shrinking, moving and leaning: nothing is lost and nothing shifts."""
    across, down = np.meshgrid(np.arange(80) + 0.5, np.arange(80) + 0.5)
    blob = np.exp(-((across - 44) ** 2 + (down - 36) ** 2) / 60).astype(np.float32)
    to_source = np.array([[scale, 0.0], [lean * scale, scale], [0.0, 0.0]])
    middle = np.array([x, y])
    to_source[2] = np.array([44.0, 36.0]) - middle @ to_source[:2]
    small, factors = shrunk(blob[None], level_of(to_source))
    values, (rows, columns) = warp(small, to_source / np.array(factors), 64)
    there = np.zeros((64, 64))
    there[rows, columns] = values[0]
    there_across, there_down = np.meshgrid(np.arange(64) + 0.5, np.arange(64) + 0.5)
    inside = min(x, y, 64 - x, 64 - y) * scale > 24
    if inside:
        assert there.sum() == pytest.approx(blob.sum() / scale**2, rel=0.04)
        assert (there * there_across).sum() / there.sum() == pytest.approx(x, abs=0.1)
        assert (there * there_down).sum() / there.sum() == pytest.approx(y, abs=0.1)


def test_a_warp_outside_the_picture_is_empty() -> None:
    values, (rows, columns) = warp(np.ones((4, 10, 10), np.float32), identity(x=500.0), 64)
    assert values.size == 0 or not values.any()
    assert columns.stop - columns.start == values.shape[2]
    assert rows.stop - rows.start == values.shape[1]


def test_premultiplied_edges_have_no_fringe() -> None:
    """A white disc shrunk onto white stays white: an edge darker than both would be a fringe."""
    across, down = np.meshgrid(np.arange(101) - 50, np.arange(101) - 50)
    alpha = np.clip(40 - np.hypot(across, down) + 0.5, 0, 1).astype(np.float32)
    assert level_of(identity(2.7)) == 2
    small, factors = shrunk(np.stack([alpha, alpha]), 2)
    values, _ = warp(small, identity(2.7) / np.array(factors), 64)
    np.testing.assert_allclose(values[0] + (1 - values[1]), 1.0, atol=1e-5)


def test_exact_cuts_invent_no_values() -> None:
    plane = np.random.default_rng(2).integers(0, 5, (90, 90)).astype(np.uint16)
    box = (3.3, 8.1, 77.7, 82.5)
    picked = plane.take(resample.places(plane.shape, box, 32))
    assert set(np.unique(picked)) <= set(range(5))
    assert picked[0, 0] == plane[int(8.1 + 74.4 / 64), int(3.3 + 74.4 / 64)]
    smooth = resample.cut(plane.astype(np.float32), (0.0, 0.0, 90.0, 90.0), 30)
    assert smooth.mean() == pytest.approx(plane.mean(), abs=0.02)
