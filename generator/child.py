"""A renderer in a child process that is asked in lines of JSON and may crash, hang or grow without harm to us.

The child reads one request a line from stdin and answers one line each on the pipe that was its stdout; it
redirects its own stdout and stderr (C libraries included) to the log file, so Blender's chatter never mixes in.
"""

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Literal

import psutil

from generator.errors import RendererError

Failure = Literal["crashed", "timed_out", "out_of_memory"]


class ChildFailure(Exception):
    """The child is gone: `kind` says how, `log_tail` is the end of what it printed."""

    def __init__(self, kind: Failure, log_tail: str) -> None:
        super().__init__(f"renderer {kind.replace('_', ' ')}")
        self.kind: Failure = kind
        self.log_tail = log_tail


class Child:
    """`python -m MODULE --log LOG ...`, running until `close`.

    memory_limit_bytes: resident size at which it is killed and reported as out of memory; 0 means none.
    """

    def __init__(self, module: str, log: Path, *args: str, memory_limit_bytes: int = 0) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log
        self._limit = memory_limit_bytes
        command = [sys.executable, "-m", module, "--log", str(log), *args]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=Path(__file__).resolve().parent.parent,
                # Its own group: Ctrl-C must reach the parent alone, which then ends the child in order.
                start_new_session=True,
            )
        except OSError as error:
            raise RendererError(f"cannot start {' '.join(command)}: {error}") from error
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, request: dict[str, Any]) -> None:
        """Queue one request. Raises ChildFailure when the child is already dead."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._fail("crashed") from None

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """The next answer. Raises ChildFailure on death, timeout or too much memory; the child is then gone."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                answer = self._answers.get(timeout=min(0.25, max(0.001, deadline - time.monotonic())))
            except queue.Empty:
                if self._limit and self._resident_bytes() > self._limit:
                    raise self._fail("out_of_memory") from None
                if time.monotonic() >= deadline:
                    raise self._fail("timed_out") from None
                continue
            if answer is None:
                raise self._fail("crashed")
            return answer

    def close(self) -> None:
        """End the child: politely, then not."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # A broken pipe: the child is gone already, which is what we want.
                self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(timeout=5)

    def log_tail(self, size: int = 2000) -> str:
        """The last characters that the child printed."""
        try:
            return self._log.read_text(errors="replace")[-size:]
        except OSError:
            return ""

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)

    def _resident_bytes(self) -> int:
        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def _fail(self, kind: Failure) -> ChildFailure:
        self._process.kill()
        self._process.wait()
        return ChildFailure(kind, self.log_tail())
