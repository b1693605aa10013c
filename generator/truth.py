"""Do a record's captions follow from its objects and its fact? Made again from the record alone, and compared."""

from generator import captions
from generator.captions import CaptionPair
from generator.records import ObjectRecord, PairRecord
from generator.verify import is_big, relation_of
from generator.vocabulary import Vocabulary, load_vocabulary

OPPOSITES = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}


def captions_fault(record: PairRecord) -> str:
    """What is wrong with the captions of a pair, "" when nothing is."""
    sides = (record.captions_0, record.captions_1)
    if not all(caption.strip() for side in sides for caption in side):
        return "an empty caption"
    if set(record.captions_0) & set(record.captions_1):
        return f"{record.captions_0[0]!r} is a caption of both sides"
    if record.source != "render":
        return ""
    try:
        wanted = captions_of(record, load_vocabulary())
    except (KeyError, StopIteration):
        return f"template {record.template!r} with words {record.words} and these objects is not known"
    if (wanted.captions_0, wanted.captions_1) != sides:
        return f"the captions are {sides}, from objects and fact follow {(wanted.captions_0, wanted.captions_1)}"
    return ""


def captions_of(record: PairRecord, vocabulary: Vocabulary) -> CaptionPair:
    """The captions that a rendered record's objects, fact, template and words give. KeyError, StopIteration."""
    nouns = vocabulary.nouns
    template = next(item for item in vocabulary.templates[record.task] if item.id == record.template)
    first = {item.role: item for item in record.objects_0}
    if record.fact.kind == "relation":
        relation = next(item for item in vocabulary.relations if set(record.words) == {item.first, item.second})
        is_first = record.fact.value_0 in ("left of", "above")
        return captions.spatial(nouns, template, relation, first["A"].noun, first["B"].noun, is_first)
    if record.fact.kind in ("colour", "size"):
        value_a, value_b = (_value(first[role], record.fact.kind) for role in "AB")
        return captions.attribute(nouns, template, first["A"].noun, first["B"].noun, value_a, value_b)
    second = {item.role: item.noun for item in record.objects_1}
    negator = next(item for item in vocabulary.negators if item.word == record.words[0])
    a1, a2 = first["A1"].noun, first["A2"].noun
    if record.words[1] == "and":
        return captions.negation_shared(nouns, template, negator, a1, a2, second["B1"])
    return captions.negation_paper(nouns, template, negator, (a1, a2), (second["B1"], second["B2"]))


def fact_fault(record: PairRecord) -> str:
    """Where the objects' boxes, colours and sizes do not bear out the fact; "" when they do."""
    fact = record.fact
    if fact.value_0 == fact.value_1:
        return f"the fact is {fact.value_0!r} on both sides"
    if record.source != "render":
        return ""
    sides = (record.objects_0, record.objects_1)
    if fact.kind == "relation":
        return _relation_fault(record)
    if fact.kind in ("colour", "size"):
        for number, (objects, said) in enumerate(zip(sides, (fact.value_0, fact.value_1), strict=True)):
            shown = ", ".join(f"{_value(item, fact.kind)} {item.noun}" for item in objects)
            if shown != said:
                return f"image {number} shows {shown}, the fact says {said}"
            if fact.kind == "colour" and any(item.measured_colour != item.colour for item in objects):
                return f"image {number}: a measured colour is not the named one"
            if fact.kind == "size" and not _sizes_hold(objects):
                return f"image {number}: the big one is not the larger"
        return ""
    for number, (objects, said) in enumerate(zip(sides, (fact.value_0, fact.value_1), strict=True)):
        shown = ", ".join(item.noun for item in objects)
        if shown != said:
            return f"image {number} shows {shown}, the fact says {said}"
    return ""


def _relation_fault(record: PairRecord) -> str:
    fact = record.fact
    if OPPOSITES.get(fact.value_0) != fact.value_1:
        return f"{fact.value_0!r} and {fact.value_1!r} are not opposites"
    for number, objects in enumerate((record.objects_0, record.objects_1)):
        a, b = objects
        wanted = (fact.value_0, fact.value_1)[number]
        found = relation_of(a.box, b.box, record.width)
        if found != wanted:
            return f"image {number}: by the boxes the {a.noun} is {found or 'not clearly'} {wanted} the {b.noun}"
    return ""


def _value(item: ObjectRecord, kind: str) -> str:
    return item.colour if kind == "colour" else item.size


def _sizes_hold(objects: tuple[ObjectRecord, ...]) -> bool:
    one, other = objects
    return is_big(one.size) == (one.visible_px > other.visible_px) and is_big(one.size) != is_big(other.size)
