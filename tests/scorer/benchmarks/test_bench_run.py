"""Missing and unreadable images, what is kept of an interrupted evaluation, averages, and what reports say."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench_judges import Formula, by_name, coin, constant, perfect, rows, small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from scorer.benchmarks import saved
from scorer.benchmarks.base import Benchmark, Loaded, Picture
from scorer.benchmarks.judges import Block, Judge, Matrix, Prepared, Shorter
from scorer.benchmarks.kinds import Choice, Retrieval, TwoPositives
from scorer.benchmarks.report import benchmarks_text, plain, report_text
from scorer.benchmarks.run import BenchmarkReport, NotFoundError, run_benchmark
from scorer.errors import ConfigError, DataError


def on_disk(folder: Path, loaded: Loaded, absent: Sequence[int] = ()) -> Loaded:
    """The same rows with real image files, except for the absent ones."""
    folder.mkdir(parents=True, exist_ok=True)
    examples = []
    for i, item in enumerate(loaded.examples):
        pictures = tuple(Picture(folder / picture.path.name) for picture in item.images)
        for picture in pictures:
            if i not in absent:
                Image.new("RGB", (8, 8), (i % 256, 0, 0)).save(picture.path)
        examples.append(replace(item, images=pictures))
    return replace(loaded, examples=examples)


def test_rows_without_their_image_are_counted_and_left_out(tmp_path: Path) -> None:
    loaded = on_disk(tmp_path / "images", rows(10, 2), absent=(3, 4))
    looking = perfect(loaded, Choice(), needs_images=True)
    report = run_benchmark([looking, Shorter()], small(tmp_path, Choice(), loaded), tmp_path, resamples=20)
    part = report.parts[0]
    assert (part.examples, part.scored, part.images, part.missing_images) == (10, 8, 10, 2)
    assert part.named == tuple((tmp_path / "images" / f"image-{i}-0.jpg").as_posix() for i in (3, 4))
    # The control answers the same rows, so that the columns can be compared.
    assert [by_name(found)["accuracy"].count for found in part.results.values()] == [8, 8]
    text = report_text(report)
    assert "Not the whole benchmark:** 8 of 10 rows of first" in text
    assert "2 of 10 images are missing, 0 not readable (such as" in text


def test_a_group_that_lacks_an_image_is_left_out(tmp_path: Path) -> None:
    loaded = on_disk(tmp_path / "images", replace(rows(8, 2), together={"pair": [(0, 1), (2, 3), (4, 5)]}), absent=(3,))
    judge = perfect(loaded, Choice(), needs_images=True)
    report = run_benchmark([judge], small(tmp_path, Choice(), loaded), tmp_path, resamples=0)
    pair = by_name(report.parts[0].results["perfect"])["pair_accuracy"]
    assert (pair.value, pair.count) == (1, 2)


def test_text_alone_needs_no_image(tmp_path: Path) -> None:
    loaded = rows(10, 2)
    report = run_benchmark([Shorter()], small(tmp_path, Choice(), loaded), tmp_path, resamples=0)
    assert (report.parts[0].scored, report.parts[0].missing_images) == (10, 0)


def test_no_image_at_all_is_an_error(tmp_path: Path) -> None:
    judge = constant(needs_images=True)
    with pytest.raises(NotFoundError, match=r"none of its 10 images is under .*nowhere|image-0-0"):
        run_benchmark([judge], small(tmp_path, Choice(), rows(10, 2)), tmp_path)
    assert judge.blocks == 0


def test_texts_are_compared_even_where_no_image_is(tmp_path: Path) -> None:
    loaded = rows(10, 3)
    judge = perfect(loaded, TwoPositives(), needs_images=True)
    report = run_benchmark([judge], small(tmp_path, TwoPositives(), loaded), tmp_path, resamples=0)
    found = by_name(report.parts[0].results["perfect"])
    assert (found["tot_accuracy"].value, found["tot_accuracy"].count) == (1, 10)
    assert found["itt_accuracy"].count == 0
    assert judge.prepared == [(0, 30)]
    assert "n/a" in report_text(report)
    assert plain(report)["parts"][0]["results"]["perfect"][0]["value"] is None


def test_no_annotations_is_an_error_that_says_where_they_are_expected(tmp_path: Path) -> None:
    benchmark = small(tmp_path, Choice(), rows(10, 2))
    (tmp_path / "small" / "first.json").unlink()
    with pytest.raises(NotFoundError, match=r"small/first.json \(from https://example.org/rows\)"):
        run_benchmark([constant()], benchmark, tmp_path)


def test_a_part_that_is_not_there_is_reported_and_no_average_hides_it(tmp_path: Path) -> None:
    benchmark = small(tmp_path, Choice(), rows(10, 2), ("first", "second"))
    whole = run_benchmark([constant()], benchmark, tmp_path, resamples=0)
    assert [item.label for item in whole.averages["constant"]] == ["mean of parts"]
    (tmp_path / "small" / "second.json").unlink()
    report = run_benchmark([constant()], benchmark, tmp_path, resamples=0)
    assert [part.found for part in report.parts] == [True, False]
    assert report.averages["constant"] == []
    assert f"second: no annotations; expected {tmp_path}/small/second.json" in report_text(report)
    assert "second: https" not in benchmarks_text([benchmark], tmp_path)
    assert "not found" in benchmarks_text([benchmark], tmp_path)
    assert "0 of 10 images" in benchmarks_text([benchmark], tmp_path)


def test_a_benchmark_without_rows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no row"):
        run_benchmark([constant()], small(tmp_path, Choice(), Loaded([])), tmp_path)


def test_ties_are_shown_where_there_are_any_and_not_for_what_nobody_scored(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    for image in range(3):
        (tmp_path / f"here/image-{image}-0.jpg").touch()
    here = rows(3, 2)
    seen = [replace(item, images=(Picture(tmp_path / "here" / item.images[0].path),)) for item in here.examples]
    benchmark = small(tmp_path, Choice(), here, ("first", "second"))
    benchmark = replace(benchmark, load=lambda _root, part: Loaded(seen) if part.name == "first" else here)
    text = report_text(run_benchmark([constant(needs_images=True)], benchmark, tmp_path, resamples=0))
    assert "| first | accuracy_ties_shared | 3 |" in text
    assert "| second | accuracy | 0 |" in text
    assert "| second | accuracy_ties_shared" not in text


def test_two_scorers_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="same name"):
        run_benchmark([constant(), constant()], small(tmp_path, Choice(), rows(2, 2)), tmp_path)


def test_what_was_scored_is_not_scored_again(tmp_path: Path) -> None:
    benchmark = small(tmp_path, Choice(), rows(30, 2))
    first, again, other = coin(1), coin(1), coin(2)
    one = run_benchmark([first], benchmark, tmp_path, tmp_path / "scores")
    two = run_benchmark([again, other], benchmark, tmp_path, tmp_path / "scores")
    assert (first.blocks, again.blocks, other.blocks) == (30, 0, 30)
    assert again.prepared == []
    assert one.parts[0].results["coin 1"] == two.parts[0].results["coin 1"]


@pytest.mark.parametrize("change", ["fingerprint", "rows", "seed", "image", "image gone", "damaged"])
def test_scores_of_something_else_are_made_anew(change: str, tmp_path: Path) -> None:
    loaded, seed = on_disk(tmp_path / "images", rows(5, 2)), 0
    run_benchmark([coin(1, True)], small(tmp_path, Choice(), loaded), tmp_path, tmp_path / "scores", seed=seed)
    judge = coin(1, True)
    picture = loaded.examples[2].images[0].path
    if change == "fingerprint":
        judge.fingerprint = "another"
    elif change == "rows":
        loaded = replace(loaded, examples=[replace(loaded.examples[0], captions=("a", "b")), *loaded.examples[1:]])
    elif change == "seed":
        seed = 1
    elif change == "image":
        Image.new("RGB", (9, 9)).save(picture)
    elif change == "image gone":
        picture.unlink()
    else:
        (file,) = (tmp_path / "scores").rglob("*.npz")
        file.write_bytes(file.read_bytes()[:-40])
    run_benchmark([judge], small(tmp_path, Choice(), loaded), tmp_path, tmp_path / "scores", seed=seed)
    assert judge.blocks == (4 if change == "image gone" else 5)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255))
def test_damaged_scores_are_none(place: float, bits: int, tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    whole = saved.Saved({"scores": np.arange(600, dtype=np.float32) % 7}, np.array([1]), 0)
    saved.write(path, "digest", whole)
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= bits
    path.write_bytes(data)
    found = saved.read(path, "digest")  # what no checksum covers does not matter
    assert found is None or np.array_equal(found.raw["scores"], whole.raw["scores"])


def test_a_damaged_stream_of_scores_is_none(tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    saved.write(path, "digest", saved.Saved({"scores": np.arange(600, dtype=np.float32)}, np.array([1]), 0))
    data = path.read_bytes()
    middle = data.index(b"raw.scores.npy") + 60
    path.write_bytes(data[:middle] + b"\xff" * 40 + data[middle + 40 :])
    assert saved.read(path, "digest") is None


class Looking(Formula):
    """Cannot read the pictures whose files are empty, nor those of `blind`."""

    def __init__(self, name: str, blind: Sequence[Picture] = ()) -> None:
        super().__init__(name, coin(1).score, needs_images=True)
        self.blind = blind

    def prepare(self, pictures: Sequence[Picture], captions: Sequence[str]) -> Prepared:
        super().prepare(pictures, captions)
        empty = [picture for picture in pictures if picture in self.blind or not picture.path.stat().st_size]
        return Prepared(frozenset(empty))


def counts(report: BenchmarkReport) -> list[int]:
    """How many rows each judge answered, then how many pictures were no use."""
    part = report.parts[0]
    return [*(by_name(found)["accuracy"].count for found in part.results.values()), part.unreadable_images]


def test_a_picture_that_is_damaged_or_mended_is_noticed_by_every_judge(tmp_path: Path) -> None:
    loaded = on_disk(tmp_path / "images", rows(5, 2))
    picture = loaded.examples[2].images[0].path
    whole = picture.read_bytes()

    def judged() -> list[int]:
        judges: list[Judge] = [Looking("looking"), Shorter()]
        return counts(run_benchmark(judges, small(tmp_path, Choice(), loaded), tmp_path, tmp_path / "scores", 0))

    assert judged() == [5, 5, 0]
    picture.write_bytes(b"")
    assert judged() == [4, 4, 1]
    assert judged() == [4, 4, 1]
    picture.write_bytes(whole)
    assert judged() == [5, 5, 0]


def test_scores_that_were_kept_for_more_rows_are_made_anew(tmp_path: Path) -> None:
    """Whoever finds a picture unreadable, all judges answer the same rows."""
    loaded = on_disk(tmp_path / "images", rows(5, 2))
    benchmark = small(tmp_path, Choice(), loaded)
    first = run_benchmark([Looking("first")], benchmark, tmp_path, tmp_path / "scores", 0)
    assert counts(first) == [5, 0]
    judges = [Looking("first"), Looking("second", loaded.examples[1].images)]
    assert counts(run_benchmark(judges, benchmark, tmp_path, tmp_path / "scores", 0)) == [4, 4, 1]


def test_an_interrupted_evaluation_goes_on_with_the_next_part(tmp_path: Path) -> None:
    class Impatient(Formula):
        def scores(self, blocks: Sequence[Block]) -> list[Matrix]:
            if self.blocks >= 20:
                raise KeyboardInterrupt
            return super().scores(blocks)

    def benchmark() -> Benchmark:
        return small(tmp_path, Choice(), rows(20, 2), ("first", "second"))

    with pytest.raises(KeyboardInterrupt):
        run_benchmark([Impatient("coin 1", coin(1).score)], benchmark(), tmp_path, tmp_path / "scores")
    judge = coin(1)
    run_benchmark([judge], benchmark(), tmp_path, tmp_path / "scores")
    assert judge.blocks == 20
    assert list((tmp_path / "scores").rglob(".*")) == []


def test_retrieval_is_among_the_images_that_are_there(tmp_path: Path) -> None:
    loaded = on_disk(tmp_path / "images", rows(12, 2), absent=(0, 1))
    judge = perfect(loaded, Retrieval((1,)), needs_images=True)
    report = run_benchmark([judge], small(tmp_path, Retrieval((1,)), loaded), tmp_path, resamples=0)
    found = by_name(report.parts[0].results["perfect"])
    assert (found["text_to_image_recall@1"].count, found["image_to_text_recall@1"].count) == (20, 10)
    assert found["text_to_image_recall@1"].chance == pytest.approx(0.1)
    assert found["text_to_image_recall@1"].value == 1


def test_the_report_is_json_and_markdown(tmp_path: Path) -> None:
    loaded = replace(rows(40, 2), excluded={"fewer than two annotators": 3}, notes=("row 7 is odd",))
    report = run_benchmark([coin(1), Shorter()], small(tmp_path, Choice("argmax"), loaded), tmp_path, resamples=50)
    data = json.loads(json.dumps(plain(report), allow_nan=False))
    first = data["parts"][0]["results"]["coin 1"][0]
    assert set(first) == {"metric", "label", "protocol", "value", "low", "high", "count", "chance"}
    assert first["low"] <= first["value"] <= first["high"]
    text = report_text(report)
    for words in (
        "| part | figure | n | chance | coin 1 | shorter caption |",
        "| first | accuracy | 40 | 0.500 |",
        "| first | accuracy_official | 40 | 0.500 |",
        "- accuracy: strictly highest of its options",
        "first: 3 rows left out by the protocol: fewer than two annotators",
        "first: row 7 is odd",
        "Option order: seed 0",
    ):
        assert words in text, words


def test_judges_are_resampled_alike(tmp_path: Path) -> None:
    """Equal answers have equal intervals, whoever gave them."""
    loaded = rows(100, 2)
    twin = coin(1)
    twin.name = "twin"
    found = run_benchmark([coin(1), twin], small(tmp_path, Choice(), loaded), tmp_path).parts[0].results
    assert found["coin 1"] == found["twin"]
    low, high = found["twin"][0].low, found["twin"][0].high
    # 95 % of a share of 100 near a half: four standard deviations of 0.05.
    assert high - low == pytest.approx(4 * 0.05, abs=0.03)
    assert not np.isnan(low)
