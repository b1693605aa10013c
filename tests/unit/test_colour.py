"""Colour as people name it: CIELAB against published values, and names that hold in light and shade."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from generator.colour import LIGHTNESS_WEIGHT, measure, to_lab
from generator.vocabulary import load_vocabulary

COLOURS = load_vocabulary().colours
CHROMATIC = sorted(set(COLOURS) - {"black", "white", "gray"})


def srgb(linear: NDArray[np.float64]) -> NDArray[np.uint8]:
    values = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * np.clip(linear, 0, None) ** (1 / 2.4) - 0.055)
    pixels: NDArray[np.uint8] = np.round(np.clip(values, 0, 1) * 255).astype(np.uint8)
    return pixels


def shaded(name: str, *levels: float) -> NDArray[np.uint8]:
    """A surface of one colour, (100 per level, 3), under that much light."""
    value = np.array(COLOURS[name])
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.concatenate([np.repeat(srgb(linear * level)[None], 100, axis=0) for level in levels])


@pytest.mark.parametrize(
    ("rgb", "lab"),
    [
        # CIE 1976 L*a*b* under D65, 2 degrees, of the sRGB primaries (Lindbloom's calculator).
        ((0, 0, 0), (0, 0, 0)),
        ((255, 255, 255), (100, 0, 0)),
        ((255, 0, 0), (53.24, 80.09, 67.20)),
        ((0, 255, 0), (87.73, -86.18, 83.18)),
        ((0, 0, 255), (32.30, 79.19, -107.86)),
        ((128, 128, 128), (53.59, 0, 0)),
    ],
)
def test_lab_of_known_colours(rgb: tuple[int, int, int], lab: tuple[float, float, float]) -> None:
    assert to_lab(np.array(rgb) / 255) == pytest.approx(lab, abs=0.05)


def test_lab_keeps_its_shape() -> None:
    assert to_lab(np.zeros((4, 5, 3))).shape == (4, 5, 3)


@pytest.mark.parametrize("name", sorted(COLOURS))
def test_every_colour_is_itself(name: str) -> None:
    seen = measure(shaded(name, 1.0), COLOURS)
    assert (seen.name, seen.margin) == (name, 1.0)
    assert seen.shares[name] == 1.0


@pytest.mark.parametrize("name", CHROMATIC)
def test_a_colour_keeps_its_name_in_light_and_shade(name: str) -> None:
    """A lit ball: most of it between half and full light. Brown is orange in shade, so those two take part too."""
    seen = measure(shaded(name, 0.55, 0.7, 0.85, 1.0, 1.1), COLOURS)
    assert seen.name == name
    assert seen.shares[name] >= 0.6


@pytest.mark.parametrize("name", CHROMATIC)
def test_lightness_counts_less_than_hue(name: str) -> None:
    """Deep shade, all of it: with lightness at full weight the yellow would be brown."""
    assert measure(shaded(name, 0.4), COLOURS).name == name
    if name in ("yellow", "green", "purple", "pink", "brown"):
        assert measure(shaded(name, 0.3), COLOURS).name == name


@pytest.mark.parametrize(("name", "other"), [("red", "white"), ("blue", "yellow"), ("black", "red")])
def test_a_print_does_not_change_the_name(name: str, other: str) -> None:
    """A vote: a third of white lettering must not make a red can pink, as a mean would."""
    seen = measure(np.concatenate([shaded(name, 1.0, 1.0), shaded(other, 1.0)]), COLOURS)
    assert seen.name == name
    assert seen.margin == pytest.approx(1 / 3, abs=1e-6)
    assert seen.lab == pytest.approx(tuple(to_lab(shaded(name, 1.0)[0] / 255)), abs=0.01)


def test_half_and_half_has_no_margin() -> None:
    assert measure(np.concatenate([shaded("red", 1.0), shaded("blue", 1.0)]), COLOURS).margin == 0.0


@given(st.lists(st.tuples(*[st.integers(0, 255)] * 3), min_size=1, max_size=20))
def test_shares_add_up_and_the_name_has_the_largest(pixels: list[tuple[int, int, int]]) -> None:
    seen = measure(np.array(pixels, np.uint8), COLOURS)
    assert sum(seen.shares.values()) == pytest.approx(1.0)
    assert seen.shares[seen.name] == max(seen.shares.values())
    assert 0 <= seen.margin <= 1
    assert set(seen.shares) == set(COLOURS)


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_measured_as_the_definition_says(count: int, seed: int) -> None:
    """Every pixel's nearest word by the weighted distance, spelled out; the median of each axis."""
    pixels = np.random.default_rng(seed).integers(0, 256, (count, 3), dtype=np.uint8)
    seen = measure(pixels, COLOURS)
    lab = to_lab(pixels / 255)
    focal = to_lab(np.array(list(COLOURS.values())))
    distance = (((lab[:, None] - focal) * (LIGHTNESS_WEIGHT, 1, 1)) ** 2).sum(axis=2)
    votes = np.bincount(distance.argmin(axis=1), minlength=len(COLOURS))
    assert list(seen.shares.values()) == pytest.approx(votes / count)
    assert seen.lab == pytest.approx(np.median(lab, axis=0), abs=0.0051)


def test_nothing_to_measure_is_a_programmers_mistake() -> None:
    with pytest.raises(AssertionError):
        measure(np.zeros((0, 3), np.uint8), COLOURS)
