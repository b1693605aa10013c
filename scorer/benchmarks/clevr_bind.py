"""CLEVR-bind: which colour or relation belongs to which of CLEVR's shapes."""

from pathlib import Path
from typing import Any

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, defects, read_json, read_table
from scorer.benchmarks.kinds import Choice
from scorer.errors import DataError

ORIGIN = "https://github.com/marthaflinderslewis/clip-binding (its README links the images on Google Drive)"
FOLDERS = ("clevr_bind", "clip-binding/data/datasets")
PROMPT = "An image of a {}"  # the DCSM paper's; the authors of CLEVR-bind write "a photo of" and no space
OPPOSITES = {"front": "behind", "behind": "front", "left": "right", "right": "left"}
SHAPES = ("cube", "sphere", "cylinder")
COLUMNS = ("pos", "neg_0", "neg_1", "neg_2", "neg_3")
SPLITS = {  # of each set, with the file of its rows and the folder of its images
    ("two_object", "gen"): ("gen.csv", "images/gen"),
    ("two_object", "val"): ("val.csv", "images/val"),
    ("two_object", "train"): ("train.csv", "images/train"),
    ("single_object", "gen"): ("test.csv", "images"),
    ("single_object", "val"): ("val.csv", "images"),
    ("single_object", "train"): ("train.csv", "images"),
    ("rel", "gen"): ("gen.json", "images/gen"),
    ("rel", "val"): ("val.json", "images/val"),
    ("rel", "train"): ("train.json", "images/train"),
}


def load(root: Path, part: Part) -> Loaded:
    """Objects: file_name, pos, neg_0 to neg_3. Relations: {image: {"pos": ["cube left sphere", ...]}}."""
    path, folder = part.annotations.under(root), part.images.under(root)
    rows = _relations(path) if path.suffix == ".json" else _objects(path)
    examples = [
        Example(str(number), (Picture(folder / image),), tuple(PROMPT.format(text) for text in options))
        for number, (image, options) in enumerate(rows)
    ]
    return Loaded(examples, notes=defects(examples))


def _objects(path: Path) -> list[tuple[str, list[str]]]:
    return [(row["file_name"], [row[name] for name in COLUMNS]) for row in read_table(path, ("file_name", *COLUMNS))]


def _relations(path: Path) -> list[tuple[str, list[str]]]:
    """A row for each true relation; the false ones are made of it: B R A, A opposite B, C R B, A R C."""
    images = read_json(path)
    if not isinstance(images, dict):
        raise DataError(f"{path}: expected an object of relations by image")
    found = []
    for image, row in images.items():
        true = row.get("pos") if isinstance(row, dict) else None
        if not isinstance(true, list):
            raise DataError(f'{path}: {image}: expected {{"pos": ["cube left sphere", ...]}}')
        found += [(image, _options(text, f"{path}: {image}")) for text in true]
    return found


def _options(text: Any, where: str) -> list[str]:
    words = text.split() if isinstance(text, str) else []
    if len(words) != 3 or words[1] not in OPPOSITES or not {words[0], words[2]} < set(SHAPES) or words[0] == words[2]:
        raise DataError(f"{where}: expected two of {', '.join(SHAPES)} around one of {', '.join(OPPOSITES)}: {text!r}")
    one, relation, two = words
    (third,) = set(SHAPES) - {one, two}
    triples = ((one, relation, two), (two, relation, one), (one, OPPOSITES[relation], two), (third, relation, two))
    return [" ".join(triple) for triple in (*triples, (one, relation, third))]


def _part(name: str, split: str, file: str, images: str) -> Part:
    rows = Source(
        "CLEVR-bind annotations", ORIGIN, "BSD-3-Clause", tuple(f"{place}/{name}/{file}" for place in FOLDERS)
    )
    folder = Source(
        f"CLEVR-bind images, {name}", ORIGIN, "BSD-3-Clause", tuple(f"{place}/{name}/{images}" for place in FOLDERS)
    )
    # The official code shuffles the options of relations, so that no place is favoured there.
    return Part(f"{name}_{split}", Choice("strict" if name == "rel" else "argmax"), rows, folder)


BENCHMARK = Benchmark(
    name="clevr_bind",
    title="CLEVR-bind",
    paper="Lewis et al., 2022",
    protocol=f'argmax over five options, truth first but for relations, in the DCSM paper\'s "{PROMPT.format("...")}"',
    parts=tuple(_part(name, split, *places) for (name, split), places in SPLITS.items()),
    load=load,
)
