"""What real annotation files bring: each fault is handled, counted, or refused in one clear line."""

import json
from pathlib import Path

import numpy as np
import pytest
from coco_files import HEIGHT, WIDTH, CocoFiles
from hypothesis import given
from hypothesis import strategies as st

from generator.coco.annotations import MAX_WORDS, Instance, Photo, mask_of, read_captions, read_corpus
from generator.errors import DataError

PHOTO = Photo(1, "1.jpg", WIDTH, HEIGHT, 4, "")


@pytest.fixture
def files(tmp_path: Path) -> CocoFiles:
    world = CocoFiles(tmp_path)
    photo = world.photo()
    world.caption(photo, "A dog on a bench.")
    world.box(photo, "dog", (10, 10, 40, 40))
    return world


def test_reads_what_is_there(files: CocoFiles) -> None:
    files.write()
    corpus = read_corpus(files.captions_path, files.instances_path)
    assert not corpus.faults
    assert corpus.captions[1000][0].text == "A dog on a bench."
    assert corpus.instances[1000][0].box == (10, 10, 50, 50)
    assert corpus.licenses[4][0] == "Attribution License"


def test_faults_in_captions_are_counted(files: CocoFiles) -> None:
    photo = files.photo()
    for text in ("", "  \n ", "word " * 500, "A cat.", "a cat. ", None, 7, "Ein Bär — 漢字 🐻 on a bench"):
        files.caption(photo, text)
    files.caption(424242, "A caption of nothing.")
    files.captions.append({"id": 1})
    corpus = read_corpus(files.write().captions_path, None)
    assert [item.text for item in corpus.captions[photo]] == ["A cat.", "Ein Bär — 漢字 🐻 on a bench"]
    assert corpus.faults == {
        "caption empty": 2,
        "caption too long": 1,
        "caption repeated": 1,
        "caption entry malformed": 3,
        "caption of an unknown image": 1,
    }


def test_longest_allowed_caption_is_kept(files: CocoFiles) -> None:
    files.caption(1000, " ".join(["word"] * MAX_WORDS))
    assert len(read_corpus(files.write().captions_path, None).captions[1000]) == 2


def test_line_ends_and_blanks_are_tidied(files: CocoFiles) -> None:
    files.caption(1000, " A  cat\non\t a mat. ")
    assert read_captions(files.write().captions_path)[1].text == "A cat on a mat."


def test_photos_without_captions_or_boxes_are_no_fault(files: CocoFiles) -> None:
    empty = files.photo()
    corpus = read_corpus(files.write().captions_path, files.instances_path)
    assert empty in corpus.photos
    assert empty not in corpus.captions
    assert empty not in corpus.instances


def test_faults_in_boxes_are_counted(files: CocoFiles) -> None:
    for xywh in ((500, 500, 10, 10), (10, 10, 0, 30), (float("nan"), 0, 5, 5)):
        files.box(1000, "cat", xywh)
    files.box(4242, "cat", (0, 0, 10, 10))
    files.box(1000, "cat", (0, 0, 10, 10), category_id=99)
    files.box(1000, "cat", (0, 0, 10, 10), bbox=[1, 2, 3])
    corpus = read_corpus(files.write().captions_path, files.instances_path)
    assert len(corpus.instances[1000]) == 1
    assert corpus.faults == {
        "box empty or outside its image": 3,
        "box of an unknown image": 1,
        "box entry malformed": 2,
    }


def test_boxes_are_clipped_to_the_photo(files: CocoFiles) -> None:
    files.box(1000, "cat", (-5, -5, WIDTH + 50, HEIGHT + 50))
    box = read_corpus(files.write().captions_path, files.instances_path).instances[1000][1].box
    assert box == (0, 0, WIDTH, HEIGHT)


@given(st.floats(-300, 300), st.floats(-300, 300), st.floats(0, 600), st.floats(0, 600))
def test_boxes_never_leave_the_photo(x: float, y: float, w: float, h: float) -> None:
    from generator.coco.annotations import _clip

    box = _clip(x, y, w, h, PHOTO)
    if box is not None:
        x0, y0, x1, y1 = Instance(1, 1, "cat", box, 1.0, False, None).box
        assert 0 <= x0 < x1 <= WIDTH
        assert 0 <= y0 < y1 <= HEIGHT


def test_captions_given_as_instances_and_the_other_way_round(files: CocoFiles) -> None:
    files.write()
    with pytest.raises(DataError, match="given as --instances, but it looks like a file of captions"):
        read_corpus(files.captions_path, files.captions_path)
    with pytest.raises(DataError, match="given as --captions, but it looks like a file of instances"):
        read_corpus(files.instances_path, files.instances_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"images": [], "annot', "not JSON, or cut off"),
        ("[1, 2]", "no COCO annotation file"),
        ('{"images": [], "annotations": []}', "lists no usable images"),
        ('{"images": [{"id": 1}], "annotations": []}', "lists no usable images"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "captions.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_corpus(path, None)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such file .*nowhere\.json"):
        read_corpus(tmp_path / "nowhere.json", None)


def test_instances_without_categories_are_refused(files: CocoFiles) -> None:
    files.write()
    data = json.loads(files.instances_path.read_text())
    del data["categories"]
    files.instances_path.write_text(json.dumps(data))
    with pytest.raises(DataError, match="no 'categories'"):
        read_corpus(files.captions_path, files.instances_path)


def test_file_names_cannot_leave_the_folder(files: CocoFiles) -> None:
    files.photos[0]["file_name"] = "../../secret.jpg"
    with pytest.raises(DataError, match="must be a plain name"):
        read_corpus(files.write().captions_path, None)


def instance(segmentation: object, crowd: bool = False) -> Instance:
    return Instance(1, 1, "cat", (10, 10, 40, 30), 1200, crowd, segmentation)


def test_polygon_and_crowd_rle_give_the_same_mask() -> None:
    pytest.importorskip("pycocotools")
    polygon = mask_of(instance([[10, 10, 50, 10, 50, 40, 10, 40]]), PHOTO)
    assert polygon is not None
    assert polygon.shape == (HEIGHT, WIDTH)
    assert polygon.sum() == 40 * 30
    columns = np.asfortranarray(polygon).ravel(order="F").astype(int)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], columns, [0]))))
    counts = np.diff(np.concatenate(([0], edges, [columns.size]))).tolist()
    runs = mask_of(instance({"size": [HEIGHT, WIDTH], "counts": counts}, crowd=True), PHOTO)
    assert runs is not None
    assert (runs == polygon).all()


@pytest.mark.parametrize("segmentation", [None, [], {}])
def test_no_segmentation_is_no_mask(segmentation: object) -> None:
    assert mask_of(instance(segmentation), PHOTO) is None


@pytest.mark.parametrize(
    "segmentation",
    [
        [[1, 2]],
        "nonsense",
        {"counts": [5]},
        {"size": [3, 3], "counts": "abc"},
        {"size": [2, 2], "counts": [1, 2, 1]},
        {"size": [HEIGHT, WIDTH], "counts": [5]},
    ],
)
def test_segmentation_that_cannot_be_decoded(segmentation: object) -> None:
    pytest.importorskip("pycocotools")
    with pytest.raises(DataError, match="annotation 1: segmentation"):
        mask_of(instance(segmentation), PHOTO)
