"""What the nouns give away to a model that knows which of them an image shows and reads nothing else of the captions.

Over both images. It needs no more than an object detector: "is what the caption names first in the picture?" answers
the paper's negation twins, without reading the "not".
"""

import re

import numpy as np

from generator.audit.figures import Finding
from generator.audit.learn import Question, ask, scaled
from generator.audit.sampling import Group, Pair
from generator.records import PairRecord

NAMES = ("the noun named first is there", "the noun named last is there", "nouns named that are there")


def mentioned_nouns(group: Group, seed: int) -> Finding | None:
    """Which caption is true of an image, from its nouns being there. None where pairs have one image."""
    pairs = [pair for pair in group.pairs if pair.record.has_image_1]
    if not pairs:
        return None
    rows, number = [], []
    for place, pair in enumerate(pairs):
        for side in (0, 1):
            true, false = _captions(pair, side), _captions(pair, 1 - side)
            shown = {item.noun for item in (pair.record.objects_0, pair.record.objects_1)[side]}
            for one in true:
                for other in false:
                    rows.append(np.subtract(_presence(pair.record, one, shown), _presence(pair.record, other, shown)))
                    number.append(place)
    return ask(Question(scaled(np.array(rows, np.float64)), np.array(number), NAMES), seed)


def _captions(pair: Pair, side: int) -> tuple[str, str]:
    return (pair.record.captions_0, pair.record.captions_1)[side]


def _presence(record: PairRecord, caption: str, shown: set[str]) -> tuple[float, float, float]:
    nouns = {item.noun for item in record.objects_0 + record.objects_1}
    # Longest first, so that "police car" is not also a "car".
    pattern = "|".join(re.escape(noun) for noun in sorted(nouns, key=lambda noun: (-len(noun), noun)))
    there = [found.lower() in shown for found in re.findall(rf"\b(?:{pattern})\b", caption.lower())]
    return (float(there[0]), float(there[-1]), float(sum(there))) if there else (0.0, 0.0, 0.0)
