"""Leakage between splits: what is in two of them that must not be, and what a memory of the training captions is worth.

What a run promises is what --split-by says: nothing but the pairs, or that no asset, or no noun, is in two splits.
No photograph ever is, and no captions may be remembered to advantage.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from generator.audit.figures import Finding, Table, accuracy, share
from generator.audit.sampling import Group, Holdings, splits_of

SHOWN = 5


def photos(holdings: Holdings) -> Finding | None:
    """Photographs in two splits. None where there are none."""
    return _shared(holdings, holdings.photos, "photograph", True)


def assets(holdings: Holdings) -> Finding | None:
    """Assets in two splits: a fault where the run promises otherwise."""
    return _shared(holdings, holdings.assets, "asset", holdings.promise in ("asset", "noun"))


def nouns(holdings: Holdings) -> Finding | None:
    """Nouns in two splits: a fault where the run promises otherwise."""
    return _shared(holdings, holdings.nouns, "noun", holdings.promise == "noun")


def backgrounds(holdings: Holdings) -> Finding | None:
    """Backgrounds in two splits: no run promises that there are none."""
    return _shared(holdings, holdings.backgrounds, "background", False)


def remembered_captions(group: Group, seed: int) -> Finding | None:
    """Captions that the training split has word for word: is what was true there true here? None without such a split.

    About image 0, as all questions to captions alone; a caption that training never saw is a toss.
    """
    del seed
    votes: Counter[str] = Counter()
    for pair in group.pairs:
        if pair.record.split == "train":
            votes.update(pair.record.captions_0)
            votes.subtract(pair.record.captions_1)
    asked = [pair.record for pair in group.pairs if pair.record.split != "train"]
    if not votes or not asked:
        return None
    sums = [
        sum(votes[text] for text in record.captions_0) - sum(votes[text] for text in record.captions_1)
        for record in asked
    ]
    known = sum(any(text in votes for text in (*record.captions_0, *record.captions_1)) for record in asked)
    return accuracy((np.sign(sums) + 1) / 2, f"training has the captions of {known} of {len(asked)} pairs")


def _shared(holdings: Holdings, held: Mapping[str, Counter[str]], what: str, promised: bool) -> Finding | None:
    splits = splits_of(holdings)
    everything = {name for split in splits for name in held.get(split, ())}
    if not everything or len(splits) < 2:
        return None
    shared = sorted(name for name in everything if sum(name in held.get(split, ()) for split in splits) > 1)
    rows = [(split, str(len(held.get(split, ()))), str(holdings.pairs[split])) for split in splits]
    detail = f"{len(shared)} of {len(everything)} {what}s are in two splits"
    if shared and promised:
        detail += f": {', '.join(shared[:SHOWN])}{' ...' if len(shared) > SHOWN else ''}"
    elif shared:
        detail += ", as the run was made (--split-by pair)" if what in ("asset", "noun") else ", as the run was made"
    table = Table(("split", f"{what}s", "pairs"), tuple(rows))
    return share(len(everything) - len(shared), len(everything), detail, bool(shared) and promised, table)
