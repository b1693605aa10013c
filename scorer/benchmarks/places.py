"""Image sets that several benchmarks share, with where each is looked for below a root."""

from pathlib import Path

from scorer.benchmarks.base import Source

COCO_VAL2017 = Source(
    "COCO val2017",
    "http://images.cocodataset.org/zips/val2017.zip",
    "Flickr terms of each photograph",
    ("coco/val2017", "coco/images/val2017", "val2017"),
)
COCO_VAL2014 = Source(
    "COCO val2014",
    "http://images.cocodataset.org/zips/val2014.zip",
    "Flickr terms of each photograph",
    ("coco/val2014", "coco/images/val2014", "val2014"),
)
COCO_TRAIN2014 = Source(
    "COCO train2014",
    "http://images.cocodataset.org/zips/train2014.zip",
    "Flickr terms of each photograph",
    ("coco/train2014", "coco/images/train2014", "train2014"),
)
VISUAL_GENOME = Source(
    "Visual Genome (VG_100K, VG_100K_2)",
    "https://homes.cs.washington.edu/~ranjay/visualgenome/api.html",
    "CC BY 4.0",
    ("vg", "visual_genome"),
)


def visual_genome_image(folder: Path, image_id: str) -> Path:
    """An image of VISUAL_GENOME by its number: in the first of its two folders that has it, else in the first."""
    places = [folder / half / f"{image_id}.jpg" for half in ("VG_100K", "VG_100K_2")]
    return next((place for place in places if place.exists()), places[0])
