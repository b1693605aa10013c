"""Assets into prepared models: several Blender processes, each asset in limits, every result kept by content.

The cache holds one directory per content hash: `index.json` (what came out, and under which version of the preparing
code) and `model.npz` when it was accepted. Loading a catalog reads the small index files alone.
"""

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from generator.assets import vet
from generator.assets.reasons import Unfit
from generator.child import Child, ChildFailure
from generator.errors import AssetError
from generator.specs import PaintPlan, from_json

MODULE = "renderers.blender.prepare"
MAX_TRIANGLES = 60_000
# Four million triangles need a minute of one core to decimate; a busy machine needs a multiple of it.
TIME_LIMIT_S = 240.0
MEMORY_LIMIT_BYTES = 4 << 30
# A fresh Blender process now and then keeps what its importers leak from adding up.
ASSETS_PER_CHILD = 300


@dataclass(frozen=True, slots=True)
class Limits:
    """What one asset may take: wall time, and resident memory of the Blender process (0: no limit)."""

    time_s: float = TIME_LIMIT_S
    memory_bytes: int = MEMORY_LIMIT_BYTES


@dataclass(frozen=True, slots=True)
class Prepared:
    """An accepted asset: path of its model and what was measured on it."""

    sha256: str
    model: Path
    extent: tuple[float, float, float]
    triangles: int
    coverage: tuple[float, float, float]
    warnings: tuple[str, ...]
    paint_plan: PaintPlan | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A rejected asset: a key of REASONS, and what was seen."""

    reason: str
    detail: str


def default_cache() -> Path:
    """Where prepared models are kept: "assets" in TWINSCENE_CACHE or in ~/.cache/twinscene."""
    return Path(os.environ.get("TWINSCENE_CACHE") or Path.home() / ".cache" / "twinscene") / "assets"


@cache
def code_version() -> str:
    """Digest of everything that decides what a prepared model looks like: the code itself, and Blender's version."""
    root = Path(__file__).resolve().parents[2]
    parts = [
        *sorted((root / "renderers" / "blender").glob("prepare*.py")),
        *(root / "renderers" / name for name in ("geometry.py", "model.py", "repaint.py")),
        *(root / "generator" / "assets" / name for name in ("gltf.py", "obj.py", "pack.py", "vet.py")),
    ]
    state = hashlib.sha256(metadata.version("bpy").encode())
    for part in parts:
        state.update(hashlib.sha256(part.read_bytes()).digest())
    return state.hexdigest()[:16]


def prepare_all(
    paths: Sequence[Path],
    *,
    cache: Path,
    workers: int,
    report: Callable[[int, int], None],
    limits: Limits | None = None,
) -> list[Prepared | Refused]:
    """Each file's outcome, in the order given. `report(done, total)` is called after each.

    An asset that crashes Blender, hangs it or fills its memory is refused as such, and the next goes on.
    Raises AssetError when the cache cannot be written.
    """
    store = cache.resolve()
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AssetError(f"cannot write the asset cache {store}: {error.strerror}; set TWINSCENE_CACHE") from None
    limits = limits or Limits()
    done, lock = 0, threading.Lock()
    local = threading.local()
    opened: list[_Worker] = []

    def one(path: Path) -> Prepared | Refused:
        nonlocal done
        if not hasattr(local, "worker"):
            local.worker = _Worker(store, limits)
            opened.append(local.worker)
        outcome: Prepared | Refused = local.worker.prepare(path)
        with lock:
            done += 1
            report(done, len(paths))
        return outcome

    try:
        with ThreadPoolExecutor(max(1, min(workers, len(paths)))) as pool:
            return list(pool.map(one, paths))
    finally:
        for worker in opened:
            worker.close()


class _Worker:
    """One thread's door to Blender; the process starts when the first asset needs it."""

    def __init__(self, store: Path, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._child: Child | None = None
        self._served = 0
        self._scratch = tempfile.TemporaryDirectory(prefix="twinscene-prepare-")

    def prepare(self, path: Path) -> Prepared | Refused:
        """The outcome for one file, from the cache if it is there."""
        try:
            content = vet.read(path)
        except Unfit as problem:
            return Refused(problem.reason, problem.detail)
        folder = self._store / content.sha256
        known = _read_index(folder, content.sha256, self._limits)
        if known is not None:
            return known
        folder.mkdir(exist_ok=True)
        try:
            parcel = vet.first_look(content)
            answer = self._ask(parcel, folder / "model.npz")
            if answer.get("reason") == "crashed":
                # Once more in a fresh process: what came before, or the system, may have been to blame.
                answer = self._ask(parcel, folder / "model.npz")
        except Unfit as problem:
            answer = {"ok": False, "reason": problem.reason, "detail": problem.detail}
        index = {"version": code_version(), "limits": [self._limits.time_s, self._limits.memory_bytes], **answer}
        if answer["ok"]:
            index["bytes"] = (folder / "model.npz").stat().st_size
        write_atomically(folder / "index.json", json.dumps(index).encode())
        return _outcome(index, folder, content.sha256)

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()
        self._scratch.cleanup()

    def _ask(self, parcel: vet.Parcel, out: Path) -> dict[str, Any]:
        if self._served >= ASSETS_PER_CHILD and self._child is not None:
            self._child.close()
            self._child = None
        if self._child is None:
            log = Path(self._scratch.name) / "blender.log"
            self._child = Child(MODULE, log, memory_limit_bytes=self._limits.memory_bytes)
            self._served = 0
        self._served += 1
        with tempfile.TemporaryDirectory(dir=self._scratch.name) as folder:
            source = parcel.write(Path(folder))
            try:
                self._child.send({"source": str(source), "out": str(out), "max_triangles": MAX_TRIANGLES})
                return self._child.receive(self._limits.time_s)
            except ChildFailure as failure:
                self._child.close()
                self._child = None
                return {"ok": False, "reason": failure.kind, "detail": _last_line(failure.log_tail)}


def _read_index(folder: Path, sha256: str, limits: Limits) -> Prepared | Refused | None:
    """What the cache says, None where it says nothing that holds for this code and these limits."""
    try:
        index = json.loads((folder / "index.json").read_bytes())
    except (OSError, ValueError):
        return None
    if index.get("version") != code_version():
        return None
    if index.get("reason") in ("timed_out", "out_of_memory"):
        time_s, memory_bytes = index["limits"]
        if time_s < limits.time_s or (memory_bytes and not 0 < limits.memory_bytes <= memory_bytes):
            return None
    if index["ok"] and index.get("bytes") != _size(folder / "model.npz"):
        return None  # Lost, or cut short by a full disk or a bad copy.
    return _outcome(index, folder, sha256)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _outcome(index: dict[str, Any], folder: Path, sha256: str) -> Prepared | Refused:
    if not index["ok"]:
        return Refused(index["reason"], index["detail"])
    facts = index["facts"]
    return Prepared(
        sha256=sha256,
        model=folder / "model.npz",
        extent=tuple(facts["extent"]),
        triangles=facts["triangles"],
        coverage=tuple(facts["coverage"]),
        warnings=tuple(facts["warnings"]),
        paint_plan=from_json(PaintPlan, facts["paint_plan"]) if facts["paint_plan"] is not None else None,
    )


def write_atomically(path: Path, content: bytes) -> None:
    """Write under a temporary name in the same directory, flush, rename."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"
