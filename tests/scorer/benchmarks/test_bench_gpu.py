"""The judges on a GPU: the answers of the CPU."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scorer_shapes import make_pair

from scorer.benchmarks.base import Picture
from scorer.benchmarks.judges import Block, Judge, Matrix
from scorer.benchmarks.runs import CosineJudge, RunJudge
from scorer.benchmarks.towers import TowerPool
from scorer.checkpoint import BEST
from scorer.configs import LlmConfig

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here"),
]


def test_scores_agree_with_the_cpu(run: Path, clip_name: str, tmp_path: Path) -> None:
    for index in range(3):
        (tmp_path / f"{index}.png").write_bytes(make_pair("spatial", index)[1])
    Image.new("RGB", (9, 9)).save(tmp_path / "3.png")
    pictures = tuple(Picture(tmp_path / f"{index}.png") for index in range(4))
    captions = ("a red circle", "a circle above a square", "a very " + "very " * 14 + "long one")
    found: dict[str, list[Matrix]] = {}
    for device in ("cpu", "cuda"):
        pool = TowerPool(device, tmp_path / device, lambda *_: None)
        judges: list[Judge] = [
            CosineJudge(pool.of(clip_name, "random")),
            RunJudge("run", run / BEST, pool, LlmConfig()),
        ]
        for judge in judges:
            assert judge.prepare(pictures, captions).unreadable == frozenset()
        blocks = [Block(pictures, captions), Block(pictures[:1], captions[:2])]
        found[device] = [scores for judge in judges for scores in judge.scores(blocks)]
    for one, other in zip(found["cpu"], found["cuda"], strict=True):
        np.testing.assert_allclose(one, other, atol=2e-2)
