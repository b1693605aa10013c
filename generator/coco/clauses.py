"""Clauses whose two nouns can change places: "a dog" + "sitting on" + "a bench", from a parsed caption (paper F)."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generator.coco.mentions import NOUN_TAGS
from generator.coco.nouns import singular
from generator.coco.vocabulary import attributes, nouns, read_table

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

INSIDE_PHRASE = frozenset({"det", "amod", "compound", "nummod", "nmod", "nn", "advmod", "punct", "predet"})
DETERMINERS = frozenset({"a", "an", "the", "one", "some", "another", "several", "many", "this", "that"})
PREDICATE_TAGS = frozenset({"VBG", "VBZ", "VBP", "VBN", "VBD", "RB", "RP", "IN", "TO", "WDT", "JJ"})
FINITE_TAGS = frozenset({"VBZ", "VBP", "VBD"})
RELATIVE = frozenset({"that", "which"})
ATTACHED_TAGS = frozenset({"CC", ",", "NN", "NNS", "NNP", "NNPS", "JJ", "HYPH", "VBN", "VBD", "MD"})
PLURAL_TAGS = frozenset({"NNS", "NNPS"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: spans as character offsets [start, end) of the caption, and what the decision needs.

    first, second: the whole noun phrases; predicate: the text between them; link: the preposition or verb that it
    hangs on ("on", "riding"). heads: the nouns with their compounds, lower case. plural: of the two nouns. finite:
    whether the predicate has a finite verb; relative: whether it starts with "that" or "which". agrees: whether any
    verb agrees with the first noun.
    """

    first: tuple[int, int]
    second: tuple[int, int]
    predicate: str
    link: str
    heads: tuple[str, str]
    plural: tuple[bool, bool]
    finite: bool
    relative: bool
    agrees: bool


@dataclass(frozen=True, slots=True)
class Swaps:
    """templates/coco_swaps.toml. opposite: preposition of place -> those that say the contrary of the nouns' order."""

    support: frozenset[str]
    opposite: Mapping[str, frozenset[str]]
    same: Mapping[str, frozenset[str]]
    verbs: frozenset[str]
    never: frozenset[str]
    worn: frozenset[str]

    @property
    def links(self) -> frozenset[str]:
        """All predicates that never hold both ways."""
        return self.support | self.verbs | frozenset(self.opposite)


@functools.cache
def swaps() -> Swaps:
    """The predicates and nouns that a swap may use."""
    table = read_table("coco_swaps")
    opposite = {word: frozenset(entry["opposite"]) for entry in table["place"] for word in entry["words"]}
    same = {word: frozenset(entry["words"]) for entry in table["place"] for word in entry["words"]}
    return Swaps(
        support=frozenset(table["support"]),
        opposite=opposite,
        same=same,
        verbs=frozenset(table["verbs"]["words"]),
        never=frozenset(table["nouns"]["never"]) | nouns().not_objects,
        worn=frozenset(table["nouns"]["worn"]),
    )


def read_clauses(doc: "Doc") -> list[Clause]:
    """All clauses of the caption, in reading order; none where a pronoun would come to stand for the other noun."""
    if any(token.tag_ in ("PRP", "PRP$", "WP", "WP$", "POS") for token in doc) or doc.text.isupper():
        return []
    found = []
    for token in doc:
        link = _link(token)
        if link is None:
            continue
        last, target = link
        clause = _clause(doc, token, last, target)
        if clause is not None:
            found.append(clause)
    return found


def _link(token: "Token") -> "tuple[Token, Token] | None":
    """For a token that starts a link: the link's last token and the noun after it."""
    text = token.lower_
    if text in swaps().verbs:
        target = next((child for child in token.children if child.dep_ == "dobj"), None)
        return (token, target) if target is not None else None
    if token.dep_ not in ("prep", "prt", "advmod") or token.tag_ not in ("IN", "RB", "RP"):
        return None
    inner = next((child for child in token.children if child.dep_ in ("pobj", "pcomp", "prep")), None)
    if inner is None:
        return None
    if inner.lower_ == "top":
        of = next((child for child in inner.children if child.lower_ == "of"), None)
        target = next((child for child in of.children if child.dep_ == "pobj"), None) if of is not None else None
        return (of, target) if of is not None and target is not None else None
    if inner.dep_ == "prep":
        target = next((child for child in inner.children if child.dep_ == "pobj"), None)
        return (inner, target) if inner.lower_ == "of" and target is not None else None
    return (token, inner) if inner.dep_ == "pobj" else None


def _clause(doc: "Doc", link: "Token", last: "Token", target: "Token") -> Clause | None:
    text = doc[link.i : last.i + 1].text.lower()
    subject = _subject(link)
    if text not in swaps().links or subject is None or subject.i >= link.i:
        return None
    first, second = _phrase(doc, subject), _phrase(doc, target)
    if first is None or second is None or second.start != last.i + 1:
        return None
    between = doc[first.end : second.start]
    if not all(_in_predicate(token) for token in between) or not _stands_alone(doc, first, second):
        return None
    worn = any(singular(noun.lower_) in swaps().worn for noun in (subject, target))
    if worn and text not in swaps().verbs:
        return None
    return Clause(
        first=(first.start_char, first.end_char),
        second=(second.start_char, second.end_char),
        predicate=between.text,
        link=text,
        heads=(_name(doc, subject), _name(doc, target)),
        plural=(_is_plural(first), _is_plural(second)),
        finite=any(token.tag_ in FINITE_TAGS for token in between),
        relative=bool(between) and between[0].lower_ in RELATIVE,
        agrees=subject.dep_ in ("nsubj", "nsubjpass", "attr", "expl"),
    )


def _stands_alone(doc: "Doc", first: "Span", second: "Span") -> bool:
    """Can both phrases be cut out? Not when a word next to them belongs to them after all."""
    before = doc[first.start - 1] if first.start > 0 else None
    after = doc[second.end] if second.end < len(doc) else None
    counted = before is not None and before.lower_ == "of" and first[0].tag_ != "DT"  # "a pair of people"
    if counted or (before is not None and before.tag_ in ATTACHED_TAGS):
        return False
    if any(child.dep_ == "relcl" or child.lower_ == "of" for child in second.root.children):
        return False
    return after is None or (after.tag_ not in ATTACHED_TAGS - {","} and after.lower_ != "of")


def _in_predicate(token: "Token") -> bool:
    if token.tag_ == "WDT":
        return token.lower_ in RELATIVE
    return token.lower_ == "top" or (token.tag_ in PREDICATE_TAGS and token.lower_ not in ("not", "n't", "very"))


def _subject(token: "Token") -> "Token | None":
    """The noun that the link says something of: its own head, or the subject of the verb that it belongs to."""
    governor = token if token.lower_ in swaps().verbs else token.head
    for _ in range(3):
        if governor.tag_ in NOUN_TAGS:
            return governor
        subject = next((child for child in governor.children if child.dep_ in ("nsubj", "nsubjpass")), None)
        if subject is not None and subject.tag_ in NOUN_TAGS:
            return subject
        governor = governor.head
    return None


def _phrase(doc: "Doc", head: "Token") -> "Span | None":
    """The noun phrase that ends in `head`: determiner or number, adjectives, compound. None where it cannot move."""
    if (
        head.tag_ not in NOUN_TAGS
        or head.dep_ == "conj"
        or any(child.dep_ in ("conj", "cc") for child in head.children)
    ):
        return None
    start = head.i
    while start > 0 and doc[start - 1].dep_ in INSIDE_PHRASE and head.i >= doc[start - 1].head.i > doc[start - 1].i:
        start -= 1
    first = doc[start]
    determined = first.lower_ in DETERMINERS or (first.tag_ != "DT" and _is_plural(doc[start : head.i + 1]))
    if not determined or first.tag_ in ("RB", "VBG", "VBN") or not _is_thing(head):
        return None
    return doc[start : head.i + 1]


def _is_thing(head: "Token") -> bool:
    """Is the noun a thing that could change places, and a noun at all (not "standing", not the colour "white")?"""
    word = head.lower_
    if {word, singular(word)} & swaps().never or word in attributes().kinds["colour"].meaning.keys() - {"orange"}:
        return False
    return not word.endswith("ing") or word in nouns().gerunds


def _is_plural(phrase: "Span") -> bool:
    """By the noun's form or, as captions have it ("two woman"), by the number before it."""
    number = phrase[0].tag_ == "CD" and phrase[0].lower_ not in ("one", "1")
    return number or phrase.root.tag_ in PLURAL_TAGS


def _name(doc: "Doc", head: "Token") -> str:
    start = head.i
    while start > 0 and doc[start - 1].dep_ == "compound" and doc[start - 1].head == head:
        start -= 1
    return doc[start : head.i + 1].text.lower()
