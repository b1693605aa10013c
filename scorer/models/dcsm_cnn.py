"""The paper's scorer: a lightweight CNN over the map (B.1)."""

from typing import Any

import torch
from torch import Tensor, nn

from scorer.models.base import MapScorer


class DcsmCnn(MapScorer):
    """conv 3x3 (1 to 4 channels), conv 3x3 (4 to 4), linear to 128, linear to 1, with ReLU between."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        channels, hidden = self.config.channels, self.config.hidden
        self.conv1 = nn.Conv2d(1, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.hidden = nn.Linear(channels * self.shape.text_tokens * self.shape.image_tokens, hidden)
        self.dropout = nn.Dropout(self.config.dropout)
        self.out = nn.Linear(hidden, 1)

    def score_maps(self, maps: Tensor) -> Tensor:
        # One input channel has no layout of its own, so channels-last must be said after the first convolution; the
        # backward pass of the second is four times as fast in it.
        x = self.conv1(maps[:, None]).relu().contiguous(memory_format=torch.channels_last)
        x = self.conv2(x).relu()
        # Channels come last in memory, so this order of the flattened map costs no copy.
        x = self.hidden(x.permute(0, 2, 3, 1).flatten(1)).relu()
        scores: Tensor = self.out(self.dropout(x))
        return scores[:, 0]
