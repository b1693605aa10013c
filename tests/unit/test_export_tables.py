"""imagefolder, hf and parquet, read by Hugging Face `datasets`, pandas and pyarrow."""

import io
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_runs import export, export_runs, samples
from PIL import Image

from generator.records import Sample
from generator.shards import read_json

HUB = {"train": "train", "val": "validation", "test": "test"}
Load = Callable[..., Any]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return export_runs(tmp_path_factory)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """load_dataset with a cache of its own and no network."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()

    def load_dataset(*words: Any, **more: Any) -> Any:
        return datasets.load_dataset(*words, cache_dir=str(tmp_path / "cache"), **more)

    return load_dataset


def pixels(data: bytes | None) -> np.ndarray:
    assert data is not None
    return np.asarray(Image.open(io.BytesIO(data)))


def assert_same_pairs(rows: Any, wanted: list[Sample], masks: bool) -> None:
    """A loaded split against the shards: pictures, masks and captions, pair by pair."""
    assert len(rows) == len(wanted)
    by_key = {(row["key"], row["seed"]): row for row in rows}
    for sample in wanted:
        row = by_key[sample.record.key, sample.record.seed]
        for side in range(2):
            image = row.get(f"image_{side}")
            if sample.image(side) is None:
                assert image is None
            else:
                np.testing.assert_array_equal(np.asarray(image), pixels(sample.image(side)))
            if masks:
                np.testing.assert_array_equal(np.asarray(row[f"mask_{side}"]), pixels(sample.mask(side)))
        assert tuple(row["captions_0"]) == sample.record.captions_0
        assert tuple(row["captions_1"]) == sample.record.captions_1


@pytest.mark.parametrize("to", ["imagefolder", "hf"])
def test_datasets_finds_all_splits_pictures_and_masks(
    to: str, runs: dict[str, Path], tmp_path: Path, load: Load
) -> None:
    parts = [runs[name] for name in ("spatial", "attribute", "shared")]
    out = export(tmp_path / "it", to, *parts)
    found = load("imagefolder", data_dir=str(out)) if to == "imagefolder" else load(str(out))
    assert set(found) == {"train", "validation"}
    for split in ("train", "val"):
        wanted = [sample for run in parts for sample in samples(run, split)]
        assert_same_pairs(found[HUB[split]], wanted, masks=True)
    if to == "imagefolder":
        assert json.loads(found["train"][0]["record"]) == json.loads(json.dumps(asdict(samples(parts[0])[0].record)))
    else:
        row, record = found["train"][0], samples(parts[0])[0].record
        assert row["objects_0"] == json.loads(json.dumps(asdict(record)))["objects_0"]
        assert row["fact"] == asdict(record.fact)
        assert row["scene_0"] == record.scene_0


@pytest.mark.parametrize("to", ["imagefolder", "hf"])
def test_photographs_without_a_second_image(to: str, runs: dict[str, Path], tmp_path: Path, load: Load) -> None:
    out = export(tmp_path / "it", to, runs["photos"])
    found = load("imagefolder", data_dir=str(out)) if to == "imagefolder" else load(str(out))
    assert {name: len(rows) for name, rows in found.items()} == {"train": 16, "validation": 2, "test": 2}
    assert ("image_1" in found["train"].column_names) == (to == "hf")
    for split in HUB:
        assert_same_pairs(found[HUB[split]], samples(runs["photos"], split), masks=False)


@pytest.mark.parametrize("to", ["imagefolder", "hf"])
def test_pairs_with_and_without_a_second_image_together(
    to: str, runs: dict[str, Path], tmp_path: Path, load: Load
) -> None:
    """The photographs come first here, and the test split has nothing else: types must hold all the same."""
    out = export(tmp_path / "it", to, runs["photos"], runs["spatial"])
    found = load("imagefolder", data_dir=str(out)) if to == "imagefolder" else load(str(out))
    for split in ("train", "val"):
        wanted = samples(runs["photos"], split) + samples(runs["spatial"], split)
        assert_same_pairs(found[HUB[split]], wanted, masks=False)
    left = {"one image only, in a split without twins": 2} if to == "imagefolder" else {}
    assert read_json(out / "export.json")["left_out"] == left


@pytest.mark.parametrize("to", ["imagefolder", "hf"])
def test_another_export_of_the_same_name_is_not_taken_for_it(
    to: str, runs: dict[str, Path], tmp_path: Path, load: Load
) -> None:
    """`datasets` caches a local folder by its last name and its card."""
    for run in ("spatial", "negation"):
        out = export(tmp_path / run / "it", to, runs[run])
        assert_same_pairs(load(str(out), split="train"), samples(runs[run], "train"), masks=True)


def test_pandas_and_pyarrow_read_plain_parquet(runs: dict[str, Path], tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    import pyarrow.parquet

    out = export(tmp_path / "it", "parquet", runs["attribute"], runs["photos"])
    wanted = samples(runs["attribute"], "train") + samples(runs["photos"], "train")
    table = pyarrow.parquet.read_table(out / "train-00000.parquet")
    assert table.schema.metadata is None
    rows = table.to_pylist()
    frame = pandas.read_parquet(out / "train-00000.parquet")
    for sample, row, image in zip(wanted, rows, frame["image_0"], strict=True):
        assert image == sample.image(0)
        assert row["image_1"] == sample.image(1)
        record = json.loads(json.dumps(asdict(sample.record)))
        assert {name: row[name] for name in row if name in record} == {
            name: record[name] for name in row if name in record
        }


def test_large_tables_are_cut_into_files_and_row_groups(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet

    from generator.export import table

    monkeypatch.setattr(table, "ROWS_PER_GROUP", 2)
    monkeypatch.setattr(table, "BYTES_PER_FILE", 1)
    out = export(tmp_path / "it", "parquet", runs["photos"], split="train")
    files = sorted(out.glob("*.parquet"))
    assert [path.name for path in files] == [f"train-{number:05d}.parquet" for number in range(8)]
    assert all(pyarrow.parquet.ParquetFile(path).num_row_groups == 1 for path in files)
    keys = [key for path in files for key in pyarrow.parquet.read_table(path)["key"].to_pylist()]
    assert keys == [sample.record.key for sample in samples(runs["photos"], "train")]
