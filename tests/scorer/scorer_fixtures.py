"""Fixtures of the scorer's tests: a small untrained CLIP, and one small trained run."""

from pathlib import Path

import pytest
import torch
from scorer_clips import write_clip
from scorer_shapes import write_run

from scorer.configs import ClipConfig, ModelConfig, TrainConfig
from scorer.features import Clip, load_clip

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def clip_name(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="session")
def clip(clip_name: str) -> Clip:
    return load_clip(clip_name, "random", text_tokens=16, device="cpu")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    write_run(root, {"attribute": 7, "negation": 10, "spatial": 9})
    write_run(root, {"attribute": 6, "negation": 6, "spatial": 6}, "val", first=1000)
    return root


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def config(data: Path, cache: Path, clip_name: str, tmp_path_factory: pytest.TempPathFactory) -> TrainConfig:
    """Two epochs of a small run; tests replace what they are about."""
    return TrainConfig(
        data=(data,),
        out=tmp_path_factory.mktemp("run") / "run",
        clip=ClipConfig(clip_name, "random"),
        model=ModelConfig(text_tokens=16, hidden=8),
        epochs=2,
        batch_size=4,
        device="cpu",
        cache=cache,
    )


@pytest.fixture(scope="session")
def run(config: TrainConfig) -> Path:
    """The directory of a finished small run with its shuffled control."""
    from dataclasses import replace

    from scorer.train import train

    train(replace(config, control_epochs=1))
    return config.out
