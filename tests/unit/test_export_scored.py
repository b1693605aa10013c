"""Exports that the scorer's own loaders read back: rows, truths and pictures are those of the run."""

import json
from pathlib import Path
from typing import Any

import pytest
from export_runs import export, export_runs, samples

pytest.importorskip("torch")
pytest.importorskip("open_clip")

from scorer.benchmarks import BENCHMARKS
from scorer.benchmarks.base import Loaded
from scorer.cli import main

TASKS = ("spatial", "attribute", "negation", "shared")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return export_runs(tmp_path_factory)


def read_back(benchmark: str, root: Path) -> dict[str, Loaded]:
    """The rows of every part that is there."""
    parts = [part for part in BENCHMARKS[benchmark].parts if part.annotations.under(root).exists()]
    return {part.name: BENCHMARKS[benchmark].load(root, part) for part in parts}


def judged(benchmark: str, root: Path, tmp_path: Path) -> dict[str, Any]:
    """The report of the bundled test encoder, by part."""
    out = ["--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"), "--device", "cpu", "--resamples", "20"]
    assert main(["eval", "--clip", "tiny", "--benchmark", benchmark, "--root", str(root), *out]) == 0
    report = json.loads((tmp_path / f"out/{benchmark}.json").read_text())
    return {part["name"]: part for part in report["parts"] if part["found"]}


def truths(run: Path, split: str) -> tuple[int, dict[bytes, tuple[set[str], set[str]]]]:
    """How many pictures there are, and what is true and what is false of each."""
    count, found = 0, dict[bytes, tuple[set[str], set[str]]]()
    for sample in samples(run, split):
        captions = (set(sample.record.captions_0), set(sample.record.captions_1))
        for side in range(1 + sample.record.has_image_1):
            data = sample.image(side)
            assert data is not None
            count += 1
            for known, more in zip(
                found.setdefault(data, (set(), set())), (captions[side], captions[1 - side]), strict=True
            ):
                known |= more
    return count, found


@pytest.mark.parametrize("task", TASKS)
def test_winoground(task: str, runs: dict[str, Path], tmp_path: Path) -> None:
    root = export(tmp_path / "it", "winoground", runs[task], split="train") / "train"
    (loaded,) = read_back("winoground", root).values()
    found = samples(runs[task], "train")
    assert len(loaded.examples) == len(found) > 0
    for item, sample in zip(loaded.examples, found, strict=True):
        assert item.captions[0] in sample.record.captions_0
        assert item.captions[1] in sample.record.captions_1
        assert all(picture.path.is_file() for picture in item.images)
    part = judged("winoground", root, tmp_path)["winoground"]
    assert (part["scored"], part["missing_images"], part["unreadable_images"]) == (len(found), 0, 0)


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("spatial", {"replace_rel", "swap_obj"}),
        ("attribute", {"swap_att"}),
        ("negation", {"swap_obj"}),
        ("shared", {"replace_obj"}),
        ("photos", {"swap_att"}),
    ],
)
def test_sugarcrepe(task: str, parts: set[str], runs: dict[str, Path], tmp_path: Path) -> None:
    root = export(tmp_path / "it", "sugarcrepe", runs[task], split="train") / "train"
    count, known = truths(runs[task], "train")
    loaded = read_back("sugarcrepe", root)
    assert set(loaded) == parts
    for rows in loaded.values():
        assert len(rows.examples) == 2 * count
        for item in rows.examples:
            true, false = known[item.images[0].path.read_bytes()]
            assert item.captions[item.truth] in true
            assert set(item.captions[1:]) <= false
    report = judged("sugarcrepe", root, tmp_path)
    assert {name: part["scored"] for name, part in report.items()} == dict.fromkeys(parts, 2 * count)
    for part in report.values() if task != "photos" else ():
        # Every caption is as often true as false, so that one who never looks is at chance.
        blind = {item["metric"]: item["value"] for item in part["results"]["shorter caption"]}
        assert blind["accuracy_ties_shared"] == 0.5


def test_whatsup(runs: dict[str, Path], tmp_path: Path) -> None:
    root = export(tmp_path / "it", "whatsup", runs["spatial"], split="train") / "train"
    count, known = truths(runs["spatial"], "train")
    loaded = read_back("whatsup", root)
    rows = [item for found in loaded.values() for item in found.examples]
    assert len(rows) == count
    for item in rows:
        data = item.images[0].path.read_bytes()
        if data in known:  # PNG becomes JPEG
            assert item.captions[0] in known[data][0]
        assert item.label != "other"
    sides = loaded["controlled_images"]
    assert set(sides.together) == {"pair"}
    assert sorted(place for pair in sides.together["pair"] for place in pair) == list(range(len(sides.examples)))
    report = judged("whatsup", root, tmp_path)
    assert sum(part["scored"] for part in report.values()) == count
    assert sum(part["missing_images"] + part["unreadable_images"] for part in report.values()) == 0
