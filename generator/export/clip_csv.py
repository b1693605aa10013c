"""open_clip's csv training, with the columns of hard negatives that NegCLIP's version of it reads besides."""

import csv
from collections.abc import Iterator
from typing import Any

from generator.export.captions import captions_of
from generator.export.folder import file_name, picture, put, sides_of
from generator.export.source import Format, Part
from generator.records import PairRecord, Sample

COLUMNS = ("title", "filepath", "neg_caption", "neg_image")
READING = """Paths are relative to this folder, so start the training here.

```
python -m open_clip_train.main --dataset-type csv --train-data {split}.csv --csv-img-key filepath \\
    --csv-caption-key title
```

NegCLIP takes the same file, with `--csv-hard-captions-key neg_caption`. A picture has a row for each of its two
captions. `neg_caption` lists captions that are false of the picture; `neg_image` lists rows (counted from 0) of the
twin's picture, or, where a pair has one image only, of another photograph.
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}.csv, tab-separated, and images/{split}/.

    NegCLIP draws from `neg_image` without looking whether there is anything in it: a lone photograph borrows another,
    the one before it, or, where there is none, the one after it.
    """
    with (part.folder / f"{part.split}.csv").open("w", encoding="utf-8", newline="") as stream:
        table = _Table(part, csv.writer(stream, delimiter="\t", lineterminator="\n"))
        first: list[tuple[int, Sample]] = []
        for number, sample in part.samples:
            same = not first or _photo(first[0][1]) == _photo(sample)
            if not sample.record.has_image_1 and not table.other_than(sample) and same:
                first.append((number, sample))
                continue
            following = table.rows + 2 * len(first)
            for held in first:
                yield table.add(*held, [following, following + 1])
            first.clear()
            yield table.add(number, sample, table.other_than(sample))
        if first:
            part.left_out["no second image, and no other photograph to borrow"] += len(first)


class _Table:
    """The table and the images; rows: how many it has. Knows the last two pairs that show different photographs."""

    def __init__(self, part: Part, writer: Any) -> None:
        self.rows = 0
        self._part, self._writer = part, writer
        self._photo: tuple[str, ...] = ()
        self._last: list[int] = []
        self._earlier: list[int] = []
        writer.writerow(COLUMNS)

    def other_than(self, sample: Sample) -> list[int]:
        """Rows of another photograph, [] where there is none yet."""
        return self._last if _photo(sample) != self._photo else self._earlier

    def add(self, number: int, sample: Sample, borrowed: list[int]) -> PairRecord:
        """Two rows for each image; borrowed: rows of another photograph, for want of a twin."""
        record, sides = sample.record, sides_of(sample)
        rows = [[self.rows + 2 * side, self.rows + 2 * side + 1] for side in sides]
        others = rows[::-1] if len(rows) == 2 else [borrowed]
        for side in sides:
            data, suffix = picture(sample, side)
            name = f"images/{self._part.split}/{file_name(number, f'{side}.{suffix}')}"
            path = put(self._part.folder, name, data)
            for caption in captions_of(record, side):
                self._writer.writerow((caption, path, list(captions_of(record, 1 - side)), others[side]))
        if _photo(sample) != self._photo:
            self._earlier = self._last
        self._photo, self._last = _photo(sample), rows[0]
        self.rows += 2 * len(rows)
        return record


def _photo(sample: Sample) -> tuple[str, ...]:
    return sample.record.image_ids or (sample.record.key,)


FORMAT = Format(write, READING)
