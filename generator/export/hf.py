"""A Hugging Face data set: Parquet with the images inside, shown as images, and a card that names the splits."""

from collections.abc import Iterator

from generator.card import HUB_SPLITS
from generator.export.source import Format, Part
from generator.export.table import write_table
from generator.records import PairRecord

READING = """```python
from datasets import load_dataset

pairs = load_dataset("parquet", data_files="data/{hub_split}-*.parquet", split="train")
print(pairs[0]["image_0"].size, pairs[0]["captions_0"], pairs[0]["captions_1"])
```

`load_dataset` with this folder's full path, or its name on the Hub, finds all splits by itself.
"""


def write(part: Part) -> Iterator[PairRecord]:
    """data/{split}-00000.parquet, images as `datasets.Image`."""
    return write_table(part, part.folder / "data", HUB_SPLITS[part.split], image_features=True)


FORMAT = Format(write, READING, data_files="data/{hub_split}-*.parquet")
