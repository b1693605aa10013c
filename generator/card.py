"""The dataset card: README.md of a run, with Hugging Face metadata, counts, how to load it, licences and credits."""

import csv
import dataclasses
import io
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from generator.assets.catalog import Asset, Catalog
from generator.cli import Render
from generator.errors import OutputError
from generator.records import SPLITS, find_shards, read_shard
from generator.shards import Row, read_rows

# Hugging Face's names of what we call splits; the folders keep ours.
HUB_SPLITS = {"train": "train", "val": "validation", "test": "test"}
SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))
# Licences by the names that the Hub knows; anything else is "other" there and spelled out in the credits.
LICENCES = (
    "cc0-1.0", "cc-by-4.0", "cc-by-3.0", "cc-by-2.0", "cc-by-sa-4.0", "cc-by-sa-3.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0",
    "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "odc-by", "openrail",
)  # fmt: skip
CREDITS_IN_CARD = 300
# Flags that change no pair, and so do not belong in the command that makes the same data again.
NOT_DECISIVE = {
    "out",
    "workers",
    "device",
    "dry_run",
    "timeout_s",
    "memory_gb",
    "shard_size",
    "slice",
    "retry_rejected",
    "executor",
    "address",
    "bank_gb",
}

WHAT_DIFFERS = {
    "spatial": "the spatial relation of two objects, meant in the image plane",
    "attribute": "which colour (or size) belongs to which of two objects",
    "negation": "which objects are present, said with a negation",
}

RECORD = """## A pair

| member | content |
| --- | --- |
| `image_0`, `image_1` | the two images |
| `mask_0.png`, `mask_1.png` | instance masks where they were asked for: 0 the scene, 1 + i object i |
| `json` | the record |

Of the record: `captions_0` (both true of image 0, false of image 1) and `captions_1` (the other way round); `fact`,
what differs and its value on each side; `objects_0` and `objects_1` with noun, asset, named attribute, box in pixels
[x0, y0, x1, y1), visible share and measured colour; `scene_0` and `scene_1`, the whole scene (camera, light, poses in
metres and degrees) as JSON text; `seed`, `index` and `attempt`, from which the pair can be made again. "" and [] stand
for "does not apply". The parquet files hold a row for every planned pair, with the reason where it was rejected.
"""


class _Facts:
    """What the card says, counted row by row: a run may hold millions of pairs."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str, str]] = Counter()  # by split, task and status
        self.reasons: Counter[str] = Counter()
        self.assets: Counter[str] = Counter()  # pairs that show the uid
        self.nouns: set[str] = set()
        self.backgrounds: set[str] = set()
        self.photographs: set[str] = set()
        self.first: Row | None = None  # an accepted pair
        self.shown: list[Asset] = []
        self.example: tuple[Path, tuple[str, ...]] | None = None  # a shard that holds a pair, and its members' suffixes

    def add(self, row: Row) -> None:
        self.pairs[row.split, row.task, row.status] += 1
        if row.status != "accepted":
            self.reasons[row.reason] += 1
            return
        self.first = self.first or row
        self.assets.update(set(row.uids))
        self.nouns.update(row.nouns)
        self.backgrounds.update({row.background} - {""})
        self.photographs.update(row.image_ids)

    def accepted(self, split: str | None = None) -> int:
        return sum(n for (of, _, status), n in self.pairs.items() if status == "accepted" and split in (None, of))


def write_card(out: Path, run: Mapping[str, Any], catalog: Catalog) -> Path:
    """Write OUT/README.md and OUT/credits.csv, from the complete shards. `run` is run.json.

    Credits name exactly the assets that are seen in an accepted pair. Raises DataError on a damaged shard, OutputError.
    """
    facts = _read(out, catalog)
    parts = [
        _metadata(out, facts),
        _introduction(out, run, facts),
        _counts(facts),
        _loading(out, facts),
        _record(facts),
        _making(run),
        _credits(run, facts),
    ]
    _write(out / "credits.csv", _credits_csv(facts))
    return _write(out / "README.md", "\n".join(parts))


def _read(out: Path, catalog: Catalog) -> _Facts:
    facts = _Facts()
    for path in find_shards([out]):
        for row in read_rows(path.with_suffix(".parquet")):
            facts.add(row)
        if facts.example is None or (path.parent.name == "train" and facts.example[0].parent.name != "train"):
            sample = next(read_shard(path), None)
            facts.example = facts.example if sample is None else (path, tuple(sorted(sample.files)))
    facts.shown = [asset for asset in catalog.assets if facts.assets[asset.uid]]
    return facts


def hub_head(name: str, licences: Sequence[str], credits: str, tags: Sequence[str], pairs: int) -> list[str]:
    """How the Hub's metadata of a set of pairs begins; `credits` is the file that spells out other licences."""
    size = next((name for limit, name in SIZES if pairs < limit), "n>10M")
    return [
        "---",
        f"pretty_name: {json.dumps(name)}",
        "license:",
        *(f"- {licence}" for licence in licences),
        *(['license_name: "see the credits"', f"license_link: {credits}"] if "other" in licences else []),
        "language:",
        "- en",
        "task_categories:",
        "- zero-shot-image-classification",
        "- image-to-text",
        "tags:",
        *(f"- {tag}" for tag in tags),
        "size_categories:",
        f"- {size}",
    ]


def _metadata(out: Path, facts: _Facts) -> str:
    """The YAML block that the Hub reads. JSON strings are YAML strings."""
    ids = {licence_id(asset.licence) for asset in facts.shown}
    if not ids or facts.photographs or given_photographs(facts.backgrounds):
        ids.add("other")
    # COCO splits show photographs and no models of ours.
    only_photographs = bool(facts.photographs) and not facts.shown
    credits = "photo_credits.csv" if only_photographs else "credits.csv"
    tags = (
        "hard-negatives",
        "compositionality",
        "image-text-matching",
        *["synthetic"] * (not only_photographs),
        "webdataset",
    )
    splits = [split for split in SPLITS if facts.accepted(split)]
    lines = hub_head(out.resolve().name, sorted(ids), credits, tags, facts.accepted())
    if splits:
        lines += ["configs:", "- config_name: default", "  data_files:"]
        for split in splits:
            lines += [f"  - split: {HUB_SPLITS[split]}", f'    path: "{split}/*.tar"']
    return "\n".join([*lines, "---", ""])


def _introduction(out: Path, run: Mapping[str, Any], facts: _Facts) -> str:
    tasks = sorted({task for _, task, _ in facts.pairs}) or [str(run["config"].get("task", ""))]
    differs = "; ".join(WHAT_DIFFERS.get(task, task) for task in tasks)
    text = f"""# {out.resolve().name}

{facts.accepted():,} twin scenes: pairs of images whose captions differ in exactly one fact, here {differs}.
The captions of either image are false of the other, which makes the twins hard negatives for CLIP-like models.
"""
    if facts.first is not None:
        row = facts.first
        text += f"""
|  | true of image 0 only | true of image 1 only |
| --- | --- | --- |
| 1 | {cell(row.captions_0[0])} | {cell(row.captions_1[0])} |
| 2 | {cell(row.captions_0[1])} | {cell(row.captions_1[1])} |
"""
    return text + "\nOpen `index.html` to look at the pairs.\n"


def _counts(facts: _Facts) -> str:
    tasks = sorted({task for _, task, _ in facts.pairs})
    table = ["## Counts", "", "| split | task | planned | accepted | rejected |", "| --- | --- | ---: | ---: | ---: |"]
    for split in SPLITS:
        for task in tasks:
            yes, no = facts.pairs[split, task, "accepted"], facts.pairs[split, task, "rejected"]
            if yes + no:
                table.append(f"| {split} | {task} | {yes + no:,} | {yes:,} | {no:,} |")
    if facts.reasons:
        table += ["", "Rejected after all attempts, by reason (rows of the parquet files; they are in no tar):", ""]
        table += ["| reason | pairs |", "| --- | ---: |"]
        table += [f"| {reason} | {count:,} |" for reason, count in facts.reasons.most_common()]
    sizes = ((len(facts.nouns), "nouns"), (len(facts.shown), "assets"), (len(facts.backgrounds), "backgrounds"))
    seen = ", ".join(f"{size:,} {name}" for size, name in sizes if size)
    return "\n".join([*table, *(["", f"Seen in them: {seen}."] if seen else []), ""])


def _loading(out: Path, facts: _Facts) -> str:
    if facts.example is None:
        return "## Loading\n\nNo pair was accepted yet.\n"
    path, suffixes = facts.example
    shard, split = path.relative_to(out).as_posix(), path.parent.name
    image = next(suffix for suffix in suffixes if suffix.startswith("image_0."))
    return f"""## Loading

The shards are plain [WebDataset](https://github.com/webdataset/webdataset) tars. Run these in this folder.

With webdataset:

```python
import webdataset as wds

for pair in wds.WebDataset("{shard}", shardshuffle=False).decode("pil"):
    print(pair["__key__"], pair["{image}"].size, pair["json"]["captions_0"], pair["json"]["captions_1"])
```

With Hugging Face datasets (`load_dataset` with this folder's full path, or its name on the Hub, finds all splits by
itself):

```python
from datasets import load_dataset

pairs = load_dataset("webdataset", data_files={{"{HUB_SPLITS[split]}": "{split}/*.tar"}}, split="{HUB_SPLITS[split]}")
print(pairs[0]["__key__"], pairs[0]["{image}"].size, pairs[0]["json"]["captions_0"])
```

With nothing but Python and Pillow:

```python
import io, json, tarfile
from PIL import Image

with tarfile.open("{shard}") as tar:
    for name in tar.getnames():
        if name.endswith(".json"):
            key = name.removesuffix(".json")
            record = json.load(tar.extractfile(name))
            image = Image.open(io.BytesIO(tar.extractfile(f"{{key}}.{image}").read()))
            print(key, image.size, record["captions_0"], record["captions_1"])
```
"""


def _record(facts: _Facts) -> str:
    if facts.photographs:
        return RECORD
    return RECORD + "\nEvery label was checked against the rendered instance masks, not taken from the plan.\n"


def _making(run: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in run["versions"].items() if value != "")
    text = f"## How it was made\n\nTwinScene ({versions}). Everything about the run stands in `run.json`.\n"
    if run["config"].get("engine") == "sprites":
        text += (
            "The images were put together in 2D from layers that Cycles rendered once: empty stages, and each asset in "
            f"{run['config']['views']} views, every one in a light of its own.\n"
        )
    command = render_command(run["config"])
    if command:
        text += f"The same versions make the same pairs again with\n\n```\n{command}\n```\n"
    return text


def render_command(config: Mapping[str, Any]) -> str:
    """The command line of `render` that gives this configuration, defaults left out; "" for another verb's."""
    fields = {field.name: field.default for field in dataclasses.fields(Render)}
    if set(config) != set(fields):
        return ""
    defaults = Render(task=config["task"], n=config["n"]).resolved()
    words = ["python", "-m", "generator", "render", "--task", config["task"], "--n", str(config["n"])]
    for name, value in config.items():
        if name in ("task", "n") or name in NOT_DECISIVE or value == getattr(defaults, name):
            continue
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
        else:
            words += [flag, str(value)]
    return shlex.join(words)


def given_photographs(backgrounds: Iterable[str]) -> bool:
    """Whether images of the user's stand behind the objects; nobody told us their licences."""
    return any(name.startswith("photo_") for name in backgrounds)


def credits_table(assets: Sequence[Asset], pairs: Mapping[str, int]) -> str:
    """The 3D models that are shown, with their licences and how many pairs show each uid; "" without any."""
    if not assets:
        return ""
    licences = Counter(asset.licence or "unknown" for asset in assets)
    names = "; ".join(f"{cell(name)} ({count})" for name, count in licences.most_common())
    text = f"3D models seen in the images, by licence: {names}. `credits.csv` has them all.\n\n"
    text += "| noun | model | author | licence | pairs |\n| --- | --- | --- | --- | ---: |\n"
    for asset in assets[:CREDITS_IN_CARD]:
        cells = (cell(asset.noun), model_link(asset), cell(asset.author), cell(asset.licence or "unknown"))
        text += f"| {' | '.join(cells)} | {pairs[asset.uid]} |\n"
    if len(assets) > CREDITS_IN_CARD:
        text += f"\nand {len(assets) - CREDITS_IN_CARD:,} more in `credits.csv`.\n"
    return text


def _credits(run: Mapping[str, Any], facts: _Facts) -> str:
    text = f"## Licences and credits\n\n{credits_table(facts.shown, facts.assets)}"
    if given_photographs(facts.backgrounds):
        text += "\nThe backgrounds are photographs given to the generator, which does not know their licences.\n"
    elif run["config"].get("backgrounds") == "bundled":
        text += "\nThe backgrounds were painted by TwinScene itself; they carry no licence of others.\n"
    if facts.photographs:
        text += (
            f"\n{len(facts.photographs):,} photographs (`image_ids` in the records) are part of this data. Each "
            "keeps its own licence, named by the annotations of its source; COCO's come from Flickr.\n"
        )
    return text


def _credits_csv(facts: _Facts) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    columns = ("uid", "noun", "title", "author", "licence", "url", "sha256")
    writer.writerow((*columns, "pairs"))
    writer.writerows((*(getattr(asset, name) for name in columns), facts.assets[asset.uid]) for asset in facts.shown)
    return buffer.getvalue()


def model_link(asset: Asset) -> str:
    title = cell(asset.title or asset.uid)
    return f"[{title}]({asset.url})" if asset.url.startswith(("https://", "http://")) else title


def licence_id(licence: str) -> str:
    """The Hub's name: what is said beside it in words does not count."""
    name = (licence.split() or [""])[0].lower()
    return name if name in LICENCES else "other"


def cell(text: str) -> str:
    """Text that stays inside its table cell and is shown as it is."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _write(path: Path, text: str) -> Path:
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    return path
