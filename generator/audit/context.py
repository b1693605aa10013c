"""What the circumstances give away: does the setting, the light, the nouns, the place in the file or in the image go
with the fact? Asked of image 0 alone: twins share their circumstances, so over both images they cannot tell.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generator.audit.facts import about_looks, options, pieces
from generator.audit.figures import Finding
from generator.audit.learn import Question, ask, interact, scaled, standardised
from generator.audit.sampling import LIGHT, Group, Pair
from generator.records import ObjectRecord

Floats = NDArray[np.float64]
# Values of one kind that are told apart; the rarest beyond count as none.
MAX_VALUES = 256
TENTHS = 10
NOWHERE = (0, 0, 0, 0)


def setting(group: Group, seed: int) -> Finding | None:
    """Background and stage. None where there are none."""
    values = [[pair.record.stage, pair.record.background] for pair in group.pairs]
    if not any(name for names in values for name in names):
        return None
    return _by_names(group.pairs, values, seed)


# How often each value must be met on average. Values take turns, so which one is left for the last pairs of a turn can
# be told from the others: nothing that a model could use on other data, but no chance either.
MET = 4


def nouns(group: Group, seed: int) -> Finding | None:
    """The two nouns and who is A. None where the nouns themselves are what differs."""
    pairs = about_looks(group)
    return _by_names(pairs, [[f"{item.role} {item.noun}" for item in pair.record.objects_0] for pair in pairs], seed)


def assets(group: Group, seed: int) -> Finding | None:
    """The very models, where a noun has several."""
    pairs = [pair for pair in about_looks(group) if pair.record.source != "coco"]
    uids = [[f"{item.role} {item.uid}" for item in pair.record.objects_0] for pair in pairs]
    named = {(item.noun, item.uid) for pair in pairs for item in pair.record.objects_0}
    return _by_names(pairs, uids, seed) if len(named) > len({noun for noun, _ in named}) else None


def file_order(group: Group, seed: int) -> Finding | None:
    """The place in the run, in tenths: sorted data are learnt in the wrong order, and cut off unevenly."""
    return _by_names(group.pairs, [[f"tenth {min(9, int(pair.progress * TENTHS))}"] for pair in group.pairs], seed)


def light(group: Group, seed: int) -> Finding | None:
    """Light and camera, from the scene. None where there is no scene."""
    pairs = [pair for pair in group.pairs if len(pair.light)]
    return _given(pairs, (0,), np.stack([pair.light for pair in pairs]), LIGHT, seed) if pairs else None


def place_of_one(group: Group, seed: int) -> Finding | None:
    """The middle of A's box, in either image, without B. None where A has no box.

    Not asked of sizes: the middle of a big thing lies higher above what it stands on, and that is what big means.
    """
    pairs = [pair for pair in about_looks(group) if _located(pair) and pair.record.fact.kind != "size"]
    if not pairs:
        return None
    places = np.array([_middle(_role_a(pair, side), pair) for side in (0, 1) for pair in pairs])
    return _given(pairs, (0, 1), places, ("x of A", "y of A"), seed)


def boxes(group: Group, seed: int) -> Finding | None:
    """Which image is image 0, by where the objects are and how large. None where image 1 has no boxes."""
    pairs = [
        pair
        for pair in group.pairs
        if pair.record.objects_1
        and len(pair.record.objects_0) == len(pair.record.objects_1)
        and all(item.box != NOWHERE for item in pair.record.objects_0 + pair.record.objects_1)
    ]
    if not pairs:
        return None
    names = [f"{what} of object {number}" for number in (1, 2) for what in ("x", "y", "width", "height")]
    return ask(Question(scaled(_layouts(pairs, 0) - _layouts(pairs, 1)), np.arange(len(pairs)), names), seed)


def _by_names(pairs: Sequence[Pair], values: Sequence[Sequence[str]], seed: int) -> Finding | None:
    """values: by pair, the names that go with it."""
    common = [name for name, _ in Counter(name for names in values for name in names if name).most_common(MAX_VALUES)]
    if len(common) < 2:
        return None
    number = {name: place for place, name in enumerate(sorted(common))}
    seen = np.zeros((len(pairs), len(number)))
    for place, names in enumerate(values):
        for name in names:
            if name in number:
                seen[place, number[name]] = 1.0
    return _given(pairs, (0,), seen, list(number), seed)


def _given(
    pairs: Sequence[Pair], sides: Sequence[int], features: Floats, names: Sequence[str], seed: int
) -> Finding | None:
    """Which of the two values holds, given `features` (len(sides) * n, f). What values are more frequent is no part."""
    if not any(pieces(pair.record, 0) for pair in pairs):
        return None
    said, values, pair = options(pairs, sides)
    if len(pairs) * 2 < MET * len(values):
        return None
    both = [f"{value} by {name}" for value in values for name in names]
    return ask(Question(interact(said, standardised(features.astype(np.float64))), pair, both), seed)


def _role_a(pair: Pair, side: int) -> ObjectRecord:
    return next(item for item in _objects(pair, side) if item.role == "A")


def _located(pair: Pair) -> bool:
    sides = (pair.record.objects_0, pair.record.objects_1)
    return all(any(item.role == "A" and item.box != NOWHERE for item in side) for side in sides)


def _middle(item: ObjectRecord, pair: Pair) -> tuple[float, float]:
    x0, y0, x1, y1 = item.box
    return (x0 + x1) / (2 * pair.record.width), (y0 + y1) / (2 * pair.record.height)


def _layouts(pairs: Sequence[Pair], side: int) -> Floats:
    """(n, 8): middle, width and height of both boxes of one side, in parts of the image."""
    return np.array([[value for item in _objects(pair, side) for value in _layout(item, pair)] for pair in pairs])


def _layout(item: ObjectRecord, pair: Pair) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = item.box
    return (*_middle(item, pair), (x1 - x0) / pair.record.width, (y1 - y0) / pair.record.height)


def _objects(pair: Pair, side: int) -> tuple[ObjectRecord, ...]:
    return (pair.record.objects_0, pair.record.objects_1)[side]
