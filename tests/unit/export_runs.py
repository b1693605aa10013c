"""Runs to export: rendered ones by the fake renderer, masks included, one of photographs, and a merged one."""

import csv
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from preview_run import finished_run
from test_validate import render

from generator.card import write_card
from generator.cli import Export, Merge
from generator.export import run_export
from generator.merge import run_merge
from generator.records import Sample, find_shards, read_shard
from generator.shards import read_json
from tests.worlds import catalog_of

# Where all six pairs of the training split and both of the validation split are accepted.
PHOTO_LICENCES = (("Attribution License", "http://by"), ("Attribution-NonCommercial License", "http://by-nc"))


@cache
def _made(folder: Path) -> dict[str, Path]:
    found = {
        "spatial": render(folder / "spatial", "spatial"),
        "attribute": render(folder / "attribute", "attribute"),
        "negation": render(folder / "negation", "negation"),
        "shared": render(folder / "shared", "negation", "shared", seed=1),
        "photos": photos(folder / "photos"),
    }
    for name in ("spatial", "attribute", "negation", "shared"):
        write_card(found[name], read_json(found[name] / "run.json"), catalog_of())
    run_merge(Merge((found["spatial"], found["photos"]), folder / "merged"))
    return found | {"merged": folder / "merged"}


def export_runs(factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The runs by name, made once in a test run; never to be changed."""
    return _made(factory.getbasetemp() / "export-runs")


def photos(out: Path) -> Path:
    """Photographs without a second image, and who took them."""
    finished_run(out, pairs=20, rejected=0, masks=False, second_image=False, photographs=True)
    run = read_json(out / "run.json") | {"fingerprint": "photos", "sources": {}}
    run["versions"]["schema"] = 1
    (out / "run.json").write_text(json.dumps(run))
    with (out / "photo_credits.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("image_id", "file_name", "flickr_url", "license", "license_url"))
        for index in range(20):
            number = 1000 + index
            writer.writerow((number, f"{number:012d}.jpg", f"http://flickr/{number}", *PHOTO_LICENCES[index % 2]))
    return out


def samples(run: Path, split: str | None = None) -> list[Sample]:
    """The pairs of a run, as the project's own reader gives them."""
    return [sample for path in find_shards([run], split) for sample in read_shard(path)]


def export(out: Path, to: Any, *runs: Path, **more: Any) -> Path:
    """Write the export; its folder."""
    assert run_export(Export(dirs=runs, to=to, out=out, **more)) == 0
    return out


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON-lines file."""
    yield from map(json.loads, path.read_text(encoding="ascii").splitlines())


Exported = Callable[..., Path]
