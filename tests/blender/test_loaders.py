"""What the shards were made for: they load with webdataset, with Hugging Face datasets, and with plain tarfile."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from generator.records import PairRecord, find_shards, read_shard

pytestmark = pytest.mark.blender
pytest.importorskip("bpy", reason="renders with Blender")

RunOf = Callable[[str], Path]
TASKS = ("spatial", "colour", "size", "negation")


def tars(run_of: RunOf, *names: str) -> list[str]:
    return [str(path) for name in names for path in find_shards([run_of(name)])]


def records(run_of: RunOf, *names: str) -> dict[str, PairRecord]:
    return {s.record.key: s.record for path in tars(run_of, *names) for s in read_shard(Path(path))}


def test_plain_tarfile_and_json(run_of: RunOf) -> None:
    seen: dict[str, dict[str, bytes]] = {}
    for path in tars(run_of, "spatial"):
        with tarfile.open(path) as tar:
            for member in tar:
                stream = tar.extractfile(member)
                assert stream is not None
                key, _, suffix = member.name.partition(".")
                seen.setdefault(key, {})[suffix] = stream.read()
    expected = records(run_of, "spatial")
    assert set(seen) == set(expected)
    for key, files in seen.items():
        assert sorted(files) == ["image_0.png", "image_1.png", "json", "mask_0.png", "mask_1.png"]
        assert json.loads(files["json"])["captions_0"] == list(expected[key].captions_0)


def test_webdataset(run_of: RunOf) -> None:
    webdataset = pytest.importorskip("webdataset")
    expected = records(run_of, *TASKS)
    dataset = webdataset.WebDataset(tars(run_of, *TASKS), shardshuffle=False).decode("pil")
    found = list(dataset)
    # Attribute runs of both kinds count their pairs from 0.
    assert len(found) == sum(1 for path in tars(run_of, *TASKS) for _ in read_shard(Path(path)))
    assert {item["__key__"] for item in found} == set(expected)
    for item in found:
        assert item["image_0.png"].size == item["image_1.png"].size == (128, 128)
        assert item["mask_0.png"].mode in ("L", "RGB")
        assert len(item["json"]["captions_0"]) == len(item["json"]["captions_1"]) == 2


def test_hugging_face_datasets(run_of: RunOf, tmp_path: Path) -> None:
    """All tasks in one data set: the same keys with the same types in every row, whatever the task."""
    datasets = pytest.importorskip("datasets")
    files = tars(run_of, *TASKS)
    loaded = datasets.load_dataset("webdataset", data_files={"train": files}, split="train", cache_dir=str(tmp_path))
    expected = [s.record for path in files for s in read_shard(Path(path))]
    assert len(loaded) == len(expected)
    assert {"image_0.png", "image_1.png", "json", "mask_0.png", "__key__"} <= set(loaded.column_names)
    features = loaded.features["json"]
    assert str(features["index"].dtype) == "int64"
    assert str(features["fact"]["value_0"].dtype) == "string"
    for row, record in zip(loaded, expected, strict=True):
        assert row["__key__"] == record.key
        assert row["json"]["captions_0"] == list(record.captions_0)
        assert row["json"]["objects_0"][0]["box"] == list(record.objects_0[0].box)
        assert row["json"]["objects_0"][0]["measured_lab"] == pytest.approx(record.objects_0[0].measured_lab)
        assert row["image_0.png"].size == (128, 128)


def test_hugging_face_reads_a_run_by_its_card(run_of: RunOf, tmp_path: Path) -> None:
    """`load_dataset(FOLDER)` finds the splits through the metadata of README.md."""
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(run_of("spatial")), cache_dir=str(tmp_path))
    expected = records(run_of, "spatial")
    assert {key for split in loaded.values() for key in split["__key__"]} == set(expected)
    names = {"train": "train", "val": "validation", "test": "test"}
    assert set(loaded) == {names[record.split] for record in expected.values()}


def test_pictures_open_with_any_reader(run_of: RunOf) -> None:
    for path in tars(run_of, "spatial"):
        for sample in read_shard(Path(path)):
            for name, data in sample.files.items():
                with Image.open(io.BytesIO(data)) as picture:
                    picture.load()
                    assert picture.mode == ("L" if name.startswith("mask") else "RGB")
