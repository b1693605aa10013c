"""COCO, read by pycocotools."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from export_runs import export, export_runs, samples
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from generator.export.rle import encode
from generator.records import Sample

pytest.importorskip("pycocotools", reason="pycocotools is not installed: pip install 'twinscene[coco]'")

from pycocotools import mask as mask_utils
from pycocotools.coco import COCO


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return export_runs(tmp_path_factory)


def read(path: Path) -> COCO:
    with contextlib.redirect_stdout(io.StringIO()):
        return COCO(str(path))


def sides(found: list[Sample]) -> list[tuple[Sample, int]]:
    return [(sample, side) for sample in found for side in range(1 + sample.record.has_image_1)]


@given(arrays(np.bool_, st.tuples(st.integers(1, 40), st.integers(1, 40))))
def test_run_lengths_are_those_of_pycocotools(mask: np.ndarray) -> None:
    theirs = mask_utils.encode(np.asfortranarray(mask.astype(np.uint8)))
    assert encode(mask) == theirs["counts"].decode()
    np.testing.assert_array_equal(mask_utils.decode({"size": mask.shape, "counts": encode(mask)}), mask)


def test_long_runs() -> None:
    mask = np.zeros((2000, 3000), bool)
    mask[1500:, 1000:2500] = True
    assert encode(mask) == mask_utils.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"].decode()
    assert encode(~mask) == mask_utils.encode(np.asfortranarray((~mask).astype(np.uint8)))["counts"].decode()


def test_images_boxes_and_masks_agree_with_the_shards(runs: dict[str, Path], tmp_path: Path) -> None:
    parts = [runs[name] for name in ("spatial", "attribute", "shared")]
    out = export(tmp_path / "it", "coco", *parts) / "train"
    found = read(out / "instances.json")
    wanted = sides([sample for run in parts for sample in samples(run, "train")])
    assert len(found.imgs) == len(wanted)
    assert "compressed RLE" in found.dataset["info"]["description"]
    for image_id, (sample, side) in zip(sorted(found.imgs), wanted, strict=True):
        image = found.imgs[image_id]
        assert (out / "images" / image["file_name"]).read_bytes() == sample.image(side)
        assert (image["pair"], image["side"]) == (sample.record.key, side)
        data = sample.mask(side)
        assert data is not None
        labels = np.asarray(Image.open(io.BytesIO(data)))
        assert (image["height"], image["width"]) == labels.shape
        objects = (sample.record.objects_0, sample.record.objects_1)[side]
        annotations = found.loadAnns(found.getAnnIds(image_id))
        assert len(annotations) == len(objects)
        for place, (item, annotation) in enumerate(zip(objects, annotations, strict=True)):
            assert found.cats[annotation["category_id"]]["name"] == item.noun
            np.testing.assert_array_equal(found.annToMask(annotation), labels == place + 1)
            rle = annotation["segmentation"]
            assert mask_utils.area(rle) == annotation["area"] == item.visible_px
            assert mask_utils.toBbox(rle).tolist() == annotation["bbox"]
            x, y, width, height = annotation["bbox"]
            assert (x, y, x + width, y + height) == item.box


def test_captions_are_true_of_their_image_and_negatives_of_the_other(runs: dict[str, Path], tmp_path: Path) -> None:
    out = export(tmp_path / "it", "coco", runs["spatial"]) / "train"
    found = read(out / "captions.json")
    for image_id, (sample, side) in zip(sorted(found.imgs), sides(samples(runs["spatial"], "train")), strict=True):
        captions = found.loadAnns(found.getAnnIds(image_id))
        own = (sample.record.captions_0, sample.record.captions_1)
        assert tuple(item["caption"] for item in captions) == own[side]
        assert tuple(item["negative_caption"] for item in captions) == own[1 - side], "only the relation differs"


def test_photographs_have_boxes_licences_and_their_own_sizes(runs: dict[str, Path], tmp_path: Path) -> None:
    out = export(tmp_path / "it", "coco", runs["photos"], runs["spatial"]) / "train"
    found = read(out / "instances.json")
    assert "no masks" in found.dataset["info"]["description"]
    names = {item["id"]: item["name"] for item in found.dataset["licenses"]}
    wanted = sides(samples(runs["photos"], "train") + samples(runs["spatial"], "train"))
    for image_id, (sample, side) in zip(sorted(found.imgs), wanted, strict=True):
        image = found.imgs[image_id]
        with Image.open(out / "images" / image["file_name"]) as picture:
            assert picture.size == (image["width"], image["height"])
        if sample.record.image_ids:
            number = int(sample.record.image_ids[0])
            assert image["coco_id"] == str(number)
            assert names[image["license"]] == ("Attribution License", "Attribution-NonCommercial License")[number % 2]
            assert image["flickr_url"] == f"http://flickr/{number}"
            assert [item["segmentation"] for item in found.imgToAnns[image_id]] == [[], []]
        else:
            assert names[image["license"]].startswith("see credits.csv")
        assert side in (0, 1)
