"""What'sUp: its JSON lists with the true caption first, and the images where it looks for them."""

from collections.abc import Iterator

from generator.export.folder import json_items, picture, put, sides_of, text_of
from generator.export.source import Format, Part
from generator.records import PairRecord, Sample

# By our relation: the words that its code looks for in captions, whichever synonym ours use.
PHRASES = {"left of": "to the left of", "right of": "to the right of", "above": "above", "below": "below"}
OPPOSITES = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}
# Its Controlled Images A know left, right, on and under, and the true one of these stands first.
CONTROLLED = {"left of": "left_of", "right of": "right_of"}
CONTROLLED_PHRASES = ("on", "under", PHRASES["left of"], PHRASES["right of"])
READING = """`{split}/` is where its code runs, with the root directory `data`.

- left and right: `data/controlled_images_dataset.json`, a list of {image_path, caption_options}, as `Controlled_Images`
  reads it (subset A; nothing is on or under anything, so there is no set accuracy);
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
            if record.task != "spatial" or OPPOSITES.get(record.fact.value_0) != record.fact.value_1:
                part.left_out["not a spatial pair"] += 1
                continue
            for side in sides_of(sample):
                relation = (record.fact.value_0, record.fact.value_1)[side]
                data, _ = picture(sample, side, ("jpg",))
                if relation in CONTROLLED:
                    path = put(base, f"data/controlled_images/{_name(sample, number, relation)}", data)
                    options = [PHRASES[relation], *(word for word in CONTROLLED_PHRASES if word != PHRASES[relation])]
                    controlled(text_of({"image_path": path, "caption_options": _say(record, options)}))
                else:
                    image_id = 2 * number + side + 1
                    put(base, f"data/val2017/{image_id:012d}.jpg", data)
                    options = [PHRASES[relation], PHRASES[OPPOSITES[relation]]]
                    coco_qa(text_of([image_id, *_say(record, options)]))
            yield record


def _say(record: PairRecord, phrases: list[str]) -> list[str]:
    """The pair's caption "A relation B" with each of the phrases for its relation."""
    before, relation, after = record.captions_0[0].partition(f" {record.words[0]} ")
    assert relation, record.captions_0
    return [f"{before} {phrase} {after}" for phrase in phrases]


def _name(sample: Sample, number: int, relation: str) -> str:
    nouns = {item.role: item.noun.replace(" ", "-").replace("_", "-") for item in sample.record.objects_0}
    return f"{nouns['A']}-{number:09d}_{CONTROLLED[relation]}_{nouns['B']}.jpeg"


FORMAT = Format(write, READING)
