"""The record on disk: what one pair's JSON says, and how a shard is read back. Shared with the scorer.

Every task writes the same keys with the same types and no nulls: "" and [] stand for "does not apply", because
Hugging Face `datasets` infers one schema from the first few rows, where a column of nulls has no type.
"""

import dataclasses
import json
import tarfile
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from generator.errors import DataError, missing

SCHEMA_VERSION = 1
SPLITS = ("train", "val", "test")
IMAGE_FORMATS = ("jpg", "png", "webp")

ImageFormat = Literal["jpg", "png", "webp"]


@dataclass(frozen=True, slots=True)
class ObjectRecord:
    """One named object of one image.

    box: [x0, y0, x1, y1) in pixels around the visible part. visible_fraction: visible / unoccluded pixels.
    colour, size: the named attribute, "" where the caption names none. measured_lab: median CIELAB (D65) of the
    visible pixels, [] where nothing was measured; measured_colour: the colour word nearest to it, or "".
    """

    role: str
    uid: str
    noun: str
    colour: str
    size: str
    box: tuple[int, int, int, int]
    visible_px: int
    visible_fraction: float
    measured_colour: str
    measured_lab: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FactRecord:
    """The one fact that differs: kind ("relation", "colour", "size", "presence", ...) and its value on each side."""

    kind: str
    value_0: str
    value_1: str


@dataclass(frozen=True, slots=True)
class PairRecord:
    """One accepted pair, as `{key}.json` holds it.

    captions_0 [P1, P2] are true of image_0 and false of image_1; captions_1 [N1, N2] the other way round.
    template: id of the caption template; words: the two functional words used, e.g. ["above", "below"].
    image_ids: ids of the photographs behind the images, [] when rendered. scene_0, scene_1: the full scene
    description as JSON text ("" for photographs): camera, light, stage and poses in metres and degrees; models and
    textures by the last two parts of their paths, which mean the same in every cache.
    """

    schema_version: int
    key: str
    task: str
    source: str
    split: str
    index: int
    attempt: int
    seed: int
    captions_0: tuple[str, str]
    captions_1: tuple[str, str]
    template: str
    words: tuple[str, str]
    fact: FactRecord
    has_image_1: bool
    width: int
    height: int
    objects_0: tuple[ObjectRecord, ...]
    objects_1: tuple[ObjectRecord, ...]
    stage: str
    background: str
    image_ids: tuple[str, ...]
    scene_0: str
    scene_1: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One pair as read from a shard: its record and the encoded files by member name ("image_0.jpg", ...)."""

    record: PairRecord
    files: dict[str, bytes]

    def image(self, side: int) -> bytes | None:
        """The encoded image of side 0 or 1, None where the pair has no second image."""
        return next((data for name, data in self.files.items() if name.startswith(f"image_{side}.")), None)

    def mask(self, side: int) -> bytes | None:
        """The encoded instance mask (PNG, 8 bit, 0 = background, 1 + i = object i), None where none was written."""
        return self.files.get(f"mask_{side}.png")


def key_of(task: str, index: int) -> str:
    """`spatial-000000042`: no dots (WebDataset splits names there) and no labels in it."""
    return f"{task}-{index:09d}"


def dump(record: PairRecord) -> bytes:
    """The bytes of `{key}.json`: keys in the order of the dataclass, UTF-8, one line."""
    return json.dumps(record, default=fields_of, ensure_ascii=False, separators=(",", ":")).encode()


def fields_of(record: Any) -> dict[str, Any]:
    """A record's fields by name, not copied (dataclasses.asdict copies every number): json.dumps goes on from there."""
    return {name: getattr(record, name) for name in record.__slots__}


def parse(data: bytes, where: str) -> PairRecord:
    """The inverse of `dump`; DataError names the place and the first thing that is wrong."""
    try:
        raw = json.loads(data)
    except ValueError as error:
        raise DataError(f"{where}: the record is not JSON ({error})") from error
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise DataError(f"{where}: schema version {version!r}, this program reads {SCHEMA_VERSION}")
    record: PairRecord = build(PairRecord, raw, where)
    return record


def read_shard(path: Path) -> Iterator[Sample]:
    """The pairs of one tar in file order. Raises DataError on a truncated tar or a foreign member."""
    try:
        with tarfile.open(path, "r:") as tar:
            key, files = "", dict[str, bytes]()
            for member in tar:
                name, _, suffix = member.name.partition(".")
                if name != key and files:
                    yield _sample(key, files, path)
                    files = {}
                key = name
                stream = tar.extractfile(member)
                if stream is None:
                    raise DataError(f"{path}: member {member.name} is not a regular file")
                files[suffix] = stream.read()
            # tarfile takes a cut between two members, or a damaged header, for the end of the archive.
            with path.open("rb") as rest:
                rest.seek(tar.offset)
                end = rest.read()
            if len(end) < 2 * tarfile.BLOCKSIZE or any(end):
                raise DataError(f"{path}: damaged or cut short after {key or 'its start'}")
            if files:
                yield _sample(key, files, path)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DataError(f"{path}: not a readable tar ({error})") from error


def find_shards(roots: list[Path], split: str | None = None) -> list[Path]:
    """The complete shards (tar with its .json beside it) below the given run directories, sorted.

    A root may be a run directory, a split directory or a single tar.
    """
    found: list[Path] = []
    for root in roots:
        if not root.exists():
            raise DataError(missing(root))
        tars = [root] if root.is_file() else sorted(root.rglob("*.tar"))
        tars = [tar for tar in tars if ".staging" not in tar.parts]
        tars = [tar for tar in tars if split is None or tar.parent.name == split]
        found += [tar for tar in tars if tar.with_suffix(".json").exists()]
    return found


def _sample(key: str, files: dict[str, bytes], path: Path) -> Sample:
    if "json" not in files:
        raise DataError(f"{path}: {key} has no record ({key}.json)")
    record = parse(files.pop("json"), f"{path}: {key}.json")
    if record.key != key:
        raise DataError(f"{path}: {key}.json says that its key is {record.key!r}")
    sample = Sample(record, files)
    for side in range(1 + record.has_image_1):
        if sample.image(side) is None:
            raise DataError(f"{path}: {key} has no image_{side}")
    return sample


def build(kind: Any, raw: Any, where: str) -> Any:
    """`raw`, from JSON or parquet, as the annotated type `kind`, checked all the way down; DataError says where."""
    if type(raw) is kind:
        return raw
    if dataclasses.is_dataclass(kind):
        hints = _hints(typing.cast(Any, kind))
        if not isinstance(raw, dict) or set(raw) != set(hints):
            keys = sorted(set(raw) ^ set(hints)) if isinstance(raw, dict) else raw
            raise DataError(f"{where}: missing or unknown keys {keys}")
        return typing.cast(Any, kind)(**{key: build(hint, raw[key], f"{where}: {key}") for key, hint in hints.items()})
    if typing.get_origin(kind) is tuple:
        args = typing.get_args(kind)
        variadic = len(args) == 2 and args[1] is Ellipsis
        if not isinstance(raw, list) or (not variadic and len(raw) != len(args)):
            raise DataError(f"{where}: expected a list{'' if variadic else f' of {len(args)}'}, got {raw!r}")
        kinds = [args[0]] * len(raw) if variadic else args
        return tuple(build(item, value, where) for item, value in zip(kinds, raw, strict=True))
    if typing.get_origin(kind) is Literal:
        if raw not in typing.get_args(kind):
            raise DataError(f"{where}: expected one of {typing.get_args(kind)}, got {raw!r}")
        return raw
    if kind is float and isinstance(raw, int) and not isinstance(raw, bool):
        return float(raw)
    if not isinstance(raw, kind) or (kind is int and isinstance(raw, bool)):
        raise DataError(f"{where}: expected {kind.__name__}, got {raw!r}")
    return raw


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
