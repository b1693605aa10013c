"""The dataset card: metadata that the Hub reads, figures that are true, snippets that run, credits that are exact."""

import csv
import dataclasses
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tyro
import yaml
from preview_run import NOUNS, catalog_of, finished_run, read_run_json

from generator.assets.catalog import Catalog
from generator.card import render_command, write_card
from generator.cli import Render
from generator.errors import OutputError
from generator.records import find_shards, read_shard


def make(out: Path, licences: dict[str, str] | None = None, **options: Any) -> str:
    run = finished_run(out, **options)
    return write_card(run, read_run_json(run), catalog_of(licences or {})).read_text(encoding="utf-8")


def metadata(card: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(card.split("---\n")[1])
    return data


def snippets(card: str) -> dict[str, str]:
    found = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    names = ("webdataset", "datasets", "tarfile")
    return dict(zip(names, found, strict=True))


def test_metadata_is_what_the_hub_reads(tmp_path: Path) -> None:
    card = make(tmp_path / 'twins: "quoted"')
    data = metadata(card)
    assert data["pretty_name"] == 'twins: "quoted"'
    assert data["license"] == ["cc0-1.0"]
    assert data["size_categories"] == ["n<1K"]
    assert data["configs"] == [
        {
            "config_name": "default",
            "data_files": [
                {"split": "train", "path": "train/*.tar"},
                {"split": "validation", "path": "val/*.tar"},
                {"split": "test", "path": "test/*.tar"},
            ],
        }
    ]


def test_the_hub_client_parses_the_card(tmp_path: Path) -> None:
    from huggingface_hub import DatasetCard

    make(tmp_path / "run")
    card = DatasetCard.load(tmp_path / "run" / "README.md")
    assert card.data.license == ["cc0-1.0"]
    assert "hard-negatives" in (card.data.tags or [])


def test_counts_are_those_of_the_shards(tmp_path: Path) -> None:
    card = make(tmp_path / "run", pairs=40, rejected=4)
    assert card.count("\n# ") == 1
    assert "36 twin scenes" in card
    samples = [sample for path in find_shards([tmp_path / "run"]) for sample in read_shard(path)]
    for split in ("train", "val", "test"):
        accepted = sum(sample.record.split == split for sample in samples)
        planned, stated = re.findall(rf"\| {split} \| attribute \| (\d+) \| (\d+) \|", card)[0]
        assert int(stated) == accepted
        assert int(planned) >= accepted
    assert "| too_small | 2 |" in card
    assert "| occluded | 2 |" in card


@pytest.mark.parametrize("name", ["webdataset", "datasets", "tarfile"])
@pytest.mark.parametrize("options", [{}, {"image_format": "png", "masks": False, "second_image": False}])
def test_loading_snippets_run(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    if name != "tarfile":
        pytest.importorskip(name)
    card = make(tmp_path / "run", **options)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    command = [sys.executable, "-c", snippets(card)[name]]
    done = subprocess.run(command, cwd=tmp_path / "run", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "attribute-000000000 (96, 96)" in done.stdout
    assert "a red mug and a green fire truck" in done.stdout


def test_the_folder_itself_loads_with_all_splits(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    make(tmp_path / "run", masks=False)
    loaded = datasets.load_dataset(str(tmp_path / "run"), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"train", "validation", "test"}
    assert loaded["train"][0]["json"]["captions_0"][0] == "a red mug and a green fire truck"


def test_credits_name_exactly_the_assets_shown(tmp_path: Path) -> None:
    card = make(tmp_path / "run", {"owl": "CC-BY-4.0 (some set)", "tent": "Custom licence"}, pairs=2, rejected=1)
    assert metadata(card)["license"] == ["cc0-1.0"], "only the mug and the truck of pair 0 are shown"
    with (tmp_path / "run" / "credits.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["uid"], row["pairs"]) for row in rows] == [("bundled/fire truck", "1"), ("bundled/mug", "1")]
    assert "owl" not in card.split("## Licences and credits")[1]


def test_licences_of_all_kinds(tmp_path: Path) -> None:
    card = make(tmp_path / "run", {"owl": "CC-BY-4.0 (some set)", "tent": "Custom licence", "bell": ""})
    data = metadata(card)
    assert data["license"] == ["cc-by-4.0", "cc0-1.0", "other"]
    assert data["license_link"] == "credits.csv"
    section = card.split("## Licences and credits")[1]
    for stated in ("CC0-1.0 (3)", "CC-BY-4.0 (some set) (1)", "Custom licence (1)", "unknown (1)"):
        assert stated in section
    for noun in NOUNS:
        assert f"{noun} maker" in section
    assert "unused thing" not in section
    row = next(line for line in section.splitlines() if line.startswith("| owl "))
    assert len(re.findall(r"(?<!\\)\|", row)) == 6, "a bar in a title must not open a cell"
    assert "&lt;someone>" in row


def test_photographs_keep_their_own_licences(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", photographs=True)
    card = write_card(run, read_run_json(run), Catalog((), ())).read_text(encoding="utf-8")
    assert metadata(card)["license_link"] == "photo_credits.csv"
    assert "synthetic" not in metadata(card)["tags"]
    assert "synthetic" in metadata(make(tmp_path / "rendered"))["tags"]
    assert "36 photographs" in card
    assert "does not know their licences" in card
    assert "checked against the rendered" not in card


def test_given_photographs_behind_free_models_are_not_free(tmp_path: Path) -> None:
    card = make(tmp_path / "run", photographs=True)
    assert metadata(card)["license"] == ["cc0-1.0", "other"]


def test_a_run_without_accepted_pairs(tmp_path: Path) -> None:
    card = make(tmp_path / "run", pairs=3, rejected=3)
    assert "configs" not in metadata(card)
    assert "No pair was accepted yet" in card


def test_unwritable_folder(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", pairs=2, rejected=0)
    (run / ".credits.csv.tmp").mkdir()
    with pytest.raises(OutputError, match="cannot write"):
        write_card(run, read_run_json(run), Catalog((), ()))


def changed(**values: Any) -> Callable[[], Render]:
    return lambda: dataclasses.replace(Render(task="attribute", n=5), **values)


@pytest.mark.parametrize(
    "config",
    [
        changed(),
        changed(seed=9, masks=True, split_by="noun", image_format="webp"),
        changed(assets="my models/a b", samples_per_pixel=3, colours="red,blue", task="negation", negation="shared"),
    ],
)
def test_the_command_gives_the_same_configuration(config: Callable[[], Render]) -> None:
    resolved = config().resolved()
    words = shlex.split(render_command(dataclasses.asdict(resolved)))
    assert words[:4] == ["python", "-m", "generator", "render"]
    assert tyro.cli(Render, args=words[4:]).resolved() == resolved


def test_no_command_for_other_configurations() -> None:
    assert render_command({"annotations": "instances.json"}) == ""
