"""Caltech101: photographs and drawings of 101 kinds of things, in a folder each."""

from pathlib import Path

from scorer.benchmarks.base import Benchmark, Loaded, Part, Picture, Source
from scorer.benchmarks.classes import ENSEMBLE, Classified, rows
from scorer.benchmarks.kinds import Choice
from scorer.errors import DataError

IMAGES = Source(
    "Caltech101",
    "https://data.caltech.edu/records/mzrjq-6wc02",
    "CC BY 4.0",
    ("caltech101/101_ObjectCategories", "caltech-101/101_ObjectCategories", "101_ObjectCategories"),
)
CLUTTER = "BACKGROUND_Google"
CLASSES, PICTURES = 101, 8677  # of the official archive, without the clutter
SUFFIXES = (".jpg", ".jpeg", ".png")
PROMPTS = {"caltech101": ENSEMBLE[:1], "caltech101_ensemble": ENSEMBLE}

# Folders whose names would mislead a reader of captions.
SAID = {
    "Faces": "off-center face",
    "Faces_easy": "centered face",
    "Leopards": "leopard",
    "Motorbikes": "motorbike",
    "airplanes": "airplane",
    "car_side": "side of a car",
    "cougar_body": "body of a cougar",
    "cougar_face": "face of a cougar",
    "crocodile_head": "head of a crocodile",
    "flamingo_head": "head of a flamingo",
}


def load(root: Path, part: Part) -> Loaded:
    """Every picture of every class but the clutter; the paper does not say which of them it took."""
    folder = part.images.under(root)
    try:
        classes = sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != CLUTTER)
        pictures: list[Classified] = [
            (f"{name}/{path.name}", Picture(path), place)
            for place, name in enumerate(classes)
            for path in sorted((folder / name).iterdir())
            if path.suffix.lower() in SUFFIXES
        ]
        clutter = sum(path.suffix.lower() in SUFFIXES for path in (folder / CLUTTER).glob("*"))
    except OSError as error:
        raise DataError(f"{folder}: not a readable folder of class folders ({error})") from error
    if len(classes) < 2:
        raise DataError(f"{folder}: expected a folder of pictures for each class, and found {len(classes)}")
    names = [SAID.get(name, name.replace("_", " ")) for name in classes]
    notes = (f"{len(pictures)} pictures of {len(classes)} classes; the archive has {PICTURES} of {CLASSES}",)
    return Loaded(
        rows(pictures, names, PROMPTS[part.name]),
        macro=frozenset(names),
        excluded={f"no class: {CLUTTER}": clutter} if clutter else {},
        notes=notes * (len(pictures) != PICTURES or len(classes) != CLASSES),
    )


BENCHMARK = Benchmark(
    name="caltech101",
    title="Caltech101",
    paper="Fei-Fei et al., 2004",
    protocol=(
        'zero-shot top-1 over 101 classes, mean per class; "a photo of a ...", and the mean score of '
        f"{len(ENSEMBLE)} prompts (the DCSM paper says neither its prompts nor its split: this is over all pictures)"
    ),
    parts=tuple(Part(name, Choice(prompts=len(said), name="top1"), IMAGES, IMAGES) for name, said in PROMPTS.items()),
    load=load,
)
