"""The words of templates/: sound as they are, refused with the file's name when they are not, and who never meets."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator import vocabulary
from generator.colour import to_lab
from generator.errors import VocabularyError
from generator.verify import is_big
from generator.vocabulary import TEMPLATES, Nouns, Vocabulary, load_vocabulary

WORDS = load_vocabulary()
LISTED = sorted({noun for group in WORDS.nouns.groups for noun in group})
NOUN = st.one_of(st.sampled_from(LISTED), st.text("abc ", min_size=1, max_size=6).filter(str.strip))


def load(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Vocabulary:
    monkeypatch.setattr(vocabulary, "TEMPLATES", folder)
    return load_vocabulary.__wrapped__()


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A copy to break."""
    for path in TEMPLATES.glob("*.toml"):
        shutil.copy(path, tmp_path)
    return tmp_path


def test_a_copy_reads_the_same(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(templates, monkeypatch) == WORDS


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("captions.toml", 'text = "A picture of {A} {relation} {B}"', 'text = "A picture of {A} and {B}"'),
        ("captions.toml", 'text = "A picture of {A} {relation} {B}"', 'text = "A picture of {A} {relation} it"'),
        ("captions.toml", 'text = "A picture of {A} and {B}"', 'text = "A picture of {A} and {B} and {C}"'),
        ("captions.toml", 'text = "A picture of {A} and {B}"', 'text = "A picture of {A} and {B"'),
        ("captions.toml", 'text = "A picture of {A} and {B}"', 'text = "A picture of {A} and {B} {relation}"'),
        ("captions.toml", 'text = "A picture of {A} and {B}"', 'txet = "A picture of {A} and {B}"'),
        ("captions.toml", 'text = "A picture of {A} and {B}"', "text = 3"),
        ("captions.toml", 'style = "paper"', 'style = "papr"'),
        ("captions.toml", "[[negation]]", "[[negations]]"),
        ("captions.toml", "[[spatial]]", "[[spatial"),
        ("colours.toml", "red    = [196, 20, 28]", "red    = [196, 20]"),
        ("colours.toml", "red    = [196, 20, 28]", "red    = [196, 20, 280]"),
        ("colours.toml", "red    = [196, 20, 28]", 'red    = "red"'),
        ("colours.toml", '["red", "orange"]', '["red", "ornage"]'),
        ("colours.toml", '["red", "orange"]', '["red"]'),
        ("colours.toml", 'plain = ["big", "small"]', 'plain = ["big"]'),
        ("colours.toml", "[confusable]", "[confused]"),
        ("relations.toml", 'axis = "vertical" ', 'axis = "up" '),
        ("relations.toml", 'second = "below"', 'second = "above"'),
        ("relations.toml", 'second = "below"', 'seconds = "below"'),
        ("relations.toml", "[[negator]]", "[[negators]]"),
        ("relations.toml", "article = true", 'article = "yes"'),
        ("nouns.toml", "groups = [", "clubs = ["),
        ("nouns.toml", "plural = [", "plural = 3\nplurals = ["),
    ],
)  # fmt: skip
def test_a_malformed_file_is_named(
    templates: Path, monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str
) -> None:
    path = templates / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(VocabularyError, match=f"templates/{file}: ") as caught:
        load(templates, monkeypatch)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", ["captions.toml", "colours.toml", "nouns.toml", "relations.toml"])
def test_a_missing_file_is_named(templates: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    (templates / file).unlink()
    with pytest.raises(VocabularyError, match=f"templates/{file}"):
        load(templates, monkeypatch)


def test_twice_the_same_template_id_is_refused(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = templates / "captions.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('id = "photo"', 'id = "picture"'), encoding="utf-8")
    with pytest.raises(VocabularyError, match=r"templates/captions\.toml: spatial .*picture.* twice"):
        load(templates, monkeypatch)


# --- who never meets -------------------------------------------------------------------------------------------------


@given(NOUN, NOUN)
def test_clash_is_symmetric_and_with_oneself(one: str, other: str) -> None:
    assert WORDS.nouns.clash(one, other) == WORDS.nouns.clash(other, one)
    assert WORDS.nouns.clash(one, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("car", "police car"),
        ("police car", "fire car"),
        ("can", "candle"),
        ("pan", "frying pan"),
        ("cup", "cupcake"),
        ("mug", "teacup"),
        ("sofa", "couch"),
        ("dog", "wolf"),
        ("hat", "bell"),
    ],
)
def test_these_never_meet(one: str, other: str) -> None:
    assert WORDS.nouns.clash(one, other)
    assert WORDS.nouns.clash(other, one)


@pytest.mark.parametrize(("one", "other"), [("apple", "car"), ("dog", "piano"), ("scissors", "mug"), ("sofa", "owl")])
def test_these_may_meet(one: str, other: str) -> None:
    assert not WORDS.nouns.clash(one, other)


def test_the_words_of_a_group_never_meet() -> None:
    for group in WORDS.nouns.groups:
        assert len(group) > 1
        for one in group:
            assert all(WORDS.nouns.clash(one, other) for other in group)


def test_a_group_does_not_join_with_another() -> None:
    """ "Alike" is not transitive: a mug is like a bowl and a bowl like a plate, yet mug and plate may meet."""
    nouns = Nouns(frozenset(), frozenset(), frozenset(), frozenset(), (frozenset("ab"), frozenset("bc")))
    assert nouns.clash("a", "b")
    assert nouns.clash("b", "c")
    assert not nouns.clash("a", "c")


# --- colours, sizes, relations ---------------------------------------------------------------------------------------


def test_colour_pairs_leave_out_what_people_confuse() -> None:
    pairs = WORDS.colour_pairs(WORDS.colours)
    assert ("red", "blue") in pairs
    assert ("blue", "red") in pairs
    for pair in WORDS.confusable:
        one, other = sorted(pair)
        assert (one, other) not in pairs
        assert (other, one) not in pairs
    assert all(one != other for one, other in pairs)
    assert WORDS.colour_pairs(["red", "orange"]) == []
    # Every colour takes part, or it could never be swapped.
    assert {one for one, _ in pairs} == set(WORDS.colours)


def test_colours_that_may_meet_lie_far_apart() -> None:
    import numpy as np

    for one, other in WORDS.colour_pairs(WORDS.colours):
        first, second = (to_lab(np.array(WORDS.colours[name])) for name in (one, other))
        assert float(np.linalg.norm(first - second)) > 35, (one, other)


def test_each_way_to_say_a_size_names_the_big_one_first() -> None:
    assert all(is_big(big) and not is_big(small) for big, small in WORDS.sizes)


def test_relations_have_paper_words_for_both_axes() -> None:
    paper = {(item.axis, item.first, item.second) for item in WORDS.relations if item.style == "paper"}
    assert paper == {("vertical", "above", "below"), ("horizontal", "to the left of", "to the right of")}
    words = [word for item in WORDS.relations for word in (item.first, item.second)]
    assert len(words) == len(set(words))


def test_the_papers_negators_are_there() -> None:
    assert [item.word for item in WORDS.negators] == ["but not", "and no", "without"]


def test_every_task_has_the_papers_template() -> None:
    for task in ("spatial", "attribute", "negation"):
        assert len(WORDS.templates_for(task, "paper")) == 1
        assert len(WORDS.templates_for(task, "varied")) > 3


@pytest.mark.parametrize(
    ("noun", "takes"), [("mug", True), ("orange", False), ("orange juice", False), ("cheese", False), ("redwood", True)]
)
def test_nouns_that_a_colour_word_would_rename_keep_their_own(noun: str, takes: bool) -> None:
    assert WORDS.takes_colour(noun) is takes
