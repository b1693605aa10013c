"""Plain CLIP and trained runs as judges: the same scores as elsewhere, and one pass of the towers for all of them."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from bench_judges import by_name, rows, small
from PIL import Image
from scorer_shapes import make_pair
from torch import Tensor

from scorer.benchmarks.base import Example, Loaded, Picture
from scorer.benchmarks.judges import Block, Judge
from scorer.benchmarks.kinds import Choice, Retrieval, Twins, TwoPositives
from scorer.benchmarks.report import report_text
from scorer.benchmarks.run import run_benchmark
from scorer.benchmarks.runs import CosineJudge, RunJudge
from scorer.benchmarks.towers import TowerPool
from scorer.checkpoint import BEST
from scorer.configs import LlmConfig, ModelConfig, ScoreConfig, TrainConfig
from scorer.errors import CheckpointError
from scorer.features import Clip, load_clip
from scorer.score import score

LONG = "a red circle above a blue square and then a good deal more to read than fits"
BEYOND = f"{LONG} into the towers, which have an end as well, whatever is said"


def silent(*_: object) -> None:
    """No progress."""


@pytest.fixture
def pool(tmp_path: Path) -> TowerPool:
    return TowerPool("cpu", tmp_path / "features", silent)


@pytest.fixture
def pictures(tmp_path: Path) -> list[Picture]:
    found = []
    for index in range(4):
        path = tmp_path / f"{index}.png"
        path.write_bytes(make_pair("spatial", index)[1])
        found.append(Picture(path))
    return found


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many images and texts went through the real towers."""
    counts = {"images": 0, "texts": 0}
    for name, method in (("images", Clip.image_tokens), ("texts", Clip.text_tokens)):

        def counted(self: Clip, batch: Tensor, name: str = name, method: object = method) -> Tensor:
            counts[name] += len(batch)
            out: Tensor = method(self, batch)  # type: ignore[operator]
            return out

        monkeypatch.setattr(Clip, f"{name[:-1]}_tokens", counted)
    return counts


def test_plain_clip_is_the_cosine_of_whole_captions_in_full_precision(
    pool: TowerPool, clip_name: str, pictures: list[Picture]
) -> None:
    judge = CosineJudge(pool.of(clip_name, "random"))
    captions = ["a red circle", "a blue square above a red circle", LONG]
    judge.prepare(pictures, captions)
    (found,) = judge.scores([Block(tuple(pictures), tuple(captions))])
    clip = load_clip(clip_name, "random", 10_000, "cpu")
    model = clip._model
    images = torch.stack([clip.preprocess(Image.open(picture.path).convert("RGB")) for picture in pictures])
    with torch.inference_mode():
        image = model.encode_image(images, normalize=True)
        text = model.encode_text(clip._tokenizer(captions), normalize=True)
    assert np.allclose(found, (image @ text.t()).numpy(), atol=2e-6)
    close = judge.text_scores([(captions[0], captions[1]), (LONG, LONG)])
    assert close == pytest.approx([float(text[0] @ text[1]), 1], abs=2e-6)


def test_a_run_scores_as_the_score_verb_does(pool: TowerPool, run: Path, pictures: list[Picture]) -> None:
    judge = RunJudge("run", run / BEST, pool, LlmConfig())
    captions = ("a red circle above a blue square", "a circle to the left of a square", LONG)
    judge.prepare(pictures, captions)
    found = judge.scores([Block(tuple(pictures), captions), Block((pictures[2],), captions[:2])])
    for row, picture in zip(found[0], pictures, strict=True):
        expected = [item.score for item in score(ScoreConfig(run, picture.path, captions, device="cpu"))]
        # The features pass a cache of half precision here.
        assert row == pytest.approx(expected, abs=0.02)
    assert np.allclose(found[1], found[0][2:3, :2], atol=1e-5)
    assert judge.text_scores([("a", "b")]) is None


def test_long_captions_are_cut_for_the_run_alone(pool: TowerPool, run: Path, clip_name: str) -> None:
    """The rows of the whole context are those of the cut one, but for captions that do not fit."""
    towers = pool.of(clip_name, "random")
    judge = RunJudge("run", run / BEST, pool, LlmConfig())
    texts = ["a red circle", LONG]
    assert judge.prepare([], texts).cut == 1
    assert CosineJudge(towers).prepare([], texts).cut == 0
    view = towers.view(16)
    ids, _, cut = view.tokenize(texts)
    assert cut == 1
    expected = view.text_tokens(ids)
    stored = towers.text_store(texts, 16).gather(torch.arange(2))
    assert torch.allclose(stored, expected, atol=1e-3)
    whole = towers.pooled_texts(texts)
    assert torch.allclose(whole[0], expected[0, ids[0].tolist().index(int(ids.max()))], atol=1e-5)
    assert not torch.allclose(whole[1], expected[1, 15], atol=1e-2)


def judges_of_both(pool: TowerPool, run: Path, clip_name: str) -> list[Judge]:
    return [RunJudge("run", run / BEST, pool, LlmConfig()), CosineJudge(pool.of(clip_name, "random"))]


@pytest.mark.parametrize("official", ["strict", "argmax"])
def test_captions_that_differ_only_in_what_is_cut_off_are_a_tie(
    official: Literal["strict", "argmax"],
    pool: TowerPool,
    run: Path,
    clip_name: str,
    pictures: list[Picture],
    tmp_path: Path,
) -> None:
    """None is right, and a fair coin has one of two: rounding does not decide."""
    examples = [
        Example(str(i), (pictures[i % 4],), tuple(f"{i} {BEYOND} {word}" for word in ("cat", "dog")), truth=i % 2)
        for i in range(60)
    ]
    benchmark = small(tmp_path, Choice(official), Loaded(examples))
    report = run_benchmark(judges_of_both(pool, run, clip_name), benchmark, tmp_path, resamples=0)
    for found in report.parts[0].results.values():
        figures = by_name(found)
        assert (figures["accuracy"].value, figures["accuracy_ties_shared"].value) == (0, 0.5)
        if official == "argmax":
            assert figures["accuracy_official"].value == 0.5


def test_a_negative_that_is_cut_to_a_positive_is_a_tie(
    pool: TowerPool, run: Path, clip_name: str, pictures: list[Picture], tmp_path: Path
) -> None:
    examples = [
        Example(str(i), (pictures[i % 4],), (f"{i} circles", f"{i} {BEYOND} cat", f"{i} {BEYOND} dog"))
        for i in range(60)
    ]
    benchmark = small(tmp_path, TwoPositives(), Loaded(examples))
    report = run_benchmark(judges_of_both(pool, run, clip_name), benchmark, tmp_path, resamples=0)
    one, two = (by_name(found) for found in report.parts[0].results.values())
    assert [found[name].value for found in (one, two) for name in ("p2_accuracy", "itt_accuracy")] == [0] * 4
    assert two["tot_accuracy"].value == 0


def test_another_image_s_caption_that_is_cut_to_the_own_one_ties_in_retrieval(
    pool: TowerPool, run: Path, clip_name: str, tmp_path: Path
) -> None:
    """All texts read the same, so that every foreign one stands above the own one: more than one tile of each."""
    examples = []
    for i in range(70):
        (tmp_path / f"{i}.png").write_bytes(make_pair("spatial", i)[1])
        examples.append(
            Example(str(i), (Picture(tmp_path / f"{i}.png"),), tuple(f"{BEYOND} {i} {n}" for n in range(15)))
        )
    benchmark = small(tmp_path, Retrieval((5,)), Loaded(examples))
    report = run_benchmark(judges_of_both(pool, run, clip_name), benchmark, tmp_path, resamples=0)
    for found in report.parts[0].results.values():
        assert by_name(found)["image_to_text_recall@5"].value == 0


def test_one_pass_for_all_judges_and_none_the_second_time(
    run: Path, clip_name: str, pictures: list[Picture], passes: dict[str, int], tmp_path: Path
) -> None:
    examples = [Example(str(i), (p,), (f"a red circle {i}", "a blue square")) for i, p in enumerate(pictures)]
    benchmark = small(tmp_path, Choice(), Loaded(examples), ("first", "second"))

    def judged(plain_first: bool) -> None:
        pool = TowerPool("cpu", tmp_path / "features", silent)
        plain = CosineJudge(pool.of(clip_name, "random"))
        trained = RunJudge("run", run / BEST, pool, LlmConfig())
        judges = [plain, trained] if plain_first else [trained, plain]
        passes.update(images=0, texts=0)
        run_benchmark(judges, benchmark, tmp_path, resamples=0)

    judged(plain_first=True)
    assert passes == {"images": 4, "texts": 5}
    judged(plain_first=False)
    assert passes == {"images": 0, "texts": 0}


def test_a_box_is_what_is_seen(pool: TowerPool, clip_name: str, tmp_path: Path) -> None:
    whole = Image.new("RGB", (64, 32), (200, 30, 30))
    whole.paste((30, 30, 200), (32, 0, 64, 32))
    whole.save(tmp_path / "both.png")
    whole.crop((32, 0, 64, 32)).save(tmp_path / "blue.png")
    both = tmp_path / "both.png"
    judge = CosineJudge(pool.of(clip_name, "random"))
    pictures = [
        Picture(both),
        Picture(both, (32, 0, 64, 32)),
        Picture(tmp_path / "blue.png"),
        Picture(both, (0, 0, 32, 32)),
    ]
    assert judge.prepare(pictures, ["a", "b"]).unreadable == frozenset()
    (found,) = judge.scores([Block(tuple(pictures), ("a", "b"))])
    assert np.array_equal(found[1], found[2])
    assert not np.allclose(found[1], found[0], atol=1e-4)
    assert not np.allclose(found[1], found[3], atol=1e-4)


def test_unreadable_images_are_counted_and_their_rows_left_out(
    pool: TowerPool, run: Path, clip_name: str, pictures: list[Picture], tmp_path: Path
) -> None:
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "cut.png").write_bytes(pictures[0].path.read_bytes()[:60])
    bad = [Picture(tmp_path / "text.png"), Picture(tmp_path / "cut.png"), Picture(pictures[1].path, (9, 9, 9, 20))]
    images = [*pictures, *bad, Picture(tmp_path / "gone.png")]
    examples = [Example(str(i), (p,), ("a circle", "a square")) for i, p in enumerate(images)]
    benchmark = small(tmp_path, Choice(), Loaded(examples))
    judges = [RunJudge("run", run / BEST, pool, LlmConfig()), CosineJudge(pool.of(clip_name, "random"))]
    for _ in range(2):  # the second time from what was saved
        report = run_benchmark(judges, benchmark, tmp_path, tmp_path / "scores", resamples=0)
        part = report.parts[0]
        assert (part.examples, part.scored, part.missing_images, part.unreadable_images) == (8, 4, 1, 3)
        assert [by_name(found)["accuracy"].count for found in part.results.values()] == [4, 4]


@pytest.mark.parametrize("kind", [Twins(), TwoPositives(), Retrieval((1, 2)), Choice("argmax", (1, 2))])
def test_every_kind_with_a_run_and_with_plain_clip(
    kind: Twins | TwoPositives | Retrieval | Choice, pool: TowerPool, run: Path, clip_name: str, tmp_path: Path
) -> None:
    images = 2 if isinstance(kind, Twins) else 1
    loaded = rows(70, 3 if isinstance(kind, TwoPositives) else 2, images)
    examples = []
    for i, item in enumerate(loaded.examples):
        pictures = []
        for side in range(images):
            path = tmp_path / f"{i}-{side}.png"
            path.write_bytes(make_pair("spatial", i)[1 + side])
            pictures.append(Picture(path))
        examples.append(replace(item, images=tuple(pictures)))
    judges = [RunJudge("run", run / BEST, pool, LlmConfig()), CosineJudge(pool.of(clip_name, "random"))]
    report = run_benchmark(judges, small(tmp_path, kind, Loaded(examples)), tmp_path, resamples=10)
    one, two = (by_name(report.parts[0].results[judge.name]) for judge in judges)
    # Maps compare no texts with each other.
    assert set(two) - set(one) == ({"tot_accuracy"} if isinstance(kind, TwoPositives) else set())
    assert all(item.count > 0 for item in (*one.values(), *two.values()))


@pytest.mark.parametrize("model", ["cosine", "projections", "pooled-mlp", "dcsm-vit"])
def test_runs_of_every_model(model: str, config: TrainConfig, pool: TowerPool, pictures: list[Picture]) -> None:
    from scorer.train import train

    out = config.out.parent / f"benchmarks-{model}"
    trained = replace(config, out=out, model=ModelConfig(model, text_tokens=16, hidden=8), epochs=1)
    judge = RunJudge(model, train(trained), pool, LlmConfig())
    captions = ("a red circle", "a blue square", LONG)
    judge.prepare(pictures, captions)
    (found,) = judge.scores([Block(tuple(pictures), captions)])
    assert found.shape == (4, 3)
    close = judge.text_scores([(captions[0], captions[0]), (captions[0], captions[1])])
    if model in ("cosine", "projections"):
        assert close is not None
        assert close[0] == pytest.approx(1, abs=2e-3)
        assert close[1] < 0.9999
    else:
        assert close is None


def test_a_scorer_that_normalises_over_the_batch_sees_one_image_at_a_time(
    config: TrainConfig, pool: TowerPool, pictures: list[Picture]
) -> None:
    from scorer.train import train

    out = config.out.parent / "benchmarks-batch"
    path = train(replace(config, out=out, model=replace(config.model, z_score="batch"), epochs=1))
    judge = RunJudge("batch", path, pool, LlmConfig())
    captions = ("a red circle above a blue square", "a blue square above a red circle")
    judge.prepare(pictures, captions)
    together = judge.scores([Block(tuple(pictures), captions)])[0]
    alone = [judge.scores([Block((picture,), captions)])[0][0] for picture in pictures]
    assert np.allclose(together, alone, atol=1e-5)


def test_captions_that_are_cut_are_reported(
    pool: TowerPool, run: Path, pictures: list[Picture], tmp_path: Path
) -> None:
    loaded = Loaded([Example("0", (pictures[0],), (LONG, "a circle"))])
    for _ in range(2):  # the second time from what was saved
        judge = RunJudge("run", run / BEST, pool, LlmConfig())
        report = run_benchmark([judge], small(tmp_path, Choice(), loaded), tmp_path, tmp_path / "scores", resamples=0)
        assert report.parts[0].cut_captions == {"run": 1}
        assert "first: 1 caption is cut to fit run" in report_text(report)


def test_other_towers_than_the_run_was_trained_with(run: Path, clip_name: str, pool: TowerPool) -> None:
    real = pool.of(clip_name, "random")
    with torch.no_grad():
        next(real.clip._model.parameters()).add_(1)
    with pytest.raises(CheckpointError, match="other weights"):
        RunJudge("run", run / BEST, pool, LlmConfig())


def test_pictures_in_other_modes_are_read(pool: TowerPool, clip_name: str, tmp_path: Path) -> None:
    found = []
    for mode in ("L", "P", "RGBA", "CMYK"):
        data = io.BytesIO()
        Image.new("RGB", (20, 10), (90, 90, 90)).convert(mode).save(data, "TIFF" if mode == "CMYK" else "PNG")
        (tmp_path / mode).write_bytes(data.getvalue())
        found.append(Picture(tmp_path / mode))
    assert CosineJudge(pool.of(clip_name, "random")).prepare(found, ["a"]).unreadable == frozenset()
