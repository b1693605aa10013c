"""The blind learner: a logistic regression that chooses between two options, and is only asked about pairs to come.

Every question has one form: here are two options, which is true? A learner that sees no more than some features of
each is trained on the differences, true minus false, without an intercept: no option is the first one.
Pairs are shuffled and cut into blocks; each block is answered by a model of the blocks before it (forward
chaining, the cross-validation in which an answer depends on nothing that is asked later). Where nothing tells the
options apart each answer is then a fair toss whatever was seen before, and the sign test over pairs is exact; answers
of ordinary k-fold cross-validation depend on each other through the folds that they share.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.audit.figures import Finding, accuracy
from generator.errors import DependencyError
from generator.rng import stream

BLOCKS = 6
# Strength of the prior towards "nothing tells" (smaller is stronger), for features of unit variance and for counts.
REGULARISATION = 0.3
# Features named in a finding, and how far a weight must stand out to be named (share of the largest).
NAMED, STANDS_OUT = 4, 0.3
CLIP = 5.0

Matrix = Any  # scipy CSR matrix (rows, features)
Floats = NDArray[np.float64]


def require() -> None:
    """Raises DependencyError where scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401 - asked for, so that the error comes before minutes of reading
    except ImportError as error:
        raise DependencyError("audit needs scikit-learn; run: pip install -e '.[audit]'") from error


@dataclass(frozen=True)
class Question:
    """rows (R, d): features of the true option minus those of the false one; pair (R,): which pair a row asks about;
    names (d,) of the features."""

    rows: Matrix
    pair: NDArray[np.int64]
    names: Sequence[str]


def ask(question: Question, seed: int) -> Finding:
    """How often the learner is right on pairs that it has not seen, and by which features."""
    from scipy import sparse

    rows = sparse.csr_matrix(question.rows)
    numbers, pair = np.unique(question.pair, return_inverse=True)
    order = stream(seed, "audit", "blocks").permutation(len(numbers))
    block_of = np.empty(len(numbers), np.int64)
    for number, members in enumerate(np.array_split(order, BLOCKS)):
        block_of[members] = number
    block = block_of[pair]  # (R,)
    scores = np.zeros(len(numbers))
    weights = np.zeros(rows.shape[1])
    for number in range(1, BLOCKS):
        weights = _fit(rows[block < number])
        margins = rows[block == number] @ weights
        right = np.where(np.abs(margins) < 1e-12, 0.5, margins > 0)
        np.add.at(scores, pair[block == number], right)
    asked = block_of > 0
    return accuracy(scores[asked] / np.bincount(pair)[asked], _most_telling(weights, question.names))


def interact(options: Matrix, features: Floats) -> Matrix:
    """(R, t) what the options say and (R, f) what is seen, as their products (R, t * f): a weight for each of both."""
    from scipy import sparse

    said = sparse.coo_matrix(options)
    count, width = len(said.row), features.shape[1]
    # A row for everything said, with what is seen moved to the columns of what is said; then added up by row.
    seen = sparse.csr_matrix(sparse.diags(said.data) @ sparse.csr_matrix(features)[said.row])
    columns = seen.indices.astype(np.int64) + np.repeat(said.col.astype(np.int64) * width, np.diff(seen.indptr))
    wide = sparse.csr_matrix((seen.data, columns, seen.indptr), (count, said.shape[1] * width))
    adding = sparse.csr_matrix((np.ones(count), (said.row, np.arange(count))), (said.shape[0], count))
    return sparse.csr_matrix(adding @ wide)


def standardised(features: Floats) -> Floats:
    """(R, f) with mean 0 and variance 1; constant columns become 0, and nothing is further out than CLIP."""
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)
    clipped: Floats = np.clip(np.where(spread > 1e-9, scaled, 0.0), -CLIP, CLIP)
    return clipped


def scaled(differences: Floats) -> Floats:
    """(R, f) differences with mean square 1: not centred, since their mean is what may tell."""
    size = np.sqrt(np.square(differences).mean(axis=0))
    clipped: Floats = np.clip(differences / np.where(size > 1e-9, size, 1.0), -CLIP, CLIP)
    return clipped


def _fit(rows: Matrix) -> Floats:
    """Weights (d,) of the model that prefers true to false; zero where there is nothing to learn from."""
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression

    rows = rows[np.diff(rows.indptr) > 0]
    if rows.shape[0] < 2:
        return np.zeros(rows.shape[1])
    # The library wants two classes. Turning a row round is the same question asked the other way.
    label = np.arange(rows.shape[0]) % 2
    model = LogisticRegression(C=REGULARISATION, fit_intercept=False, solver="liblinear", tol=1e-3)
    model.fit(sparse.csr_matrix(sparse.diags(2.0 * label - 1.0) @ rows), label)
    return np.asarray(model.coef_[0], np.float64)


def _most_telling(weights: Floats, names: Sequence[str]) -> str:
    if not len(weights) or not np.abs(weights).max():
        return ""
    strongest = [int(place) for place in np.argsort(-np.abs(weights), kind="stable")[:NAMED]]
    kept = [place for place in strongest if abs(weights[place]) >= STANDS_OUT * abs(weights[strongest[0]])]
    return "most telling: " + ", ".join(f"{names[place]} ({'+' if weights[place] > 0 else '−'})" for place in kept)
