"""What every source of assets says of each file before anything is opened."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """One file that may become an asset, and whom to credit for it."""

    uid: str
    noun: str
    path: Path
    title: str
    author: str
    licence: str
    url: str
