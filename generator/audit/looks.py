"""What an image gives away without its objects: which of the twins it is, and which fact holds in it.

"side": image 0 or image 1? The learner sees both and must say which is which. "fact": given one image, which of the two
values holds? It does not know which object is A, so it must be at chance; if it is not, something other than the
named objects tells. Both are asked of the same measurements: statistics, encoding, file size, background, thumbnail.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from generator.audit.facts import about_looks, options
from generator.audit.figures import Finding
from generator.audit.learn import Question, ask, interact, scaled, standardised
from generator.audit.pictures import BACKGROUND, ENCODING, FILE_SIZE, STATISTICS, THUMBNAIL, Picture
from generator.audit.sampling import Group, Pair

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """What the learner sees of an image, and the names of that."""

    read: Callable[[Picture], NDArray[np.float32]]
    names: Sequence[str]


VIEWS: dict[str, View] = {
    "image_statistics": View(lambda picture: picture.statistics, STATISTICS),
    "encoding": View(lambda picture: picture.encoding, ENCODING),
    "file_size": View(lambda picture: picture.file_size, FILE_SIZE),
    "background": View(lambda picture: picture.background, BACKGROUND),
    "thumbnail": View(Picture.small, THUMBNAIL),
}


def side(group: Group, seed: int, view: View) -> Finding | None:
    """Which of the two images is image 0. None where pairs have one image only."""
    pairs = [pair for pair in group.pairs if pair.pictures[1] is not None]
    if not pairs:
        return None
    first, second = _seen(pairs, view)
    return ask(Question(scaled(first - second), np.arange(len(pairs)), view.names), seed)


def fact(group: Group, seed: int, view: View) -> Finding | None:
    """Which value holds in an image, asked of both. None where there is one image, or the nouns are what differs."""
    pairs = [pair for pair in about_looks(group) if pair.pictures[1] is not None]
    if not pairs:
        return None
    said, names, pair = options(pairs, (0, 1))
    seen = standardised(np.concatenate(_seen(pairs, view)))
    both = [f"{name} by {feature}" for name in names for feature in view.names]
    return ask(Question(interact(said, seen), pair, both), seed)


def _seen(pairs: Sequence[Pair], view: View) -> tuple[Floats, Floats]:
    """(n, f) of image 0 and of image 1."""
    sides = [
        np.stack([view.read(cast(Picture, pair.pictures[number])) for pair in pairs]).astype(np.float64)
        for number in (0, 1)
    ]
    return sides[0], sides[1]
