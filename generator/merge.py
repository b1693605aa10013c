"""`python -m generator merge DIR... --out OUT`: several finished runs as one, their shards byte for byte.

Shards are numbered anew in the order of the runs, each json last, so that an interrupted merge goes on when it is run
again. A pair is (seed, key): runs of two seeds hold the same keys in different shards, so join tables on both.
"""

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generator import __version__
from generator.assets.catalog import Asset, Catalog
from generator.cli import Merge
from generator.errors import ConfigError, DataError, OutputError, no_run
from generator.progress import Meter
from generator.records import SCHEMA_VERSION, SPLITS
from generator.shards import STAGING, read_json, read_rows, replacing, sha256, write_json
from generator.storage import lacking

# Settings that change how many pairs a run holds, where and in what files, not which ones.
HOW_MANY = (
    "n",
    "out",
    "workers",
    "shard_size",
    "split",
    "slice",
    "retry_rejected",
    "timeout_s",
    "bank_gb",
    "memory_gb",
    "dry_run",
)


def run_merge(config: Merge) -> int:
    """The `merge` verb."""
    from generator.card import write_card
    from generator.pipeline import claim
    from generator.preview import write_preview

    if not config.dirs:
        raise ConfigError("nothing to merge; name two or more run directories")
    runs = [(folder, read_run(folder)) for folder in config.dirs]
    for folder, run in runs:
        planned = sum(read_json(path)["planned"] for split in SPLITS for path in (folder / split).glob("*.json"))
        if fault := lacking(run, planned):
            raise DataError(f"{folder}: {fault}")
    check_different(runs, config.out)
    check_apart(runs)
    merged = describe([run for _, run in runs])
    claim(config.out, merged)
    moves = list(shard_moves(config.dirs, config.out))
    with Meter("shards", len(moves)) as meter:
        for source, target in moves:
            copy_shard(source, target)
            meter.step()
    join_tables([folder / "photo_credits.csv" for folder in config.dirs], config.out / "photo_credits.csv")
    write_card(config.out, merged, credited(config.dirs))
    write_preview(config.out)
    print(f"{len(moves)} shards of {len(runs)} runs: {config.out}")
    return 0


def read_run(folder: Path) -> dict[str, Any]:
    """run.json of a finished run. DataError where it is none, or not finished, or of another schema."""
    path = folder / "run.json"
    if not path.is_file():
        raise DataError(no_run(folder))
    run = read_json(path)
    if any((folder / STAGING).glob("*/*.pair")):
        raise DataError(f"{folder} is not finished; run its render command again first")
    if run["versions"]["schema"] != SCHEMA_VERSION:
        raise DataError(f"{folder} has records of schema {run['versions']['schema']}, this is {SCHEMA_VERSION}")
    return run


def check_different(runs: list[tuple[Path, dict[str, Any]]], out: Path) -> None:
    """The same run twice, or runs that differ only in how many pairs they hold, would be pairs twice."""
    seen: dict[str, Path] = {}
    for folder, run in runs:
        if folder.resolve() == out.resolve():
            raise OutputError(f"{out} cannot be its own part; give another --out")
        config = {key: value for key, value in run["config"].items() if key not in HOW_MANY}
        # A merged run has no pairs of its own to compare by.
        same = run["fingerprint"] if "runs" in run else json.dumps([config, run["sources"]], sort_keys=True)
        if same in seen:
            raise DataError(f"{seen[same]} and {folder} hold the same pairs: the same configuration, assets and seed")
        seen[same] = folder


def check_apart(runs: list[tuple[Path, dict[str, Any]]]) -> None:
    """Where every part promises that its splits share no asset, or no noun, the whole must keep it: DataError."""
    configs = [part["config"] for _, run in runs for part in _parts(run)]
    promises = {str(config.get("split_by", "pair")) for config in configs}
    if "pair" in promises:
        return
    column = "nouns" if promises == {"noun"} else "uids"
    home: dict[str, tuple[str, Path]] = {}
    for folder, _ in runs:
        for split in SPLITS:
            for name in sorted(_shown(folder / split, column)):
                before, other = home.setdefault(name, (split, folder))
                if before != split:
                    raise DataError(
                        f"{name} is in {before} of {other} and in {split} of {folder}, and --split-by promises that it "
                        "is in one split alone; render both with the same --assets and --split"
                    )


def _parts(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs that a run.json tells of: itself, or all that it was merged from."""
    return [leaf for part in run["runs"] for leaf in _parts(part)] if "runs" in run else [run]


def _shown(folder: Path, column: str) -> set[str]:
    """The nouns, or the assets' uids, of the accepted pairs of one split."""
    rows = (row for path in sorted(folder.glob("*.parquet")) for row in read_rows(path))
    return {name for row in rows if row.status == "accepted" for name in getattr(row, column)}


def describe(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """run.json of the whole: the parts' own, in order."""
    text = json.dumps([run["fingerprint"] for run in runs])
    return {
        "config": {"merged": len(runs)},
        "versions": {"generator": __version__, "schema": SCHEMA_VERSION},
        "sources": {},
        "fingerprint": hashlib.sha256(text.encode()).hexdigest(),
        "runs": runs,
    }


def shard_moves(folders: tuple[Path, ...], out: Path) -> Iterator[tuple[Path, Path]]:
    """(old, new) of all shards, without suffix."""
    for split in SPLITS:
        number = 0
        for folder in folders:
            for path in sorted((folder / split).glob("*.json")):
                yield path.with_suffix(""), out / split / f"{number:05d}"
                number += 1


def copy_shard(source: Path, target: Path) -> None:
    """Tar and parquet as links where the file system allows, else as copies; then the json, which completes them."""
    if target.with_suffix(".json").exists():
        return
    stats = read_json(source.with_suffix(".json"))
    for suffix in (".tar", ".parquet"):
        old = source.with_suffix(suffix)
        if not old.is_file() or sha256(old) != stats["sha256"].get(old.name):
            what = "is damaged" if old.is_file() else "is missing"
            raise DataError(f"{old} {what}; `python -m generator validate` tells what else is wrong")
        with replacing(target.with_suffix(suffix)) as temporary:
            try:
                os.link(old, temporary)
            except OSError:
                shutil.copyfile(old, temporary)
    digests = {target.name + Path(name).suffix: digest for name, digest in stats["sha256"].items()}
    origin = {"fingerprint": stats.get("fingerprint", ""), "shard": stats["shard"]}
    write_json(
        target.with_suffix(".json"),
        {**stats, "shard": int(target.name), "sha256": digests, "merged_from": origin},
    )


def credited(folders: tuple[Path, ...]) -> Catalog:
    """The assets that the parts give credit to, each once."""
    assets: dict[str, Asset] = {}
    for folder in folders:
        for row in _rows(folder / "credits.csv"):
            assets[row["uid"]] = Asset(
                uid=row["uid"],
                noun=row["noun"],
                source="",
                path="",
                sha256=row["sha256"],
                model="",
                extent=(0.0, 0.0, 0.0),
                coverage=(0.0, 0.0, 0.0),
                triangles=0,
                paint_plan=None,
                title=row["title"],
                author=row["author"],
                licence=row["licence"],
                url=row["url"],
            )
    return Catalog(tuple(assets[uid] for uid in sorted(assets)), ())


def join_tables(parts: list[Path], target: Path) -> None:
    """CSV files of the same columns as one, each row once; nothing where none of them is there."""
    rows = {tuple(row.items()): row for part in parts for row in _rows(part)}
    if rows:
        with replacing(target) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
            names = list(dict.fromkeys(name for row in rows.values() for name in row))
            writer = csv.DictWriter(stream, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows.values())


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
