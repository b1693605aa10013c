"""Scores of pairs: every image of a pair against its four captions.

Shapes: P pairs; scores are (P, 2 images, 2 sides, 2 caption versions).
"""

import numpy as np
import torch
from numpy.typing import NDArray

from scorer.bank import Bank
from scorer.errors import DataError
from scorer.models import ImageTokens, Scorer, TextTokens

CHUNK = 32  # pairs whose features are read at once


@torch.inference_mode()
def score_pairs(scorer: Scorer, bank: Bank, mean_image: torch.Tensor | None = None) -> NDArray[np.float32]:
    """The scores of all pairs, NaN where there is no second image. DataError when a score is not a number.

    mean_image: (I, D) tokens to put in the place of every image: what the scorer answers without seeing one.
    """
    scorer.eval()
    out = np.full((len(bank.pairs), 2, 2, 2), np.nan, dtype=np.float32)
    for start in range(0, len(bank.pairs), CHUNK):
        stop = min(start + CHUNK, len(bank.pairs))
        rows = bank.image_rows[start:stop]
        tokens = bank.images.gather(rows.clamp(min=0).flatten())
        images = tokens.view(len(rows), 2, *tokens.shape[1:])
        texts = bank.text_tokens(bank.text_rows[start:stop].flatten())
        if mean_image is not None:
            images = mean_image.expand_as(images)
        parts = []
        for i in range(stop - start):
            four = slice(4 * i, 4 * i + 4)
            text = TextTokens(texts.tokens[four], texts.eos[four], texts.marks[four])
            parts.append(scorer(ImageTokens(images[i]), text).view(2, 2, 2))
        scores = torch.stack(parts).float().cpu().numpy()
        present = (rows >= 0).numpy()
        if not np.isfinite(scores[present]).all():
            bad = bank.pairs[start + int(np.argwhere(~np.isfinite(scores) & present[..., None, None])[0][0])].key
            raise DataError(f"{bad}: the score is not a number; the checkpoint or a cached feature is damaged")
        out[start:stop][present] = scores[present]
    return out


def caption_accuracy(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """The paper's 2-way choice by pair, (P,): share of (image, version) whose own caption scores strictly higher."""
    own = np.stack([scores[:, 0, 0], scores[:, 1, 1]], axis=1)
    other = np.stack([scores[:, 0, 1], scores[:, 1, 0]], axis=1)
    correct = np.where(np.isnan(own), np.nan, own > other)
    accuracy: NDArray[np.float64] = np.nanmean(correct, axis=(1, 2))
    return accuracy
