"""Checkpoints in safetensors: tensors and JSON, so that opening a stranger's file runs no code.

The towers are not in it, only their names and fingerprint.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from generator.records import build
from scorer.configs import ModelConfig
from scorer.errors import CheckpointError, UserError, missing
from scorer.features import TowerShape
from scorer.functional import Lexicon, row_table
from scorer.models import Scorer, build_model

FORMAT = 1
BEST, LAST, CONTROL = "best.safetensors", "last.safetensors", "control.safetensors"
_KEY = "twinscene"


@dataclass(frozen=True, slots=True)
class Meta:
    """All that a checkpoint says besides its tensors.

    config: the whole TrainConfig as JSON text. seen_nouns: nouns of the training pairs. epoch, step: done so far; step
    counts within the epoch that is under way. best_epoch is -1 before the first validation.
    sums: running sums of the epoch under way, by name.
    """

    format: int
    clip: str
    pretrained: str
    clip_fingerprint: str
    logit_scale: float
    shape: TowerShape
    model: ModelConfig
    lexicon: Lexicon
    seed: int
    config: str
    data_fingerprint: str
    seen_nouns: tuple[str, ...]
    epoch: int
    step: int
    best_epoch: int
    best_accuracy: float
    sums: tuple[tuple[str, float], ...]


def save(path: Path, scorer: Scorer, meta: Meta, optimizer: torch.optim.Optimizer | None = None) -> None:
    """Write a checkpoint, whole or not at all. With an optimizer it can be resumed from."""
    tensors = {f"model.{name}": value for name, value in scorer.state_dict().items()}
    if optimizer is not None:
        for number, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(tensors, str(temporary), metadata={_KEY: json.dumps(asdict(meta))})
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def read(path: Path) -> tuple[Meta, dict[str, Tensor]]:
    """A checkpoint's meta and tensors (on the CPU). CheckpointError says what is wrong with the file."""
    if not path.exists():
        raise CheckpointError(missing(path, "checkpoint"))
    try:
        with safe_open(str(path), framework="pt") as file:
            raw: Any = (file.metadata() or {}).get(_KEY)
            tensors = {name: file.get_tensor(name) for name in list(file.keys())}
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path}: not a readable safetensors file ({error})") from error
    try:
        data = json.loads(raw) if raw else None
        if not isinstance(data, dict):
            raise ValueError("it was not written by this program")
        if data.get("format") != FORMAT:
            raise ValueError(f"format {data.get('format')!r}, this program reads {FORMAT}")
        meta: Meta = build(Meta, data, "meta")
    except (ValueError, UserError) as error:
        raise CheckpointError(f"{path}: not a checkpoint of the scorer ({error})") from error
    return meta, tensors


def checkpoint_path(run: Path) -> Path:
    """RUN/best.safetensors, or `run` itself when it is a file. CheckpointError when there is none."""
    path = run / BEST if run.is_dir() else run
    if not path.exists():
        if run.is_dir():
            raise CheckpointError(f"{run}: not the run of a scorer (no {BEST})")
        raise CheckpointError(missing(run, "run or checkpoint"))
    return path


def load(path: Path, device: torch.device) -> tuple[Scorer, Meta]:
    """A scorer ready to score. CheckpointError when its tensors do not fit its config."""
    meta, tensors = read(path)
    table = torch.empty(len(meta.lexicon.rows), meta.shape.image_tokens)
    scorer = build_model(meta.model, meta.shape, table, 1.0)
    restore(scorer, tensors, path)
    return scorer.to(device).eval(), meta


def restore(scorer: Scorer, tensors: dict[str, Tensor], path: Path) -> None:
    """Load a checkpoint's weights and functional rows into a scorer of the same config."""
    state = {name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")}
    try:
        scorer.load_state_dict(state)
    except RuntimeError as error:
        raise CheckpointError(
            f"{path}: tensors do not fit the config ({' '.join(str(error).split())[:300]})"
        ) from error
    bad = [name for name, value in state.items() if not bool(torch.isfinite(value).all())]
    if bad:
        raise CheckpointError(f"{path}: tensors that are not numbers: {', '.join(bad)}")


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Load the optimizer state that `save` wrote."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, number, key = name.split(".")
            state.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def extend_rows(scorer: Scorer, meta: Meta, words: list[str]) -> Lexicon:
    """Give a loaded scorer rows for new functional words; rows that it has keep their place and values."""
    lexicon = meta.lexicon.extended(words)
    fresh = Lexicon(lexicon.rows[len(meta.lexicon.rows) :])
    if fresh.rows:
        table = row_table(fresh, meta.shape.image_tokens, meta.model.rows, meta.model.row_std, meta.seed)
        scorer.table = torch.cat([scorer.table, table.to(scorer.table)])
    return lexicon
