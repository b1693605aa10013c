"""The interface every scorer has: image tokens and text tokens in, a matrix of scores out.

Shapes: B images, L texts, T text tokens, I image tokens, D joint dimensions, R functional rows.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from scorer.configs import ModelConfig
from scorer.dcsm import cosine_maps, insert_rows, z_score
from scorer.features import TowerShape
from scorer.functional import occurrences


@dataclass(frozen=True, slots=True)
class ImageTokens:
    """Unit tokens (B, I, D); row 0 is the tower's pooled embedding."""

    tokens: Tensor

    @property
    def pooled(self) -> Tensor:
        return self.tokens[:, 0]


@dataclass(frozen=True, slots=True)
class TextTokens:
    """Unit tokens (L, T, D), the row of each pooled embedding (L,), and the functional rows (L, T) int16, -1 for none.

    marks stay on the CPU: finding the marked places there spares a device the wait.
    """

    tokens: Tensor
    eos: Tensor
    marks: Tensor

    @property
    def pooled(self) -> Tensor:
        return self.tokens[torch.arange(len(self.tokens), device=self.tokens.device), self.eos]


class Scorer(nn.Module, ABC):
    """A scorer of images against texts. Its constructor takes (shape, config, functional table, logit scale)."""

    def __init__(self, shape: TowerShape, config: ModelConfig, table: Tensor, logit_scale: float) -> None:
        super().__init__()
        self.shape = shape
        self.config = config
        # Kept by every scorer, so that a checkpoint always says which rows its texts were marked with.
        self.register_buffer("table", table)
        self.register_buffer("clip_scale", torch.tensor(logit_scale))
        self.table: Tensor
        self.clip_scale: Tensor

    @abstractmethod
    def forward(self, images: ImageTokens, texts: TextTokens) -> Tensor:
        """Scores (B, L); higher means that the text fits the image better."""


class MapScorer(Scorer):
    """A scorer that reads dense cosine similarity maps."""

    def maps(self, images: ImageTokens, texts: TextTokens) -> Tensor:
        """The maps as the network sees them, (B, L, T, I): functional rows written, z-scored.

        In float32 also under autocast: the differences between cosines are what the network reads.
        """
        device = images.tokens.device
        text, token, row = (part.to(device, non_blocking=True) for part in occurrences(texts.marks))
        with torch.autocast(device.type, enabled=False):
            maps = insert_rows(cosine_maps(images.tokens, texts.tokens), self.table, text, token, row)
            return z_score(maps, self.config.z_score)

    def forward(self, images: ImageTokens, texts: TextTokens) -> Tensor:
        maps = self.maps(images, texts)
        return self.score_maps(maps.flatten(0, 1)).view(maps.shape[:2])

    @abstractmethod
    def score_maps(self, maps: Tensor) -> Tensor:
        """Maps (N, T, I) -> scores (N,)."""
