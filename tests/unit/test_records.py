"""The record on disk: nothing is lost, nothing is guessed, and damage is named."""

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_run import record_of

from generator.errors import DataError
from generator.records import (
    SCHEMA_VERSION,
    FactRecord,
    ObjectRecord,
    PairRecord,
    dump,
    find_shards,
    key_of,
    parse,
    read_shard,
)
from generator.shards import ShardStage

TEXT = st.text(max_size=12)
COUNT = st.integers(0, 2**40)
OBJECTS = st.lists(
    st.builds(
        ObjectRecord,
        role=TEXT, uid=TEXT, noun=TEXT, colour=TEXT, size=TEXT,
        box=st.tuples(COUNT, COUNT, COUNT, COUNT),
        visible_px=COUNT,
        visible_fraction=st.floats(0, 1),
        measured_colour=TEXT,
        measured_lab=st.lists(st.floats(-200, 200), max_size=3).map(tuple),
    ),
    max_size=3,
).map(tuple)  # fmt: skip
RECORDS = st.builds(
    PairRecord,
    schema_version=st.just(SCHEMA_VERSION),
    key=TEXT, task=TEXT, source=TEXT, split=TEXT, index=COUNT, attempt=COUNT, seed=st.integers(-(2**40), 2**40),
    captions_0=st.tuples(TEXT, TEXT), captions_1=st.tuples(TEXT, TEXT),
    template=TEXT, words=st.tuples(TEXT, TEXT),
    fact=st.builds(FactRecord, kind=TEXT, value_0=TEXT, value_1=TEXT),
    has_image_1=st.booleans(), width=COUNT, height=COUNT,
    objects_0=OBJECTS, objects_1=OBJECTS, stage=TEXT, background=TEXT,
    image_ids=st.lists(TEXT, max_size=2).map(tuple), scene_0=TEXT, scene_1=TEXT,
)  # fmt: skip


@given(RECORDS)
def test_dump_and_parse_are_inverse(record: PairRecord) -> None:
    data = dump(record)
    assert parse(data, "here") == record
    assert b"\n" not in data
    assert dump(parse(data, "here")) == data


def nulls(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (f"{key}.{rest}" for rest in nulls(item))
    elif isinstance(value, list):
        for item in value:
            yield from nulls(item)
    elif value is None:
        yield "null"


def test_no_nulls_whatever_is_missing() -> None:
    """`datasets` infers one schema from the first rows, where a column of nulls has no type."""
    record = record_of(0, second_image=False)
    assert not list(nulls(json.loads(dump(record))))


def raw() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(dump(record_of(0)))
    return data


@pytest.mark.parametrize("key", sorted(raw().keys() - {"schema_version"}))
def test_every_missing_key_is_named(key: str) -> None:
    data = raw()
    del data[key]
    with pytest.raises(DataError, match=f"place: missing or unknown keys .*{key}"):
        parse(json.dumps(data).encode(), "place")


@pytest.mark.parametrize("key", sorted(raw().keys() - {"schema_version"}))
def test_every_wrong_type_is_named(key: str) -> None:
    data = raw()
    # true is no number, 1.5 no index, null nothing at all.
    for wrong in ({"strange": 1}, None, 1.5):
        data[key] = wrong
        with pytest.raises(DataError, match=f"place: {key}"):
            parse(json.dumps(data).encode(), "place")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"index": True}, "place: index: expected int"),
        ({"has_image_1": 1}, "place: has_image_1: expected bool"),
        ({"captions_0": ["only one"]}, "place: captions_0: expected a list of 2"),
        ({"captions_0": "ab"}, "place: captions_0: expected a list of 2"),
        ({"fact": {"kind": "relation"}}, "place: fact: missing or unknown keys .*value_0"),
        ({"colour": "red"}, "place: missing or unknown keys .*colour"),
        ({"schema_version": 99}, "place: schema version 99"),
        ({"schema_version": None}, "place: schema version None"),
        ({"schema_version": "1"}, "place: schema version '1'"),
    ],
)
def test_other_damage_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse(json.dumps({**raw(), **change}).encode(), "place")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"1", b"null", b"\xff\xfe"])
def test_what_is_no_record_at_all(data: bytes) -> None:
    with pytest.raises(DataError, match="place: "):
        parse(data, "place")


def test_a_wrong_value_deep_inside_names_its_field() -> None:
    data = raw()
    data["objects_0"][1]["box"][2] = "x"
    with pytest.raises(DataError, match="place: objects_0: box: expected int, got 'x'"):
        parse(json.dumps(data).encode(), "place")


def test_keys_have_no_dots_and_sort_like_numbers() -> None:
    assert key_of("spatial", 42) == "spatial-000000042"
    keys = [key_of("spatial", index) for index in (2, 10, 99, 100, 10**8)]
    assert keys == sorted(keys)
    assert not any("." in key for key in keys)


# --- shards ---------------------------------------------------------------------------------------------------------


def shard(folder: Path, count: int = 3) -> Path:
    stage = ShardStage(folder, "train", 0)
    for index in range(count):
        stage.accept(record_of(index), {"image_0.png": bytes(700 + index), "image_1.png": b"b" * 512})
    stage.seal({})
    return stage.base.with_suffix(".tar")


def add(path: Path, *members: tuple[str, bytes]) -> Path:
    """A tar made by other means."""
    with tarfile.open(path, "w") as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def keys(path: Path) -> list[str]:
    return [sample.record.key for sample in read_shard(path)]


def test_read_back(tmp_path: Path) -> None:
    samples = list(read_shard(shard(tmp_path)))
    assert [sample.record for sample in samples] == [record_of(index) for index in range(3)]
    assert samples[2].image(0) == bytes(702)
    assert samples[2].image(1) == b"b" * 512
    assert samples[2].mask(0) is None


def test_a_tar_cut_anywhere_is_refused(tmp_path: Path) -> None:
    """Cut between two members, a tar looks whole to `tarfile`: pairs would vanish without a word."""
    path = shard(tmp_path)
    data = path.read_bytes()
    cut = tmp_path / "cut.tar"
    used = len(data.rstrip(b"\0"))
    for length in {0, 1, 100, *range(512, used, 512), used - 1}:
        cut.write_bytes(data[:length])
        with pytest.raises(DataError, match=str(cut)):
            list(read_shard(cut))


def test_garbage_between_members_is_refused(tmp_path: Path) -> None:
    path = shard(tmp_path)
    data = path.read_bytes()
    start = data.index(b"attribute-000000001.image_0.png")
    path.write_bytes(data[:start] + b"\x07" * 512 + data[start + 512 :])
    with pytest.raises(DataError, match=str(path)):
        keys(path)


def test_no_tar_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_text("hello " * 500)
    with pytest.raises(DataError, match="not a readable tar"):
        keys(path)
    with pytest.raises(DataError, match="not a readable tar"):
        keys(tmp_path / "missing.tar")


def test_members_that_do_not_belong_are_named(tmp_path: Path) -> None:
    record = record_of(0)
    sample = [(f"{record.key}.{name}", b"x") for name in ("image_0.png", "image_1.png")]
    sample.append((f"{record.key}.json", dump(record)))
    assert keys(add(tmp_path / "good.tar", *sample)) == [record.key]
    with pytest.raises(DataError, match=r"README has no record \(README\.json\)"):
        keys(add(tmp_path / "readme.tar", *sample, ("README", b"hello")))
    with pytest.raises(DataError, match=r"attribute-000000000 has no record"):
        keys(add(tmp_path / "nojson.tar", *sample[:2]))
    with pytest.raises(DataError, match=r"other-1\.json says that its key is 'attribute-000000000'"):
        keys(add(tmp_path / "key.tar", ("other-1.image_0.png", b"x"), ("other-1.json", dump(record))))
    folder = tmp_path / "folder.tar"
    with tarfile.open(folder, "w") as tar:
        info = tarfile.TarInfo("things")
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    with pytest.raises(DataError, match="member things is not a regular file"):
        keys(folder)


@pytest.mark.parametrize("missing", ["image_0.png", "image_1.png"])
def test_a_missing_image_is_named(tmp_path: Path, missing: str) -> None:
    record = record_of(0)
    names = {"image_0.png", "image_1.png"} - {missing}
    members = [(f"{record.key}.{name}", b"x") for name in names]
    with pytest.raises(DataError, match=f"{record.key} has no {missing[:7]}"):
        keys(add(tmp_path / "x.tar", *members, (f"{record.key}.json", dump(record))))


def test_a_pair_without_a_second_image(tmp_path: Path) -> None:
    record = record_of(0, second_image=False)
    path = add(tmp_path / "x.tar", (f"{record.key}.image_0.jpg", b"x"), (f"{record.key}.json", dump(record)))
    (sample,) = read_shard(path)
    assert sample.image(0) == b"x"
    assert sample.image(1) is None


def test_only_complete_shards_are_found(tmp_path: Path) -> None:
    for split, number in (("val", 0), ("train", 1), ("train", 0)):
        stage = ShardStage(tmp_path, split, number)
        stage.accept(record_of(number), {"image_0.png": b"x", "image_1.png": b"x"})
        stage.seal({})
    (tmp_path / "train" / "00002.tar").write_bytes(b"unfinished")
    found = [str(path.relative_to(tmp_path)) for path in find_shards([tmp_path])]
    assert found == ["train/00000.tar", "train/00001.tar", "val/00000.tar"]
    assert find_shards([tmp_path], "val") == [tmp_path / "val" / "00000.tar"]
    assert find_shards([tmp_path / "val" / "00000.tar"]) == [tmp_path / "val" / "00000.tar"]
    with pytest.raises(DataError, match=r"no such file or directory .*nowhere"):
        find_shards([tmp_path / "nowhere"])
