"""MosaicML streaming: MDS shards, written by its own package."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from generator.errors import DependencyError
from generator.export.folder import picture
from generator.export.source import NO_SECOND_IMAGE, Format, Part
from generator.records import PairRecord, Sample

READING = """```python
from streaming import StreamingDataset

pairs = StreamingDataset(local="{split}", batch_size=1)
print(pairs[0]["image_0"].size, pairs[0]["record"]["captions_0"], pairs[0]["record"]["captions_1"])
```
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}/index.json and shard.*.mds. Raises DependencyError where the package is missing."""
    try:
        from streaming import MDSWriter
    except ImportError as error:
        # Its requirements and ours do not meet in one set of pinned versions, so `pip install twinscene[all]` leaves
        # it out.
        raise DependencyError(
            f"--to mosaic needs MosaicML streaming ({error}); install it with: pip install mosaicml-streaming"
        ) from error
    twins = bool(part.source.twins)
    images = [f"image_{side}" for side in range(1 + twins)]
    masks = [f"mask_{side}" for side in range(1 + twins)] if part.source.masks else []
    # The encoding only chooses how an image is opened again: the bytes go in as they are.
    columns = dict.fromkeys(images, "jpeg" if part.source.jpeg else "png") | dict.fromkeys(masks, "png")
    columns |= {"key": "str", "record": "json"}
    with MDSWriter(out=str(part.folder / part.split), columns=columns, hashes=["sha1"]) as writer:
        for _, sample in part.samples:
            if twins and not sample.record.has_image_1:
                part.left_out[NO_SECOND_IMAGE] += 1
                continue
            writer.write(_cells(sample, images, masks))
            yield sample.record


def _cells(sample: Sample, images: list[str], masks: list[str]) -> dict[str, Any]:
    cells: dict[str, Any] = {name: picture(sample, side)[0] for side, name in enumerate(images)}
    cells |= {name: sample.files[f"{name}.png"] for name in masks}
    return cells | {"key": sample.record.key, "record": asdict(sample.record)}


FORMAT = Format(write, READING)
