"""Errors a user of the scorer can cause: one clear line each, exit code 2 on the command line.

They share the base of the generator's errors, because reading a shard raises those, and the words for what a name or
a path was probably meant to be.
"""

from generator.errors import ConfigError, DataError, DependencyError, UserError, missing, unknown

__all__ = [
    "CacheError",
    "CheckpointError",
    "ConfigError",
    "DataError",
    "DependencyError",
    "TowerError",
    "TrainingError",
    "UserError",
    "missing",
    "unknown",
]


class TowerError(UserError):
    """A CLIP model that is unknown, cannot be loaded, or has no tokens to make maps from."""


class CacheError(UserError):
    """A feature cache whose files are damaged."""


class CheckpointError(UserError):
    """A checkpoint that is missing, damaged, or made for something else."""


class TrainingError(UserError):
    """Training cannot start or go on: no usable pairs, or a loss that is not a number."""
