"""Tiny shards for tests: flat coloured shapes drawn with Pillow, in the real record format."""

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from generator.records import SCHEMA_VERSION, FactRecord, ObjectRecord, PairRecord, dump, key_of

SHAPES = ("circle", "square", "triangle", "cross", "bar")
COLOURS = {"red": (220, 40, 40), "blue": (40, 70, 220), "green": (40, 170, 60), "yellow": (240, 210, 40)}
SIZE = 32
OPPOSITE = {
    "above": "below",
    "below": "above",
    "to the left of": "to the right of",
    "to the right of": "to the left of",
}
AWAY = {"above": (0, -1), "below": (0, 1), "to the left of": (-1, 0), "to the right of": (1, 0)}


def thing(role: str, noun: str, colour: str, centre: tuple[int, int], named: bool = False) -> ObjectRecord:
    x, y = centre
    box = (x - 6, y - 6, x + 6, y + 6)
    return ObjectRecord(
        role, f"test/{noun}", noun, colour if named else "", "", box, 144, 1.0, colour, (50.0, 0.0, 0.0)
    )


def draw(things: Iterable[tuple[ObjectRecord, str]]) -> bytes:
    """The PNG bytes of some (object, colour) on grey."""
    image = Image.new("RGB", (SIZE, SIZE), (128, 128, 128))
    pen = ImageDraw.Draw(image)
    for item, colour in things:
        x0, y0, x1, y1 = item.box
        fill = COLOURS[colour]
        if item.noun == "circle":
            pen.ellipse(item.box, fill=fill)
        elif item.noun == "square":
            pen.rectangle(item.box, fill=fill)
        elif item.noun == "triangle":
            pen.polygon([(x0, y1), (x1, y1), ((x0 + x1) // 2, y0)], fill=fill)
        elif item.noun == "cross":
            pen.rectangle((x0 + 4, y0, x1 - 4, y1), fill=fill)
            pen.rectangle((x0, y0 + 4, x1, y1 - 4), fill=fill)
        else:
            pen.rectangle((x0, y0 + 4, x1, y1 - 4), fill=fill)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def make_pair(
    task: str, index: int, split: str = "train", second_image: bool = True
) -> tuple[PairRecord, bytes, bytes]:
    """One pair and its two images; depends on (task, index) alone."""
    rng = np.random.default_rng([index, len(task)])
    a, b, c, d = (SHAPES[i] for i in rng.permutation(len(SHAPES))[:4])
    ca, cb, cc, cd = (list(COLOURS)[i] for i in rng.permutation(len(COLOURS)))
    jitter = rng.integers(-2, 3, size=2)
    left, right = (9 + int(jitter[0]), 16 + int(jitter[1])), (23 + int(jitter[0]), 16 + int(jitter[1]))
    first: list[tuple[ObjectRecord, str]]
    second: list[tuple[ObjectRecord, str]]
    if task == "spatial":
        word = list(OPPOSITE)[int(rng.integers(4))]
        dx, dy = AWAY[word]
        near, far = (16 + 7 * dx, 16 + 7 * dy), (16 - 7 * dx, 16 - 7 * dy)
        first = [(thing("A", a, ca, near), ca), (thing("B", b, cb, far), cb)]
        second = [(thing("A", a, ca, far), ca), (thing("B", b, cb, near), cb)]
        other = OPPOSITE[word]
        captions = (f"A {a} {word} a {b}.", f"A {b} {other} a {a}."), (f"A {a} {other} a {b}.", f"A {b} {word} a {a}.")
        fact, words = FactRecord("relation", word, other), (word, other)
    elif task == "attribute":
        first = [(thing("A", a, ca, left, True), ca), (thing("B", b, cb, right, True), cb)]
        second = [(thing("A", a, cb, left, True), cb), (thing("B", b, ca, right, True), ca)]
        captions = (
            (f"a {ca} {a} and a {cb} {b}", f"a {cb} {b} and a {ca} {a}"),
            (f"a {ca} {b} and a {cb} {a}", f"a {cb} {a} and a {ca} {b}"),
        )
        fact, words = FactRecord("colour", f"{ca} {a}, {cb} {b}", f"{cb} {a}, {ca} {b}"), ("", "")
    else:
        first = [(thing("A1", a, ca, left), ca), (thing("A2", b, cb, right), cb)]
        second = [(thing("B1", c, cc, left), cc), (thing("B2", d, cd, right), cd)]
        captions = ((f"a {a} but not a {c}", f"a {b} but not a {d}"), (f"a {c} but not a {a}", f"a {d} but not a {b}"))
        fact, words = FactRecord("presence", f"{a}, {b}", f"{c}, {d}"), ("but not", "but not")
    record = PairRecord(
        SCHEMA_VERSION,
        key_of(task, index),
        task,
        "render",
        split,
        index,
        0,
        0,
        *captions,
        "test",
        words,
        fact,
        second_image,
        SIZE,
        SIZE,
        tuple(t for t, _ in first),
        tuple(t for t, _ in second),
        "none",
        "grey",
        (),
        "",
        "",
    )
    return record, draw(first), draw(second)


def write_shard(path: Path, pairs: Iterable[tuple[PairRecord, bytes, bytes]]) -> Path:
    """A complete shard (tar and the json that marks it)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as tar:
        for record, first, second in pairs:
            members = {
                "image_0.png": first,
                **({"image_1.png": second} if record.has_image_1 else {}),
                "json": dump(record),
            }
            for suffix, data in members.items():
                info = tarfile.TarInfo(f"{record.key}.{suffix}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    path.with_suffix(".json").write_text("{}")
    return path


def write_run(root: Path, sizes: dict[str, int], split: str = "train", first: int = 0) -> Path:
    """A run directory with one shard of so many pairs of each task."""
    pairs = [make_pair(task, first + i, split) for task, count in sizes.items() for i in range(count)]
    write_shard(root / split / "00000.tar", pairs)
    return root
