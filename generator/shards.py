"""Shards: WebDataset tars of accepted pairs, each with a parquet of every planned pair and a json that completes it.

A pair becomes final when it stands whole in the shard's journal, so an interruption loses at most the pair in
flight; `seal` joins the journal's pairs in the order of their indices. Tar headers carry no times, owners or
modes of this machine: the same pairs give the same bytes.
"""

import contextlib
import hashlib
import io
import json
import os
import shutil
import tarfile
import typing
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generator.errors import DataError, OutputError
from generator.journal import AGAIN, Entry, Journal
from generator.records import ImageFormat, PairRecord, build, dump, fields_of

STAGING = ".staging"
JPEG_QUALITY = 95


@dataclass(frozen=True, slots=True)
class Row:
    """One planned pair in the shard's parquet, accepted or rejected.

    reason: "" when accepted, else one of the closed list of its task's verification; detail: figures behind it.
    attempts: how many were rendered; nouns and uids: all objects of both sides, in order.
    """

    key: str
    task: str
    split: str
    index: int
    status: Literal["accepted", "rejected"]
    reason: str
    detail: str
    attempts: int
    captions_0: tuple[str, ...]
    captions_1: tuple[str, ...]
    template: str
    fact_kind: str
    fact_value_0: str
    fact_value_1: str
    nouns: tuple[str, ...]
    uids: tuple[str, ...]
    stage: str
    background: str
    image_ids: tuple[str, ...]


def row_of(record: PairRecord) -> Row:
    """The parquet row of an accepted pair."""
    objects = record.objects_0 + record.objects_1
    return Row(
        key=record.key,
        task=record.task,
        split=record.split,
        index=record.index,
        status="accepted",
        reason="",
        detail="",
        attempts=record.attempt + 1,
        captions_0=record.captions_0,
        captions_1=record.captions_1,
        template=record.template,
        fact_kind=record.fact.kind,
        fact_value_0=record.fact.value_0,
        fact_value_1=record.fact.value_1,
        nouns=tuple(item.noun for item in objects),
        uids=tuple(item.uid for item in objects),
        stage=record.stage,
        background=record.background,
        image_ids=record.image_ids,
    )


def encode_image(pixels: NDArray[np.uint8], image_format: ImageFormat) -> bytes:
    """(H, W, 3) or, for masks, (H, W) uint8 as a file. JPEG keeps full colour resolution (4:4:4)."""
    buffer = io.BytesIO()
    image = Image.fromarray(pixels)
    if image_format == "jpg":
        image.save(buffer, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    elif image_format == "webp":
        image.save(buffer, "WEBP", quality=JPEG_QUALITY, method=4)
    else:
        image.save(buffer, "PNG", compress_level=6)
    return buffer.getvalue()


def tar_fragment(key: str, files: Mapping[str, bytes]) -> bytes:
    """The tar blocks of one sample, members sorted by name, without the end-of-archive mark."""
    parts: list[bytes] = []
    for suffix in sorted(files):
        info = tarfile.TarInfo(f"{key}.{suffix}")
        info.size = len(files[suffix])
        info.mode = 0o644
        parts += [info.tobuf(tarfile.USTAR_FORMAT), files[suffix], bytes(-info.size % tarfile.BLOCKSIZE)]
    return b"".join(parts)


class ShardStage:
    """One shard in the making: `OUT/.staging/{split}-{number}` until `seal` turns it into `OUT/{split}/{number}.*`."""

    def __init__(self, out: Path, split: str, number: int) -> None:
        self.split = split
        self.number = number
        self.base = out / split / f"{number:05d}"
        self.folder = out / STAGING / f"{split}-{number:05d}"
        self._journal = Journal(self.folder)

    def complete(self) -> bool:
        """True when the shard stands in its final place; its json is written last."""
        return self.base.with_suffix(".json").exists()

    def done(self) -> dict[int, Row]:
        """The pairs that are final already, from this run or an interrupted one, by index. Damaged ones are missing."""
        entries = sorted(self._journal.latest().items())
        return {index: _row(entry) for index, entry in entries if entry.final}

    def to_try_again(self) -> dict[int, Row]:
        """The pairs that were rejected in an earlier round and are still to be tried in this one, by index."""
        return {index: _row(entry) for index, entry in self._journal.latest().items() if not entry.final}

    def accept(self, record: PairRecord, files: Mapping[str, bytes]) -> Row:
        """Make one pair final. `files` by member suffix: "image_0.jpg", "image_1.jpg", "mask_0.png", ..."""
        row = row_of(record)
        self._journal.append(row.index, _json(row), tar_fragment(record.key, {**files, "json": dump(record)}))
        return row

    def reject(self, row: Row) -> None:
        """Record a planned pair that could not be made."""
        assert row.status == "rejected", row
        assert row.reason, row
        self._journal.append(row.index, _json(row), b"")

    def try_again(self, row: Row) -> None:
        """Take back that a pair is final: a rejected one, which a new round begins with."""
        self._journal.append(row.index, _json(row), b"", AGAIN)

    def seal(self, info: Mapping[str, Any]) -> dict[str, Any]:
        """Write tar, parquet and, last, the json (counts, reasons, sha256, and `info`); remove the staging folder."""
        entries = [entry for _, entry in sorted(self._journal.latest().items()) if entry.final]
        rows = [_row(entry) for entry in entries]
        for leftover in self.base.parent.glob(f".{self.base.name}.*.tmp"):
            leftover.unlink(missing_ok=True)
        tar_path, parquet_path = self.base.with_suffix(".tar"), self.base.with_suffix(".parquet")
        digest, size = hashlib.sha256(), 0
        with replacing(tar_path) as temporary, temporary.open("wb") as tar:
            for fragment in self._journal.blocks(entries):
                tar.write(fragment)
                digest.update(fragment)
                size += len(fragment)
            end = bytes(2 * tarfile.BLOCKSIZE)
            end += bytes(-(size + len(end)) % tarfile.RECORDSIZE)
            tar.write(end)
            digest.update(end)
            _flush(tar)
        with replacing(parquet_path) as temporary:
            _write_parquet(rows, temporary)
            with temporary.open("rb+") as written:
                _flush(written)
        accepted = sum(row.status == "accepted" for row in rows)
        stats = {
            "split": self.split,
            "shard": self.number,
            "planned": len(rows),
            "accepted": accepted,
            "rejected": len(rows) - accepted,
            "reasons": dict(sorted(Counter(row.reason for row in rows if row.reason).items())),
            "attempts": sum(row.attempts for row in rows),
            "sha256": {tar_path.name: digest.hexdigest(), parquet_path.name: sha256(parquet_path)},
            **info,
        }
        write_json(self.base.with_suffix(".json"), stats)
        self.clear()
        return stats

    def clear(self) -> None:
        """Remove the staging folder, which a complete shard no longer needs."""
        self._journal.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the shard against every other process on this file system. OutputError when one has it.

        The lock goes with its holder, however that ends.
        """
        import fcntl

        path = self.folder.with_suffix(".lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = path.open("wb")
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}; give another --out") from error
        with stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(f"{self.base} is being made by another process; wait for it, or end it") from None
            try:
                yield
            finally:
                self._journal.close()
            path.unlink(missing_ok=True)


def _json(row: Row) -> bytes:
    return json.dumps(row, default=fields_of).encode()


def _row(entry: Entry) -> Row:
    row: Row = build(Row, json.loads(entry.row), f"pair {entry.index} in the making")
    return row


def write_json(path: Path, data: Any) -> None:
    """Indented JSON, whole or not at all."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        json.dump(data, stream, indent=2, ensure_ascii=False)
        stream.write("\n")
        _flush(stream)


def write_json_once(path: Path, data: Any) -> bool:
    """Write a file that is not there yet, whole or not at all; False when it is there, whoever was first."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.tmp")
    write_json(temporary, data)
    try:
        # A link, unlike a rename, does not replace; where several processes try at once, one of them wins.
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # A file system without links.
        if path.exists():
            return False
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return True


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file; DataError when it is not one."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(data, dict):
        raise DataError(f"{path}: not a JSON object")
    return data


def sha256(path: Path) -> str:
    """Hex digest of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_rows(path: Path) -> list[Row]:
    """The rows of one shard's parquet."""
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a readable parquet file ({error})") from error
    return [build(Row, raw, f"{path}: row {number}") for number, raw in enumerate(table.to_pylist())]


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """`with replacing(path) as temporary:` renames temporary to path when the block succeeds. Makes the folder.

    The temporary name is nobody else's: two processes that write the same file do not meet in it.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror or error}; mend that and run the same command again"
        ) from error
    finally:
        with contextlib.suppress(OSError):  # Gone when renamed; and a lost mount must not hide the first error.
            temporary.unlink(missing_ok=True)


def _flush(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _write_parquet(rows: Iterable[Row], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), tuple: pyarrow.list_(pyarrow.string())}
    hints = typing.get_type_hints(Row)
    schema = pyarrow.schema(
        [(name, kinds.get(typing.get_origin(hint) or hint, pyarrow.string())) for name, hint in hints.items()]
    )
    table = pyarrow.Table.from_pylist([fields_of(row) for row in rows], schema=schema)
    pyarrow.parquet.write_table(table, path, compression="zstd")
