"""Token features on disk: written once, memory-mapped, addressed by content.

One cache holds the features of one kind (image or text) under one tower fingerprint. It is a set of immutable
segments, a raw fp16 array and an index that completes it, each renamed into place: an interruption leaves a file
that nothing points to, and two processes that compute the same features write the same segment.

Shapes: N items, T tokens of an item, D joint dimensions.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scorer.errors import CacheError

FORMAT = 1
DTYPE = np.dtype("<f2")


def default_root() -> Path:
    """$TWINSCENE_CACHE, or ~/.cache/twinscene."""
    return Path(os.environ.get("TWINSCENE_CACHE") or Path.home() / ".cache" / "twinscene")


@dataclass(slots=True)
class _Segment:
    path: Path
    tokens: NDArray[np.float16]
    checksums: list[int]
    checked: NDArray[np.bool_]


class TokenCache:
    """The features of one kind: `root/fingerprint/kind/*.bin` with `*.json` beside each.

    shape: (T, D). Raises CacheError, naming the file to delete, when a segment is damaged, and
    when the folder cannot be made.
    """

    def __init__(self, root: Path, fingerprint: str, kind: str, shape: tuple[int, int]) -> None:
        self.shape = shape
        self._folder = root / f"v{FORMAT}-{fingerprint}" / kind
        self._segments: list[_Segment] = []
        self._places: dict[str, tuple[int, int]] = {}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CacheError(
                f"{root}: cannot keep features ({error.strerror}); give another --cache or TWINSCENE_CACHE"
            ) from error
        for index in sorted(self._folder.glob("*.json")):
            self._open(index)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def add(self, keys: Sequence[str], tokens_NTD: NDArray[np.float16]) -> None:
        """Write one segment; keys already present are kept as they are."""
        assert tokens_NTD.shape == (len(keys), *self.shape), (tokens_NTD.shape, self.shape)
        if not keys:
            return
        data = np.ascontiguousarray(tokens_NTD, dtype=DTYPE)
        name = hashlib.sha256("\n".join(keys).encode()).hexdigest()[:24]
        index = {
            "format": FORMAT,
            "shape": list(self.shape),
            "keys": list(keys),
            "crc32": [zlib.crc32(item.tobytes()) for item in data],
        }
        self._publish(self._folder / f"{name}.bin", data.tobytes())
        self._publish(self._folder / f"{name}.json", json.dumps(index).encode())
        self._open(self._folder / f"{name}.json")

    def gather(self, keys: Sequence[str]) -> NDArray[np.float16]:
        """The features of `keys`, (N, T, D). Every item's checksum is compared the first time it is read."""
        out = np.empty((len(keys), *self.shape), dtype=DTYPE)
        for i, key in enumerate(keys):
            number, row = self._places[key]
            segment = self._segments[number]
            out[i] = segment.tokens[row]
            if not segment.checked[row]:
                if zlib.crc32(out[i].tobytes()) != segment.checksums[row]:
                    raise CacheError(f"{segment.path}: damaged at item {row}; delete it and run again")
                segment.checked[row] = True
        return out

    def _open(self, index: Path) -> None:
        data = index.with_suffix(".bin")
        try:
            raw = json.loads(index.read_text("utf-8"))
            keys, checksums = list(raw["keys"]), list(raw["crc32"])
            if raw["format"] != FORMAT or tuple(raw["shape"]) != self.shape or len(keys) != len(checksums):
                raise ValueError(f"expected format {FORMAT} and shape {self.shape}")
            expected = len(keys) * self.shape[0] * self.shape[1] * DTYPE.itemsize
            if data.stat().st_size != expected:
                raise ValueError(f"{data.name} has {data.stat().st_size} bytes, not {expected}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CacheError(f"{index}: damaged feature cache ({error}); delete it and run again") from error
        tokens = np.memmap(data, dtype=DTYPE, mode="r", shape=(len(keys), *self.shape))
        for row, key in enumerate(keys):
            self._places.setdefault(key, (len(self._segments), row))
        self._segments.append(_Segment(data, tokens, checksums, np.zeros(len(keys), dtype=bool)))

    def _publish(self, path: Path, data: bytes) -> None:
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
