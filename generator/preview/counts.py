"""Counts over a whole run, one row at a time."""

from collections import Counter
from typing import Any

from generator.preview.wording import fact_words
from generator.shards import Row


class Counts:
    """What the bars of the page show. `add` every planned pair; only accepted ones count beyond the status."""

    def __init__(self) -> None:
        self.status: Counter[str] = Counter()
        self._splits: Counter[str] = Counter()
        self._tasks: Counter[str] = Counter()
        self._relations: Counter[str] = Counter()
        self._colours: Counter[str] = Counter()
        self._sizes: Counter[str] = Counter()
        self._stages: Counter[str] = Counter()
        self._nouns: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Count one planned pair."""
        self.status[row.reason or "accepted"] += 1
        if row.status != "accepted":
            return
        self._splits[row.split] += 1
        self._tasks[row.task] += 1
        if row.fact_kind == "relation":
            self._relations[row.fact_value_0] += 1
        self._colours.update(named_values(row, "colour"))
        self._sizes.update(named_values(row, "size"))
        if row.stage:
            self._stages[row.stage] += 1
        self._nouns.update(set(row.nouns))

    def charts(self) -> list[dict[str, Any]]:
        """Title, the filter that a bar sets ("" none), and the bars, the longest first; charts of one bar left out."""
        charts = [
            ("Status", "status", self.status),
            ("Split", "split", self._splits),
            ("Task", "task", self._tasks),
            ("Relation in image 0", "", self._relations),
            ("Colours", "colour", self._colours),
            ("Sizes", "", self._sizes),
            ("Stage", "", self._stages),
            ("Nouns", "noun", self._nouns),
        ]
        return [
            # Equal counts by name: the same run gives the same page.
            {"title": title, "filter": name, "bars": sorted(counts.items(), key=lambda bar: (-bar[1], bar[0]))}
            for title, name, counts in charts
            if len(counts) > 1 or title == "Status"
        ]


def named_values(row: Row, kind: str) -> set[str]:
    """The values of an attribute kind that the pair names."""
    return fact_words(kind, row.fact_value_0, row.fact_value_1) if row.fact_kind == kind else set()
