"""Captions of one batch that may be true of another image."""

from dataclasses import replace

import numpy as np
from scorer_shapes import make_pair, thing

from generator.records import FactRecord, PairRecord
from scorer.truth import maybe_true, mentions, pair_truths

LEFT, RIGHT, UP, DOWN = (8, 16), (24, 16), (16, 8), (16, 24)


def attribute(a: str, b: str, ca: str, cb: str) -> PairRecord:
    base, _, _ = make_pair("attribute", 0)
    return replace(
        base,
        captions_0=(f"a {ca} {a} and a {cb} {b}", f"a {cb} {b} and a {ca} {a}"),
        captions_1=(f"a {ca} {b} and a {cb} {a}", f"a {cb} {a} and a {ca} {b}"),
        objects_0=(thing("A", a, ca, LEFT, True), thing("B", b, cb, RIGHT, True)),
        objects_1=(thing("A", a, cb, LEFT, True), thing("B", b, ca, RIGHT, True)),
    )


def spatial(a: str, b: str, word: str, other: str) -> PairRecord:
    base, _, _ = make_pair("spatial", 0)
    places = {"above": (UP, DOWN), "to the left of": (LEFT, RIGHT)}[word]
    return replace(
        base,
        captions_0=(f"a {a} {word} a {b}", f"a {b} {other} a {a}"),
        captions_1=(f"a {a} {other} a {b}", f"a {b} {word} a {a}"),
        fact=FactRecord("relation", word, other),
        objects_0=(thing("A", a, "red", places[0]), thing("B", b, "red", places[1])),
        objects_1=(thing("A", a, "red", places[1]), thing("B", b, "red", places[0])),
    )


def negation(a1: str, a2: str, b1: str, b2: str) -> PairRecord:
    base, _, _ = make_pair("negation", 0)
    return replace(
        base,
        captions_0=(f"a {a1} but not a {b1}", f"a {a2} but not a {b2}"),
        captions_1=(f"a {b1} but not a {a1}", f"a {b2} but not a {a2}"),
        objects_0=(thing("A1", a1, "red", LEFT), thing("A2", a2, "red", RIGHT)),
        objects_1=(thing("B1", b1, "red", LEFT), thing("B2", b2, "red", RIGHT)),
    )


def matrix(*pairs: PairRecord, version: int = 0) -> list[list[int]]:
    images = [(p, side) for p in range(len(pairs)) for side in (0, 1)]
    return maybe_true(pair_truths(pairs), version, images).astype(int).tolist()


def test_own_captions_are_never_marked() -> None:
    for task in ("attribute", "spatial", "negation"):
        assert not np.any(matrix(make_pair(task, 5)[0]))


def test_the_same_binding_in_another_order_is_true() -> None:
    found = matrix(attribute("dog", "cat", "red", "blue"), attribute("cat", "dog", "blue", "red"))
    assert found == [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]


def test_another_colour_or_noun_is_not() -> None:
    assert not np.any(matrix(attribute("dog", "cat", "red", "blue"), attribute("dog", "cat", "red", "green")))
    assert not np.any(matrix(attribute("dog", "cat", "red", "blue"), attribute("dog", "cow", "red", "blue")))


def test_an_absent_noun_must_not_be_in_the_image() -> None:
    found = matrix(negation("dog", "cat", "cow", "pig"), negation("dog", "cow", "bird", "pig"))
    # "a dog but not a bird" holds for image 0 of the first pair; "a dog but not a cow" fails on the other's image 0.
    assert found[0][2] == 1
    assert found[2][0] == 0
    # "a bird but not a dog" does not hold where there is no bird.
    assert found[1] == [0, 0, 0, 0]


def test_a_relation_is_read_from_the_boxes() -> None:
    one, two = spatial("dog", "cat", "above", "below"), spatial("cat", "dog", "above", "below")
    assert matrix(one, two) == [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    sideways = spatial("dog", "cat", "to the left of", "to the right of")
    # Side by side at the same height: neither above nor below.
    assert matrix(one, sideways)[2][:2] == [0, 0]


def test_an_equal_caption_is_true_even_when_the_record_names_no_object() -> None:
    bare = replace(make_pair("attribute", 0)[0], objects_0=(), objects_1=())
    other = replace(bare, captions_0=(bare.captions_0[0], "something else"), captions_1=("x", "y"))
    assert matrix(bare, other) == [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]


def test_words_are_matched_whole_with_plain_plurals() -> None:
    assert mentions("two dogs and a cat", "dog")
    assert mentions("boxes", "box")
    assert not mentions("a tired dogma", "dog")
    assert not mentions("a catalogue", "cat")
