"""Winoground: examples.jsonl and images/, two pictures and two captions of the same words in another order."""

from collections.abc import Iterator

from generator.export.captions import swapped
from generator.export.folder import picture, put, text_of
from generator.export.source import NO_SECOND_IMAGE, Format, Part
from generator.records import PairRecord

READING = """`{split}/examples.jsonl` has Winoground's fields; `image_0` names `{split}/images/ex_0_img_0.png`.

```python
import json

from PIL import Image

with open("{split}/examples.jsonl") as lines:
    for example in map(json.loads, lines):
        image = Image.open(f"{split}/images/{example['image_0']}.png")
        print(example["id"], image.size, example["caption_0"], example["caption_1"], example["tag"])
```
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}/examples.jsonl and {split}/images/*.png: its readers add the ".png" themselves."""
    base = part.folder / part.split
    base.mkdir()
    count = 0
    with (base / "examples.jsonl").open("w", encoding="ascii") as lines:
        for _, sample in part.samples:
            record = sample.record
            if not record.has_image_1:
                part.left_out[NO_SECOND_IMAGE] += 1
                continue
            names = [f"ex_{count}_img_{side}" for side in range(2)]
            for side, name in enumerate(names):
                put(base, f"images/{name}.png", picture(sample, side, ("png",))[0])
            edit = swapped(record)
            example = {
                "id": count,
                "image_0": names[0],
                "image_1": names[1],
                "caption_0": record.captions_0[0],
                "caption_1": record.captions_1[edit.opposite[0]],
                "tag": record.fact.kind,
                "secondary_tag": record.task,
                "num_main_preds": 1,
                "collapsed_tag": edit.swapped,
                "key": record.key,
            }
            lines.write(text_of(example) + "\n")
            count += 1
            yield record


FORMAT = Format(write, READING)
