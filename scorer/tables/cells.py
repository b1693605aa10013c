"""Figures out of the reports of benchmarks, one for each row and column, or the reason why there is none."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scorer.benchmarks import BENCHMARKS
from scorer.benchmarks.base import Benchmark
from scorer.benchmarks.figures import Result
from scorer.benchmarks.run import BenchmarkReport, PartReport
from scorer.tables.layout import Column, Layout


@dataclass(frozen=True, slots=True)
class Figure:
    """What a column holds.

    Attributes:
        results: By judge; empty where there is no figure.
        count, chance: Rows of the benchmark that were scored, and what random scores get.
        reason: Why there is no figure, "" where there is.
        notes: On the figure: rows without their image, what the column's description says.
    """

    results: Mapping[str, Result]
    count: int
    chance: float
    reason: str
    notes: tuple[str, ...]


def needed(tables: Sequence[Layout]) -> list[Benchmark]:
    """The benchmarks of some tables, with the parts that they need and their columns as averages."""
    columns = [column for table in tables for column in table.columns]
    found = []
    for name in dict.fromkeys(column.benchmark for column in columns):
        benchmark = BENCHMARKS[name]
        mine = {column.key: column.parts for column in columns if column.benchmark == name}
        parts = {part for some in mine.values() for part in some}
        absent = parts - {part.name for part in benchmark.parts}
        assert not absent, f"{name} has no part {absent}"
        kept = tuple(part for part in benchmark.parts if part.name in parts)
        several = {key: some for key, some in mine.items() if len(some) > 1}
        found.append(replace(benchmark, parts=kept, averages=several))
    return found


def figure_of(column: Column, report: BenchmarkReport | str) -> Figure:
    """The figure of a column. report: of its benchmark, or the reason why there is none."""
    if isinstance(report, str):
        return _none(report)
    parts = {part.name: part for part in report.parts}
    for name in column.parts:
        reason = _reason(parts[name])
        if reason:
            return _none(f"{report.title} {name}: {reason}")
    results = {judge: _result(column, parts, report, judge) for judge in report.judges}
    first = next(iter(results.values()))
    cut = [
        f"{part.scored} of {part.examples} rows of {part.name}: the other images are missing"
        for part in (parts[name] for name in column.parts)
        if part.scored < part.examples
    ]
    return Figure(results, first.count, first.chance, "", (*((column.note,) if column.note else ()), *cut))


def _result(column: Column, parts: Mapping[str, PartReport], report: BenchmarkReport, judge: str) -> Result:
    if len(column.parts) > 1:
        return next(item for item in report.averages[judge] if item.label == column.key)
    results = parts[column.parts[0]].results[judge]
    return next(item for item in results if not item.label and column.metric in ("", item.metric))


def _reason(part: PartReport) -> str:
    """Why a part has no figure, "" where it has."""
    if not part.found:
        return f"no annotations; expected {part.annotations}"
    if any(item.count for results in part.results.values() for item in results):
        return ""
    return f"all of its {part.missing_images} images are missing (such as {part.named[0]})"


def _none(reason: str) -> Figure:
    return Figure({}, 0, math.nan, reason, ())
