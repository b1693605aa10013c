"""The authors' own annotation files, where they lie beside the repository (TWINSCENE_SHARED or ../shared)."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bench_judges import by_name, coin, constant, covers_chance, perfect

from scorer.benchmarks import BENCHMARKS
from scorer.benchmarks.base import Benchmark, Loaded
from scorer.benchmarks.judges import Judge, Shorter
from scorer.benchmarks.kinds import Choice, Retrieval
from scorer.benchmarks.run import BenchmarkReport, run_benchmark

CREPE_SWAP = {4: 27, 5: 36}  # fewer than 40 rows were to be had
VL_CHECKLIST_ABSENT = {
    "attribute_color_vaw",
    *(f"object_location_{place}_{thing}" for place in ("center", "mid") for thing in ("hake_obj", "vg_obj")),
    "object_location_center_swig_agent",
    *(f"object_size_large_{thing}" for thing in ("hake_obj", "vg_obj", "swig_agent")),
    "relation_action_hake",
}
# Of VL-CheckList and CREPE the first 40 rows of each file.
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
    "negbench": {"coco_mcq": 5914, "voc_mcq": 5031},
    "vl_checklist": {
        part.name: 9 if part.name == "object_size_small_swig_destination" else 40
        for part in BENCHMARKS["vl_checklist"].parts
        if part.name not in VL_CHECKLIST_ABSENT
    },
    "crepe": {
        f"prod_{kind}_{n}": CREPE_SWAP.get(n, 40) if kind == "swap" else 40
        for kind in ("atom", "swap", "negate")
        for n in range(4, 13)
    },
    "valse": {
        "existence": 505,
        "plurals": 851,
        "counting-hard": 868,
        "counting-small-quant": 900,
        "counting-adversarial": 691,
        "relations": 535,
        "action-replacement": 648,
        "actant-swap": 949,
        "coreference-standard": 708,
        "coreference-hard": 104,
        "foil-it": 943,
    },
}
FOLDERS = {"vl_checklist": "vl_checklist_sample", "crepe": "crepe_sample"}

BY_OTHER_RULES = ("_official", "_ties_shared", "mean_rank", "auroc")
# Rows whose true caption is a false one, too, or the false one of another row with the same image.
IMPOSSIBLE = {
    ("sugarcrepe_pp", "swap_obj"): 2,
    ("vl_checklist", "attribute_size_vaw"): 5,
    ("vl_checklist", "attribute_state_vg"): 1,
    ("crepe", "prod_swap_4"): 1,
    ("crepe", "prod_swap_5"): 1,
    ("crepe", "prod_swap_7"): 1,
}


def loaded(benchmark: Benchmark, part: str, root: Path) -> Loaded:
    return benchmark.load(root, next(item for item in benchmark.parts if item.name == part))


@pytest.fixture(params=list(ROWS))
def real(request: pytest.FixtureRequest, shared: Callable[[str], Path], tmp_path: Path) -> tuple[Benchmark, Path]:
    """A benchmark's parts that have their rows here, but for retrieval, and the root."""
    name = request.param
    (tmp_path / name).symlink_to(shared(f"benchmarks/{FOLDERS.get(name, name)}"))
    benchmark = BENCHMARKS[name]
    found = tuple(part for part in benchmark.parts if not isinstance(part.kind, Retrieval))
    return replace(benchmark, parts=found, averages={}), tmp_path


def judged(benchmark: Benchmark, root: Path, judge: Judge) -> BenchmarkReport:
    return run_benchmark([judge], benchmark, root, resamples=200)


def test_every_row_is_read(real: tuple[Benchmark, Path]) -> None:
    benchmark, root = real
    report = judged(benchmark, root, constant())
    assert {part.name: part.examples for part in report.parts if part.found} == ROWS[benchmark.name]
    assert all(part.scored == part.examples for part in report.parts)


def test_a_constant_judge_gets_nothing_but_what_the_official_order_gives(real: tuple[Benchmark, Path]) -> None:
    benchmark, root = real
    kinds = {part.name: part.kind for part in benchmark.parts}
    for part in judged(benchmark, root, constant()).parts:
        found, kind = by_name(part.results.get("constant", [])), kinds[part.name]
        strict = {metric: item for metric, item in found.items() if not metric.endswith(BY_OTHER_RULES)}
        assert all(item.value == item.high == 0 for item in strict.values()), part.name
        if part.found and isinstance(kind, Choice) and kind.official == "argmax":
            truths = [item.truth for item in loaded(benchmark, part.name, root).examples]
            assert found["accuracy_official"].value == pytest.approx(truths.count(0) / len(truths))


def test_a_perfect_judge_gets_all_that_can_be_had(real: tuple[Benchmark, Path]) -> None:
    benchmark, root = real
    for part in (item for item in benchmark.parts if item.name in ROWS[benchmark.name]):
        judge = perfect(benchmark.load(root, part), part.kind)
        report = judged(replace(benchmark, parts=(part,), averages={}), root, judge)
        for metric, item in by_name(report.parts[0].results["perfect"]).items():
            lost = IMPOSSIBLE.get((benchmark.name, part.name), 0) / item.count
            expected = (
                1 + lost if metric == "mean_rank" else 1 - lost / 2 if metric.endswith("_ties_shared") else 1 - lost
            )
            if (metric.startswith("recall@") and metric[-1] in "35") or metric == "auroc":
                expected = 1.0
            assert item.value == pytest.approx(expected), (part.name, metric)


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


def test_defects_of_other_rows_are_noted(shared: Callable[[str], Path], tmp_path: Path) -> None:
    """The rows that IMPOSSIBLE counts, in the words of a report."""
    for (name, part), count in IMPOSSIBLE.items():
        if name != "sugarcrepe_pp":
            (tmp_path / part).mkdir()
            (tmp_path / part / name).symlink_to(shared(f"benchmarks/{FOLDERS[name]}"))
            (note,) = loaded(BENCHMARKS[name], part, tmp_path / part).notes
            assert f": {count} (" in note


def test_valse_leaves_out_what_annotators_did_not_choose(shared: Callable[[str], Path]) -> None:
    shared("benchmarks/valse")
    left_out = {
        part.name: sum(loaded(BENCHMARKS["valse"], part.name, shared("benchmarks")).excluded.values())
        for part in BENCHMARKS["valse"].parts
    }
    assert left_out["existence"] == 534 - 505
    assert left_out["foil-it"] == 1000 - 943
    assert sum(left_out.values()) + sum(ROWS["valse"].values()) == 8782


def test_negbench_s_templates_are_those_of_the_published_counts(shared: Callable[[str], Path]) -> None:
    shared("benchmarks/negbench")
    for part, counts in (
        ("coco_mcq", {"positive": 2032, "hybrid": 2012, "negative": 1870}),
        ("voc_mcq", {"positive": 682, "hybrid": 2228, "negative": 2121}),
    ):
        rows = loaded(BENCHMARKS["negbench"], part, shared("benchmarks")).examples
        assert Counter(item.label for item in rows) == counts
        assert {item.truth for item in rows} == {0}


def test_retrieval_of_real_captions(shared: Callable[[str], Path]) -> None:
    """Rows of NegBench's retrieval: all are read; judged are the first 60, since every caption meets every image."""
    shared("benchmarks/negbench")
    benchmark = BENCHMARKS["negbench"]
    (part,) = (item for item in benchmark.parts if item.name == "coco_retrieval")
    whole = benchmark.load(shared("benchmarks"), part)
    assert len(whole.examples) == 5000
    assert sum(len(item.captions) for item in whole.examples) == 25014
    some = Loaded(whole.examples[:60])
    benchmark = replace(benchmark, parts=(part,), load=lambda _root, _part: some)
    judges = [constant(), coin(3), perfect(some, part.kind)]
    report = run_benchmark(judges, benchmark, shared("benchmarks"), resamples=200)
    found = {name: by_name(results) for name, results in report.parts[0].results.items()}
    assert all(item.value == 0 for item in found["constant"].values())
    assert all(item.value == 1 for item in found["perfect"].values())
    assert [item.metric for item in found["coin 3"].values() if not covers_chance(item)] == []
    assert found["coin 3"]["text_to_image_recall@5"].chance == pytest.approx(5 / 60)
