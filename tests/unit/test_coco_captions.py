"""The miner against captions that a person read (tests/data/coco/README.md), and the hard cases one by one."""

import csv
from pathlib import Path

import pytest
from coco_files import MODEL, needs_model

from generator.coco.language import load, parse
from generator.coco.mentions import Mention, has_attribute, read_mentions

TABLE = Path(__file__).parents[1] / "data" / "coco" / "attribute_captions.tsv"
Pairs = set[tuple[str, str]]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def mine(captions: list[str]) -> list[list[Mention]]:
    needs_model()
    return list(parse(load(MODEL), captions, read_mentions))


def pairs_of(mentions: list[Mention]) -> Pairs:
    return {(mention.attribute, mention.noun) for mention in mentions}


def gold_of(row: dict[str, str]) -> Pairs:
    parts = [part.strip().split(":") for part in row["pairs"].split(";") if part.strip()]
    return {(attribute, noun) for attribute, noun in parts}


def test_table_is_large_and_says_something(rows: list[dict[str, str]]) -> None:
    assert len(rows) >= 150
    assert len({row["caption_id"] for row in rows}) == len(rows)
    assert sum(len(gold_of(row)) for row in rows) >= 300
    assert any(not gold_of(row) for row in rows)


@pytest.mark.parametrize("part", ["development", "held-out", "fresh"])
def test_precision_and_recall(rows: list[dict[str, str]], part: str) -> None:
    chosen = [row for row in rows if row["part"] == part]
    right = found = wanted = 0
    wrong: list[str] = []
    for row, mentions in zip(chosen, mine([row["caption"] for row in chosen]), strict=True):
        gold, got = gold_of(row), pairs_of(mentions)
        right, found, wanted = right + len(gold & got), found + len(got), wanted + len(gold)
        if gold != got:
            wrong.append(f"{row['caption']} | too much {got - gold} | missed {gold - got}")
    summary = f"precision {right / found:.3f}, recall {right / wanted:.3f}\n" + "\n".join(wrong)
    assert right / found >= 0.95, summary
    assert right / wanted >= 0.95, summary


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A red and white bus next to a fire truck.", {("red and white", "bus")}),
        ("The car is red and the house is white.", {("red", "car"), ("white", "house")}),
        ("A red, white and blue kite in the air.", {("red, white and blue", "kite")}),
        ("A black-and-white cat on a sofa.", {("black and white", "cat")}),
        ("A large red fire truck on the road.", {("large", "fire truck"), ("red", "fire truck")}),
        ("A yellow tennis ball on the court.", {("yellow", "tennis ball")}),
        ("A dark blue car near a light green wall.", {("dark blue", "car"), ("light green", "wall")}),
        ("A wall painted blue behind a table.", {("blue", "wall")}),
        ("A brown colored cat on a bed.", {("brown", "cat")}),
        ("A red pair of scissors on a desk.", {("red", "scissors")}),
        ("A building that is very tall.", {("tall", "building")}),
        ("A glass of red wine next to an orange and some green beans.", set()),
        ("A red haired woman holding a cup.", set()),
        ("A black man wearing a white shirt.", {("white", "shirt")}),
        ("A large group of people in a park.", set()),
        ("The bus is not red.", set()),
        ("", set()),
        ("éèà 漢字 🚌 – a červený autobus", set()),
    ],
)
def test_cases(caption: str, expected: Pairs) -> None:
    assert pairs_of(mine([caption])[0]) == expected


def test_two_attributes_of_one_thing_share_its_position() -> None:
    large, red, other = mine(["A large red bus next to a red car."])[0]
    assert large.position == red.position != other.position
    assert (large.kind, red.kind) == ("size", "colour")


def test_number_and_article_are_read() -> None:
    plural, counted = mine(["Red buses and a blue car on green grass."])[0][:2]
    assert (plural.plural, plural.countable) == (True, False)
    assert (counted.plural, counted.countable) == (False, True)


def test_prefilter_keeps_whole_words_only() -> None:
    keep = has_attribute()
    assert keep("A Red bus.")
    assert keep("a blue-green wall")
    assert not keep("A tired man is bored.")
