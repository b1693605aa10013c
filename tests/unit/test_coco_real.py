"""Every split from real COCO photos, where they lie beside the repository (TWINSCENE_SHARED or ../shared)."""

import os
from pathlib import Path

import pytest
from coco_files import MODEL, needs_model

from generator.coco.commands import CocoAttribute, CocoNegation, CocoRun, CocoSpatial, CocoSwapNoun, run_coco
from generator.coco.spatial import check
from generator.records import find_shards, read_shard

COCO = Path(os.environ.get("TWINSCENE_SHARED") or Path(__file__).parents[3] / "shared") / "coco"

pytestmark = pytest.mark.skipif(
    not (COCO / "annotations").is_dir(), reason=f"no real COCO files at {COCO} (set TWINSCENE_SHARED)"
)


def build(kind: type[CocoRun], out: Path, **more: object) -> list[object]:
    annotations = COCO / "annotations"
    values = {
        "captions": annotations / "captions_mini.json",
        "instances": annotations / "instances_mini.json",
        "images": COCO / "images",
        "out": out,
        "n": 1000,
        "workers": 1,
        **more,
    }
    assert run_coco(kind(**values)) == 0
    return [sample.record for shard in find_shards([out]) for sample in read_shard(shard)]


@pytest.mark.parametrize("paste", ["box", "mask"])
def test_spatial(tmp_path: Path, paste: str) -> None:
    records = build(CocoSpatial, tmp_path / "out", max_per_photo=0, paste=paste)
    assert len(records) >= 10
    assert [check(record) for record in records] == [""] * len(records)


def test_negation(tmp_path: Path) -> None:
    assert len(build(CocoNegation, tmp_path / "out")) >= 25


def test_swap_noun(tmp_path: Path) -> None:
    needs_model()
    assert len(build(CocoSwapNoun, tmp_path / "out", model=MODEL)) >= 30


@pytest.mark.slow
def test_attribute(tmp_path: Path) -> None:
    needs_model()
    statistics = COCO / "annotations" / "captions_val2017.json"
    assert len(build(CocoAttribute, tmp_path / "out", model=MODEL, statistics=statistics)) >= 2
