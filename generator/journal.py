"""A shard in the making: one file to which every pair is appended whole, with its digest, as soon as it is final.

(A file for every pair would cost more than all else that is done for it: some file systems take half a millisecond to
make one, and those of clusters far more.) An interruption loses at most the pair that was being written.
"""

import errno
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from generator.errors import DataError, OutputError

JOURNAL = "made.pair"
# What an entry says of its pair: it is final, or its row is but where another round of attempts goes on from.
FINAL, AGAIN = b"final", b"again"


@dataclass(frozen=True, slots=True)
class Entry:
    """The last word on one pair: its row as JSON, and where in the file its `size` bytes of tar blocks begin."""

    index: int
    final: bool
    row: bytes
    start: int
    size: int


class Journal:
    """The journal in a shard's staging folder. Every entry: a line with kind, index, size and digest, then a line with
    the row and the tar blocks."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        self._stream: BinaryIO | None = None

    def append(self, index: int, row: bytes, blocks: bytes, kind: bytes = FINAL) -> None:
        """Write one entry. Raises OutputError when it cannot be written."""
        content = row + b"\n" + blocks
        head = b"%s %d %d %s\n" % (kind, index, len(content), hashlib.sha256(content).hexdigest().encode())
        try:
            self._stream = self._stream or self._opened()
            if self._stream.write(head + content) < len(head) + len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self.close()
            raise OutputError(
                f"cannot write {self.path}: {error.strerror}; mend that and run the same command again"
            ) from error

    def latest(self) -> dict[int, Entry]:
        """The last entry of every pair up to the first that is damaged, which counts as missing with all behind it."""
        return {entry.index: entry for entry in self._entries()}

    def blocks(self, entries: list[Entry]) -> Iterator[bytes]:
        """The tar blocks of some entries, one after the other. DataError where the file has changed since."""
        with self.path.open("rb") as stream:
            for entry in entries:
                stream.seek(entry.start)
                blocks = stream.read(entry.size)
                if len(blocks) != entry.size:
                    raise DataError(f"{self.path}: cut short meanwhile; run the same command again")
                yield blocks

    def close(self) -> None:
        """Let go of the file; the next `append` opens it again."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _opened(self) -> BinaryIO:
        """The file to append to, cut to what is whole: behind half an entry nothing would be found again."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            end = 0
            for entry in self._entries():
                end = entry.start + entry.size
            os.truncate(self.path, end)
        return self.path.open("ab", buffering=0)

    def _entries(self) -> Iterator[Entry]:
        if not self.path.exists():
            return
        with self.path.open("rb") as stream:
            while head := _head(stream.readline()):
                kind, index, size, digest = head
                content = stream.read(size)
                if len(content) < size or hashlib.sha256(content).hexdigest().encode() != digest:
                    return
                row = content[: content.index(b"\n")]
                blocks = size - len(row) - 1
                yield Entry(index, kind == FINAL, row, stream.tell() - blocks, blocks)


def count_staged(staging: Path) -> int:
    """Pairs that are final in the unfinished shards of a run (its `.staging`), without reading them."""
    found = 0
    for path in staging.glob(f"*/{JOURNAL}"):
        last: dict[int, bytes] = {}
        with path.open("rb") as stream:
            while head := _head(stream.readline()):
                last[head[1]] = head[0]
                stream.seek(head[2], os.SEEK_CUR)
        found += sum(kind == FINAL for kind in last.values())
    return found


def _head(line: bytes) -> tuple[bytes, int, int, bytes] | None:
    """Kind, index, size and digest of an entry; None at the end, or where the line is none of ours."""
    kind, _, rest = line.partition(b" ")
    parts = rest.split()
    if kind not in (FINAL, AGAIN) or len(parts) != 3 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    return kind, int(parts[0]), int(parts[1]), parts[2]
