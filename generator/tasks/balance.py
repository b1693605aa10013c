"""Balance by construction: within each block of indices every noun, word pair or option comes up equally often.

A block is a shuffled round through all options, and belongs to its number alone, so any pair can be planned without
planning those before it, and a short run is a prefix of a long one.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from generator.errors import AssetError
from generator.rng import stream
from generator.vocabulary import Nouns

T = TypeVar("T")
Table = NDArray[np.bool_]  # (n, n): which nouns clash
Places = NDArray[np.int64]  # (n,) or (roles,): numbers of nouns
# Rounds of swaps before a column is left as good as it got, and fresh starts when that was not good enough.
ROUNDS, TRIALS = 60, 10


def turn(seed: int, task: str, what: str, options: Sequence[T], index: int) -> T:
    """The option whose turn it is at `index`: each comes once in every len(options) consecutive indices of a block."""
    block, place = divmod(index, len(options))
    return options[_order(seed, task, what, len(options), block)[place]]


def cast(seed: int, task: str, nouns: tuple[str, ...], grammar: Nouns, roles: int, index: int) -> tuple[str, ...]:
    """`roles` nouns for pair `index`, none of which clashes with another.

    In each block of len(nouns) pairs every noun plays every role once. Raises AssetError where no such nouns exist.
    """
    block, place = divmod(index, len(nouns))
    return _block(seed, task, nouns, grammar, roles, block)[place]


@lru_cache(maxsize=32)
def clashes(nouns: tuple[str, ...], grammar: Nouns) -> Table:
    """(n, n): which nouns must not meet; the diagonal is True."""
    table = np.eye(len(nouns), dtype=bool)
    for i, one in enumerate(nouns):
        for j in range(i):
            table[i, j] = table[j, i] = grammar.clash(one, nouns[j])
    return table


@lru_cache(maxsize=256)
def _order(seed: int, task: str, what: str, count: int, block: int) -> tuple[int, ...]:
    return tuple(stream(seed, task, what, block).permutation(count).tolist())


@lru_cache(maxsize=64)
def _block(
    seed: int, task: str, nouns: tuple[str, ...], grammar: Nouns, roles: int, block: int
) -> tuple[tuple[str, ...], ...]:
    table = clashes(nouns, grammar)
    rng = stream(seed, task, "nouns", block)
    for _ in range(TRIALS):
        columns = [rng.permutation(len(nouns))]
        for _ in range(roles - 1):
            columns.append(_matching(rng, table, columns))
        rows = np.stack(columns, axis=1)  # (n, roles)
        if not any(_clashing(table, row) for row in rows):
            break
    for place, row in enumerate(rows):
        if _clashing(table, row):
            # No balanced arrangement was found for this place: any nouns that get on with each other.
            rows[place] = _any_cast(rng, table, roles)
    return tuple(tuple(nouns[number] for number in row) for row in rows)


def _matching(rng: np.random.Generator, table: Table, columns: list[Places]) -> Places:
    """A permutation that clashes with none of the columns, by swapping away what clashes; as good as was found."""
    column = rng.permutation(len(table))
    for _ in range(ROUNDS):
        bad = np.zeros(len(table), dtype=bool)
        for other in columns:
            bad |= table[column, other]
        places = np.flatnonzero(bad)
        if not len(places):
            break
        for place in places:
            # Where both would be content after a swap, swap; else shake things up at random.
            content = np.ones(len(table), dtype=bool)
            for other in columns:
                content &= ~table[column, other[place]] & ~table[column[place], other]
            options = np.flatnonzero(content)
            partner = int(rng.choice(options)) if len(options) else int(rng.integers(len(table)))
            column[[place, partner]] = column[[partner, place]]
    return column


def _clashing(table: Table, row: Places) -> bool:
    return bool(table[np.ix_(row, row)].sum() > len(row))


def _any_cast(rng: np.random.Generator, table: Table, roles: int) -> Places:
    """Nouns that do not clash, by a random search that backtracks; AssetError where there are none."""

    def extend(chosen: list[int]) -> list[int] | None:
        if len(chosen) == roles:
            return chosen
        free = np.flatnonzero(~table[chosen].any(axis=0)) if chosen else np.arange(len(table))
        for number in rng.permutation(free):
            if found := extend([*chosen, int(number)]):
                return found
        return None

    found = extend([])
    if found is None:
        raise AssetError(
            f"the task needs {roles} nouns that cannot be confused with each other, "
            f"and no {roles} of the {len(table)} nouns here are so: add assets of other nouns"
        )
    return np.array(found)
