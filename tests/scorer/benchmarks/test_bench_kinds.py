"""Every kind of rows with a judge that knows nothing, one that knows all, and a coin; and where ties go."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench_judges import Formula, by_name, coin, constant, covers_chance, perfect, rows, small
from hypothesis import given, settings
from hypothesis import strategies as st

from scorer.benchmarks.auroc import auroc
from scorer.benchmarks.base import Example, Loaded, Picture
from scorer.benchmarks.figures import Result
from scorer.benchmarks.judges import Block, Judge, Matrix
from scorer.benchmarks.kinds import Choice, Kind, Retrieval, Twins, TwoPositives
from scorer.benchmarks.run import run_benchmark
from scorer.errors import DataError

COUNT = 2000
KINDS: dict[str, tuple[Kind, Loaded]] = {
    "two options": (Choice(), rows(COUNT, 2)),
    "four options, the truth anywhere": (Choice("argmax"), rows(COUNT, 4, truth=lambda i: i % 4)),
    "six options with ranks": (Choice(recall_at=(1, 3)), rows(COUNT, 6)),
    "three classes of two prompts": (Choice(prompts=2, name="top1"), rows(COUNT, 6, truth=lambda i: i % 3)),
    "pairs with a threshold": (Choice(auroc=True, official_first=1000), rows(COUNT, 2)),
    "twins": (Twins(), rows(COUNT, 2, images=2)),
    "twins by image": (Twins("image_score", half=True), rows(COUNT, 2, images=2)),
    "two positives": (TwoPositives(), rows(COUNT, 3)),
    "retrieval": (Retrieval((1, 10)), rows(200, 3)),
}


def judged(root: Path, kind: Kind, loaded: Loaded, judge: Judge) -> dict[str, Result]:
    report = run_benchmark([judge], small(root, kind, loaded), root, resamples=300)
    return by_name(report.parts[0].results[judge.name])


@pytest.mark.parametrize("name", KINDS)
def test_a_constant_judge_is_never_right(name: str, tmp_path: Path) -> None:
    kind, loaded = KINDS[name]
    found = judged(tmp_path, kind, loaded, constant())
    by_other_rules = ("_official", "_ties_shared", "mean_rank", "auroc")
    strict = {key: item for key, item in found.items() if not key.endswith(by_other_rules)}
    assert strict
    assert all(item.value == 0 == item.high for key, item in strict.items() if "recall@" not in key)
    # Ties stand before the truth: rank 6 of 6 is not among the first 3.
    assert all(item.value == 0 for key, item in strict.items() if "recall@" in key)


@pytest.mark.parametrize("name", KINDS)
def test_a_perfect_judge_is_always_right(name: str, tmp_path: Path) -> None:
    kind, loaded = KINDS[name]
    found = judged(tmp_path, kind, loaded, perfect(loaded, kind))
    assert all(item.value == item.low == 1 for item in found.values())


@pytest.mark.parametrize("name", KINDS)
def test_a_coin_is_at_chance(name: str, tmp_path: Path) -> None:
    kind, loaded = KINDS[name]
    found = judged(tmp_path, kind, loaded, coin(1))
    assert [key for key, item in found.items() if not covers_chance(item)] == []


def test_chance_of_every_figure(tmp_path: Path) -> None:
    def chances(name: str) -> dict[str, float]:
        return {key: round(item.chance, 4) for key, item in judged(tmp_path, *KINDS[name], constant()).items()}

    assert chances("four options, the truth anywhere")["accuracy"] == 0.25
    ranks = chances("six options with ranks")
    assert (ranks["recall@1"], ranks["recall@3"], ranks["mean_rank"]) == (0.1667, 0.5, 3.5)
    assert chances("twins") == {"text_score": 0.25, "image_score": 0.25, "group_score": 0.1667}
    assert chances("two positives") == {
        "itt_accuracy": 0.3333,
        "p1_accuracy": 0.5,
        "p2_accuracy": 0.5,
        "tot_accuracy": 0.3333,
    }
    # 200 images with 3 captions each: one of 3 own ones is among the first 10 of 600 in 4.9 % of orders.
    assert chances("retrieval") == {
        "text_to_image_recall@1": 0.005,
        "text_to_image_recall@10": 0.05,
        "image_to_text_recall@1": 0.005,
        "image_to_text_recall@10": 0.0493,
    }


def test_the_headline_comes_first(tmp_path: Path) -> None:
    kind, loaded = KINDS["twins by image"]
    assert next(iter(judged(tmp_path, kind, loaded, coin()))) == "image_score"


def test_the_official_argmax_depends_on_where_the_truth_stands(tmp_path: Path) -> None:
    kind, loaded = KINDS["four options, the truth anywhere"]
    found = judged(tmp_path, kind, loaded, constant())
    # The first of four tied options wins: right for the quarter of the rows whose truth stands there.
    assert found["accuracy_official"].value == 0.25
    first = replace(loaded, examples=[replace(item, truth=0) for item in loaded.examples])
    assert judged(tmp_path, kind, first, constant())["accuracy_official"].value == 1
    last = replace(loaded, examples=[replace(item, truth=3) for item in loaded.examples])
    assert judged(tmp_path, kind, last, constant())["accuracy_official"].value == 0
    assert found["accuracy"].value == 0
    assert found["accuracy_ties_shared"].value == 0.25


def test_a_judge_that_likes_the_first_option_shown_is_at_chance(tmp_path: Path) -> None:
    class First(Formula):
        def scores(self, blocks: Sequence[Block]) -> list[Matrix]:
            return [np.tile(-np.arange(len(b.captions), dtype=np.float32), (len(b.pictures), 1)) for b in blocks]

    found = judged(tmp_path, Choice(), rows(COUNT, 2), First("first", lambda *_: 0))
    assert 0.4 < found["accuracy"].value < 0.6


def test_the_order_of_options_belongs_to_the_seed(tmp_path: Path) -> None:
    shown: list[list[str]] = []

    class Recorder(Formula):
        def scores(self, blocks: Sequence[Block]) -> list[Matrix]:
            shown[-1] += [text for block in blocks for text in block.captions]
            return super().scores(blocks)

    benchmark = small(tmp_path, Choice(), rows(20, 4))
    for seed in (0, 0, 1):
        shown.append([])
        run_benchmark([Recorder("recorder", lambda *_: 0)], benchmark, tmp_path, resamples=0, seed=seed)
    assert shown[0] == shown[1] != shown[2]
    assert sorted(shown[0]) == sorted(shown[2])


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", KINDS)
def test_a_score_that_is_not_a_number_stops(name: str, bad: float, tmp_path: Path) -> None:
    kind, loaded = KINDS[name]
    broken = Formula("broken", lambda _, text: bad if text.startswith("row 7 ") else 0.0)
    with pytest.raises(DataError, match="broken is not a number"):
        judged(tmp_path, kind, loaded, broken)


def test_classes_share_their_captions_and_the_macro_average_weighs_them_alike(tmp_path: Path) -> None:
    names = ("cat", "dog", "yak")
    of_class = [0] * 80 + [1] * 15 + [2] * 5
    examples = [
        Example(str(i), (Picture(Path(f"{i}.jpg")),), tuple(f"a photo of a {n}" for n in names), c, names[c])
        for i, c in enumerate(of_class)
    ]
    loaded = Loaded(examples, macro=frozenset(names))
    always_cat = Formula("cat", lambda _, text: float("cat" in text))
    report = run_benchmark([always_cat], small(tmp_path, Choice(name="top1"), loaded), tmp_path, resamples=50)
    results = report.parts[0].results["cat"]
    found = by_name(results)
    assert found["top1"].value == 0.8
    assert found["macro_top1"].value == pytest.approx(1 / 3)
    assert found["macro_top1"].chance == pytest.approx(1 / 3)
    assert next(iter(found)) == "macro_top1"
    assert {item.label: item.value for item in results if item.label} == {"cat": 1, "dog": 0, "yak": 0}
    assert {item.label: item.count for item in results if item.label} == {"cat": 80, "dog": 15, "yak": 5}
    # The average over parts goes by the part's headline.
    assert report.averages["cat"][0].value == pytest.approx(1 / 3)
    assert always_cat.blocks == 2  # 64 images against the three captions, and the rest


def test_only_labels_of_the_macro_average_enter_it(tmp_path: Path) -> None:
    loaded = rows(30, 2)
    examples = [replace(item, label=("on", "under", "near")[i % 3]) for i, item in enumerate(loaded.examples)]
    some = Loaded(examples, macro=frozenset({"on", "under"}))
    not_near = Formula("x", lambda p, text: float(text.endswith("0") and int(p.path.stem.split("-")[1]) % 3 != 2))
    found = judged(tmp_path, Choice(), some, not_near)
    assert found["macro_accuracy"].value == 1
    assert found["macro_accuracy"].count == 20
    assert found["accuracy"].value == pytest.approx(2 / 3)


def test_groups_count_when_all_their_rows_are_right(tmp_path: Path) -> None:
    loaded = replace(
        rows(8, 4), together={"pair": [(0, 1), (2, 3), (4, 5), (6, 7)], "set": [(0, 1, 2, 3), (4, 5, 6, 7)]}
    )
    all_but_five = Formula("x", lambda p, text: float(text.endswith("0") and p.path.stem != "image-5-0"))
    found = judged(tmp_path, Choice("argmax"), loaded, all_but_five)
    assert (found["pair_accuracy"].value, found["pair_accuracy"].count) == (0.75, 4)
    assert (found["set_accuracy"].value, found["set_accuracy"].count) == (0.5, 2)
    assert found["pair_accuracy"].chance == pytest.approx(1 / 16)
    assert found["set_accuracy"].chance == pytest.approx(1 / 256)
    # All options of row 5 are tied, and the official argmax takes the first, which is true.
    assert found["set_accuracy_official"].value == 1


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=5), min_size=1, max_size=20), st.data())
def test_choices_are_judged_by_their_definition(levels: list[list[int]], data: st.DataObject) -> None:
    """Any scores with any ties, rows of different lengths, the truth anywhere."""
    truths = [data.draw(st.integers(0, len(row) - 1)) for row in levels]
    examples = [
        Example(str(i), (Picture(Path(f"{i}.jpg")),), tuple(f"{i} {k}" for k in range(len(row))), truth)
        for i, (row, truth) in enumerate(zip(levels, truths, strict=True))
    ]
    judge = Formula("levels", lambda _, text: levels[int(text.split()[0])][int(text.split()[1])])
    kind, loaded = Choice("argmax", recall_at=(2,)), Loaded(examples)
    raw = kind.collect(loaded, np.ones(len(examples), dtype=bool), judge, 0)
    found = {metric.name: metric.values.tolist() for metric in kind.metrics(loaded, raw)}
    best = [max(row) for row in levels]
    own = [row[truth] for row, truth in zip(levels, truths, strict=True)]
    ties = [row.count(top) for row, top in zip(levels, best, strict=True)]
    ranks = [sum(score >= mine for score in row) for row, mine in zip(levels, own, strict=True)]
    assert found["accuracy"] == [m == b and t == 1 for m, b, t in zip(own, best, ties, strict=True)]
    assert found["accuracy_official"] == [row.index(max(row)) == t for row, t in zip(levels, truths, strict=True)]
    assert found["accuracy_ties_shared"] == [(m == b) / t for m, b, t in zip(own, best, ties, strict=True)]
    assert found["recall@2"] == [rank <= 2 for rank in ranks]
    assert found["mean_rank"] == ranks


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=20))
def test_twins_are_judged_by_their_definition(levels: list[list[int]]) -> None:
    loaded = rows(len(levels), 2, images=2)

    def level(picture: Picture, text: str) -> float:
        _, row, side = picture.path.stem.split("-")
        return levels[int(row)][2 * int(side) + int(text[-1])]

    raw = Twins().collect(loaded, np.ones(len(levels), dtype=bool), Formula("levels", level), 0)
    found = {metric.name: metric.values.tolist() for metric in Twins().metrics(loaded, raw)}
    text = [a > b and d > c for a, b, c, d in levels]
    image = [a > c and d > b for a, b, c, d in levels]
    assert found["text_score"] == text
    assert found["image_score"] == image
    assert found["group_score"] == [one and other for one, other in zip(text, image, strict=True)]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=70), st.integers(0, 1000), st.integers(1, 6))
def test_ranks_are_those_of_the_whole_matrix(captions: list[int], seed: int, levels: int) -> None:
    """Tiles, ties and images that are absent against the plain definition."""
    loaded = Loaded(
        [
            Example(str(i), (Picture(Path(f"{i}.jpg")),), tuple(f"caption {i} {k}" for k in range(count)))
            for i, count in enumerate(captions)
        ]
    )
    exact = coin(seed)
    judge = Formula("levels", lambda picture, text: float(int(exact.score(picture, text) * levels)))
    present = np.array([(i * 7 + seed) % 5 != 0 for i in range(len(captions))])
    raw = Retrieval().collect(loaded, present, judge, 0)
    here = [item for item, known in zip(loaded.examples, present, strict=True) if known]
    texts = [(item, text) for item in here for text in item.captions]
    to_image = [
        1 + sum(judge.score(o.images[0], text) >= judge.score(item.images[0], text) for o in here if o is not item)
        for item, text in texts
    ]
    to_text = []
    for item in here:
        best = max(judge.score(item.images[0], text) for text in item.captions)
        to_text.append(1 + sum(judge.score(item.images[0], text) >= best for o, text in texts if o is not item))
    assert raw["text_to_image"][~np.isnan(raw["text_to_image"])].tolist() == to_image
    assert raw["image_to_text"][~np.isnan(raw["image_to_text"])].tolist() == to_text
    assert np.isnan(raw["image_to_text"]).tolist() == (~present).tolist()


def test_prompts_of_a_class_are_averaged() -> None:
    """Three classes of two prompts each: no single prompt decides, and `truth` counts classes."""
    scores = np.array([[[1.0, 0.0, 0.6, 0.6, 0.9, 0.2]], [[0.5, 0.5, 0.7, 0.3, 0.1, 0.1]]], dtype=np.float32)
    loaded = Loaded([replace(item, truth=1) for item in rows(2, 6).examples])
    kind = Choice("argmax", prompts=2, recall_at=(2,), name="top1")
    found = {metric.name: metric for metric in kind.metrics(loaded, {"scores": scores})}
    assert found["top1"].values.tolist() == [1, 0]
    assert found["top1_official"].values.tolist() == [1, 0]  # a tie with the class before
    assert found["top1_ties_shared"].values.tolist() == [1, 0.5]
    assert found["recall@2"].values.tolist() == [1, 1]
    assert found["top1"].chance.tolist() == pytest.approx([1 / 3, 1 / 3])


def test_the_official_figure_may_stop_after_the_first_rows_that_have_their_image() -> None:
    scores = np.array([[[1, 0]], [[np.nan, np.nan]], [[0, 1]], [[1, 0]]], dtype=np.float32)
    found = {metric.name: metric for metric in Choice(official_first=2).metrics(rows(4, 2), {"scores": scores})}
    assert np.array_equal(found["accuracy_official"].values, [1, np.nan, 0, np.nan], equal_nan=True)
    assert np.array_equal(found["accuracy"].values, [1, np.nan, 0, 1], equal_nan=True)


@pytest.mark.parametrize(
    ("table", "strict", "official"),
    [
        ([[1, 0], [0, 1]], 1, 1),
        ([[1, 1], [0, 1]], 0, 1),  # the second caption's images tie: the second image wins
        ([[1, 0], [1, 1]], 0, 0),  # those of the first tie
        ([[0, 0], [1, 1]], 0, 0),
    ],
)
def test_half_of_the_probability_gives_ties_to_the_second_image(
    table: list[list[float]], strict: int, official: int
) -> None:
    """table[image][caption]."""
    scores = np.array([table], dtype=np.float32)
    found = Twins("image_score", half=True).metrics(rows(1, 2, images=2), {"scores": scores})
    assert found[0].name == "image_score"
    values = {metric.name: metric.values[0] for metric in found}
    assert (values["image_score"], values["image_score_official"]) == (strict, official)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30))
def test_auroc_is_the_share_of_pairs_in_order(pairs: list[tuple[int, int]]) -> None:
    """By its definition over all true and false captions, with rows that were not scored in between."""
    scores = np.array([*pairs, (np.nan, np.nan)], dtype=np.float32)
    values = auroc(scores, np.zeros(len(scores), dtype=np.int64))
    assert np.isnan(values[-1])
    true, false = scores[:-1, 0][:, None], scores[:-1, 1][None, :]
    assert values[:-1].mean() == pytest.approx(((true > false) + 0.5 * (true == false)).mean())
    flipped = auroc(scores[:, ::-1], np.ones(len(scores), dtype=np.int64))
    assert np.allclose(values, flipped, equal_nan=True)


def test_the_interval_of_auroc_is_that_of_resampled_rows() -> None:
    """Values by row must spread as the whole figure does when rows are drawn anew."""
    rng = np.random.default_rng(0)
    scores = np.stack([rng.normal(1, 1, 300), rng.normal(0, 1, 300)], axis=1).astype(np.float32)
    truth = np.zeros(300, dtype=np.int64)
    values = auroc(scores, truth)
    drawn = [rng.integers(0, 300, 300) for _ in range(400)]
    whole = np.std([auroc(scores[some], truth).mean() for some in drawn])
    assert np.std([values[some].mean() for some in drawn]) == pytest.approx(whole, rel=0.1)
