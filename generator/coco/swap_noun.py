"""Swapped nouns: "a dog sitting on a bench" against "a bench sitting on a dog", in the caption's own words (paper F).

Only predicates that never hold both ways are used, so the negative is false of the photo whatever else it shows.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.captions import CaptionPair
from generator.coco.annotations import Caption, Corpus, Instance
from generator.coco.clauses import Clause, read_clauses, swaps
from generator.coco.language import parse_many, words
from generator.coco.nouns import category_of, same_thing, singular_name
from generator.coco.plan import PlannedPair
from generator.coco.records import Context, object_record, planned, template_for
from generator.records import FactRecord
from generator.vocabulary import Template, load_vocabulary

TASK = "swap_noun"

Clauses = Mapping[int, list[tuple[Caption, list[Clause]]]]


@dataclass(frozen=True, slots=True)
class SwapNounDraft:
    """A clause of a caption whose nouns can change places."""

    caption: Caption
    clause: Clause
    instances: tuple[Instance | None, Instance | None]

    @property
    def photo_ids(self) -> tuple[int, ...]:
        return (self.caption.photo_id,)

    @property
    def nouns(self) -> tuple[str, ...]:
        return (singular_name(self.clause.heads[0]), singular_name(self.clause.heads[1]))

    @property
    def identity(self) -> tuple[str | int, ...]:
        return (self.caption.photo_id, self.caption.id, self.clause.first[0], self.clause.second[0])


def mine_clauses(
    caption_list: Sequence[Caption], model: str, workers: int
) -> dict[int, list[tuple[Caption, list[Clause]]]]:
    """All clauses of the captions by photo id; captions without a usable predicate or with a pronoun are not parsed."""
    pattern = re.compile(r"\b(?:" + "|".join(sorted(swaps().links)) + r")\b", re.I)
    pronoun = re.compile(
        r"\b(?:his|her|hers|its|their|theirs|him|them|he|she|they|it|himself|herself|itself|who|'s)\b", re.I
    )
    chosen = [item for item in caption_list if pattern.search(item.text) and not pronoun.search(item.text)]
    found: dict[int, list[tuple[Caption, list[Clause]]]] = {}
    parsed = parse_many(model, [caption.text for caption in chosen], read_clauses, workers)
    for caption, clauses in zip(chosen, parsed, strict=True):
        if clauses:
            found.setdefault(caption.photo_id, []).append((caption, clauses))
    return found


def drafts(corpus: Corpus, clauses: Clauses, why: Counter[str]) -> Iterator[SwapNounDraft]:
    """Every usable clause; `why` counts those that are not, by the first reason."""
    for photo_id in sorted(clauses):
        entries = clauses[photo_id]
        said = {(clause.heads[0], clause.link, clause.heads[1]) for _, found in entries for clause in found}
        for caption, found in entries:
            for clause in found:
                if reason := _unfit(corpus, photo_id, clause, said):
                    why[reason] += 1
                    continue
                instances = tuple(_only_instance(corpus, photo_id, head) for head in clause.heads)
                yield SwapNounDraft(caption, clause, (instances[0], instances[1]))


def swapped(text: str, clause: Clause) -> str:
    """The caption with the two noun phrases in each other's place; the sentence's first letter stays a capital."""
    (first_start, first_end), (second_start, second_end) = clause.first, clause.second
    first, second = text[first_start:first_end], text[second_start:second_end]
    if first_start == 0:
        first, second = first[0].lower() + first[1:], second[0].upper() + second[1:]
    return text[:first_start] + second + text[first_end:second_start] + first + text[second_end:]


def plan(draft: SwapNounDraft, context: Context, index: int) -> PlannedPair:
    """P1 is the caption itself, P2 its clause alone in a template; N1 and N2 are the same with the nouns swapped."""
    clause, text = draft.clause, draft.caption.text
    core = _lower(text[slice(*clause.first)]), _lower(text[slice(*clause.second)])
    predicate = f"that {clause.predicate}" if clause.finite and not clause.relative else clause.predicate
    template = _other_template(context, draft, text, core, predicate)
    short = tuple(template.text.format(A=one, relation=predicate, B=other) for one, other in (core, core[::-1]))
    captions = CaptionPair(
        (text, _capital(short[0])), (swapped(text, clause), _capital(short[1])), (clause.link, clause.link)
    )
    values = [f"{one} {clause.predicate} {other}" for one, other in (clause.heads, clause.heads[::-1])]
    objects = tuple(
        object_record(role, noun, instance)
        for role, noun, instance in zip("AB", clause.heads, draft.instances, strict=True)
    )
    return planned(
        context,
        TASK,
        index,
        draft.photo_ids,
        captions,
        template.id,
        FactRecord("relation", values[0], values[1]),
        (objects, ()),
        has_image_1=False,
    )


def _other_template(
    context: Context, draft: SwapNounDraft, text: str, core: tuple[str, str], predicate: str
) -> Template:
    """The drawn template, or the next one that does not just say the caption over again."""
    drawn = template_for("spatial", context, draft.identity)
    options = (drawn, *context.vocabulary.templates_for("spatial", "varied"))
    said = words(text)
    return next(item for item in options if words(item.text.format(A=core[0], relation=predicate, B=core[1])) != said)


def _unfit(corpus: Corpus, photo_id: int, clause: Clause, said: set[tuple[str, str, str]]) -> str:
    """Why the clause cannot be turned round, "" when it can."""
    one, other = clause.heads
    if same_thing(one, other) or load_vocabulary().nouns.clash(singular_name(one), singular_name(other)):
        return "nouns alike"
    if (clause.finite or clause.agrees) and clause.plural[0] != clause.plural[1]:
        return "verb would not agree"
    place = swaps().opposite.get(clause.link)
    if place is not None:
        if any(clause.plural) or any(_count(corpus, photo_id, head) > 1 for head in clause.heads):
            return "several of them: both ways may be true"
        reversed_links = swaps().same[clause.link]
        if any((other, link, one) in said for link in reversed_links) or any(
            (one, link, other) in said for link in place
        ):
            return "another caption says the contrary"
    elif (other, clause.link, one) in said:
        return "another caption says the contrary"
    return ""


def _count(corpus: Corpus, photo_id: int, noun: str) -> int:
    category = category_of(noun)
    return sum(category is not None and item.category == category.name for item in corpus.instances.get(photo_id, ()))


def _only_instance(corpus: Corpus, photo_id: int, noun: str) -> Instance | None:
    """The box of the noun where there is exactly one that it can mean."""
    category = category_of(noun)
    boxes = [item for item in corpus.instances.get(photo_id, ()) if category and item.category == category.name]
    return boxes[0] if len(boxes) == 1 and not boxes[0].is_crowd else None


def _lower(phrase: str) -> str:
    return phrase[0].lower() + phrase[1:]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
