"""The words: colours, relations, negators, nouns and caption templates, read from templates/ and checked."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from generator.errors import VocabularyError
from generator.specs import Rgb

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

    def templates_for(self, task: str, phrasing: str) -> tuple[Template, ...]:
        """The task's templates: the paper's own, or with phrasing "varied" all of them."""
        return tuple(item for item in self.templates[task] if phrasing in (item.style, "varied"))

    def colour_pairs(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Ordered pairs of two colours that nobody confuses, in the order of the names."""
        listed = list(names)
        return [(a, b) for a in listed for b in listed if a != b and frozenset((a, b)) not in self.confusable]


@cache
def load_vocabulary() -> Vocabulary:
    """Read and check templates/*.toml."""
    captions, relations = _read("captions.toml"), _read("relations.toml")
    colours, nouns = _read("colours.toml"), _read("nouns.toml")
    try:
        vocabulary = Vocabulary(
            colours={name: (r / 255, g / 255, b / 255) for name, (r, g, b) in colours["colours"].items()},
            confusable=frozenset(frozenset(pair) for pair in colours["confusable"]["pairs"]),
            sizes=(tuple(colours["sizes"]["plain"]), *(tuple(pair) for pair in colours["sizes"]["synonyms"])),
            relations=tuple(Relation(**item) for item in relations["relation"]),
            negators=tuple(Negator(**item) for item in relations["negator"]),
            templates={task: tuple(Template(**item) for item in items) for task, items in captions.items()},
            nouns=Nouns(
                plural=frozenset(nouns["plural"]),
                mass=frozenset(nouns["mass"]),
                an=frozenset(nouns["an"]),
                a=frozenset(nouns["a"]),
                groups=tuple(frozenset(group) for group in nouns["groups"]),
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise VocabularyError(f"templates/: missing or malformed entry ({type(error).__name__}: {error})") from error
    _check(vocabulary)
    return vocabulary


def _read(name: str) -> dict[str, Any]:
    try:
        return tomllib.loads((TEMPLATES / name).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise VocabularyError(f"templates/{name}: {error}") from error


def _check(vocabulary: Vocabulary) -> None:
    slots = {"spatial": "{relation}", "attribute": "{B}", "negation": "{negation}"}
    for task, templates in vocabulary.templates.items():
        for template in templates:
            for slot in ("{A}", "{B}", slots.get(task, "{A}")):
                if slot not in template.text:
                    raise VocabularyError(f"templates/captions.toml: {task} template {template.id!r} lacks {slot}")
    for pair in vocabulary.confusable:
        if unknown := pair - set(vocabulary.colours):
            raise VocabularyError(f"templates/colours.toml: confusable names unknown colours {sorted(unknown)}")
    for relation in vocabulary.relations:
        if relation.axis not in ("vertical", "horizontal"):
            raise VocabularyError(f"templates/relations.toml: {relation.id} has axis {relation.axis!r}")
