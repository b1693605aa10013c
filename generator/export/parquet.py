"""Plain Parquet: the encoded images as bytes, for pandas, pyarrow, DuckDB, Spark."""

from collections.abc import Iterator

from generator.export.source import Format, Part
from generator.export.table import write_table
from generator.records import PairRecord

READING = """```python
import io

import pandas
from PIL import Image

pairs = pandas.read_parquet("{split}-00000.parquet")
print(Image.open(io.BytesIO(pairs["image_0"][0])).size, pairs["captions_0"][0], pairs["captions_1"][0])
```
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}-00000.parquet, images as bytes."""
    return write_table(part, part.folder, part.split, image_features=False)


FORMAT = Format(write, READING, data_files="{split}-*.parquet")
