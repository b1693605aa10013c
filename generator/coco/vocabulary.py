"""The words of the COCO splits, read from templates/coco_*.toml and checked once."""

import functools
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from generator.errors import VocabularyError
from generator.vocabulary import TEMPLATES


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of attribute (colour, size, ...).

    meaning: word -> first word of its meaning. near: pairs of meanings that are too alike to be set against each
    other. opposite: if not empty, the only pairs of meanings that are. joined: "red and white" is one attribute.
    shades: words that go before ("dark"). carriers: participles that carry the word to the noun ("brown colored").
    """

    name: str
    meaning: Mapping[str, str]
    near: frozenset[frozenset[str]]
    opposite: frozenset[frozenset[str]]
    joined: bool
    shades: frozenset[str]
    carriers: frozenset[str]

    def opposed(self, first: Iterable[str], second: Iterable[str]) -> bool:
        """Can an object with the words `first` never be told to have the words `second`, and vice versa?"""
        for one in (self.meaning[word] for word in first):
            for other in (self.meaning[word] for word in second):
                couple = frozenset((one, other))
                if len(couple) == 1 or couple in self.near or (self.opposite and couple not in self.opposite):
                    return False
        return True


@dataclass(frozen=True, slots=True)
class Attributes:
    """All kinds, and the kind of every word."""

    kinds: Mapping[str, Kind]
    kind_of: Mapping[str, Kind]
    carriers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Category:
    """One COCO category.

    noun: how a caption calls it. words: singular words for the same thing, the noun included. broader: words whose
    mention leaves open whether it is there. like: names of the categories it is mixed up with. uneven: a missing box
    does not say that it is absent.
    """

    name: str
    noun: str
    words: frozenset[str]
    broader: frozenset[str]
    like: frozenset[str]
    uneven: bool


@dataclass(frozen=True, slots=True)
class Nouns:
    """Nouns by what they can stand for. categories: by COCO name. names: known two-word names, as word pairs."""

    not_objects: frozenset[str]
    transparent: frozenset[str]
    fixed: frozenset[tuple[str, str]]
    names: frozenset[tuple[str, str]]
    kept: frozenset[str]
    gerunds: frozenset[str]
    any_colour: frozenset[str]
    people: frozenset[str]
    categories: Mapping[str, Category]


def read_table(name: str) -> dict[str, Any]:
    """templates/{name}.toml as a dict; VocabularyError when it is missing or malformed."""
    try:
        return tomllib.loads((TEMPLATES / f"{name}.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise VocabularyError(f"templates/{name}.toml: {error}") from error


@functools.cache
def attributes() -> Attributes:
    """The attribute words (coco_attributes.toml)."""
    table = read_table("coco_attributes")
    kinds = {name: _kind(name, entry) for name, entry in table.items()}
    kind_of: dict[str, Kind] = {}
    for kind in kinds.values():
        for word in kind.meaning:
            if word in kind_of:
                raise VocabularyError(f"coco_attributes.toml: {word!r} is both {kind_of[word].name} and {kind.name}")
            kind_of[word] = kind
    return Attributes(kinds, kind_of, frozenset().union(*(kind.carriers for kind in kinds.values())))


@functools.cache
def nouns() -> Nouns:
    """The nouns (coco_nouns.toml)."""
    table = read_table("coco_nouns")
    raw: dict[str, dict[str, Any]] = table["category"]
    like: dict[str, set[str]] = {name: set(entry.get("like", ())) for name, entry in raw.items()}
    for name, others in list(like.items()):
        for other in others:
            if other not in raw:
                raise VocabularyError(f"coco_nouns.toml: {name!r} is like {other!r}, which is no category")
            like[other].add(name)
    categories: dict[str, Category] = {}
    for name, entry in raw.items():
        noun = entry.get("name", name)
        words = frozenset((name, noun, *entry.get("words", ())))
        if name == "person":
            words |= frozenset(table["people"])
        broader = frozenset(entry.get("broader", ()))
        categories[name] = Category(name, noun, words, broader, frozenset(like[name]), entry.get("uneven", False))
    names = {_couple(word) for category in categories.values() for word in category.words if word.count(" ") == 1}
    names |= {_couple(entry) for entry in table["two_words"]}
    names |= {(first, f"{last}s") for first, last in names}
    return Nouns(
        not_objects=frozenset(table["not_objects"]),
        transparent=frozenset(table["transparent"]),
        fixed=frozenset(_couple(entry) for entry in table["fixed"]),
        names=frozenset(names),
        kept=frozenset(table["kept"]),
        gerunds=frozenset(table["gerunds"]),
        any_colour=frozenset(table["any_colour"]),
        people=frozenset(table["people"]),
        categories=categories,
    )


def _couple(name: str) -> tuple[str, str]:
    first, last = name.split(" ")
    return first, last


def _kind(name: str, entry: Mapping[str, Any]) -> Kind:
    meaning = {word: group[0] for group in entry["meanings"] for word in group}
    pairs = {field: frozenset(frozenset(couple) for couple in entry.get(field, ())) for field in ("near", "opposite")}
    listed = {word for couples in pairs.values() for couple in couples for word in couple}
    if unknown := sorted(listed - set(meaning)):
        raise VocabularyError(f"coco_attributes.toml: [{name}] uses {unknown[0]!r}, which has no meaning there")
    return Kind(
        name=name,
        meaning=meaning,
        near=pairs["near"],
        opposite=pairs["opposite"],
        joined=entry.get("joined", False),
        shades=frozenset(entry.get("shades", ())),
        carriers=frozenset(entry.get("carriers", ())),
    )
