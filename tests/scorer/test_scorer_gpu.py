"""The same code on a GPU: same answers, features kept on the device, training that learns."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from scorer import checkpoint
from scorer.bank import build_bank
from scorer.configs import TrainConfig
from scorer.data import shards_of
from scorer.features import load_clip
from scorer.functional import Marker
from scorer.predict import score_pairs
from scorer.splits import show_progress
from scorer.train import train

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here"),
]


def test_scores_agree_with_the_cpu(run: Path, data: Path, clip_name: str, tmp_path: Path) -> None:
    scores = []
    for device in ("cpu", "cuda"):
        clip = load_clip(clip_name, "random", 16, device)
        scorer, meta = checkpoint.load(run / checkpoint.BEST, clip.device)
        marker = Marker(meta.lexicon, clip, meta.model.placement)
        bank = build_bank(shards_of((data,), "val"), clip, marker, tmp_path / device, show_progress)
        scores.append(score_pairs(scorer, bank))
    np.testing.assert_allclose(scores[0], scores[1], atol=2e-2)


@pytest.mark.parametrize("augment", [False, True])
def test_it_trains_there(config: TrainConfig, tmp_path: Path, augment: bool) -> None:
    best = train(replace(config, out=tmp_path / "run", device="cuda", augment=augment, cache=tmp_path / "cache"))
    meta, _ = checkpoint.read(best)
    assert meta.best_epoch >= 0
