"""What a training step looks at: an order of pairs for each epoch, and blocks of images and texts.

Shapes: B images, L texts of one block (2 per pair).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from scorer.bank import Bank
from scorer.seeding import generator
from scorer.truth import maybe_true


@dataclass(frozen=True, slots=True)
class Block:
    """Some pairs of one family, in rows of the bank.

    image_rows (B,); text_rows (2, L), by caption version; own_text and twin_text (B,): columns of each image's own
    caption and of its twin's; own_image (L,), -1 where there is none; maybe_true (2, B, L), by version.
    """

    image_rows: Tensor
    text_rows: Tensor
    own_text: Tensor
    twin_text: Tensor
    own_image: Tensor
    maybe_true: Tensor


def make_block(bank: Bank, pairs: Sequence[int], swapped: Sequence[bool] | None = None) -> Block:
    """The block of these pairs. swapped: pairs whose two sides trade captions (the shuffled-labels control)."""
    images = [(p, side) for p, number in enumerate(pairs) for side in (0, 1) if bank.image_rows[number, side] >= 0]
    swap = [bool(swapped and swapped[p]) for p in range(len(pairs))]
    own_text = [2 * p + (side ^ swap[p]) for p, side in images]
    own_image = [-1] * (2 * len(pairs))
    for image, text in enumerate(own_text):
        own_image[text] = image
    truths = [bank.truths[number] for number in pairs]
    blocked = np.stack([maybe_true(truths, version, images) for version in (0, 1)])
    return Block(
        image_rows=torch.tensor([int(bank.image_rows[pairs[p], side]) for p, side in images]),
        text_rows=bank.text_rows[list(pairs)].permute(2, 0, 1).reshape(2, -1),
        own_text=torch.tensor(own_text),
        twin_text=torch.tensor([text ^ 1 for text in own_text]),
        own_image=torch.tensor(own_image),
        maybe_true=torch.from_numpy(blocked),
    )


def steps_of_epoch(families: dict[str, list[int]], batch: int, length: str) -> int:
    """Steps until the smallest (or largest) family is used up once."""
    sizes = [len(members) for members in families.values()]
    return -(-(min(sizes) if length == "smallest" else max(sizes)) // batch)


def epoch_plan(
    families: dict[str, list[int]], batch: int, length: str, seed: int, epoch: int
) -> list[dict[str, list[int]]]:
    """For every step, the pairs of each family. Depends on (seed, epoch) alone.

    Every epoch permutes each family anew, so a family larger than the epoch shows other pairs each time; one smaller
    starts over. The last batch may be odd-sized.
    """
    steps = steps_of_epoch(families, batch, length)
    plan: list[dict[str, list[int]]] = [{} for _ in range(steps)]
    for name, members in families.items():
        # A family that takes as many steps as the epoch is seen exactly once; others fill every batch.
        wanted = len(members) if -(-len(members) // batch) == steps else steps * batch
        order: list[int] = []
        while len(order) < wanted:
            draws = generator(seed, "order", name, epoch, len(order) // len(members))
            order += [members[i] for i in torch.randperm(len(members), generator=draws).tolist()]
        order = order[:wanted]
        for step in range(steps):
            plan[step][name] = order[step * batch : (step + 1) * batch]
    return plan
