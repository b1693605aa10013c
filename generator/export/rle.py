"""COCO's run-length code of masks, as pycocotools packs it into text."""

import numpy as np
from numpy.typing import NDArray


def encode(mask: NDArray[np.bool_]) -> str:
    """(H, W) bool as the `counts` of a compressed RLE: runs down the columns, beginning with one of zeros.

    Each count but the first three is the difference to the one two before, in base 32, lowest digits first; bit 5 says
    that more follow, bit 4 of the last is the sign; 48 is added to make letters.
    """
    flat = mask.ravel(order="F")
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    edges = np.concatenate([[0], changes, [flat.size]])
    counts = np.diff(edges).tolist()
    if flat.size and flat[0]:
        counts.insert(0, 0)
    letters: list[str] = []
    for place, count in enumerate(counts):
        value = count - counts[place - 2] if place > 2 else count
        more = True
        while more:
            digit = value & 31
            value >>= 5
            more = value != (-1 if digit & 16 else 0)
            letters.append(chr((digit | 32 if more else digit) + 48))
    return "".join(letters)
