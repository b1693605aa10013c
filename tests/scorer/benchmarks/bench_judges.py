"""Judges that know nothing, everything, or toss a coin, and small benchmarks to ask them about."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source
from scorer.benchmarks.figures import Result
from scorer.benchmarks.judges import Block, Matrix, Prepared
from scorer.benchmarks.kinds import Choice, Kind, Twins, TwoPositives
from scorer.seeding import seed_of

NOWHERE = Path("nowhere.jpg")


class Formula:
    """A judge made of a function of a picture and a caption; counts the blocks it was asked about."""

    def __init__(self, name: str, score: Callable[[Picture, str], float], needs_images: bool = False) -> None:
        self.name = self.fingerprint = name
        self.needs_images = needs_images
        self.score = score
        self.blocks = 0
        self.prepared: list[tuple[int, int]] = []

    def prepare(self, pictures: Sequence[Picture], captions: Sequence[str]) -> Prepared:
        self.prepared.append((len(pictures), len(captions)))
        return Prepared()

    def as_read(self, caption: str) -> str:
        return caption

    def scores(self, blocks: Sequence[Block]) -> list[Matrix]:
        self.blocks += len(blocks)
        return [
            np.array([[self.score(p, text) for text in block.captions] for p in block.pictures], dtype=np.float32)
            for block in blocks
        ]

    def text_scores(self, pairs: Sequence[tuple[str, str]]) -> Matrix | None:
        picture = Picture(NOWHERE)
        return np.array([self.score(picture, "\n".join(sorted(pair))) for pair in pairs], dtype=np.float32)


def constant(needs_images: bool = False) -> Formula:
    return Formula("constant", lambda *_: 0.25, needs_images)


def coin(seed: int = 0, needs_images: bool = False) -> Formula:
    """Scores drawn independently for each picture and caption, the same whenever it is asked."""
    return Formula(
        f"coin {seed}",
        lambda picture, text: seed_of(seed, picture.path.name, str(picture.box), text) / 2**63,
        needs_images,
    )


def perfect(loaded: Loaded, kind: Kind, needs_images: bool = False) -> Formula:
    """Knows which captions are true of which picture, and which texts say the same."""
    true = {
        (picture, text)
        for item in loaded.examples
        for picture, texts in zip(item.images, _true(item, kind), strict=True)
        for text in texts
    }
    same = (
        {"\n".join(sorted(item.captions[:2])) for item in loaded.examples} if isinstance(kind, TwoPositives) else set()
    )
    return Formula("perfect", lambda picture, text: float((picture, text) in true or text in same), needs_images)


def _true(item: Example, kind: Kind) -> list[Sequence[str]]:
    if isinstance(kind, Choice):
        return [item.captions[item.truth * kind.prompts : (item.truth + 1) * kind.prompts]]
    if isinstance(kind, Twins):
        return [(text,) for text in item.captions]
    return [item.captions[:2] if isinstance(kind, TwoPositives) else item.captions]


def rows(count: int, captions: int, images: int = 1, truth: Callable[[int], int] = lambda _: 0) -> Loaded:
    """Distinct pictures and captions."""
    return Loaded(
        [
            Example(
                str(i),
                tuple(Picture(Path(f"image-{i}-{side}.jpg")) for side in range(images)),
                tuple(f"row {i} caption {k}" for k in range(captions)),
                truth(i),
            )
            for i in range(count)
        ]
    )


def small(root: Path, kind: Kind, loaded: Loaded, names: Sequence[str] = ("first",)) -> Benchmark:
    """A benchmark whose parts all have these rows; writes its annotation files."""
    source = Source("rows", "https://example.org/rows", "CC0", ("small",))
    (root / "small").mkdir(exist_ok=True)
    for name in names:
        (root / "small" / f"{name}.json").write_text("[]")
    return Benchmark(
        "small",
        "Small",
        "nobody",
        "as here",
        tuple(Part(name, kind, source.file(f"{name}.json"), source) for name in names),
        lambda _root, _part: loaded,
        {"mean of parts": tuple(names)},
    )


def by_name(results: Sequence[Result]) -> dict[str, Result]:
    """Figures of the whole part."""
    return {item.metric: item for item in results if not item.label}


def covers_chance(item: Result) -> bool:
    """Chance lies in the interval, made twice as wide: 95 % would fail one honest figure of twenty.

    Where fewer than five successes are expected a bootstrap interval says little (none at all for 0 of 100), so there
    it is four standard deviations of the known chance.
    """
    if item.count * item.chance < 5 and item.chance < 1:
        return abs(item.value - item.chance) <= 4 * float(np.sqrt(item.chance * (1 - item.chance) / item.count))
    return 2 * item.low - item.value <= item.chance <= 2 * item.high - item.value
