"""Winoground: two images and two captions of the same words in another order."""

import json
from pathlib import Path
from typing import Any

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, texts_of
from scorer.benchmarks.kinds import Twins
from scorer.errors import DataError

ORIGIN = "https://huggingface.co/datasets/facebook/winoground (after its terms are accepted)"
LICENCE = "its own; not to be redistributed"
FIELDS = ("image_0", "image_1", "caption_0", "caption_1")

# The last place is that of `generator export --to winoground`, with a split as the root.
ANNOTATIONS = Source(
    "Winoground examples",
    ORIGIN,
    LICENCE,
    ("winoground/data/examples.jsonl", "winoground/examples.jsonl", "examples.jsonl"),
)
IMAGES = Source("Winoground images", ORIGIN, LICENCE, ("winoground/data/images", "winoground/images", "images"))


def load(root: Path, part: Part) -> Loaded:
    """Lines {id, image_0, image_1, caption_0, caption_1, collapsed_tag}; images are named without their ".png"."""
    path, folder = part.annotations.under(root), part.images.under(root)
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a readable file of JSON lines ({error})") from error
    examples, seen = [], set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}: line {number}"
        row = _object(line, where)
        one, two, *captions = texts_of(row, FIELDS, where)
        key = str(row.get("id", number))
        if key in seen:
            raise DataError(f"{where}: the id {key} stands twice")
        seen.add(key)
        pictures = tuple(Picture(folder / (name if Path(name).suffix else f"{name}.png")) for name in (one, two))
        label = row.get("collapsed_tag")
        examples.append(Example(key, pictures, tuple(captions), label=label if isinstance(label, str) else ""))
    return Loaded(examples)


def _object(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise DataError(f"{where}: not JSON ({error})") from error


BENCHMARK = Benchmark(
    name="winoground",
    title="Winoground",
    paper="Thrush et al., CVPR 2022",
    protocol="text, image and group score, strictly higher; by what was swapped",
    parts=(Part("winoground", Twins(), ANNOTATIONS, IMAGES),),
    load=load,
)
