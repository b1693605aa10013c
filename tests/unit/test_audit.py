"""The audit: its figures, its blind learner, a clean run and planted ones, the command and the page.

tests/slow/test_audit_planted.py plants a shortcut for every check.
"""

import dataclasses
import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from audit_run import audited, clean_run, planted, repainted, samples_of, turned, with_record, write
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import context_of

from generator.audit import inherent as listed
from generator.audit import run_audit
from generator.audit.checks import CHECKS
from generator.audit.facts import pieces
from generator.audit.figures import ALPHA, CHANCE, TELLING, accuracy, holm, telling_accuracy, wilson
from generator.audit.inherent import INHERENT, inherent
from generator.audit.learn import Question, ask, interact
from generator.audit.sampling import Group, read
from generator.cli import Audit
from generator.errors import ConfigError, DataError, DependencyError
from generator.records import Sample
from generator.specs import project
from generator.tasks import TASKS

pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install -e '.[audit]'")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian: apt-get install chromium)")


@pytest.fixture(scope="module")
def spatial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clean_run(tmp_path_factory.mktemp("audit") / "spatial", "spatial", 120)


def group(source: str = "render", task: str = "spatial", protocol: str = "") -> Group:
    return Group(source, task, protocol, (), 0)


# --- figures ---------------------------------------------------------------------------------------------------------


@given(st.integers(1, 3000), st.floats(0, 1))
def test_an_interval_holds_its_share(n: int, share: float) -> None:
    low, high = wilson(share, n)
    assert 0 <= low <= share <= high <= 1
    wider = wilson(share, max(1, n // 4))
    assert wider[1] - wider[0] >= high - low - 1e-12


def test_an_interval_from_a_book() -> None:
    """Newcombe 1998, table I: 81 of 263, and 15 of 148."""
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(15 / 148, 148) == pytest.approx((0.0624, 0.1605), abs=1e-4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_corrects_and_keeps_the_order(values: list[float]) -> None:
    adjusted = holm(values)
    assert min(adjusted) == pytest.approx(min(1.0, min(values) * len(values)))
    for one, other in zip(
        sorted(zip(values, adjusted, strict=True))[:-1], sorted(zip(values, adjusted, strict=True))[1:], strict=True
    ):
        assert one[1] <= other[1]
    assert all(before <= after <= 1 for before, after in zip(values, adjusted, strict=True))


def test_holm_from_its_paper() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_ties_are_neither_right_nor_wrong() -> None:
    found = accuracy(np.full(200, CHANCE))
    assert (found.figure, found.p) == (CHANCE, 1.0)
    some = accuracy(np.array([1.0] * 30 + [CHANCE] * 970))
    assert some.figure == pytest.approx(0.515)
    assert some.p == pytest.approx(2.0**-30)


def test_worse_than_chance_is_no_shortcut() -> None:
    assert accuracy(np.zeros(100)).p == 1.0


def test_what_so_many_pairs_can_tell() -> None:
    assert telling_accuracy(0, 30) == math.inf
    assert telling_accuracy(20, 30) > TELLING > telling_accuracy(100, 30) > telling_accuracy(2000, 30) > CHANCE
    # At that accuracy a check is significant among so many, just below it is not.
    for n in (60, 100, 1000):
        right = round(telling_accuracy(n, 30) * n)
        for count, significant in ((right, True), (right - 1, False)):
            p = accuracy(np.array([1.0] * count + [0.0] * (n - count))).p
            assert p is not None
            assert (p < ALPHA / 30) == significant


# --- the learner -----------------------------------------------------------------------------------------------------


def noise(n: int, features: int, seed: int) -> Question:
    rows = np.random.default_rng(seed).normal(size=(n, features))
    return Question(rows, np.arange(n), [str(number) for number in range(features)])


def test_noise_is_at_chance_and_its_p_values_are_even() -> None:
    values = np.array([ask(noise(90, 30, seed), seed).p for seed in range(60)])
    assert values.min() > ALPHA
    assert 0.3 < np.mean(values < 0.5) < 0.7


def test_a_feature_that_tells_is_found_among_noise_and_named() -> None:
    question = noise(200, 40, 1)
    question.rows[:, 17] += 2.0
    found = ask(question, 0)
    assert found.figure > 0.9
    assert found.detail.startswith("most telling: 17 (+)")
    question.rows[:, 17] *= -1
    assert ask(question, 0).detail.startswith("most telling: 17 (−)")


def test_nothing_to_see_is_a_toss() -> None:
    found = ask(Question(np.zeros((50, 3)), np.arange(50), ("a", "b", "c")), 0)
    assert (found.figure, found.p, found.detail) == (CHANCE, 1.0, "")


def test_a_pair_is_never_both_learnt_and_asked() -> None:
    """Features that say which pair it is, twice: worth everything if one row were learnt from and the other asked."""
    n = 120
    sign = np.random.default_rng(3).choice([-1.0, 1.0], n)
    rows = np.tile(np.diag(sign), (2, 1))
    found = ask(Question(rows, np.tile(np.arange(n), 2), [str(i) for i in range(n)]), 0)
    assert found.figure == CHANCE


def test_the_seed_orders_the_pairs_and_nothing_else_does() -> None:
    question = noise(150, 10, 4)
    assert ask(question, 1) == ask(question, 1)
    assert ask(question, 1) != ask(question, 2)


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.integers(0, 1000))
def test_products_of_what_is_said_and_seen(rows: int, said: int, seen: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    options = rng.integers(-1, 2, (rows, said)).astype(float)
    features = rng.integers(-3, 4, (rows, seen)).astype(float)
    wanted = np.einsum("rs,rf->rsf", options, features).reshape(rows, said * seen)
    assert np.array_equal(interact(options, features).toarray(), wanted)


# --- runs ------------------------------------------------------------------------------------------------------------


def test_nothing_to_audit(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to audit"):
        run_audit(Audit(dirs=(), out=tmp_path))


def test_a_clean_run_is_clean(spatial: Path) -> None:
    results = audited(spatial)
    assert {name for name, result in results.items() if result.verdict in ("shortcut", "fault")} == set()
    assert results["place_of_one"].verdict == "inherent"
    assert results["single_word"].finding.figure == CHANCE, "twins are made of the same words"
    assert set(CHECKS) - set(results) <= {"colours", "assets", "values_by_stage"}


def test_planted_shortcuts_are_found_each_by_its_check(spatial: Path, tmp_path: Path) -> None:
    """A word in true captions, a darker image 1, a background for every relation, and a wrong label, all at once."""

    def plant(sample: Sample) -> Sample:
        record = sample.record
        captions = tuple(f"{text} indeed" for text in record.captions_0)
        darker = repainted(sample, 1, lambda pixels: pixels * 0.97)
        background = "hall" if record.fact.value_0 in ("above", "left of") else "yard"
        return with_record(darker, captions_0=captions, background=background)

    found = {name: result.verdict for name, result in audited(planted(spatial, tmp_path / "run", plant)).items()}
    expected = {"caption_words", "single_word", "image_statistics_side", "setting"}
    assert {name for name in expected if found[name] == "shortcut"} == expected
    assert found["labels"] == "fault", "captions no longer follow from the record"
    assert found["file_order"] == found["nouns"] == found["boxes"] == "ok"


def test_several_runs_are_one_set_of_data(spatial: Path, tmp_path: Path) -> None:
    """The training split here, the test split there, with a photograph in both."""
    samples = [with_record(sample, image_ids=(str(sample.record.index),)) for sample in samples_of(spatial)]
    parts = {split: [sample for sample in samples if sample.record.split == split] for split in ("train", "test")}
    parts["test"][0] = with_record(parts["test"][0], image_ids=parts["train"][0].record.image_ids)
    runs = [write(tmp_path / split, part) for split, part in parts.items()]
    for run in runs:
        assert audited(run)["near_duplicates"].verdict == "ok"
    result = audited(*runs)["split_photos"]
    assert (result.verdict, result.group) == ("fault", "all pairs")


def test_too_few_pairs_are_said_to_be_too_few(spatial: Path, tmp_path: Path) -> None:
    run = write(tmp_path / "run", samples_of(spatial)[:20])
    results = audited(run)
    assert results["caption_words"].verdict == "too few"
    assert results["labels"].verdict == "ok"


def test_pairs_without_a_second_image_are_asked_about_captions(spatial: Path, tmp_path: Path) -> None:
    def one_sided(sample: Sample) -> Sample:
        files = {name: data for name, data in sample.files.items() if not name.endswith(("_1.jpg", "_1.png"))}
        return with_record(
            Sample(sample.record, files), has_image_1=False, objects_1=(), source="coco", task="attribute"
        )

    run = planted(spatial, tmp_path / "run", lambda sample: with_record(one_sided(sample), key=sample.record.key))
    names = set(audited(run))
    assert {"caption_words", "single_word", "nouns", "near_duplicates"} <= names
    assert not names & {"boxes", "thumbnail_side", "mentioned_nouns", "twins_differ", "place_of_one"}


def test_no_more_pairs_than_the_limit_and_every_split(spatial: Path) -> None:
    found = read([spatial], 30, 0)
    (only,) = found.groups
    assert len(only.pairs) == 30
    assert {pair.record.split for pair in only.pairs} == {"train", "val", "test"}
    assert only.available == len(samples_of(spatial))
    assert found.holdings.pairs.total() == only.available
    again = read([spatial], 30, 0).groups[0].pairs
    assert [pair.record.key for pair in again] == [pair.record.key for pair in only.pairs]
    other = read([spatial], 30, 1).groups[0].pairs
    assert [pair.record.key for pair in other] != [pair.record.key for pair in only.pairs]


def test_what_each_kind_of_fact_says(spatial: Path) -> None:
    record = samples_of(spatial)[0].record
    assert pieces(record, 0) == (f"A {record.fact.value_0} B",)
    colours = dataclasses.replace(record.fact, kind="colour", value_0="red {0}, blue {1}", value_1="blue {0}, red {1}")
    nouns = [item.noun for item in record.objects_0]
    filled = {name: getattr(colours, name).format(*nouns) for name in ("value_0", "value_1")}
    coloured = dataclasses.replace(record, task="attribute", fact=dataclasses.replace(colours, **filled))
    assert (pieces(coloured, 0), pieces(coloured, 1)) == (("A red", "B blue"), ("A blue", "B red"))
    presence = dataclasses.replace(record.fact, kind="presence", value_0="mug, owl", value_1="mug, tent")
    assert pieces(dataclasses.replace(record, fact=presence), 1) == ("tent",)
    assert pieces(dataclasses.replace(record, task="swap_noun"), 0) == ()


# --- what belongs to a protocol --------------------------------------------------------------------------------------


def test_inherent_is_a_closed_list_of_known_checks() -> None:
    for entry in INHERENT:
        assert set(entry.checks) <= set(CHECKS), entry
        assert CHANCE < entry.up_to <= 1
        assert entry.reason
        assert entry.instead
    assert inherent(group(), "place_of_one", 0.88)
    assert inherent(group(), "place_of_one", 0.91) is None, "beyond its limit"
    assert inherent(group(), "caption_words", 0.6) is None
    assert inherent(group(task="negation"), "mentioned_nouns", 1.0)
    assert inherent(group(task="negation", protocol="shared"), "mentioned_nouns", 0.6) is None
    assert inherent(group(source="coco", task="swap_noun"), "caption_word_ngrams", 0.8)
    assert len(listed.INHERENT) == 7


def test_the_place_of_one_object_says_little_of_the_relation() -> None:
    """By plan: the best threshold on where A stands, on either axis. In the middle of the frame it would be 1."""
    context = context_of(11)
    places: dict[str, list[tuple[float, bool]]] = {"horizontal": [], "vertical": []}
    for index in range(600):
        spec = TASKS["spatial"].sample(context, index, 0, "train")
        for scene, relation in zip(spec.scenes, (spec.fact.value_0, spec.fact.value_1), strict=True):
            a = next(item for item in scene.objects if item.role == "A")
            u, v = project(scene.camera, a.position_m)
            axis, place = ("horizontal", u) if relation in ("left of", "right of") else ("vertical", v)
            places[axis].append((place, relation in ("left of", "above")))
    for axis, found in places.items():
        first = [is_first for _, is_first in sorted(found)]
        before = np.cumsum(first)
        # Everything up to here said to be first, everything after it second.
        right = before + (len(first) - before[-1]) - (np.arange(1, len(first) + 1) - before)
        assert 0.75 < right.max() / len(first) < 0.92, axis


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_writes_the_same_each_time(
    spatial: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "other"):
        assert run_audit(Audit((spatial,), out=tmp_path / folder, strict=True)) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^spatial \(\d+ pairs\)$", printed, re.M)
    assert re.search(r"^  inherent  place_of_one +0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]$", printed, re.M)
    for name in ("audit.json", "audit.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    data = json.loads((tmp_path / "one" / "audit.json").read_text())
    assert data["runs"] == [spatial.name]
    by_name = {entry["check"]: entry for entry in data["results"]}
    assert by_name["place_of_one"]["verdict"] == "inherent"
    assert by_name["place_of_one"]["low"] < by_name["place_of_one"]["figure"] < by_name["place_of_one"]["high"]
    assert not list(spatial.glob("audit.*")), "--out was given"


def test_strict_is_what_fails(spatial: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = planted(
        spatial,
        tmp_path / "run",
        lambda sample: sample if sample.record.fact.value_0 in ("above", "left of") else turned(sample),
    )
    assert run_audit(Audit((run,))) == 0
    assert run_audit(Audit((run,), strict=True)) == 1
    assert "shortcut  values_by_side" in capsys.readouterr().out
    assert (run / "audit.json").is_file()
    assert (run / "audit.html").is_file()


def test_errors_name_the_mend(spatial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="not a run directory"):
        run_audit(Audit((tmp_path,)))
    with pytest.raises(ConfigError, match="given twice"):
        run_audit(Audit((spatial, spatial)))
    with pytest.raises(ConfigError, match="--limit must be at least 1"):
        run_audit(Audit((spatial,), limit=0))
    empty = tmp_path / "empty"
    shutil.copytree(spatial, empty, ignore=shutil.ignore_patterns("*.tar", "*.parquet", "0*.json"))
    with pytest.raises(DataError, match="no accepted pair in a complete shard"):
        run_audit(Audit((empty,)))
    monkeypatch.setitem(__import__("sys").modules, "sklearn", None)
    with pytest.raises(DependencyError, match=r"pip install -e '\.\[audit\]'"):
        run_audit(Audit((spatial,)))


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_needs_nothing_from_elsewhere_and_escapes_what_it_shows(spatial: Path, tmp_path: Path) -> None:
    hostile = planted(
        spatial, tmp_path / "run", lambda sample: with_record(sample, background="<script>alert(1)</script>")
    )
    run_audit(Audit((hostile,)))
    text = (hostile / "audit.html").read_text()
    assert not re.search(r"(?:src|href)=\"(?!#)", text)
    assert "<script>alert" not in text
    assert "{{" not in text
    names = re.findall(r'id="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(names)


@needs_browser
def test_the_page_in_a_browser(spatial: Path, tmp_path: Path) -> None:
    """Wide and as narrow as a phone: nothing runs out of the window."""
    run_audit(Audit((spatial,), out=tmp_path))
    probe = tmp_path / "probe.html"
    script = "addEventListener('load', () => { document.title = document.documentElement.scrollWidth - innerWidth; });"
    probe.write_text((tmp_path / "audit.html").read_text().replace("</body>", f"<script>{script}</script></body>"))
    assert CHROMIUM is not None
    for width in (1280, 500):
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},900",
        ]
        done = subprocess.run(
            [CHROMIUM, *flags, "--dump-dom", probe.as_uri()], capture_output=True, text=True, timeout=120, check=True
        )
        title = re.search(r"<title>(-?\d+)</title>", done.stdout)
        assert title, done.stdout[:500]
        assert int(title[1]) <= 0
