"""Who is judged: plain CLIPs and trained runs, each a row of the tables."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scorer import checkpoint
from scorer.benchmarks.judges import Judge
from scorer.benchmarks.runs import CosineJudge, RunJudge
from scorer.benchmarks.towers import TowerPool
from scorer.checkpoint import Meta
from scorer.configs import TablesConfig
from scorer.errors import ConfigError
from scorer.features import label
from scorer.runlog import METRICS
from scorer.tables.layout import Layout

# What the paper calls each; "clip" is plain CLIP, without a run.
KINDS = {
    "dcsm-cnn": "DCSM (CNN)",
    "dcsm-cnn-no-rows": "DCSM (CNN) w/o FR",
    "dcsm-open": "DCSM open vocab",
    "dcsm-vit": "DCSM (ViT)",
    "dcsm-vit-no-rows": "DCSM (ViT) w/o FR",
    "projections": "CLIP f.t.",
    "pooled-mlp": "CLIP MLP scorer",
    "cosine": "CLIP",
}


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is: training pairs, their distinct nouns, trained parameters.

    pairs is None where the run's log is not there.
    """

    pairs: int | None
    nouns: int
    parameters: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its title, its kind (of KINDS, or "clip"), the towers' name, who judges, and the size of a run."""

    title: str
    kind: str
    towers: str
    judge: Judge
    size: Size | None = None


def rows_of(config: TablesConfig, pool: TowerPool) -> list[Row]:
    """Plain CLIPs first (those asked for, then those of the runs' towers), then runs in the order given.

    Raises ConfigError for options that do not fit together, CheckpointError and TowerError for unusable runs.
    """
    towers = dict.fromkeys(_plain_clips(config))
    runs = []
    for text in config.runs:
        title, run = _named(text)
        path = checkpoint.checkpoint_path(run)
        meta, tensors = checkpoint.read(path)
        towers[meta.clip, meta.pretrained] = None
        kind = kind_of(meta)
        judge = RunJudge(str(run), path, pool, config.llm)
        clip = label(meta.clip, meta.pretrained)
        parameters = sum(
            value.numel() for name, value in tensors.items() if name not in ("model.table", "model.clip_scale")
        )
        size = Size(_pairs(path.parent), len(meta.seen_nouns), parameters)
        runs.append(Row(title or f"{KINDS[kind]} {run.name}", kind, clip, judge, size))
    plain = {label(*names): names for names in towers}
    rows = [Row(f"CLIP {name}", "clip", name, CosineJudge(pool.of(*names))) for name, names in plain.items()]
    rows += runs
    titles = [row.title for row in rows]
    if len(set(titles)) != len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise ConfigError(f"two rows are called {twice!r}; name them: NAME=RUN")
    return rows


def in_order(rows: Sequence[Row], layout: Layout) -> list[Row]:
    """The rows as the paper's table has them: by the kinds of its order, all others below as they came."""
    place = {kind: number for number, kind in enumerate(layout.order)}
    return sorted(rows, key=lambda row: place.get(row.kind, len(place)))


def kind_of(meta: Meta) -> str:
    """What a run is in the words of KINDS."""
    model = meta.model
    config: dict[str, Any] = json.loads(meta.config)
    if model.model.startswith("dcsm-") and model.placement == "none":
        return f"{model.model}-no-rows"
    if model.model == "dcsm-cnn" and (config.get("words") or model.simplify != "none"):
        return "dcsm-open"
    return model.model


def _plain_clips(config: TablesConfig) -> list[tuple[str, str]]:
    names, weights = config.clip, config.pretrained or ("openai",)
    if not names and not config.runs:
        raise ConfigError("give runs to judge, or --clip NAME for plain CLIP")
    if len(weights) not in (1, len(names)):
        raise ConfigError(f"--pretrained is given {len(weights)} times and --clip {len(names)}: once, or once for each")
    return list(zip(names, weights if len(weights) == len(names) else weights * len(names), strict=True))


def _named(text: str) -> tuple[str, Path]:
    """NAME=RUN -> title and run; a path that exists is never read as a name."""
    title, equals, run = text.partition("=")
    return (title.strip(), Path(run)) if equals and not Path(text).exists() else ("", Path(text))


def _pairs(folder: Path) -> int | None:
    """How many pairs a run trains on, by its log; None where the log is not there, damaged, or does not say."""
    try:
        entries = [json.loads(line) for line in (folder / METRICS).read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return None
    known = [entry for entry in entries if entry["kind"] == "data"]
    return sum(int(n) for name, n in known[-1].items() if name.startswith("pairs/")) if known else None
