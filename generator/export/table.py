"""The columns of a pair in Parquet, with the images inside: shared by the two Parquet formats."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from generator.export.folder import picture, sides_of
from generator.export.source import Part
from generator.records import PairRecord, Sample

# A reader holds one row group in memory, and the Hub's viewer wants them small; files are cut where they are large.
ROWS_PER_GROUP, BYTES_PER_GROUP = 100, 64 * 2**20
BYTES_PER_FILE = 500 * 2**20

TEXT, NUMBER, REAL = "string", "int64", "float64"
# Arrow's names of types; [x] is a list of x, a dict a struct.
OBJECT: dict[str, Any] = {
    "role": TEXT,
    "uid": TEXT,
    "noun": TEXT,
    "colour": TEXT,
    "size": TEXT,
    "box": [NUMBER],
    "visible_px": NUMBER,
    "visible_fraction": REAL,
    "measured_colour": TEXT,
    "measured_lab": [REAL],
}
COLUMNS: dict[str, Any] = {
    "key": TEXT,
    "task": TEXT,
    "source": TEXT,
    "index": NUMBER,
    "seed": NUMBER,
    "captions_0": [TEXT],
    "captions_1": [TEXT],
    "template": TEXT,
    "words": [TEXT],
    "fact": {"kind": TEXT, "value_0": TEXT, "value_1": TEXT},
    "width": NUMBER,
    "height": NUMBER,
    "objects_0": [OBJECT],
    "objects_1": [OBJECT],
    "stage": TEXT,
    "background": TEXT,
    "image_ids": [TEXT],
    "scene_0": TEXT,
    "scene_1": TEXT,
}


def write_table(part: Part, folder: Path, split: str, image_features: bool) -> Iterator[PairRecord]:
    """FOLDER/{split}-00000.parquet and so on. An image is bytes, or with `image_features` what `datasets` shows as one.

    A second image or a mask that is not there is null.
    """
    images = [f"{what}_{side}" for what in ("image", *(["mask"] if part.source.masks else [])) for side in range(2)]
    with contextlib.closing(_Files(folder, split, _schema(images, image_features))) as files:
        for records, rows, size in _groups(part, images, image_features):
            files.write(rows, size)
            yield from records


def _groups(
    part: Part, images: list[str], image_features: bool
) -> Iterator[tuple[list[PairRecord], list[dict[str, Any]], int]]:
    """The pairs in row groups: records, rows, bytes of images."""
    records: list[PairRecord] = []
    rows: list[dict[str, Any]] = []
    size = 0
    for _, sample in part.samples:
        found = _images(sample, images)
        size += sum(len(data) for data, _ in found.values())
        cells = {
            name: {"bytes": data, "path": f"{sample.record.key}.{name}.{suffix}"} if image_features else data
            for name, (data, suffix) in found.items()
        }
        records.append(sample.record)
        rows.append(cells | asdict(sample.record))
        if len(rows) == ROWS_PER_GROUP or size >= BYTES_PER_GROUP:
            yield records, rows, size
            records, rows, size = [], [], 0
    if rows:
        yield records, rows, size


def _images(sample: Sample, names: list[str]) -> dict[str, tuple[bytes, str]]:
    found = {f"image_{side}": picture(sample, side) for side in sides_of(sample)}
    for side in range(2):
        mask = sample.mask(side)
        if mask is not None and f"mask_{side}" in names:
            found[f"mask_{side}"] = mask, "png"
    return found


class _Files:
    """Parquet files of one split, a new one begun where the last is large."""

    def __init__(self, folder: Path, split: str, schema: Any) -> None:
        self._folder, self._split, self._schema = folder, split, schema
        self._number = self._size = 0
        self._writer: Any = None

    def write(self, rows: list[dict[str, Any]], size: int) -> None:
        import pyarrow
        import pyarrow.parquet

        if self._size >= BYTES_PER_FILE:
            self.close()
        if self._writer is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{self._split}-{self._number:05d}.parquet"
            self._writer = pyarrow.parquet.ParquetWriter(path, self._schema, compression="zstd", use_dictionary=False)
            self._number, self._size = self._number + 1, 0
        self._writer.write_table(pyarrow.Table.from_pylist(rows, schema=self._schema))
        self._size += size

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _schema(images: list[str], image_features: bool) -> Any:
    import pyarrow

    image = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    fields = [(name, image if image_features else pyarrow.binary()) for name in images]
    schema = pyarrow.schema(fields + [(name, _arrow_type(kind)) for name, kind in COLUMNS.items()])
    if not image_features:
        return schema
    features = {name: {"_type": "Image"} for name in images} | {name: _feature(of) for name, of in COLUMNS.items()}
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def _arrow_type(kind: Any) -> Any:
    import pyarrow

    if isinstance(kind, list):
        return pyarrow.list_(_arrow_type(kind[0]))
    if isinstance(kind, dict):
        return pyarrow.struct([(name, _arrow_type(of)) for name, of in kind.items()])
    return {TEXT: pyarrow.string(), NUMBER: pyarrow.int64(), REAL: pyarrow.float64()}[kind]


def _feature(kind: Any) -> Any:
    """The same as `datasets` writes it down, in the form that all its versions read."""
    if isinstance(kind, list):
        return [_feature(kind[0])]
    if isinstance(kind, dict):
        return {name: _feature(of) for name, of in kind.items()}
    return {"dtype": kind, "_type": "Value"}
