"""Whose photographs these are: the licences that a data set made of them has to name."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from generator.coco.annotations import Photo

ANNOTATIONS = "COCO 2017 annotations and captions, (c) COCO Consortium, CC BY 4.0 (https://cocodataset.org/#termsofuse)"
ALTERED = (
    "The photographs were taken by members of Flickr and keep their own licences (photo_credits.csv: a line per photo, "
    "with its address); COCO does not own them. Images were re-encoded, and in spatial pairs image_1 was changed: the "
    "contents of two boxes were exchanged."
)


@dataclass(frozen=True, slots=True)
class Credit:
    """One photo: COCO id, file, where it was published, under which licence ("unknown" where the file does not say)."""

    image_id: int
    file_name: str
    flickr_url: str
    license: str
    license_url: str


def credits_of(photos: Iterable[Photo], licenses: Mapping[int, tuple[str, str]]) -> list[Credit]:
    """One credit per photo, by id."""
    found = {}
    for photo in photos:
        name, url = licenses.get(photo.license_id, ("unknown", ""))
        found[photo.id] = Credit(photo.id, photo.file_name, photo.flickr_url, name, url)
    return [found[number] for number in sorted(found)]


def as_csv(rows: Iterable[Credit]) -> str:
    """The credits as CSV text with a header."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(Credit.__dataclass_fields__)
    writer.writerows((row.image_id, row.file_name, row.flickr_url, row.license, row.license_url) for row in rows)
    return buffer.getvalue()


def as_markdown(rows: Iterable[Credit]) -> str:
    """The card's section on licences: the source, photos by licence, and a warning where one forbids some use."""
    counts = Counter((row.license, row.license_url) for row in rows)
    lines = [ANNOTATIONS, "", ALTERED, "", "| licence of the photo | photos |", "|---|---|"]
    lines += [
        f"| [{name}]({url}) | {count} |" if url else f"| {name} | {count} |"
        for (name, url), count in counts.most_common()
    ]
    restricted = [name for name, _ in counts if "NonCommercial" in name or "NoDerivs" in name]
    if restricted:
        lines += ["", "Some of these licences forbid commercial use or changed copies: mind them before sharing."]
    return "\n".join(lines) + "\n"
