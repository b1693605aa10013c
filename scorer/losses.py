"""The training objective: symmetric cross-entropy over a matrix of scores (B.3), without false negatives."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def symmetric_cross_entropy(
    scores_BL: Tensor, own_text_B: Tensor, own_image_L: Tensor, maybe_true_BL: Tensor
) -> Tensor:
    """Mean of the image-to-text and the text-to-image cross-entropy, a scalar.

    own_text_B: the text that belongs to each image. own_image_L: the image of each text, -1 where it has none (a pair
    without a second image); such a text is a negative only. maybe_true_BL: texts that may be true of an image they do
    not belong to; neither side may push them apart, so they are left out of both normalisations.
    """
    scores = scores_BL.float().masked_fill(maybe_true_BL, float("-inf"))
    to_text = cross_entropy(scores, own_text_B)
    to_image = cross_entropy(scores.t(), own_image_L, ignore_index=-1)
    return (to_text + to_image) / 2


def twin_accuracy(scores_BL: Tensor, own_text_B: Tensor, twin_text_B: Tensor) -> Tensor:
    """Share of images that score their own caption strictly above their twin's, a scalar."""
    images = torch.arange(len(scores_BL), device=scores_BL.device)
    return (scores_BL[images, own_text_B] > scores_BL[images, twin_text_B]).float().mean()
