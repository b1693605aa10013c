"""Captions: grammar, the paper's formulas (B.2), and that each caption is true of its own side alone."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import NOUNS, context_of, options

from generator import captions
from generator.captions import noun_phrase
from generator.specs import PairSpec
from generator.tasks import TASKS
from generator.vocabulary import Negator, Relation, Template, load_vocabulary

WORDS = load_vocabulary()
GRAMMAR = WORDS.nouns
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "captions.json"


@pytest.mark.parametrize(
    ("noun", "adjective", "phrase"),
    [
        ("apple", "", "an apple"),
        ("mug", "", "a mug"),
        ("scissors", "", "scissors"),
        ("bread", "", "bread"),
        ("hourglass", "", "an hourglass"),
        ("unicorn", "", "a unicorn"),
        ("umbrella", "", "an umbrella"),
        ("umbrella", "orange", "an orange umbrella"),
        ("umbrella", "red", "a red umbrella"),
        ("apple", "big", "a big apple"),
        ("mug", "orange", "an orange mug"),
        ("scissors", "orange", "orange scissors"),
        ("bread", "brown", "brown bread"),
        ("unicorn", "orange", "an orange unicorn"),
        ("hourglass", "tiny", "a tiny hourglass"),
        ("police car", "", "a police car"),
        ("ice cream", "", "an ice cream"),
        ("one-way sign", "", "a one-way sign"),
    ],
)
def test_grammar(noun: str, adjective: str, phrase: str) -> None:
    assert noun_phrase(GRAMMAR, noun, adjective) == phrase


def test_no_article_where_none_is_wanted() -> None:
    assert noun_phrase(GRAMMAR, "apple", article=False) == "apple"
    assert noun_phrase(GRAMMAR, "scissors", article=False) == "scissors"


def test_spatial_formulas() -> None:
    template = Template("t", "paper", "a picture of {A} {relation} {B}")
    relation = Relation("r", "vertical", "paper", "above", "below")
    said = captions.spatial(GRAMMAR, template, relation, "apple", "scissors", a_is_first=True)
    assert said.captions_0 == ("A picture of an apple above scissors", "A picture of scissors below an apple")
    assert said.captions_1 == ("A picture of an apple below scissors", "A picture of scissors above an apple")
    assert said.words == ("above", "below")
    turned = captions.spatial(GRAMMAR, template, relation, "apple", "scissors", a_is_first=False)
    assert (turned.captions_0, turned.captions_1) == (said.captions_1, said.captions_0)
    assert turned.words == ("below", "above")


def test_attribute_formulas() -> None:
    template = Template("t", "paper", "{A} and {B}")
    said = captions.attribute(GRAMMAR, template, "umbrella", "scissors", "orange", "blue")
    assert said.captions_0 == ("An orange umbrella and blue scissors", "Blue scissors and an orange umbrella")
    assert said.captions_1 == ("Orange scissors and a blue umbrella", "A blue umbrella and orange scissors")
    assert said.words == ("orange", "blue")


@pytest.mark.parametrize(
    ("negator", "p1", "n2"),
    [
        (Negator("but not", True), "An apple but not a car", "Scissors but not bread"),
        (Negator("and no", False), "An apple and no car", "Scissors and no bread"),
        (Negator("without", True), "An apple without a car", "Scissors without bread"),
    ],
)
def test_negation_formulas(negator: Negator, p1: str, n2: str) -> None:
    template = Template("t", "paper", "{A} {negation} {B}")
    said = captions.negation_paper(GRAMMAR, template, negator, ("apple", "bread"), ("car", "scissors"))
    assert said.captions_0[0] == p1
    assert said.captions_0[1].startswith("Bread")
    assert said.captions_1[0].startswith("A car")
    assert said.captions_1[1] == n2
    assert said.words == (negator.word, negator.word)


def test_negation_formulas_of_twins_that_share_a_noun() -> None:
    template = Template("t", "paper", "{A} {negation} {B}")
    said = captions.negation_shared(GRAMMAR, template, Negator("but not", True), "apple", "umbrella", "scissors")
    assert said.captions_0 == ("An apple but not scissors", "An apple and an umbrella")
    assert said.captions_1 == ("An apple but not an umbrella", "An apple and scissors")
    assert said.words == ("but not", "and")


# --- truth, read back from the finished captions ---------------------------------------------------------------------


def without_article(text: str) -> str:
    return re.sub(r"^an? ", "", text)


def is_true(caption: str, spec: PairSpec, side: int) -> bool:
    """Whether a caption of one of the paper's templates is true of a side, from the planned scene alone."""
    caption = caption.lower()
    objects = spec.scenes[side].objects
    nouns = {item.noun for item in objects}
    if spec.task == "spatial":
        held = spec.fact.value_0 if side == 0 else spec.fact.value_1
        a, b = (item.noun for item in objects)
        sense = {item.first: "first" for item in WORDS.relations} | {item.second: "second" for item in WORDS.relations}
        found = re.fullmatch(r"a picture of (.+?) (" + "|".join(sorted(sense, key=len)[::-1]) + r") (.+)", caption)
        assert found, caption
        one, word, other = without_article(found[1]), found[2], without_article(found[3])
        assert {one, other} == {a, b}
        first = held in ("above", "left of")
        return (sense[word] == "first") == (first == (one == a))
    if spec.task == "attribute":
        found = re.fullmatch(r"a picture of (.+) and (.+)", caption)
        assert found, caption
        values = {f"{item.colour or item.size} {item.noun}" for item in objects}
        return {without_article(found[1]), without_article(found[2])} == values
    found = re.fullmatch(r"an image of (.+?) (but not|and no|without|and) (.+)", caption)
    assert found, caption
    first_is, second_is = without_article(found[1]) in nouns, without_article(found[3]) in nouns
    return first_is and second_is == (found[2] == "and")


@pytest.mark.parametrize("protocol", ["paper", "shared"])
@pytest.mark.parametrize("task", list(TASKS))
@given(index=st.integers(0, 10**6), attempt=st.integers(0, 3))
def test_every_caption_is_true_of_its_side_alone(task: str, protocol: str, index: int, attempt: int) -> None:
    context = context_of(1, options(synonyms=True, negation=protocol))
    spec = TASKS[task].sample(context, index, attempt, "train")
    for caption in spec.captions_0:
        assert (is_true(caption, spec, 0), is_true(caption, spec, 1)) == (True, False), caption
    for caption in spec.captions_1:
        assert (is_true(caption, spec, 0), is_true(caption, spec, 1)) == (False, True), caption
    assert len({*spec.captions_0, *spec.captions_1}) == 4


@given(st.sampled_from(NOUNS), st.sampled_from(NOUNS), st.sampled_from(WORDS.templates["spatial"]))
def test_twins_of_spatial_captions_use_the_same_words(a: str, b: str, template: Template) -> None:
    """No caption of a pair gives itself away by a word that the other side's captions lack."""
    relation = WORDS.relations[0]
    said = captions.spatial(GRAMMAR, template, relation, a, b, a_is_first=True)

    def words(pair: tuple[str, str]) -> list[str]:
        return sorted(" ".join(pair).lower().split())

    assert words(said.captions_0) == words(said.captions_1)


def test_captions_begin_with_a_capital_and_are_filled() -> None:
    for task in TASKS:
        for index in range(40):
            spec = TASKS[task].sample(context_of(0, options(phrasing="varied", synonyms=True)), index, 0, "train")
            for caption in (*spec.captions_0, *spec.captions_1):
                assert caption[0].isupper()
                assert "{" not in caption
                assert "  " not in caption


def test_phrasing_paper_uses_the_papers_template_alone() -> None:
    seen = {TASKS["spatial"].sample(context_of(), index, 0, "train").template for index in range(30)}
    varied = context_of(0, options(phrasing="varied"))
    assert seen == {"picture"}
    assert {TASKS["spatial"].sample(varied, index, 0, "train").template for index in range(60)} == {
        template.id for template in WORDS.templates["spatial"]
    }


def test_golden_captions() -> None:
    """What tests/golden/make.py wrote; a change here changes the text of every data set."""
    import importlib.util

    found = importlib.util.spec_from_file_location("golden_make", GOLDEN.with_name("make.py"))
    assert found is not None
    assert found.loader is not None
    make = importlib.util.module_from_spec(found)
    found.loader.exec_module(make)
    assert make.captions() == json.loads(GOLDEN.read_text(encoding="utf-8"))
