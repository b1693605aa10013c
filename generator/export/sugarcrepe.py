"""SugarCrepe: a JSON for each kind of edit, {id: {filename, caption, negative_caption}}, and the images."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator

from generator.export.captions import captions_of, replaced, swapped
from generator.export.folder import file_name, json_items, picture, put, sides_of, text_of
from generator.export.source import Format, Part
from generator.records import PairRecord

READING = """`{split}/data/` is what its evaluation calls `--data_root`, `{split}/images/` what it calls
`--coco_image_root`.

```python
import json
from pathlib import Path

for path in Path("{split}/data").glob("*.json"):
    items = json.loads(path.read_text())
    print(path.stem, len(items), items["0"]["filename"], items["0"]["caption"], items["0"]["negative_caption"])
```

There is a file for each kind of edit that the pairs hold. SugarCrepe's own script goes through a list of seven; take
the others off it. Every caption stands once as the true one and once as the false one where a pair has two images, so
that captions alone tell nothing.
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}/data/{edit}.json and {split}/images/.

    A spatial pair is two kinds of edit: "A left of B" against "A right of B", and against "B left of A".
    """
    base = part.folder / part.split
    files: dict[str, Callable[[str], None]] = {}
    count: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        for number, sample in part.samples:
            record = sample.record
            edits = {edit.name: edit for edit in (replaced(record), swapped(record))}
            for side in sides_of(sample):
                data, suffix = picture(sample, side)
                name = put(base / "images", file_name(number, f"{side}.{suffix}"), data)
                others = captions_of(record, 1 - side)
                for edit in edits.values():
                    if edit.name not in files:
                        files[edit.name] = stack.enter_context(json_items(base / "data" / f"{edit.name}.json", "{}"))
                    for caption, place in zip(captions_of(record, side), edit.opposite, strict=True):
                        item = {"filename": name, "caption": caption, "negative_caption": others[place]}
                        files[edit.name](f'"{count[edit.name]}": {text_of(item)}')
                        count[edit.name] += 1
            yield record


FORMAT = Format(write, READING)
