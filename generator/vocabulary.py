"""The words: colours, relations, negators, nouns and caption templates, read from templates/ and checked."""

import string
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from generator.errors import DataError, VocabularyError, unknown
from generator.records import build
from generator.specs import Rgb

T = TypeVar("T")
# What each task's templates must hold.
SLOTS = {"spatial": ("A", "relation", "B"), "attribute": ("A", "B"), "negation": ("A", "negation", "B")}

# Beside the package both in a checkout and when installed. (importlib.resources cannot read a directory without code
# from an editable install.)
TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


@dataclass(frozen=True, slots=True)
class Template:
    """A caption template; text holds {A}, {B} and {relation} or {negation}."""

    id: str
    style: str
    text: str


@dataclass(frozen=True, slots=True)
class Relation:
    """Two opposite functional words along one image axis ("vertical" or "horizontal"): first is up or left."""

    id: str
    axis: str
    style: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Negator:
    """A negating functional word, and whether the noun after it keeps its article."""

    word: str
    article: bool


@dataclass(frozen=True)
class Nouns:
    """Grammar of nouns, and which never meet."""

    plural: frozenset[str]
    mass: frozenset[str]
    an: frozenset[str]
    a: frozenset[str]
    groups: tuple[frozenset[str], ...]

    def article(self, phrase: str, noun: str) -> str:
        """The indefinite article for `phrase`, whose head is `noun`: "a ", "an ", or "" for plural and mass nouns."""
        if noun in self.plural or noun in self.mass:
            return ""
        lowered = phrase.lower()
        if any(lowered == word or lowered.startswith(f"{word} ") for word in self.an):
            return "an "
        if any(lowered == word or lowered.startswith(f"{word} ") for word in self.a):
            return "a "
        return "an " if lowered[0] in "aeiou" else "a "

    def clash(self, one: str, other: str) -> bool:
        """True when the two must not meet in one pair: same, sharing a word, one inside the other, or listed alike."""
        if one in other or other in one or set(one.split()) & set(other.split()):
            return True
        return any(one in group and other in group for group in self.groups)


@dataclass(frozen=True)
class Vocabulary:
    """Everything that templates/ says. colours: sRGB in [0, 1] by name; confusable: unordered pairs of names."""

    colours: dict[str, Rgb]
    confusable: frozenset[frozenset[str]]
    sizes: tuple[tuple[str, str], ...]
    relations: tuple[Relation, ...]
    negators: tuple[Negator, ...]
    templates: dict[str, tuple[Template, ...]]
    nouns: Nouns
    own_colour: frozenset[str]

    def takes_colour(self, noun: str) -> bool:
        """Whether "a blue NOUN" says what it seems to: not of an orange, nor of cheese."""
        return noun not in self.own_colour and not set(noun.split()) & set(self.colours)

    def templates_for(self, task: str, phrasing: str) -> tuple[Template, ...]:
        """The task's templates: the paper's own, or with phrasing "varied" all of them."""
        return tuple(item for item in self.templates[task] if phrasing in (item.style, "varied"))

    def colour_pairs(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Ordered pairs of two colours that nobody confuses, in the order of the names."""
        listed = list(names)
        return [(a, b) for a in listed for b in listed if a != b and frozenset((a, b)) not in self.confusable]


@cache
def load_vocabulary() -> Vocabulary:
    """Read and check templates/*.toml. Raises VocabularyError, which names the file and what is wrong in it."""
    templates = _parsed("captions.toml", _templates)
    relations, negators = _parsed("relations.toml", _relations)
    colours, confusable, sizes = _parsed("colours.toml", _colours)
    nouns = _parsed("nouns.toml", _nouns)
    own_colour = _parsed("nouns.toml", lambda raw: frozenset(build(tuple[str, ...], raw["own_colour"], "own_colour")))
    return Vocabulary(colours, confusable, sizes, relations, negators, templates, nouns, own_colour)


def _parsed(name: str, parse: Callable[[dict[str, Any]], T]) -> T:
    where = f"templates/{name}"
    try:
        return parse(tomllib.loads((TEMPLATES / name).read_text(encoding="utf-8")))
    except KeyError as error:
        raise VocabularyError(f"{where}: {error} is missing") from error
    except (OSError, ValueError, DataError) as error:
        raise VocabularyError(f"{where}: {error}") from error


def _templates(raw: dict[str, Any]) -> dict[str, tuple[Template, ...]]:
    found: dict[str, tuple[Template, ...]] = {}
    for task, slots in SLOTS.items():
        found[task] = build(tuple[Template, ...], raw[task], task)
        for template in found[task]:
            # Exactly these: a slot too many would fail at the first pair, one too few would make captions alike.
            named = [slot for _, slot, _, _ in string.Formatter().parse(template.text) if slot is not None]
            if sorted(named) != sorted(slots):
                raise ValueError(f"{task} template {template.id!r} must hold {', '.join(slots)} once each, not {named}")
            if template.style not in ("paper", "varied"):
                raise ValueError(f"{task} template {template.id!r} has style {template.style!r}, not paper or varied")
        if not any(template.style == "paper" for template in found[task]):
            raise ValueError(f"{task} has no template of style paper")
        _distinct(f"{task} template", (template.id for template in found[task]))
    return found


def _relations(raw: dict[str, Any]) -> tuple[tuple[Relation, ...], tuple[Negator, ...]]:
    relations: tuple[Relation, ...] = build(tuple[Relation, ...], raw["relation"], "relation")
    negators: tuple[Negator, ...] = build(tuple[Negator, ...], raw["negator"], "negator")
    for relation in relations:
        if relation.axis not in ("vertical", "horizontal"):
            raise ValueError(f"relation {relation.id!r} has axis {relation.axis!r}, not vertical or horizontal")
    if {item.axis for item in relations if item.style == "paper"} != {"vertical", "horizontal"} or not negators:
        raise ValueError("a relation of style paper for each axis and a negator are needed")
    _distinct("relation word", (word for item in relations for word in (item.first, item.second)))
    _distinct("negator", (item.word for item in negators))
    return relations, negators


def _colours(raw: dict[str, Any]) -> tuple[dict[str, Rgb], frozenset[frozenset[str]], tuple[tuple[str, str], ...]]:
    colours: dict[str, Rgb] = {}
    for name, values in raw["colours"].items():
        red, green, blue = build(tuple[int, int, int], values, name)
        if not 0 <= min(red, green, blue) <= max(red, green, blue) <= 255:
            raise ValueError(f"{name} is {values}, not three values from 0 to 255")
        colours[name] = (red / 255, green / 255, blue / 255)
    pairs: tuple[tuple[str, str], ...] = build(tuple[tuple[str, str], ...], raw["confusable"]["pairs"], "confusable")
    for name in sorted({name for pair in pairs for name in pair} - set(colours)):
        raise ValueError(f"confusable: {unknown('colour', name, colours)}")
    sizes = [raw["sizes"]["plain"], *raw["sizes"]["synonyms"]]
    return colours, frozenset(frozenset(pair) for pair in pairs), build(tuple[tuple[str, str], ...], sizes, "sizes")


def _nouns(raw: dict[str, Any]) -> Nouns:
    words = {key: frozenset(build(tuple[str, ...], raw[key], key)) for key in ("plural", "mass", "an", "a")}
    groups = build(tuple[tuple[str, ...], ...], raw["groups"], "groups")
    return Nouns(**words, groups=tuple(frozenset(group) for group in groups))


def _distinct(what: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{what} {name!r} is there twice")
