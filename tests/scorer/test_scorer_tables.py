"""The tables of the paper from small real runs: layout, figures, n/a, resuming, the scaling figure."""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from scorer import checkpoint
from scorer.benchmarks import saved
from scorer.benchmarks.judges import Shorter
from scorer.benchmarks.runs import RunJudge
from scorer.cli import main
from scorer.configs import ModelConfig, TablesConfig, TrainConfig
from scorer.features import Clip
from scorer.runlog import METRICS
from scorer.tables.cells import figure_of, needed
from scorer.tables.layout import layouts
from scorer.tables.rows import Row, in_order, kind_of
from scorer.tables.verb import make_tables
from scorer.train import train

# What stands over the columns of the paper, in its order.
PAPER = {
    "table-2": [
        "Attribute Binding: CLEVR-bind",
        "Attribute Binding: NCD",
        "Attribute Binding: VG attr",
        "Spatial Reasoning: WhatsUp",
        "Spatial Reasoning: COCO 1&2 obj",
        "Spatial Reasoning: VG 1&2 obj",
        "Negation: NegBench COCO",
        "Negation: NegBench VOC",
    ],
    "table-3": ["VLC vg spatial", "SC swap obj"],
    "table-4": ["WhatsUp", "COCO 2 obj"],
    "table-5": ["Caltech101", "Flowers102"],
}
RELATIONS = {"controlled_images": ("left_of", "right_of", "on", "under"), "controlled_clevr": ("left_of", "right_of")}


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What'sUp A whole, What'sUp B with one photograph missing, SugarCrepe's swap_obj without any."""
    folder = tmp_path_factory.mktemp("benchmarks")
    data = folder / "whatsup/data"
    for name, relations in RELATIONS.items():
        (data / name).mkdir(parents=True)
        rows = []
        for number, thing in enumerate(("mug", "cap", "pan", "toy")):
            for relation in relations:
                file = f"{thing}_{relation}_table.jpeg"
                options = [
                    f"A {thing} {word.replace('_', ' ')} a table" for word in ("left_of", "right_of", "on", "under")
                ]
                first = options.pop(relations.index(relation))
                rows.append({"image_path": f"data/{name}/{file}", "caption_options": [first, *options]})
                colour = (50 * number, 30 * len(rows) % 256, 200 - 40 * number)
                if name == "controlled_images" or len(rows) > 1:
                    Image.new("RGB", (40, 40), colour).save(data / name / file)
        (data / f"{name}_dataset.json").write_text(json.dumps(rows))
    (folder / "sugarcrepe/data").mkdir(parents=True)
    row = {"filename": "gone.jpg", "caption": "a dog", "negative_caption": "a cat"}
    (folder / "sugarcrepe/data/swap_obj.json").write_text(json.dumps({"0": row}))
    return folder


def tables_config(root: Path, out: Path, *runs: str, **changes: Any) -> TablesConfig:
    config = TablesConfig(root, runs, out, cache=out / "cache", device="cpu", resamples=50)
    return replace(config, **changes)


def headings(markdown: str) -> dict[str, list[str]]:
    """Column headings by table, out of the Markdown."""
    blocks = re.split(r"^## .*\((Table \d)\)$", markdown, flags=re.MULTILINE)[1:]
    found = {}
    for name, text in zip(blocks[::2], blocks[1::2], strict=True):
        line = next(line for line in text.splitlines() if line.startswith("| Model"))
        found[name.lower().replace(" ", "-")] = [cell.strip() for cell in line.strip("|").split("|")][1:]
    return found


def test_columns_stand_as_in_the_paper(run: Path, root: Path, tmp_path: Path) -> None:
    make_tables(tables_config(root, tmp_path, str(run), published=True), lambda _: None)
    assert headings((tmp_path / "tables.md").read_text()) == PAPER
    tex = (tmp_path / "table-2.tex").read_text()
    groups = [(int(n), name) for n, name in re.findall(r"\\multicolumn\{(\d)\}\{c\}\{([^}]*)\}", tex)]
    assert groups == [(3, "Attribute Binding"), (3, "Spatial Reasoning"), (2, "Negation")]
    assert tex.index(r"\toprule") < tex.index(r"\midrule") < tex.index("Random Chance") < tex.index(r"\bottomrule")
    for line in tex.splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            assert len(re.split(r"(?<!\\)&", line)) == 9, line


def test_published_figures_are_the_paper_s(shared: Callable[[str], Path]) -> None:
    """Every row of numbers in the paper's text that has as many as a table's columns, in the same order."""
    (paper,) = shared("seeds").glob("000_*.txt")
    known = re.findall(r"^[^\t\n]+((?:\t\d+\.\d)+)$", paper.read_text(), flags=re.MULTILINE)
    found = [tuple(float(value) for value in row.split()) for row in known]
    ours = [values for table in layouts().values() for values in table.published.values()]
    assert found == ours


def test_every_column_is_a_part_of_a_benchmark_that_there_is() -> None:
    for table in layouts().values():
        parts = {(item.name, part.name) for item in needed([table]) for part in item.parts}
        assert parts == {(column.benchmark, part) for column in table.columns for part in column.parts}


def test_rows_stand_as_in_the_paper() -> None:
    kinds = ["pooled-mlp", "clip", "dcsm-vit", "cosine", "dcsm-cnn-no-rows", "projections", "dcsm-cnn"]
    rows = [Row(kind, kind, "tiny", Shorter()) for kind in kinds]
    paper = ["dcsm-cnn", "dcsm-cnn-no-rows", "dcsm-vit", "clip", "projections", "pooled-mlp", "cosine"]
    assert [row.kind for row in in_order(rows, layouts()["table-4"])] == paper
    assert in_order(rows, layouts()["table-2"])[0].kind == "clip"


def test_a_run_s_kind(run: Path) -> None:
    meta, _ = checkpoint.read(run / checkpoint.BEST)
    assert kind_of(meta) == "dcsm-cnn"
    assert kind_of(replace(meta, model=replace(meta.model, placement="none"))) == "dcsm-cnn-no-rows"
    assert kind_of(replace(meta, model=replace(meta.model, simplify="rules"))) == "dcsm-open"
    assert kind_of(replace(meta, model=replace(meta.model, model="pooled-mlp"))) == "pooled-mlp"


def test_figures_are_those_of_the_scores(run: Path, root: Path, tmp_path: Path) -> None:
    """The mean of A and B, from the saved scores: the truth is option 0, and must be strictly highest."""
    (table, *_) = make_tables(tables_config(root, tmp_path, f"Mine={run}", published=True), lambda _: None)
    (judge,) = [row.judge for row in table.rows if row.title == "Mine"]
    records = json.loads((tmp_path / "tables.json").read_text())
    mine = {(item["table"], item["column"]): item for item in records if item["row"] == "Mine"}
    item = mine["table-2", "WhatsUp"]
    shares = []
    (whatsup,) = [item for item in needed([layouts()["table-4"]]) if item.name == "whatsup"]
    for part in whatsup.parts[:2]:
        scores = np.load(saved.place(tmp_path / "scores/whatsup", part, judge))["raw.scores"][:, 0]
        scores = scores[~np.isnan(scores).any(axis=1)]
        shares.append((scores[:, :1] > scores[:, 1:]).all(axis=1).mean())
    assert item["value"] == pytest.approx(np.mean(shares))
    assert (item["count"], item["chance"]) == (16 + 7, 0.25)
    assert item["low"] <= item["value"] <= item["high"]
    assert any("7 of 8 rows of controlled_clevr" in note for note in item["notes"])
    assert mine["table-4", "WhatsUp"]["value"] == item["value"]
    with (tmp_path / "tables.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(records)
    assert [row["value"] for row in rows if row["row"] == "Mine" and row["column"] == "WhatsUp"] == [
        str(item["value"])
    ] * 2


def test_what_is_not_there_is_na_with_its_reason(run: Path, root: Path, tmp_path: Path) -> None:
    said: list[str] = []
    make_tables(tables_config(root, tmp_path, str(run)), said.append)
    reasons = {
        item["column"]: item["reason"] for item in json.loads((tmp_path / "tables.json").read_text()) if item["reason"]
    }
    assert "WhatsUp" not in reasons
    assert "no annotations" in reasons["CLEVR-bind"]
    assert "coco_one: no annotations; expected" in reasons["COCO 1&2 obj"]
    assert "none of its 1 images" in reasons["SC swap obj"]
    text = (tmp_path / "tables.md").read_text()
    assert all(reason in text for reason in reasons.values())
    assert "| n/a |" in text
    assert any("NegBench: no annotations under" in line for line in said)


def test_every_picture_and_caption_passes_the_towers_once(
    config: TrainConfig, run: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs and plain CLIP share one pass; a second command makes none, and scores nothing."""
    other = tmp_path / "other"
    train(replace(config, out=other, epochs=1, seed=5))
    passed = {"images": 0, "texts": 0, "scores": 0}
    image_tokens, text_tokens, scores = Clip.image_tokens, Clip.text_tokens, RunJudge.scores

    def counted_images(self: Clip, images: torch.Tensor) -> torch.Tensor:
        passed["images"] += len(images)
        return image_tokens(self, images)

    def counted_texts(self: Clip, ids: torch.Tensor) -> torch.Tensor:
        passed["texts"] += len(ids)
        return text_tokens(self, ids)

    def counted_scores(self: RunJudge, blocks: Any) -> Any:
        passed["scores"] += 1
        return scores(self, blocks)

    monkeypatch.setattr(Clip, "image_tokens", counted_images)
    monkeypatch.setattr(Clip, "text_tokens", counted_texts)
    monkeypatch.setattr(RunJudge, "scores", counted_scores)
    asked = tables_config(root, tmp_path / "out", str(run), str(other), table=("table-4",))
    make_tables(asked, lambda _: None)
    captions = {
        text
        for path in (root / "whatsup/data").glob("*.json")
        for row in json.loads(path.read_text())
        for text in row["caption_options"]
    }
    pictures = {path.read_bytes() for path in (root / "whatsup/data").rglob("*.jpeg")}
    assert (passed["images"], passed["texts"]) == (len(pictures), len(captions))
    assert passed["scores"] > 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("tables.*")}
    passed.update(images=0, texts=0, scores=0)
    make_tables(asked, lambda _: None)
    assert passed == {"images": 0, "texts": 0, "scores": 0}
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").glob("tables.*")} == before


def test_a_stopped_command_goes_on(run: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was scored before the stop is not scored again, and the tables are those of a command never stopped."""
    whole = make_tables(tables_config(root, tmp_path / "whole", str(run), table=("table-4",)), lambda _: None)
    scores = RunJudge.scores
    blocks: list[int] = []

    def stops(self: RunJudge, some: Any) -> Any:
        blocks.append(len(some))
        if len(blocks) == 2:
            raise KeyboardInterrupt
        return scores(self, some)

    asked = tables_config(root, tmp_path / "out", str(run), table=("table-4",))
    monkeypatch.setattr(RunJudge, "scores", stops)
    with pytest.raises(KeyboardInterrupt):
        make_tables(asked, lambda _: None)
    again = make_tables(asked, lambda _: None)
    assert len(blocks) == 3
    assert {key: item.results for key, item in again[0].figures.items()} == {
        key: item.results for key, item in whole[0].figures.items()
    }


@pytest.mark.parametrize("scale", ["pairs", "nouns", "parameters"])
def test_scaling_goes_by_what_runs_say(
    config: TrainConfig, root: Path, tmp_path: Path, scale: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    runs = []
    for number, hidden in ((1, 4), (5, 8)):
        out = tmp_path_factory.getbasetemp() / f"scaling-{number}"
        train(replace(config, out=out, epochs=1, max_pairs=number, model=ModelConfig(text_tokens=16, hidden=hidden)))
        runs.append(str(out))
        kinds = [json.loads(line)["kind"] for line in (out / METRICS).read_text().splitlines()]
        assert kinds.count("data") == 1, "a run that goes on says it once"
    said: list[str] = []
    make_tables(tables_config(root, tmp_path, *runs, scale=scale, table=("table-2",)), said.append)
    bests = [checkpoint.load(Path(out) / checkpoint.BEST, torch.device("cpu")) for out in runs]
    wanted = {
        "pairs": [3 * 1, 3 * 5],
        "nouns": [len(meta.seen_nouns) for _, meta in bests],
        "parameters": [sum(value.numel() for value in scorer.parameters()) for scorer, _ in bests],
    }[scale]
    if wanted[0] == wanted[1]:
        assert scale == "nouns"
        assert said[-1].startswith("no scaling figure: it needs runs of two sizes (categories")
        return
    with (tmp_path / "scaling.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["column"] for row in rows} == {"WhatsUp"}
    assert [int(row[scale]) for row in rows] == wanted
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in rows)
    assert Image.open(tmp_path / "scaling.png").width > 500
    assert "<svg" in (tmp_path / "scaling.svg").read_text()
    assert said[-1].startswith("scaling over ")


def test_a_run_without_a_usable_log_is_left_out_of_the_scaling(
    config: TrainConfig, run: Path, root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    train(replace(config, out=other, epochs=1, seed=6))
    (other / METRICS).write_text("{")
    said: list[str] = []
    make_tables(tables_config(root, tmp_path, str(run), f"Other={other}", table=("table-4",)), said.append)
    assert said[-1].endswith("without Other, which do not say their number of pairs")


def test_runs_of_one_size_make_no_figure(run: Path, root: Path, tmp_path: Path) -> None:
    said: list[str] = []
    make_tables(tables_config(root, tmp_path, str(run), table=("table-4",)), said.append)
    assert said[-1].startswith("no scaling figure: it needs runs of two sizes")
    assert not list(tmp_path.glob("scaling.*"))


def test_best_is_bold_and_ties_are_all(run: Path, root: Path, tmp_path: Path) -> None:
    (table,) = make_tables(tables_config(root, tmp_path, str(run), table=("table-4",)), lambda _: None)
    column = table.layout.columns[0]
    values = {row.title: result.value for row in table.rows if (result := table.result(row, column))}
    assert table.best(column) == {title for title, value in values.items() if value == max(values.values())}
    assert len(re.findall(r"\*\*", (tmp_path / "tables.md").read_text())) == 2 * len(table.best(column))


def test_a_reason_stands_for_a_column_without_a_report() -> None:
    column = layouts()["table-5"].columns[0]
    found = figure_of(column, "SciPy is not installed")
    assert (found.results, found.count, found.reason) == ({}, 0, "SciPy is not installed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--root", "ROOT"], "give runs to judge, or --clip NAME"),
        (["RUN", "--root", "gone"], "--root: .*gone"),
        (["RUN", "--root", "ROOT", "--table", "table-1"], "--table: unknown table 'table-1'.*table-2, table-3"),
        (["RUN", "--root", "."], "nothing for these tables is found there"),
        (["RUN", "RUN", "--root", "ROOT"], "two rows are called"),
        (["none", "--root", "ROOT"], "none"),
        (["RUN", "--root", "ROOT", "--resamples", "-1"], "--resamples -1"),
        (
            ["--clip", "tiny", "--clip", "tiny", "--clip", "tiny", *["--pretrained", "x"] * 2, "--root", "ROOT"],
            "--pretrained is given 2 times and --clip 3",
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_the_mend(
    arguments: list[str],
    message: str,
    run: Path,
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    said = {"RUN": str(run), "ROOT": str(root)}
    assert main(["tables", *(said.get(item, item) for item in arguments), "--device", "cpu"]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error), error
