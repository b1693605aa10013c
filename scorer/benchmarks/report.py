"""Reports of benchmarks as Markdown and as JSON, and the list of benchmarks. No heavy import."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorer.benchmarks.base import Benchmark, Part
from scorer.errors import ConfigError, DataError, DependencyError, missing

if TYPE_CHECKING:
    from scorer.benchmarks.figures import Result
    from scorer.benchmarks.run import BenchmarkReport, PartReport

TIES = "_ties_shared"
LABELS = 40  # a part with more of them has its breakdown in the JSON alone

_EXPLAINED = """\
Only a strictly higher score is right: a tie is wrong. *_official answers as the authors' code does, *_ties_shared is
the expectation with ties broken by a fair coin. Intervals are 95 % bootstrap intervals. Chance is what independent
random scores get. "shorter caption" never looks at an image: what it gets above chance, the captions give away.
"""


def report_text(report: "BenchmarkReport") -> str:
    """One benchmark as Markdown."""
    lines = [
        f"# {report.title}",
        "",
        f"{report.paper}. Protocol: {report.protocol}. Option order: seed {report.seed}.",
        "",
    ]
    partial = [part for part in report.parts if part.scored < part.examples]
    if partial:
        lines += [f"**Not the whole benchmark:** {', '.join(_share(part) for part in partial)} (see Left out).", ""]
    lines += _table([_row(part, key, report.judges) for part in report.parts for key in _keys(part, "")], report.judges)
    averages: dict[tuple[str, str], dict[str, Result]] = {}
    for judge, found in report.averages.items():
        for item in found:
            averages.setdefault((item.metric, item.label), {})[judge] = item
    if averages:
        rows = [_cells(label, "mean", by_judge, report.judges) for (_, label), by_judge in averages.items()]
        lines += ["", "## Averages", "", *_table(rows, report.judges)]
    for part in report.parts:
        labelled = [key for key in _keys(part, None) if key[1]]
        if labelled and len(labelled) <= LABELS:
            rows = [_row(part, key, report.judges) for key in labelled]
            lines += ["", f"## {part.name} by label", "", *_table(rows, report.judges)]
        elif labelled:
            lines += ["", f"{part.name}: {len(labelled)} labels, in the JSON."]
    lines += ["", "## What counts as right", "", *_protocols(report), "", _EXPLAINED]
    return "\n".join([*lines, *_left_out(report)]) + "\n"


def plain(report: "BenchmarkReport") -> dict[str, Any]:
    """The same for JSON, with null for NaN."""
    found: dict[str, Any] = _null(asdict(report))
    return found


def benchmarks_text(benchmarks: Sequence[Benchmark], root: Path | None) -> str:
    """Every benchmark with its parts, where they come from, their licence, and what is found under the root.

    Raises ConfigError when there is no such root.
    """
    if root is not None and not root.is_dir():
        raise ConfigError(f"--root: {missing(root, 'directory')}")
    blocks = []
    for benchmark in benchmarks:
        lines = [f"{benchmark.name}: {benchmark.title} ({benchmark.paper})", f"  {benchmark.protocol}"]
        for source in dict.fromkeys(part.images for part in benchmark.parts):
            lines.append(f"  images       {source.name}: {source.origin} ({source.licence})")
            lines.append(f"               expected in {' or '.join(f'ROOT/{place}' for place in source.places)}")
        width = max(len(part.name) for part in benchmark.parts)
        for part in benchmark.parts:
            source = part.annotations
            lines.append(f"  {part.name:<{width}}  ROOT/{source.places[0]}: {source.origin} ({source.licence})")
            if root is not None:
                lines.append(f"  {'':<{width}}  {_found(benchmark, part, root)}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _found(benchmark: Benchmark, part: Part, root: Path) -> str:
    path = part.annotations.under(root)
    if not path.exists():
        return "not found"
    try:
        loaded = benchmark.load(root, part)
    except DataError as error:
        return f"damaged: {error}"
    except DependencyError as error:
        return f"found {path.relative_to(root)}, but {error}"
    paths = {picture.path for item in loaded.examples for picture in item.images}
    here = sum(path.is_file() for path in paths)
    return f"found {path.relative_to(root)}: {len(loaded.examples)} rows, {here} of {len(paths)} images"


def _share(part: "PartReport") -> str:
    return f"{part.scored} of {part.examples} rows of {part.name}"


def _keys(part: "PartReport", label: str | None) -> list[tuple[str, str]]:
    """(metric, label) of every figure of a part, in order; label: only those of this one."""
    keys = dict.fromkeys((item.metric, item.label) for found in part.results.values() for item in found)
    return [key for key in keys if (label is None or key[1] == label) and not _is_idle(part, key)]


def _is_idle(part: "PartReport", key: tuple[str, str]) -> bool:
    """Whether a figure on ties says nothing, because no judge has any: it then equals the strict one."""
    strict = key[0].removesuffix(TIES)
    if strict == key[0]:
        return False
    values = [
        {item.metric: item.value for item in found if item.label == key[1] and item.count}
        for found in part.results.values()
    ]
    return all(known.get(key[0]) == known.get(strict) for known in values)


def _row(part: "PartReport", key: tuple[str, str], judges: Sequence[str]) -> str:
    items = {
        judge: item for judge in judges for item in part.results.get(judge, ()) if (item.metric, item.label) == key
    }
    return _cells(key[1] or part.name, key[0], items, judges)


def _cells(name: str, metric: str, items: "Mapping[str, Result]", judges: Sequence[str]) -> str:
    known = [item for item in items.values() if item.count]
    count, chance = (str(known[0].count), _number(known[0].chance)) if known else ("0", "")
    return f"| {name} | {metric} | {count} | {chance} | " + " | ".join(_cell(items.get(j)) for j in judges) + " |"


def _cell(item: "Result | None") -> str:
    return f"{_number(item.value)} [{_number(item.low)}, {_number(item.high)}]" if item and item.count else "n/a"


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 0.01 and value else f"{value:.3f}"


def _table(rows: Sequence[str], judges: Sequence[str]) -> list[str]:
    return [
        "| part | figure | n | chance | " + " | ".join(judges) + " |",
        "|---|---|--:|--:|" + "---|" * len(judges),
        *rows,
    ]


def _protocols(report: "BenchmarkReport") -> list[str]:
    found: dict[str, str] = {}
    for part in report.parts:
        for results in part.results.values():
            for item in results:
                found.setdefault(item.metric, item.protocol)
    return [f"- {metric}: {protocol}" for metric, protocol in found.items()]


def _left_out(report: "BenchmarkReport") -> list[str]:
    """Everything that a figure is not about: parts, rows, images."""
    lines = []
    for part in report.parts:
        if not part.found:
            lines.append(f"- {part.name}: no annotations; expected {part.annotations}")
            continue
        useless = part.missing_images + part.unreadable_images
        if useless:
            lines.append(
                f"- {_share(part)} are scored: "
                f"{part.missing_images} of {part.images} images are missing, {part.unreadable_images} not readable "
                f"(such as {part.named[0]})"
            )
        lines += [
            f"- {part.name}: {count} rows left out by the protocol: {why}" for why, count in part.excluded.items()
        ]
        lines += [f"- {part.name}: {note}" for note in part.notes]
        lines += [
            f"- {part.name}: {count} {'caption is' if count == 1 else 'captions are'} cut to fit {judge}"
            for judge, count in part.cut_captions.items()
        ]
    return ["## Left out", "", *lines] if lines else ["Nothing was left out: all rows and images are there."]


def _null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _null(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_null(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
