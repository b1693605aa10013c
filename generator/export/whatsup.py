"""What'sUp: its JSON lists with the true caption first, and the images where it looks for them."""

from collections.abc import Iterator

from generator.export.folder import json_items, picture, put, sides_of, text_of
from generator.export.source import Format, Part
from generator.records import PairRecord, Sample

# Its Controlled Images A know left, right, on and under; its COCO-QA left, right, above and below.
CONTROLLED = {"left of": "left_of", "right of": "right_of"}
COCO_QA = ("above", "below")
READING = """`{split}/` is what its code calls the root directory's parent: start it there with the root `data`.

- left and right: `data/controlled_images_dataset.json`, a list of {image_path, caption_options}, as
  `Controlled_Images` reads it (subset A; two options, and no set accuracy since nothing is on or under);
- above and below: `data/coco_qa_two_obj.json`, a list of [image id, true caption, false caption], as `COCO_QA` reads it
  (subset "two").

The true caption stands first, as in the official files: count a tie as wrong, or shuffle.
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}/data/: two JSON files, controlled_images/ and val2017/.

    Its pair accuracy is kept by the two names in a file's name, so the first noun carries the pair's number.
    """
    base = part.folder / part.split
    (base / "data" / "controlled_images").mkdir(parents=True)
    (base / "data" / "val2017").mkdir()
    with (
        json_items(base / "data" / "controlled_images_dataset.json") as controlled,
        json_items(base / "data" / "coco_qa_two_obj.json") as coco_qa,
    ):
        for number, sample in part.samples:
            record = sample.record
            facts = (record.fact.value_0, record.fact.value_1)
            if record.task != "spatial" or not set(facts) <= {*CONTROLLED, *COCO_QA}:
                part.left_out["not a spatial pair"] += 1
                continue
            captions = (record.captions_0[0], record.captions_1[0])
            for side in sides_of(sample):
                options = [captions[side], captions[1 - side]]
                data, _ = picture(sample, side, ("jpg",))
                if facts[side] in CONTROLLED:
                    path = put(base, f"data/controlled_images/{_name(sample, number, CONTROLLED[facts[side]])}", data)
                    controlled(text_of({"image_path": path, "caption_options": options}))
                else:
                    image_id = 2 * number + side + 1
                    put(base, f"data/val2017/{image_id:012d}.jpg", data)
                    coco_qa(text_of([image_id, *options]))
            yield record


def _name(sample: Sample, number: int, relation: str) -> str:
    nouns = {item.role: item.noun.replace(" ", "-").replace("_", "-") for item in sample.record.objects_0}
    return f"{nouns['A']}-{number:09d}_{relation}_{nouns['B']}.jpeg"


FORMAT = Format(write, READING)
