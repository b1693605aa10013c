"""Training: it learns, it resumes to the same bytes, it refuses what it should."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from scorer_shapes import make_pair, write_run, write_shard

from scorer import checkpoint, parallel
from scorer.cache import TokenCache
from scorer.configs import ModelConfig, TrainConfig
from scorer.errors import CheckpointError, ConfigError, TrainingError
from scorer.features import Clip, load_clip
from scorer.functional import load_lexicon
from scorer.models import MODELS, build_model
from scorer.splits import training_banks
from scorer.train import Trainer, train

REPO = Path(__file__).resolve().parents[2]


def trainer(config: TrainConfig) -> Trainer:
    clip = load_clip(config.clip.clip, config.clip.pretrained, config.model.text_tokens, "cpu")
    group = parallel.start()
    return Trainer(config, clip, load_lexicon(), *training_banks(config, clip, load_lexicon(), group), group)


def tensors(path: Path) -> dict[str, torch.Tensor]:
    return load_file(str(path))


def assert_same(one: Path, other: Path) -> None:
    a, b = tensors(one), tensors(other)
    assert a.keys() == b.keys()
    assert all(torch.equal(a[name], b[name]) for name in a)


def test_it_can_learn_its_training_pairs(config: TrainConfig, tmp_path: Path) -> None:
    data = write_run(tmp_path / "data", {"negation": 4})
    settings = replace(config.model, hidden=64)
    run = replace(config, data=(data,), out=tmp_path / "run", model=settings, epochs=60, val_fraction=0.0)
    train(run)
    meta, _ = checkpoint.read(run.out / checkpoint.BEST)
    assert meta.best_accuracy > 0.9


def test_training_pairs_that_validate_are_said(
    config: TrainConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_run(tmp_path / "data", {"negation": 4})
    train(replace(config, data=(data,), out=tmp_path / "run", epochs=1, val_fraction=0.0))
    assert "validation pairs: 4 (the training pairs themselves: none is held out)" in capsys.readouterr().out
    train(replace(config, out=tmp_path / "held", epochs=0))
    assert "themselves" not in capsys.readouterr().out


def test_what_the_data_lack_is_said(config: TrainConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_run(tmp_path / "data", {"negation": 4})
    (data / "train" / "00000.json").write_text('{"planned": 5}')
    (data / "run.json").write_text('{"config": {"n": 5}}')
    train(replace(config, data=(data,), out=tmp_path / "whole", epochs=0))
    assert "note:" not in capsys.readouterr().err
    (data / "run.json").write_text('{"config": {"n": 9}}')
    train(replace(config, data=(data / "train", *config.data), out=tmp_path / "run", epochs=0))
    err = capsys.readouterr().err
    assert f"note: {data / 'train'}: the render is not finished (5 of 9 planned pairs)\n" in err
    assert f"note: {data / 'train'}: no val split; only the other data validate\n" in err
    assert err.count("note:") == 2


def test_a_resumed_run_ends_in_the_same_bytes(config: TrainConfig, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "resumed"
    train(replace(config, out=out, epochs=1))
    assert checkpoint.read(out / checkpoint.LAST)[0].epoch == 1
    train(replace(config, out=out))
    assert_same(out / checkpoint.LAST, run / checkpoint.LAST)
    assert_same(out / checkpoint.BEST, run / checkpoint.BEST)
    entries = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert entries == [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_it_also_resumes_from_within_an_epoch(
    config: TrainConfig, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = replace(config, out=tmp_path / "stopped")
    stopped.out.mkdir()
    monkeypatch.setattr("scorer.train.SAVE_EVERY_S", -1.0)
    first, steps = trainer(stopped), []
    original = first._step

    def interrupt(epoch: int, step: int, plan: dict[str, list[int]]) -> dict[str, torch.Tensor]:
        if (epoch, step) == (1, 1):
            raise KeyboardInterrupt
        steps.append((epoch, step))
        return original(epoch, step, plan)

    monkeypatch.setattr(first, "_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        first.fit(stopped.out / checkpoint.LAST, stopped.epochs)
    meta, _ = checkpoint.read(stopped.out / checkpoint.LAST)
    assert (meta.epoch, meta.step) == (1, 1)
    train(stopped)
    assert_same(stopped.out / checkpoint.LAST, run / checkpoint.LAST)


def test_dropout_resumes_too(config: TrainConfig, tmp_path: Path) -> None:
    dropped = replace(config, model=replace(config.model, dropout=0.5))
    train(replace(dropped, out=tmp_path / "whole"))
    train(replace(dropped, out=tmp_path / "parts", epochs=1))
    train(replace(dropped, out=tmp_path / "parts"))
    assert_same(tmp_path / "parts" / checkpoint.LAST, tmp_path / "whole" / checkpoint.LAST)


@pytest.mark.usefixtures("run")
def test_a_directory_of_another_run_is_refused(config: TrainConfig, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"--lr: 0\.001 there, 0\.1 now"):
        train(replace(config, lr=0.1))
    with pytest.raises(CheckpointError, match="--hidden: 8 there, 9 now"):
        train(replace(config, model=replace(config.model, hidden=9)))
    other = write_run(tmp_path / "data", {"attribute": 7, "negation": 10, "spatial": 9}, first=50)
    with pytest.raises(CheckpointError, match="the data"):
        train(replace(config, data=(other,)))


def test_data_may_move(config: TrainConfig, run: Path, tmp_path: Path) -> None:
    before = (run / checkpoint.LAST).read_bytes()
    moved = tmp_path / "moved"
    shutil.copytree(config.data[0], moved)
    train(replace(config, data=(moved,)))
    assert (run / checkpoint.LAST).read_bytes() == before


def test_the_checkpoint_holds_no_towers_and_all_of_the_config(config: TrainConfig, run: Path) -> None:
    meta, found = checkpoint.read(run / checkpoint.BEST)
    assert all(name.startswith("model.") for name in found)
    assert json.loads(meta.config)["batch_size"] == config.batch_size
    assert meta.lexicon == load_lexicon()
    assert found["model.table"].shape == (len(load_lexicon().rows), 17)
    assert (run / "curves.png").stat().st_size > 10_000
    assert list((run / "tensorboard").iterdir())


def test_the_shuffled_control_is_another_scorer(run: Path) -> None:
    best, control = tensors(run / checkpoint.BEST), tensors(run / checkpoint.CONTROL)
    assert torch.equal(best["model.table"], control["model.table"])
    assert not torch.equal(best["model.conv1.weight"], control["model.conv1.weight"])


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_scorer_trains_scores_and_reloads(config: TrainConfig, tmp_path: Path, model: str) -> None:
    out = tmp_path / "run"
    train(replace(config, out=out, model=replace(config.model, model=model, hidden=8), epochs=1))
    scorer, meta = checkpoint.load(out / checkpoint.BEST, torch.device("cpu"))
    assert meta.model.model == model
    assert all(bool(torch.isfinite(value).all()) for value in scorer.state_dict().values())


@pytest.mark.parametrize(
    "options",
    [
        {"placement": "none"},
        {"placement": "word-index"},
        {"rows": "reference"},
        {"z_score": "batch"},
        {"z_score": "none"},
    ],
)
def test_every_option_of_the_maps_trains(config: TrainConfig, tmp_path: Path, options: dict[str, str]) -> None:
    model = replace(config.model, **options)  # type: ignore[arg-type]
    train(replace(config, out=tmp_path / "run", model=model, epochs=1))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_both_precisions_train(config: TrainConfig, tmp_path: Path, precision: str) -> None:
    train(replace(config, out=tmp_path / "run", precision=precision, epochs=1))  # type: ignore[arg-type]


def test_augmentation_runs_the_towers_and_is_seeded(config: TrainConfig, tmp_path: Path) -> None:
    once = replace(config, augment=True, epochs=1, max_pairs=3)
    for name in ("a", "b"):
        train(replace(once, out=tmp_path / name))
    assert_same(tmp_path / "a" / checkpoint.LAST, tmp_path / "b" / checkpoint.LAST)
    train(replace(once, out=tmp_path / "plain", augment=False))
    plain, augmented = tensors(tmp_path / "plain" / checkpoint.LAST), tensors(tmp_path / "a" / checkpoint.LAST)
    assert not torch.equal(plain["model.conv1.weight"], augmented["model.conv1.weight"])


def test_a_single_pair_and_pairs_without_a_second_image(config: TrainConfig, tmp_path: Path) -> None:
    pairs = [make_pair("attribute", 0, second_image=False), make_pair("spatial", 0)]
    write_shard(tmp_path / "data" / "train" / "00000.tar", pairs)
    train(replace(config, data=(tmp_path / "data",), out=tmp_path / "run"))
    meta, _ = checkpoint.read(tmp_path / "run" / checkpoint.LAST)
    assert meta.epoch == config.epochs


def test_features_that_are_not_numbers_stop_training(config: TrainConfig, tmp_path: Path, clip: Clip) -> None:
    data = write_run(tmp_path / "data", {"spatial": 4})
    once = replace(config, data=(data,), out=tmp_path / "run", cache=tmp_path / "cache", epochs=1, val_fraction=0.0)
    trainer(once)
    folder = next((tmp_path / "cache").glob("*/images"))
    keys = json.loads(next(folder.glob("*.json")).read_text())["keys"]
    for file in folder.iterdir():
        file.unlink()
    nan = np.full((len(keys), clip.shape.image_tokens, clip.shape.width), np.nan, dtype=np.float16)
    TokenCache(tmp_path / "cache", clip.fingerprint, "images", nan.shape[1:]).add(keys, nan)
    with pytest.raises(TrainingError, match="not a number"):
        train(once)


def test_early_stopping(config: TrainConfig, tmp_path: Path) -> None:
    # A learning rate this small changes no choice, so the first epoch stays the best.
    train(replace(config, out=tmp_path / "run", lr=1e-12, epochs=9, patience=2))
    meta, _ = checkpoint.read(tmp_path / "run" / checkpoint.LAST)
    assert (meta.epoch, meta.best_epoch) == (3, 0)


def test_added_words_reach_the_checkpoint_and_move_no_row(config: TrainConfig, run: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("# new ones\ninside\n\nbetween\n")
    train(replace(config, out=tmp_path / "run", words=tmp_path / "words.txt", epochs=1))
    meta, found = checkpoint.read(tmp_path / "run" / checkpoint.BEST)
    assert meta.lexicon.names[-2:] == ("inside", "between")
    before = tensors(run / checkpoint.BEST)["model.table"]
    assert torch.equal(found["model.table"][: len(before)], before)
    scorer, old = checkpoint.load(run / checkpoint.BEST, torch.device("cpu"))
    assert checkpoint.extend_rows(scorer, old, ["inside", "between"]).names == meta.lexicon.names
    assert torch.equal(scorer.table, found["model.table"])


@pytest.mark.parametrize("change", [{"epochs": -1}, {"batch_size": 0}, {"lr": 0.0}, {"val_fraction": 1.0}])
def test_senseless_options(config: TrainConfig, change: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="out of range"):
        train(replace(config, **change))  # type: ignore[arg-type]


def test_unknown_model(clip: Clip) -> None:
    with pytest.raises(ConfigError, match="--model: unknown scorer 'dcsm-cn'; did you mean 'dcsm-cnn'"):
        build_model(ModelConfig(model="dcsm-cn"), clip.shape, torch.zeros(1, 17), 1.0)


class TestCheckpointFiles:
    def test_cut_short(self, run: Path, tmp_path: Path) -> None:
        path = tmp_path / "cut.safetensors"
        path.write_bytes((run / checkpoint.BEST).read_bytes()[:-100])
        with pytest.raises(CheckpointError, match="not a readable safetensors file"):
            checkpoint.read(path)

    def test_a_pickle_is_not_opened(self, tmp_path: Path) -> None:
        path = tmp_path / "evil.safetensors"
        torch.save({"model": torch.nn.Linear(2, 2)}, path)
        with pytest.raises(CheckpointError, match="not a readable safetensors file"):
            checkpoint.read(path)

    def test_foreign_safetensors(self, tmp_path: Path) -> None:
        path = tmp_path / "foreign.safetensors"
        save_file({"x": torch.zeros(1)}, str(path))
        with pytest.raises(CheckpointError, match="not written by this program"):
            checkpoint.read(path)

    def test_not_numbers(self, run: Path, tmp_path: Path) -> None:
        scorer, meta = checkpoint.load(run / checkpoint.BEST, torch.device("cpu"))
        with torch.no_grad():
            next(scorer.parameters()).fill_(float("nan"))
        checkpoint.save(tmp_path / "nan.safetensors", scorer, meta)
        with pytest.raises(CheckpointError, match="not numbers"):
            checkpoint.load(tmp_path / "nan.safetensors", torch.device("cpu"))

    def test_tensors_of_another_shape(self, run: Path, tmp_path: Path) -> None:
        scorer, meta = checkpoint.load(run / checkpoint.BEST, torch.device("cpu"))
        checkpoint.save(tmp_path / "x.safetensors", scorer, replace(meta, model=replace(meta.model, hidden=9)))
        with pytest.raises(CheckpointError, match="do not fit"):
            checkpoint.load(tmp_path / "x.safetensors", torch.device("cpu"))

    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(CheckpointError, match=r"not the run of a scorer .no best.safetensors"):
            checkpoint.checkpoint_path(tmp_path)
        (tmp_path / "here").mkdir()
        with pytest.raises(CheckpointError, match=r"no such run or checkpoint .*did you mean .*here"):
            checkpoint.checkpoint_path(tmp_path / "hree")


@pytest.mark.slow
def test_two_processes_make_one_gradient(config: TrainConfig, tmp_path: Path) -> None:
    """Two processes of batch 1 contrast within each pair alone; their mean is what a process of its own computes."""
    data = write_run(tmp_path / "data", {"spatial": 2})
    script = tmp_path / "run.py"
    script.write_text(
        "import sys, pickle, base64\nfrom scorer.train import train\n"
        "train(pickle.loads(base64.b64decode(sys.argv[1])))\n"
    )
    import base64
    import pickle

    shared = replace(
        config,
        data=(data,),
        cache=tmp_path / "cache",
        epochs=1,
        batch_size=1,
        val_fraction=0.0,
        out=tmp_path / "two",
        precision="fp32",
    )
    environment = {**os.environ, "PYTHONPATH": str(REPO), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=29563", str(script)]
    subprocess.run(
        [*command, base64.b64encode(pickle.dumps(shared)).decode()],
        check=True,
        env=environment,
        capture_output=True,
        timeout=300,
    )
    alone = trainer(replace(shared, out=tmp_path / "one"))
    assert alone.optimizer is not None
    alone.optimizer.zero_grad()
    losses = [alone._family([pair])[0] for pair in (0, 1)]
    (sum(losses) / 2).backward()  # type: ignore[union-attr]
    alone.optimizer.step()
    found = tensors(tmp_path / "two" / checkpoint.LAST)
    for name, value in alone.scorer.state_dict().items():
        torch.testing.assert_close(found[f"model.{name}"], value, atol=1e-6, rtol=1e-5)
