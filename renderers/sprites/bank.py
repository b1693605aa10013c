"""The sprite bank: a folder of layers, each rendered once, and the process that renders those that are missing.

Files are named by what they show, the Blender that made them and the version of their format. They are complete when
their .json is there. Any number of processes may use and fill one bank at the same time.
"""

import json
import subprocess
import sys
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from generator.specs import RenderSettings, to_json
from renderers.sprites.keys import Key, kind_of, name_of

VERSION = 4
ROOT = Path(__file__).resolve().parents[2]

# What a layer's files raise that a full disk, a power cut or a stranger has left.
DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError)

T = TypeVar("T")


class BankError(Exception):
    """A layer cannot be made or read."""


@dataclass(frozen=True)
class Layer:
    """planes: (C, H, W) uint16 on disk, mapped into memory; scales (C,): what makes linear values of them; facts: where
    things are in it."""

    planes: NDArray[np.uint16]
    scales: NDArray[np.float32]
    facts: dict[str, Any]

    def values(self) -> NDArray[np.float32]:
        """All of it as linear values."""
        return self.planes.astype(np.float32) * self.scales[:, None, None]


class Bank:
    """The layers of one folder."""

    def __init__(self, settings: RenderSettings, log: Path) -> None:
        assert settings.bank, "engine sprites needs a bank"
        self._folder = Path(settings.bank) / f"v{VERSION}-{metadata.version('bpy')}"
        self._maker = Maker(settings, log)
        self._name = lru_cache(maxsize=1 << 14)(name_of)
        self._complete: set[str] = set()
        self._checked: set[str] = set()

    def missing(self, keys: Sequence[Key]) -> list[Key]:
        """Those of the layers that are not there yet."""
        return [key for key in dict.fromkeys(keys) if not self._has(key)]

    def make(self, keys: Sequence[Key]) -> tuple[int, int]:
        """Have missing layers rendered; how many, and their bytes. Raises BankError."""
        missing = self.missing(keys)
        return len(missing), sum(self._maker.make(key, self._path(key)) for key in missing)

    def read(self, key: Key) -> Layer:
        """A layer that is there; a damaged one is made again. Raises BankError where that does not help."""
        path = self._path(key)
        try:
            return self._stored(path)
        except DAMAGED:
            self._discard(path)
            self.make([key])
        try:
            return self._stored(path)
        except DAMAGED as error:
            raise BankError(f"{path}: {error}, also when made anew; is the disk in order?") from error

    def _stored(self, path: Path) -> Layer:
        """A layer as it was written; otherwise errors of DAMAGED. Its numbers are checked the first time."""
        # Still mapped, but a plain array: every view of a memmap costs as much as a small sum.
        planes = np.asarray(np.load(f"{path}.npy", mmap_mode="r"))
        facts = json.loads(Path(f"{path}.json").read_text())
        if planes.dtype != np.uint16 or list(planes.shape) != facts["shape"]:
            raise ValueError("its planes are not those that were written")
        if path.name not in self._checked:
            if zlib.crc32(planes.data) != facts["crc32"]:
                raise ValueError("its numbers are not those that were written")
            self._checked.add(path.name)
        return Layer(planes, np.array(facts["scales"], np.float32), facts)

    def _discard(self, path: Path) -> None:
        """Forget a damaged layer."""
        self._complete.discard(path.name)
        self._checked.discard(path.name)
        try:
            Path(f"{path}.json").unlink(missing_ok=True)
        except OSError as error:
            raise BankError(f"{path} is damaged and cannot be replaced: {error.strerror}") from error

    def check_device(self) -> None:
        """Raises BankError where the device that was asked for is not here."""
        self._maker.start()

    def _has(self, key: Key) -> bool:
        name = self._name(key)
        if name not in self._complete and Path(f"{self._path(key)}.json").exists():
            self._complete.add(name)
        return name in self._complete

    def _path(self, key: Key) -> Path:
        name = self._name(key)
        # Folders of a few hundred files each, at a million layers too.
        return self._folder / name[:-30] / name


class Maker:
    """`python -m renderers.blender.layers`, started when the first layer is missing."""

    def __init__(self, settings: RenderSettings, log: Path) -> None:
        self._settings = settings
        self._log = log
        self._process: subprocess.Popen[str] | None = None

    def make(self, key: Key, path: Path) -> int:
        """Render one layer; its bytes on disk. Raises BankError where Blender fails at it."""
        if self._process is None or self._process.poll() is not None:
            self.start()
        answer = self._ask({"kind": kind_of(key), "key": to_json(key), "path": str(path)})
        if not answer["ok"]:
            raise BankError(f"{path.name}: {answer['error']}")
        return int(answer["bytes"])

    def start(self) -> None:
        """Start Blender. Raises BankError where it has not the device that was asked for."""
        command = [sys.executable, "-m", "renderers.blender.layers", "--log", str(self._log)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        answer = self._ask({"settings": to_json(self._settings)})
        if not answer["ready"]:
            raise BankError(answer["error"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            code = self._process.wait()
            self._process = None
            raise BankError(f"Blender ended (exit status {code}) while it rendered a layer")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Kept:
    """What was made of layers lately, as far as the memory allows: least recently used goes first."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._bytes = 0
        self._items: OrderedDict[Any, tuple[Any, int]] = OrderedDict()

    def get(self, key: Any, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """The value of a key, made if it is not here."""
        if key in self._items:
            self._items.move_to_end(key)
            kept: T = self._items[key][0]
            return kept
        value = make()
        self._items[key] = (value, size(value))
        self._bytes += self._items[key][1]
        while self._bytes > self._limit and len(self._items) > 1:
            self._bytes -= self._items.popitem(last=False)[1][1]
        return value
