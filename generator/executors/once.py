"""Each pair is reported once, however often its shard is taken up again."""

from pathlib import Path

from generator.plan import ShardPlan
from generator.shard_job import Report
from generator.shards import Row, read_rows


class Once:
    """Passes rows on to `report`, except those of the shard's earlier tries. Forgets a shard when it is done."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._seen: dict[tuple[str, int], set[int]] = {}

    def row(self, plan: ShardPlan, row: Row, fresh: bool) -> None:
        """A row of a shard, from any of its tries."""
        seen = self._seen.setdefault((plan.split, plan.number), set())
        if row.index not in seen:
            seen.add(row.index)
            self._report(row, fresh)

    def done(self, plan: ShardPlan, sealed: Path | None = None) -> None:
        """The shard is complete. sealed: its parquet; rows that were lost on their way are taken from there."""
        seen = self._seen.pop((plan.split, plan.number), set())
        if sealed is not None and len(seen) < len(plan.indices) and sealed.is_file():
            for row in read_rows(sealed):
                if row.index not in seen:
                    self._report(row, False)
