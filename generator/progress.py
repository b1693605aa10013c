"""Progress for people: a live bar on a terminal, a plain line now and then in a log file."""

import sys
import time
from collections import deque
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

LINE_EVERY_S = 15.0
WINDOW_S = 60.0


class Meter:
    """Counts finished things and shows rate and time left. Use as a context manager; writes to stderr.

    factor: what one step stands for in the rate shown (two images per pair). done: finished before this run.
    """

    def __init__(self, what: str, total: int, unit: str = "", factor: int = 1, done: int = 0) -> None:
        self._what, self._total, self._unit, self._factor = what, total, unit, factor
        self._done = done
        self._recent: deque[tuple[float, int]] = deque([(time.monotonic(), done)])
        self._last_line = time.monotonic()
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[note]}"),
            )
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task(what, total=total, completed=done, note="")

    def __enter__(self) -> "Meter":
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
        elif kind is None:
            self._line()

    def step(self, note: str = "") -> None:
        """One more is done; note: a few words shown behind the figures."""
        self.reach(self._done + 1, note)

    def reach(self, done: int, note: str = "") -> None:
        """`done` are finished by now."""
        now = time.monotonic()
        self._done = done
        self._recent.append((now, done))
        while len(self._recent) > 2 and now - self._recent[0][0] > WINDOW_S:
            self._recent.popleft()
        if self._bar:
            self._bar.update(self._task, completed=done, note=f"{self._figures()} {note}")
        elif now - self._last_line >= LINE_EVERY_S:
            self._line(note)

    def _line(self, note: str = "") -> None:
        self._last_line = time.monotonic()
        print(f"{self._what} {self._done}/{self._total} {self._figures()} {note}".rstrip(), file=sys.stderr, flush=True)

    def _figures(self) -> str:
        (begin, first), (end, last) = self._recent[0], self._recent[-1]
        rate = (last - first) / (end - begin) if end > begin else 0.0
        if rate <= 0:
            return ""
        left = (self._total - self._done) / rate
        shown = f"{rate * self._factor:.1f} {self._unit}/s " if self._unit else ""
        return f"{shown}{clock(left)} left" if self._done < self._total else shown.strip()


def clock(seconds: float) -> str:
    """90 -> "1:30", 4000 -> "1:06:40"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
