"""Objaverse from a loopback server to a dataset: fetched over a bad network, rendered with none, credited in full."""

import csv
import hashlib
import json
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from generator.__main__ import main
from generator.assets.bundled import LIBRARY
from tests.objaverse_server import Item, layout, serve

pytestmark = [pytest.mark.blender, pytest.mark.slow]

NOUNS = {noun: noun for noun in ("apple", "banana", "mug", "guitar", "telephone")} | {"bus": "bus_(vehicle)"}


def item(noun: str) -> Item:
    content = (LIBRARY / f"{noun}.glb").read_bytes()
    return Item(hashlib.md5(noun.encode()).hexdigest(), NOUNS[noun], content, author=f"Maker of {noun}s")


def test_from_the_server_to_the_credits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [item(noun) for noun in NOUNS]
    items += [Item("0" * 32, "violin", b"<!DOCTYPE html>"), Item("1" * 32, "cat", items[0].content, licence="by-nc")]
    out = tmp_path / "run"
    monkeypatch.setenv("TWINSCENE_OBJAVERSE", str(tmp_path / "objaverse"))
    with serve(layout(items)) as site:
        monkeypatch.setenv("HF_ENDPOINT", site.url)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        site.faults[items[0].path] = [429, "cut"]
        site.faults[items[1].path] = [500]
        wanted = ["--categories", ",".join([*NOUNS, "violin", "cat"])]
        assert main(["assets", "fetch", *wanted]) == 1, "the violin is a web page"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    flags = ["--n", "6", "--size", "96", "--samples-per-pixel", "1", "--workers", "1", "--out", str(out)]
    assert main(["render", "--task", "spatial", "--assets", "objaverse", *flags]) == 0

    shown: Counter[str] = Counter()
    for path in out.glob("*/*.json"):
        assert json.loads(path.read_text())["planned"] > 0
    for path in out.glob("*/*.tar"):
        with tarfile.open(path) as shard:
            for member in shard.getmembers():
                if member.name.endswith(".json"):
                    file = shard.extractfile(member)
                    assert file is not None
                    record = json.load(file)
                    shown.update({thing["uid"] for side in ("objects_0", "objects_1") for thing in record[side]})
    with (out / "credits.csv").open(newline="") as file:
        credits = {row["uid"]: row for row in csv.DictReader(file)}
    assert {uid: int(row["pairs"]) for uid, row in credits.items()} == shown
    assert len(shown) >= 2
    for row in credits.values():
        assert row["author"] == f"Maker of {row['noun']}s"
        assert row["licence"] == "CC-BY-4.0"
        assert row["url"] == f"https://sketchfab.com/3d-models/{row['uid']}"
