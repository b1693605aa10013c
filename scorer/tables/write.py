"""Tables on disk: Markdown for reading, LaTeX (booktabs) for a paper, CSV and JSON for programs. No heavy import."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from scorer.benchmarks.figures import Result
from scorer.tables.cells import Figure
from scorer.tables.layout import Column, Layout
from scorer.tables.rows import Row

CHANCE = "Random Chance"
NAMES = ("table", "row", "group", "column", "value", "low", "high", "count", "chance", "published", "reason", "notes")
_TEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"}

_EXPLAINED = """\
Accuracies in percent with 95 % bootstrap intervals. Only a strictly higher score is right. Chance is what independent
random scores get over the same rows; n is how many rows were scored."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its figures by column key; rows in order. published: with the paper's own rows, too."""

    layout: Layout
    rows: Sequence[Row]
    figures: Mapping[str, Figure]
    published: bool

    def figure(self, column: Column) -> Figure:
        return self.figures[column.key]

    def result(self, row: Row, column: Column) -> Result | None:
        return self.figure(column).results.get(row.judge.name)

    def best(self, column: Column) -> frozenset[str]:
        """Titles of the rows to print bold; ties are all bold."""
        known = [(found.value, row.title) for row in self.rows if (found := self.result(row, column)) is not None]
        values = sorted((value for value, _ in known), reverse=True)[: self.layout.best]
        return frozenset(title for value, title in known if values and value >= values[-1])

    def paper(self) -> list[tuple[str, tuple[float, ...]]]:
        """The paper's own rows, where they were asked for."""
        return [(f"{name} (published)", row) for name, row in self.layout.published.items() if self.published]


def write_tables(tables: Sequence[Table], out: Path) -> str:
    """Write OUT/tables.md, .csv, .json and OUT/table-N.tex; the Markdown and where the files are."""
    out.mkdir(parents=True, exist_ok=True)
    text = "\n".join(_markdown(table) for table in tables) + f"\n{_EXPLAINED}\n"
    (out / "tables.md").write_text(text, "utf-8")
    for table in tables:
        (out / f"{table.layout.name}.tex").write_text(_latex(table), "utf-8")
    records = [record for table in tables for record in _records(table)]
    (out / "tables.json").write_text(json.dumps(records, indent=1), "utf-8")
    lines = io.StringIO()
    writer = csv.DictWriter(lines, NAMES, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**record, "notes": "; ".join(record["notes"])} for record in records)
    (out / "tables.csv").write_text(lines.getvalue(), "utf-8")
    return f"{text}\ntables: {out}"


def _markdown(table: Table) -> str:
    columns = table.layout.columns
    heads = [f"{column.group}: {column.name}" if column.group else column.name for column in columns]
    lines = [f"## {table.layout.title}", "", _line(["Model", *heads]), _line(["---", *("--:" for _ in columns)])]
    for row in table.rows:
        lines.append(_line([row.title, *(_cell(table, row, column) for column in columns)]))
    lines.append(_line([CHANCE, *(_chance(table.figure(column)) for column in columns)]))
    lines.append(_line(["n", *(_count(table.figure(column)) for column in columns)]))
    for name, values in table.paper():
        lines.append(_line([f"*{name}*", *(f"*{value:.1f}*" for value in values)]))
    return "\n".join([*lines, "", *(f"- {text}" for text in _remarks(table)), ""])


def _latex(table: Table) -> str:
    columns = table.layout.columns
    lines = [
        "% needs \\usepackage{booktabs}",
        *(f"% {text}" for text in _remarks(table)),
        f"\\begin{{tabular}}{{l{'c' * len(columns)}}}",
        "\\toprule",
    ]
    if any(column.group for column in columns):
        heads, rules, at = [], [], 2
        for group, members in groupby(columns, key=lambda column: column.group):
            width = len(list(members))
            heads.append(f"\\multicolumn{{{width}}}{{c}}{{{tex(group)}}}")
            rules.append(f"\\cmidrule(lr){{{at}-{at + width - 1}}}")
            at += width
        lines += [f" & {' & '.join(heads)} \\\\", " ".join(rules)]
    lines += [" & ".join(["Model", *(tex(column.name) for column in columns)]) + " \\\\", "\\midrule"]
    for row in table.rows:
        cells = [_tex_cell(table, row, column) for column in columns]
        lines.append(" & ".join([tex(row.title), *cells]) + " \\\\")
    lines.append("\\midrule")
    for name, said in ((CHANCE, _chance), ("$n$", _count)):
        lines.append(" & ".join([name, *(said(table.figure(column)) for column in columns)]) + " \\\\")
    if table.paper():
        lines.append("\\midrule")
    for name, values in table.paper():
        lines.append(" & ".join([f"\\textit{{{tex(name)}}}", *(f"{value:.1f}" for value in values)]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def _records(table: Table) -> Iterator[dict[str, Any]]:
    """One for each row and column, null where there is nothing."""
    for place, column in enumerate(table.layout.columns):
        figure = table.figure(column)
        where = {"table": table.layout.name, "group": column.group, "column": column.name}
        rest = {"count": figure.count, "chance": _known(figure.chance), "reason": figure.reason, "notes": figure.notes}
        for row in table.rows:
            item = table.result(row, column)
            value, low, high = (item.value, item.low, item.high) if item else (None, None, None)
            yield {**where, "row": row.title, "value": value, "low": low, "high": high, **rest, "published": False}
        for name, values in table.paper():
            yield {
                **where,
                "row": name,
                "value": round(values[place] / 100, 4),
                "low": None,
                "high": None,
                "count": None,
                "chance": None,
                "published": True,
                "reason": "",
                "notes": (),
            }


def _cell(table: Table, row: Row, column: Column) -> str:
    item = table.result(row, column)
    if item is None:
        return "n/a"
    value = f"**{_percent(item.value)}**" if row.title in table.best(column) else _percent(item.value)
    return f"{value} [{_percent(item.low)}, {_percent(item.high)}]"


def _tex_cell(table: Table, row: Row, column: Column) -> str:
    item = table.result(row, column)
    if item is None:
        return "n/a"
    value = f"\\textbf{{{_percent(item.value)}}}" if row.title in table.best(column) else _percent(item.value)
    return f"{value} {{\\scriptsize [{_percent(item.low)}, {_percent(item.high)}]}}"


def _remarks(table: Table) -> list[str]:
    """Why columns have no figure, and what is to be known of those that have."""
    found: dict[str, list[str]] = {}
    for column in table.layout.columns:
        figure = table.figure(column)
        for text in (f"n/a: {figure.reason}",) if figure.reason else figure.notes:
            found.setdefault(text, []).append(column.name)
    return [f"{', '.join(names)}: {text}" for text, names in found.items()]


def tex(text: str) -> str:
    """Plain text for LaTeX."""
    return "".join(_TEX.get(letter, letter) for letter in text)


def _chance(figure: Figure) -> str:
    return "n/a" if math.isnan(figure.chance) else _percent(figure.chance)


def _count(figure: Figure) -> str:
    return str(figure.count)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
