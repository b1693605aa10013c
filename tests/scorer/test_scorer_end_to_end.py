"""From rendered scenes to a report: real pictures of the bundled assets, the bundled tiny CLIP, a short training."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from scorer.bank import Bank, build_bank
from scorer.configs import ClipConfig, EvalConfig, ModelConfig, TrainConfig
from scorer.data import shards_of
from scorer.evaluate import evaluate
from scorer.features import TINY, load_clip
from scorer.functional import Marker, load_lexicon
from scorer.splits import show_progress
from scorer.tiny.scenes import Grammar
from scorer.tiny.sprites import bundled_nouns
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


def test_the_tiny_clip_knows_rendered_assets(rendered: Path, tmp_path: Path) -> None:
    """Which of 10 nouns is in the picture? By the best patch for the noun's words; chance is about .1."""
    clip = load_clip("tiny", "", 20, "cpu")
    bank: Bank = build_bank(shards_of((rendered,), None), clip, Marker(load_lexicon(), clip), tmp_path, show_progress)
    nouns, grammar = list(bundled_nouns()), Grammar()
    ids, eos, _ = clip.tokenize([f"A picture of {grammar.phrase(noun, noun)}" for noun in nouns])
    tokens = clip.text_tokens(ids)
    pooled = tokens[torch.arange(len(nouns)), eos]
    draws = torch.Generator().manual_seed(0)
    right = []
    for number, pair in enumerate(bank.pairs):
        image = bank.images.gather(bank.image_rows[number, :1])[0, 0]
        shown = {item.noun for item in pair.objects_0}
        for noun in shown:
            others = [i for i in torch.randperm(len(nouns), generator=draws).tolist() if nouns[i] not in shown][:9]
            scores = pooled[[nouns.index(noun), *others]] @ image
            right.append(bool(scores[0] > scores[1:].max()))
    assert sum(right) / len(right) > 0.5


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
    report = evaluate(EvalConfig(config.out, (rendered,), resamples=20, device="cpu", cache=tmp_path / "cache"))
    assert {group.name for group in report.groups} >= {"task: attribute", "task: negation", "task: spatial"}
