"""Several processes under torchrun, one device each; a single process is a group of one.

Every process holds the whole plan and takes its share of each batch, so a batch of a family is `batch_size` pairs per
process, contrasted within the process.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn


@dataclass(frozen=True, slots=True)
class Group:
    """This process among `size`."""

    rank: int
    size: int
    local_rank: int

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def device(self, wanted: str) -> str:
        """The device name for this process: under torchrun each process has a GPU of its own."""
        if self.size > 1 and wanted in ("auto", "cuda") and torch.cuda.is_available():
            return f"cuda:{self.local_rank % torch.cuda.device_count()}"
        return wanted

    def share(self, members: Sequence[int]) -> Sequence[int]:
        """This process's part of a batch; parts differ by one pair at most and may be empty."""
        return members[self.rank * len(members) // self.size : (self.rank + 1) * len(members) // self.size]

    def sum_gradients(self, module: nn.Module) -> None:
        """Replace every gradient by its sum over the group."""
        if self.size == 1:
            return
        trainable = [value for value in module.parameters() if value.requires_grad]
        flat = torch.cat([(v.grad if v.grad is not None else torch.zeros_like(v)).flatten() for v in trainable])
        dist.all_reduce(flat)
        for value, part in zip(trainable, torch.split(flat, [v.numel() for v in trainable]), strict=True):
            value.grad = part.view_as(value)

    def wait(self) -> None:
        """Until every process is here."""
        if self.size > 1:
            dist.barrier()


def start() -> Group:
    """Join the group that torchrun describes in the environment."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    group = Group(int(os.environ.get("RANK", "0")), size, int(os.environ.get("LOCAL_RANK", "0")))
    if size > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return group


def stop(group: Group) -> None:
    """Leave the group."""
    if group.size > 1:
        dist.destroy_process_group()
