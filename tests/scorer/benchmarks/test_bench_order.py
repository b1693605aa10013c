"""ARO's order tests: what the four shuffles may move, that they are always the same, and real captions."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_judges import by_name, coin, constant, covers_chance, perfect
from hypothesis import given
from hypothesis import strategies as st

from scorer.benchmarks import BENCHMARKS
from scorer.benchmarks.aro_order import RULES, Tagged, normal
from scorer.benchmarks.base import Loaded
from scorer.benchmarks.run import run_benchmark
from scorer.cli import main
from scorer.errors import DataError

COCO, FLICKR = BENCHMARKS["aro_order"].parts
SENTENCE = [
    ("a", "DT"),
    ("small", "JJ"),
    ("dog", "NN"),
    ("chases", "VBZ"),
    ("two", "CD"),
    ("gray", "JJ"),
    ("cats", "NNS"),
]
tagged = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["NN", "NNP", "JJ", "JJR", "DT", "VB"])))


def shuffled(rule: str, words: Tagged, seed: int = 0) -> list[str]:
    return RULES[rule](words, np.random.default_rng(seed))


def rows(root: Path, content: Any, file: str = "aro/coco_karpathy_test.json") -> Loaded:
    (root / file).parent.mkdir(exist_ok=True)
    (root / file).write_text(json.dumps(content))
    return BENCHMARKS["aro_order"].load(root, FLICKR if "flickr" in file else COCO)


@given(tagged, st.integers(0, 99))
def test_a_shuffle_moves_what_its_rule_says(words: list[tuple[str, str]], seed: int) -> None:
    texts = [word for word, _ in words]
    classes = ["NN" if tag.startswith("NN") else "JJ" if tag.startswith("JJ") else "" for _, tag in words]
    for rule in RULES:
        assert Counter(shuffled(rule, words, seed)) == Counter(texts)
    nouns = shuffled("shuffle_nouns_and_adj", words, seed)
    others = shuffled("shuffle_allbut_nouns_and_adj", words, seed)
    for kind in ("NN", "JJ"):
        places = [i for i, found in enumerate(classes) if found == kind]
        assert Counter(nouns[i] for i in places) == Counter(texts[i] for i in places)
    assert all(nouns[i] == texts[i] for i, kind in enumerate(classes) if not kind)
    assert all(others[i] == texts[i] for i, kind in enumerate(classes) if kind)
    within = shuffled("shuffle_within_trigrams", words, seed)
    for start in range(0, len(words), 3):
        assert Counter(within[start : start + 3]) == Counter(texts[start : start + 3])


def test_trigrams_trade_places_as_they_are() -> None:
    parts = {("a", "small", "dog"), ("chases", "two", "gray"), ("cats",)}
    found = set()
    for seed in range(30):
        out = shuffled("shuffle_trigrams", SENTENCE, seed)
        text = " ".join(out)
        assert all(" ".join(part) in text for part in parts)
        found.add(text)
    assert len(found) == 6


def test_every_shuffle_happens() -> None:
    for rule, most in (("shuffle_nouns_and_adj", 4), ("shuffle_allbut_nouns_and_adj", 6)):
        assert len({tuple(shuffled(rule, SENTENCE, seed)) for seed in range(60)}) == most


def test_captions_are_read_as_aro_does() -> None:
    assert normal('A  "Big" dog (old); it\'s here.\n') == "a big dog old it's here"
    assert normal(" ".join("abcdefghij" * 4)).count(" ") == 29
    assert normal("a well-known, red dog") == "a well-known, red dog"


def test_rows_made_elsewhere_are_read_as_they_are(tmp_path: Path) -> None:
    options = ["A dog.", "dog a", "a dog", "dog A."]
    content = [{"image": "val2014/COCO_val2014_000000000001.jpg", "caption_options": options}]
    loaded = rows(tmp_path, content, "aro/coco_order.json")
    (row,) = loaded.examples
    assert row.captions == ("a dog", "dog a", "dog a")
    assert row.images[0].path == tmp_path / "coco/val2014/COCO_val2014_000000000001.jpg"
    assert loaded.notes[0].startswith("1 shuffled captions equal the true one")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "a list of rows"),
        ([{"image": "1.jpg", "caption": "a dog"}], "row 0: expected an image and a list of texts under caption"),
        ([{"image": "1.jpg", "caption": []}], "row 0: too few texts under caption"),
        ([{"image": "1.jpg", "caption_options": ["a dog"]}], "row 0: too few texts under caption_options"),
        ([{"image": "1", "caption_options": ["a", "b"]}, {"image": "1", "caption": ["a"]}], "row 1: expected"),
    ],
)
def test_a_malformed_row_is_named(content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        rows(tmp_path, content)


def test_without_spacy_the_list_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "aro").mkdir()
    (tmp_path / "aro/coco_karpathy_test.json").write_text('[{"image": "1.jpg", "caption": ["a dog"]}]')
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    assert main(["benchmarks", "aro_order", "--root", str(tmp_path)]) == 0
    assert "found aro/coco_karpathy_test.json, but spaCy is not installed" in capsys.readouterr().out


class TestWithSpacy:
    @pytest.fixture(autouse=True)
    def spacy(self) -> None:
        pytest.importorskip("spacy")

    def test_shuffles_are_the_same_every_time_and_differ_by_part(self, tmp_path: Path) -> None:
        content = [{"image": "1.jpg", "caption": ["A small dog chases two gray cats on the old mat"] * 2}]
        first = rows(tmp_path, content)
        assert rows(tmp_path, content) == first
        one, two = first.examples
        assert one.captions[0] == two.captions[0] == "a small dog chases two gray cats on the old mat"
        assert one.captions != two.captions
        other = rows(tmp_path, content, "aro/flickr30k_test.json")
        assert other.examples[0].captions != one.captions
        assert other.examples[0].images[0].path == tmp_path / "flickr30k/flickr30k-images/1.jpg"

    def test_a_shuffle_that_changes_nothing_is_no_false_caption(self, tmp_path: Path) -> None:
        loaded = rows(tmp_path, [{"image": "1.jpg", "caption": ["Dogs.", "A dog runs fast"]}])
        assert [item.key for item in loaded.examples] == ["0.1"]
        assert loaded.excluded == {"no shuffle changes the caption": 1}
        assert all(item.captions[0] not in item.captions[1:] for item in loaded.examples)

    def test_real_captions_and_photographs(self, shared: Callable[[str], Path], tmp_path: Path) -> None:
        """COCO's captions in the file's layout, and the photographs that are here."""
        captions = json.loads(shared("coco/annotations/captions_val2017.json").read_text("utf-8"))["annotations"]
        of_image: dict[int, list[str]] = defaultdict(list)
        for row in captions:
            of_image[row["image_id"]].append(row["caption"])
        content = []
        (tmp_path / "coco/val2014").mkdir(parents=True)
        for image in sorted(shared("coco/images").glob("*.jpg")):
            if int(image.stem) in of_image and len(content) < 40:
                name = f"COCO_val2014_{image.name}"
                content.append({"image": f"val2014/{name}", "caption": of_image[int(image.stem)]})
                (tmp_path / "coco/val2014" / name).symlink_to(image)
        loaded = rows(tmp_path, content)
        assert len(loaded.examples) == sum(len(row["caption"]) for row in content)
        same = int(loaded.notes[0].split()[0])
        options = [len(item.captions) for item in loaded.examples]
        assert sum(options) + same == 5 * len(options)
        judges = [constant(), coin(2), perfect(loaded, COCO.kind)]
        report = run_benchmark(judges, BENCHMARKS["aro_order"], tmp_path, resamples=200)
        found = {name: by_name(results) for name, results in report.parts[0].results.items()}
        assert (found["constant"]["precision@1"].value, found["constant"]["precision@1_official"].value) == (0, 1)
        assert all(item.value == 1 for item in found["perfect"].values())
        assert all(covers_chance(item) for item in found["coin 2"].values())
        assert 0.2 < found["coin 2"]["precision@1"].chance < 0.25
        out = [
            "--device",
            "cpu",
            "--cache",
            str(tmp_path / "cache"),
            "--out",
            str(tmp_path / "out"),
            "--resamples",
            "20",
        ]
        assert main(["eval", "--clip", "tiny", "--benchmark", "aro_order", "--root", str(tmp_path), *out]) == 0
        (part, _) = json.loads((tmp_path / "out/aro_order.json").read_text())["parts"]
        assert (part["scored"], part["missing_images"]) == (len(loaded.examples), 0)
