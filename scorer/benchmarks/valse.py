"""VALSE: captions and foils for existence, plurality, counting, relations, actions and coreference."""

from pathlib import Path
from typing import Any

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, defects, read_json, texts_of
from scorer.benchmarks.kinds import Choice
from scorer.benchmarks.places import COCO_TRAIN2014, COCO_VAL2014, COCO_VAL2017
from scorer.errors import DataError

ORIGIN = "https://github.com/Heidelberg-NLP/VALSE"
ANNOTATIONS = Source("VALSE annotations", ORIGIN, "MIT", ("valse/data", "VALSE/data"))
VISUAL7W = Source(
    "Visual7W", "https://ai.stanford.edu/~yukez/visual7w/", "unknown", ("visual7w/images", "valse/visual7w/images")
)
SWIG = Source(
    "SWiG", "https://github.com/allenai/swig", "unknown", ("swig/images_512", "valse/actions/images_512", "swig")
)
VISDIAL = Source(
    "VisDial val2018",
    "https://visualdialog.org/data",
    "unknown",
    ("visdial/VisualDialog_val2018", "visdial", "valse/coref"),
)
VALID = 2  # of three annotators
PIECES = {
    "existence": VISUAL7W,
    "plurals": COCO_VAL2017,
    "counting-hard": VISUAL7W,
    "counting-small-quant": VISUAL7W,
    "counting-adversarial": VISUAL7W,
    "relations": COCO_VAL2017,
    "action-replacement": SWIG,
    "actant-swap": SWIG,
    "coreference-standard": COCO_TRAIN2014,
    "coreference-hard": VISDIAL,
    "foil-it": COCO_VAL2014,
}


def load(root: Path, part: Part) -> Loaded:
    """{id: {image_file, caption, foil, mturk: {caption: how many annotators took the caption, not the foil}}}."""
    path, folder = part.annotations.under(root), part.images.under(root)
    rows = read_json(path)
    if not isinstance(rows, dict):
        raise DataError(f"{path}: expected an object of rows by their id")
    examples, rejected = [], 0
    for key, row in rows.items():
        where = f"{path}: row {key}"
        image, caption, foil = texts_of(row, ("image_file", "caption", "foil"), where)
        if _votes(row, where) < VALID:
            rejected += 1
            continue
        # Coreference takes photographs of both halves of COCO 2014.
        other = COCO_VAL2014.under(root) if image.startswith("COCO_val2014_") else folder
        examples.append(Example(key, (Picture(other / image),), (caption, foil)))
    excluded = {f"fewer than {VALID} of 3 annotators chose the caption": rejected} if rejected else {}
    return Loaded(examples, excluded=excluded, notes=defects(examples))


def _votes(row: dict[str, Any], where: str) -> int:
    found = row.get("mturk")
    votes = found.get("caption") if isinstance(found, dict) else None
    if not isinstance(votes, int):
        raise DataError(f"{where}: expected a number under mturk, caption")
    return votes


BENCHMARK = Benchmark(
    name="valse",
    title="VALSE",
    paper="Parcalabescu et al., ACL 2022",
    protocol=(
        "pairwise accuracy acc_r: the caption strictly above its foil, rows that 2 of 3 annotators validated; AUROC "
        "over captions and foils. The authors' acc, p_c and p_f need probabilities with a threshold and are left out"
    ),
    parts=tuple(
        Part(name, Choice(auroc=True), ANNOTATIONS.file(f"{name}.json"), images) for name, images in PIECES.items()
    ),
    load=load,
    averages={"mean of pieces": tuple(PIECES)},
)
