"""The published augmentation: perspective, rotation and salt-and-pepper noise on every image at every step.

Features cannot be cached then, so the towers run in each step.
"""

from pathlib import Path

import torch
from PIL import Image
from torch import Tensor

from scorer.data import ImageReader, decode
from scorer.features import Clip
from scorer.seeding import seed_of

PERSPECTIVE, PERSPECTIVE_P, ROTATION_DEG, NOISE = 0.05, 0.2, 4.0, 0.02


class AugmentedImages:
    """Image tokens computed from augmented pixels, by row number of the bank.

    places: shard, key and side of every row. What is drawn depends on (seed, epoch, step, row) alone; `seek` sets the
    moment.
    """

    def __init__(self, clip: Clip, places: list[tuple[Path, str, int]], seed: int) -> None:
        self._clip, self._places, self._seed = clip, places, seed
        self._reader = ImageReader()
        self._moment = (0, 0)

    def seek(self, epoch: int, step: int) -> None:
        self._moment = (epoch, step)

    def gather(self, rows: Tensor) -> Tensor:
        """(N, I, D) in float32 on the towers' device."""
        images = []
        for row in rows.tolist():
            shard, key, side = self._places[row]
            picture = decode(self._reader.read(shard, key, side), key)
            images.append(self._clip.preprocess(augment(picture, seed_of(self._seed, "augment", *self._moment, row))))
        return self._clip.image_tokens(torch.stack(images)).clone()  # out of inference mode, so that gradients may pass


def augment(image: Image.Image, seed: int) -> Image.Image:
    """One augmented copy of an RGB picture; what is drawn depends on the seed alone."""
    from torchvision.transforms import v2

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # torchvision draws from the global generator; the fork gives it back untouched
        geometry = v2.Compose(
            [v2.RandomPerspective(PERSPECTIVE, PERSPECTIVE_P), v2.RandomRotation(ROTATION_DEG), v2.PILToTensor()]
        )
        pixels: Tensor = geometry(image)
        noise = torch.rand(pixels.shape[1:])
    pixels = pixels.masked_fill(noise < NOISE, 0).masked_fill(noise > 1 - NOISE, 255)
    return Image.fromarray(pixels.permute(1, 2, 0).numpy())
