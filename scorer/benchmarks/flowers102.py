"""Flowers102: 102 kinds of flowers, by Oxford's files imagelabels.mat and setid.mat."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorer.benchmarks.base import Benchmark, Loaded, Part, Picture, Source
from scorer.benchmarks.classes import ENSEMBLE, Classified, rows
from scorer.benchmarks.kinds import Choice
from scorer.errors import DataError, DependencyError

ORIGIN = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/"
FOLDERS = ("flowers102", "flowers-102", "oxford_flowers102")
LABELS = Source("Flowers102 labels", ORIGIN, "unknown", FOLDERS).file("imagelabels.mat")
IMAGES = Source("Flowers102", ORIGIN, "unknown", tuple(f"{place}/jpg" for place in FOLDERS))
NAMES = Path(__file__).parents[2] / "templates" / "flowers102.txt"
TEST = "tstid"  # 6,149 of 8,189
PROMPTS = {
    "flowers102": ("a photo of a {}, a type of flower.",),
    "flowers102_ensemble": tuple(prompt.replace("{}.", "{}, a type of flower.") for prompt in ENSEMBLE),
}


def load(root: Path, part: Part) -> Loaded:
    """The official test split: images jpg/image_00001.jpg, labels from 1 in imagelabels.mat, splits in setid.mat."""
    path = part.annotations.under(root)
    folder, names = part.images.under(root), class_names()
    labels, test = _numbers(path, "labels"), _numbers(path.with_name("setid.mat"), TEST)
    if not test.size or test.min() < 1 or test.max() > labels.size:
        raise DataError(f"{path.with_name('setid.mat')}: {TEST} must hold numbers of images from 1 to {labels.size}")
    if labels.min() < 1 or labels.max() > len(names):
        raise DataError(f"{path}: labels must be from 1 to {len(names)}")
    pictures: list[Classified] = [
        (f"{number:05d}", Picture(folder / f"image_{number:05d}.jpg"), int(labels[number - 1]) - 1)
        for number in test.tolist()
    ]
    return Loaded(rows(pictures, names, PROMPTS[part.name]), macro=frozenset(names))


def class_names() -> list[str]:
    """The 102 names in the order of the labels."""
    return NAMES.read_text("utf-8").splitlines()


def _numbers(path: Path, name: str) -> NDArray[np.int64]:
    """A row of whole numbers of a MATLAB file. DependencyError without SciPy, DataError when it is not there."""
    try:
        from scipy.io import loadmat
        from scipy.io.matlab import MatReadError
    except ImportError as error:
        raise DependencyError(f"SciPy reads {path.name} and is not installed; pip install scipy") from error
    try:
        content: dict[str, Any] = loadmat(path, variable_names=[name])
        return np.asarray(content[name], dtype=np.int64).ravel()
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError, MatReadError) as error:
        raise DataError(f"{path}: not a readable MATLAB file with {name} ({error})") from error


BENCHMARK = Benchmark(
    name="flowers102",
    title="Flowers102",
    paper="Nilsback and Zisserman, 2008",
    protocol=(
        'zero-shot top-1 on the official test split, mean per class; "a photo of a ..., a type of flower", and the '
        f"mean score of {len(ENSEMBLE)} prompts (the DCSM paper does not say its prompts)"
    ),
    parts=tuple(Part(name, Choice(prompts=len(said), name="top1"), LABELS, IMAGES) for name, said in PROMPTS.items()),
    load=load,
)
