"""Baselines that see the pooled embeddings alone (C.1): CLIP's cosine, an MLP, and fine-tuned projections."""

from typing import Any

import torch
from torch import Tensor, nn

from scorer.models.base import ImageTokens, Scorer, TextTokens


class Cosine(Scorer):
    """Plain CLIP: its own temperature times the cosine of the pooled embeddings. Nothing to train."""

    def forward(self, images: ImageTokens, texts: TextTokens) -> Tensor:
        return self.clip_scale * (images.pooled @ texts.pooled.t())


class PooledMlp(Scorer):
    """An MLP over the concatenated pooled embeddings."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # The two halves of one linear layer over the concatenation, so that each image and text passes it once.
        self.image = nn.Linear(self.shape.width, self.config.hidden)
        self.text = nn.Linear(self.shape.width, self.config.hidden, bias=False)
        self.dropout = nn.Dropout(self.config.dropout)
        self.out = nn.Linear(self.config.hidden, 1)

    def forward(self, images: ImageTokens, texts: TextTokens) -> Tensor:
        hidden = self.image(images.pooled)[:, None] + self.text(texts.pooled)[None]
        scores: Tensor = self.out(self.dropout(hidden.relu()))
        return scores[..., 0]


class Projections(Scorer):
    """CLIP with fine-tuned projections: one linear map per side on the projected embeddings, starting as CLIP itself.

    The towers stay frozen and cached, so the map is a square one behind CLIP's own projection.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.image = nn.Linear(self.shape.width, self.shape.width, bias=False)
        self.text = nn.Linear(self.shape.width, self.shape.width, bias=False)
        with torch.no_grad():
            self.image.weight.copy_(torch.eye(self.shape.width))
            self.text.weight.copy_(torch.eye(self.shape.width))
        self.log_scale = nn.Parameter(self.clip_scale.log())

    def forward(self, images: ImageTokens, texts: TextTokens) -> Tensor:
        image = nn.functional.normalize(self.image(images.pooled).float(), dim=-1)
        text = nn.functional.normalize(self.text(texts.pooled).float(), dim=-1)
        return self.log_scale.exp() * (image @ text.t())
