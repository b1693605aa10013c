"""ARO: relations and attributes of Visual Genome, with subject and object, or the two attributes, swapped."""

from collections import Counter
from pathlib import Path
from typing import Any

from scorer.benchmarks.base import (
    Benchmark,
    Box,
    Example,
    Loaded,
    Part,
    Picture,
    Source,
    defects,
    read_json,
    texts_of,
)
from scorer.benchmarks.kinds import Choice
from scorer.errors import DataError

ORIGIN = "https://github.com/mertyg/vision-language-models-are-bows (its download=True fetches from Google Drive)"
FOLDERS = ("aro", "vision-language-models-are-bows/data")
ANNOTATIONS = Source("ARO annotations", ORIGIN, "MIT", FOLDERS)
IMAGES = Source(
    "Visual Genome images of ARO (vgr_vga_images.zip)",
    ORIGIN,
    "CC BY 4.0",
    tuple(f"{place}/images" for place in FOLDERS),
)
SYMMETRIC = ANNOTATIONS.file("vgr_symmetric_relations.json")
OFTEN = 25  # rows that a pair of attributes must have to count
BOX = ("bbox_x", "bbox_y", "bbox_w", "bbox_h")


def load(root: Path, part: Part) -> Loaded:
    """Rows {image_path, bbox_x, bbox_y, bbox_w, bbox_h, true_caption, false_caption, relation_name | attributes}.

    The image is the box. Options stand as in the official code: false, true.
    """
    path = part.annotations.under(root)
    rows, folder = read_json(path), part.images.under(root)
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of rows")
    examples = []
    for number, row in enumerate(rows):
        where = f"{path}: row {number}"
        image, true, false = texts_of(row, ("image_path", "true_caption", "false_caption"), where)
        label = _relation(row, where) if part.name == "vg_relation" else _attributes(row, where)
        picture = Picture(folder / Path(image).name, _box(row, where))
        examples.append(Example(str(number), (picture,), (false, true), truth=1, label=label))
    count = Counter(item.label for item in examples)
    if part.name == "vg_attribution":
        return Loaded(examples, macro=frozenset(x for x in count if count[x] >= OFTEN), notes=defects(examples))
    dropped, notes = _symmetric(root)
    return Loaded(examples, macro=frozenset(count) - dropped, notes=(*notes, *defects(examples)))


def _symmetric(root: Path) -> tuple[frozenset[str], tuple[str, ...]]:
    """Relations that hold both ways and are not in the macro average; a note where their list is not there."""
    path = SYMMETRIC.under(root)
    if not path.exists():
        note = f"the macro average is over all relations: the authors leave out the symmetric ones listed in {path}"
        return frozenset(), (f"{note}, which is not there",)
    names = read_json(path)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"{path}: expected a list of relations")
    return frozenset(names), ()


def _relation(row: dict[str, Any], where: str) -> str:
    return texts_of(row, ("relation_name",), where)[0]


def _attributes(row: dict[str, Any], where: str) -> str:
    found = row.get("attributes")
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(item, str) for item in found):
        raise DataError(f"{where}: expected two texts under attributes")
    return f"{found[0]}_{found[1]}"


def _box(row: dict[str, Any], where: str) -> Box:
    sides = [row.get(name) for name in BOX]
    numbers = [float(side) for side in sides if isinstance(side, int | float)]
    if len(numbers) != 4 or min(numbers[2:]) <= 0:
        raise DataError(f"{where}: expected a box of positive size under {', '.join(BOX)}")
    x, y, width, height = numbers
    return x, y, x + width, y + height


BENCHMARK = Benchmark(
    name="aro",
    title="ARO: VG-Relation, VG-Attribution",
    paper="Yuksekgonul et al., ICLR 2023",
    protocol=(
        "argmax over (false, true) on the image cropped to its box; mean over relations that are not symmetric, and "
        f"over pairs of attributes with {OFTEN} rows or more"
    ),
    parts=(
        Part("vg_relation", Choice("argmax"), ANNOTATIONS.file("visual_genome_relation.json"), IMAGES),
        Part("vg_attribution", Choice("argmax"), ANNOTATIONS.file("visual_genome_attribution.json"), IMAGES),
    ),
    load=load,
)
