"""Adjective-noun pairs of a parsed caption: "a red and white bus" -> ("red and white", "bus").

A pair is read from the dependency parse (amod, compounds such as "brick wall", predicates such as "the bus is red"),
with the few repairs that a small model's mistakes in captions ask for. Paper B.2.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generator.coco.vocabulary import Attributes, Kind, Nouns, attributes, nouns

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})
MODIFIERS = frozenset({"amod", "nmod", "compound", "nn"})
PREDICATES = frozenset({"acomp", "attr", "oprd", "dobj", "xcomp", "ccomp"})
SUBJECTS = ("nsubj", "nsubjpass")
COPULAS = frozenset(
    {"is", "are", "was", "were", "be", "been", "being", "'s", "'re", "look", "looks", "looked", "appears", "seems"}
)
JOINTS = frozenset({"and", "&", "-", "/", ","})
COUNTING = frozenset({"a", "an", "one", "another", "each", "every"})
MAX_DEPTH = 6
PRONOUNS = frozenset({"that", "which", "who"})


@dataclass(frozen=True, slots=True)
class Mention:
    """One pair. attribute, noun: as written, lower case ("red and white", "fire trucks").

    words: the attribute's single words ("red", "white"). plural: number of the noun.
    countable: whether a determiner that asks for a countable noun stands before it (a, an, one, another, each).
    position: index of the head among the caption's tokens: two mentions with one position are about one thing.
    """

    kind: str
    attribute: str
    words: tuple[str, ...]
    noun: str
    plural: bool
    countable: bool
    position: int


def has_attribute() -> Callable[[str], bool]:
    """A predicate that is true of captions with at least one attribute word."""
    pattern = re.compile(r"\b(?:" + "|".join(sorted(attributes().kind_of)) + r")\b", re.IGNORECASE)
    return lambda text: pattern.search(text) is not None


def read_mentions(doc: "Doc") -> list[Mention]:
    """All pairs of the caption, in reading order."""
    return _Reader(doc).mentions()


class _Reader:
    """One caption under reading; the methods share its tokens and the vocabulary."""

    def __init__(self, doc: "Doc") -> None:
        self._doc = doc
        self._attributes: Attributes = attributes()
        self._nouns: Nouns = nouns()

    def mentions(self) -> list[Mention]:
        found: list[Mention] = []
        runs: dict[int, list[list[Token]]] = {}
        for token in self._doc:
            kind = self._attributes.kind_of.get(token.lower_)
            if kind is None or not self._is_adjectival(token, kind):
                continue
            head = self._target(token, kind, 0)
            if head is None or (kind.name == "colour" and head.lower_ in self._nouns.people):
                continue
            lists = runs.setdefault(head.i, [])
            if kind.joined and lists and self._joins(lists[-1][-1], token, kind):
                lists[-1].append(token)
            else:
                lists.append([token])
        for position, lists in runs.items():
            found += [self._mention(tokens, self._doc[position]) for tokens in lists]
        return found

    def _mention(self, tokens: list["Token"], head: "Token") -> Mention:
        kind = self._attributes.kind_of[tokens[0].lower_]
        shaded = [self._shaded(token, kind) for token in tokens]
        start = self._name_start(head)
        return Mention(
            kind=kind.name,
            attribute=", ".join(shaded[:-1]) + " and " + shaded[-1] if len(shaded) > 1 else shaded[0],
            words=tuple(token.lower_ for token in tokens),
            noun=self._doc[start : head.i + 1].text.lower(),
            plural=head.tag_ in ("NNS", "NNPS"),
            countable=self._word_before(start) in COUNTING,
            position=head.i,
        )

    def _is_adjectival(self, token: "Token", kind: Kind) -> bool:
        """Does the attribute word describe something here, rather than being the thing ("an orange", "a glass")?"""
        follower = self._doc[token.i + 1].lower_ if token.i + 1 < len(self._doc) else ""
        if (token.lower_, follower) in self._nouns.fixed:
            return False
        if token.tag_ not in NOUN_TAGS:
            return True
        if token.dep_ in MODIFIERS or self._painted(token) is not None:
            return True
        return self._first_noun(self._end_of_list(token, kind)) is not None

    def _target(self, token: "Token", kind: Kind, depth: int) -> "Token | None":
        """The noun that the word is about, None where there is none."""
        if depth > MAX_DEPTH:
            return None
        last = self._end_of_list(token, kind)
        if (noun := self._first_noun(last)) is not None:
            return self._object(noun)
        if (painted := self._painted(token)) is not None:
            return self._object(painted)
        head = token.head
        if token.dep_ in MODIFIERS or (token.dep_ == "conj" and head.lower_ in self._attributes.kind_of):
            if head.lower_ in self._attributes.kind_of:
                return self._target(head, self._attributes.kind_of[head.lower_], depth + 1)
            if head.lower_ in self._attributes.carriers:
                return self._carried(head)
        if token.dep_ in PREDICATES:
            if head.lower_ in COPULAS:
                return self._subject(head)
            if head.lower_ in self._attributes.carriers:
                return self._carried(head)
        return None

    def _end_of_list(self, token: "Token", kind: Kind) -> "Token":
        """The last word of the list of one kind that the word is in: "white" for "red" in "a red and white bus"."""
        last = token
        if not kind.joined:
            return last
        position = token.i + 1
        while position < len(self._doc):
            word = self._doc[position].lower_
            if self._attributes.kind_of.get(word) is kind:
                last = self._doc[position]
            elif word not in JOINTS and word not in kind.shades:
                break
            position += 1
        return last

    def _first_noun(self, token: "Token") -> "Token | None":
        """The noun that the adjective stands before, with nothing but more adjectives between them.

        The parse has the say whether a participle between them belongs to the noun ("red flying disc"); which noun
        is left to the order of the words, because a small model hangs adjectives on a noun further right
        ("a white couch and library shelves").
        """
        for position in range(token.i + 1, len(self._doc)):
            follower = self._doc[position]
            if self._is_noun(follower) and follower.lower_ not in self._attributes.kind_of:
                return follower
            known = follower.lower_ in self._attributes.kind_of or follower.lower_ in self._attributes.carriers
            if not known and position == token.i + 1 and token.head.i == position:
                return None  # "a red haired woman": it is the hair that is red
            adjective = follower.tag_ in ("JJ", "JJR", "JJS", "CD", "HYPH", ",") or follower.dep_ == "amod"
            adverb = follower.tag_ == "RB" and follower.head.dep_ == "amod" and follower.head.i > position
            listed = follower.tag_ == "CC" and token.dep_ == "amod" and token.head.i > position
            if not (known or adjective or adverb or listed):
                return None
        return None

    def _is_noun(self, token: "Token") -> bool:
        """By its tag, but words in -ing by the list: the tagger takes "a girl in white playing" for a white playing."""
        if token.lower_.endswith("ing") and token.tag_ in ("NN", "VBG"):
            return token.lower_ in self._nouns.gerunds or self._is_premodifier(token)
        return token.tag_ in NOUN_TAGS

    def _is_premodifier(self, token: "Token") -> bool:
        """Does the noun in -ing only stand before its own noun ("train station seating", "flying disc")?"""
        return token.dep_ in MODIFIERS and token.tag_ == "NN" and token.head.i > token.i

    def _painted(self, token: "Token") -> "Token | None":
        """The noun in "a wall painted blue", by the order of the words: the parse of these is anyone's guess."""
        if token.i < 2 or token.nbor(-1).lower_ not in self._attributes.carriers:
            return None
        noun = token.nbor(-2)
        return noun if noun.tag_ in NOUN_TAGS and noun.lower_ not in self._attributes.kind_of else None

    def _carried(self, carrier: "Token") -> "Token | None":
        """The noun of "colored" in "a cat colored brown" or of "painted" in "a wall painted blue"."""
        if carrier.dep_ in ("acl", "relcl", "amod"):
            return self._object_or_none(carrier.head)
        return self._subject(carrier)

    def _subject(self, verb: "Token") -> "Token | None":
        if any(child.dep_ == "neg" for child in verb.children):
            return None
        subject = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
        if subject is not None and subject.lower_ in PRONOUNS and verb.dep_ == "relcl":
            subject = verb.head
        return self._object_or_none(subject)

    def _object_or_none(self, token: "Token | None") -> "Token | None":
        return self._object(token) if token is not None and token.tag_ in NOUN_TAGS else None

    def _object(self, noun: "Token") -> "Token | None":
        """The last word of the whole name that `noun` begins ("truck" for "fire"); None if it names no object."""
        while noun.i + 1 < len(self._doc) and self._continues(noun, noun.nbor()):
            noun = noun.nbor()
        if noun.lower_ in self._nouns.transparent:
            of = next((child for child in noun.children if child.lower_ == "of"), None)
            inner = next((child for child in of.children if child.dep_ == "pobj"), None) if of is not None else None
            return self._object_or_none(inner)
        before = noun.nbor(-1).lower_ if noun.i > 0 else ""
        named = (before, noun.lower_) in self._nouns.names  # "parking lot" is one, "lot" is none
        return None if noun.lower_ in self._nouns.not_objects and not named else noun

    def _continues(self, noun: "Token", follower: "Token") -> bool:
        """Does `follower` go on with the name that `noun` is part of?"""
        if (noun.lower_, follower.lower_) in self._nouns.names:
            return True  # the tagger takes "hydrant" for an adjective and "bears" for a verb
        if not self._is_noun(follower):
            return follower.tag_ == "HYPH" and noun.head.i > follower.i
        return noun.tag_ == "HYPH" or (noun.dep_ in MODIFIERS and noun.head.i > noun.i)

    def _joins(self, first: "Token", second: "Token", kind: Kind) -> bool:
        """Do two words of one kind make one attribute: "red and white", "black-and-white", "red, white and blue"?"""
        between = [token.lower_ for token in self._doc[first.i + 1 : second.i] if token.lower_ not in kind.shades]
        return bool(between) and JOINTS.issuperset(between) and self._attributes.kind_of[first.lower_] is kind

    def _shaded(self, token: "Token", kind: Kind) -> str:
        before = token.nbor(-1).lower_ if token.i > 0 else ""
        return f"{before} {token.lower_}" if before in kind.shades else token.lower_

    def _name_start(self, head: "Token") -> int:
        """Index of the first token of the name that ends in `head`; attribute words stay outside."""
        start = head.i
        while start > 0:
            token = self._doc[start - 1]
            couple = (token.lower_, self._doc[start].lower_)
            named = couple in self._nouns.names or couple in self._nouns.fixed
            part = token.tag_ in NOUN_TAGS and token.dep_ in MODIFIERS and token.lower_ not in self._attributes.kind_of
            hyphen = token.tag_ == "HYPH" or (self._doc[start].tag_ == "HYPH" and token.tag_ in NOUN_TAGS)
            if not (named or part or hyphen or token.lower_ in self._nouns.kept):
                break
            start -= 1
        return start

    def _word_before(self, start: int) -> str:
        """The determiner of the noun phrase whose name starts at `start`, or the word before the phrase."""
        for position in range(start - 1, -1, -1):
            token = self._doc[position]
            verb = token.tag_.startswith("VB") and token.dep_ not in MODIFIERS
            if verb or token.tag_ in ("DT", "PRP$", "IN", "CD"):
                return token.lower_
        return ""
