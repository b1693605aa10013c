"""index.html: one file with everything in it, for a run of any size; no server, no network.

Texts of the chosen pairs are one small JSON; their pictures lie in chunks that the page decodes when it shows them.
"""

import base64
import io
import json
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from generator.errors import ConfigError, OutputError
from generator.preview.choice import Run, choose_rejected, choose_samples, read_run
from generator.preview.counts import named_values
from generator.preview.wording import Marked, fact_words, mark_captions
from generator.records import ObjectRecord, PairRecord, Sample
from generator.shards import Row

CHUNK = 12
THUMBNAIL_PX = 256
WEBP_QUALITY = 82
MASK_RGBA = ((230, 159, 0, 80), (86, 180, 233, 80), (0, 158, 115, 80), (204, 121, 167, 80))


def write_preview(out: Path, limit: int = 240) -> Path:
    """Write OUT/index.html: at most `limit` accepted pairs, a sixth as many rejected ones, counts over all.

    Raises DataError where `out` is no run directory, ConfigError on a limit below 1, OutputError.
    """
    if limit < 1:
        raise ConfigError(f"--limit must be at least 1, not {limit}")
    run = read_run(out)
    samples = choose_samples(run, limit)
    rejected = choose_rejected(run, max(1, limit // 6))
    pairs = [_sample_entry(sample) for sample in samples] + [_rejected_entry(row) for row in rejected]
    pictures = [_pictures(sample) for sample in samples]
    chunks = [pictures[start : start + CHUNK] for start in range(0, len(pictures), CHUNK)]
    head = {"summary": _summary(run, len(samples)), "charts": run.counts.charts(), "chunk": CHUNK, "pairs": pairs}
    path = out / "index.html"
    temporary = out / ".index.html.tmp"
    try:
        temporary.write_text(_page(out.resolve().name, head, chunks), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    return path


def _page(title: str, head: dict[str, Any], chunks: list[list[Any]]) -> str:
    """The page template with its style, program and data."""
    folder = resources.files("generator.preview")
    parts = {name: folder.joinpath(f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    data = [f'<script type="application/json" id="head">{_json(head)}</script>']
    data += [
        f'<script type="application/json" id="chunk-{number}">{_json(chunk)}</script>'
        for number, chunk in enumerate(chunks)
    ]
    filled = {"TITLE": _escape(title), "STYLE": parts["css"], "DATA": "\n".join(data), "PROGRAM": parts["js"]}
    # Split once at the marks: a caption that happens to contain one is data, not a place to fill.
    pieces = parts["html"].split("{{")
    text = pieces[0]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        text += filled[name] + rest
    return text


def _json(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _sample_entry(sample: Sample) -> dict[str, Any]:
    record = sample.record
    fact = record.fact
    words = fact_words(fact.kind, fact.value_0, fact.value_1)
    objects = record.objects_0 + record.objects_1
    return {
        "key": record.key,
        "task": record.task,
        "split": record.split,
        "status": "accepted",
        "fact": _fact_name(fact.kind, fact.value_0, fact.value_1),
        "values": [fact.value_0, fact.value_1],
        "nouns": sorted({item.noun for item in objects}),
        "colours": sorted({item.colour for item in objects if item.colour}),
        "captions": _captions(record.captions_0, record.captions_1, words),
        "facts": _fact_rows(record),
        "objects": [[_object(item) for item in side] for side in (record.objects_0, record.objects_1)],
        "size": [record.width, record.height],
    }


def _rejected_entry(row: Row) -> dict[str, Any]:
    return {
        "key": row.key,
        "task": row.task,
        "split": row.split,
        "status": row.reason,
        "detail": row.detail,
        "fact": _fact_name(row.fact_kind, row.fact_value_0, row.fact_value_1),
        "values": [row.fact_value_0, row.fact_value_1],
        "nouns": sorted(set(row.nouns)),
        "colours": sorted(named_values(row, "colour")),
        "captions": _captions(
            row.captions_0, row.captions_1, fact_words(row.fact_kind, row.fact_value_0, row.fact_value_1)
        ),
        "facts": [["background", row.background], ["stage", row.stage], ["attempts", str(row.attempts)]],
    }


def _captions(captions_0: Iterable[str], captions_1: Iterable[str], words: Iterable[str]) -> list[list[Marked]]:
    return list(mark_captions(tuple(captions_0), tuple(captions_1), words))


def _fact_name(kind: str, value_0: str, value_1: str) -> str:
    """What to filter by: relations by their axis, whichever side is which; other facts by their kind."""
    return f"{kind}: {' / '.join(sorted((value_0, value_1)))}" if kind == "relation" else kind


def _fact_rows(record: PairRecord) -> list[list[str]]:
    rows = [
        ["background", record.background],
        ["stage", record.stage],
        ["template", record.template],
        ["words", ", ".join(word for word in record.words if word)],
        ["seed path", f"{record.seed}, {record.task}, {record.index}, {record.attempt}"],
        ["image ids", ", ".join(record.image_ids)],
    ]
    return [row for row in rows if row[1]]


def _object(item: ObjectRecord) -> dict[str, Any]:
    name = " ".join(part for part in (item.size, item.colour, item.noun) if part)
    return {
        "name": name,
        "uid": item.uid,
        "box": item.box,
        "visible": f"{item.visible_fraction:.0%}",
        "measured": item.measured_colour,
    }


def _pictures(sample: Sample) -> dict[str, Any]:
    """Data URLs of both images and, where they were stored, of the coloured masks."""
    masks = (sample.mask(0), sample.mask(1))
    return {
        "images": [_thumbnail(sample.image(side)) for side in (0, 1)],
        "masks": [None if mask is None else _mask_overlay(mask) for mask in masks],
    }


def _thumbnail(data: bytes | None) -> str | None:
    if data is None:
        return None
    image = Image.open(io.BytesIO(data)).convert("RGB")
    image.thumbnail((THUMBNAIL_PX, THUMBNAIL_PX), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=WEBP_QUALITY)
    return _data_url("webp", buffer.getvalue())


def _mask_overlay(data: bytes) -> str:
    """The instance mask as a palette PNG, each object in its translucent colour."""
    mask = Image.open(io.BytesIO(data))
    mask.thumbnail((THUMBNAIL_PX, THUMBNAIL_PX), Image.Resampling.NEAREST)
    numbers = np.asarray(mask, np.uint8)
    colours = [MASK_RGBA[index % len(MASK_RGBA)] for index in range(int(numbers.max(initial=0)))]
    overlay = Image.fromarray(numbers).convert("P")
    overlay.putpalette([channel for colour in ((0, 0, 0, 0), *colours) for channel in colour], "RGBA")
    buffer = io.BytesIO()
    overlay.save(buffer, "PNG", optimize=True)
    return _data_url("png", buffer.getvalue())


def _data_url(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _summary(run: Run, shown: int) -> dict[str, int]:
    planned, accepted = run.counts.status.total(), run.counts.status["accepted"]
    counts = {"planned": planned, "accepted": accepted, "rejected": planned - accepted}
    return {**counts, "shown": shown, "staged": run.staged, "shards": len(run.shards)}
