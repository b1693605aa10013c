"""Scores on disk: one file for each part and judge, so that an interrupted evaluation goes on where it stopped."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scorer.benchmarks.base import Example, Part
from scorer.benchmarks.judges import Judge
from scorer.benchmarks.kinds import Raw

FORMAT = 3  # raise it when the meaning of saved scores changes


@dataclass(frozen=True, slots=True)
class Saved:
    """The scores of a part by one judge, and which of the part's distinct pictures were not readable, by place.

    cut: how many captions were cut to fit.
    """

    raw: Raw
    unreadable: NDArray[np.int64]
    cut: int


def digest(
    part: Part, examples: Sequence[Example], present: NDArray[np.bool_], judge: Judge, seed: int, looked_at: bool
) -> str:
    """Changes when the scores may: the judge, the rows, the images' sizes and times, which are there, the order.

    looked_at: whether any judge looks at the images. All judges answer the same rows, and which images are readable is
    a matter of their sizes and times, so that these count for judges that do not look, too.
    """
    state = hashlib.sha256(f"{FORMAT} {type(part.kind).__name__} {judge.fingerprint} {seed}".encode())
    stamps: dict[Path, tuple[int, int]] = {}
    for item, here in zip(examples, present.tolist(), strict=True):
        row: list[object] = [item.key, item.captions, item.truth, here]
        for picture in item.images if here and looked_at else ():
            if picture.path not in stamps:
                found = picture.path.stat()
                stamps[picture.path] = found.st_size, found.st_mtime_ns
            row += [picture.path.name, picture.box, stamps[picture.path]]
        state.update(json.dumps(row).encode())
    return state.hexdigest()


def read(path: Path, wanted: str) -> Saved | None:
    """What was saved under the digest `wanted`; None for anything else, which is then made anew."""
    try:
        with np.load(path, allow_pickle=False) as file:
            if str(file["digest"]) != wanted:
                return None
            raw = {name: file[f"raw.{name}"] for name in file["names"].tolist()}
            return Saved(raw, file["unreadable"], int(file["cut"]))
    except Exception:  # a damaged file raises whatever zipfile, zlib and NumPy stumble over
        return None


def write(path: Path, wanted: str, saved: Saved) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        arrays = {f"raw.{name}": values for name, values in saved.raw.items()}
        known = {"digest": np.array(wanted), "names": np.array(list(saved.raw)), "unreadable": saved.unreadable}
        np.savez_compressed(file, cut=saved.cut, **known, **arrays)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def place(folder: Path, part: Part, judge: Judge) -> Path:
    """Where the scores go: a readable name, and a hash that keeps similar names apart."""
    readable = re.sub(r"[^A-Za-z0-9.-]+", "_", judge.name).strip("_.")[-60:]
    mark = hashlib.sha256(judge.name.encode()).hexdigest()[:8]
    return folder / part.name / f"{readable}-{mark}.npz"
