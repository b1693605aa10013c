"""The authors' own annotation files, where they lie beside the repository (TWINSCENE_SHARED or ../shared)."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bench_judges import by_name, coin, constant, covers_chance, perfect

from scorer.benchmarks import BENCHMARKS
from scorer.benchmarks.base import Benchmark, Loaded
from scorer.benchmarks.judges import Judge, Shorter
from scorer.benchmarks.run import BenchmarkReport, run_benchmark

ROWS = {
    "sugarcrepe": {
        "add_obj": 2062,
        "add_att": 692,
        "replace_obj": 1652,
        "replace_att": 788,
        "replace_rel": 1406,
        "swap_obj": 245,
        "swap_att": 666,
    },
    "sugarcrepe_pp": {"replace_obj": 1652, "replace_att": 788, "replace_rel": 1406, "swap_obj": 245, "swap_att": 666},
    "whatsup": {"controlled_images": 412, "controlled_clevr": 408},
}

BY_OTHER_RULES = ("_official", "_ties_shared", "mean_rank")
# Rows whose negative is one of their positives, too.
IMPOSSIBLE = {("sugarcrepe_pp", "swap_obj"): 2}


def loaded(benchmark: Benchmark, part: str, root: Path) -> Loaded:
    return benchmark.load(root, next(item for item in benchmark.parts if item.name == part))


@pytest.fixture(params=list(ROWS))
def real(request: pytest.FixtureRequest, shared: Callable[[str], Path]) -> tuple[Benchmark, Path]:
    shared(f"benchmarks/{request.param}")
    return BENCHMARKS[request.param], shared("benchmarks")


def judged(benchmark: Benchmark, root: Path, judge: Judge) -> BenchmarkReport:
    return run_benchmark([judge], benchmark, root, resamples=200)


def test_every_row_is_read(real: tuple[Benchmark, Path]) -> None:
    benchmark, root = real
    report = judged(benchmark, root, constant())
    assert {part.name: part.examples for part in report.parts if part.found} == ROWS[benchmark.name]
    assert all(part.scored == part.examples for part in report.parts)


def test_a_constant_judge_gets_nothing_but_what_the_official_order_gives(real: tuple[Benchmark, Path]) -> None:
    benchmark, root = real
    for part in judged(benchmark, root, constant()).parts:
        found = by_name(part.results.get("constant", []))
        strict = {metric: item for metric, item in found.items() if not metric.endswith(BY_OTHER_RULES)}
        assert all(item.value == item.high == 0 for item in strict.values()), part.name
        if "accuracy_official" in found:
            truths = [item.truth for item in loaded(benchmark, part.name, root).examples]
            assert found["accuracy_official"].value == pytest.approx(truths.count(0) / len(truths))


def test_a_perfect_judge_gets_all_that_can_be_had(real: tuple[Benchmark, Path]) -> None:
    benchmark, root = real
    for part in (item for item in benchmark.parts if item.name in ROWS[benchmark.name]):
        judge = perfect(benchmark.load(root, part), part.kind)
        report = judged(replace(benchmark, parts=(part,), averages={}), root, judge)
        for metric, item in by_name(report.parts[0].results["perfect"]).items():
            impossible = IMPOSSIBLE.get((benchmark.name, part.name), 0)
            assert item.value == pytest.approx(1 - impossible / item.count), (part.name, metric)


def test_a_coin_is_at_chance(real: tuple[Benchmark, Path]) -> None:
    report = judged(*real, coin(3))
    wrong = [
        (part.name, metric, item)
        for part in report.parts
        for metric, item in by_name(part.results.get("coin 3", [])).items()
        if not covers_chance(item)
    ]
    assert wrong == []


def test_sugarcrepe_gives_its_additions_away(shared: Callable[[str], Path]) -> None:
    """The published figures of a scorer that prefers the caption with fewer characters, a coin breaking ties."""
    shared("benchmarks/sugarcrepe")
    report = judged(BENCHMARKS["sugarcrepe"], shared("benchmarks"), Shorter())
    found = {part.name: by_name(part.results["shorter caption"]) for part in report.parts}
    fair = {name: f"{100 * figures['accuracy_ties_shared'].value:.1f}" for name, figures in found.items()}
    assert (fair["add_att"], fair["add_obj"], fair["replace_rel"]) == ("99.6", "99.0", "64.2")
    strict = {name: f"{100 * figures['accuracy'].value:.1f}" for name, figures in found.items()}
    assert (strict["add_att"], strict["add_obj"], strict["replace_rel"]) == ("99.6", "98.8", "59.2")


def test_whatsup_has_pairs_and_sets_for_every_photograph(shared: Callable[[str], Path]) -> None:
    shared("benchmarks/whatsup")
    for name, sets in (("controlled_images", 103), ("controlled_clevr", 102)):
        rows = loaded(BENCHMARKS["whatsup"], name, shared("benchmarks"))
        assert {key: len(groups) for key, groups in rows.together.items()} == {"pair": 2 * sets, "set": sets}
        assert sorted(i for group in rows.together["pair"] for i in group) == list(range(4 * sets))
        labels = [rows.examples[group[0]].label for group in rows.together["set"]]
        assert set(labels) == {"left"}


def test_defects_of_sugarcrepe_pp_are_noted(shared: Callable[[str], Path]) -> None:
    shared("benchmarks/sugarcrepe_pp")
    rows = loaded(BENCHMARKS["sugarcrepe_pp"], "swap_obj", shared("benchmarks"))
    assert rows.notes == ("rows whose negative equals a positive and can never be right: 2, 8",)
