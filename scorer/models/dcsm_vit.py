"""An ablation (C.1): a comparably small ViT over the map, patch size 2, two layers of four heads."""

from typing import Any

import torch
from torch import Tensor, nn

from scorer.models.base import MapScorer


class DcsmVit(MapScorer):
    """A transformer encoder over 2x2 patches of the map, scored from a class token."""

    PATCH, LAYERS, HEADS = 2, 2, 4

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        width = self.config.hidden
        rows, columns = -(-self.shape.text_tokens // self.PATCH), -(-self.shape.image_tokens // self.PATCH)
        self.patch = nn.Conv2d(1, width, self.PATCH, stride=self.PATCH)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.randn(1, 1 + rows * columns, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, self.HEADS, 2 * width, self.config.dropout, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, self.LAYERS, enable_nested_tensor=False)
        self.out = nn.Linear(width, 1)

    def score_maps(self, maps: Tensor) -> Tensor:
        odd = (0, maps.shape[2] % self.PATCH, 0, maps.shape[1] % self.PATCH)
        patches = self.patch(nn.functional.pad(maps, odd)[:, None]).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(maps), -1, -1).to(patches.dtype), patches], dim=1) + self.position
        scores: Tensor = self.out(self.encoder(x)[:, 0])
        return scores[:, 0]
