"""SugarCrepe: hard negatives of COCO captions that a language model wrote and filtered."""

from pathlib import Path

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, read_json, texts_of
from scorer.benchmarks.kinds import Choice
from scorer.benchmarks.places import COCO_VAL2017
from scorer.errors import DataError

ANNOTATIONS = Source(
    "SugarCrepe annotations",
    "https://github.com/RAIVNLab/sugar-crepe",
    "MIT",
    ("sugarcrepe/data", "sugar-crepe/data", "data"),
)
# The last places are those of `generator export --to sugarcrepe`, with a split as the root.
IMAGES = Source(COCO_VAL2017.name, COCO_VAL2017.origin, COCO_VAL2017.licence, (*COCO_VAL2017.places, "images"))
NAMES = ("add_obj", "add_att", "replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att")


def load(root: Path, part: Part) -> Loaded:
    """One file of {"0": {filename, caption, negative_caption}, ...}; the true caption is option 0."""
    path = part.annotations.under(root)
    rows, folder = read_json(path), part.images.under(root)
    if not isinstance(rows, dict):
        raise DataError(f"{path}: expected an object of rows by number")
    examples = []
    for key, row in rows.items():
        name, true, false = texts_of(row, ("filename", "caption", "negative_caption"), f"{path}: row {key}")
        examples.append(Example(key, (Picture(folder / name),), (true, false)))
    return Loaded(examples)


BENCHMARK = Benchmark(
    name="sugarcrepe",
    title="SugarCrepe",
    paper="Hsieh et al., NeurIPS 2023",
    protocol="cos(image, caption) strictly above cos(image, negative), raw captions; the authors give seven numbers",
    parts=tuple(Part(name, Choice(), ANNOTATIONS.file(f"{name}.json"), IMAGES) for name in NAMES),
    load=load,
    averages={
        "add": ("add_obj", "add_att"),
        "replace": ("replace_obj", "replace_att", "replace_rel"),
        "swap": ("swap_obj", "swap_att"),
        "mean of parts": NAMES,
    },
)
