"""Small files in the official layouts of the benchmarks that came later, and what is said of malformed ones."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_judges import by_name, coin, constant, perfect

from scorer.benchmarks import BENCHMARKS
from scorer.benchmarks.base import Loaded, list_of_texts
from scorer.benchmarks.flowers102 import class_names
from scorer.benchmarks.report import report_text
from scorer.benchmarks.run import run_benchmark
from scorer.errors import DataError

MCQ = ("image_path", "correct_answer", "caption_0", "caption_1", "caption_2", "caption_3", "correct_answer_template")
REGION = ("image_id", "caption", "hard_negs", "x", "y", "width", "height")
BOX = {"bbox_x": 10, "bbox_y": 20, "bbox_w": 30, "bbox_h": 40}


def write(path: Path, content: Any) -> Path:
    """JSON, or a table of rows, or text as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, "utf-8")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(content)
    else:
        path.write_text(json.dumps(content), "utf-8")
    return path


def load(root: Path, benchmark: str, part: str) -> Loaded:
    (found,) = (item for item in BENCHMARKS[benchmark].parts if item.name == part)
    assert found.annotations.under(root).exists()
    return BENCHMARKS[benchmark].load(root, found)


def relation(image: str, name: str, true: str = "a dog on a mat", false: str = "a mat on a dog") -> dict[str, Any]:
    return {"image_path": image, **BOX, "true_caption": true, "false_caption": false, "relation_name": name}


def test_aro_relations_are_averaged_without_the_symmetric_ones(tmp_path: Path) -> None:
    rows = [relation("1.jpg", "on"), relation("2.jpg", "near"), relation("3.jpg", "under")]
    write(tmp_path / "aro/visual_genome_relation.json", rows)
    loaded = load(tmp_path, "aro", "vg_relation")
    assert loaded.macro == {"on", "near", "under"}
    assert loaded.notes[0].startswith("the macro average is over all relations")
    write(tmp_path / "aro/vgr_symmetric_relations.json", ["near", "next to"])
    loaded = load(tmp_path, "aro", "vg_relation")
    assert (loaded.macro, loaded.notes) == ({"on", "under"}, ())
    first = loaded.examples[0]
    assert first.captions == ("a mat on a dog", "a dog on a mat")  # as in the official code, the false one first
    assert (first.truth, first.label) == (1, "on")
    assert first.images[0].path == tmp_path / "aro/images/1.jpg"
    assert first.images[0].box == (10, 20, 40, 60)


def test_a_tie_is_wrong_by_aro_s_own_rule(tmp_path: Path) -> None:
    write(tmp_path / "aro/visual_genome_relation.json", [relation("1.jpg", "on"), relation("2.jpg", "under")])
    report = run_benchmark([constant()], BENCHMARKS["aro"], tmp_path, resamples=0)
    found = by_name(report.parts[0].results["constant"])
    assert found["macro_accuracy"].value == found["accuracy_official"].value == 0
    assert next(iter(found)) == "macro_accuracy"


def test_aro_attributes_count_where_there_are_25_rows(tmp_path: Path) -> None:
    rows = [
        {**relation(f"{i}.jpg", ""), "attributes": pair}
        for pair, count in ((["red", "big"], 25), (["old", "wet"], 24))
        for i in range(count)
    ]
    write(tmp_path / "aro/visual_genome_attribution.json", rows)
    loaded = load(tmp_path, "aro", "vg_attribution")
    assert loaded.macro == {"red_big"}
    assert len(loaded.examples) == 49


def test_negbench_choice_and_retrieval(tmp_path: Path) -> None:
    rows = [MCQ, ("data/coco/images/val2017/000000000139.jpg", "2", "a", "b", "c", "d", "hybrid")]
    write(tmp_path / "negbench/images/COCO_val_mcq_llama3.1_rephrased.csv", rows)
    (row,) = load(tmp_path, "negbench", "coco_mcq").examples
    assert (row.captions, row.truth, row.label) == (("a", "b", "c", "d"), 2, "hybrid")
    assert row.images[0].path == tmp_path / "coco/val2017/000000000139.jpg"
    rows = [("filepath", "image_id", "captions"), ("x/val2017/1.jpg", "1", "['no dog', \"a cat's bed\"]")]
    write(tmp_path / "negbench/images/COCO_val_retrieval.csv", rows)
    (row,) = load(tmp_path, "negbench", "coco_retrieval").examples
    assert row.captions == ("no dog", "a cat's bed")


def test_a_table_may_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeff" + ",".join(MCQ) + "\nVOC2007/JPEGImages/000005.jpg,0,a,b,c,d,positive\n"
    write(tmp_path / "negbench/images/VOC2007_mcq_llama3.1_rephrased.csv", text)
    (row,) = load(tmp_path, "negbench", "voc_mcq").examples
    assert row.images[0].path == tmp_path / "voc2007/VOCdevkit/VOC2007/JPEGImages/000005.jpg"


def test_vl_checklist_takes_the_first_of_each(tmp_path: Path) -> None:
    rows = [
        ["VG_100K/1.jpg", {"POS": ["red car", "car"], "NEG": ["blue car", "bike"]}],
        ["VG_100K/1.jpg", {"POS": ["old car"], "NEG": ["old car"]}],
        ["VG_100K/1.jpg", {"POS": ["blue car"], "NEG": ["green car"]}],
    ]
    write(tmp_path / "vl_checklist/data/Attribute/vg/color.json", rows)
    loaded = load(tmp_path, "vl_checklist", "attribute_color_vg")
    assert [item.captions for item in loaded.examples[:2]] == [("red car", "blue car"), ("old car", "old car")]
    assert loaded.examples[0].images[0].path == tmp_path / "vg/VG_100K/1.jpg"
    assert loaded.notes == (
        "rows whose true caption is a false one, too, and can never be right: 1 (1)",
        "rows whose false caption is the true one of another row with the same image: 1 (0)",
    )


def test_vl_checklist_has_the_parts_of_its_corpus() -> None:
    parts = {part.name: part for part in BENCHMARKS["vl_checklist"].parts}
    assert {kind: len(names) for kind, names in BENCHMARKS["vl_checklist"].averages.items()} == {
        "object": 42,
        "attribute": 10,
        "relation": 4,
    }
    assert parts["object_size_small_swig_tool"].annotations.places[0] == (
        "vl_checklist/data/Object/Size/swig_size/swig_tool/swig_tool_small.json"
    )
    assert parts["object_location_mid_hake_obj"].annotations.places[0] == (
        "vl_checklist/data/Object/Location/hake_location/hake_obj_mid.json"
    )
    assert {
        name.split("_")[2]: parts[name].images.places[0] for name in ("relation_action_hake", "attribute_size_vaw")
    } == {
        "hake": "hake",
        "vaw": "vg",
    }


def test_crepe_crops_to_the_region_and_finds_the_half_of_visual_genome(tmp_path: Path) -> None:
    write(tmp_path / "vg/VG_100K_2/8.jpg", "")
    rows = [
        REGION,
        ("7", "a dog", "['b', 'c']", "1.0", "2", "3", "4"),
        ("8", "a cat", "{'e', 'd'}", "0", "0", "9", "9"),
    ]
    write(tmp_path / "crepe/prod_hard_negatives/swap/prod_vg_hard_negs_swap_complexity_4.csv", rows)
    one, two = load(tmp_path, "crepe", "prod_swap_4").examples
    assert one.captions == ("a dog", "b", "c")
    assert two.captions == ("a cat", "e", "d")
    assert one.images[0].box == (1, 2, 4, 6)
    assert one.images[0].path == tmp_path / "vg/VG_100K/7.jpg"
    assert two.images[0].path == tmp_path / "vg/VG_100K_2/8.jpg"


def test_crepe_s_compounds_have_a_column_for_each_kind_of_negative(tmp_path: Path) -> None:
    header = tuple(f"valid_hard_negs_{kind}" if kind else "" for kind in ("atom", "comp", "combined"))
    rows = [
        ("image_id", "caption", *header, "x", "y", "width", "height"),
        ("7", "a red dog", "['a dog']", "[]", "['a dog', 'a cat']", "0", "0", "5", "5"),
        ("9", "a blue dog", "['a dog']", "['a bee']", "['a dog', 'a bee']", "0", "0", "5", "5"),
    ]
    write(tmp_path / "crepe/syst_hard_negatives/syst_vg_hard_negs_unseen_compounds_in_yfcc.csv", rows)
    assert [len(item.captions) for item in load(tmp_path, "crepe", "syst_unseen_yfcc_combined").examples] == [3, 3]
    loaded = load(tmp_path, "crepe", "syst_unseen_yfcc_comp")
    assert [item.captions for item in loaded.examples] == [("a blue dog", "a bee")]
    assert loaded.excluded == {"no hard negative of this kind": 1}


def test_valse_keeps_what_two_annotators_chose(tmp_path: Path) -> None:
    def row(votes: int, image: str) -> dict[str, Any]:
        return {"image_file": image, "caption": "two dogs", "foil": "a dog", "mturk": {"caption": votes, "foil": 0}}

    rows = {"a": row(2, "COCO_train2014_1.jpg"), "b": row(1, "2.jpg"), "c": row(3, "COCO_val2014_3.jpg")}
    write(tmp_path / "valse/data/coreference-standard.json", rows)
    loaded = load(tmp_path, "valse", "coreference-standard")
    assert [item.key for item in loaded.examples] == ["a", "c"]
    assert loaded.excluded == {"fewer than 2 of 3 annotators chose the caption": 1}
    assert [item.images[0].path for item in loaded.examples] == [
        tmp_path / "coco/train2014/COCO_train2014_1.jpg",
        tmp_path / "coco/val2014/COCO_val2014_3.jpg",
    ]


def test_winoground(tmp_path: Path) -> None:
    row = {"id": 4, "image_0": "ex_4_img_0", "image_1": "ex_4_img_1", "caption_0": "a on b", "caption_1": "b on a"}
    lines = [{**row, "collapsed_tag": "Object"}, {**row, "id": 5, "image_1": "x.jpg"}]
    write(tmp_path / "winoground/data/examples.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    one, two = load(tmp_path, "winoground", "winoground").examples
    assert (one.key, one.label, one.captions) == ("4", "Object", ("a on b", "b on a"))
    assert [picture.path.name for picture in one.images] == ["ex_4_img_0.png", "ex_4_img_1.png"]
    assert (two.images[1].path.name, two.label) == ("x.jpg", "")


QUESTIONS = (
    ("Question ID", "Type", "Statement"),
    ("1", "Texts", "the word up"),
    ("2", "Texts", "the word down"),
    ("3", "Quantity and Count", "one dog"),
    ("4", "Quantity and Count", "two dogs"),
)


def test_mmvp_pairs_of_rows(tmp_path: Path) -> None:
    write(tmp_path / "mmvp_vlm/Questions.csv", QUESTIONS)
    loaded = load(tmp_path, "mmvp_vlm", "mmvp_vlm")
    assert [item.captions for item in loaded.examples] == [
        ("a photo of the word up", "a photo of the word down"),
        ("a photo of one dog", "a photo of two dogs"),
    ]
    folder = tmp_path / "mmvp_vlm/MLLM_VLM Images"
    assert [p.path for p in loaded.examples[1].images] == [folder / f"Quantity and Count/{i}.jpg" for i in (3, 4)]
    assert loaded.macro == {"Texts", "Quantity and Count"}
    assert loaded.notes == ("2 pairs of 2 patterns; the authors have 135 of 9",)
    report = run_benchmark([constant()], BENCHMARKS["mmvp_vlm"], tmp_path, resamples=0)
    names = [item.metric for item in report.parts[0].results["constant"] if not item.label]
    assert names[:2] == ["macro_image_score", "image_score"]


def test_clevr_bind(tmp_path: Path) -> None:
    header = ("file_name", "pos", "neg_0", "neg_1", "neg_2", "neg_3")
    rows = [header, ("a.png", "red cube", "blue cube", "red sphere", "x", "y")]
    write(tmp_path / "clevr_bind/two_object/gen.csv", rows)
    write(tmp_path / "clevr_bind/single_object/test.csv", rows)
    (row,) = load(tmp_path, "clevr_bind", "two_object_gen").examples
    assert row.captions[:2] == ("An image of a red cube", "An image of a blue cube")
    assert row.images[0].path == tmp_path / "clevr_bind/two_object/images/gen/a.png"
    (row,) = load(tmp_path, "clevr_bind", "single_object_gen").examples
    assert row.images[0].path == tmp_path / "clevr_bind/single_object/images/a.png"


def test_clevr_bind_makes_false_relations_of_true_ones(tmp_path: Path) -> None:
    write(tmp_path / "clevr_bind/rel/gen.json", {"a.png": {"pos": ["cube left sphere", "cylinder front cube"]}})
    one, two = load(tmp_path, "clevr_bind", "rel_gen").examples
    said = [text.removeprefix("An image of a ") for text in one.captions]
    assert said == [
        "cube left sphere",
        "sphere left cube",
        "cube right sphere",
        "cylinder left sphere",
        "cube left cylinder",
    ]
    assert "An image of a cylinder behind cube" in two.captions
    assert len(set(two.captions)) == 5


def test_natural_colours(tmp_path: Path) -> None:
    for name in ("red_apple_green_lime", "MIRROR_red_apple_green_lime", "red_bell_pepper_green_lime"):
        write(tmp_path / f"ncd/NCD_colorful_composite_squares/{name}.png", "")
    loaded = load(tmp_path, "ncd", "subset1")
    (row,) = loaded.examples
    assert row.captions == ("A picture of a red apple and a green lime", "A picture of a green apple and a red lime")
    assert loaded.excluded == {"mirrored twins": 1, "names that are not COLOUR_THING_COLOUR_THING": 1}
    (row,) = load(tmp_path, "ncd", "subset2").examples
    assert row.captions == ("A picture of a green lime and a red apple", "A picture of a red lime and a green apple")


def caltech(root: Path, classes: Sequence[str], pictures: int) -> None:
    for name in (*classes, "BACKGROUND_Google"):
        for number in range(pictures):
            write(root / f"caltech101/101_ObjectCategories/{name}/image_{number:04d}.jpg", "")


def test_caltech_says_what_a_class_is_and_leaves_the_clutter_out(tmp_path: Path) -> None:
    caltech(tmp_path, ("Faces", "inline_skate", "ant"), 2)
    loaded = load(tmp_path, "caltech101", "caltech101")
    assert len(loaded.examples) == 6
    assert loaded.examples[0].captions == (
        "a photo of a off-center face.",
        "a photo of a ant.",
        "a photo of a inline skate.",
    )
    assert [item.truth for item in loaded.examples] == [0, 0, 1, 1, 2, 2]
    assert loaded.excluded == {"no class: BACKGROUND_Google": 2}
    assert loaded.notes == ("6 pictures of 3 classes; the archive has 8677 of 101",)


@pytest.mark.parametrize("part", ["caltech101", "caltech101_ensemble"])
def test_classification_by_prompts(part: str, tmp_path: Path) -> None:
    caltech(tmp_path, ("Faces", "inline_skate", "ant", "bass"), 30)
    (found,) = (item for item in BENCHMARKS["caltech101"].parts if item.name == part)
    judges = [constant(), coin(1), perfect(BENCHMARKS["caltech101"].load(tmp_path, found), found.kind)]
    report = run_benchmark(judges, BENCHMARKS["caltech101"], tmp_path, resamples=50)
    results = next(item.results for item in report.parts if item.name == part)
    values = {name: by_name(items)["macro_top1"] for name, items in results.items()}
    assert (values["constant"].value, values["perfect"].value) == (0, 1)
    assert values["coin 1"].chance == 0.25
    assert 0.1 < values["coin 1"].value < 0.4


def flowers(root: Path, labels: Sequence[int], test: Sequence[int]) -> None:
    scipy = pytest.importorskip("scipy.io")
    (root / "flowers-102/jpg").mkdir(parents=True)
    scipy.savemat(root / "flowers-102/imagelabels.mat", {"labels": np.array([labels], dtype=np.uint8)})
    scipy.savemat(root / "flowers-102/setid.mat", {"tstid": np.array([test], dtype=np.uint16), "trnid": [[1]]})


def test_flowers_of_the_test_split(tmp_path: Path) -> None:
    flowers(tmp_path, [77, 1, 102], [1, 3])
    loaded = load(tmp_path, "flowers102", "flowers102")
    assert [item.label for item in loaded.examples] == ["passion flower", "blackberry lily"]
    assert loaded.examples[1].images[0].path == tmp_path / "flowers-102/jpg/image_00003.jpg"
    assert loaded.examples[0].captions[0] == "a photo of a pink primrose, a type of flower."
    assert len(loaded.examples[0].captions) == 102 == len(set(class_names()))
    assert len(load(tmp_path, "flowers102", "flowers102_ensemble").examples[0].captions) > 102


def test_flowers_whose_files_do_not_fit_each_other(tmp_path: Path) -> None:
    flowers(tmp_path, [77, 1, 103], [1, 3])
    with pytest.raises(DataError, match=r"imagelabels.mat: labels must be from 1 to 102"):
        load(tmp_path, "flowers102", "flowers102")
    pytest.importorskip("scipy.io").savemat(tmp_path / "flowers-102/setid.mat", {"tstid": [[4]]})
    with pytest.raises(DataError, match=r"setid.mat: tstid must hold numbers of images from 1 to 3"):
        load(tmp_path, "flowers102", "flowers102")
    (tmp_path / "flowers-102/setid.mat").write_bytes(b"no MATLAB")
    with pytest.raises(DataError, match=r"setid.mat: not a readable MATLAB file with tstid"):
        load(tmp_path, "flowers102", "flowers102")
    (tmp_path / "flowers-102/setid.mat").unlink()
    with pytest.raises(DataError, match=r"setid.mat: not a readable MATLAB file with tstid"):
        load(tmp_path, "flowers102", "flowers102")


def test_without_scipy_flowers_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from scorer.cli import main

    flowers(tmp_path, [1], [1])
    monkeypatch.setitem(__import__("sys").modules, "scipy.io", None)
    assert main(["benchmarks", "flowers102", "--root", str(tmp_path)]) == 0
    assert "found flowers-102/imagelabels.mat, but SciPy reads imagelabels.mat" in capsys.readouterr().out
    cache = ["--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out"), "--device", "cpu"]
    arguments = ["eval", "--clip", "tiny", "--root", str(tmp_path), *cache]
    assert main([*arguments, "--benchmark", "flowers102"]) == 2
    assert "pip install scipy" in capsys.readouterr().err
    assert main([*arguments, "--benchmark", "all"]) == 2
    assert "flowers102 is passed over: SciPy reads" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("['a', \"b's\"]", ["a", "b's"]),
        (" {'z', 'a', 'm'} ", ["z", "a", "m"]),
        ("[]", []),
        ("['a', 1]", None),
        ("('a',)", None),
        ("__import__('os')", None),
        ("['a'", None),
        ("", None),
    ],
)
def test_a_cell_with_a_list_of_texts(text: str, found: list[str] | None) -> None:
    if found is not None:
        assert list_of_texts(text, "x.csv: row 1") == found
    else:
        with pytest.raises(DataError, match=r"^x.csv: row 1: expected a list of texts"):
            list_of_texts(text, "x.csv: row 1")


PRODUCTIVITY = "crepe/prod_hard_negatives/atom/prod_vg_hard_negs_atom_complexity_4.csv"
NEG_MCQ = "negbench/images/COCO_val_mcq_llama3.1_rephrased.csv"
NEG_RETRIEVAL = "negbench/images/COCO_val_retrieval.csv"
CHECKLIST = "vl_checklist/data/Attribute/vg/color.json"
TWO_OBJECTS = "clevr_bind/two_object/gen.csv"
CLEVR_REL = "clevr_bind/rel/gen.json"
PEOPLE = {"image_file": "1.jpg", "caption": "a", "foil": "b"}
WINO = {"image_0": "a", "image_1": "b", "caption_0": "c", "caption_1": "d", "id": 3}


@pytest.mark.parametrize(
    ("benchmark", "part", "file", "content", "message"),
    [
        ("aro", "vg_relation", "aro/visual_genome_relation.json", {}, "a list of rows"),
        (
            "aro",
            "vg_relation",
            "aro/visual_genome_relation.json",
            [{"image_path": "1"}],
            "row 0: .*true_caption, false",
        ),
        (
            "aro",
            "vg_relation",
            "aro/visual_genome_relation.json",
            [relation("1", "on") | {"bbox_w": 0}],
            "row 0: .*box",
        ),
        (
            "aro",
            "vg_relation",
            "aro/visual_genome_relation.json",
            [relation("1", "on") | {"bbox_x": "1"}],
            "row 0: .*box",
        ),
        (
            "aro",
            "vg_relation",
            "aro/visual_genome_relation.json",
            [relation("1", "on") | {"relation_name": 1}],
            "row 0: .*rel",
        ),
        ("aro", "vg_attribution", "aro/visual_genome_attribution.json", [relation("1", "on")], "row 0: .*attributes"),
        ("negbench", "coco_mcq", NEG_MCQ, [MCQ, ("1.jpg", "4", *"abcd", "x")], "row 1: correct_answer is '4'"),
        ("negbench", "coco_mcq", NEG_MCQ, [MCQ[:3]], "has no column caption_1, caption_2"),
        (
            "negbench",
            "coco_retrieval",
            NEG_RETRIEVAL,
            [("filepath", "image_id", "captions"), ("1", "1", "[]")],
            "row 1: .*no cap",
        ),
        (
            "negbench",
            "coco_retrieval",
            NEG_RETRIEVAL,
            [("filepath", "image_id", "captions"), ("1", "1", "a dog")],
            "row 1: .*a dog",
        ),
        (
            "vl_checklist",
            "attribute_color_vg",
            CHECKLIST,
            [["1.jpg", {"POS": ["a"], "NEG": []}]],
            "row 0: expected .*NEG",
        ),
        ("vl_checklist", "attribute_color_vg", CHECKLIST, [{"POS": ["a"]}], "row 0: expected .*POS"),
        (
            "crepe",
            "prod_atom_4",
            PRODUCTIVITY,
            [REGION, ("1", "a", "['b']", "0", "0", "0", "5")],
            "row 1: its box is empty",
        ),
        (
            "crepe",
            "prod_atom_4",
            PRODUCTIVITY,
            [REGION, ("1", "a", "['b']", "0", "?", "5", "5")],
            "row 1: .*numbers under x, y",
        ),
        (
            "crepe",
            "prod_atom_4",
            PRODUCTIVITY,
            [REGION, ("1", "a", "b", "0", "0", "5", "5")],
            "row 1: hard_negs: .*'b'",
        ),
        ("valse", "existence", "valse/data/existence.json", [], "an object of rows"),
        ("valse", "existence", "valse/data/existence.json", {"k": PEOPLE}, "row k: .*mturk"),
        ("valse", "existence", "valse/data/existence.json", {"k": {"caption": "a"}}, "row k: .*image_file, foil"),
        ("winoground", "winoground", "winoground/examples.jsonl", "{}\n", "line 1: .*image_0"),
        ("winoground", "winoground", "winoground/examples.jsonl", "no", "line 1: not JSON"),
        (
            "winoground",
            "winoground",
            "winoground/examples.jsonl",
            f"{json.dumps(WINO)}\n" * 2,
            "line 2: the id 3 stands twice",
        ),
        ("mmvp_vlm", "mmvp_vlm", "mmvp_vlm/Questions.csv", QUESTIONS[:4], "row 3: its pair .* does not follow"),
        ("mmvp_vlm", "mmvp_vlm", "mmvp_vlm/Questions.csv", (QUESTIONS[0], *QUESTIONS[2:4]), "row 1: its pair"),
        (
            "mmvp_vlm",
            "mmvp_vlm",
            "mmvp_vlm/Questions.csv",
            [QUESTIONS[0], ("2", "T", "a"), ("3", "T", "b")],
            "row 1: numbered 2 and 3",
        ),
        (
            "mmvp_vlm",
            "mmvp_vlm",
            "mmvp_vlm/Questions.csv",
            [QUESTIONS[0], ("1", "T")],
            "row 1: expected an id, a pattern",
        ),
        (
            "mmvp_vlm",
            "mmvp_vlm",
            "mmvp_vlm/Questions.csv",
            [QUESTIONS[0], ("1", "T", "a", "b")],
            "row 1: expected an id",
        ),
        ("clevr_bind", "two_object_gen", TWO_OBJECTS, [("file_name", "pos"), ("1", "2")], "no column neg_0"),
        ("clevr_bind", "rel_gen", CLEVR_REL, [], "an object of relations"),
        ("clevr_bind", "rel_gen", CLEVR_REL, {"a.png": {"neg": []}}, "a.png: expected"),
        ("clevr_bind", "rel_gen", CLEVR_REL, {"a.png": {"pos": ["cube on sphere"]}}, "a.png: .*cube on sphere"),
        ("clevr_bind", "rel_gen", CLEVR_REL, {"a.png": {"pos": ["cube left cube"]}}, "a.png: .*cube left cube"),
        (
            "caltech101",
            "caltech101",
            "caltech101/101_ObjectCategories/ant/1.jpg",
            "",
            "a folder of pictures for each class",
        ),
        ("caltech101", "caltech101", "caltech101/101_ObjectCategories", "", "not a readable folder"),
        ("ncd", "subset1", "ncd/NCD_colorful_composite_squares", "", "not a readable folder"),
    ],
)
def test_a_malformed_file_is_named_with_its_row(
    benchmark: str, part: str, file: str, content: Any, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / file, content)
    with pytest.raises(DataError, match=message) as caught:
        load(tmp_path, benchmark, part)
    assert str(path.parent.parent if path.suffix == ".jpg" else path) in str(caught.value)


def test_a_part_without_a_row_is_said(tmp_path: Path) -> None:
    """And is an error where no other part has one."""
    files = tmp_path / "crepe/prod_hard_negatives/atom"
    write(files / "prod_vg_hard_negs_atom_complexity_4.csv", [REGION])
    with pytest.raises(DataError, match=r"complexity_4.csv: holds no row that the protocol keeps"):
        run_benchmark([constant()], BENCHMARKS["crepe"], tmp_path, resamples=0)
    write(files / "prod_vg_hard_negs_atom_complexity_5.csv", [REGION, ("1", "a", "['b']", "0", "0", "5", "5")])
    report = run_benchmark([constant()], BENCHMARKS["crepe"], tmp_path, resamples=0)
    assert [(part.examples, part.notes) for part in report.parts[:2]] == [
        (0, ("holds no row that the protocol keeps",)),
        (1, ()),
    ]
    assert "- prod_atom_4: holds no row that the protocol keeps" in report_text(report)
