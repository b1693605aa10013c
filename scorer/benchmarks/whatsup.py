"""What'sUp: prepositions on photographs taken for it (A, B), and spatial questions on COCO and Visual Genome."""

from collections import defaultdict
from pathlib import Path
from typing import Any, TypeGuard

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, read_json
from scorer.benchmarks.kinds import Choice
from scorer.benchmarks.places import COCO_VAL2017
from scorer.errors import DataError

ORIGIN = "https://github.com/amitakamath/whatsup_vlms (its --download fetches the files from Google Drive)"
# The last place is that of `generator export --to whatsup`, with a split as the root.
FOLDERS = ("whatsup/data", "whatsup", "whatsup_vlms/data", "data")
ANNOTATIONS = Source("What'sUp annotations", ORIGIN, "MIT", FOLDERS)


def _images(name: str, folder: str, licence: str) -> Source:
    return Source(name, ORIGIN, licence, tuple(f"{place}/{folder}" for place in FOLDERS))


COCO = Source(
    COCO_VAL2017.name,
    COCO_VAL2017.origin,
    COCO_VAL2017.licence,
    (*COCO_VAL2017.places, *(f"{place}/val2017" for place in FOLDERS)),
)
VG = _images("Visual Genome images of What'sUp", "vg_images", "CC BY 4.0")

# By part: the prepositions of file names that make a pair of opposites.
OPPOSITES = {
    "controlled_images": (("left", "right"), ("on", "under")),
    "controlled_clevr": (("left", "right"), ("in-front", "behind")),
}


def load(root: Path, part: Part) -> Loaded:
    """The true caption is option 0 in all files."""
    path = part.annotations.under(root)
    rows, folder = read_json(path), part.images.under(root)
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of rows")
    return _controlled(rows, path, folder, part.name) if part.name in OPPOSITES else _questions(rows, path, folder)


def _controlled(rows: list[Any], path: Path, folder: Path, name: str) -> Loaded:
    """Rows {image_path, caption_options}; the photograph's name is SUBJECT_PREPOSITION_..._OBJECT.jpeg."""
    examples = []
    sets: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    known = [preposition for pair in OPPOSITES[name] for preposition in pair]
    for number, row in enumerate(rows):
        image, options = _row(row)
        words = Path(image).stem.split("_")
        if len(options) != 4 or len(words) < 3 or words[1] not in known:
            raise DataError(
                f"{path}: row {number}: expected a photograph of {', '.join(known)} and four captions, or two"
            )
        scene = sets[words[0], words[-1]]
        if words[1] in scene:
            raise DataError(f"{path}: row {number}: the second photograph of {words[0]} {words[1]} {words[-1]}")
        scene[words[1]] = number
        picture = Picture(folder / Path(image).name)
        examples.append(Example(str(number), (picture,), options, label=words[1]))
    pairs = [
        (scene[one], scene[other])
        for scene in sets.values()
        for one, other in OPPOSITES[name]
        if one in scene and other in scene
    ]
    whole = [tuple(scene[word] for word in known) for scene in sets.values() if len(scene) == len(known)]
    return Loaded(examples, {name: groups for name, groups in (("pair", pairs), ("set", whole)) if groups})


def _row(row: Any) -> tuple[str, tuple[str, ...]]:
    """Image and options; empty where they are not what they should be."""
    image, options = (row.get("image_path"), row.get("caption_options")) if isinstance(row, dict) else (None, None)
    return (image, tuple(options)) if isinstance(image, str) and _are_texts(options) else ("", ())


def _questions(rows: list[Any], path: Path, folder: Path) -> Loaded:
    """Rows [image id, true caption, false caption]; COCO's images are named by twelve digits."""
    examples = []
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 3 or not str(row[0]).isdigit() or not _are_texts(row[1:]):
            raise DataError(f"{path}: row {number}: expected an image id and two captions")
        name = f"{int(row[0]):012d}.jpg" if path.name.startswith("coco") else f"{int(row[0])}.jpg"
        examples.append(Example(str(number), (Picture(folder / name),), (row[1], row[2]), label=_relation(row[1])))
    return Loaded(examples)


def _relation(caption: str) -> str:
    """What a true caption says of place, for the breakdown: the words that all captions of a relation share."""
    found = [words for words in RELATIONS if f" {words} " in f"{caption} "]
    return max(found, key=len) if found else "other"


def _are_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


RELATIONS = (
    "to the left of",
    "to the right of",
    "on the left",
    "on the right",
    "on the top",
    "on the bottom",
    "above",
    "below",
    "in front of",
    "behind",
    "under",
    "on top of",
)

BENCHMARK = Benchmark(
    name="whatsup",
    title="What'sUp, COCO-spatial, VG-spatial",
    paper="Kamath et al., EMNLP 2023",
    protocol="argmax over the options, truth first in the file; pairs of opposites and sets of four for A and B",
    parts=(
        Part(
            "controlled_images",
            Choice("argmax"),
            ANNOTATIONS.file("controlled_images_dataset.json"),
            _images("What'sUp A photographs", "controlled_images", "MIT"),
        ),
        Part(
            "controlled_clevr",
            Choice("argmax"),
            ANNOTATIONS.file("controlled_clevr_dataset.json"),
            _images("What'sUp B photographs", "controlled_clevr", "MIT"),
        ),
        Part("coco_one", Choice("argmax"), ANNOTATIONS.file("coco_qa_one_obj.json"), COCO),
        Part("coco_two", Choice("argmax"), ANNOTATIONS.file("coco_qa_two_obj.json"), COCO),
        Part("vg_one", Choice("argmax"), ANNOTATIONS.file("vg_qa_one_obj.json"), VG),
        Part("vg_two", Choice("argmax"), ANNOTATIONS.file("vg_qa_two_obj.json"), VG),
    ),
    load=load,
)
