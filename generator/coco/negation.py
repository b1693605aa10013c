"""Negation pairs: two photos without a category in common, two named categories of each (paper B.2).

A category counts as absent from a photo only if it has no box there (COCO boxes its 80 categories exhaustively), no
category that it is mixed up with has one, and no caption mentions it by any word that leaves room for it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator import captions
from generator.coco.annotations import Caption, Corpus, Instance
from generator.coco.language import words
from generator.coco.nouns import mentioned_words, singular_name
from generator.coco.plan import PlannedPair
from generator.coco.records import Context, object_record, planned, template_for
from generator.coco.vocabulary import nouns
from generator.records import FactRecord
from generator.rng import choice, digest, stream, unit

TASK = "negation"
# Photos tried for each photo that seeks a partner. Most that fit at all fit within a few; the last ones of a run
# (all of people) fit nowhere.
MAX_TRIES = 2000


@dataclass(frozen=True, slots=True)
class Side:
    """One photo. named: its categories that a caption may name, each with its largest box. Sets are bit masks over the
    categories: present, by any box; possible: present, mixed up with one present, or mentioned by a caption.
    """

    photo_id: int
    named: Mapping[int, Instance]
    present: int
    possible: int

    @property
    def nameable(self) -> int:
        """Bit mask of `named`."""
        return sum(1 << number for number in self.named)


@dataclass(frozen=True, slots=True)
class NegationDraft:
    """Two photos and the two named objects of each."""

    first: tuple[Instance, Instance]
    second: tuple[Instance, Instance]

    @property
    def photo_ids(self) -> tuple[int, ...]:
        return (self.first[0].photo_id, self.second[0].photo_id)

    @property
    def nouns(self) -> tuple[str, ...]:
        return tuple(item.category for item in self.first + self.second)

    @property
    def identity(self) -> tuple[str | int, ...]:
        return self.photo_ids


def sides(corpus: Corpus, min_area: float, why: Counter[str]) -> Iterator[Side]:
    """Every photo that can be one side of a pair, by id."""
    numbers = {name: number for number, name in enumerate(nouns().categories)}
    looked_up = _words_to_mask(numbers)
    like = {name: _mask(numbers[other] for other in item.like) for name, item in nouns().categories.items()}
    for photo_id in sorted(corpus.photos):
        photo = corpus.photos[photo_id]
        boxes = [item for item in corpus.instances.get(photo_id, ()) if item.category in numbers]
        if not corpus.captions.get(photo_id):
            why["photo without captions"] += 1
            continue
        named: dict[int, Instance] = {}
        present = possible = 0
        for item in sorted(boxes, key=lambda item: (item.box_xywh[2] * item.box_xywh[3], item.id)):
            number = numbers[item.category]
            present |= 1 << number
            possible |= like[item.category]
            share = item.box_xywh[2] * item.box_xywh[3] / (photo.width * photo.height)
            if share >= min_area and not item.is_crowd and not nouns().categories[item.category].uneven:
                named[number] = item
        if len(named) < 2:
            why["fewer than two large enough categories"] += 1
            continue
        yield Side(photo_id, named, present, present | possible | _mentioned(corpus.captions[photo_id], looked_up))


def drafts(
    candidates: Sequence[Side], context: Context, max_per_photo: int, why: Counter[str]
) -> Iterator[NegationDraft]:
    """Partners for the photos, within each split; each photo is used `max_per_photo` times (0: once)."""
    order = sorted(candidates, key=lambda side: digest(context.seed, "coco", TASK, side.photo_id))
    for split in context.shares:
        queue = [side for side in order if context.split(side.photo_id) == split] * max(1, max_per_photo)
        taken = [False] * len(queue)
        for place, side in enumerate(queue):
            if taken[place]:
                continue
            partner = _partner(queue, taken, place)
            if partner is None:
                why["no partner"] += 1
                continue
            taken[place] = taken[partner] = True
            both = (side, queue[partner])
            # The seeker is often of what most photos show, and the partner of what few do: which is first is drawn, or
            # "a person" alone would tell that a caption is true of image 0.
            flip = unit(context.seed, "coco", TASK, "first", *sorted(item.photo_id for item in both)) < 0.5
            yield _draft(*(both[::-1] if flip else both), context.seed)


def plan(draft: NegationDraft, context: Context, index: int) -> PlannedPair:
    """The pair's record; image_0 is the first photo, image_1 the second."""
    rng = stream(context.seed, "coco", TASK, "words", *draft.identity)
    negator = choice(rng, context.vocabulary.negators)
    template = template_for(TASK, context, draft.identity)
    table = nouns().categories
    first, second = ((table[a.category].noun, table[b.category].noun) for a, b in (draft.first, draft.second))
    text = captions.negation_paper(context.vocabulary.nouns, template, negator, first, second)
    objects = [
        tuple(object_record(role, noun, item) for role, noun, item in zip(roles, names, items, strict=True))
        for roles, names, items in ((("A1", "A2"), first, draft.first), (("B1", "B2"), second, draft.second))
    ]
    return planned(
        context,
        TASK,
        index,
        draft.photo_ids,
        text,
        template.id,
        FactRecord("presence", ", ".join(first), ", ".join(second)),
        (objects[0], objects[1]),
        has_image_1=True,
    )


def _partner(queue: Sequence[Side], taken: Sequence[bool], place: int) -> int | None:
    side = queue[place]
    tried = 0
    for other in range(place + 1, len(queue)):
        if taken[other]:
            continue
        tried += 1
        if tried > MAX_TRIES:
            return None
        if _fit(side, queue[other]):
            return other
    return None


def _fit(one: Side, other: Side) -> bool:
    """No category in common, and two nameable categories each that are surely absent from the other."""
    if one.present & other.present:
        return False
    return all((a.nameable & ~b.possible).bit_count() >= 2 for a, b in ((one, other), (other, one)))


def _draft(one: Side, other: Side, seed: int) -> NegationDraft:
    chosen: list[tuple[Instance, Instance]] = []
    for side, partner in ((one, other), (other, one)):
        safe = [item for number, item in side.named.items() if not partner.possible >> number & 1]
        ranked = sorted(safe, key=lambda item: unit(seed, "coco", TASK, "named", item.id))
        chosen.append((ranked[0], ranked[1]))
    return NegationDraft(chosen[0], chosen[1])


def _words_to_mask(numbers: Mapping[str, int]) -> dict[str, int]:
    """Caption word (singular) -> the categories that its mention makes possible."""
    found: dict[str, int] = {}
    for name, category in nouns().categories.items():
        for word in category.words | category.broader:
            key = singular_name(word)
            found[key] = found.get(key, 0) | 1 << numbers[name]
    return found


def _mentioned(caption_list: Sequence[Caption], looked_up: Mapping[str, int]) -> int:
    mask = 0
    for caption in caption_list:
        for word in mentioned_words(words(caption.text)):
            mask |= looked_up.get(word, 0)
    return mask


def _mask(numbers: Iterator[int]) -> int:
    return sum(1 << number for number in set(numbers))
