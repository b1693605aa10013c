"""MMVP-VLM: nine visual patterns that CLIP is blind to, fifteen pairs of images and statements each."""

from pathlib import Path

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, read_table
from scorer.benchmarks.kinds import Twins
from scorer.errors import DataError

ORIGIN = "https://huggingface.co/datasets/MMVP/MMVP_VLM"
FOLDERS = ("mmvp_vlm", "MMVP_VLM")
ANNOTATIONS = Source("MMVP-VLM questions", ORIGIN, "MIT", FOLDERS)
IMAGES = Source(
    "MMVP-VLM images",
    ORIGIN,
    "MIT",
    tuple(f"{place}/{name}" for name in ("MLLM_VLM Images", "MMVP_VLM_Images") for place in FOLDERS),
)
PROMPT = "a photo of {}"
PATTERNS, PAIRS = 9, 15


def load(root: Path, part: Part) -> Loaded:
    """Columns id, pattern, statement, in this order under any header; two rows are a pair, images PATTERN/ID.jpg."""
    path, folder = part.annotations.under(root), part.images.under(root)
    rows = [tuple(row.values()) for row in read_table(path, ())]
    for number, row in enumerate(rows, start=1):
        if len(row) != 3 or not all(isinstance(cell, str) for cell in row):
            raise DataError(f"{path}: row {number}: expected an id, a pattern and a statement")
    examples = []
    for place in range(0, len(rows), 2):
        pair = rows[place : place + 2]
        where = f"{path}: row {place + 1}"
        if len(pair) < 2 or pair[0][1] != pair[1][1]:
            raise DataError(f"{where}: its pair of the same pattern does not follow")
        one, two = (int(number) if number.isdigit() else 0 for number, _, _ in pair)
        if one % 2 != 1 or two != one + 1:
            raise DataError(f"{where}: numbered {pair[0][0]} and {pair[1][0]}; expected an odd number and the next")
        pictures = tuple(Picture(folder / pattern / f"{number}.jpg") for number, pattern, _ in pair)
        captions = tuple(PROMPT.format(statement) for _, _, statement in pair)
        examples.append(Example(pair[0][0], pictures, captions, label=pair[0][1]))
    labels = frozenset(item.label for item in examples)
    whole = PATTERNS * PAIRS
    notes = (f"{len(examples)} pairs of {len(labels)} patterns; the authors have {whole} of {PATTERNS}",)
    return Loaded(examples, macro=labels, notes=notes * (len(examples) != whole or len(labels) != PATTERNS))


BENCHMARK = Benchmark(
    name="mmvp_vlm",
    title="MMVP-VLM",
    paper="Tong et al., CVPR 2024",
    protocol='each statement, behind "a photo of", prefers its image of the pair; both must; mean over nine patterns',
    parts=(Part("mmvp_vlm", Twins("image_score", half=True), ANNOTATIONS.file("Questions.csv"), IMAGES),),
    load=load,
)
