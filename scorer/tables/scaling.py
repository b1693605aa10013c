"""The scaling figure (Fig. 8): accuracy against the size of a run, for every column that has figures."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from scorer.benchmarks.figures import Result
from scorer.palette import COLOURS, GREY, MARKERS
from scorer.tables.cells import Figure
from scorer.tables.layout import Column, Layout
from scorer.tables.rows import KINDS, Row

Scale = Literal["pairs", "nouns", "parameters"]
AXES = {
    "pairs": "training pairs",
    "nouns": "categories (distinct nouns of the training pairs)",
    "parameters": "trained parameters",
}
WIDE = 4  # panels side by side


@dataclass(frozen=True, slots=True)
class Point:
    """A run in a panel."""

    column: str
    series: str
    run: str
    size: int
    result: Result


def draw_scaling(
    rows: Sequence[Row], tables: Sequence[Layout], figures: Mapping[str, Figure], scale: Scale, out: Path
) -> str:
    """Write OUT/scaling.png, .svg and .csv; one line that says what was done, or why not.

    A line joins the runs of one model on the same towers.
    """
    unknown = [row.title for row in rows if row.kind != "clip" and _size(row, scale) is None]
    columns = {column.key: column for table in tables for column in table.columns if not figures[column.key].reason}
    points = {key: list(_points(column, rows, figures[key], scale)) for key, column in columns.items()}
    left = f"; without {', '.join(unknown)}, which do not say their number of pairs" if unknown else ""
    if all(len({point.size for point in some}) < 2 for some in points.values()):
        return f"no scaling figure: it needs runs of two sizes ({AXES[scale]}){left}"
    with (out / "scaling.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["column", "series", "run", scale, "value", "low", "high", "count", "chance"])
        for some in points.values():
            for point in some:
                r = point.result
                known = [r.value, r.low, r.high, r.count, r.chance]
                writer.writerow([point.column, point.series, point.run, point.size, *known])
    _draw(columns, points, figures, rows, scale, out)
    sizes = sorted({point.size for some in points.values() for point in some})
    said = ", ".join(f"{size:,}" for size in sizes)
    panels = "1 panel" if len(columns) == 1 else f"{len(columns)} panels"
    return f"scaling over {said} {AXES[scale]}, {panels}: {out / 'scaling.png'}, .svg, .csv{left}"


def _size(row: Row, scale: Scale) -> int | None:
    return getattr(row.size, scale) if row.size else None


def _points(column: Column, rows: Sequence[Row], figure: Figure, scale: Scale) -> Iterator[Point]:
    for row in rows:
        size = _size(row, scale)
        if row.kind != "clip" and size is not None:
            series = f"{KINDS[row.kind]} on {row.towers}"
            yield Point(column.name, series, row.title, size, figure.results[row.judge.name])


def _draw(
    columns: Mapping[str, Column],
    points: Mapping[str, Sequence[Point]],
    figures: Mapping[str, Figure],
    rows: Sequence[Row],
    scale: Scale,
    out: Path,
) -> None:
    from matplotlib.figure import Figure as Canvas

    wide = min(WIDE, len(columns))
    high = -(-len(columns) // wide)
    canvas = Canvas(figsize=(max(3.1 * wide, 4.6), 2.7 * high + 0.7), layout="constrained")
    panels = canvas.subplots(high, wide, squeeze=False).ravel()
    names = list(dict.fromkeys(point.series for some in points.values() for point in some))
    handles: dict[str, Any] = {}
    for panel, (key, column) in zip(panels, columns.items(), strict=False):
        for number, name in enumerate(names):
            mine = sorted((point for point in points[key] if point.series == name), key=lambda point: point.size)
            middle = [100 * point.result.value for point in mine]
            spread = [
                [100 * (point.result.value - point.result.low) for point in mine],
                [100 * (point.result.high - point.result.value) for point in mine],
            ]
            sizes = [point.size for point in mine]
            handles[name] = panel.errorbar(
                sizes,
                middle,
                spread,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=5,
                linewidth=1.4,
                capsize=2.5,
            )
        for row in rows:
            if row.kind == "clip":
                value = 100 * figures[key].results[row.judge.name].value
                handles["plain CLIP"] = panel.axhline(value, color=GREY, linestyle="--", linewidth=1)
        handles["chance"] = panel.axhline(100 * figures[key].chance, color="black", linestyle=":", linewidth=1)
        panel.set_title(f"{column.name} (n = {figures[key].count})", fontsize=9)
        panel.set_xlabel(AXES[scale], fontsize=8)
        panel.set_ylabel("accuracy (%)", fontsize=8)
        panel.tick_params(labelsize=8)
        panel.grid(alpha=0.25)
        if scale == "parameters":
            panel.set_xscale("log")
        else:
            panel.set_xlim(left=0)
    for panel in panels[len(columns) :]:
        panel.set_axis_off()
    canvas.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    for suffix in ("png", "svg"):
        canvas.savefig(out / f"scaling.{suffix}", dpi=150)
