"""The Natural Colors composite of the DCSM paper: two fruits or vegetables side by side, and whose colour is whose."""

from pathlib import Path

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, defects
from scorer.benchmarks.kinds import Choice
from scorer.errors import DataError

FOLDER = "NCD_colorful_composite_squares"
IMAGES = Source(
    "NCD composite",
    "https://github.com/Raphoo/DCSM_Ideal_CLIP (its README links the folder on Google Drive)",
    "unknown (the photographs are those of https://github.com/saeed-anwar/ColorSurvey)",
    (f"ncd/{FOLDER}", FOLDER),
)
PROMPT = "A picture of a {} {} and a {} {}"
SUFFIXES = (".png", ".jpg", ".jpeg")


def load(root: Path, part: Part) -> Loaded:
    """Images COLOUR_THING_COLOUR_THING.png; their mirrored twins (MIRROR in the name) are no rows of their own.

    The false caption trades the colours. subset2 names the two things in the other order.
    """
    folder = part.images.under(root)
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    except OSError as error:
        raise DataError(f"{folder}: not a readable folder ({error})") from error
    named = [path for path in files if "MIRROR" not in path.name]
    examples = []
    for path in named:
        words = path.stem.split("_")
        if len(words) == 4 and all(words):
            one, first, two, second = words
            options = PROMPT.format(one, first, two, second), PROMPT.format(two, first, one, second)
            if part.name == "subset2":
                options = PROMPT.format(two, second, one, first), PROMPT.format(one, second, two, first)
            examples.append(Example(path.name, (Picture(path),), options))
    reasons = {
        "mirrored twins": len(files) - len(named),
        "names that are not COLOUR_THING_COLOUR_THING": len(named) - len(examples),
    }
    return Loaded(examples, excluded={why: n for why, n in reasons.items() if n}, notes=defects(examples))


BENCHMARK = Benchmark(
    name="ncd",
    title="Natural Colors composite",
    paper="Kang et al., ICCV 2025",
    protocol="argmax over the caption and the one with the colours traded, truth first; subset2 turns them round",
    parts=tuple(Part(name, Choice("argmax"), IMAGES, IMAGES) for name in ("subset1", "subset2")),
    load=load,
    averages={"mean of subsets": ("subset1", "subset2")},
)
