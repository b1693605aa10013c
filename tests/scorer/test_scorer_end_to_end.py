"""From rendered scenes to a report: real pictures of the bundled assets, the bundled tiny CLIP, a short training."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from scorer.bank import build_bank
from scorer.configs import ClipConfig, EvalConfig, ModelConfig, TrainConfig
from scorer.data import shards_of
from scorer.evaluate import evaluate
from scorer.features import TINY, load_clip
from scorer.functional import Marker, load_lexicon
from scorer.splits import show_progress
from scorer.tiny.train import WEIGHTS_FILE
from scorer.train import train

REPO = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.blender,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="Blender (bpy) is not installed here"),
    pytest.mark.skipif(not (TINY / WEIGHTS_FILE).exists(), reason="the tiny CLIP is not built: python -m scorer.tiny"),
]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("rendered")
    for task in ("attribute", "negation", "spatial"):
        command = [
            sys.executable,
            "-m",
            "generator",
            "render",
            "--task",
            task,
            "--n",
            "10",
            "--size",
            "96",
            "--workers",
            "1",
            "--split",
            "train=1,val=0,test=0",
            "--out",
            str(root / task),
        ]
        subprocess.run(command, cwd=REPO, check=True, capture_output=True, timeout=300)
    return root


def test_the_tiny_clip_finds_rendered_assets(rendered: Path, tmp_path: Path) -> None:
    """The patch that fits a noun's words best lies in that object's box; by chance it would about once in ten."""
    clip = load_clip("tiny", "", 20, "cpu")
    marker = Marker(load_lexicon(), clip)
    bank = build_bank(shards_of((rendered,), None), clip, marker, tmp_path, show_progress)
    rows, columns = clip.shape.grid
    found = []
    for number, pair in enumerate(bank.pairs):
        patches = bank.images.gather(bank.image_rows[number, :1])[0, 1:]
        for item in pair.objects_0:
            ids, eos, _ = clip.tokenize([item.noun])
            words = clip.text_tokens(ids)[0, 1 : int(eos[0])].mean(dim=0)
            row, column = divmod(int((patches @ words).argmax()), columns)
            x, y = (column + 0.5) * pair.width / columns, (row + 0.5) * pair.height / rows
            half = pair.width / columns / 2
            x0, y0, x1, y1 = item.box
            found.append(x0 - half <= x <= x1 + half and y0 - half <= y <= y1 + half)
    assert sum(found) / len(found) > 0.7


def test_it_trains_and_reports_on_rendered_pairs(rendered: Path, tmp_path: Path) -> None:
    config = TrainConfig(
        (rendered,),
        tmp_path / "run",
        ClipConfig("tiny"),
        ModelConfig(text_tokens=20),
        epochs=2,
        device="cpu",
        cache=tmp_path / "cache",
    )
    train(config)
    report = evaluate(
        EvalConfig(config.out, (rendered,), None, "train", resamples=20, device="cpu", cache=tmp_path / "cache")
    )
    assert {group.name for group in report.groups} >= {"task: attribute", "task: negation", "task: spatial"}
