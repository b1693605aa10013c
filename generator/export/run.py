"""The `export` verb, from top to bottom: look, write split by split, card, credits, and up to a Hub when asked."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from generator import __version__
from generator.cli import Export
from generator.errors import ConfigError, DataError
from generator.export.card import write_card
from generator.export.folder import building
from generator.export.formats import FORMATS
from generator.export.source import Part, Source, read_source
from generator.export.tally import Tally
from generator.progress import Meter
from generator.records import SCHEMA_VERSION, Sample
from generator.shards import read_json, write_json
from generator.storage import url_of

ABOUT = "export.json"


def run_export(config: Export) -> int:
    """Write the export, unless the same one is there already, and push it when asked. 0."""
    from generator.export.push import check_push, push

    if url_of(config.out):
        raise ConfigError(f"--out {url_of(config.out)}: an export is written to a directory; upload it from there")
    if config.push:
        check_push(config.push)
    source = read_source(config.dirs, config.split)
    about = _about(config, source)
    if _is_there(config.out, about):
        print(f"{config.out} holds this export already")
    else:
        tally = write_export(config, source, about)
        print(_summary(config, tally))
    if config.push:
        print(f"pushed:  {push(config.out, config.push, config.private)}")
    return 0


def write_export(config: Export, source: Source, about: dict[str, Any]) -> Tally:
    """The folder at --out, whole or not at all. DataError where the format can hold none of the pairs."""
    form = FORMATS[config.to]
    tally = Tally()
    with building(config.out) as folder:
        with Meter("pairs", source.pairs, "pairs") as meter:
            for split in source.shards:
                part = Part(folder, split, _numbered(source, split, meter), source, tally.left_out)
                for record in form.write(part):
                    tally.add(record)
        if not tally.written():
            raise DataError(f"{config.to} can hold none of these {source.pairs} pairs: {_reasons(tally)}")
        write_card(folder, config.out.resolve().name, config.to, form, source, tally)
        counts = {
            "pairs": {split: tally.written(split) for split in source.shards},
            "left_out": dict(sorted(tally.left_out.items())),
        }
        write_json(folder / ABOUT, about | counts | {"runs": [_without_place(run) for run in source.runs]})
    return tally


def _numbered(source: Source, split: str, meter: Meter) -> Iterator[tuple[int, Sample]]:
    for number, sample in enumerate(source.samples(split)):
        yield number, sample
        meter.step()


def _about(config: Export, source: Source) -> dict[str, Any]:
    """What makes an export this one and no other."""
    return {
        "to": config.to,
        "splits": list(source.shards),
        "content": source.digest,
        "versions": {"generator": __version__, "schema": SCHEMA_VERSION},
    }


def _without_place(run: Mapping[str, Any]) -> dict[str, Any]:
    """run.json without the directory it was made in, which is nobody's business where the export goes."""
    config = {key: value for key, value in run["config"].items() if key != "out"}
    parts = {"runs": [_without_place(part) for part in run["runs"]]} if "runs" in run else {}
    return {**run, "config": config, **parts}


def _is_there(out: Path, about: dict[str, Any]) -> bool:
    path = out / ABOUT
    if not path.is_file():
        return False
    found = read_json(path)
    return {key: found.get(key) for key in about} == about


def _summary(config: Export, tally: Tally) -> str:
    lines = [f"{tally.written()} pairs as {config.to}: {config.out}"]
    if tally.left_out:
        lines.append(f"left out: {_reasons(tally)}")
    lines.append(f"how to read it, licences and credits: {config.out}/README.md")
    return "\n".join(lines)


def _reasons(tally: Tally) -> str:
    return ", ".join(f"{count} ({reason})" for reason, count in tally.left_out.most_common())
