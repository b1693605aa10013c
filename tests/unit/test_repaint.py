"""Repainting: detail and shading stay, hue is new, and what is not paint is left alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from generator.colour import measure
from generator.specs import PaintPlan, Rgb
from generator.vocabulary import load_vocabulary
from renderers.model import Material, Model
from renderers.repaint import DETAIL_RANGE, analyse, luminance, paint_weight, repaint, to_linear, to_srgb

COLOURS = load_vocabulary().colours
RED, BLUE = COLOURS["red"], COLOURS["blue"]
CHANNEL = st.floats(0, 1)


def plan(mode: str = "all", level: float = 0.2) -> PaintPlan:
    return PaintPlan(mode, "paint", level, 1.0)  # type: ignore[arg-type]


def texels(*srgb: tuple[float, float, float]) -> NDArray[np.float64]:
    return to_linear(np.array(srgb))


@given(st.tuples(CHANNEL, CHANNEL, CHANNEL))
def test_linear_and_srgb_are_inverse(value: tuple[float, float, float]) -> None:
    assert to_srgb(to_linear(np.array(value))) == pytest.approx(value, abs=1e-9)


def test_a_plain_part_becomes_exactly_the_new_colour() -> None:
    grey = texels((0.5, 0.5, 0.5))
    painted = repaint(grey, plan(level=float(luminance(grey)[0])), RED)
    assert to_srgb(painted)[0] == pytest.approx(RED, abs=1e-6)


@given(st.floats(0.4, 1.4))
def test_shading_and_seams_stay(factor: float) -> None:
    """A texel that was darker than the mean is as much darker afterwards, in the same hue."""
    base = texels((0.55, 0.5, 0.45))
    level = float(luminance(base)[0])
    plain, shaded = (repaint(base * f, plan(level=level), RED)[0] for f in (1.0, factor))
    assert shaded / plain == pytest.approx([factor] * 3, rel=1e-6)


def test_detail_stays_within_bounds() -> None:
    bright = repaint(texels((1.0, 1.0, 1.0)), plan(level=0.01), BLUE)
    dark = repaint(texels((0.24, 0.24, 0.24)), plan(level=5.0), BLUE)
    assert bright[0] == pytest.approx(to_linear(np.array(BLUE)) * DETAIL_RANGE[1])
    assert dark[0] == pytest.approx(to_linear(np.array(BLUE)) * DETAIL_RANGE[0])


def test_near_black_parts_are_left_alone() -> None:
    tyre = texels((0.08, 0.08, 0.08))
    assert repaint(tyre, plan(), RED) == pytest.approx(tyre)


def test_only_what_has_a_hue_takes_part_in_chromatic_plans() -> None:
    weights = paint_weight(texels((0.9, 0.1, 0.1), (0.7, 0.7, 0.72), (0.05, 0.02, 0.02), (1, 1, 1)), "chromatic")
    assert weights == pytest.approx([1, 0, 0, 0])
    assert paint_weight(texels((0.9, 0.1, 0.1), (0.7, 0.7, 0.7)), "all") == pytest.approx([1, 1])
    assert paint_weight(texels((0, 0, 0)), "material") == pytest.approx([1])


@pytest.mark.parametrize("name", sorted(COLOURS))
def test_a_painted_texture_is_named_by_its_new_colour(name: str) -> None:
    """A worn, unevenly shaded texture: painted, most of its texels are of the new colour."""
    rows = np.linspace(0.7, 1.25, 40)
    worn = to_linear(np.array([0.35, 0.5, 0.3]))[None] * rows[:, None]
    painted = repaint(worn, plan(level=float(luminance(worn).mean())), COLOURS[name])
    pixels = np.round(to_srgb(painted) * 255).astype(np.uint8)
    assert measure(pixels, COLOURS).name == name
    assert len(np.unique(pixels, axis=0)) > 5 or name == "black"


# --- which part of a model is paint ----------------------------------------------------------------------------------


def model(*parts: tuple[str, Rgb, float]) -> Model:
    """A flat model of one square per part: material name, sRGB colour, share of the area."""
    positions, triangles, numbers = [], [], []
    start = 0.0
    for number, (_, _, share) in enumerate(parts):
        base = 4 * number
        positions += [(start, 0, 0), (start + share, 0, 0), (start + share, 0, 1), (start, 0, 1)]
        triangles += [(base, base + 1, base + 2), (base, base + 2, base + 3)]
        numbers += [number, number]
        start += share
    count = len(triangles)
    return Model(
        positions=np.array(positions, np.float32),
        triangles=np.array(triangles, np.int32),
        corner_normals=np.tile(np.array([0, -1, 0], np.float32), (3 * count, 1)),
        corner_uv=np.zeros((3 * count, 2), np.float32),
        corner_rgba=None,
        material_index=np.array(numbers, np.int32),
        materials=tuple(
            Material(name, (*_linear(rgb), 1.0), 0.0, 0.5, (0.0, 0.0, 0.0), "opaque", 0.5, -1, False)
            for name, rgb, _ in parts
        ),
        textures=(),
    )


def _linear(rgb: Rgb) -> Rgb:
    red, green, blue = (float(value) for value in to_linear(np.array(rgb)))
    return red, green, blue


GREEN: Rgb = (0.1, 0.6, 0.2)
STEEL: Rgb = (0.6, 0.6, 0.6)
BLACK: Rgb = (0.03, 0.03, 0.03)


def test_marked_paint_is_what_is_painted() -> None:
    found = analyse(model(("paint", GREEN, 0.7), ("steel", STEEL, 0.3)))
    assert found is not None
    assert (found.mode, found.material) == ("material", "paint")
    assert found.share == pytest.approx(0.7, abs=0.01)
    assert found.luminance == pytest.approx(float(luminance(texels(GREEN))[0]), abs=1e-3)


@pytest.mark.parametrize(
    ("parts", "mode"),
    [
        ([("body", GREEN, 0.8), ("rim", STEEL, 0.2)], "chromatic"),
        ([("body", STEEL, 1.0)], "all"),
        ([("body", STEEL, 0.9), ("tyre", BLACK, 0.1)], "all"),
        ([("paint", GREEN, 0.3), ("rest", STEEL, 0.7)], None),
        ([("body", BLACK, 1.0)], None),
    ],
)
def test_which_part_is_paint(parts: list[tuple[str, Rgb, float]], mode: str | None) -> None:
    found = analyse(model(*parts))
    assert (found and found.mode) == mode
