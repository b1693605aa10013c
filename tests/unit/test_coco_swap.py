"""CutMix: contents change places, nothing else changes, and with masks nothing of the leaving object stays."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from generator.coco.swap import overlap, swap_boxes, swap_masked

SIZE = 64
Box = tuple[int, int, int, int]


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    x0, y0 = draw(st.integers(0, SIZE - 4)), draw(st.integers(0, SIZE - 4))
    return x0, y0, draw(st.integers(x0 + 2, SIZE)), draw(st.integers(y0 + 2, SIZE))


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (SIZE, SIZE, 3), dtype=np.uint8)


def outside(first: Box, second: Box) -> np.ndarray:
    mask = np.ones((SIZE, SIZE), bool)
    for x0, y0, x1, y1 in (first, second):
        mask[y0:y1, x0:x1] = False
    return mask


@given(boxes(), boxes(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_no_pixel_outside_the_boxes_changes(first: Box, second: Box, seed: int) -> None:
    assume(not overlap(first, second))
    pixels = noise(seed)
    before = pixels.copy()
    swapped = swap_boxes(pixels, first, second)
    assert (pixels == before).all(), "the photo itself was changed"
    assert swapped.boxes == (second, first)
    kept = outside(first, second)
    assert (swapped.pixels[kept] == pixels[kept]).all()


@given(boxes(), boxes(), st.integers(0, 99), st.floats(0, 8))
@settings(max_examples=40, deadline=None)
def test_masked_swap_keeps_to_the_boxes_too(first: Box, second: Box, seed: int, feather_px: float) -> None:
    assume(not overlap(first, second))
    pixels, rng = noise(seed), np.random.default_rng(seed)
    masks = (rng.random((SIZE, SIZE)) < 0.5, rng.random((SIZE, SIZE)) < 0.5)
    kept = outside(first, second)
    assert (swap_masked(pixels, (first, second), masks, feather_px).pixels[kept] == pixels[kept]).all()


def test_equal_boxes_swap_exactly_and_back() -> None:
    pixels, first, second = noise(1), (2, 2, 22, 30), (40, 30, 60, 58)
    once = swap_boxes(pixels, first, second).pixels
    assert (once[30:58, 40:60] == pixels[2:30, 2:22]).all()
    assert (once[2:30, 2:22] == pixels[30:58, 40:60]).all()
    assert (swap_boxes(once, first, second).pixels == pixels).all()


def test_contents_are_resized_into_the_other_box() -> None:
    pixels = np.zeros((SIZE, SIZE, 3), np.uint8)
    pixels[0:10, 0:20] = (250, 0, 0)
    pixels[30:60, 30:40] = (0, 0, 250)
    swapped = swap_boxes(pixels, (0, 0, 20, 10), (30, 30, 40, 60)).pixels
    assert (swapped[0:10, 0:20] == (0, 0, 250)).all()
    assert (swapped[30:60, 30:40] == (250, 0, 0)).all()


def test_overlapping_boxes_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(AssertionError):
        swap_boxes(noise(0), (0, 0, 20, 20), (19, 19, 40, 40))


def test_masked_swap_leaves_nothing_of_the_old_object_and_keeps_the_background() -> None:
    pixels = np.full((SIZE, SIZE, 3), 100, np.uint8)
    first, second = (0, 0, 24, 24), (36, 36, 60, 60)
    masks = np.zeros((2, SIZE, SIZE), bool)
    masks[0, 8:16, 2:22] = True  # a flat thing
    masks[1, 38:58, 44:52] = True  # a tall one
    pixels[masks[0]] = (250, 0, 0)
    pixels[masks[1]] = (0, 0, 250)
    swapped = swap_masked(pixels, (first, second), (masks[0], masks[1]), 2.0).pixels
    here, there = swapped[0:24, 0:24].astype(int), swapped[36:60, 36:60].astype(int)
    assert not ((here[..., 0] - here[..., 2]) > 60).any(), "red is left where red was"
    assert not ((there[..., 2] - there[..., 0]) > 60).any(), "blue is left where blue was"
    assert (here[..., 2] > 200).sum() > 100
    assert (there[..., 0] > 200).sum() > 100
    assert (swapped[0:2, 22:24] == 100).all(), "the corner of the box is background and stays as it is"


def test_masked_swap_without_a_mask_swaps_the_box() -> None:
    pixels, empty = noise(3), np.zeros((SIZE, SIZE), bool)
    first, second = (0, 0, 20, 20), (30, 30, 50, 50)
    masked = swap_masked(pixels, (first, second), (empty, empty), 4.0).pixels
    assert (masked == swap_boxes(pixels, first, second).pixels).all()
