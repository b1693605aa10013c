"""Verification on masks drawn by hand: one picture for each reason, and the same picture without the fault."""

import typing
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from worlds import context_of, options

from generator.specs import FactSpec, ObjectSpec, PairSpec, SceneSpec
from generator.tasks import TASKS
from generator.verify import Box, Reason, Rendered, Verdict, box_of, is_big, judge, relation_of
from generator.vocabulary import load_vocabulary

COLOURS = load_vocabulary().colours
SIZE = 100
OPPOSITE = {"left of": "right of", "right of": "left of", "above": "below", "below": "above", "": ""}

# Where two objects lie, left and right, and what they look like.
LEFT, RIGHT = (10, 40, 35, 65), (60, 40, 85, 65)
PAINT = {"A": (196, 20, 28), "B": (22, 62, 196)}


def side(
    boxes: tuple[Box, Box],
    paints: tuple[tuple[int, int, int], tuple[int, int, int]] = (PAINT["A"], PAINT["B"]),
    ground: int = 150,
    visible: tuple[Box, Box] | None = None,
) -> Rendered:
    """Two rectangles on a ground with a gradient; `visible` where something hides part of them."""
    image = np.full((SIZE, SIZE, 3), ground, np.uint8)
    image[: SIZE // 2] += 20
    labels = np.zeros((SIZE, SIZE), np.uint8)
    whole = np.zeros((2, SIZE, SIZE), bool)
    for number, (box, paint) in enumerate(zip(boxes, paints, strict=True)):
        x0, y0, x1, y1 = box
        whole[number, y0:y1, x0:x1] = True
        x0, y0, x1, y1 = (visible or boxes)[number]
        labels[y0:y1, x0:x1] = 1 + number
        image[y0:y1, x0:x1] = paint
    return Rendered(image, labels, whole)


def spec_of(kind: str) -> PairSpec:
    """A planned pair of each kind, with A left of B, A red and B blue, A big and B small, on side 0."""
    task = {"relation": "spatial", "presence": "negation"}.get(kind, "attribute")
    context = context_of(0, options(attributes=(kind,) if task == "attribute" else ("colour",)))
    spec = TASKS[task].sample(context, 0, 0, "train")
    values = {"colour": ("red", "blue"), "size": ("big", "small")}.get(kind)

    def changed(item: ObjectSpec, value: str) -> ObjectSpec:
        return replace(item, colour=value) if kind == "colour" else replace(item, size=value)

    def with_values(scene: SceneSpec, order: tuple[str, ...]) -> SceneSpec:
        return replace(scene, objects=tuple(changed(*pair) for pair in zip(scene.objects, order, strict=True)))

    scenes = spec.scenes
    if values is not None:
        scenes = (with_values(scenes[0], values), with_values(scenes[1], values[::-1]))
    fact = FactSpec("relation", "left of", "right of") if kind == "relation" else spec.fact
    return replace(spec, scenes=scenes, fact=fact)


def verdict(kind: str, first: Rendered, second: Rendered) -> Verdict:
    return judge(spec_of(kind), (first, second), COLOURS)


SWAPPED = (PAINT["B"], PAINT["A"])
BIG_LEFT = ((5, 30, 50, 75), RIGHT)
BIG_RIGHT = (LEFT, (50, 30, 95, 75))
GOOD: dict[str, Callable[[], tuple[Rendered, Rendered]]] = {
    "relation": lambda: (side((LEFT, RIGHT)), side((RIGHT, LEFT))),
    "colour": lambda: (side((LEFT, RIGHT)), side((LEFT, RIGHT), SWAPPED)),
    "size": lambda: (side(BIG_LEFT), side(BIG_RIGHT)),
    "presence": lambda: (side((LEFT, RIGHT)), side((LEFT, RIGHT), ((24, 138, 44), (250, 208, 16)))),
}


@pytest.mark.parametrize("kind", list(GOOD))
def test_good_pairs_are_accepted(kind: str) -> None:
    seen = verdict(kind, *GOOD[kind]())
    assert (seen.accepted, seen.reason) == (True, ""), seen.detail
    assert [[item.role for item in records] for records in seen.objects] in (
        [["A", "B"], ["A", "B"]],
        [["A1", "A2"], ["B1", "B2"]],
    )


def test_what_is_recorded_of_an_object() -> None:
    seen = verdict("colour", side((LEFT, RIGHT), visible=((15, 40, 35, 65), RIGHT)), GOOD["colour"]()[1])
    assert seen.accepted, seen.detail
    record = seen.objects[0][0]
    assert record.box == (15, 40, 35, 65)
    assert record.visible_px == 20 * 25
    assert record.visible_fraction == 0.8
    assert (record.colour, record.measured_colour) == ("red", "red")
    assert record.measured_lab == pytest.approx((41.7, 63.8, 44.6), abs=0.2)


TINY = (10, 40, 22, 52)  # 144 of 10000 pixels: just below 1.5 %
BAD: list[tuple[str, str, Rendered, Rendered]] = [
    ("too_small", "relation", side((TINY, RIGHT)), side((RIGHT, LEFT))),
    ("too_small", "presence", side((LEFT, RIGHT)), side(((40, 40, 40, 40), RIGHT))),
    ("occluded", "relation", side((LEFT, RIGHT), visible=((18, 40, 35, 65), RIGHT)), side((RIGHT, LEFT))),
    ("cut_off", "relation", side(((0, 40, 25, 65), RIGHT)), side((RIGHT, LEFT))),
    ("cut_off", "relation", side((LEFT, (75, 40, 100, 65))), side((RIGHT, LEFT))),
    ("cut_off", "presence", side(((10, 0, 35, 25), RIGHT)), side((LEFT, RIGHT))),
    ("cut_off", "presence", side(((10, 75, 35, 100), RIGHT)), side((LEFT, RIGHT))),
    # Its visible part is clear of the frame, the object is not.
    ("cut_off", "relation", side(((0, 40, 35, 65), RIGHT), visible=((5, 40, 35, 65), RIGHT)), side((RIGHT, LEFT))),
    ("relation_wrong", "relation", side((RIGHT, LEFT)), side((LEFT, RIGHT))),
    ("relation_wrong", "relation", side((LEFT, RIGHT)), side(((10, 10, 35, 35), (10, 60, 35, 85)))),
    ("relation_unclear", "relation", side((LEFT, (36, 40, 61, 65))), side((RIGHT, LEFT))),
    ("relation_unclear", "relation", side(((10, 10, 35, 35), (50, 60, 75, 85))), side((RIGHT, LEFT))),
    ("colour_wrong", "colour", side((LEFT, RIGHT), SWAPPED), side((LEFT, RIGHT))),
    ("colour_wrong", "colour", side((LEFT, RIGHT)), side((LEFT, RIGHT), (PAINT["B"], (240, 240, 236)))),
    ("size_unclear", "size", side((LEFT, RIGHT), SWAPPED), side((LEFT, RIGHT))),
    ("size_unclear", "size", side(BIG_RIGHT), side(BIG_LEFT)),
    ("size_unclear", "size", side(BIG_LEFT), side(BIG_LEFT, SWAPPED)),
    # Long enough, but thin: no one would call it bigger.
    ("size_unclear", "size", side(((5, 40, 50, 55), RIGHT)), side(BIG_RIGHT)),
    ("twins_alike", "relation", side((LEFT, RIGHT)), side((LEFT, RIGHT))),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "kind", "first", "second"), BAD)
def test_each_fault_is_found(reason: str, kind: str, first: Rendered, second: Rendered) -> None:
    seen = verdict(kind, first, second)
    assert (seen.accepted, seen.reason) == (False, reason), seen.detail
    assert seen.detail
    assert seen.objects == ((), ())


def striped(image: NDArray[np.uint8], stripe: int, rest: int) -> NDArray[np.uint8]:
    """A picture with some contrast, nearly all of it at one level."""
    result = np.full_like(image, rest)
    result[: SIZE // 10] = stripe
    return result


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("flat", lambda image: np.full_like(image, 128)),
        ("flat", lambda image: np.zeros_like(image)),
        ("flat", lambda image: np.full_like(image, 255)),
        ("too_dark", lambda image: striped(image, 90, 3)),
        ("too_bright", lambda image: striped(image, 180, 252)),
    ],
)
def test_spoilt_images_are_refused(
    reason: str, change: Callable[[NDArray[np.uint8]], NDArray[np.uint8]], number: int
) -> None:
    sides = list(GOOD["relation"]())
    sides[number] = replace(sides[number], image=change(sides[number].image))
    seen = verdict("relation", sides[0], sides[1])
    assert seen.reason == reason, seen.detail
    assert f"image {number}" in seen.detail


def test_an_unclear_colour_is_refused() -> None:
    first, second = GOOD["colour"]()
    half = first.image.copy()
    # 55 % red, 45 % green: red by name, not by a margin.
    half[40:65, 24:35] = (24, 138, 44)
    seen = verdict("colour", replace(first, image=half), second)
    assert seen.reason == "colour_unclear", seen.detail
    assert "red" in seen.detail
    assert "green" in seen.detail


def test_the_rim_of_an_object_does_not_count_for_its_colour() -> None:
    """Rim pixels are mixed with what lies behind; on a thin object they are the most."""
    thin = (5, 40, 55, 44)
    first, second = side((thin, RIGHT)), side((thin, RIGHT), SWAPPED)
    image = first.image.copy()
    image[40:44, 5:55] = (24, 138, 44)
    image[41:43, 6:54] = PAINT["A"]
    seen = verdict("colour", replace(first, image=image), second)
    assert seen.accepted, seen.detail
    assert seen.objects[0][0].measured_colour == "red"
    assert seen.objects[0][0].measured_lab == pytest.approx((41.7, 63.8, 44.6), abs=0.2)


def test_what_hides_an_object_does_not_count_for_its_colour() -> None:
    """A red thing with some blue, and something blue before a quarter of it: by what is seen of it, it is red."""
    second = GOOD["colour"]()[1]
    hidden = side((LEFT, RIGHT), visible=((16, 40, 35, 65), RIGHT))
    image = hidden.image.copy()
    image[40:65, 10:16] = PAINT["B"]
    image[40:65, 28:35] = PAINT["B"]
    seen = verdict("colour", replace(hidden, image=image), second)
    assert seen.accepted, seen.detail


@pytest.mark.parametrize("channels", [slice(0, 1), slice(1, 2), slice(2, 3), slice(0, 3)])
@pytest.mark.parametrize(("changed", "accepted"), [(99, False), (100, True), (299, True)])
def test_twins_differ_in_one_pixel_of_a_hundred(channels: slice, changed: int, accepted: bool) -> None:
    """However many of a pixel's three values differ, it is one pixel."""
    first, second = side((LEFT, RIGHT)), side((LEFT, RIGHT))
    image = second.image.copy()
    image.reshape(-1, 3)[:changed, channels] += 1  # In the first rows, above the objects.
    seen = verdict("presence", first, replace(second, image=image))
    assert (seen.accepted, seen.reason) == (accepted, "" if accepted else "twins_alike"), seen.detail


def test_the_reasons_are_a_closed_list() -> None:
    covered = {reason for reason, *_ in BAD} | {"flat", "too_dark", "too_bright", "colour_unclear"}
    of_the_renderer = {"render_failed", "renderer_crashed", "renderer_timed_out", "renderer_out_of_memory"}
    assert covered | of_the_renderer | {"asset_quarantined"} == set(typing.get_args(Reason))


# --- boxes and relations ---------------------------------------------------------------------------------------------


def test_box_of_by_hand() -> None:
    mask = np.zeros((20, 30), bool)
    assert box_of(mask) == (0, 0, 0, 0)
    mask[3, 7] = True
    assert box_of(mask) == (7, 3, 8, 4)
    mask[10, 2] = True
    assert box_of(mask) == (2, 3, 8, 11)


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ((10, 40, 30, 60), (50, 40, 70, 60), "left of"),
        ((50, 40, 70, 60), (10, 40, 30, 60), "right of"),
        ((40, 10, 60, 30), (40, 50, 60, 70), "above"),
        ((40, 50, 60, 70), (40, 10, 60, 30), "below"),
        ((10, 40, 30, 60), (32, 40, 52, 60), "left of"),  # a gap of exactly 2 %
        ((10, 40, 30, 60), (31, 40, 51, 60), ""),
        ((10, 40, 30, 60), (20, 40, 40, 60), ""),
        ((10, 10, 30, 30), (50, 50, 70, 70), ""),  # as much below as right
        ((10, 10, 30, 30), (60, 45, 80, 65), "left of"),  # slant of exactly 0.7
        ((10, 10, 30, 30), (60, 46, 80, 66), ""),
        ((0, 40, 90, 60), (95, 0, 99, 99), "left of"),
        ((30, 30, 40, 40), (30, 30, 40, 40), ""),
    ],
)
def test_relation_table(a: Box, b: Box, relation: str) -> None:
    assert relation_of(a, b, SIZE) == relation


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    x0, x1 = sorted(draw(st.lists(st.integers(0, SIZE), min_size=2, max_size=2, unique=True)))
    y0, y1 = sorted(draw(st.lists(st.integers(0, SIZE), min_size=2, max_size=2, unique=True)))
    return (x0, y0, x1, y1)


@given(boxes(), boxes())
def test_relations_are_antisymmetric_and_mirror(a: Box, b: Box) -> None:
    held = relation_of(a, b, SIZE)
    assert relation_of(b, a, SIZE) == OPPOSITE[held]

    def mirrored(box: Box) -> Box:
        return (SIZE - box[2], box[1], SIZE - box[0], box[3])

    def transposed(box: Box) -> Box:
        return (box[1], box[0], box[3], box[2])

    flipped = {"left of": "right of", "right of": "left of"}.get(held, held)
    assert relation_of(mirrored(a), mirrored(b), SIZE) == flipped
    turned = {"left of": "above", "above": "left of", "right of": "below", "below": "right of", "": ""}[held]
    assert relation_of(transposed(a), transposed(b), SIZE) == turned


@given(boxes(), boxes())
def test_what_is_left_of_something_ends_where_it_begins(a: Box, b: Box) -> None:
    if relation_of(a, b, SIZE) == "left of":
        assert a[2] + 2 <= b[0]
    if relation_of(a, b, SIZE) == "above":
        assert a[3] + 2 <= b[1]


def test_size_words() -> None:
    assert [is_big(word) for word in ("big", "large", "small", "tiny", "little")] == [True, True, False, False, False]
