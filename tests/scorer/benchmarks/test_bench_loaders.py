"""Small files in the official layouts, and what is said of malformed ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from scorer.benchmarks import BENCHMARKS, chosen
from scorer.benchmarks.base import Loaded, Source, read_table
from scorer.errors import ConfigError, DataError


def load(root: Path, benchmark: str, part: str, file: str, content: Any) -> Loaded:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    (found,) = [item for item in BENCHMARKS[benchmark].parts if item.name == part]
    assert found.annotations.under(root) == path
    return BENCHMARKS[benchmark].load(root, found)


def test_every_benchmark_says_what_must_be_known_of_it() -> None:
    for name, benchmark in BENCHMARKS.items():
        assert benchmark.name == name
        names = [part.name for part in benchmark.parts]
        assert len(set(names)) == len(names) > 0
        assert benchmark.title
        assert benchmark.paper
        assert benchmark.protocol
        assert {part for parts in benchmark.averages.values() for part in parts} <= set(names)
        for part in benchmark.parts:
            for source in (part.annotations, part.images):
                assert source.origin
                assert source.licence
                assert source.places
                assert not any(place.startswith("/") for place in source.places)


def test_an_unknown_benchmark_lists_the_known() -> None:
    with pytest.raises(ConfigError, match=r"sugarcrap.*known.*sugarcrepe"):
        chosen(("sugarcrap",))
    assert chosen(("all", "whatsup")) == list(BENCHMARKS.values())
    assert [item.name for item in chosen(("sugarcrepe", "whatsup", "sugarcrepe"))] == ["sugarcrepe", "whatsup"]


def test_a_source_is_the_first_place_that_exists(tmp_path: Path) -> None:
    source = Source("x", "y", "z", ("usual", "other", "third"))
    assert source.under(tmp_path) == tmp_path / "usual"
    (tmp_path / "third").mkdir()
    assert source.under(tmp_path) == tmp_path / "third"
    (tmp_path / "other").mkdir()
    assert source.under(tmp_path) == tmp_path / "other"
    assert source.file("a.json").places == ("usual/a.json", "other/a.json", "third/a.json")


def test_sugarcrepe(tmp_path: Path) -> None:
    row = {"filename": "000000000030.jpg", "caption": "a dog", "negative_caption": "a cat"}
    loaded = load(tmp_path, "sugarcrepe", "swap_obj", "sugarcrepe/data/swap_obj.json", {"3": row, "7": row})
    assert [item.key for item in loaded.examples] == ["3", "7"]
    assert loaded.examples[0].captions == ("a dog", "a cat")
    assert loaded.examples[0].truth == 0
    assert loaded.examples[0].images[0].path == tmp_path / "coco/val2017/000000000030.jpg"


def test_sugarcrepe_pp_names_rows_that_nobody_can_answer(tmp_path: Path) -> None:
    row = {"id": 5, "filename": "1.jpg", "caption": "p1", "caption2": "p2", "negative_caption": "n"}
    rows = [row, {**row, "negative_caption": "p2"}]
    loaded = load(tmp_path, "sugarcrepe_pp", "swap_obj", "scpp/data/swap_obj.json", rows)
    assert [item.captions for item in loaded.examples] == [("p1", "p2", "n"), ("p1", "p2", "p2")]
    assert loaded.notes == ("rows whose negative equals a positive and can never be right: 1",)


def controlled(name: str, preposition: str) -> dict[str, Any]:
    return {"image_path": f"data/controlled_images/{name}.jpeg", "caption_options": [preposition, "b", "c", "d"]}


def test_whatsup_groups_photographs_by_their_names(tmp_path: Path) -> None:
    names = ["mug_on_table", "mug_under_table", "mug_left_of_table", "mug_right_of_table"]
    rows = [controlled(name, name.split("_")[1]) for name in [*names, "beer-bottle_left_of_chair"]]
    file = "whatsup/data/controlled_images_dataset.json"
    loaded = load(tmp_path, "whatsup", "controlled_images", file, rows)
    assert loaded.together == {"pair": [(2, 3), (0, 1)], "set": [(2, 3, 0, 1)]}
    assert [item.label for item in loaded.examples] == ["on", "under", "left", "right", "left"]
    assert loaded.examples[0].images[0].path == tmp_path / "whatsup/data/controlled_images/mug_on_table.jpeg"


def test_whatsup_finds_its_files_beside_those_of_a_clone(tmp_path: Path) -> None:
    (tmp_path / "whatsup_vlms/data/controlled_clevr").mkdir(parents=True)
    rows = [controlled("mug_in-front_of_cup", "in front of")]
    file = "whatsup_vlms/data/controlled_clevr_dataset.json"
    loaded = load(tmp_path, "whatsup", "controlled_clevr", file, rows)
    assert loaded.examples[0].images[0].path.parent == tmp_path / "whatsup_vlms/data/controlled_clevr"


@pytest.mark.parametrize(
    ("part", "file", "image"),
    [
        ("coco_one", "coco_qa_one_obj.json", "coco/val2017/000000007816.jpg"),
        ("coco_two", "coco_qa_two_obj.json", "coco/val2017/000000007816.jpg"),
        ("vg_one", "vg_qa_one_obj.json", "whatsup/data/vg_images/7816.jpg"),
        ("vg_two", "vg_qa_two_obj.json", "whatsup/data/vg_images/7816.jpg"),
    ],
)
def test_spatial_questions(part: str, file: str, image: str, tmp_path: Path) -> None:
    rows = [[7816, "A photo of a dining table to the left of a cup", "A photo of a dining table to the right of a cup"]]
    rows += [["7816", "A photo of a dog on the bottom", "A photo of a dog on the top"]]
    loaded = load(tmp_path, "whatsup", part, f"whatsup/{file}", rows)
    assert [item.captions for item in loaded.examples] == [tuple(row[1:]) for row in rows]
    assert {item.images[0].path for item in loaded.examples} == {tmp_path / image}
    assert [item.label for item in loaded.examples] == ["to the left of", "on the bottom"]


@pytest.mark.parametrize(
    ("benchmark", "part", "file", "content", "message"),
    [
        ("sugarcrepe", "add_att", "sugarcrepe/data/add_att.json", "{", "not a readable JSON file"),
        ("sugarcrepe", "add_att", "sugarcrepe/data/add_att.json", [1], "an object of rows"),
        ("sugarcrepe", "add_att", "sugarcrepe/data/add_att.json", {"4": {"caption": "x"}}, "row 4: .*filename, neg"),
        ("sugarcrepe_pp", "swap_att", "scpp/data/swap_att.json", {}, "a list of rows"),
        ("sugarcrepe_pp", "swap_att", "scpp/data/swap_att.json", [{"caption2": 3}], "row 0: .*caption2"),
        ("whatsup", "coco_one", "whatsup/coco_qa_one_obj.json", [[1, "a"]], "row 0: expected an image id"),
        ("whatsup", "coco_one", "whatsup/coco_qa_one_obj.json", [["x", "a", "b"]], "row 0: expected an image id"),
        (
            "whatsup",
            "controlled_images",
            "whatsup/controlled_images_dataset.json",
            [controlled("mug_on_table", "on")] * 2,
            "row 1: the second photograph of mug on table",
        ),
        (
            "whatsup",
            "controlled_images",
            "whatsup/controlled_images_dataset.json",
            [controlled("mug_behind_table", "behind")],
            "row 0: expected a photograph of left, right, on, under",
        ),
    ],
)
def test_a_malformed_file_is_named_with_its_row(
    benchmark: str, part: str, file: str, content: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        load(tmp_path, benchmark, part, file, content)
    assert str(tmp_path / file) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "has no column c"),
        (b"a,c\n1\n", "row 1 is cut short"),
        (b"a,c\n\xff,2\n", "not a readable table"),
    ],
)
def test_a_malformed_table(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / "x.csv", ("a", "c"))


def test_a_table_may_quote_lines_and_commas(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b'a,c\n"1, one\nmore",2\n')
    assert read_table(tmp_path / "x.csv", ("a", "c")) == [{"a": "1, one\nmore", "c": "2"}]
