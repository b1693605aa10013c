"""Metrics with scorers whose answers are known, controls, and the report of a real run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scorer_shapes import make_pair, write_run, write_shard

from scorer import checkpoint
from scorer.bank import Bank, build_bank
from scorer.configs import EvalConfig, ModelConfig
from scorer.controls import image_probe, negation_probes, text_probe
from scorer.data import decode
from scorer.errors import CheckpointError, DataError
from scorer.evaluate import evaluate, groups_of
from scorer.features import Clip
from scorer.functional import Marker, load_lexicon
from scorer.metrics import CHANCE, METRICS, figure, first_image_accuracy
from scorer.models import ImageTokens, Scorer, TextTokens
from scorer.predict import caption_accuracy, score_pairs


def silent(done: int, total: int, what: str) -> None:
    pass


@pytest.fixture(scope="module")
def bank(clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Bank:
    root = tmp_path_factory.mktemp("bank")
    pairs = [make_pair(task, i) for task in ("attribute", "negation", "spatial") for i in range(12)]
    pairs += [make_pair("attribute", 90 + i, second_image=False) for i in range(4)]
    shard = write_shard(root / "00000.tar", pairs)
    return build_bank([shard], clip, Marker(load_lexicon(), clip), root / "cache", silent)


class Answers(Scorer):
    """A scorer that answers from a rule on (image row, text row)."""

    def __init__(self, clip: Clip, rule: str) -> None:
        super().__init__(clip.shape, ModelConfig(), torch.zeros(1, clip.shape.image_tokens), 1.0)
        self.rule = rule
        self.draws = torch.Generator().manual_seed(5)

    def forward(self, images: ImageTokens, texts: TextTokens) -> torch.Tensor:
        count, length = len(images.tokens), len(texts.tokens)
        if self.rule == "random":
            return torch.rand(count, length, generator=self.draws)
        if self.rule == "nan":
            return torch.full((count, length), float("nan"))
        # The four captions of a pair come as P1, P2, N1, N2, its images as 0, 1.
        perfect = torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
        return {"perfect": perfect, "wrong": -perfect, "constant": torch.zeros(2, 4)}[self.rule][:count, :length]


@pytest.mark.parametrize(("rule", "expected"), [("perfect", 1.0), ("constant", 0.0), ("wrong", 0.0)])
def test_scorers_whose_answers_are_known(clip: Clip, bank: Bank, rule: str, expected: float) -> None:
    scores = score_pairs(Answers(clip, rule), bank)
    for name, metric in METRICS.items():
        values = metric(scores)
        assert np.nanmean(values) == expected, name
        assert int(np.isnan(values).sum()) == (0 if name == "caption_accuracy" else 4)


@pytest.mark.parametrize("name", sorted(CHANCE))
def test_a_random_scorer_is_at_chance(name: str) -> None:
    scores = np.random.default_rng(0).random((4000, 2, 2, 2), dtype=np.float32)
    assert abs(METRICS[name](scores).mean() - CHANCE[name]) < 0.02


@settings(max_examples=50, deadline=None)
@given(arrays(np.float32, (6, 2, 2, 2), elements=st.sampled_from([0.0, 1.0, 2.0])))
def test_a_group_score_needs_both_others(scores: np.ndarray) -> None:
    text, image, group = (METRICS[name](scores) for name in ("text_score", "image_score", "group_score"))
    assert (group <= np.minimum(text, image)).all()
    assert (caption_accuracy(scores) >= text).all()


def test_scores_that_are_not_numbers_name_their_pair(clip: Clip, bank: Bank) -> None:
    with pytest.raises(DataError, match="attribute-000000000: the score is not a number"):
        score_pairs(Answers(clip, "nan"), bank)


def test_intervals_hold_the_mean_shrink_and_repeat() -> None:
    rng = np.random.default_rng(0)
    few, many = figure(rng.random(20), 500, 0, "x"), figure(rng.random(2000), 500, 0, "x")
    assert few.low < few.value < few.high
    assert many.high - many.low < few.high - few.low
    values = rng.random(50)
    assert figure(values, 500, 0, "x") == figure(values, 500, 0, "x") != figure(values, 500, 1, "x")
    assert figure(np.array([np.nan, 1.0]), 10, 0, "x").count == 1
    assert np.isnan(figure(np.array([np.nan]), 10, 0, "x").value)


def test_one_sided_accuracy_shows_what_two_sides_hide() -> None:
    prior = np.zeros((9, 2, 2, 2), dtype=np.float32)
    prior[:, :, 0] = 1.0  # prefers captions_0 whatever the image
    assert caption_accuracy(prior).mean() == 0.5
    assert first_image_accuracy(prior).mean() == 1.0


def test_probes_find_a_planted_leak(clip: Clip, bank: Bank, tmp_path: Path) -> None:
    clean = image_probe(bank, 0)
    assert int(np.isnan(clean).sum()) == 4
    leaky = []
    for i in range(30):
        record, first, second = make_pair("attribute", i)
        marked = replace(record, captions_0=tuple(f"obviously {text}" for text in record.captions_0))  # type: ignore[arg-type]
        leaky.append((marked, first, second))
    shard = write_shard(tmp_path / "00000.tar", leaky)
    found = build_bank([shard], clip, Marker(load_lexicon(), clip), tmp_path / "cache", silent)
    assert text_probe(found, 0).mean() > 0.9
    assert np.isnan(
        text_probe(Bank(**{**vars_of(found), "pairs": found.pairs[:3], "text_rows": found.text_rows[:3]}), 0)
    ).all()


def vars_of(bank: Bank) -> dict[str, object]:
    return {name: getattr(bank, name) for name in Bank.__dataclass_fields__}


def test_negation_probes_deny_what_is_visible(bank: Bank) -> None:
    probes = negation_probes(bank.pairs)
    assert len(probes) == 24
    for probe in probes:
        pair = bank.pairs[probe.pair]
        shown = {item.noun for item in (pair.objects_0, pair.objects_1)[probe.side]}
        first, _, denied = probe.false.removeprefix("a ").partition(" but not a ")
        assert {first, denied} == shown
        assert probe.true.startswith(f"a {first} but not a ")


def test_probes_of_the_shared_protocol_keep_articles() -> None:
    base, _, _ = make_pair("negation", 0)
    a1, a2 = base.objects_0
    b1 = replace(base.objects_1[0], noun="egg")
    shared = replace(
        base,
        objects_0=(replace(a1, noun="dog"), replace(a2, noun="apple")),
        objects_1=(replace(a1, noun="dog"), b1),
        captions_0=("A dog but not an egg.", "A dog and an apple."),
        captions_1=("A dog but not an apple.", "A dog and an egg."),
    )
    found = negation_probes([shared])
    assert [(probe.side, probe.true, probe.false) for probe in found] == [
        (0, "A dog but not an egg.", "A dog but not an apple."),
        (1, "A dog but not an apple.", "A dog but not an egg."),
    ]


def test_groups(bank: Bank) -> None:
    groups = groups_of(bank, {"circle", "square", "triangle", "cross"})
    assert list(groups)[:4] == ["all", "task: attribute", "task: negation", "task: spatial"]
    assert len(groups["attribute: colour"]) == 16
    assert sum(len(v) for k, v in groups.items() if k.startswith("nouns")) == 40
    assert groups["nouns: some unseen in training"]


def test_the_report_of_a_run(run: Path, data: Path, cache: Path, tmp_path: Path) -> None:
    report = evaluate(EvalConfig(run, (data,), tmp_path, "val", resamples=50, device="cpu", cache=cache))
    assert report.pairs == 18
    # Of the two epochs of the run the best one is named: 1 after the first.
    assert report.epoch == checkpoint.read(run / checkpoint.BEST)[0].best_epoch + 1
    raw = json.loads((tmp_path / "report.json").read_text(), parse_constant=pytest.fail)
    assert {group["name"] for group in raw["groups"]} >= {"all", "task: spatial", "attribute: colour"}
    assert "trained on shuffled labels" in raw["controls"]
    text = (tmp_path / "report.md").read_text()
    assert "| task: negation | 6 |" in text
    for name in ("scatter.png", "maps-spatial-000001000.png", "scores.npz"):
        assert (tmp_path / name).stat().st_size > 1000, name
    scores = np.load(tmp_path / "scores.npz")
    mean = caption_accuracy(scores["scores"]).mean()
    assert raw["groups"][0]["metrics"]["caption_accuracy"]["value"] == pytest.approx(mean)


def test_other_towers_are_refused(run: Path, data: Path, cache: Path, tmp_path: Path) -> None:
    meta, _ = checkpoint.read(run / checkpoint.BEST)
    scorer, _ = checkpoint.load(run / checkpoint.BEST, torch.device("cpu"))
    checkpoint.save(tmp_path / "x.safetensors", scorer, replace(meta, clip_fingerprint="0" * 16))
    with pytest.raises(CheckpointError, match="other weights"):
        evaluate(EvalConfig(tmp_path / "x.safetensors", (data,), tmp_path, "val", device="cpu", cache=cache))


def test_a_tie_between_captions_is_never_right(run: Path, cache: Path, tmp_path: Path) -> None:
    record, first, _ = make_pair("attribute", 0)
    same = replace(record, captions_1=record.captions_0)
    write_shard(tmp_path / "test" / "00000.tar", [(same, first, first)])
    report = evaluate(EvalConfig(run, (tmp_path,), tmp_path / "out", resamples=5, device="cpu", cache=cache))
    assert report.groups[0].metrics["caption_accuracy"].value == 0.0
    assert report.groups[0].cosine["caption_accuracy"].value == 0.0


def test_captions_cut_before_they_differ_are_said(run: Path, cache: Path, tmp_path: Path) -> None:
    record, first, second = make_pair("spatial", 0)
    long = "a picture that shows on its grey ground, as pictures of this kind so often do, "
    cut = replace(record, captions_0=(long + "a", long + "b"), captions_1=(long + "c", long + "d"))
    write_shard(tmp_path / "00000.tar", [(cut, first, second)])
    report = evaluate(EvalConfig(run, (tmp_path,), tmp_path / "out", resamples=5, device="cpu", cache=cache))
    assert report.groups[0].metrics["text_score"].value == 0.0
    said = "4 captions cut to the map's rows; a caption reads the same as its twin in 1 of 1 spatial pairs."
    assert said in (tmp_path / "out" / "report.md").read_text()


def test_the_cosine_is_that_of_whole_captions_in_single_precision(
    run: Path, clip: Clip, cache: Path, tmp_path: Path
) -> None:
    record, first, second = make_pair("spatial", 0)
    long = "on grey one may see that "
    captions = {side: tuple(long + text for text in getattr(record, side)) for side in ("captions_0", "captions_1")}
    pairs = [(replace(record, **captions), first, second), make_pair("attribute", 1, second_image=False)]  # type: ignore[arg-type]
    write_shard(tmp_path / "00000.tar", pairs)
    evaluate(EvalConfig(run, (tmp_path,), tmp_path / "out", resamples=5, device="cpu", cache=cache))
    found = np.load(tmp_path / "out" / "scores.npz")["cosine"]
    whole = clip.cut_to(77)
    for number, (pair, *encoded) in enumerate(pairs):
        for side in range(1 + pair.has_image_1):
            image = whole.image_tokens(whole.preprocess(decode(encoded[side], ""))[None])[0, 0]
            ids, eos, cut = whole.tokenize([*pair.captions_0, *pair.captions_1])
            texts = whole.text_tokens(ids)[torch.arange(4), eos]
            assert cut == 0
            assert clip.tokenize(pair.captions_0)[2] == (2 if number == 0 else 0)
            np.testing.assert_allclose(found[number, side].ravel(), (texts @ image).numpy(), atol=1e-6)
    assert np.isnan(found[1, 1]).all()


def test_the_split_that_was_asked_for(run: Path, data: Path, cache: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no complete shard of the split test in .*has train, val"):
        evaluate(EvalConfig(run, (data,), tmp_path, "test", resamples=5, device="cpu", cache=cache))
    report = evaluate(EvalConfig(run, (data,), tmp_path, "all", resamples=5, device="cpu", cache=cache))
    assert (report.split, report.pairs) == ("all", 44)
    assert "All pairs: 44 pairs" in (tmp_path / "report.md").read_text()
    assert write_run(tmp_path / "more", {"spatial": 2}, "test")
    report = evaluate(EvalConfig(run, (tmp_path / "more",), tmp_path, "test", resamples=5, device="cpu", cache=cache))
    assert (report.split, report.pairs) == ("test", 2)
