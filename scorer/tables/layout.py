"""Which part of which benchmark goes into which column: templates/tables.toml as dataclasses. Standard library only."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scorer.errors import ConfigError, unknown

LAYOUT = Path(__file__).parents[2] / "templates" / "tables.toml"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        group: Heading over several columns, "" for none.
        name: Heading.
        benchmark, parts: Where its figure comes from; several parts are averaged with equal weight.
        metric: Which figure of the (only) part; "" for its headline.
        note: What a reader must know.
    """

    group: str
    name: str
    benchmark: str
    parts: tuple[str, ...]
    metric: str
    note: str

    @property
    def key(self) -> str:
        """The same for columns of several tables that hold the same figure."""
        return " ".join((self.benchmark, *self.parts, self.metric))


@dataclass(frozen=True, slots=True)
class Layout:
    """A table: its columns in the paper's order, the order of its rows by kind, and the paper's own figures in percent.

    best: so many of the highest of a column are printed bold.
    """

    name: str
    title: str
    order: tuple[str, ...]
    best: int
    columns: tuple[Column, ...]
    published: Mapping[str, tuple[float, ...]]


@cache
def layouts() -> dict[str, Layout]:
    """All tables by name, in the paper's order."""
    data: dict[str, Any] = tomllib.loads(LAYOUT.read_text("utf-8"))
    return {row["name"]: _layout(row) for row in data["table"]}


def chosen_layouts(names: Iterable[str]) -> list[Layout]:
    """The tables of these names, all where there is none. ConfigError for an unknown name."""
    known = layouts()
    for name in names:
        if name not in known:
            raise ConfigError(f"--table: {unknown('table', name, known)}")
    return [known[name] for name in dict.fromkeys(names)] or list(known.values())


def _layout(row: Mapping[str, Any]) -> Layout:
    columns = tuple(
        Column(
            item["group"],
            item["name"],
            item["benchmark"],
            tuple(item["parts"]),
            item.get("metric", ""),
            item.get("note", ""),
        )
        for item in row["columns"]
    )
    published = {name: tuple(values) for name, values in row["published"].items()}
    assert all(len(values) == len(columns) for values in published.values()), row["name"]
    assert all(len(column.parts) == 1 or not column.metric for column in columns), row["name"]
    return Layout(row["name"], row["title"], tuple(row["order"]), row["best"], columns, published)
