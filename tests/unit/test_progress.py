"""Progress: figures that are right, a bar on a terminal, plain lines elsewhere."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from generator import progress
from generator.progress import Meter, clock

ROOT = Path(__file__).resolve().parents[2]


class Clock:
    """time.monotonic, by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (0.6, "0:01"), (59.4, "0:59"), (59.6, "1:00"), (90, "1:30"), (3599, "59:59"), (4000, "1:06:40")],
)  # fmt: skip
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_lines_come_now_and_then_and_at_the_end(hand: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Meter("pairs", 40, "images", factor=2) as meter:
        for _ in range(20):
            hand.now += 1.0
            meter.step()
        assert capsys.readouterr().err.splitlines() == ["pairs 15/40 2.0 images/s 0:25 left"]
        for _ in range(20):
            hand.now += 1.0
            meter.step()
    assert capsys.readouterr().err.splitlines() == ["pairs 30/40 2.0 images/s 0:10 left", "pairs 40/40 2.0 images/s"]


def test_what_was_there_before_does_not_count_for_the_rate(hand: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    """A resumed run starts at 900 of 1000: its rate is that of the new pairs."""
    with Meter("pairs", 1000, "images", done=900) as meter:
        hand.now += 20.0
        meter.reach(910, "3 rejected")
    assert capsys.readouterr().err.splitlines()[0] == "pairs 910/1000 0.5 images/s 3:00 left 3 rejected"


def test_the_rate_is_that_of_the_last_minute(hand: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Meter("pairs", 10000) as meter:
        for step in range(1, 101):
            hand.now += 10.0
            meter.reach(step)
        for step in range(20):
            hand.now += 10.0
            meter.reach(100 + 10 * (step + 1))
        last = capsys.readouterr().err.splitlines()[-1]
    # One a second now; the slow start is forgotten.
    assert last == "pairs 300/10000 2:41:40 left"


def test_nothing_done_yet_shows_no_figures(hand: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Meter("pairs", 5, "images"):
        hand.now += 1
    assert capsys.readouterr().err == "pairs 0/5\n"


def test_a_failed_run_prints_no_last_line(hand: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with Meter("pairs", 5):
            hand.now += 1
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar() -> None:
    program = (
        "import time; from generator.progress import Meter\n"
        "with Meter('pairs', 4, 'images', 2) as meter:\n"
        "    for _ in range(4): time.sleep(0.15); meter.step('0 rejected')\n"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stderr=theirs, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # The other end is closed.
            break
        if not part:
            break
        seen += part
    assert process.wait(timeout=30) == 0
    os.close(ours)
    text = seen.decode(errors="replace")
    assert "4/4" in text
    assert "images/s" in text
    assert "\x1b[" in text
