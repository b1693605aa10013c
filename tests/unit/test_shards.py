"""Shards: nothing half-written is ever taken for whole, and the same pairs give the same bytes."""

import hashlib
import io
import json
import os
import signal
import tarfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from preview_run import record_of, rejected_row

from generator import shards
from generator.errors import DataError, OutputError
from generator.journal import count_staged
from generator.records import dump, read_shard
from generator.shards import Row, ShardStage, encode_image, read_json, read_rows, row_of, sha256, write_json

FILES: Mapping[str, bytes] = {"image_1.png": b"second" * 99, "image_0.png": b"first", "mask_0.png": b""}


def stage_of(folder: Path, *indices: int) -> ShardStage:
    stage = ShardStage(folder, "train", 3)
    for index in indices:
        stage.accept(record_of(index), FILES)
    return stage


def staged(folder: Path) -> list[Path]:
    return sorted((folder / shards.STAGING / "train-00003").iterdir())


def test_what_a_sealed_shard_holds(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, 2, 0)
    stage.reject(rejected_row(record_of(1)))
    assert not stage.complete()
    stats = stage.seal({"fingerprint": "abc"})
    assert stage.complete()
    assert sorted(path.name for path in (tmp_path / "train").iterdir()) == ["00003.json", "00003.parquet", "00003.tar"]
    assert not (tmp_path / shards.STAGING / "train-00003").exists()
    assert (stats["planned"], stats["accepted"], stats["rejected"]) == (3, 2, 1)
    assert stats["reasons"] == {"occluded": 1}
    assert stats["fingerprint"] == "abc"
    assert read_json(stage.base.with_suffix(".json")) == stats
    for name, digest in stats["sha256"].items():
        assert sha256(tmp_path / "train" / name) == digest
    rows = read_rows(stage.base.with_suffix(".parquet"))
    assert rows == [row_of(record_of(0)), rejected_row(record_of(1)), row_of(record_of(2))]
    assert [sample.record.index for sample in read_shard(stage.base.with_suffix(".tar"))] == [0, 2]


def test_the_tar_says_nothing_of_this_machine(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, 1, 0)
    stage.seal({})
    with tarfile.open(stage.base.with_suffix(".tar")) as tar:
        members = tar.getmembers()
        assert [member.name for member in members] == [
            f"attribute-{index:09d}.{name}"
            for index in (0, 1)
            for name in ("image_0.png", "image_1.png", "json", "mask_0.png")
        ]
        for member in members:
            assert (member.mtime, member.uid, member.gid, member.uname, member.gname) == (0, 0, 0, "", "")
            assert member.mode == 0o644
        first = tar.extractfile(members[2])
        assert first is not None
        assert first.read() == dump(record_of(0))
    data = stage.base.with_suffix(".tar").read_bytes()
    assert len(data) % tarfile.RECORDSIZE == 0
    # A tar as Python itself writes it, byte for byte.
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for index in (0, 1):
            files = {**FILES, "json": dump(record_of(index))}
            for name in sorted(files):
                info = tarfile.TarInfo(f"attribute-{index:09d}.{name}")
                info.size = len(files[name])
                tar.addfile(info, io.BytesIO(files[name]))
    assert data == buffer.getvalue()


@given(order=st.permutations(range(4)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
def test_the_order_of_making_leaves_no_trace(order: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    digests = []
    for indices in (range(4), order):
        stage = stage_of(tmp_path_factory.mktemp("run"), *indices)
        digests.append(stage.seal({})["sha256"])
    assert digests[0] == digests[1]


def test_staged_pairs_survive_and_are_found_again(tmp_path: Path) -> None:
    stage_of(tmp_path, 5, 2)
    again = ShardStage(tmp_path, "train", 3)
    assert list(again.done()) == [2, 5]
    assert again.done()[5] == row_of(record_of(5))
    assert not ShardStage(tmp_path, "train", 4).done()
    assert not ShardStage(tmp_path, "val", 3).done()


@given(data=st.data())
@settings(max_examples=60)
def test_damage_to_a_staged_pair_makes_it_missing(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cut short or changed anywhere in the last pair: it counts as missing, those before it stay, and it can be made
    anew; the shard is then the same as ever."""
    folder = tmp_path_factory.mktemp("run")
    stage_of(folder, 2)
    (path,) = staged(folder)
    begin = path.stat().st_size
    stage_of(folder, 1)
    content = path.read_bytes()
    at = data.draw(st.integers(begin, len(content) - 1), "place")
    if data.draw(st.booleans(), "cut"):
        path.write_bytes(content[:at])
    else:
        flip = data.draw(st.integers(1, 255), "flip")
        path.write_bytes(content[:at] + bytes([content[at] ^ flip]) + content[at + 1 :])
    stage = ShardStage(folder, "train", 3)
    assert list(stage.done()) == [2]
    stage.accept(record_of(1), FILES)
    assert stage.done() == {index: row_of(record_of(index)) for index in (1, 2)}
    assert path.read_bytes() == content
    assert stage.seal({})["sha256"] == stage_of(folder / "other", 1, 2).seal({})["sha256"]


def test_the_last_word_on_a_pair_counts(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, 1)
    stage.reject(rejected_row(record_of(0)))
    stage.try_again(rejected_row(record_of(0)))
    assert list(stage.done()) == [1]
    assert stage.to_try_again() == {0: rejected_row(record_of(0))}
    assert count_staged(tmp_path / shards.STAGING) == 1
    stage.accept(record_of(0), FILES)
    assert list(stage.done()) == [0, 1]
    assert stage.to_try_again() == {}
    assert count_staged(tmp_path / shards.STAGING) == 2
    assert stage.seal({})["sha256"] == stage_of(tmp_path / "other", 0, 1).seal({})["sha256"]


class DiskFull(OSError):
    strerror = "No space left on device"


@pytest.mark.parametrize("broken", ["tar", "parquet", "json"])
def test_a_write_error_leaves_nothing_half_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """The disk fills up at any of the three files: no final file is partial, and a second try completes the shard."""
    stage = stage_of(tmp_path, 0, 1)

    def fail(*_: Any, **__: Any) -> None:
        raise DiskFull

    with monkeypatch.context() as patch:
        if broken == "tar":
            patch.setattr(os, "fsync", fail)
        elif broken == "parquet":
            patch.setattr(shards, "_write_parquet", fail)
        else:
            patch.setattr(json, "dump", fail)
        with pytest.raises(OutputError, match=rf"cannot write .*00003\.{broken}: .*; mend that"):
            stage.seal({})
    done = {"tar": [], "parquet": ["00003.tar"], "json": ["00003.parquet", "00003.tar"]}[broken]
    assert sorted(path.name for path in (tmp_path / "train").iterdir()) == done
    assert not stage.complete()
    assert list(stage.done()) == [0, 1]
    stats = stage.seal({})
    assert stats["sha256"] == stage_of(tmp_path / "other", 0, 1).seal({})["sha256"]


def test_a_write_error_in_staging_is_the_users_to_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of(tmp_path, 0)

    def fail(*_: Any) -> int:
        raise DiskFull

    again = ShardStage(tmp_path, "train", 3)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", fail)
        with pytest.raises(OutputError, match=r"cannot write .*train-00003/made\.pair: No space left on device"):
            again.accept(record_of(1), FILES)
    assert list(stage.done()) == [0]


def test_half_a_pair_on_a_full_disk_is_none(tmp_path: Path) -> None:
    """A full disk takes the first part of what is written, without an error."""
    resource = pytest.importorskip("resource")
    stage = stage_of(tmp_path, 0)
    (path,) = staged(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 700, limits[1]))
        with pytest.raises(OutputError, match=r"cannot write .*: No space left on device; mend that"):
            stage.accept(record_of(1), FILES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(stage.done()) == [0]
    stage.accept(record_of(1), FILES)
    assert list(stage.done()) == [0, 1]


def test_an_interrupt_while_sealing_leaves_nothing_half_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of(tmp_path, 0)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        stage.seal({})
    assert list((tmp_path / "train").iterdir()) == []


def test_all_rows_of_the_parquet_have_one_schema_without_nulls(tmp_path: Path) -> None:
    import pyarrow.parquet

    stage = ShardStage(tmp_path, "train", 0)
    stage.reject(rejected_row(record_of(0)))
    stage.accept(record_of(1, second_image=False, photographs=True), {"image_0.png": b"x"})
    stage.seal({})
    table = pyarrow.parquet.read_table(stage.base.with_suffix(".parquet"))
    assert table.num_rows == 2
    assert table.column_names == list(Row.__dataclass_fields__)
    assert all(column.null_count == 0 for column in table.columns)
    assert str(table.schema.field("image_ids").type) == "list<element: string>"
    assert str(table.schema.field("index").type) == "int64"
    assert all(item is not None for row in table.to_pylist() for item in row["image_ids"])


def test_a_shard_of_nothing_but_rejects(tmp_path: Path) -> None:
    stage = ShardStage(tmp_path, "test", 0)
    stage.reject(rejected_row(record_of(0)))
    stats = stage.seal({})
    assert (stats["planned"], stats["accepted"]) == (1, 0)
    assert list(read_shard(stage.base.with_suffix(".tar"))) == []


def test_a_reject_must_say_why(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        ShardStage(tmp_path, "train", 0).reject(row_of(record_of(0)))
    with pytest.raises(AssertionError):
        ShardStage(tmp_path, "train", 0).reject(replace(rejected_row(record_of(0)), reason=""))


@pytest.mark.parametrize("image_format", ["png", "webp", "jpg"])
def test_images_keep_what_they_show(image_format: Literal["png", "webp", "jpg"]) -> None:
    # Thin coloured lines: chroma subsampling would halve them.
    pixels = np.full((32, 32, 3), 128, np.uint8)
    pixels[:, 8:24:2] = (220, 30, 30)
    pixels[:, 9:24:2] = (30, 30, 220)
    data = encode_image(pixels, image_format)
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.format == {"jpg": "JPEG", "png": "PNG", "webp": "WEBP"}[image_format]
        back = np.asarray(picture.convert("RGB")).astype(int)
    error = np.abs(back - pixels.astype(int))
    if image_format == "png":
        assert error.max() == 0
    if image_format == "jpg":
        assert error.mean() < 6
    assert data == encode_image(pixels, image_format)


def test_masks_are_kept_exactly() -> None:
    mask = (np.arange(64) % 3).astype(np.uint8).reshape(8, 8)
    with Image.open(io.BytesIO(encode_image(mask, "png"))) as picture:
        assert picture.mode == "L"
        assert (np.asarray(picture) == mask).all()


def test_json_files_are_whole_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": "é"})
    assert read_json(path) == {"a": "é"}
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert read_json(path) == {"a": "é"}
    assert [item.name for item in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff"])
def test_json_files_that_are_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=str(path)):
        read_json(path)


def test_parquet_files_that_are_none(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1nonsense")
    with pytest.raises(DataError, match="not a readable parquet file"):
        read_rows(path)
    raw = asdict(row_of(record_of(0)))
    del raw["reason"]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([raw]), path)
    with pytest.raises(DataError, match=r"row 0: missing or unknown keys .*reason"):
        read_rows(path)


def test_sha256_is_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    assert sha256(path) == hashlib.sha256(b"abc").hexdigest()
