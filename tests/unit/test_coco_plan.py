"""Splits by photo, order, caps and balance; nouns and what they name."""

import itertools
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.coco.nouns import category_of, mentioned_words, same_thing, singular
from generator.coco.plan import Limits, select, split_of
from generator.coco.vocabulary import attributes, nouns
from generator.plan import parse_shares

SHARES = parse_shares("train=0.8,val=0.1,test=0.1")


@dataclass(frozen=True)
class Fake:
    photo_ids: tuple[int, ...]
    nouns: tuple[str, ...]

    @property
    def identity(self) -> tuple[str | int, ...]:
        return (*self.photo_ids, *self.nouns)


def fakes(count: int) -> list[Fake]:
    names = [("dog", "cat")] * 6 + [("bus", "car")] * 3 + [("cup", "fork")]
    return [Fake((number,), names[number % len(names)]) for number in range(count)]


def test_a_photo_is_in_one_split_whatever_the_run() -> None:
    splits = [split_of(photo, SHARES) for photo in range(4000)]
    assert splits == [split_of(photo, SHARES) for photo in range(4000)]
    counts = Counter(splits)
    assert abs(counts["train"] / 4000 - 0.8) < 0.02
    assert abs(counts["test"] / 4000 - 0.1) < 0.02


def test_one_split_takes_all() -> None:
    assert {split_of(photo, {"test": 1.0}) for photo in range(100)} == {"test"}


@given(st.integers(0, 60), st.integers(0, 5))
def test_a_short_run_is_a_prefix_of_a_long_one(n: int, seed: int) -> None:
    for balance in (False, True):
        long = select(fakes(80), Limits(60, 1, 0, balance), seed, "spatial").drafts
        assert select(fakes(80), Limits(n, 1, 0, balance), seed, "spatial").drafts == long[:n]


def test_order_depends_on_seed_and_task_and_not_on_the_input_order() -> None:
    limits = Limits(50, 0, 0, False)
    one = select(fakes(50), limits, 0, "spatial").drafts
    assert one == select(list(reversed(fakes(50))), limits, 0, "spatial").drafts
    assert one != select(fakes(50), limits, 1, "spatial").drafts
    assert one != select(fakes(50), limits, 0, "negation").drafts


def test_caps() -> None:
    twice = [Fake((photo,), nouns) for photo in range(20) for nouns in (("dog", "cat"), ("cat", "dog"))]
    once = select(twice, Limits(99, 1, 0, False), 0, "spatial")
    assert len(once.drafts) == 20
    assert once.capped == 20
    few = select(twice, Limits(99, 0, 5, False), 0, "spatial").drafts
    assert len(few) == 5, "the cap on a pair of nouns does not mind their order"
    assert len(select(twice, Limits(99, 0, 0, False), 0, "spatial").drafts) == 40


def test_balance_evens_out_the_nouns() -> None:
    plain = Counter(name for d in select(fakes(100), Limits(30, 1, 0, False), 0, "t").drafts for name in d.nouns)
    even = Counter(name for d in select(fakes(100), Limits(30, 1, 0, True), 0, "t").drafts for name in d.nouns)
    assert max(plain.values()) - min(plain.values()) >= 8
    assert max(even.values()) - min(even.values()) <= 1


@pytest.mark.parametrize(
    ("plural", "expected"),
    [
        ("dogs", "dog"), ("buses", "bus"), ("children", "child"), ("knives", "knife"), ("puppies", "puppy"),
        ("glasses", "glasses"), ("grass", "grass"), ("sheep", "sheep"), ("benches", "bench"), ("boxes", "box"),
        ("horses", "horse"), ("bus", "bus"), ("tomatoes", "tomato"), ("people", "person"), ("dog", "dog"),
    ],
)  # fmt: skip
def test_singular(plural: str, expected: str) -> None:
    assert singular(plural) == expected


@given(st.text("abcdefghijklmnopqrsuvwxyz", min_size=1, max_size=12))
def test_singular_is_stable(word: str) -> None:
    assert singular(word) == singular(word)
    assert singular(word)


@pytest.mark.parametrize(
    ("noun", "category"),
    [
        ("fire hydrant", "fire hydrant"), ("red hydrants", "fire hydrant"), ("teddy bears", "teddy bear"),
        ("brown bear", "bear"), ("women", "person"), ("sofa", "couch"), ("coffee table", "dining table"),
        ("tennis player", "person"), ("hot dog", "hot dog"), ("dogs", "dog"),
    ],
)  # fmt: skip
def test_category_of_a_noun(noun: str, category: str) -> None:
    found = category_of(noun)
    assert found is not None
    assert found.name == category


@pytest.mark.parametrize("noun", ["glass", "van", "hot dog stand", "sky", "bus stop"])
def test_nouns_of_no_single_category(noun: str) -> None:
    assert category_of(noun) is None


def test_same_thing() -> None:
    assert same_thing("couch", "red sofas")
    assert same_thing("small dog", "dogs")
    assert not same_thing("dog", "hot dog stand")
    assert not same_thing("bus", "car")


def test_mentioned_words_has_singulars_and_couples() -> None:
    assert {"dog", "dogs", "fire hydrant"} <= mentioned_words(["two", "dogs", "fire", "hydrants"])


def test_every_category_is_known_and_mixed_up_both_ways() -> None:
    table = nouns().categories
    assert len(table) == 80
    for name, category in table.items():
        for other in category.like:
            assert name in table[other].like


def test_attributes_are_opposed_only_when_they_exclude_each_other() -> None:
    kinds = attributes().kinds
    assert kinds["colour"].opposed(["red"], ["white"])
    assert not kinds["colour"].opposed(["red", "white"], ["white"])
    assert not kinds["colour"].opposed(["grey"], ["gray"])
    assert not kinds["colour"].opposed(["beige"], ["tan"])
    assert kinds["size"].opposed(["huge"], ["tiny"])
    assert not kinds["size"].opposed(["tall"], ["large"])
    for kind in kinds.values():
        for one, other in itertools.permutations(kind.meaning, 2):
            assert kind.opposed([one], [other]) == kind.opposed([other], [one])
