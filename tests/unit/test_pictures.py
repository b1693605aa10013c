"""What a renderer writes is what the pipeline reads, and what is cut short is noticed."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from generator.render import read_picture
from renderers.answers import put_picture


@given(st.data(), st.integers(1, 9), st.integers(1, 3))
def test_a_picture_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, size_px: int, count: int
) -> None:
    image = data.draw(arrays(np.uint8, (size_px, size_px, 3)))
    visible = data.draw(arrays(np.uint8, (size_px, size_px), elements=st.integers(0, count)))
    amodal = data.draw(arrays(np.bool_, (count, size_px, size_px)))
    out = tmp_path_factory.mktemp("pictures") / "job"
    put_picture(str(out), *blank(5, 2))  # One before it in the same file, larger or smaller.
    # A view whose rows run the other way, as Blender's do: it is the picture that counts, not how it lies in memory.
    put_picture(str(out), image[::-1], visible, amodal)
    read = read_picture(str(out), size_px, count)
    assert np.array_equal(read.image, image[::-1])
    assert np.array_equal(read.visible, visible)
    assert np.array_equal(read.amodal, amodal)


def test_a_cut_picture_is_noticed(tmp_path: Path) -> None:
    put_picture(str(tmp_path / "job"), *blank(8, 2))
    with pytest.raises(ValueError, match="384 bytes for 3 objects in 8 x 8"):
        read_picture(str(tmp_path / "job"), 8, 3)
    with pytest.raises(OSError, match="job"):
        read_picture(str(tmp_path / "none of that job"), 8, 3)


def test_masks_of_another_size_are_a_programmers_mistake(tmp_path: Path) -> None:
    image, visible, _ = blank(8, 2)
    with pytest.raises(AssertionError):
        put_picture(str(tmp_path / "job"), image, visible, blank(9, 2)[2])


def blank(size_px: int, count: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_]]:
    return (
        np.zeros((size_px, size_px, 3), np.uint8),
        np.zeros((size_px, size_px), np.uint8),
        np.zeros((count, size_px, size_px), np.bool_),
    )
