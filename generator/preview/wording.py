"""Which words of a caption carry the fact that differs: what a reader should look at first."""

import difflib
import re
from collections.abc import Collection, Iterable, Sequence

Marked = list[tuple[str, bool]]  # Runs of text in order; True where the run differs from the twin's caption.


def mark_captions(
    captions_0: Sequence[str], captions_1: Sequence[str], words: Iterable[str]
) -> tuple[list[Marked], list[Marked]]:
    """Each caption against the nearest caption of the other side; `words` of the fact (`fact_words`) always count.

    Without them "a red mug and a blue car" would be as near to "a red car and a blue mug" as to "a blue mug and a red
    car", and the nouns would be marked instead of the colours.
    """
    facts = {_bare(word) for word in words}
    return (
        [_mark(caption, captions_1, facts) for caption in captions_0],
        [_mark(caption, captions_0, facts) for caption in captions_1],
    )


def fact_words(kind: str, value_0: str, value_1: str) -> set[str]:
    """The words that a fact is about: the values of "red mug, blue car", the nouns that only one side shows.

    A relation needs none: its captions differ in nothing else.
    """
    sides = [[part.strip() for part in value.split(",") if part.strip()] for value in (value_0, value_1)]
    if kind in ("colour", "size"):
        return {part.split()[0] for side in sides for part in side}
    if kind == "presence":
        return {word for noun in set(sides[0]) ^ set(sides[1]) for word in noun.split()}
    return set()


def _mark(caption: str, others: Sequence[str], facts: Collection[str]) -> Marked:
    if not others:
        return [(caption, False)]
    tokens = re.findall(r"\s+|[^\s]+", caption)
    differing = min((_differing(tokens, other, facts) for other in others), key=len)
    runs: Marked = []
    for index, token in enumerate(tokens):
        # A space between two differing words belongs to them.
        changed = index in differing or (token.isspace() and {index - 1, index + 1} <= differing)
        if runs and runs[-1][1] == changed:
            runs[-1] = (runs[-1][0] + token, changed)
        else:
            runs.append((token, changed))
    return runs


def _differing(tokens: list[str], other: str, facts: Collection[str]) -> set[int]:
    """Places of the words of `tokens` that `other` lacks there, and of all that the fact is about."""
    places = [index for index, token in enumerate(tokens) if not token.isspace()]
    here = [_bare(tokens[index]) for index in places]
    # Words of the fact stand for themselves alone: each gets a mark of its own that nothing matches.
    ours = [(word, 0) if word in facts else (word,) for word in here]
    theirs = [(word, 1) if word in facts else (word,) for word in map(_bare, other.split())]
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    kept = {place for block in matcher.get_matching_blocks() for place in range(block.a, block.a + block.size)}
    return {place for number, place in enumerate(places) if number not in kept}


def _bare(word: str) -> str:
    """The word as it is compared: "a" becomes "an" before some words, which says nothing of the fact."""
    bare = word.strip(".,;:!?\"'").lower()
    return "a" if bare == "an" else bare
