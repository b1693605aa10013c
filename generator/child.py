"""A renderer in a child process that is asked in lines of JSON and may crash, hang or grow without harm to us.

The child reads one request a line from stdin and answers one line each on the pipe that was its stdout; it
redirects its own stdout and stderr (C libraries included) to the log file, so Blender's chatter never mixes in.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar

import psutil

from generator.errors import RendererError
from generator.specs import fields_of
from generator.threads import one_thread

T = TypeVar("T")
Failure = Literal["crashed", "timed_out", "out_of_memory"]

LOOK_EVERY_S = 1.0
# A renderer with work in hand that uses no processor time for so long is stuck: a deadlock, a stopped process, a lost
# mount. Its own word would not do for a heartbeat: Blender holds Python's lock for whole renders.
PULSE_S = 30.0
# Environment that would have Blender read colour management, materials or settings of somebody else's: the same
# configuration must give the same bytes. (Blender 5.2 sets some of it in any process that imports bpy.)
FOREIGN = ("OCIO", "BLENDER_", "MATERIALX_", "PXR_", "SYCL_")


class ChildFailure(Exception):
    """The child is gone: `kind` and `detail` say how, `log_tail` is the end of what it printed."""

    def __init__(self, kind: Failure, detail: str, log_tail: str) -> None:
        super().__init__(f"renderer {kind.replace('_', ' ')}")
        self.kind: Failure = kind
        self.detail = detail
        self.log_tail = log_tail


class Child:
    """`python -m MODULE --log LOG ...`, running until `close`.

    memory_limit_bytes: resident size at which it is killed and reported as out of memory; 0 means none.
    """

    def __init__(self, module: str, log: Path, *args: str, memory_limit_bytes: int = 0) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log
        self._limit = memory_limit_bytes
        # The child works in a folder of its own.
        command = [sys.executable, "-m", module, "--log", str(log.absolute()), *args]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        one_thread(environment)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=Path(__file__).resolve().parent.parent,
                env=environment,
                # Its own group: Ctrl-C must reach the parent alone, which then ends the child in order.
                start_new_session=True,
            )
        except OSError as error:
            raise RendererError(f"cannot start {' '.join(command)}: {error}") from error
        assert self._process.stdout is not None
        self._family: list[psutil.Process] = []
        self._last_census = float("-inf")
        self._unread = b""
        self._answers = select.poll()
        self._answers.register(self._process.stdout, select.POLLIN)

    def send(self, *requests: dict[str, Any]) -> None:
        """Queue requests, which may hold specs. Raises ChildFailure when the child is already dead."""
        assert self._process.stdin is not None
        lines = "".join(json.dumps(request, default=fields_of) + "\n" for request in requests)
        try:
            self._process.stdin.write(lines.encode())
            self._process.stdin.flush()
        except OSError:
            raise self._fail("crashed", "") from None

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """The next answer. Raises ChildFailure on death, timeout, standstill or too much memory; the child is gone.

        timeout_s: from now on. Watched once a second besides: resident memory, and whether processor time is used.
        """
        begin = last_look = last_beat = time.monotonic()
        used: float | None = None
        while True:
            answer = self._next_answer(min(0.25, max(0.001, begin + timeout_s - time.monotonic())))
            if answer is not None:
                return answer
            now = time.monotonic()
            if now - last_look >= LOOK_EVERY_S:
                last_look = now
                if self._limit and self.resident_bytes() > self._limit:
                    raise self._fail("out_of_memory", f"more than {self._limit / 2**30:.1f} GiB resident")
                before, used = used, self._processor_s()
                last_beat = now if used != before else last_beat
                if now - last_beat >= PULSE_S:
                    raise self._fail("timed_out", f"no processor time used for {PULSE_S:.0f} s")
            if now - begin >= timeout_s:
                raise self._fail("timed_out", f"no answer within {timeout_s:g} s")

    def close(self) -> None:
        """End the child: politely, then not."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):  # A broken pipe: the child is gone already, which is what we want.
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def log_tail(self, size: int = 2000) -> str:
        """The last bytes that the child printed."""
        try:
            with self._log.open("rb") as stream:
                stream.seek(max(0, self._log.stat().st_size - size))
                return stream.read().decode(errors="replace")
        except OSError:
            return ""

    def resident_bytes(self) -> int:
        """Memory that the child and what it started hold now; 0 when it is gone."""
        return sum(self._ask(lambda process: int(process.memory_info().rss)))

    def _processor_s(self) -> float:
        """Processor time of all that live now: less than before when a grandchild has ended."""
        return sum(self._ask(lambda process: float(sum(process.cpu_times()[:2]))))

    def _ask(self, question: Callable[[psutil.Process], T]) -> Iterator[T]:
        """The answers of the child and of the processes that it has started (sprites have a Blender of their own)."""
        now = time.monotonic()
        if now - self._last_census >= LOOK_EVERY_S:  # Finding children means looking at every process there is.
            self._last_census = now
            with contextlib.suppress(psutil.Error):
                child = psutil.Process(self._process.pid)
                self._family = [child, *child.children(recursive=True)]
        for process in self._family:
            with contextlib.suppress(psutil.Error):  # Gone since the census.
                yield question(process)

    def _next_answer(self, wait_s: float) -> dict[str, Any] | None:
        """The next answer, None when none came in time. Raises ChildFailure at the end of the answers."""
        assert self._process.stdout is not None
        while True:
            line, end, rest = self._unread.partition(b"\n")
            if end:
                self._unread = rest
                # What is no answer was printed before the log was opened.
                with contextlib.suppress(ValueError):
                    answer = json.loads(line)
                    if isinstance(answer, dict):
                        return answer
                continue
            if not self._answers.poll(1000 * wait_s):
                return None
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:  # It may have died in the middle of an answer.
                raise self._fail("crashed", "")
            self._unread += part

    def _fail(self, kind: Failure, detail: str) -> ChildFailure:
        """End the child, whose fault has been seen, and say how it went."""
        if kind == "crashed":
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
            code = self._process.poll()
            if code is not None and code < 0:
                detail = f"ended by {signal.Signals(-code).name}"
            else:
                detail = "closed its answers" if code is None else f"exit code {code}"
        self._process.kill()
        self._process.wait()
        return ChildFailure(kind, detail, self.log_tail())
