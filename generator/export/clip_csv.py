"""open_clip's csv training, with the columns of hard negatives that NegCLIP's version of it reads besides."""

import csv
from collections.abc import Iterator

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
twin's picture, or, where a pair has one image only, of the photograph before it.
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}.csv, tab-separated, and images/{split}/.

    NegCLIP draws from `neg_image` without looking whether there is anything in it: a lone photograph borrows another.
    """
    before = _Before()
    line = 0
    with (part.folder / f"{part.split}.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        for number, sample in part.samples:
            record = sample.record
            sides = sides_of(sample)
            rows = [[line + 2 * side, line + 2 * side + 1] for side in sides]
            others = rows[::-1] if len(rows) == 2 else [before.other_than(sample)]
            if not others[0]:
                part.left_out["no second image, and no other photograph before it"] += 1
                continue
            for side in sides:
                data, suffix = picture(sample, side)
                path = put(part.folder, f"images/{part.split}/{file_name(number, f'{side}.{suffix}')}", data)
                negatives = list(captions_of(record, 1 - side))
                for caption in captions_of(record, side):
                    writer.writerow((caption, path, negatives, others[side]))
            before.add(sample, rows[0])
            line += 2 * len(rows)
            yield record


class _Before:
    """The rows of the last two pairs that show different photographs."""

    def __init__(self) -> None:
        self._photo: tuple[str, ...] = ()
        self._rows: list[int] = []
        self._earlier: list[int] = []

    def add(self, sample: Sample, rows: list[int]) -> None:
        """The pair that was written last."""
        if _photo(sample) != self._photo:
            self._earlier = self._rows
        self._photo, self._rows = _photo(sample), rows

    def other_than(self, sample: Sample) -> list[int]:
        """Rows of another photograph, [] where there was none yet."""
        return self._rows if _photo(sample) != self._photo else self._earlier


def _photo(sample: Sample) -> tuple[str, ...]:
    return sample.record.image_ids or (sample.record.key,)


FORMAT = Format(write, READING)
