"""Nouns of captions: their singular, and the COCO category that they name."""

import functools

from generator.coco.vocabulary import Category, nouns

IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot", "teeth": "tooth",
    "geese": "goose", "mice": "mouse", "knives": "knife", "leaves": "leaf", "shelves": "shelf", "loaves": "loaf",
    "halves": "half", "calves": "calf", "wolves": "wolf", "scarves": "scarf", "oxen": "ox", "buses": "bus",
    "policemen": "policeman", "gentlemen": "gentleman", "cookies": "cookie", "movies": "movie", "pies": "pie",
    "ties": "tie", "zombies": "zombie", "selfies": "selfie", "shoes": "shoe", "horses": "horse", "houses": "house",
    "cases": "case", "vases": "vase", "suitcases": "suitcase", "axes": "axe", "clothes": "clothes",
}  # fmt: skip
SAME = frozenset(
    {"sheep", "scissors", "skis", "glasses", "pants", "shorts", "jeans", "bus", "glass", "tennis", "grass"}
)


def singular(word: str) -> str:
    """The singular of a lower-case plural; a singular comes back as it is.

    Only for comparing words with each other: both sides go through it, so a wrong guess costs a match, not a caption.
    """
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in SAME or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        return word[:-2]
    return word[:-1]


def singular_name(noun: str) -> str:
    """`singular` of the last word of a name: "fire trucks" -> "fire truck"."""
    first, space, last = noun.rpartition(" ")
    return first + space + singular(last)


@functools.cache
def category_of(noun: str) -> Category | None:
    """The category that a noun of a caption names: by the whole name first, then by its last words."""
    words = singular_name(noun).split()
    table = _by_word()
    for start in range(len(words)):
        if (category := table.get(" ".join(words[start:]))) is not None:
            return category
    return None


def same_thing(one: str, other: str) -> bool:
    """May two nouns of one photo name the same object? Equal, sharing the last word, or of one category."""
    if singular(one.split()[-1]) == singular(other.split()[-1]):
        return True
    first, second = category_of(one), category_of(other)
    return first is not None and first is second


def mentioned_words(text_words: list[str]) -> set[str]:
    """Singular words and pairs of neighbouring words of a caption, to look category words up in."""
    single = [singular(word) for word in text_words]
    return {*text_words, *single, *(f"{a} {b}" for a, b in zip(text_words, single[1:], strict=False))}


@functools.cache
def _by_word() -> dict[str, Category]:
    """Word -> category. A word of two categories ("glass", "van") goes to none of them: it does not tell."""
    found: dict[str, Category | None] = {}
    for category in nouns().categories.values():
        for word in category.words:
            name = singular_name(word)
            found[name] = category if found.get(name, category) is category else None
    for category in nouns().categories.values():
        found[singular_name(category.name)] = category
    return {word: category for word, category in found.items() if category is not None}
