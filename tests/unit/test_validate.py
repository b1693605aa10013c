"""`validate` finds every kind of damage and names it, and finds nothing in a run that is whole."""

import dataclasses
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from PIL import Image

from generator.cli import Validate
from generator.errors import DataError
from generator.plan import ShardPlan
from generator.records import FactRecord, PairRecord, Sample, read_shard
from generator.shard_job import Recipe, make_shard
from generator.shards import ShardStage, encode_image, read_rows, write_json
from generator.specs import RenderSettings
from generator.validate import perceptual_hash, run_validate, validate
from generator.validate.lookalikes import LOOK, NUMBERS, SCALE, TOLERANCE, candidates
from tests.worlds import context_of, options

SHARDS = {"train": ((0, 1, 2), (3, 4, 5)), "val": ((6, 7),)}


def render(out: Path, task: str = "spatial", negation: str = "paper", seed: int = 0) -> Path:
    """A run by the fake renderer, masks included."""
    context = context_of(seed, options(negation=negation))
    settings = RenderSettings("cycles", 96, 4, "cpu", 1)
    recipe = Recipe(
        task, out, dict.fromkeys(SHARDS, context), "fake", settings, "png", True, 9, 60.0, 0, f"f{seed}", 0, ""
    )
    described = {
        "config": {"task": task, "n": 8, "seed": seed, "renderer": "fake"},
        "versions": {"generator": "0", "schema": 1},
        "sources": {},
    }
    write_json(out / "run.json", {**described, "fingerprint": f"f{seed}"})
    for split, shards in SHARDS.items():
        for number, indices in enumerate(shards):
            make_shard(recipe, ShardPlan(split, number, indices), lambda *_: None, lambda: False)
    return out


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return render(tmp_path_factory.mktemp("whole") / "run")


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    import shutil

    return Path(shutil.copytree(whole, tmp_path / "run"))


def faults_of(run: Path, workers: int = 1) -> list[str]:
    found: list[str] = []
    validate(run, workers, found.append)
    return found


def rewrite(run: Path, change: Callable[[Sample], Sample], split: str = "train", number: int = 0) -> None:
    """Write a shard anew with its first pair changed: digests and counts agree again, so that the content must tell."""
    stage = ShardStage(run, split, number)
    rows = read_rows(stage.base.with_suffix(".parquet"))
    samples = list(read_shard(stage.base.with_suffix(".tar")))
    stage.base.with_suffix(".json").unlink()
    for place, sample in enumerate(samples):
        changed = change(sample) if place == 0 else sample
        stage.accept(changed.record, changed.files)
    for row in rows:
        if row.status == "rejected":
            stage.reject(row)
    stage.seal({"fingerprint": "f0"})


def with_record(**changes: Any) -> Callable[[Sample], Sample]:
    return lambda sample: Sample(dataclasses.replace(sample.record, **changes), sample.files)


def reencoded(data: bytes, kind: str, level: int) -> bytes:
    """The picture in another file: PNG with another compression, or JPEG of a quality."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        picture.save(buffer, kind, **({"compress_level": level} if kind == "png" else {"quality": level}))
    return buffer.getvalue()


def with_object(**changes: Any) -> Callable[[Sample], Sample]:
    def change(sample: Sample) -> Sample:
        first, *rest = sample.record.objects_0
        objects = (dataclasses.replace(first, **changes), *rest)
        return Sample(dataclasses.replace(sample.record, objects_0=objects), sample.files)

    return change


def with_file(name: str, make: Callable[[dict[str, bytes]], bytes]) -> Callable[[Sample], Sample]:
    return lambda sample: Sample(sample.record, {**sample.files, name: make(sample.files)})


def swapped_captions(sample: Sample) -> Sample:
    record = sample.record
    return Sample(dataclasses.replace(record, captions_0=record.captions_1, captions_1=record.captions_0), sample.files)


def swapped_images(sample: Sample) -> Sample:
    files = sample.files
    return Sample(sample.record, {**files, "image_0.png": files["image_1.png"], "image_1.png": files["image_0.png"]})


@pytest.mark.parametrize("workers", [1, 2])
def test_a_whole_run_has_no_faults(whole: Path, workers: int) -> None:
    assert faults_of(whole, workers) == []


@pytest.mark.parametrize(("task", "negation"), [("attribute", "paper"), ("negation", "paper"), ("negation", "shared")])
def test_every_task_passes(tmp_path: Path, task: str, negation: str) -> None:
    assert faults_of(render(tmp_path / "run", task, negation)) == []


CONTENT: dict[str, tuple[Callable[[Sample], Sample], str]] = {
    "captions of the wrong side": (swapped_captions, "the captions are"),
    "one caption on both sides": (
        lambda s: Sample(dataclasses.replace(s.record, captions_1=s.record.captions_0), s.files),
        "is a caption of both sides",
    ),
    "one caption on both sides but for its case": (
        lambda s: Sample(
            dataclasses.replace(s.record, captions_1=(s.record.captions_0[1].upper(), s.record.captions_1[1])), s.files
        ),
        "is a caption of both sides",
    ),
    "a caption twice on one side": (
        lambda s: Sample(dataclasses.replace(s.record, captions_1=(s.record.captions_1[0],) * 2), s.files),
        "captions_1 are two times the same",
    ),
    "an empty caption": (with_record(captions_0=("", "x")), "an empty caption"),
    "another noun": (with_object(noun="zebra"), "zebra"),
    "the relation the other way round": (
        lambda s: Sample(
            dataclasses.replace(s.record, fact=FactRecord("relation", s.record.fact.value_1, s.record.fact.value_0)),
            s.files,
        ),
        "by the boxes",
    ),
    "a fact that does not differ": (with_record(fact=FactRecord("relation", "above", "above")), "on both sides"),
    "an unknown template": (with_record(template="haiku"), "template 'haiku'"),
    "a box one pixel off": (
        lambda s: with_object(box=(*s.record.objects_0[0].box[:3], s.record.objects_0[0].box[3] + 1))(s),
        "mask_0: the",
    ),
    "a wrong count of pixels": (with_object(visible_px=1), "pixels, the record says 1"),
    "a mask of nothing": (
        with_file("mask_1.png", lambda _: encode_image(np.zeros((96, 96), np.uint8), "png")),
        "mask_1: the",
    ),
    "a mask of another size": (
        with_file("mask_0.png", lambda _: encode_image(np.zeros((32, 96), np.uint8), "png")),
        "mask_0 is (32, 96)",
    ),
    "an image cut short": (
        with_file("image_0.png", lambda files: files["image_0.png"][:200]),
        "image_0 does not decode",
    ),
    "an image of another size": (
        with_file("image_1.png", lambda _: encode_image(np.zeros((32, 32, 3), np.uint8), "png")),
        "image_1 is (32, 32)",
    ),
    "twins that are one": (with_file("image_1.png", lambda files: files["image_0.png"]), "the two images are the same"),
    "twins that are one, in other bytes": (
        with_file("image_1.png", lambda files: reencoded(files["image_0.png"], "png", level=1)),
        "the two images are the same",
    ),
    "a missing image": (
        lambda s: Sample(s.record, {name: data for name, data in s.files.items() if name != "image_1.png"}),
        "has no image_1",
    ),
    "another key": (with_record(key="spatial-999999999"), "its key does not follow"),
    "another split": (with_record(split="test"), "says that it belongs to test"),
}


@pytest.mark.parametrize("name", CONTENT)
def test_content_that_is_not_what_it_says(run: Path, name: str) -> None:
    change, words = CONTENT[name]
    rewrite(run, change)
    assert any(words in fault and "train/00000" in fault for fault in faults_of(run)), faults_of(run)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a bit flipped in the tar": (lambda base: flip(base.with_suffix(".tar")), "00000.tar is not the file"),
    "a bit flipped in the parquet": (lambda base: flip(base.with_suffix(".parquet")), "00000.parquet is not the file"),
    "no tar": (lambda base: base.with_suffix(".tar").unlink(), "00000.tar is missing"),
    "no parquet": (lambda base: base.with_suffix(".parquet").unlink(), "00000.parquet is missing"),
    "no json": (lambda base: base.with_suffix(".json").unlink(), "not complete (no json)"),
    "a json that is none": (lambda base: base.with_suffix(".json").write_text("{"), "not readable as JSON"),
    "a json without counts": (lambda base: base.with_suffix(".json").write_text("{}"), "damaged"),
    "wrong counts": (lambda base: edit(base.with_suffix(".json"), accepted=99), "accepted: the json says 99"),
    "another run's shard": (lambda base: edit(base.with_suffix(".json"), fingerprint="f9"), "another configuration"),
}


@pytest.mark.parametrize("name", FILES)
def test_damaged_files(run: Path, name: str) -> None:
    damage, words = FILES[name]
    damage(run / "train" / "00000")
    assert any(words in fault for fault in faults_of(run)), faults_of(run)


def test_tar_and_parquet_must_agree(run: Path) -> None:
    import hashlib
    import shutil

    base, other = run / "train" / "00000", run / "train" / "00001"
    shutil.copy(other.with_suffix(".parquet"), base.with_suffix(".parquet"))
    digests = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (base.with_suffix(".tar"), base.with_suffix(".parquet"))
    }
    edit(base.with_suffix(".json"), sha256=digests)
    found = faults_of(run)
    assert any("is in the tar and not among" in fault for fault in found)
    assert any("is an accepted row of the parquet and not in the tar" in fault for fault in found)


def first_of(run: Path) -> Sample:
    return next(read_shard(run / "train" / "00000.tar"))


def copies(first: Sample, kind: str = "png", level: int = 1, **changes: Any) -> Callable[[Sample], Sample]:
    """Another pair's record, with the pictures of the first in other files."""

    def copy(sample: Sample) -> Sample:
        suffix = "jpg" if kind == "jpeg" else kind
        files = {f"image_{side}.{suffix}": reencoded(first.image(side) or b"", kind, level) for side in range(2)}
        return Sample(dataclasses.replace(sample.record, **changes), files)

    return copy


@pytest.mark.parametrize(("kind", "level"), [("png", 1), ("jpeg", 95), ("jpeg", 90)])
def test_a_pair_shown_twice(run: Path, kind: str, level: int) -> None:
    """The same pictures under another key, in another split and recompressed, are found again."""
    if kind == "jpeg":
        rewrite(run, copies(first_of(run), kind, 95))
    rewrite(run, copies(first_of(run), kind, level), "val")
    assert "val/00000 spatial-000000006 shows the same as train/00000 spatial-000000000" in faults_of(run)


def test_a_pair_shown_twice_in_one_shard(run: Path) -> None:
    second = list(read_shard(run / "train" / "00000.tar"))[1]
    rewrite(run, copies(second))
    assert "train/00000 spatial-000000001 shows the same as train/00000 spatial-000000000" in faults_of(run)


def test_a_whole_shard_twice(run: Path) -> None:
    import shutil

    for suffix in (".tar", ".parquet", ".json"):
        shutil.copy(run / "train" / f"00001{suffix}", run / "train" / f"00002{suffix}")
    path = run / "train" / "00002.json"
    digests = {name.replace("00001", "00002"): value for name, value in json.loads(path.read_text())["sha256"].items()}
    edit(path, sha256=digests, shard=2)
    found = faults_of(run)
    for index in (3, 4, 5):
        assert f"train/00002 spatial-{index:09d} shows the same as train/00001 spatial-{index:09d}" in found
    assert "11 of 8 planned pairs are in complete shards; the same render command again goes on" in found


def test_a_moved_object_is_another_picture(run: Path) -> None:
    """Nearly the same is not the same: one thing a few pixels further."""
    first = first_of(run)

    def moved(sample: Sample) -> Sample:
        files = {}
        for side in range(2):
            with Image.open(io.BytesIO(first.image(side) or b"")) as picture:
                pixels = np.asarray(picture).copy()
            x0, y0, x1, y1 = first.record.objects_0[0].box if side == 0 else first.record.objects_1[0].box
            thing = pixels[y0:y1, x0:x1].copy()
            pixels[y0:y1, x0:x1] = pixels[0, 0]
            shift = 3 if x1 + 3 <= pixels.shape[1] else -3
            pixels[y0:y1, x0 + shift : x1 + shift] = thing
            files[f"image_{side}.png"] = encode_image(pixels, "png")
        return Sample(sample.record, files)

    rewrite(run, moved, "val")
    assert not [fault for fault in faults_of(run) if "shows the same" in fault]


def test_the_same_words_for_other_pictures_are_no_fault(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Closed sets of nouns and templates must repeat in a long run."""
    first = first_of(run).record
    others = dict.fromkeys(("captions_0", "captions_1", "template", "words", "fact", "objects_0", "objects_1"))
    changes = {name: getattr(first, name) for name in others}
    pictures = next(read_shard(run / "val" / "00000.tar")).files

    def said_again(sample: Sample) -> Sample:
        files = {name: data for name, data in pictures.items() if name.startswith("image")}
        return Sample(dataclasses.replace(sample.record, **changes), files)

    rewrite(run, said_again, "val")
    assert run_validate(Validate((run,), 1)) == 0
    assert "1 pairs say the same as another one and show something else" in capsys.readouterr().out


@pytest.mark.parametrize("said", [True, False])
def test_photographs_may_come_again_with_other_captions(run: Path, said: bool) -> None:
    """People wrote five captions for each: only the same photograph with the same captions is a pair twice."""
    first = first_of(run)
    rewrite(run, lambda sample: Sample(dataclasses.replace(sample.record, source="coco"), sample.files))
    captions = {"captions_0": first.record.captions_0, "captions_1": first.record.captions_1} if said else {}
    rewrite(run, copies(first, source="coco", **captions), "val")
    found = [fault for fault in faults_of(run) if "shows the same" in fault]
    assert len(found) == said


def test_missing_shards_are_missed(run: Path) -> None:
    for path in (run / "val").iterdir():
        path.unlink()
    assert faults_of(run) == ["6 of 8 planned pairs are in complete shards; the same render command again goes on"]


def looks_of(numbers: np.ndarray) -> np.ndarray:
    looks = np.zeros(len(numbers), LOOK)
    looks["numbers"], looks["rendered"], looks["captions"] = numbers, True, np.arange(len(numbers))
    return looks


@hypothesis.given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_what_is_within_the_tolerance_is_found(seed: int, copied: int) -> None:
    """As comparing each with each would, wherever the cells' borders fall."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-3000, 3000, (400, 2 * NUMBERS))
    limit = round(TOLERANCE * SCALE)
    sources = rng.integers(0, 400, copied)
    near = numbers[sources] + rng.integers(-limit, limit + 1, (copied, 2 * NUMBERS))
    # Copies differ from one another by up to twice the tolerance: only their original is sure to be near.
    found = {later for _, later in candidates(looks_of(np.concatenate([numbers, near])))}
    assert found == set(range(400, 400 + copied))


def test_many_copies_take_no_longer_than_many_pairs() -> None:
    """A run of one pair over and over is found out in a moment, not by comparing each with each."""
    numbers = np.zeros((100_000, 2 * NUMBERS), np.int16)
    found = list(candidates(looks_of(numbers)))
    assert sorted(later for _, later in found) == list(range(1, 100_000))


def test_the_verb_says_what_is_wrong_and_exits_with_1(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_validate(Validate((run,), 1)) == 0
    assert "8 accepted pairs checked, no faults" in capsys.readouterr().out
    flip(run / "val" / "00000.tar")
    assert run_validate(Validate((run,), 1)) == 1
    shown = capsys.readouterr().out
    assert "fault: val/00000: 00000.tar is not the file that was written" in shown


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a run directory"):
        faults_of(tmp_path)


def pictures() -> Iterator[Image.Image]:
    rng = np.random.default_rng(5)
    for _ in range(4):
        yield Image.fromarray(rng.integers(0, 256, (96, 96, 3), dtype=np.uint8))


def test_hashes_tell_pictures_apart_and_not_their_compression() -> None:

    smooth = [picture.resize((12, 12), Image.Resampling.BOX).resize((96, 96)) for picture in pictures()]
    hashes = {perceptual_hash(picture) for picture in smooth}
    assert len(hashes) == len(smooth)
    for picture in smooth:
        brighter = picture.point(lambda value: value * 0.9)
        difference = np.unpackbits(
            np.frombuffer(perceptual_hash(picture), np.uint8) ^ np.frombuffer(perceptual_hash(brighter), np.uint8)
        )
        assert difference.mean() < 0.05


def test_records_of_photographs_are_judged_by_their_own_rules(run: Path) -> None:
    """Their captions come from elsewhere: only what holds for every record is asked of them."""

    def photograph(sample: Sample) -> Sample:
        record: PairRecord = dataclasses.replace(sample.record, source="coco", captions_0=("one", "two"))
        return Sample(record, sample.files)

    rewrite(run, photograph)
    assert faults_of(run) == []
