"""Which captions of a batch may be true of another pair's image, so that the loss does not push them apart.

A caption's claim is read from its record: which nouns it says are there, with which colour or size, which are not, and
how they stand to each other. "May be true" is decided in favour of truth where the other record does not say.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from generator.records import ObjectRecord, PairRecord


@dataclass(frozen=True, slots=True)
class Claim:
    """What one caption says. present: (noun, colour, size), "" where unsaid. relation: (noun, relation, noun) or None.

    known is False when the record names no object of the caption; only an equal caption is then taken as true.
    """

    text: str
    present: tuple[tuple[str, str, str], ...]
    absent: tuple[str, ...]
    relation: tuple[str, str, str] | None
    known: bool


@dataclass(frozen=True, slots=True)
class PairTruth:
    """The claims of a pair's captions, [side][version], and its scenes, [side]; None where there is no image."""

    claims: tuple[tuple[Claim, Claim], tuple[Claim, Claim]]
    scenes: tuple[tuple[ObjectRecord, ...], tuple[ObjectRecord, ...] | None]
    nouns: tuple[int, int]
    needs: tuple[tuple[int, int], tuple[int, int]]


def pair_truths(records: Sequence[PairRecord]) -> list[PairTruth]:
    """What every pair says and shows. Nouns become bits, so that most comparisons are one integer operation."""
    bits: dict[str, int] = {}

    def mask(nouns: Sequence[str]) -> int:
        return sum({1 << bits.setdefault(noun, len(bits)) for noun in nouns})

    truths = []
    for record in records:
        claims = tuple((_claim(record, side, 0), _claim(record, side, 1)) for side in (0, 1))
        scenes = (record.objects_0, record.objects_1 if record.has_image_1 else None)
        truths.append(
            PairTruth(
                claims=(claims[0], claims[1]),
                scenes=scenes,
                nouns=(mask([item.noun for item in scenes[0]]), mask([item.noun for item in scenes[1] or ()])),
                needs=tuple(tuple(mask([noun for noun, _, _ in c.present]) for c in side) for side in claims),  # type: ignore[arg-type]
            )
        )
    return truths


def maybe_true(truths: Sequence[PairTruth], version: int, images: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """(B, 2P) bool: may caption `version` of (pair p, side s), at column 2p + s, be true of image b of another pair?

    images: (position of the pair in `truths`, side) of each of the B images. A pair's own captions are never marked:
    one is the positive, the other is false by construction.
    """
    out = np.zeros((len(images), 2 * len(truths)), dtype=bool)
    for row, (owner, image_side) in enumerate(images):
        scene, shown = truths[owner].scenes[image_side], truths[owner].nouns[image_side]
        own = truths[owner].claims[image_side]
        for other, truth in enumerate(truths):
            if other == owner:
                continue
            for side in (0, 1):
                claim, needs = truth.claims[side][version], truth.needs[side][version]
                if needs & shown == needs or not claim.known:
                    out[row, 2 * other + side] = claim.text in (own[0].text, own[1].text) or _holds(claim, scene or ())
    return out


def _claim(record: PairRecord, side: int, version: int) -> Claim:
    text = (record.captions_0, record.captions_1)[side][version]
    own, other = (record.objects_0, record.objects_1)[side], (record.objects_0, record.objects_1)[1 - side]
    lower = text.lower()
    present = tuple(
        (item.noun, *(value if value and mentions(lower, value) else "" for value in (item.colour, item.size)))
        for item in own
        if mentions(lower, item.noun)
    )
    nouns = {item.noun for item in own}
    absent = tuple(item.noun for item in other if item.noun not in nouns and mentions(lower, item.noun))
    relation = None
    if record.fact.kind == "relation" and len(own) >= 2:
        by_role = {item.role: item.noun for item in own}
        value = (record.fact.value_0, record.fact.value_1)[side]
        first, second = by_role.get("A", own[0].noun), by_role.get("B", own[1].noun)
        relation = (first, value, second)
    return Claim(text, present, absent, relation, bool(present))  # type: ignore[arg-type]


@lru_cache(maxsize=4096)
def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word.lower())}(s|es)?(?!\w)")


def mentions(lower_text: str, word: str) -> bool:
    """Whether the word, or its plain plural, stands in the lower-case text as a whole."""
    return _pattern(word).search(lower_text) is not None


def _holds(claim: Claim, scene: tuple[ObjectRecord, ...]) -> bool:
    if not claim.known:
        return False
    if any(item.noun in claim.absent for item in scene):
        return False
    for noun, colour, size in claim.present:
        # An attribute that either side leaves unsaid cannot contradict.
        if not any(item.noun == noun and _agree(colour, item.colour) and _agree(size, item.size) for item in scene):
            return False
    return claim.relation is None or _relation_holds(claim.relation, scene)


def _agree(said: str, shown: str) -> bool:
    return not said or not shown or said == shown


def _relation_holds(relation: tuple[str, str, str], scene: tuple[ObjectRecord, ...]) -> bool:
    first = next((item for item in scene if item.noun == relation[0]), None)
    second = next((item for item in scene if item.noun == relation[2]), None)
    if first is None or second is None:
        return False
    dx = (first.box[0] + first.box[2]) - (second.box[0] + second.box[2])
    dy = (first.box[1] + first.box[3]) - (second.box[1] + second.box[3])
    word = relation[1].lower()
    for key, holds in (("above", dy < 0), ("below", dy > 0), ("left", dx < 0), ("right", dx > 0)):
        if key in word:
            return holds
    return True
