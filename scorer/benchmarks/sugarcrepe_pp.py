"""SugarCrepe++: two paraphrases that are true and one negative; by image, and by text alone."""

from pathlib import Path

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, read_json, texts_of
from scorer.benchmarks.kinds import TwoPositives
from scorer.benchmarks.places import COCO_VAL2017
from scorer.errors import DataError

ANNOTATIONS = Source(
    "SugarCrepe++ annotations",
    "https://github.com/Sri-Harsha/scpp",
    "CC BY 4.0",
    ("sugarcrepe_pp/data", "scpp/data"),
)
NAMES = ("replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att")


def load(root: Path, part: Part) -> Loaded:
    """One file of [{id, filename, caption, caption2, negative_caption}, ...]."""
    path = part.annotations.under(root)
    rows, folder = read_json(path), part.images.under(root)
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of rows")
    examples = []
    for number, row in enumerate(rows):
        where = f"{path}: row {number}"
        name, *captions = texts_of(row, ("filename", "caption", "caption2", "negative_caption"), where)
        examples.append(Example(str(number), (Picture(folder / name),), tuple(captions)))
    defects = [item.key for item in examples if item.captions[2] in item.captions[:2]]
    notes = (f"rows whose negative equals a positive and can never be right: {', '.join(defects)}",) if defects else ()
    return Loaded(examples, notes=notes)


BENCHMARK = Benchmark(
    name="sugarcrepe_pp",
    title="SugarCrepe++",
    paper="Dumpala et al., NeurIPS 2024",
    protocol="ITT: the image is strictly closer to both positives than to the negative; TOT: the same between texts",
    parts=tuple(Part(name, TwoPositives(), ANNOTATIONS.file(f"{name}.json"), COCO_VAL2017) for name in NAMES),
    load=load,
    averages={"mean of parts": NAMES},
)
