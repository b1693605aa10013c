"""Whose photographs they are, as the runs themselves say."""

import csv
from collections.abc import Iterator
from pathlib import Path

from generator.coco.credits import Credit


def photo_credits(folder: Path) -> Iterator[Credit]:
    """The rows of a run's photo_credits.csv, none where it has no photographs."""
    path = folder / "photo_credits.csv"
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                number = int(row["image_id"])
                yield Credit(number, row["file_name"], row["flickr_url"], row["license"], row["license_url"])
