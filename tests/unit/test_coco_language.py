"""The language model: found, or refused with a command; the same in one process and in two; clauses to be swapped."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from coco_files import MODEL, CocoFiles, needs_model

from generator.coco import language, swap_noun
from generator.coco.annotations import read_corpus
from generator.coco.clauses import Clause, read_clauses
from generator.coco.mentions import read_mentions
from generator.errors import ConfigError, DependencyError


def clauses(caption: str) -> list[Clause]:
    needs_model()
    return next(language.parse(language.load(MODEL), [caption], read_clauses))


def test_missing_model_names_the_command() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(DependencyError, match=r"'en_none_such' is not installed; run: python -m spacy download"):
        language.load("en_none_such")


def test_missing_spacy_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(DependencyError, match=r"pip install -e '.\[coco\]'"):
        language.load(MODEL)


def test_model_without_a_parser_is_refused(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ConfigError, match="has no tagger"):
        language.load(str(tmp_path / "blank"))


def test_model_by_path_is_the_model_by_name(tmp_path: Path) -> None:
    needs_model()
    import spacy

    spacy.load(MODEL).to_disk(tmp_path / "model")
    captions = ["A red bus next to a white car."]
    by_path = list(language.parse(language.load(str(tmp_path / "model")), captions, read_mentions))
    assert by_path == list(language.parse(language.load(MODEL), captions, read_mentions))


def test_only_tagger_and_parser_run() -> None:
    needs_model()
    assert set(language.load(MODEL).pipe_names) == {"tok2vec", "tagger", "parser"}


def test_two_processes_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_model()
    monkeypatch.setattr(language, "CHUNK", 5)
    captions = [f"A red bus next to {number} white cars." for number in range(2, 18)]
    one = list(language.parse_many(MODEL, captions, read_mentions, 1))
    assert list(language.parse_many(MODEL, captions, read_mentions, 2)) == one
    assert all(mentions[1].noun == "cars" for mentions in one)


def test_strange_captions_do_not_stop_it() -> None:
    needs_model()
    captions = ["", " ", "?!", "ALL CAPS RED BUS", "漢字", "a " * 500, "\u200b\ufeff", "red " * 60]
    assert len(list(language.parse_many(MODEL, captions, read_mentions, 1))) == len(captions)
    assert len(list(language.parse_many(MODEL, captions, read_clauses, 1))) == len(captions)


@pytest.mark.parametrize(
    ("caption", "swapped"),
    [
        ("A dog sitting on a wooden bench.", "A wooden bench sitting on a dog."),
        ("a man is riding an elephant near a tree", "an elephant is riding a man near a tree"),
        ("An old woman holding an umbrella.", "An umbrella holding an old woman."),
        ("Two dogs sleeping in a basket.", "A basket sleeping in two dogs."),
        ("A cat that is on top of a car.", "A car that is on top of a cat."),
        ("There is a bowl on the table.", "There is the table on a bowl."),
    ],
)
def test_swaps_follow_articles_and_capitals(caption: str, swapped: str) -> None:
    found = clauses(caption)
    assert len(found) == 1
    # The function moves the capital; a caption that starts low stays low.
    result = swap_noun.swapped(caption, found[0])
    assert result.lower() == swapped.lower()
    assert result[0].isupper()
    assert result[1:] == swapped[1:]


@pytest.mark.parametrize(
    "caption",
    [
        "A man and a dog.",  # symmetric
        "A dog next to a cat.",
        "A man with a dog.",
        "A cat looking at a dog.",
        "A child sitting in front of a bowl.",  # holds both ways
        "A man holding his hat.",  # a pronoun
        "A dog in the park.",  # a place
        "A dog on a leash.",  # a leash is on a dog too
        "A man in a red shirt.",
        "A dog and a cat on a bench.",  # a list
        "A cup on a table and chair.",
        "A BLACK CAT ON A SINK",
        "A dog is not on a bench.",
        "A single white rose in a glass vase.",
        "A pair of people sitting on a bench.",
        "A bird on the hood of a car.",
        "",
    ],
)
def test_what_is_never_swapped(caption: str) -> None:
    assert clauses(caption) == []


def mine(files: CocoFiles) -> tuple[list[swap_noun.SwapNounDraft], Counter[str]]:
    needs_model()
    corpus = read_corpus(files.write().captions_path, files.instances_path)
    captions = [caption for found in corpus.captions.values() for caption in found]
    why: Counter[str] = Counter()
    return list(swap_noun.drafts(corpus, swap_noun.mine_clauses(captions, MODEL, 1), why)), why


def test_contrary_captions_of_one_photo_cancel(tmp_path: Path) -> None:
    files = CocoFiles(tmp_path)
    photo = files.photo()
    files.caption(photo, "A clock above a television.")
    files.caption(photo, "A clock under a television.")
    drafts, why = mine(files)
    assert drafts == []
    assert why["another caption says the contrary"] == 2


def test_places_turn_round_only_with_one_of_each(tmp_path: Path) -> None:
    files = CocoFiles(tmp_path)
    for count in (1, 2):
        photo = files.photo()
        files.caption(photo, "A cat under a bench.")
        for _ in range(count):
            files.box(photo, "cat", (5, 5, 20, 20))
        files.box(photo, "bench", (5, 60, 90, 40))
    drafts, why = mine(files)
    assert [draft.caption.photo_id for draft in drafts] == [1000]
    assert why == {"several of them: both ways may be true": 1}


def test_verbs_must_agree(tmp_path: Path) -> None:
    files = CocoFiles(tmp_path)
    for text in (
        "Two dogs are sitting on a bench.",
        "Two woman are sitting on a train.",
        "A dog sleeping on two chairs.",
    ):
        files.caption(files.photo(), text)
    drafts, why = mine(files)
    assert [draft.caption.text for draft in drafts] == ["A dog sleeping on two chairs."]
    assert why["verb would not agree"] == 2


def test_same_thing_is_never_swapped_with_itself(tmp_path: Path) -> None:
    files = CocoFiles(tmp_path)
    files.caption(files.photo(), "A man holding a small child.")
    drafts, why = mine(files)
    assert drafts == []
    assert why == {"nouns alike": 1}
