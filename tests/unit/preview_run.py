"""A small finished run directory made by the real shard writer, with coloured boxes for pictures."""

import dataclasses
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from generator.assets.catalog import Asset, Catalog
from generator.cli import Render
from generator.records import SCHEMA_VERSION, FactRecord, ImageFormat, ObjectRecord, PairRecord, key_of
from generator.shards import Row, ShardStage, encode_image, row_of, write_json

SIZE_PX = 96
PAINTS = {"red": (200, 40, 40), "green": (40, 150, 60), "blue": (50, 80, 200), "yellow": (230, 200, 40)}
NOUNS = ("mug", "fire truck", "owl", "tent", "bell", "kite")
SPLITS = ("train",) * 8 + ("val", "test")
BOXES = ((12, 40, 42, 70), (54, 36, 84, 70))


def pictures(colours: tuple[str, str]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Two coloured boxes on grey, (H, W, 3), and their instance mask, (H, W)."""
    image = np.full((SIZE_PX, SIZE_PX, 3), 140, np.uint8)
    mask = np.zeros((SIZE_PX, SIZE_PX), np.uint8)
    for number, (colour, (x0, y0, x1, y1)) in enumerate(zip(colours, BOXES, strict=True), start=1):
        image[y0:y1, x0:x1] = PAINTS[colour]
        mask[y0:y1, x0:x1] = number
    return image, mask


def record_of(index: int, second_image: bool = True, photographs: bool = False) -> PairRecord:
    """Pair `index`: colours swapped between two nouns."""
    nouns = (NOUNS[index % len(NOUNS)], NOUNS[(index + 1) % len(NOUNS)])
    names = tuple(PAINTS)
    colours = (names[index % len(names)], names[(index + 1) % len(names)])

    def objects(given: tuple[str, str]) -> tuple[ObjectRecord, ...]:
        return tuple(
            ObjectRecord(role, f"bundled/{noun}", noun, colour, "", box, 900, 1.0, colour, (50.0, 0.0, 0.0))
            for role, noun, colour, box in zip("AB", nouns, given, BOXES, strict=True)
        )

    (a, b), (one, other) = nouns, colours
    return PairRecord(
        schema_version=SCHEMA_VERSION,
        key=key_of("attribute", index),
        task="attribute",
        source="test",
        split=SPLITS[index % len(SPLITS)],
        index=index,
        attempt=0,
        seed=7,
        captions_0=(f"a {one} {a} and a {other} {b}", f"a {other} {b} and a {one} {a}"),
        captions_1=(f"a {one} {b} and a {other} {a}", f"a {other} {a} and a {one} {b}"),
        template="plain",
        words=(one, other),
        fact=FactRecord("colour", f"{one} {a}, {other} {b}", f"{other} {a}, {one} {b}"),
        has_image_1=second_image,
        width=SIZE_PX,
        height=SIZE_PX,
        objects_0=objects((one, other)),
        objects_1=objects((other, one)),
        stage="ground",
        background="photo_0123" if photographs else "hall",
        image_ids=(str(1000 + index),) if photographs else (),
        scene_0="{}",
        scene_1="{}",
    )


def finished_run(
    out: Path,
    pairs: int = 40,
    rejected: int = 4,
    masks: bool = True,
    image_format: ImageFormat = "jpg",
    second_image: bool = True,
    photographs: bool = False,
) -> Path:
    """Write the run; the last `rejected` of `pairs` pairs are rejected ones. Two shards for the training split."""
    config = Render(task="attribute", n=pairs, out=out, seed=7, masks=masks, image_format=image_format).resolved()
    settings = {k: str(v) if isinstance(v, Path) else v for k, v in dataclasses.asdict(config).items()}
    out.mkdir(parents=True)
    write_json(out / "run.json", {"config": settings, "versions": {"generator": "0.1.0", "schema": SCHEMA_VERSION}})
    stages: dict[tuple[str, int], ShardStage] = {}
    for index in range(pairs):
        record = record_of(index, second_image, photographs)
        number = int(record.split == "train" and index >= pairs // 2)
        stage = stages.setdefault((record.split, number), ShardStage(out, record.split, number))
        if index >= pairs - rejected:
            stage.reject(rejected_row(record))
            continue
        files: dict[str, bytes] = {}
        for side, objects in enumerate((record.objects_0, record.objects_1)[: 1 + second_image]):
            image, mask = pictures((objects[0].colour, objects[1].colour))
            files[f"image_{side}.{image_format}"] = encode_image(image, image_format)
            if masks:
                files[f"mask_{side}.png"] = encode_image(mask, "png")
        stage.accept(record, files)
    for stage in stages.values():
        stage.seal({})
    return out


def rejected_row(record: PairRecord) -> Row:
    """The row of a pair that failed all its attempts."""
    reason = ("too_small", "occluded")[record.index % 2]
    return dataclasses.replace(row_of(record), status="rejected", reason=reason, detail="A covers 0.4 %", attempts=4)


def read_run_json(out: Path) -> dict[str, object]:
    """run.json."""
    data: dict[str, object] = json.loads((out / "run.json").read_text())
    return data


def catalog_of(licences: dict[str, str], extra: str = "unused thing") -> Catalog:
    """A catalog of all the run's nouns and one that it never shows; licences by noun, CC0-1.0 where none is given."""
    assets = tuple(
        Asset(
            uid=f"bundled/{noun}",
            noun=noun,
            source="bundled",
            path=f"{noun}.glb",
            sha256="0" * 64,
            model=f"{noun}.npz",
            extent=(1.0, 1.0, 1.0),
            coverage=(1.0, 1.0, 1.0),
            triangles=12,
            paint_plan=None,
            title=f"A {noun} | by <someone>",
            author=f"{noun} maker",
            licence=licences.get(noun, "CC0-1.0"),
            url=f"https://example.org/{noun.replace(' ', '-')}",
        )
        for noun in sorted((*NOUNS, extra))
    )
    return Catalog(assets, ())
