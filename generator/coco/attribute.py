"""Attribute pairs: "a red bus and a white car" against "a white bus and a red car" (paper B.2). There is no image_1."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator import captions
from generator.coco.annotations import Caption, Corpus, Instance
from generator.coco.language import parse_many
from generator.coco.mentions import Mention, has_attribute, read_mentions
from generator.coco.nouns import category_of, same_thing, singular_name
from generator.coco.plan import PlannedPair
from generator.coco.records import Context, object_record, planned, template_for
from generator.coco.statistics import Statistics
from generator.coco.vocabulary import attributes, nouns
from generator.records import FactRecord
from generator.vocabulary import load_vocabulary

TASK = "attribute"
COLOURLESS = re.compile(
    r"\bblack[ -]and[ -]white\b[^.]{0,20}\b(?:photo|photograph|picture|image|shot|drawing|portrait)", re.I
)

Mentions = Mapping[int, list[tuple[Caption, list[Mention]]]]


@dataclass(frozen=True, slots=True)
class AttributeDraft:
    """Two mentions of one caption whose attributes can change places. instances: their boxes, None if unknown."""

    caption: Caption
    a: Mention
    b: Mention
    instances: tuple[Instance | None, Instance | None]

    @property
    def photo_ids(self) -> tuple[int, ...]:
        return (self.caption.photo_id,)

    @property
    def nouns(self) -> tuple[str, ...]:
        return (singular_name(self.a.noun), singular_name(self.b.noun))

    @property
    def identity(self) -> tuple[str | int, ...]:
        return (self.caption.photo_id, self.caption.id, self.a.position, self.b.position, self.a.attribute)


def mine_mentions(
    caption_list: Sequence[Caption], model: str, workers: int
) -> dict[int, list[tuple[Caption, list[Mention]]]]:
    """All mentions of the captions by photo id, in the order of the captions; captions without any are left out."""
    worth_parsing = has_attribute()
    chosen = [caption for caption in caption_list if worth_parsing(caption.text)]
    found: dict[int, list[tuple[Caption, list[Mention]]]] = {}
    parsed = parse_many(model, [caption.text for caption in chosen], read_mentions, workers)
    for caption, mentions in zip(chosen, parsed, strict=True):
        if mentions:
            found.setdefault(caption.photo_id, []).append((caption, mentions))
    return found


def statistics_of(mentions: Mentions) -> Statistics:
    """The counts that decide which attribute makes sense of which noun."""
    statistics = Statistics()
    for photo_id, entries in mentions.items():
        for _, found in entries:
            statistics.add(photo_id, found)
    return statistics


def drafts(
    corpus: Corpus, mentions: Mentions, statistics: Statistics, min_photos: int, kinds: Sequence[str], why: Counter[str]
) -> Iterator[AttributeDraft]:
    """Every usable pair of mentions; `why` counts those that are not, by the first reason."""
    for photo_id in sorted(mentions):
        entries = mentions[photo_id]
        if any(COLOURLESS.search(caption.text) for caption in corpus.captions[photo_id]):
            why["photo is black and white"] += 1
            continue
        said = [mention for _, found in entries for mention in found]
        for caption, found in entries:
            for a, b in itertools.combinations(found, 2):
                if a.kind != b.kind or a.kind not in kinds or a.position == b.position:
                    continue
                if reason := _unfit(a, b, said, statistics, min_photos):
                    why[reason] += 1
                    continue
                boxes = [_boxes(corpus, photo_id, mention) for mention in (a, b)]
                if any(items is not None and len(items) != 1 for items in boxes):
                    why["boxes do not bear the noun out"] += 1
                    continue
                first, second = (items[0] if items else None for items in boxes)
                yield AttributeDraft(caption, a, b, (first, second))


def plan(draft: AttributeDraft, context: Context, index: int) -> PlannedPair:
    """The pair's record: captions, fact and the named objects."""
    a, b = draft.a, draft.b
    template = template_for(TASK, context, draft.identity)
    grammar = context.grammar_with([mention.noun for mention in (a, b) if mention.plural])
    text = captions.attribute(grammar, template, a.noun, b.noun, a.attribute, b.attribute)
    fact = FactRecord(
        a.kind, f"{a.attribute} {a.noun}, {b.attribute} {b.noun}", f"{b.attribute} {a.noun}, {a.attribute} {b.noun}"
    )
    objects = tuple(
        object_record(
            role,
            mention.noun,
            instance,
            colour=mention.attribute if mention.kind == "colour" else "",
            size=mention.attribute if mention.kind == "size" else "",
        )
        for role, mention, instance in zip("AB", (a, b), draft.instances, strict=True)
    )
    return planned(context, TASK, index, draft.photo_ids, text, template.id, fact, (objects, ()), has_image_1=False)


def _unfit(a: Mention, b: Mention, said: Sequence[Mention], statistics: Statistics, min_photos: int) -> str:
    """Why the two attributes cannot change places, "" when they can."""
    kind = attributes().kinds[a.kind]
    if not kind.opposed(a.words, b.words):
        return "attributes alike"
    if same_thing(a.noun, b.noun) or load_vocabulary().nouns.clash(singular_name(a.noun), singular_name(b.noun)):
        return "nouns alike"
    if any(not mention.plural and not statistics.countable(mention.noun) for mention in (a, b)):
        return "noun is not counted"
    if not statistics.sensible(a, b.noun, min_photos) or not statistics.sensible(b, a.noun, min_photos):
        return "attribute makes no sense of the other noun"
    for own, other in ((a, b), (b, a)):
        for mention in said:
            if mention.kind != own.kind or not same_thing(mention.noun, own.noun):
                continue
            if not kind.opposed(mention.words, other.words) or kind.opposed(mention.words, own.words):
                return "another mention says otherwise"
            if mention.attribute != own.attribute and mention.position == own.position:
                return "noun has two attributes of the kind"
    return ""


def _boxes(corpus: Corpus, photo_id: int, mention: Mention) -> list[Instance] | None:
    """The boxes that the mention can mean, None where boxes cannot tell: a noun of no category, a photo without boxes.

    A plural, or a crowd among them, names no single box: none, then.
    """
    category = category_of(mention.noun)
    if category is None or photo_id not in corpus.instances or mention.noun in nouns().people:
        return None
    boxes = [item for item in corpus.instances[photo_id] if item.category == category.name]
    return [] if mention.plural or any(item.is_crowd for item in boxes) else boxes
