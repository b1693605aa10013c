"""Which words of a caption carry the fact that differs: what a reader should look at first."""

import difflib
import re
from collections.abc import Iterable, Sequence

Marked = list[tuple[str, bool]]  # Runs of text in order; True where the run differs from the twin's caption.


def mark_captions(
    captions_0: Sequence[str], captions_1: Sequence[str], words: Iterable[str]
) -> tuple[list[Marked], list[Marked]]:
    """Each caption against the nearest caption of the other side.

    "a red mug and a blue car" is as near to "a blue mug and a red car" as to "a red car and a blue mug"; then the
    one whose difference consists of `words` is chosen, so that the colours are marked and not the nouns.
    """
    facts = {word for phrase in words for word in _words(phrase)}
    return (
        [_mark(caption, captions_1, facts) for caption in captions_0],
        [_mark(caption, captions_0, facts) for caption in captions_1],
    )


def fact_words(kind: str, value_0: str, value_1: str) -> tuple[str, ...]:
    """The words of a fact: of "red mug, blue car" the values alone, of relations and presence all of them."""
    if kind in ("colour", "size"):
        return tuple(part.split()[0] for value in (value_0, value_1) for part in value.split(",") if part.strip())
    return value_0, value_1


def _mark(caption: str, others: Sequence[str], facts: set[str]) -> Marked:
    if not others:
        return [(caption, False)]
    tokens = re.findall(r"\s+|[^\s]+", caption)
    differing = min((_differing(tokens, other) for other in others), key=lambda found: _cost(tokens, found, facts))
    runs: Marked = []
    for index, token in enumerate(tokens):
        # A space between two differing words belongs to them.
        space = token.isspace() and {index - 1, index + 1} <= differing
        changed = index in differing or space
        if runs and runs[-1][1] == changed:
            runs[-1] = (runs[-1][0] + token, changed)
        else:
            runs.append((token, changed))
    return runs


def _differing(tokens: list[str], other: str) -> set[int]:
    """Places of the words of `tokens` that `other` lacks there."""
    places = [index for index, token in enumerate(tokens) if not token.isspace()]
    words = [_bare(tokens[index]) for index in places]
    matcher = difflib.SequenceMatcher(None, words, _words(other), autojunk=False)
    kept = {place for block in matcher.get_matching_blocks() for place in range(block.a, block.a + block.size)}
    return {place for number, place in enumerate(places) if number not in kept}


def _cost(tokens: list[str], differing: set[int], facts: set[str]) -> tuple[int, int]:
    beside = sum(_bare(tokens[place]) not in facts for place in differing)
    return len(differing), beside


def _words(text: str) -> list[str]:
    return [_bare(word) for word in text.split()]


def _bare(word: str) -> str:
    return word.strip(".,;:!?\"'").lower()
