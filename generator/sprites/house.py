"""What lies in the bank: sizes by kind, and what nobody uses any more."""

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generator.errors import OutputError

GIB = 2**30
KINDS = ("plate-", "own-", "paint-", "cast-")
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
    for path in _files(bank):
        try:
            found = path.lstat()
        except OSError:  # Just renamed.
            continue
        kind = path.name.lstrip(".").partition("-")[0]
        yield Stored(path, path.parts[-3], kind, found.st_size, max(found.st_atime, found.st_mtime))


def _files(bank: Path) -> Iterator[Path]:
    """What layers are made of. Links are not followed: what they lead to is not the bank's."""
    for version in bank.glob("v*"):
        for folder in () if version.is_symlink() else version.iterdir():
            if folder.is_symlink() or not folder.is_dir():
                continue
            for path in folder.iterdir():
                if path.name.lstrip(".").startswith(KINDS) and not path.is_symlink() and path.is_file():
                    yield path


def make_writable(bank: Path) -> None:
    """Raises OutputError where layers cannot be written."""
    try:
        bank.mkdir(parents=True, exist_ok=True)
        writable = os.access(bank, os.W_OK)
    except OSError as error:
        raise OutputError(f"{bank}: {error.strerror}; set TWINSCENE_CACHE to a folder for the sprite bank") from error
    if not writable:
        raise OutputError(
            f"{bank} cannot be written to, and layers go there; make it writable, or set TWINSCENE_CACHE elsewhere"
        )


def gib(size: float) -> str:
    """ "1.9 GiB", or "12 MiB" where it is less than a tenth of one."""
    return f"{size / GIB:.1f} GiB" if size >= GIB / 10 else f"{math.ceil(size / 2**20)} MiB"


def bank_bytes(bank: Path) -> int:
    """What the bank holds on disk."""
    return sum(item.size for item in stored(bank))


def unused(bank: Path, days: float) -> list[Stored]:
    """Files that nobody has read or written for so long."""
    limit = time.time() - days * DAY_S
    return [item for item in stored(bank) if item.used_s <= limit]
