"""Functional words: lexicon, token positions, fixed rows."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scorer.errors import ConfigError
from scorer.features import Clip
from scorer.functional import Lexicon, Marker, Row, load_lexicon, occurrences, row_table

LEXICON = load_lexicon()


def marked(clip: Clip, caption: str, placement: str = "tokens") -> list[tuple[str, str]]:
    """(token, row name) of every marked token."""
    ids, eos, _ = clip.tokenize([caption])
    marks = Marker(LEXICON, clip, placement).mark([caption], ids, eos)  # type: ignore[arg-type]
    pieces = clip.pieces(ids[0])
    return [(pieces[i], LEXICON.names[row]) for i, row in enumerate(marks[0].tolist()) if row >= 0]


def test_the_row_goes_to_the_words_own_token(clip: Clip) -> None:
    assert marked(clip, "A picture of a dog above a cat") == [("above", "above")]


def test_the_published_placement_hits_another_token(clip: Clip) -> None:
    assert marked(clip, "A picture of a dog above a cat", "word-index") == [("dog", "above")]
    assert marked(clip, "Not a dog, right, of a cat", "word-index") == []


def test_no_placement_marks_nothing(clip: Clip) -> None:
    assert marked(clip, "a dog above a cat", "none") == []


def test_case_and_punctuation_do_not_matter(clip: Clip) -> None:
    assert marked(clip, "NOT a dog, but (Above) a cat") == [("not", "not"), ("but", "but"), ("above", "above")]


def test_every_occurrence_is_marked(clip: Clip) -> None:
    assert [row for _, row in marked(clip, "no dog and no cat and no bird")] == ["no", "no", "no"]


def test_parts_of_words_are_not(clip: Clip) -> None:
    assert marked(clip, "nothing, a note, a butler and an overall") == []


@pytest.mark.parametrize("phrase", ["to the left of", "left of", "on the left of", "to the left"])
def test_synonyms_share_a_row_and_all_their_tokens_take_it(clip: Clip, phrase: str) -> None:
    found = marked(clip, f"a dog {phrase} a cat")
    assert [token for token, _ in found] == phrase.split()
    assert {row for _, row in found} == {"left"}


def test_depth_reads_as_height_as_in_the_paper(clip: Clip) -> None:
    assert {row for _, row in marked(clip, "a dog behind a cat")} == {"above"}
    assert {row for _, row in marked(clip, "a dog in front of a cat")} == {"below"}


def test_contractions_negate(clip: Clip) -> None:
    assert {row for _, row in marked(clip, "the dog isn't red")} == {"not"}


WORDS = {
    "dog": None,
    "cat": None,
    "red": None,
    "nothing": None,
    "above": "above",
    "under": "below",
    "no": "no",
    "without": "without",
    "Not": "not",
    "BUT": "but",
    "left": "left",
}


@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(sorted(WORDS)), min_size=1, max_size=12), comma=st.booleans())
def test_any_mixture_of_single_words(clip: Clip, words: list[str], comma: bool) -> None:
    found = marked(clip, (", " if comma else " ").join(words))
    assert [row for _, row in found] == [WORDS[word] for word in words if WORDS[word]][: len(found)]
    if not comma:
        assert len(found) == sum(WORDS[word] is not None for word in words)


def test_occurrences_list_every_mark() -> None:
    marks = torch.tensor([[-1, 3, -1], [0, -1, 2]], dtype=torch.int16)
    text, token, row = occurrences(marks)
    assert (text.tolist(), token.tolist(), row.tolist()) == ([0, 1, 1], [1, 0, 2], [3, 0, 2])


def test_added_words_get_rows_and_move_no_other() -> None:
    longer = LEXICON.extended(["Inside", "above", " between ", "inside"])
    assert longer.names == (*LEXICON.names, "inside", "between")
    before, after = row_table(LEXICON, 50, "gaussian", 0.25, 0), row_table(longer, 50, "gaussian", 0.25, 0)
    assert torch.equal(after[: len(before)], before)
    reordered = Lexicon(tuple(reversed(LEXICON.rows)))
    assert torch.equal(row_table(reordered, 50, "gaussian", 0.25, 0), before.flip(0))


def test_rows_have_the_asked_spread_and_the_published_ones_are_nearly_equal() -> None:
    wide = row_table(LEXICON, 1970, "gaussian", 0.25, 3)
    assert abs(float(wide.std()) - 0.25) < 0.01
    assert abs(float(wide.mean())) < 0.01
    published = row_table(LEXICON, 197, "reference", 0.25, 3)
    unit = torch.nn.functional.normalize(published, dim=1)
    assert float((unit @ unit.t()).min()) > 0.99
    assert not torch.equal(row_table(LEXICON, 20, "gaussian", 0.25, 0), row_table(LEXICON, 20, "gaussian", 0.25, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row = 3", "row"),
        ('[[row]]\nname = "a"\nwords = ["x"]\n[[row]]\nname = "b"\nwords = ["x"]', "'x' stands in the rows"),
        ('[[row]]\nname = "a"\nwords = "x"', "needs a name and a list"),
        ('[[row]]\nname = "a"\nwords = ["x"]\n[[row]]\nname = "a"\nwords = ["y"]', "same name"),
        ("not toml at all", "not a readable lexicon"),
    ],
)
def test_malformed_lexicons_say_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "words.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_lexicon(tmp_path / "words.toml")


def test_a_lexicon_row_is_plain_data() -> None:
    assert Lexicon((Row("a", ("a", "b")),)).names == ("a",)
