"""Plain CLIP on pairs: the cosine of whole captions in single precision, as open_clip has it.

Shapes: P pairs, L distinct captions, D joint dimensions; scores are (P, 2 images, 2 sides, 2 caption versions).
"""

import sys
from pathlib import Path

import numpy as np
import torch

from scorer.bank import Bank, Progress, first_alike
from scorer.benchmarks.base import Picture
from scorer.benchmarks.towers import Towers
from scorer.data import ImageReader
from scorer.features import Clip
from scorer.metrics import Scores
from scorer.predict import CHUNK


def plain_scores(bank: Bank, clip: Clip, cache: Path, progress: Progress) -> Scores:
    """The cosines of all pairs, NaN where there is no second image.

    A run's own features will not do: they are half as precise, and of captions cut to the rows of its maps.
    """
    towers, reader = Towers(clip.cut_to(sys.maxsize), cache, progress), ImageReader()
    present = [(number, side) for number, side in (bank.image_rows >= 0).nonzero().tolist()]
    pictures = [Picture(bank.shards[i], member=reader.place(bank.shards[i], bank.pairs[i].key, k)) for i, k in present]
    towers.load_images(pictures)
    towers.load_texts(bank.captions)
    ids = towers.clip.tokenize(bank.captions)[0]
    first = first_alike(ids, ids[:, :0])
    row_of = dict(zip(bank.captions, first.tolist(), strict=True))
    rows = torch.tensor([[[row_of[t] for t in side] for side in (p.captions_0, p.captions_1)] for p in bank.pairs])
    images, texts = towers.pooled_images(pictures), towers.pooled_texts(bank.captions)
    out = np.full((len(bank.pairs), 2, 2, 2), np.nan, dtype=np.float32)
    for start in range(0, len(present), CHUNK):
        pairs, sides = (list(part) for part in zip(*present[start : start + CHUNK], strict=True))
        # Not a matrix product: its rounding may differ between equal columns, which would decide a tie.
        cosines = (images[start : start + CHUNK, None, None] * texts[rows[pairs]]).sum(dim=-1)
        out[pairs, sides] = cosines.cpu().numpy()
    return out
