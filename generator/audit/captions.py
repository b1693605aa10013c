"""What captions alone give away: which of captions_0 and captions_1 is true of image 0, by words, letters or length.

Over both images the answer is a toss by construction, since what is true of one is false of the other; so the
question is about image 0. Every true caption is set against every false one, since nobody knows how a pair is used.
"""

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from generator.audit.figures import CHANCE, Finding, Table, wilson
from generator.audit.learn import Matrix, Question, ask, scaled
from generator.audit.sampling import Group

MAX_FEATURES = 20000
WORD = r"[^\s.,;:!?]+"
SHOWN = 8


def words(group: Group, seed: int) -> Finding:
    """Bag of words."""
    return _counted(group, seed, "word", (1, 1))


def word_ngrams(group: Group, seed: int) -> Finding:
    """One to three words in a row, beginning and end included."""
    return _counted(group, seed, "word", (1, 3))


def characters(group: Group, seed: int) -> Finding:
    """Two to five characters in a row."""
    return _counted(group, seed, "char", (2, 5))


def length(group: Group, seed: int) -> Finding:
    """Number of words and of characters."""
    lengths = np.array(
        [[len(text.split()), len(text)] for side in _sides(group) for text in side], np.float64
    )  # (4 n, 2)
    rows, pair = _true_minus_false(lengths)
    return ask(Question(scaled(rows), pair, ("words", "characters")), seed)


def single_word(group: Group, seed: int) -> Finding:
    """The word that tells most by being there or not. Nothing is learnt: its p counts how many words were tried."""
    del seed
    from scipy.stats import binomtest

    wins: Counter[str] = Counter()
    losses: Counter[str] = Counter()
    for pair in group.pairs:
        true, false = (
            Counter(word for text in side for word in re.findall(WORD, text.lower()))
            for side in (pair.record.captions_0, pair.record.captions_1)
        )
        wins.update((true - false).keys())
        losses.update((false - true).keys())
    n = len(group.pairs)
    counted = sorted(set(wins) | set(losses), key=lambda word: (-abs(wins[word] - losses[word]), word))
    if not counted:
        return Finding(CHANCE, *wilson(CHANCE, n), n, 1.0, "true and false captions are made of the same words")
    tests = {word: float(binomtest(wins[word], wins[word] + losses[word]).pvalue) for word in counted}
    best = min(counted, key=lambda word: tests[word])
    figure = CHANCE + abs(wins[best] - losses[best]) / (2 * n)
    table = Table(
        ("word", "more in true captions", "more in false ones"),
        tuple((word, str(wins[word]), str(losses[word])) for word in sorted(counted, key=lambda w: tests[w])[:SHOWN]),
    )
    detail = f"{best!r}: in {wins[best]} pairs it speaks for the caption, in {losses[best]} against it"
    return Finding(figure, *wilson(figure, n), n, min(1.0, tests[best] * len(counted)), detail, table=table)


def _counted(group: Group, seed: int, analyzer: str, ngrams: tuple[int, int]) -> Finding:
    from sklearn.feature_extraction.text import CountVectorizer

    # What stands first and last is a feature too.
    texts = [f"⊢ {text} ⊣" for side in _sides(group) for text in side]
    pattern = WORD if analyzer == "word" else None
    counter = CountVectorizer(
        analyzer=analyzer, ngram_range=ngrams, token_pattern=pattern, min_df=2, max_features=MAX_FEATURES
    )
    try:
        rows, pair = _true_minus_false(counter.fit_transform(texts))
    except ValueError:  # No word occurs twice.
        rows, pair = np.zeros((len(group.pairs), 1)), np.arange(len(group.pairs))
        return ask(Question(rows, pair, ("",)), seed)
    return ask(Question(rows, pair, [repr(name) for name in counter.get_feature_names_out()]), seed)


def _sides(group: Group) -> list[tuple[str, str]]:
    """captions_0 and captions_1 of every pair in turn."""
    return [side for pair in group.pairs for side in (pair.record.captions_0, pair.record.captions_1)]


def _true_minus_false(features: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
    """(4 n, d) features of P1, P2, N1, N2 as (4 n, d) differences of each P with each N, and the pair of each."""
    starts = np.arange(0, features.shape[0], 4)
    true = np.concatenate([starts + offset for offset in (0, 0, 1, 1)])
    false = np.concatenate([starts + offset for offset in (2, 3, 2, 3)])
    return features[true] - features[false], np.tile(np.arange(len(starts)), 4)
