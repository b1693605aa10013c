"""The benchmarks' layouts and open_clip's csv, read as their own readers read them."""

import ast
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_runs import export, export_runs, lines_of, samples
from PIL import Image

from generator.export import clip_csv, whatsup
from generator.export.captions import replaced, swapped
from generator.export.dcsm_reference import _in_capitals
from generator.export.source import Part, read_source
from generator.records import Sample
from generator.shards import read_json

TASKS = ("spatial", "attribute", "negation", "shared")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return export_runs(tmp_path_factory)


def truth(found: list[Sample], of: Callable[[bytes], Any] = lambda data: data) -> dict[Any, tuple[set[str], set[str]]]:
    """By picture: what is true of it and what is false."""
    known = {}
    for sample in found:
        captions = (set(sample.record.captions_0), set(sample.record.captions_1))
        for side in range(1 + sample.record.has_image_1):
            data = sample.image(side)
            assert data is not None
            known[of(data)] = (captions[side], captions[1 - side])
    return known


def pixels(data: bytes) -> bytes:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).tobytes()


# --- open_clip and NegCLIP


def neg_clip(path: Path) -> Any:
    """The table as NegCLIP reads it."""
    pandas = pytest.importorskip("pandas")
    convert = {"neg_caption": ast.literal_eval, "neg_image": ast.literal_eval}
    return pandas.read_csv(path, sep="\t", converters=convert)


def test_neg_clip_finds_false_captions_and_the_twins_rows(runs: dict[str, Path], tmp_path: Path) -> None:
    parts = [runs[name] for name in TASKS]
    out = export(tmp_path / "it", "clip-csv", *parts)
    found = [sample for run in parts for sample in samples(run, "train")]
    table, known = neg_clip(out / "train.csv"), truth(found)
    assert len(table) == 4 * len(found)
    for _, row in table.iterrows():
        true, false = known[(out / row["filepath"]).read_bytes()]
        assert row["title"] in true
        assert set(row["neg_caption"]) == false
        for other in row["neg_image"]:
            twin = table.iloc[other]
            assert twin["title"] in false
            assert twin["filepath"] != row["filepath"]


def test_a_lone_photograph_borrows_another_as_its_negative(runs: dict[str, Path], tmp_path: Path) -> None:
    out = export(tmp_path / "it", "clip-csv", runs["photos"])
    table = neg_clip(out / "train.csv")
    assert len(table) == 2 * 16
    assert read_json(out / "export.json")["left_out"] == {}
    for _, row in table.iterrows():
        assert row["neg_image"], "NegCLIP draws from it without looking"
        assert all(0 <= other < len(table) for other in row["neg_image"])
        assert all(table.iloc[other]["filepath"] != row["filepath"] for other in row["neg_image"])


def test_pairs_of_one_photograph_do_not_borrow_it_from_each_other(runs: dict[str, Path], tmp_path: Path) -> None:
    """Photographs 7 7 7 8 8 7: the first wait for the fourth, and no row borrows its own photograph."""
    import dataclasses

    found = samples(runs["photos"], "train")[:6]
    photos = ("7", "7", "7", "8", "8", "7")
    pairs = [Sample(dataclasses.replace(sample.record, image_ids=(photo,)), sample.files)
             for sample, photo in zip(found, photos, strict=True)]  # fmt: skip
    source = read_source((runs["photos"],), "train")
    part = Part(tmp_path, "train", iter(enumerate(pairs)), source, Counter())
    assert [record.key for record in clip_csv.write(part)] == [sample.record.key for sample in pairs]
    table = neg_clip(tmp_path / "train.csv")
    for number, borrowed in enumerate(table["neg_image"]):
        assert {photos[other // 2] for other in borrowed} == {"8" if photos[number // 2] == "7" else "7"}
    lone = Part(tmp_path, "train", iter(enumerate(pairs[:3])), source, Counter())
    assert list(clip_csv.write(lone)) == []
    assert lone.left_out == {"no second image, and no other photograph to borrow": 3}


@pytest.mark.slow  # It imports torch and torchvision.
def test_open_clip_trains_from_it(runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pytest.importorskip("open_clip_train.data", reason="open_clip_train comes with open_clip_torch")
    out = export(tmp_path / "it", "clip-csv", runs["spatial"])
    monkeypatch.chdir(out)
    loader = data.CsvDataset("train.csv", np.asarray, "filepath", "title", "\t", tokenizer=lambda texts: texts)
    known = truth(samples(runs["spatial"]), pixels)
    assert len(loader) == 4 * len(samples(runs["spatial"], "train"))
    for number in range(len(loader)):
        image, caption = loader[number]
        assert caption in known[image.tobytes()][0]


def test_captions_with_tabs_and_quotes_come_back_whole(runs: dict[str, Path], tmp_path: Path) -> None:
    import dataclasses
    import shutil

    from test_validate import rewrite

    run = shutil.copytree(runs["spatial"], tmp_path / "run")
    odd = ('A "red\tmug", it\'s [left]', "B\\n")

    def change(sample: Sample) -> Sample:
        return Sample(dataclasses.replace(sample.record, captions_0=odd), sample.files)

    rewrite(run, change)
    table = neg_clip(export(tmp_path / "it", "clip-csv", run) / "train.csv")
    assert tuple(table["title"][:2]) == odd
    assert tuple(table["neg_caption"][2]) == odd


# --- Winoground


def test_winoground_has_its_fields_and_the_same_words_in_both_captions(runs: dict[str, Path], tmp_path: Path) -> None:
    parts = [runs[name] for name in ("spatial", "attribute", "negation")]
    out = export(tmp_path / "it", "winoground", *parts) / "train"
    found = [sample for run in parts for sample in samples(run, "train")]
    examples = list(lines_of(out / "examples.jsonl"))
    known = truth(found, pixels)
    assert [example["id"] for example in examples] == list(range(len(found)))
    for example, sample in zip(examples, found, strict=True):
        assert {"tag", "secondary_tag", "num_main_preds", "collapsed_tag"} < set(example)
        for side in range(2):
            path = out / "images" / f"{example[f'image_{side}']}.png"
            with Image.open(path) as image:
                assert image.format == "PNG"
            true, false = known[pixels(path.read_bytes())]
            assert example[f"caption_{side}"] in true
            assert example[f"caption_{1 - side}"] in false
        bags = [Counter(re.sub(r"\ban\b", "a", example[f"caption_{side}"].lower()).split()) for side in range(2)]
        if sample.record.words[0] != "and no":  # Where an article falls away with the negator.
            assert bags[0] == bags[1]


# --- SugarCrepe


def test_sugarcrepe_files_say_what_was_edited(runs: dict[str, Path], tmp_path: Path) -> None:
    parts = [runs[name] for name in TASKS]
    out = export(tmp_path / "it", "sugarcrepe", *parts) / "train"
    found = [sample for run in parts for sample in samples(run, "train")]
    known = truth(found)
    files = {path.stem: json.loads(path.read_text()) for path in (out / "data").glob("*.json")}
    kinds = {"spatial": ("replace_rel", "swap_obj"), "attribute": ("swap_att",), "negation": ("swap_obj",)}
    wanted = Counter({"replace_obj": 4 * len(samples(runs["shared"], "train"))})
    for name, edits in kinds.items():
        wanted.update(dict.fromkeys(edits, 4 * len(samples(runs[name], "train"))))
    assert {name: len(items) for name, items in files.items()} == wanted
    for items in files.values():
        assert list(items) == [str(number) for number in range(len(items))]
        for item in items.values():
            assert set(item) == {"filename", "caption", "negative_caption"}
            true, false = known[(out / "images" / item["filename"]).read_bytes()]
            assert item["caption"] in true
            assert item["negative_caption"] in false
        texts = [Counter(item[key] for item in items.values()) for key in ("caption", "negative_caption")]
        assert texts[0] == texts[1], "each caption is as often false as it is true"


def test_the_negatives_differ_by_the_edit_that_they_are_named_for(runs: dict[str, Path]) -> None:
    record = samples(runs["spatial"])[0].record
    relation, objects = replaced(record), swapped(record)
    a, b = record.words
    for place in range(2):
        own, negative = record.captions_0[place], record.captions_1[relation.opposite[place]]
        assert {own.replace(a, b), own.replace(b, a)} & {negative}
        nouns = [item.noun for item in record.objects_0]
        other = record.captions_1[objects.opposite[place]]
        assert [word for word in record.words if f" {word} " in other] == [w for w in record.words if f" {w} " in own]
        assert sorted(nouns, key=own.find) == sorted(nouns, key=other.find)[::-1]


def test_a_photograph_alone_is_enough_for_sugarcrepe(runs: dict[str, Path], tmp_path: Path) -> None:
    out = export(tmp_path / "it", "sugarcrepe", runs["photos"]) / "train"
    items = json.loads((out / "data" / "swap_att.json").read_text())
    assert len(items) == 2 * 16
    assert len(list((out / "images").rglob("*.jpg"))) == 16


# --- What'sUp


def test_whatsup_reads_left_and_right_and_above_and_below(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = export(tmp_path / "it", "whatsup", runs["spatial"], runs["negation"])
    assert read_json(out / "export.json")["left_out"] == {"not a spatial pair": len(samples(runs["negation"]))}
    monkeypatch.chdir(out / "train")
    known = {}
    for sample in samples(runs["spatial"], "train"):
        for side in range(2):
            own = (sample.record.captions_0, sample.record.captions_1)[side]
            known[own[0]] = (sample, side)
    controlled = json.loads(Path("data/controlled_images_dataset.json").read_text())
    groups: dict[tuple[str, str], set[str]] = {}
    for item in controlled:
        Image.open(item["image_path"]).load()
        name = Path(item["image_path"]).name
        assert name.endswith(".jpeg")
        subject, relation = name.split("_")[:2]
        groups.setdefault((subject, name.split("_")[-1][:-5]), set()).add(relation)
        words = set(item["caption_options"][0].split()) & {"on", "under", "front", "behind", "left", "right"}
        assert words == {relation}
    assert all(group == {"left", "right"} for group in groups.values()), "pair accuracy needs both of a pair"
    coco_qa = json.loads(Path("data/coco_qa_two_obj.json").read_text())
    for image_id, true, _ in coco_qa:
        Image.open(f"data/val2017/{str(image_id).zfill(12)}.jpg").load()
        assert re.search(r"\b(above|below)\b", true)
    options = [item["caption_options"] for item in controlled] + [item[1:] for item in coco_qa]
    assert len(options) == len(known) == 2 * len(samples(runs["spatial"], "train"))
    for true, *others in options:
        sample, side = known[true]
        false = (sample.record.captions_1, sample.record.captions_0)[side][0]
        assert false in others
        # In left and right scenes nothing is on or under the other either.
        noun = sample.record.captions_0[0].partition(f" {sample.record.words[0]} ")
        on_and_under = [f"{noun[0]} {word} {noun[2]}" for word in ("on", "under")]
        assert sorted(others) == sorted([false, *(on_and_under if len(others) == 3 else [])])


def test_synonyms_are_said_in_words_that_whatsup_looks_for(runs: dict[str, Path], tmp_path: Path) -> None:
    import dataclasses

    words = {"left of": "on the left of", "right of": "on the right of", "above": "over", "below": "under"}
    pairs = []
    for sample in samples(runs["spatial"], "train"):
        record = sample.record
        said = (words[record.fact.value_0], words[record.fact.value_1])
        captions = [
            tuple(re.sub("|".join(map(re.escape, record.words)), said[0], text) for text in texts)
            for texts in (record.captions_0, record.captions_1)
        ]
        changed = dataclasses.replace(record, words=said, captions_0=captions[0], captions_1=captions[1])
        pairs.append(Sample(changed, sample.files))
    source = read_source((runs["spatial"],), "train")
    list(whatsup.write(Part(tmp_path, "train", iter(enumerate(pairs)), source, Counter())))
    plain_words = export(tmp_path / "plain", "whatsup", runs["spatial"], split="train")
    for name in ("controlled_images_dataset.json", "coco_qa_two_obj.json"):
        assert (tmp_path / "train/data" / name).read_text() == (plain_words / "train/data" / name).read_text()


@pytest.mark.parametrize("name", ["whatsup", "sugarcrepe"])
def test_our_own_benchmarks_read_them(name: str, runs: dict[str, Path], tmp_path: Path) -> None:
    from scorer.benchmarks import BENCHMARKS

    out = export(tmp_path / "it", name, runs["spatial"], split="train") / "train"
    (tmp_path / "root" / "coco").mkdir(parents=True)
    (tmp_path / "root" / name).symlink_to(out)
    if name == "sugarcrepe":
        (tmp_path / "root" / "coco" / "val2017").symlink_to(out / "images")
    read = 0
    for part in BENCHMARKS[name].parts:
        path = part.annotations.under(tmp_path / "root")
        if not path.exists() or path.read_text().strip() == "[\n\n]":
            continue
        for example in BENCHMARKS[name].load(tmp_path / "root", part).examples:
            assert example.images[0].path.exists()
            read += 1
    assert read == (2 if name == "whatsup" else 8) * len(samples(runs["spatial"], "train"))


# --- the paper's public training code


def reference(root: Path) -> list[tuple[bytes, bytes, str, str]]:
    """What that code makes of the folders: (image, its twin, caption, caption of the twin), in its first phrasing."""
    found = []
    words = {"above": "above", "below": "below", "rightof": "to the right of", "leftof": "to the left of"}
    spatial = root / "objaverse_train_composite_newrelations_withbg"
    for name in sorted(path.name for path in spatial.iterdir()):
        if "CUTMIX" in name or not name.endswith((".png", ".jpeg", ".jpg")) or not any(word in name for word in words):
            continue
        a, relation, b = Path(name).stem.split("_")
        texts = [f"A picture of a {one} {words[relation]} a {other}" for one, other in ((a, b), (b, a))]
        found.append(((spatial / name).read_bytes(), (spatial / f"CUTMIX_{name}").read_bytes(), *texts))
    colours, sizes = root / "objaverse_attributes_overlay_withbg", root / "objaverse_smallbig_withbg"
    for name in sorted(path.name for folder in (colours, sizes) for path in folder.iterdir()):
        if "MIRROR" in name or not name.endswith((".png", ".jpeg", ".jpg")):
            continue
        folder = sizes if "small" in name else colours
        one, a, other, b = Path(name).stem.split("_")[:4]
        texts = [f"A picture of a {x} {a} and a {y} {b}" for x, y in ((one, other), (other, one))]
        found.append(((folder / name).read_bytes(), (folder / f"MIRROR_{name}").read_bytes(), *texts))
    for item in json.loads((root / "negated_pairs_cocotrain_v1.json").read_text()):
        images = [(root / item[f"img{n}_path"]).read_bytes() for n in (1, 2)]
        a, b = item["img1_obj"][0], item["img2_obj"][0]
        found.append((images[0], images[1], f"An image of a {a} without a {b}", f"An image of a {b} without a {a}"))
    return found


def plain(caption: str) -> str:
    """Without what that code does not know: the right article, and which negator it will draw."""
    return re.sub(r"\b(but not|and no|without)\b", "not", re.sub(r"\b(an?|some) ", "", caption.lower()))


def test_the_papers_code_reads_every_pair_with_captions_that_are_true(runs: dict[str, Path], tmp_path: Path) -> None:
    parts = [runs[name] for name in ("spatial", "attribute", "negation")]
    out = export(tmp_path / "it", "dcsm-reference", *parts)
    wanted = {sample.image(0): sample for run in parts for sample in samples(run, "train")}
    found = reference(out / "train")
    assert len(found) == len(wanted)
    for image, twin, caption, opposite in found:
        sample = wanted[image]
        assert twin == sample.image(1)
        assert plain(caption) in {plain(text) for text in sample.record.captions_0}
        assert plain(opposite) in {plain(text) for text in sample.record.captions_1}


def test_twins_that_share_a_noun_are_told_by_the_others(runs: dict[str, Path], tmp_path: Path) -> None:
    out = export(tmp_path / "it", "dcsm-reference", runs["shared"])
    items = json.loads((out / "train" / "negated_pairs_cocotrain_v1.json").read_text())
    for item, sample in zip(items, samples(runs["shared"], "train"), strict=True):
        shown = [{thing.noun for thing in objects} for objects in (sample.record.objects_0, sample.record.objects_1)]
        assert set(item["img1_obj"]) == shown[0] - shown[1]
        assert set(item["img2_obj"]) == shown[1] - shown[0]


def test_pairs_of_the_same_words_keep_names_of_their_own(runs: dict[str, Path], tmp_path: Path) -> None:
    """Two runs of the same plan (other pictures in truth): no file may be written over."""
    out = export(tmp_path / "it", "dcsm-reference", runs["spatial"], runs["merged"], split="train")
    found = reference(out / "train")
    assert len(found) == 2 * len(samples(runs["spatial"], "train"))
    texts = Counter(caption.lower() for _, _, caption, _ in found)
    assert set(texts.values()) == {2}, "capitals do not count for the tokenizer"


def test_capitals_tell_names_apart_as_long_as_there_are_letters() -> None:
    names = [_in_capitals("ox_b", number) for number in range(9)]
    assert names[:8] == ["ox_b", "Ox_b", "oX_b", "OX_b", "ox_B", "Ox_B", "oX_B", "OX_B"]
    assert names[8] is None
