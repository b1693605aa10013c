"""What lies in the bank: sizes by kind, and what nobody uses any more."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GIB = 2**30
DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Stored:
    """One file of the bank. version: its folder, the format's version and the Blender that made it."""

    path: Path
    version: str
    kind: str
    size: int
    used_s: float


def stored(bank: Path) -> Iterator[Stored]:
    """Every file, those that are still being written too."""
    for path in bank.glob("v*/*/*"):
        try:
            found = path.stat()
        except OSError:  # Just renamed.
            continue
        kind = path.name.lstrip(".").partition("-")[0]
        yield Stored(path, path.parts[-3], kind, found.st_size, max(found.st_atime, found.st_mtime))


def bank_bytes(bank: Path) -> int:
    """What the bank holds on disk."""
    return sum(item.size for item in stored(bank))


def unused(bank: Path, days: float) -> list[Stored]:
    """Files that nobody has read or written for so long."""
    limit = time.time() - days * DAY_S
    return [item for item in stored(bank) if item.used_s <= limit]
