"""`validate` finds every kind of damage and names it, and finds nothing in a run that is whole."""

import dataclasses
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from generator.cli import Validate
from generator.errors import DataError
from generator.plan import ShardPlan
from generator.records import FactRecord, PairRecord, Sample, read_shard
from generator.shard_job import Recipe, make_shard
from generator.shards import ShardStage, encode_image, read_rows, write_json
from generator.specs import RenderSettings
from generator.validate import perceptual_hash, run_validate, validate
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
        "config": {"task": task, "n": 8, "seed": seed},
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


def test_a_pair_shown_twice(run: Path) -> None:
    """The same pictures under another key, in another split and recompressed, are found again."""
    first = next(read_shard(run / "train" / "00000.tar"))

    def recompressed(data: bytes | None) -> bytes:
        assert data is not None
        with Image.open(io.BytesIO(data)) as picture:
            pixels = np.asarray(picture).copy()
        pixels[0, 0] ^= 1
        return encode_image(pixels, "png")

    files = {f"image_{side}.png": recompressed(first.image(side)) for side in range(2)}

    def copy(sample: Sample) -> Sample:
        return Sample(sample.record, files)

    rewrite(run, copy, "val")
    assert any(
        fault.startswith("val/00000 spatial-000000006 shows the same as train/00000 spatial-000000000")
        or fault.startswith("train/00000 spatial-000000000 shows the same as val/00000 spatial-000000006")
        for fault in faults_of(run)
    ), faults_of(run)


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
