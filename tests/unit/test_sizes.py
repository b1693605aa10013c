"""How large objects are planned: what is seen of them, and that big and small will look it."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import asset_of

from generator.tasks import compose
from generator.tasks.compose import CLEAR_AREA, CLEAR_LENGTH, LEAST_AREA, MAX_RATIO
from generator.tasks.pose import Pose, pose

TURNS = st.floats(-1.0, 1.0)


@given(TURNS, st.booleans())
def test_the_area_seen_does_not_grow_by_turning_in_the_picture(turn: float, lying: bool) -> None:
    """A disc seen flat shows the same of itself however it is turned; its box would grow."""
    disc = replace(asset_of("clock"), extent=(1.0, 1.0, 0.1), coverage=(0.1, 0.1, math.pi / 4))
    item = pose(disc, turn, 0.3, 1.0, lying)
    assert item.area == pytest.approx(math.pi / 4 * item.scale**2)


@given(TURNS)
def test_round_things_are_as_long_turned_as_not(turn: float) -> None:
    barrel = replace(asset_of("can"), extent=(1.0, 1.0, 0.6), coverage=(0.6, 0.6, math.pi / 4))
    crate = replace(barrel, coverage=(0.6, 0.6, 1.0))
    assert pose(barrel, turn, 0.3, 1.0, lying=False).length == pytest.approx(pose(barrel, turn, 0.3, 1.0, False).scale)
    as_box = pose(crate, turn, 0.3, 1.0, lying=False)
    assert as_box.length == pytest.approx(max(as_box.box[0], as_box.box[2]))


@given(TURNS, st.booleans(), st.sampled_from([(1.0, 0.0, 1.0), (1.0, 1.0, 0.0), (0.0, 1.0, 1.0), (0.0, 0.0, 1.0)]))
def test_sheets_and_wires_have_a_size_too(turn: float, lying: bool, extent: tuple[float, float, float]) -> None:
    x, y, z = extent
    sheet = replace(asset_of("book"), extent=extent, coverage=(x * z, y * z, x * y))
    item = pose(sheet, turn, 0.3, 1.0, lying)
    assert all(math.isfinite(value) and value > 0 for value in (item.scale, item.length, item.area))


def seen(length: float, area: float) -> Pose:
    return Pose((1.0, 1.0, 1.0), 0.0, 0.0, 0.0, length, (length, length, length), length, area)


LENGTHS = st.floats(0.2, 0.5)
FILLED = st.floats(0.2, 1.0)


@given(LENGTHS, LENGTHS, FILLED, FILLED, st.floats(1.6, 1.85))
def test_big_is_clearly_larger_whichever_of_the_two_it_is(
    one: float, other: float, filled: float, other_filled: float, drawn: float
) -> None:
    base = {"A": seen(one, filled * one**2), "B": seen(other, other_filled * other**2)}
    alike, ratio = compose._contrasted(base, drawn)
    assert drawn * 0.999 <= ratio <= MAX_RATIO * 1.001
    for big, small in (("A", "B"), ("B", "A")):
        length = alike[big].length / (alike[small].length / ratio)
        area = alike[big].area / (alike[small].area / ratio**2)
        if ratio < MAX_RATIO * 0.999:
            assert length >= CLEAR_LENGTH * 0.999
            assert area >= CLEAR_AREA * 0.999
        assert alike[small].area / ratio**2 >= LEAST_AREA * 0.999
    # What is alike already is left as it is.
    if abs(math.log(one / other)) < 0.01 and abs(math.log(filled / other_filled)) < 0.01:
        assert ratio == pytest.approx(drawn)
