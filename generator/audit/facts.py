"""The fact that differs, as a learner can be asked about it: what each side says, piece by piece."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.audit.sampling import Group, Pair
from generator.records import PairRecord


def pieces(record: PairRecord, side: int) -> tuple[str, ...]:
    """What holds of image `side`: ("A left of B",), ("A red", "B blue"), the nouns only it shows; () for clauses."""
    values = (record.fact.value_0, record.fact.value_1)
    if record.task == "swap_noun":
        return ()
    if record.fact.kind == "relation":
        return (f"A {values[side]} B",)
    parts = [[part.strip() for part in value.split(",")] for value in values]
    if record.fact.kind == "presence":
        return tuple(noun for noun in parts[side] if noun not in parts[1 - side])
    objects = record.objects_0
    if len(parts[side]) != len(objects):
        return ()
    return tuple(
        f"{item.role} {part.removesuffix(item.noun).strip()}" for item, part in zip(objects, parts[side], strict=True)
    )


def is_about_looks(record: PairRecord) -> bool:
    """Whether an image by itself must not tell the fact: it tells which nouns are there, and that is no shortcut."""
    return record.fact.kind != "presence" and bool(pieces(record, 0))


def options(pairs: Sequence[Pair], sides: Sequence[int]) -> tuple[Any, list[str], NDArray[np.int64]]:
    """For every pair and each of `sides`: +1 for what is true there, -1 for what is true of its twin.

    (len(sides) * n, t) sparse, the t pieces, and the pair of each row; all rows of one side, then those of the other.
    """
    from scipy import sparse

    said = [(pieces(pair.record, 0), pieces(pair.record, 1)) for pair in pairs]
    names = sorted({name for both in said for side in both for name in side})
    number = {name: place for place, name in enumerate(names)}
    rows, columns, values = [], [], []
    for turn, side in enumerate(sides):
        for place, both in enumerate(said):
            for sign, held in ((1.0, both[side]), (-1.0, both[1 - side])):
                for name in held:
                    rows.append(turn * len(pairs) + place)
                    columns.append(number[name])
                    values.append(sign)
    shape = (len(sides) * len(pairs), max(1, len(names)))
    matrix = sparse.csr_matrix((values, (rows, columns)), shape)
    return matrix, names, np.tile(np.arange(len(pairs)), len(sides))


def about_looks(group: Group) -> list[Pair]:
    """The pairs of a group whose fact an image alone must not tell."""
    return [pair for pair in group.pairs if is_about_looks(pair.record)]
