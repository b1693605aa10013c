"""Spatial pairs: two boxed objects apart along an axis; image_1 swaps the contents of their boxes (paper B.2)."""

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator import captions
from generator.coco.annotations import Corpus, Instance, Photo
from generator.coco.plan import PlannedPair, Swap
from generator.coco.records import Context, object_record, planned, template_for
from generator.coco.swap import Box
from generator.coco.vocabulary import nouns
from generator.records import FactRecord, ObjectRecord, PairRecord
from generator.rng import choice, stream, unit
from generator.verify import relation_of

TASK = "spatial"
OPPOSITE = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}

RIVAL = 4.0


@dataclass(frozen=True, slots=True)
class SpatialRules:
    """Which boxes make a pair.

    min_area, max_area: box / photo. min_fill: object's pixels / box. max_shared: part of the box that lies in the
    box of another object of up to RIVAL times its size (a table under a cup is larger, and no rival). max_stretch,
    max_zoom: how much the swap may change a content's aspect ratio, and its size, as the larger factor either way.
    """

    min_area: float
    max_area: float
    min_fill: float
    max_shared: float
    max_stretch: float
    max_zoom: float


@dataclass(frozen=True, slots=True)
class SpatialDraft:
    """A and B with the relation of A to B in the photo."""

    a: Instance
    b: Instance
    relation: str

    @property
    def photo_ids(self) -> tuple[int, ...]:
        return (self.a.photo_id,)

    @property
    def nouns(self) -> tuple[str, ...]:
        return (self.a.category, self.b.category)

    @property
    def identity(self) -> tuple[str | int, ...]:
        return (self.a.photo_id, self.a.id, self.b.id)


def drafts(corpus: Corpus, rules: SpatialRules, seed: int, why: Counter[str]) -> Iterator[SpatialDraft]:
    """Every usable pair of boxes. Which one is A is drawn, so that a relation comes up as often as its opposite."""
    for photo_id in sorted(corpus.instances):
        photo = corpus.photos[photo_id]
        usable = _usable(photo, corpus.instances[photo_id], rules, why)
        for pair in itertools.combinations(usable, 2):
            flip = unit(seed, "coco", TASK, "first", photo_id, pair[0].id, pair[1].id) < 0.5
            a, b = (pair[1], pair[0]) if flip else pair
            if b.category in nouns().categories[a.category].like:
                why["categories alike"] += 1
            elif not (relation := relation_of(a.box, b.box, max(photo.width, photo.height))):
                why["boxes not apart"] += 1
            elif _stretch(a, b) > rules.max_stretch or _zoom(a, b) > rules.max_zoom:
                why["swap would distort"] += 1
            else:
                yield SpatialDraft(a, b, relation)


def plan(draft: SpatialDraft, context: Context, index: int) -> PlannedPair:
    """The pair's record, with the objects in each other's boxes on side 1."""
    rng = stream(context.seed, "coco", TASK, "words", *draft.identity)
    template = template_for(TASK, context, draft.identity)
    axis = "horizontal" if draft.relation in ("left of", "right of") else "vertical"
    styles = ("paper", "synonym") if context.synonyms else ("paper",)
    relation = choice(
        rng, [item for item in context.vocabulary.relations if item.axis == axis and item.style in styles]
    )
    a_is_first = draft.relation in ("left of", "above")
    names = tuple(nouns().categories[item.category].noun for item in (draft.a, draft.b))
    text = captions.spatial(context.vocabulary.nouns, template, relation, names[0], names[1], a_is_first)
    a, b = (object_record(role, name, item) for role, name, item in zip("AB", names, (draft.a, draft.b), strict=True))
    return planned(
        context,
        TASK,
        index,
        draft.photo_ids,
        text,
        template.id,
        FactRecord("relation", draft.relation, OPPOSITE[draft.relation]),
        ((a, b), swapped_objects(a, b)),
        has_image_1=True,
        swap=Swap(draft.a, draft.b),
    )


def swapped_objects(a: ObjectRecord, b: ObjectRecord) -> tuple[ObjectRecord, ObjectRecord]:
    """The two objects after the swap: each in the other's box, its pixels scaled with the box."""
    scale = _area(b.box) / _area(a.box)
    return (
        dataclasses.replace(a, box=b.box, visible_px=round(a.visible_px * scale)),
        dataclasses.replace(b, box=a.box, visible_px=round(b.visible_px / scale)),
    )


def check(record: PairRecord) -> str:
    """Does what the captions say follow from the boxes on both sides? "" or what is wrong."""
    size = max(record.width, record.height)
    for side, (objects, wanted) in enumerate(
        ((record.objects_0, record.fact.value_0), (record.objects_1, record.fact.value_1))
    ):
        a, b = objects
        if (found := relation_of(a.box, b.box, size)) != wanted:
            return f"image {side}: {a.box} is {found or 'not clearly'} {wanted} {b.box}"
    return ""


def _usable(photo: Photo, instances: Sequence[Instance], rules: SpatialRules, why: Counter[str]) -> list[Instance]:
    """The photo's objects that a caption can point at without doubt."""
    counts = Counter(item.category for item in instances)
    usable: list[Instance] = []
    for item in instances:
        box = item.box
        share = _area(box) / (photo.width * photo.height)
        if item.is_crowd or counts[item.category] > 1:
            why["category occurs more than once"] += 1
        elif not rules.min_area <= share <= rules.max_area:
            why["box too small or too large"] += 1
        elif item.area_px < rules.min_fill * _area(box):
            why["object fills too little of its box"] += 1
        elif any(
            _shared(box, other.box) > rules.max_shared
            for other in instances
            if other is not item and _rivals(item, other)
        ):
            why["another object lies in the box"] += 1
        else:
            usable.append(item)
    return sorted(usable, key=lambda item: item.id)


def _shared(box: Box, other: Box) -> float:
    """Part of `box` that `other` covers."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    return max(width, 0) * max(height, 0) / _area(box)


def _rivals(item: Instance, other: Instance) -> bool:
    return _area(other.box) <= RIVAL * _area(item.box)


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _aspect(box: Box) -> float:
    return (box[2] - box[0]) / (box[3] - box[1])


def _stretch(a: Instance, b: Instance) -> float:
    """Factor by which the swap changes the aspect ratio, at least 1."""
    return math.exp(abs(math.log(_aspect(a.box) / _aspect(b.box))))


def _zoom(a: Instance, b: Instance) -> float:
    """Factor by which the swap changes the size, at least 1."""
    return math.exp(abs(math.log(_area(a.box) / _area(b.box))) / 2)
