"""What captions alone give away: which of captions_0 and captions_1 is true of image 0, by words, letters or length.

Over both images the answer is a toss by construction, since what is true of one is false of the other; so the
question is about image 0. Every true caption is set against every false one, since nobody knows how a pair is used; and
where the first two, or the second two, are set against each other the learner knows it, since an evaluation that takes
captions_0[0] and captions_1[0] is given away by a word that stands in all first captions.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

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
    return ask(_question(scaled(_true_minus_false(lengths)), ("words", "characters")), seed)


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
        counts = counter.fit_transform(texts)
    except ValueError:  # No word occurs twice: nothing can be learnt.
        return ask(_question(np.zeros((len(texts), 1)), ("",)), seed)
    return ask(_question(_true_minus_false(counts), [repr(name) for name in counter.get_feature_names_out()]), seed)


def _sides(group: Group) -> list[tuple[str, str]]:
    """captions_0 and captions_1 of every pair in turn."""
    return [side for pair in group.pairs for side in (pair.record.captions_0, pair.record.captions_1)]


def _true_minus_false(features: Matrix) -> Matrix:
    """(4 n, d) of P1, P2, N1, N2 of each pair as (4 n, d) differences: all P1 - N1, P2 - N2, P1 - N2, then P2 - N1."""
    starts = np.arange(0, features.shape[0], 4)
    true = np.concatenate([starts + offset for offset in (0, 1, 0, 1)])
    false = np.concatenate([starts + offset for offset in (2, 3, 3, 2)])
    return features[true] - features[false]


def _question(differences: Matrix, names: Sequence[str]) -> Question:
    """(4 n, d) as above, and again beside them for first captions alone and for second captions alone."""
    from scipy import sparse

    rows = sparse.csr_matrix(differences)
    n, d = rows.shape[0] // 4, rows.shape[1]
    first = sparse.vstack([rows[:n], sparse.csr_matrix((3 * n, d))])
    second = sparse.vstack([sparse.csr_matrix((n, d)), rows[n : 2 * n], sparse.csr_matrix((2 * n, d))])
    ranks = [f"{name}{where}" for where in ("", " in first captions", " in second captions") for name in names]
    return Question(sparse.hstack([rows, first, second]).tocsr(), np.tile(np.arange(n), 4), ranks)
