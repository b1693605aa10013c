"""Each pair is reported once, however often its shard is taken up again."""

from generator.plan import ShardPlan
from generator.shard_job import Report
from generator.shards import Row


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

    def done(self, plan: ShardPlan) -> None:
        """The shard is complete."""
        self._seen.pop((plan.split, plan.number), None)
