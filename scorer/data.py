"""Pairs out of shards: records and encoded images, checked; bad ones counted, never silently dropped."""

import hashlib
import io
import json
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from generator.records import SPLITS, PairRecord, find_shards, read_shard
from scorer.errors import ConfigError, DataError, missing

BAD_SHARE = 0.05  # more bad pairs than this means that something is wrong with the data, not with a picture


@dataclass(frozen=True, slots=True)
class LoadedPair:
    """One pair as read: its record, its encoded images (None where it has no second one), and its shard."""

    record: PairRecord
    images: tuple[bytes, bytes | None]
    shard: Path


@dataclass(slots=True)
class Tally:
    """How many pairs were read, and how many were left out for which reason."""

    read: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def reject(self, key: str, reason: str) -> None:
        self.bad[reason] += 1
        if len(self.examples) < 5:
            self.examples.append(f"{key}: {reason}")

    def check(self) -> None:
        """Raise DataError when too many pairs were bad."""
        bad = sum(self.bad.values())
        if bad > BAD_SHARE * self.read:
            raise DataError(f"{bad} of {self.read} pairs cannot be used ({'; '.join(self.examples)})")


def shards_of(roots: tuple[Path, ...], split: str | None) -> list[Path]:
    """The shards below the roots; DataError when there is none."""
    shards = find_shards(list(roots), split)
    if not shards:
        where, which = ", ".join(map(str, roots)), f" of the split {split}" if split else ""
        raise DataError(f"{where}: no complete shard{which} (a .tar with its .json)")
    return shards


@dataclass(frozen=True, slots=True)
class Source:
    """What one path that was given holds.

    own: the split that the path itself is (DIR/test, or a tar in it): who gives it asks for it. folders: whether there
    are split folders below. splits: those of them with complete shards, in the usual order.
    """

    root: Path
    own: str
    folders: bool
    splits: tuple[str, ...]

    @classmethod
    def of(cls, root: Path) -> "Source":
        """Look at the folders of a path. DataError when it is not there."""
        complete = {shard.parent.name for shard in find_shards([root])}
        below = [path for name in SPLITS for path in root.rglob(name) if path.is_dir() and ".staging" not in path.parts]
        name = (root.parent if root.is_file() else root).resolve().name
        own = name if name in SPLITS and not below else ""
        return cls(root, own, bool(below), tuple(split for split in SPLITS if split in complete) if below else ())

    def __str__(self) -> str:
        return f"{self.root} (has {', '.join(self.splits) or self.own or 'no complete shard'})"


def unfinished(source: Source) -> str:
    """How much of a render is there, "" where it is whole, or nothing says how much was asked for."""
    run = source.root if source.folders else source.root.resolve().parent
    try:
        wanted = json.loads((run / "run.json").read_bytes())["config"]["n"]
        stats = [path for split in SPLITS for path in (run / split).glob("*.json")]
        planned = sum(json.loads(path.read_bytes())["planned"] for path in stats)
    except (OSError, ValueError, LookupError, TypeError):  # merged, of another program, or of none
        return ""
    return f"{planned} of {wanted} planned pairs" if planned < wanted else ""


def sources_of(roots: tuple[Path, ...]) -> list[Source]:
    """What the paths that were given hold, each once. ConfigError without one, DataError for what is not there."""
    if not roots:
        raise ConfigError("give at least one run directory, split directory or .tar")
    return [Source.of(root) for root in dict.fromkeys(roots)]


def read_pairs(shard: Path, tally: Tally) -> Iterator[LoadedPair]:
    """The usable pairs of one shard in file order. DataError on a damaged tar."""
    for sample in read_shard(shard):
        tally.read += 1
        first, second = sample.image(0), sample.image(1)
        if first is None or (sample.record.has_image_1 and second is None):
            tally.reject(sample.record.key, "an image is missing")
            continue
        yield LoadedPair(sample.record, (first, second if sample.record.has_image_1 else None), shard)


def check_digest(shard: Path) -> None:
    """DataError when a tar is not the one that its json tells of; one that tells of no digest is believed."""
    beside = shard.with_suffix(".json")
    try:
        expected = json.loads(beside.read_bytes()).get("sha256", {}).get(shard.name)
        with shard.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest() if expected else None
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"{beside}: not readable ({error})") from error
    if found != expected:
        raise DataError(
            f"{shard}: not the file that was written (sha256 differs from {beside.name}); "
            "`python -m generator validate` on the run tells more"
        )


def content_key(data: bytes) -> str:
    """The name of some content in the cache."""
    return hashlib.sha256(data).hexdigest()[:32]


def decode(data: bytes, where: str) -> Image.Image:
    """Encoded bytes -> an RGB picture. DataError when they are not a picture or are cut short."""
    try:
        image = Image.open(io.BytesIO(data))
        return image.convert("RGB")
    except UnidentifiedImageError as error:
        raise DataError(f"{where}: not a readable image (no format of pictures)") from error
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise DataError(f"{where}: not a readable image ({error})") from error


def read_picture(path: Path) -> Image.Image:
    """A picture file -> RGB. DataError when it is not there, cannot be read or is no picture."""
    if not path.exists():
        raise DataError(missing(path, "picture"))
    try:
        return decode(path.read_bytes(), str(path))
    except OSError as error:
        raise DataError(f"{path}: not readable ({error.strerror})") from error


class ImageReader:
    """Random access to the images in tars, for training that looks at the pixels at every step."""

    def __init__(self) -> None:
        self._members: dict[Path, dict[str, tuple[int, int]]] = {}

    def place(self, shard: Path, key: str, side: int) -> tuple[int, int]:
        """Offset and size of an image in its tar, in bytes."""
        if shard not in self._members:
            with tarfile.open(shard) as tar:
                self._members[shard] = {
                    member.name.rpartition(".")[0]: (member.offset_data, member.size)
                    for member in tar
                    if ".image_" in member.name
                }
        return self._members[shard][f"{key}.image_{side}"]

    def read(self, shard: Path, key: str, side: int) -> bytes:
        """The encoded image."""
        offset, size = self.place(shard, key, side)
        with shard.open("rb") as file:
            file.seek(offset)
            return file.read(size)
