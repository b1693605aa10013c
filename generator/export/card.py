"""README.md and the credits of an export: what it is, how to read it, whose work is in it."""

import csv
from pathlib import Path

from generator.assets.catalog import Asset
from generator.card import HUB_SPLITS, WHAT_DIFFERS, cell, credits_table, given_photographs, hub_head, licence_id
from generator.coco.credits import Credit, as_csv, as_markdown
from generator.export.credits import photo_credits
from generator.export.source import Format, Source
from generator.export.tally import Tally
from generator.merge import credited

CREDIT_COLUMNS = ("uid", "noun", "title", "author", "licence", "url", "sha256")


def write_card(folder: Path, name: str, to: str, form: Format, source: Source, tally: Tally) -> None:
    """FOLDER/README.md, credits.csv and, where there are photographs, photo_credits.csv. name: of the export."""
    with source.credits() as folders:
        assets = [asset for asset in credited(folders).assets if tally.assets[asset.uid]]
        photos = _photo_credits(folders, tally.photographs)
    with (folder / "credits.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow((*CREDIT_COLUMNS, "pairs"))
        writer.writerows(
            (*(getattr(asset, name) for name in CREDIT_COLUMNS), tally.assets[asset.uid]) for asset in assets
        )
    if photos:
        (folder / "photo_credits.csv").write_text(as_csv(photos), encoding="utf-8")
    parts = [
        _metadata(folder, name, form, assets, tally),
        _introduction(name, to, source, tally),
        _reading(form, tally),
        _credits(tally, assets, photos),
    ]
    (folder / "README.md").write_text("\n".join(parts), encoding="utf-8")


def _metadata(folder: Path, name: str, form: Format, assets: list[Asset], tally: Tally) -> str:
    """The YAML block that the Hub reads. JSON strings are YAML strings."""
    ids = {licence_id(asset.licence) for asset in assets}
    if not ids or tally.photographs or given_photographs(tally.backgrounds):
        ids.add("other")
    link = "photo_credits.csv" if tally.photographs else "credits.csv"
    tags = ("hard-negatives", "compositionality", "image-text-matching")
    lines = hub_head(name, sorted(ids), link, tags, tally.written())
    if form.data_files:
        lines += ["configs:", "- config_name: default", "  data_files:"]
        for split in _splits(tally):
            pattern = _filled(form.data_files, split)
            lines += [f"  - split: {HUB_SPLITS[split]}", f'    path: "{pattern}"']
        # `datasets` caches a local folder by its name and this block: without sizes, another export of the same name
        # would be taken for this one.
        lines += ["dataset_info:", "  splits:"]
        for split in _splits(tally):
            paths = [path for path in folder.glob(_filled(form.data_files, split)) if path.is_file()]
            lines += [f"  - name: {HUB_SPLITS[split]}", f"    num_bytes: {sum(path.stat().st_size for path in paths)}"]
            lines += [f"    num_examples: {tally.written(split)}"]
    return "\n".join([*lines, "---", ""])


def _introduction(name: str, to: str, source: Source, tally: Tally) -> str:
    tasks = sorted({task for _, task in tally.pairs})
    differs = "; ".join(WHAT_DIFFERS.get(task, task) for task in tasks)
    record = tally.first
    assert record is not None
    lines = [
        f"# {name}",
        "",
        f"{tally.written():,} twin scenes, as {to}: images and captions that differ in exactly one fact, here "
        f"{differs}. The captions of either side are false of the other.",
        "",
        "|  | true of image 0 only | true of image 1 only |",
        "| --- | --- | --- |",
        *(f"| {n + 1} | {cell(record.captions_0[n])} | {cell(record.captions_1[n])} |" for n in range(2)),
        "",
        "| split | task | pairs |",
        "| --- | --- | ---: |",
        *(f"| {split} | {task} | {tally.pairs[split, task]:,} |" for split, task in sorted(tally.pairs)),
        "",
    ]
    if tally.left_out:
        reasons = "; ".join(f"{reason} ({count:,})" for reason, count in tally.left_out.most_common())
        lines += [f"Left out, because the format cannot hold them: {reasons}.", ""]
    lines += [
        f"Exported by TwinScene from {len(source.runs)} run{'s' * (len(source.runs) > 1)}, whose configurations stand "
        "in `export.json`.",
        "",
    ]
    return "\n".join(lines)


def _reading(form: Format, tally: Tally) -> str:
    return "## Reading it\n\n" + _filled(form.reading, _splits(tally)[0])


def _credits(tally: Tally, assets: list[Asset], photos: list[Credit]) -> str:
    text = f"## Licences and credits\n\n{credits_table(assets, tally.assets)}"
    if given_photographs(tally.backgrounds):
        text += "\nThe backgrounds are photographs given to the generator, which does not know their licences.\n"
    elif tally.backgrounds:
        text += "\nThe backgrounds were painted by TwinScene itself; they carry no licence of others.\n"
    if photos:
        text += f"\n{as_markdown(photos)}"
    elif tally.photographs:
        text += (
            f"\n{len(tally.photographs):,} photographs are part of this data; each keeps its own licence, "
            "which the runs do not name.\n"
        )
    return text


def _photo_credits(folders: tuple[Path, ...], wanted: set[str]) -> list[Credit]:
    found = {row.image_id: row for folder in folders for row in photo_credits(folder) if str(row.image_id) in wanted}
    return [found[number] for number in sorted(found)]


def _splits(tally: Tally) -> list[str]:
    return [split for split in HUB_SPLITS if tally.written(split)]


def _filled(text: str, split: str) -> str:
    """Examples are full of braces: only these two stand for something."""
    return text.replace("{split}", split).replace("{hub_split}", HUB_SPLITS[split])
