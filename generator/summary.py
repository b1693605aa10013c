"""What a run came to, in a few lines."""

import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from generator.cli import Render
from generator.progress import clock
from generator.quarantine import quarantined
from generator.shards import Row


def interpreter() -> str:
    """How this Python is called from here: the path into an environment below this directory, else "python"."""
    path = Path(sys.prefix)
    return str(path.relative_to(Path.cwd()) / "bin" / "python") if path.is_relative_to(Path.cwd()) else "python"


class Summary:
    """Counts of a run: what was there before, and what this call made (`tried`)."""

    def __init__(self, config: Render, round_number: int) -> None:
        self._config = config
        self._round = round_number
        self._begin = time.monotonic()
        self.planned = 0
        self.rejected = 0
        self.tried = 0
        self.tried_rejected = 0
        self.example = ""
        self.reasons: Counter[str] = Counter()

    def add_sealed(self, stats: dict[str, Any]) -> None:
        """A shard that was complete before."""
        self.planned += stats["planned"]
        self.rejected += stats["rejected"]
        self.reasons.update(stats["reasons"])

    def add(self, row: Row, fresh: bool) -> None:
        """A final pair: made just now, or found in an unfinished shard."""
        self.planned += 1
        self.tried += fresh
        if row.reason:
            self.rejected += 1
            self.reasons[row.reason] += 1
            if fresh:
                self.tried_rejected += 1
                self.example = f"{row.key}: {row.detail}"

    def text(self, note: str = "") -> str:
        """Accepted, rejected by reason, rate, places, and what to type next; or, in place of places, a note."""
        out = self._config.out
        seconds = time.monotonic() - self._begin
        accepted = self.planned - self.rejected
        lines = [f"{accepted} of {self.planned} pairs accepted"]
        if self.rejected:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.reasons.most_common())
            lines.append(f"{self.rejected} rejected: {reasons}")
        if self.tried:
            made = 2 * (self.tried - self.tried_rejected)
            lines.append(f"{made} images in {clock(seconds)} ({made / seconds:.2f} images/s)")
        else:
            lines.append("nothing was missing")
        assert out is not None
        pairs, assets = quarantined(out, self._round)
        if pairs:
            fault = f"; at fault: {', '.join(assets)}" if assets else ""
            lines.append(f"{pairs} pairs took the renderer down{fault} (see {out}/quarantine, or --retry-rejected)")
        if note:
            return "\n".join([*lines, note])
        lines += [
            f"shards:  {out}/*/*.tar",
            f"gallery: {out}/index.html",
            f"card:    {out}/README.md",
            f"next:    {interpreter()} -m scorer train {out}",
        ]
        return "\n".join(lines)
