"""A planted shortcut of every kind is found, by the check that is for it, and a clean run has none."""

import dataclasses
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_run import SIZE_PX, audited, clean_run, planted, repainted, samples_of, turned, with_record, write
from numpy.typing import NDArray
from PIL import Image

from generator.audit import checks
from generator.audit.checks import CHECKS, SPLIT_CHECKS
from generator.audit.figures import ALPHA, CHANCE, Result
from generator.records import ObjectRecord, Sample

pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install -e '.[audit]'")
pytestmark = pytest.mark.slow

# Checks in a whole audit, near enough: a planted shortcut must stand out among so many.
ALL = 40
FIRST = ("left of", "above")


@pytest.fixture(scope="module")
def spatial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clean_run(tmp_path_factory.mktemp("audit") / "spatial", "spatial", 100)


@pytest.fixture(scope="module")
def colour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clean_run(tmp_path_factory.mktemp("audit") / "colour", "attribute", 110, attributes=("colour",))


def is_first(sample: Sample, side: int) -> bool:
    """Whether A is left or up in the image, or, with colours, whether A's colour comes first in the alphabet."""
    record = sample.record
    values = (record.fact.value_0, record.fact.value_1)
    if record.fact.kind == "relation":
        return values[side] in FIRST
    return values[side] < values[1 - side]


def ask(monkeypatch: pytest.MonkeyPatch, name: str, *runs: Path) -> Result:
    """The result of one check, held to what it would need among all."""
    monkeypatch.setattr(checks, "CHECKS", {name: CHECKS[name]} if name in CHECKS else {})
    result = audited(*runs)[name]
    if result.verdict == "shortcut":
        assert result.finding.p is not None
        assert result.finding.p * ALL < ALPHA
    return result


# --- what captions alone give away -----------------------------------------------------------------------------------


def said(change: Callable[[str, int, int], str]) -> Callable[[Sample], Sample]:
    """change(caption, side, number of the pair) applied to every caption."""

    def plant(sample: Sample) -> Sample:
        record = sample.record
        sides = [
            tuple(change(text, side, record.index) for text in own)
            for side, own in ((0, record.captions_0), (1, record.captions_1))
        ]
        return with_record(sample, captions_0=sides[0], captions_1=sides[1])

    return plant


def fillers(index: int, count: int) -> str:
    return "".join(
        f" {chr(97 + (index * 7 + place) % 26)}{chr(97 + (index + 5 * place) % 26)}" for place in range(count)
    )


CAPTIONS: dict[str, Callable[[str, int, int], str]] = {
    "caption_words": lambda text, side, _: f"{text} {'indeed' if side else 'really'}",
    "single_word": lambda text, side, _: f"{text} indeed" if side == 0 else text,
    # The same words on both sides, in another order.
    "caption_word_ngrams": lambda text, side, _: f"{text} {'there is' if side else 'is there'}",
    # No word of its own: punctuation.
    "caption_characters": lambda text, side, _: text + ("." if side else ""),
    # Words that are no more frequent on one side, only more of them.
    "caption_length": lambda text, side, index: text + fillers(index, 2 + side),
}


@pytest.mark.parametrize("name", CAPTIONS)
def test_captions_that_give_themselves_away(
    name: str, spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = ask(monkeypatch, name, planted(spatial, tmp_path / "run", said(CAPTIONS[name])))
    assert result.verdict == "shortcut"
    assert result.finding.figure > 0.9


def test_a_word_of_first_captions_alone(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "left" and "above" in every P1 and N2: as often true as false, but not where P1 is set against N1."""
    run = planted(spatial, tmp_path / "run", sorted_sides)
    result = ask(monkeypatch, "caption_words", run)
    assert result.verdict == "shortcut"
    assert result.finding.figure == pytest.approx(0.75, abs=0.02)
    assert "in first captions" in result.finding.detail


def test_order_and_punctuation_are_not_taken_for_words(
    spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("caption_word_ngrams", "caption_characters"):
        run = planted(spatial, tmp_path / name, said(CAPTIONS[name]))
        assert ask(monkeypatch, "caption_words", run).verdict == "ok"
        assert ask(monkeypatch, "single_word", run).verdict == "ok"


def test_captions_to_remember(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same few captions in all splits, always true of image 0."""
    few = [sample.record for sample in samples_of(spatial)[:10]]

    def plant(sample: Sample) -> Sample:
        record = few[sample.record.index % len(few)]
        return with_record(sample, captions_0=record.captions_0, captions_1=record.captions_1)

    result = ask(monkeypatch, "remembered_captions", planted(spatial, tmp_path / "run", plant))
    assert result.verdict in ("shortcut", "too few")
    assert result.finding.figure == 1.0
    assert result.finding.p is not None
    assert result.finding.p < 0.01


# --- what an image alone gives away ----------------------------------------------------------------------------------

Pixels = NDArray[np.float64]
RAMP = np.linspace(-1, 1, SIZE_PX)


def corner(pixels: Pixels) -> Pixels:
    """The outermost rows tinted: no object is there."""
    pixels[:2, :, 2] += 40
    return pixels


def ramp(pixels: Pixels) -> Pixels:
    """A faint gradient, which changes no mean."""
    return pixels + 8 * RAMP[None, :, None]


def appended(sample: Sample, side: int) -> Sample:
    """Bytes after the end of the image, which no decoder reads."""
    name = f"image_{side}.jpg"
    return Sample(sample.record, {**sample.files, name: sample.files[name] + bytes(1500)})


def coarse(sample: Sample, side: int) -> Sample:
    return repainted(sample, side, lambda pixels: pixels, quality=70)


MARKS: dict[str, Callable[[Sample, int], Sample]] = {
    "image_statistics": lambda sample, side: repainted(sample, side, lambda pixels: pixels * 0.97),
    "encoding": coarse,
    "file_size": appended,
    "background": lambda sample, side: repainted(sample, side, corner),
    "thumbnail": lambda sample, side: repainted(sample, side, ramp),
}


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_on_the_second_image_tells_the_side(
    name: str, spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planted(spatial, tmp_path / "run", lambda sample: MARKS[name](sample, 1))
    assert ask(monkeypatch, f"{name}_side", run).verdict == "shortcut"
    # It says nothing of what holds there.
    assert ask(monkeypatch, f"{name}_fact", run).verdict == "ok"


@pytest.mark.parametrize("task", ["spatial", "colour"])
@pytest.mark.parametrize("name", MARKS)
def test_a_mark_that_goes_with_the_fact_tells_it(
    name: str, task: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plant(sample: Sample) -> Sample:
        return MARKS[name](sample, 0 if is_first(sample, 0) else 1)

    run = planted(request.getfixturevalue(task), tmp_path / "run", plant)
    result = ask(monkeypatch, f"{name}_fact", run)
    if task == "spatial":
        assert result.verdict == "shortcut"
    # Eleven colours are learnt from few pairs each: better than chance, if not certain with so few.
    assert result.finding.figure > 0.6


# --- places, boxes, circumstances ------------------------------------------------------------------------------------


def sorted_sides(sample: Sample) -> Sample:
    """Image 0 is always the one in which A is left or up."""
    return sample if is_first(sample, 0) else turned(sample)


@pytest.mark.parametrize("name", ["boxes", "values_by_side"])
def test_a_side_for_every_relation(name: str, spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ask(monkeypatch, name, planted(spatial, tmp_path / "run", sorted_sides))
    assert result.verdict == "shortcut"
    assert result.finding.figure > 0.95


def test_framing_that_gives_the_relation_away(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs in the middle of the frame: one half of the image is always left, the other always right."""

    def centred(sample: Sample) -> Sample:
        sides = [
            tuple(_box(item, _place(sample, side, item)) for item in objects)
            for side, objects in enumerate(_objects(sample))
        ]
        return with_record(sample, objects_0=sides[0], objects_1=sides[1])

    assert ask(monkeypatch, "place_of_one", spatial).verdict == "inherent"
    result = ask(monkeypatch, "place_of_one", planted(spatial, tmp_path / "run", centred))
    assert result.finding.figure > 0.98
    assert result.verdict == "shortcut", "beyond what the protocol brings along"


def _objects(sample: Sample) -> tuple[tuple[ObjectRecord, ...], ...]:
    return sample.record.objects_0, sample.record.objects_1


def _place(sample: Sample, side: int, item: ObjectRecord) -> tuple[int, int]:
    relation = (sample.record.fact.value_0, sample.record.fact.value_1)[side]
    axis = 0 if relation in ("left of", "right of") else 1
    early = (relation in FIRST) == (item.role == "A")
    place = [SIZE_PX // 2, SIZE_PX // 2]
    place[axis] += -SIZE_PX // 4 if early else SIZE_PX // 4
    return place[0], place[1]


def _box(item: ObjectRecord, middle: tuple[int, int]) -> ObjectRecord:
    x, y = middle
    return dataclasses.replace(item, box=(x - 6, y - 6, x + 6, y + 6))


def _lit(sample: Sample) -> Sample:
    scene = json.loads(sample.record.scene_0)
    scene["light"]["azimuth_deg"] = 50.0 if is_first(sample, 0) else -50.0
    return with_record(sample, scene_0=json.dumps(scene))


def _turned_where(condition: Callable[[Sample], bool]) -> Callable[[Sample], Sample]:
    """A is first in image 0 exactly where the condition holds."""
    return lambda sample: sample if is_first(sample, 0) == condition(sample) else turned(sample)


def _of_asset(sample: Sample, number: int) -> Sample:
    """A is one of two models of a noun."""
    a, b = sample.record.objects_0
    return with_record(sample, objects_0=(dataclasses.replace(a, noun="mug", uid=f"test/mug/{number}"), b))


CIRCUMSTANCES: dict[str, Callable[[Sample], Sample]] = {
    "setting": lambda sample: with_record(sample, background="hall" if is_first(sample, 0) else "yard"),
    "light": _lit,
    "nouns": _turned_where(lambda sample: sample.record.objects_0[0].noun < "dog"),
    "assets": lambda sample: _of_asset(sample, 0 if is_first(sample, 0) else 1),
    "file_order": _turned_where(lambda sample: sample.record.index < 50),
}


@pytest.mark.parametrize("name", CIRCUMSTANCES)
def test_circumstances_that_go_with_the_relation(
    name: str, spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(monkeypatch, name, spatial).verdict == "ok"
    result = ask(monkeypatch, name, planted(spatial, tmp_path / "run", CIRCUMSTANCES[name]))
    assert result.verdict == "shortcut"
    assert result.finding.figure > CHANCE


def test_stages_that_go_with_the_relation(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def staged(first: Callable[[Sample], bool]) -> Callable[[Sample], Sample]:
        return lambda sample: with_record(sample, stage="shelf" if first(sample) else "steps")

    by_lot = planted(spatial, tmp_path / "lot", staged(lambda sample: sample.record.index % 7 < 4))
    assert ask(monkeypatch, "values_by_stage", by_lot).verdict == "ok"
    by_relation = planted(spatial, tmp_path / "run", staged(lambda sample: is_first(sample, 0)))
    assert ask(monkeypatch, "values_by_stage", by_relation).verdict == "shortcut"


def test_a_noun_that_is_always_a(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def plant(sample: Sample) -> Sample:
        a, b = sample.record.objects_0
        return with_record(sample, objects_0=(dataclasses.replace(a, noun="mug"), b))

    assert ask(monkeypatch, "nouns_by_role", spatial).verdict == "ok"
    result = ask(monkeypatch, "nouns_by_role", planted(spatial, tmp_path / "run", plant))
    assert result.verdict == "shortcut"
    assert "mug" in result.finding.detail


# --- negation --------------------------------------------------------------------------------------------------------


def test_the_paper_s_negation_needs_no_negation_and_the_shared_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = ask(monkeypatch, "mentioned_nouns", clean_run(tmp_path / "paper", "negation", 100))
    assert (paper.verdict, paper.finding.figure) == ("inherent", 1.0)
    assert "--negation shared" in paper.reason
    shared = ask(monkeypatch, "mentioned_nouns", clean_run(tmp_path / "shared", "negation", 100, negation="shared"))
    assert (shared.verdict, shared.finding.figure) == ("ok", CHANCE)


def test_nouns_that_tell_where_they_should_not(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """False captions that name something which is not there: nothing of the relation has to be read."""

    def plant(sample: Sample) -> Sample:
        record = sample.record
        gone = [
            tuple(dataclasses.replace(item, noun=f"{item.noun}{side}") for item in own)
            for side, own in enumerate(_objects(sample))
        ]
        # Image 0 shows "mug0", its captions say so; those of image 1 say "mug1".
        texts = [
            tuple(_renamed(text, record.objects_0, side) for text in own)
            for side, own in enumerate((record.captions_0, record.captions_1))
        ]
        return with_record(sample, objects_0=gone[0], objects_1=gone[1], captions_0=texts[0], captions_1=texts[1])

    assert ask(monkeypatch, "mentioned_nouns", planted(spatial, tmp_path / "run", plant)).verdict == "shortcut"


def _renamed(text: str, objects: tuple[ObjectRecord, ...], side: int) -> str:
    for item in objects:
        text = text.replace(item.noun, f"{item.noun}{side}")
    return text


def test_one_word_that_is_mostly_false(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Affirmative captions true and negated ones false: "not" tells."""

    def plant(sample: Sample) -> Sample:
        record = sample.record
        return with_record(
            sample,
            captions_0=(record.captions_0[1], f"{record.captions_0[1]} together"),
            captions_1=(record.captions_1[0], f"{record.captions_1[0]} together"),
        )

    run = planted(clean_run(tmp_path / "shared", "negation", 100, negation="shared"), tmp_path / "run", plant)
    result = ask(monkeypatch, "single_word", run)
    assert result.verdict == "shortcut"
    assert "'and'" in result.finding.detail


# --- copies, splits, labels ------------------------------------------------------------------------------------------


def _again(sample: Sample, side: int) -> bytes:
    """The image compressed once more."""
    return repainted(sample, side, lambda pixels: pixels, quality=90).files[f"image_{side}.jpg"]


def test_twins_that_look_alike(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def plant(sample: Sample) -> Sample:
        if sample.record.index % 40 != 0:
            return sample
        return Sample(sample.record, {**sample.files, "image_1.jpg": _again(sample, 0)})

    assert ask(monkeypatch, "twins_differ", spatial).verdict == "ok"
    result = ask(monkeypatch, "twins_differ", planted(spatial, tmp_path / "run", plant))
    assert result.verdict == "fault"
    assert "spatial-0000000" in result.finding.detail


def test_near_duplicates_within_and_between_splits(
    spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(monkeypatch, "near_duplicates", spatial).verdict == "ok"
    everything = samples_of(spatial)
    by_split = {split: [s for s in everything if s.record.split == split] for split in ("train", "val")}
    for name, source, target in (("within", "train", "train"), ("between", "train", "val")):
        place = by_split[target][0].record.key
        # The one with most to see: where the fake renderer's pictures are flat, compression makes up what differs.
        others = [sample for sample in by_split[source] if sample.record.key != place]
        copied = max(others, key=lambda sample: len(sample.files["image_1.jpg"]))

        def plant(sample: Sample, copied: Sample = copied, place: str = place) -> Sample:
            return (
                Sample(sample.record, {**sample.files, "image_1.jpg": _again(copied, 1)})
                if sample.record.key == place
                else sample
            )

        result = ask(monkeypatch, "near_duplicates", planted(spatial, tmp_path / name, plant))
        assert result.verdict == "fault"
        assert result.finding.detail.startswith(f"1 pairs of images alike, {int(name == 'between')} of them")


def test_what_two_splits_must_not_share(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assets and nouns only where the run promises it; photographs never."""
    everything = samples_of(spatial)
    expected = {"pair": ("ok", "ok"), "asset": ("fault", "ok"), "noun": ("fault", "fault")}
    for split_by, verdicts in expected.items():
        run = write(tmp_path / split_by, everything, split_by)
        assert tuple(ask(monkeypatch, name, run).verdict for name in ("split_assets", "split_nouns")) == verdicts
    photographs = planted(spatial, tmp_path / "photo", lambda s: with_record(s, image_ids=(str(s.record.index // 4),)))
    assert ask(monkeypatch, "split_photos", photographs).verdict == "fault"
    own = planted(spatial, tmp_path / "own", lambda s: with_record(s, image_ids=(str(s.record.index),)))
    assert ask(monkeypatch, "split_photos", own).verdict == "ok"
    shared = ask(monkeypatch, "split_backgrounds", spatial)
    assert shared.verdict == "ok"
    assert shared.finding.detail.startswith("2 of 2 backgrounds are in two splits")


WRONG: dict[str, Callable[[Sample], Sample]] = {
    "captions of the other image": lambda s: with_record(
        s, captions_0=s.record.captions_1, captions_1=s.record.captions_0
    ),
    "images changed over": lambda s: Sample(
        s.record, {**s.files, "mask_0.png": s.files["mask_1.png"], "mask_1.png": s.files["mask_0.png"]}
    ),
    "a box that is not there": lambda s: with_record(
        s, objects_0=(dataclasses.replace(s.record.objects_0[0], box=(0, 0, 9, 9)), s.record.objects_0[1])
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_labels_that_are_wrong(fault: str, spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(monkeypatch, "labels", spatial).verdict == "ok"
    run = planted(spatial, tmp_path / "run", lambda s: WRONG[fault](s) if s.record.index == 4 else s)
    result = ask(monkeypatch, "labels", run)
    assert result.verdict == "fault"
    assert "spatial-000000004" in result.finding.detail


def test_sizes_that_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = clean_run(tmp_path / "size", "attribute", 40, attributes=("size",))
    assert ask(monkeypatch, "labels", run).verdict == "ok"
    masks = {"mask_0.png": "mask_1.png", "mask_1.png": "mask_0.png"}
    swapped = planted(
        run, tmp_path / "run", lambda s: Sample(s.record, {**s.files, **{a: s.files[b] for a, b in masks.items()}})
    )
    result = ask(monkeypatch, "labels", swapped)
    assert result.verdict == "fault"
    assert result.finding.figure == 0.0


def test_colours_that_are_wrong(colour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def grey(sample: Sample) -> Sample:
        name = "image_0.jpg"
        picture = Image.open(io.BytesIO(sample.files[name])).convert("L").convert("RGB")
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=95)
        return (
            Sample(sample.record, {**sample.files, name: buffer.getvalue()})
            if sample.record.index % 10 == 0
            else sample
        )

    assert ask(monkeypatch, "colours", colour).verdict == "ok"
    result = ask(monkeypatch, "colours", planted(colour, tmp_path / "run", grey))
    assert result.verdict == "fault"
    assert "looks" in result.finding.detail


# --- nothing is overlooked -------------------------------------------------------------------------------------------


def test_every_check_is_planted_for() -> None:
    marked = {f"{name}_{what}" for name in MARKS for what in ("side", "fact")}
    single = {
        "remembered_captions", "mentioned_nouns", "boxes", "place_of_one", "values_by_side", "nouns_by_role",
        "values_by_stage", "twins_differ", "labels", "colours",
    }  # fmt: skip
    assert set(CHECKS) == marked | single | set(CAPTIONS) | set(CIRCUMSTANCES)
    assert set(SPLIT_CHECKS) == {"split_photos", "split_assets", "split_nouns", "split_backgrounds"}


@pytest.mark.parametrize(
    ("task", "changes", "inherent"),
    [
        ("spatial", {}, {"place_of_one"}),
        ("attribute", {}, set()),
        ("negation", {}, {"mentioned_nouns"}),
        ("negation", {"negation": "shared"}, set()),
        ("spatial", {"phrasing": "varied", "synonyms": True}, {"place_of_one"}),
    ],
)
def test_a_clean_run_is_clean(task: str, changes: dict[str, Any], inherent: set[str], tmp_path: Path) -> None:
    results = audited(clean_run(tmp_path / "run", task, 150, **changes))
    assert {result.check for result in results.values() if result.verdict == "inherent"} == inherent
    left = {result.verdict for result in results.values()} - {"inherent"}
    assert left <= {"ok", "too few"}, [result for result in results.values() if result.verdict in ("shortcut", "fault")]
