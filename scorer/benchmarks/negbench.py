"""NegBench: multiple choice and retrieval with captions that say what is absent."""

from pathlib import Path

from scorer.benchmarks.base import (
    Benchmark,
    Example,
    Loaded,
    Part,
    Picture,
    Source,
    defects,
    list_of_texts,
    read_table,
)
from scorer.benchmarks.kinds import Choice, Retrieval
from scorer.benchmarks.places import COCO_VAL2017
from scorer.errors import DataError

ANNOTATIONS = Source(
    "NegBench annotations",
    "https://github.com/m1k2zoo/negbench (its datasets.md links the CSV files)",
    "MIT",
    ("negbench/images", "negbench/data/images", "NegBench/evaluation data/images"),
)
VOC2007 = Source(
    "PASCAL VOC 2007",
    "http://host.robots.ox.ac.uk/pascal/VOC/voc2007/",
    "Flickr terms of each photograph",
    ("voc2007/VOCdevkit/VOC2007/JPEGImages", "VOCdevkit/VOC2007/JPEGImages", "VOC2007/JPEGImages"),
)
OPTIONS = tuple(f"caption_{place}" for place in range(4))


def load(root: Path, part: Part) -> Loaded:
    """Multiple choice: image_path, correct_answer, caption_0 to caption_3, correct_answer_template.

    Retrieval: filepath, image_id and captions, the text of a Python list. Only the names of the paths are used.
    """
    path, folder = part.annotations.under(root), part.images.under(root)
    return _retrieval(path, folder) if isinstance(part.kind, Retrieval) else _choice(path, folder)


def _choice(path: Path, folder: Path) -> Loaded:
    examples = []
    rows = read_table(path, ("image_path", "correct_answer", *OPTIONS, "correct_answer_template"))
    for number, row in enumerate(rows, start=1):
        truth = row["correct_answer"]
        if truth not in ("0", "1", "2", "3"):
            raise DataError(f"{path}: row {number}: correct_answer is {truth!r}; expected a number from 0 to 3")
        picture = Picture(folder / Path(row["image_path"]).name)
        options = tuple(row[name] for name in OPTIONS)
        examples.append(Example(str(number), (picture,), options, int(truth), row["correct_answer_template"]))
    return Loaded(examples, notes=defects(examples))


def _retrieval(path: Path, folder: Path) -> Loaded:
    examples = []
    for number, row in enumerate(read_table(path, ("filepath", "image_id", "captions")), start=1):
        captions = list_of_texts(row["captions"], f"{path}: row {number}: captions")
        if not captions:
            raise DataError(f"{path}: row {number}: has no caption")
        picture = Picture(folder / Path(row["filepath"]).name)
        examples.append(Example(f"{number} {row['image_id']}", (picture,), tuple(captions)))
    return Loaded(examples)


BENCHMARK = Benchmark(
    name="negbench",
    title="NegBench",
    paper="Alhamoud et al., CVPR 2025",
    protocol=(
        "MCQ: argmax over four options, truth first in the files of COCO and VOC, also by template; "
        "retrieval: every caption is a query over all images (the authors report text to image, R@1 and R@5)"
    ),
    parts=(
        Part("coco_mcq", Choice("argmax"), ANNOTATIONS.file("COCO_val_mcq_llama3.1_rephrased.csv"), COCO_VAL2017),
        Part("voc_mcq", Choice("argmax"), ANNOTATIONS.file("VOC2007_mcq_llama3.1_rephrased.csv"), VOC2007),
        Part("coco_retrieval", Retrieval((1, 5)), ANNOTATIONS.file("COCO_val_retrieval.csv"), COCO_VAL2017),
        Part(
            "coco_negated_retrieval",
            Retrieval((1, 5)),
            ANNOTATIONS.file("COCO_val_negated_retrieval_llama3.1_rephrased_affneg_true.csv"),
            COCO_VAL2017,
        ),
    ),
    load=load,
)
