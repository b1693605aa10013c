"""The folder that an export is written to, whole or not at all, and the files in it."""

import contextlib
import fcntl
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from generator.errors import DataError, OutputError
from generator.records import ImageFormat, Sample
from generator.shards import encode_image

# Files in one folder: the Hub takes no more than 10,000, and a file browser is happier with fewer.
PAIRS_PER_FOLDER = 1000


@contextlib.contextmanager
def building(out: Path) -> Iterator[Path]:
    """A folder beside `out` that takes its name when the block succeeds and vanishes when it does not.

    Raises OutputError where `out` holds something already, another process writes it, or the disk fails.
    """
    out = out.resolve()
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise OutputError(f"{out} exists and is not this export; give another --out, or remove it")
    folder = out.with_name(f".{out.name}.export")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(f"{out} is being written by another process; wait for it, or end it") from None
        else:
            _empty(folder)  # What a killed export left.
            try:
                yield folder
                folder.rename(out)
            finally:
                shutil.rmtree(folder, ignore_errors=True)  # Gone already after the rename.
        finally:
            os.close(handle)
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror or error}") from error


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def picture(sample: Sample, side: int, wanted: tuple[ImageFormat, ...] = ("jpg", "png", "webp")) -> tuple[bytes, str]:
    """The encoded image of a side and its suffix ("jpg"), as stored where that is wanted, else in the first wanted.

    Raises DataError where it has to be decoded and cannot be.
    """
    name = next(name for name in sample.files if name.startswith(f"image_{side}."))
    suffix = name.rpartition(".")[2]
    data = sample.files[name]
    if suffix in wanted:
        return data, suffix
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            pixels = np.asarray(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{sample.record.key}: image_{side} does not decode ({error})") from error
    return encode_image(pixels, wanted[0]), wanted[0]


def size_of(sample: Sample, side: int) -> tuple[int, int]:
    """Width and height in pixels, from the image's own head: the record knows those of image 0 alone."""
    from PIL import Image

    data = sample.image(side)
    assert data is not None
    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.size
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{sample.record.key}: image_{side} does not decode ({error})") from error


def sides_of(sample: Sample) -> range:
    """0, and 1 where there is a second image."""
    return range(1 + sample.record.has_image_1)


def file_name(number: int, what: str) -> str:
    """`00012/000012345_0.jpg` for what = "0.jpg": numbers say nothing of labels, and no two pairs share one."""
    return f"{number // PAIRS_PER_FOLDER:05d}/{number:09d}_{what}"


def put(base: Path, name: str, data: bytes) -> str:
    """Write a file below `base`, making its folder; its name."""
    path = base / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return name


@contextlib.contextmanager
def json_items(path: Path, brackets: str = "[]") -> Iterator[Callable[[str], None]]:
    """Write a JSON array ("[]") or object ("{}") one item at a time, each given as text; "" writes the items alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii", newline="\n") as stream:
        between = "\n"
        stream.write(brackets[:1])

        def add(text: str) -> None:
            nonlocal between
            stream.write(between + text)
            between = ",\n"

        yield add
        stream.write("\n" + brackets[1:])


def text_of(item: Any) -> str:
    """JSON in ASCII: some readers open files in whatever encoding the machine speaks."""
    return json.dumps(item)
