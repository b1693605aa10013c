"""Hugging Face imagefolder: images in folders by split, and a metadata.jsonl with a row per pair."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from generator.card import HUB_SPLITS
from generator.export.folder import file_name, picture, put, sides_of, text_of
from generator.export.source import Format, Part
from generator.records import PairRecord, Sample

READING = """```python
from datasets import load_dataset

pairs = load_dataset("imagefolder", data_dir=".", split="{hub_split}")
print(pairs[0]["image_0"].size, pairs[0]["captions_0"], pairs[0]["captions_1"])
```

`record` is the pair's whole record as JSON text.
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}/metadata.jsonl and the images beside it.

    The loader takes the type of a column from its first rows and wants the same in every split. So pairs without a
    second image come last in their split; where no pair has one there is no such column; and a split without any is
    left out beside splits that have them.
    """
    twins = part.source.twins
    if twins and part.split not in twins:
        part.left_out["one image only, in a split without twins"] += sum(1 for _ in part.samples)
        return
    base = part.folder / HUB_SPLITS[part.split]
    base.mkdir()
    singles = base / "singles.part"
    with (base / "metadata.jsonl").open("w", encoding="ascii") as rows, singles.open("w+", encoding="ascii") as later:
        for number, sample in part.samples:
            row = _row(base, number, sample, 1 + bool(twins), part.source.masks)
            (later if twins and not sample.record.has_image_1 else rows).write(text_of(row) + "\n")
            yield sample.record
        later.seek(0)
        shutil.copyfileobj(later, rows)
    singles.unlink()


def _row(base: Path, number: int, sample: Sample, sides: int, masks: bool) -> dict[str, Any]:
    record = sample.record
    row: dict[str, Any] = {}
    for side in range(sides):
        row[f"image_{side}_file_name"] = None
        if side in sides_of(sample):
            data, suffix = picture(sample, side)
            row[f"image_{side}_file_name"] = put(base, file_name(number, f"{side}.{suffix}"), data)
    for side in range(sides if masks else 0):
        mask = sample.mask(side)
        row[f"mask_{side}_file_name"] = put(base, file_name(number, f"mask_{side}.png"), mask) if mask else None
    return row | {
        "key": record.key,
        "task": record.task,
        "seed": record.seed,
        "captions_0": record.captions_0,
        "captions_1": record.captions_1,
        "fact_kind": record.fact.kind,
        "fact_value_0": record.fact.value_0,
        "fact_value_1": record.fact.value_1,
        "record": text_of(asdict(record)),
    }


FORMAT = Format(write, READING, data_files="{hub_split}/**/*")
