"""All four splits from annotation files to shards, over a small COCO of our own."""

import csv
import io
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coco_files import LEFT, MODEL, RIGHT, CocoFiles, needs_model, small_world
from PIL import Image

from generator.coco.commands import CocoAttribute, CocoNegation, CocoRun, CocoSpatial, CocoSwapNoun, run_coco
from generator.coco.plan import split_of
from generator.errors import ConfigError, DataError, DependencyError, OutputError
from generator.plan import parse_shares
from generator.records import Sample, find_shards, read_shard
from generator.shards import Row, read_rows

SPLIT = "train=0.6,val=0.2,test=0.2"
VERBS: dict[str, type[CocoRun]] = {
    "attribute": CocoAttribute,
    "spatial": CocoSpatial,
    "negation": CocoNegation,
    "swap_noun": CocoSwapNoun,
}


def config(world: CocoFiles, task: str, out: Path, **more: Any) -> CocoRun:
    if task in ("attribute", "swap_noun"):
        needs_model()
        more.setdefault("model", MODEL)
    if task == "attribute":
        more.setdefault("min_photos", 1)
    values: dict[str, Any] = {
        "captions": world.captions_path,
        "instances": world.instances_path,
        "images": world.images,
        "out": out,
        "n": 100,
        "split": SPLIT,
        "workers": 1,
        **more,
    }
    return VERBS[task](**values)


def samples(out: Path) -> list[Sample]:
    return [sample for shard in find_shards([out]) for sample in read_shard(shard)]


def rows(out: Path) -> list[Row]:
    return [row for path in sorted(out.rglob("*.parquet")) for row in read_rows(path)]


def pixels(sample: Sample, side: int) -> np.ndarray:
    data = sample.image(side)
    assert data is not None
    return np.asarray(Image.open(io.BytesIO(data)))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> CocoFiles:
    return small_world(tmp_path_factory.mktemp("coco"))


@pytest.mark.parametrize("task", VERBS)
def test_every_split_is_built_and_reads_back(world: CocoFiles, tmp_path: Path, task: str) -> None:
    out = tmp_path / "out"
    assert run_coco(config(world, task, out)) == 0
    found = samples(out)
    assert len(found) >= 8
    for sample in found:
        record = sample.record
        assert (record.task, record.source) == (task, "coco")
        assert record.split == split_of(int(record.image_ids[0]), parse_shares(SPLIT))
        assert len(set(record.captions_0 + record.captions_1)) == 4
        assert record.has_image_1 == (sample.image(1) is not None) == (task in ("spatial", "negation"))
        assert pixels(sample, 0).shape == (record.height, record.width, 3)
    for name in ("run.json", "README.md", "index.html", "photo_credits.csv", "mining.json"):
        assert (out / name).stat().st_size > 0, name


@pytest.mark.parametrize("task", VERBS)
def test_no_photo_is_in_two_splits(world: CocoFiles, tmp_path: Path, task: str) -> None:
    run_coco(config(world, task, tmp_path / "out"))
    split_by_photo: dict[str, set[str]] = {}
    for row in rows(tmp_path / "out"):
        for photo in row.image_ids:
            split_by_photo.setdefault(photo, set()).add(row.split)
    assert all(len(splits) == 1 for splits in split_by_photo.values())
    assert len({row.split for row in rows(tmp_path / "out")}) >= 2


@pytest.mark.parametrize("task", VERBS)
def test_workers_and_shard_size_change_no_pair(world: CocoFiles, tmp_path: Path, task: str) -> None:
    run_coco(config(world, task, tmp_path / "one"))
    run_coco(config(world, task, tmp_path / "two", workers=2, shard_size=3))
    one, two = ({s.record.key: (s.record, s.files) for s in samples(tmp_path / name)} for name in ("one", "two"))
    assert one == two


def test_a_short_run_is_a_prefix(world: CocoFiles, tmp_path: Path) -> None:
    run_coco(config(world, "spatial", tmp_path / "long"))
    run_coco(config(world, "spatial", tmp_path / "short", n=5))
    short = {row.index: row for row in rows(tmp_path / "short")}
    long = {row.index: row for row in rows(tmp_path / "long")}
    assert sorted(short) == [0, 1, 2, 3, 4]
    assert all(long[index] == row for index, row in short.items())


@pytest.mark.parametrize("paste", ["box", "mask"])
def test_spatial_twins_swap_what_the_record_says(world: CocoFiles, tmp_path: Path, paste: str) -> None:
    run_coco(config(world, "spatial", tmp_path / "out", paste=paste, image_format="png"))
    relations = Counter()
    for sample in samples(tmp_path / "out"):
        record = sample.record
        relations[record.fact.value_0] += 1
        before, after = pixels(sample, 0), pixels(sample, 1)
        kept = np.ones(before.shape[:2], bool)
        for old, new in zip(record.objects_0, record.objects_1, strict=True):
            assert (old.noun, old.uid, old.role) == (new.noun, new.uid, new.role)
            x0, y0, x1, y1 = old.box
            kept[y0:y1, x0:x1] = False
            here = before[y0:y1, x0:x1].reshape(-1, 3).mean(axis=0)
            x0, y0, x1, y1 = new.box
            there = after[y0:y1, x0:x1].reshape(-1, 3).mean(axis=0)
            assert np.abs(here - there).max() < 12, "the object is not where the record says"
        assert (before[kept] == after[kept]).all()
        a, b = record.objects_0
        centre = {"left of": a.box[0] < b.box[0], "right of": a.box[0] > b.box[0]}
        assert centre[record.fact.value_0]
        assert record.objects_1[0].box == b.box
    assert set(relations) == {"left of", "right of"}


def test_negation_names_what_is_absent(tmp_path: Path) -> None:
    world = CocoFiles(tmp_path / "world")
    first = world.scene("car", "dog", ("red", "white"), ["A car and a dog."])
    second = world.scene("pizza", "clock", ("blue", "black"), ["A pizza under a clock."])
    world.write()
    run_coco(config(world, "negation", tmp_path / "out", split="train=1"))
    record = samples(tmp_path / "out")[0].record
    assert set(record.image_ids) == {str(first), str(second)}
    named = [{item.noun for item in side} for side in (record.objects_0, record.objects_1)]
    assert sorted(map(sorted, named)) == [["car", "dog"], ["clock", "pizza"]]


@pytest.mark.parametrize(
    ("categories", "captions"),
    [
        (("pizza", "car"), ["A pizza."]),  # a category in common
        (("pizza", "bus"), ["A pizza."]),  # a bus passes for a car
        (("pizza", "clock"), ["A pizza in a car park, says one caption: a car."]),
        (("pizza", "clock"), ["Two puppies look at a pizza."]),  # a word for dog
        (("pizza", "clock"), ["An animal eats pizza."]),  # a word that leaves room for a dog
        (("pizza", "clock"), []),  # no caption to ask
    ],
)
def test_negation_needs_certain_absence(tmp_path: Path, categories: tuple[str, str], captions: list[str]) -> None:
    world = CocoFiles(tmp_path / "world")
    world.scene("car", "dog", ("red", "white"), ["A car and a dog."])
    world.scene(*categories, ("blue", "black"), captions)
    world.write()
    with pytest.raises(DataError, match="no photo gives a pair for coco negation"):
        run_coco(config(world, "negation", tmp_path / "out", split="train=1"))
    assert not (tmp_path / "out").exists()


def test_missing_model_leaves_nothing_behind(world: CocoFiles, tmp_path: Path) -> None:
    with pytest.raises(DependencyError, match="'en_none_such' is not installed"):
        run_coco(config(world, "attribute", tmp_path / "out", model="en_none_such"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("crowd", "category occurs more than once"),
        ("twice", "category occurs more than once"),
        ("small", "box too small or too large"),
        ("large", "box too small or too large"),
        ("overlap", "boxes not apart"),
        ("diagonal", "boxes not apart"),
        ("alike", "categories alike"),
        ("stretch", "swap would distort"),
        ("thin", "object fills too little of its box"),
        ("shared", "another object lies in the box"),
    ],
)
def test_spatial_passes_over_unclear_boxes(tmp_path: Path, change: str, reason: str) -> None:
    world = CocoFiles(tmp_path / "world")
    photo = world.photo()
    world.paint(photo, "red", "white")
    world.caption(photo, "A car and a dog.")
    world.box(photo, "car", LEFT)
    second = {
        "small": (100.0, 60.0, 8.0, 8.0),
        "large": (70.0, 0.0, 90.0, 120.0),
        "overlap": (50.0, 30.0, 50.0, 60.0),
        "diagonal": (75.0, 92.0, 30.0, 26.0),
        "stretch": (75.0, 50.0, 80.0, 15.0),
    }.get(change, RIGHT)
    more = {"area": 20.0} if change == "thin" else {"iscrowd": 1} if change == "crowd" else {}
    world.box(photo, "bus" if change == "alike" else "dog", second, **more)
    if change == "twice":
        world.box(photo, "dog", (100, 5, 20, 20))
    if change == "shared":
        world.box(photo, "cat", (90.0, 38.0, 60.0, 60.0))
    if change == "large":
        world.boxes[0]["bbox"] = [0.0, 30.0, 40.0, 60.0]
    world.write()
    with pytest.raises(DataError, match=reason):
        run_coco(config(world, "spatial", tmp_path / "out"))


def test_damaged_photos_are_rows_and_the_run_goes_on(tmp_path: Path) -> None:
    world = small_world(tmp_path / "world")
    names = [photo["file_name"] for photo in world.photos]
    (world.images / names[0]).write_bytes((world.images / names[0]).read_bytes()[:200])
    Image.new("RGB", (10, 10)).save(world.images / names[1])
    (world.images / names[2]).unlink()
    run_coco(config(world, "spatial", tmp_path / "out"))
    reasons = Counter(row.reason for row in rows(tmp_path / "out"))
    assert reasons["photo_unreadable"] == reasons["photo_size_differs"] == 1
    assert reasons[""] == len(samples(tmp_path / "out")) == 21
    assert json.loads((tmp_path / "out" / "mining.json").read_text())["annotations"]["photo not in the folder"] == 1


def test_mostly_damaged_photos_stop_the_run(tmp_path: Path) -> None:
    world = small_world(tmp_path / "world", photos=60)
    for photo in world.photos:
        (world.images / photo["file_name"]).write_text("not a photo")
    with pytest.raises(DataError, match=r"40 of 40 pairs were rejected, most \(40\) as photo_unreadable"):
        run_coco(config(world, "spatial", tmp_path / "out", split="train=1"))


def test_grey_photos_give_no_colours(tmp_path: Path) -> None:
    world = small_world(tmp_path / "world")
    for photo in world.photos:
        path = world.images / photo["file_name"]
        Image.open(path).convert("L").save(path)
    run_coco(config(world, "attribute", tmp_path / "out"))
    assert {row.reason for row in rows(tmp_path / "out")} == {"photo_grey"}


def test_twins_that_look_alike_are_rejected(tmp_path: Path) -> None:
    world = CocoFiles(tmp_path / "world")
    photo = world.scene("car", "dog", ("red", "red"), ["A car and a dog."])
    Image.new("RGB", (160, 120), (90, 90, 90)).save(world.images / world.photos[photo - 1000]["file_name"])
    world.write()
    run_coco(config(world, "spatial", tmp_path / "out"))
    assert [row.reason for row in rows(tmp_path / "out")] == ["twins_alike"]


def test_segmentation_that_is_broken_is_a_row(tmp_path: Path) -> None:
    world = CocoFiles(tmp_path / "world")
    world.scene("car", "dog", ("red", "white"), ["A car and a dog."])
    world.boxes[0]["segmentation"] = [[1, 2]]
    world.write()
    run_coco(config(world, "spatial", tmp_path / "out", paste="mask"))
    assert [row.reason for row in rows(tmp_path / "out")] == ["segmentation_invalid"]


def test_interrupted_run_goes_on_and_another_run_is_refused(world: CocoFiles, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_coco(config(world, "spatial", out, shard_size=4))
    whole = {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*.tar"))}
    victim = next(iter(whole))
    for suffix in (".tar", ".json", ".parquet"):
        (out / victim).with_suffix(suffix).unlink()
    run_coco(config(world, "spatial", out, shard_size=4))
    assert {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*.tar"))} == whole
    with pytest.raises(OutputError, match=r"holds another run \(.*seed"):
        run_coco(config(world, "spatial", out, shard_size=4, seed=1))


def test_same_files_elsewhere_are_the_same_run(world: CocoFiles, tmp_path: Path) -> None:
    run_coco(config(world, "spatial", tmp_path / "out"))
    copy = CocoFiles(tmp_path / "copy")
    shutil.copytree(world.images, copy.images, dirs_exist_ok=True)
    shutil.copy(world.captions_path, copy.captions_path)
    shutil.copy(world.instances_path, copy.instances_path)
    assert run_coco(config(copy, "spatial", tmp_path / "out")) == 0


def test_licences(tmp_path: Path) -> None:
    mixed = small_world(tmp_path / "mixed")
    for photo in mixed.photos[::2]:
        photo["license"] = 1
    mixed.write()
    run_coco(config(mixed, "spatial", tmp_path / "any"))
    run_coco(config(mixed, "spatial", tmp_path / "free", licenses="free"))
    with (tmp_path / "any" / "photo_credits.csv").open(newline="") as stream:
        credits = {row["image_id"]: row["license"] for row in csv.DictReader(stream)}
    assert set(credits.values()) == {"Attribution License", "Attribution-NonCommercial License"}
    assert "CC BY 4.0" in (tmp_path / "any" / "README.md").read_text()
    free = {photo for row in rows(tmp_path / "free") for photo in row.image_ids}
    assert free
    assert {credits[photo] for photo in free} == {"Attribution License"}


def test_nothing_usable_is_refused(world: CocoFiles, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"none of the 24 photos .* 24 photo not in the folder"):
        run_coco(config(world, "spatial", tmp_path / "out", images=tmp_path / "empty"))
    with pytest.raises(ConfigError, match=r"--images: no such directory .*nowhere"):
        run_coco(config(world, "spatial", tmp_path / "out", images=tmp_path / "nowhere"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("task", "values", "message"),
    [
        ("spatial", {"n": 0}, "--n must be at least 1"),
        ("spatial", {"workers": 0}, "--workers must be at least 1"),
        ("spatial", {"shard_size": 0}, "--shard-size must be at least 1"),
        ("spatial", {"max_per_photo": -1}, "--max-per-photo must not be below 0"),
        ("spatial", {"split": "train=2"}, "--split"),
        ("spatial", {"instances": None}, "coco spatial needs --instances"),
        ("negation", {"instances": None}, "coco negation needs --instances"),
        ("spatial", {"min_area": 0.6}, "--min-area 0.6 must be below --max-area 0.5"),
        ("spatial", {"max_stretch": 0.5}, "--max-stretch"),
        ("spatial", {"min_fill": 2.0}, "--min-fill must be between 0 and 1"),
        ("negation", {"min_area": -1.0}, "--min-area must be between 0 and 1"),
        ("attribute", {"attributes": "colour,smell"}, "--attributes: unknown kind 'smell'; known: colour"),
        ("attribute", {"min_photos": 0}, "--min-photos must be at least 1"),
    ],
)
def test_flags_that_make_no_sense(
    world: CocoFiles, tmp_path: Path, task: str, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        run_coco(config(world, task, tmp_path / "out", **values))
