"""VL-CheckList: objects, attributes and relations of Visual Genome, HAKE and SWiG, each replaced by something else."""

from itertools import product
from pathlib import Path
from typing import Any

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, defects, read_json
from scorer.benchmarks.kinds import Choice
from scorer.benchmarks.places import VISUAL_GENOME
from scorer.errors import DataError

ORIGIN = "https://github.com/om-ai-lab/VL-CheckList"
ANNOTATIONS = Source(
    "VL-CheckList annotations", ORIGIN, "unknown", ("vl_checklist/data", "VL-CheckList/data", "vl_checklist")
)
HAKE = Source("HAKE images of VL-CheckList", f"{ORIGIN} (DATASETS.md)", "unknown", ("hake", "vl_checklist/hake"))
SWIG = Source("SWiG images of VL-CheckList", f"{ORIGIN} (DATASETS.md)", "unknown", ("swig", "vl_checklist/swig"))
IMAGES = {"vg": VISUAL_GENOME, "vaw": VISUAL_GENOME, "hake": HAKE, "swig": SWIG}
KIND = Choice(official_first=1000)


def _names() -> dict[str, str]:
    """Files by the names of their parts. (SWiG's places have files without a row, which its corpus leaves out.)"""
    found = {
        f"attribute_{kind}_vg": f"Attribute/vg/{kind}" for kind in ("action", "color", "material", "size", "state")
    }
    found |= {part.replace("_vg", "_vaw"): file.replace("/vg/", "/vaw/") for part, file in found.items()}
    sizes, places = (
        ("Size", "size", ("large", "medium", "small")),
        ("Location", "location", ("center", "margin", "mid")),
    )
    for folder, word, values in (places, sizes):
        for value, (source, things) in product(values, (("hake", ("obj",)), ("vg", ("obj", "subj")))):
            for thing in things:
                file = f"Object/{folder}/{source}_{word}/{source}_{thing}_{value}"
                found[f"object_{word}_{value}_{source}_{thing}"] = file
        for value, thing in product(values, ("agent", "destination", "item", "tool")):
            file = f"Object/{folder}/swig_{word}/swig_{thing}/swig_{thing}_{value}"
            found[f"object_{word}_{value}_swig_{thing}"] = file
    return found | {
        "relation_action_vg": "Relation/vg/action",
        "relation_action_hake": "Relation/hake_action",
        "relation_action_swig": "Relation/swig_action",
        "relation_spatial_vg": "Relation/vg/spatial",
    }


NAMES = _names()


def load(root: Path, part: Part) -> Loaded:
    """Rows [image, {"POS": [true, ...], "NEG": [false, ...]}]; the first of each count, as in the official code."""
    path = part.annotations.under(root)
    rows, folder = read_json(path), part.images.under(root)
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of rows")
    examples = []
    for number, row in enumerate(rows):
        image, true, false = _row(row, f"{path}: row {number}")
        examples.append(Example(str(number), (Picture(folder / image),), (true, false)))
    return Loaded(examples, notes=defects(examples))


def _row(row: Any, where: str) -> tuple[str, str, str]:
    image, texts = row if isinstance(row, list) and len(row) == 2 else ("", {})
    sides = [texts.get(name) if isinstance(texts, dict) else None for name in ("POS", "NEG")]
    first = [side[0] for side in sides if isinstance(side, list) and side and isinstance(side[0], str)]
    if not isinstance(image, str) or not image or len(first) != 2:
        raise DataError(f'{where}: expected [image, {{"POS": [text], "NEG": [text]}}]')
    return image, first[0], first[1]


def _source(part: str) -> Source:
    return next(source for word, source in IMAGES.items() if word in part.split("_"))


BENCHMARK = Benchmark(
    name="vl_checklist",
    title="VL-CheckList",
    paper="Zhao et al., 2022",
    protocol=(
        "ITC: the first POS strictly above the first NEG, over all rows; the sample configuration of the official code "
        "stops after 1,000 rows of a file that have their image. Their ITM needs a calibrated head and is left out"
    ),
    parts=tuple(Part(name, KIND, ANNOTATIONS.file(f"{file}.json"), _source(name)) for name, file in NAMES.items()),
    load=load,
    averages={
        kind: tuple(name for name in NAMES if name.startswith(kind)) for kind in ("object", "attribute", "relation")
    },
)
