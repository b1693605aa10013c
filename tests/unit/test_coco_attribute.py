"""Which attributes may change places, decided from captions, corpus and boxes."""

from collections import Counter
from pathlib import Path

import pytest
from coco_files import LEFT, MODEL, RIGHT, CocoFiles, needs_model

from generator.coco import attribute
from generator.coco.annotations import read_corpus
from generator.coco.commands import KINDS
from generator.coco.records import Context
from generator.vocabulary import load_vocabulary


def mine(files: CocoFiles, min_photos: int = 1) -> tuple[list[tuple[str, str]], Counter[str]]:
    """(P1, N1) of every draft, and why others were passed over."""
    needs_model()
    corpus = read_corpus(files.write().captions_path, files.instances_path)
    captions = [caption for found in corpus.captions.values() for caption in found]
    mentions = attribute.mine_mentions(captions, MODEL, 1)
    why: Counter[str] = Counter()
    found = attribute.drafts(corpus, mentions, attribute.statistics_of(mentions), min_photos, KINDS, why)
    context = Context(0, "paper", False, {"train": 1.0}, load_vocabulary(), corpus.photos)
    records = [attribute.plan(draft, context, index).record for index, draft in enumerate(found)]
    for record in records:
        assert not record.has_image_1
        assert record.objects_1 == ()
        assert len(set(record.captions_0 + record.captions_1)) == 4
    return [(record.captions_0[0], record.captions_1[0]) for record in records], why


@pytest.fixture
def files(tmp_path: Path) -> CocoFiles:
    """Photos whose captions show that dogs are black, white or brown, and tables made of wood or metal."""
    world = CocoFiles(tmp_path)
    for text in ("A black dog.", "A white dog.", "A brown dog.", "A wooden table.", "A metal table.", "A metal chair."):
        for _ in range(2):
            world.caption(world.photo(), text)
    return world


def test_colours_change_places(files: CocoFiles) -> None:
    files.caption(files.photo(), "A black dog next to a white car.")
    pairs, _ = mine(files)
    assert pairs == [("A picture of a black dog and a white car", "A picture of a black car and a white dog")]


def test_joined_colours_stay_joined_and_plurals_take_no_article(files: CocoFiles) -> None:
    files.caption(files.photo(), "Black and white dogs near an orange car.")
    files.caption(files.photo(), "An orange dog.")
    pairs, _ = mine(files)
    assert pairs == [
        ("A picture of black and white dogs and an orange car", "A picture of a black and white car and orange dogs")
    ]


def test_no_wooden_dog(files: CocoFiles) -> None:
    files.caption(files.photo(), "A metal dog next to a wooden table.")
    pairs, why = mine(files)
    assert pairs == []
    assert why["attribute makes no sense of the other noun"] == 1


def test_sense_needs_enough_photos(files: CocoFiles) -> None:
    files.caption(files.photo(), "A metal chair and a wooden table.")
    files.caption(files.photo(), "A wooden chair.")
    assert len(mine(files, min_photos=1)[0]) == 1
    assert mine(files, min_photos=3)[0] == []


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("A white dog next to a white car.", "attributes alike"),
        ("A red bus next to an orange car.", "attributes alike"),
        ("A black and white dog next to a white car.", "attributes alike"),
        ("A red couch and a blue sofa.", "nouns alike"),
        ("A red car and a blue police car.", "nouns alike"),
    ],
)
def test_what_does_not_exclude_each_other(files: CocoFiles, caption: str, reason: str) -> None:
    files.caption(files.photo(), caption)
    pairs, why = mine(files)
    assert pairs == []
    assert why == {reason: 1}


def test_kinds_are_not_mixed(files: CocoFiles) -> None:
    files.caption(files.photo(), "A large bus next to a white car.")
    assert mine(files) == ([], Counter())


@pytest.mark.parametrize("other", ["A white dog sits there.", "A brown dog sits there.", "A white puppy sits there."])
def test_another_caption_that_says_otherwise_forbids_it(files: CocoFiles, other: str) -> None:
    photo = files.photo()
    files.caption(photo, "A black dog next to a white car.")
    files.caption(photo, other)
    pairs, why = mine(files)
    assert pairs == []
    assert why["another mention says otherwise"] == 1


def test_black_and_white_photos_have_no_colours(files: CocoFiles) -> None:
    photo = files.photo()
    files.caption(photo, "A black and white photo of a street.")
    files.caption(photo, "A black dog next to a white car.")
    assert mine(files)[1] == {"photo is black and white": 1}


def test_boxes_have_their_say(files: CocoFiles) -> None:
    one, two, none = (files.photo() for _ in range(3))
    for photo in (one, two, none):
        files.caption(photo, "A black dog next to a white car.")
        files.box(photo, "car", RIGHT)
    files.box(one, "dog", LEFT)
    files.box(two, "dog", LEFT)
    files.box(two, "dog", (70, 70, 20, 20))
    pairs, why = mine(files)
    assert len(pairs) == 1
    assert why == {"boxes do not bear the noun out": 2}


def test_nouns_that_are_not_counted_are_left_out(files: CocoFiles) -> None:
    for text in ("A dog on green grass.", "The grass is brown."):
        files.caption(files.photo(), text)
    files.caption(files.photo(), "A brown dog on green grass.")
    pairs, why = mine(files)
    assert pairs == []
    assert why == {"noun is not counted": 1}
