"""The renderer as the pipeline sees it: jobs in, pictures and masks out, two of them under way at a time."""

import contextlib
import dataclasses
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from generator.child import Child, ChildFailure, Failure
from generator.errors import OutputError, RendererError
from generator.specs import PairSpec, RenderJob, RenderSettings, SceneSpec
from generator.verify import Reason, Rendered

# How renderers are started: modules that speak the line protocol of renderers/answers.py.
RENDERERS = {"blender": "renderers.blender", "sprites": "renderers.sprites", "fake": "renderers.fake"}
# Renderers that go on from shard to shard: starting them takes as long as dozens of their pairs, and what they have
# decoded serves the next shard too. Blender starts anew for each, so that what it leaks never outlives one.
LASTING = ("fake", "sprites")
START_TIMEOUT_S = 180.0
STARTS = 3
# A pair whose render fails is rendered again in a fresh process before it counts: somebody may have ended the process,
# or the pairs before it may have used up its memory. What the pair then is depends on the pair alone.
STRIKES = 2
# With less room than this for the pictures under way, failures are the disk's and not the pairs'.
SCRATCH_BYTES = 32 * 2**20

FAULTS: dict[Failure, Reason] = {
    "crashed": "renderer_crashed",
    "timed_out": "renderer_timed_out",
    "out_of_memory": "renderer_out_of_memory",
}


@dataclass(frozen=True, slots=True)
class RenderFault:
    """A pair, or an asset alone, that the renderer could not make in STRIKES tries. log_tail: the last try's."""

    reason: Reason
    detail: str
    log_tail: str


@dataclass(frozen=True, slots=True)
class _Flight:
    """A pair under way. slot: number of its scratch files, which pass from one pair to the next.

    (A file that is overwritten in place costs a fraction of one that is made and removed.)
    """

    spec: PairSpec
    slot: int


class _JobFailed(Exception):
    """The renderer lives and says that it cannot do this job."""


class RenderProcess:
    """One renderer process, restarted when it dies. Use as a context manager.

    `submit` queues a pair and `collect` returns the oldest one submitted, so that one pair can be verified and
    encoded while the next is being rendered. timeout_s: for both sides of a pair together. memory_limit_bytes: a
    process that holds more between two pairs is replaced, during one it is ended; 0 means no limit.
    """

    def __init__(
        self, renderer: str, settings: RenderSettings, log: Path, timeout_s: float, memory_limit_bytes: int
    ) -> None:
        self._module = RENDERERS[renderer]
        self._settings = settings
        self._log = log
        self._timeout_s = timeout_s
        self._limit = memory_limit_bytes
        self._scratch = tempfile.TemporaryDirectory(prefix="twinscene-")
        self._child: Child | None = None
        self._waiting: deque[_Flight] = deque()
        self._free_slots: list[int] = []

    def __enter__(self) -> "RenderProcess":
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._scratch.cleanup()

    def __len__(self) -> int:
        return len(self._waiting)

    def log_to(self, log: Path) -> None:
        """Another log for the processes started from now on."""
        self._log = log

    def submit(self, spec: PairSpec) -> None:
        """Ask for both sides of a pair."""
        flight = _Flight(spec, self._free_slots.pop() if self._free_slots else len(self._waiting))
        self._waiting.append(flight)
        if self._child is not None:
            # A child that dies here is noticed by `collect`, which knows what was under way.
            with contextlib.suppress(ChildFailure):
                self._send(flight)

    def collect(self) -> tuple[PairSpec, tuple[Rendered, Rendered] | RenderFault]:
        """The oldest pair under way. Where the process fails at it twice, that is the pair's fault; those behind it
        are sent again. Raises RendererError when the renderer does not even start, OutputError on a full disk."""
        flight = self._waiting[0]
        result: tuple[Rendered, Rendered] | RenderFault
        for _ in range(STRIKES):
            try:
                result = self._answers(flight)
                break
            except (ChildFailure, _JobFailed) as failure:
                result = self._strike(failure)
        self._waiting.popleft()
        self._free_slots.append(flight.slot)
        self._renew_if_grown()
        return flight.spec, result

    def resident_bytes(self) -> int:
        """Memory that the process holds now."""
        return 0 if self._child is None else self._child.resident_bytes()

    def render_alone(self, spec: PairSpec, scene: SceneSpec) -> RenderFault | None:
        """Render one scene by itself, in a fresh process at each of its tries; what is wrong with it, if anything.

        Pairs under way are sent again by the next `collect`.
        """
        fault: RenderFault | None = None
        for _ in range(STRIKES):
            self._stop()
            self._start()
            try:
                out = f"{self._scratch.name}/alone"
                self._send_jobs(RenderJob(f"{spec.key}/alone", scene, 0, out))
                self._receive(time.monotonic() + self._timeout_s)
                self._read(out, scene)
                self._stop()
                return None
            except (ChildFailure, _JobFailed) as failure:
                fault = self._strike(failure)
        return fault

    def _answers(self, flight: _Flight) -> tuple[Rendered, Rendered]:
        if self._child is None:
            self._start()
            for item in self._waiting:
                self._send(item)
        deadline = time.monotonic() + self._timeout_s
        for _ in flight.spec.scenes:
            self._receive(deadline)
        first, second = (self._read(self._out(flight, side), scene) for side, scene in enumerate(flight.spec.scenes))
        return first, second

    def _strike(self, failure: "ChildFailure | _JobFailed") -> RenderFault:
        """The process is done with, whatever is left of it."""
        tail = failure.log_tail if isinstance(failure, ChildFailure) else self._tail()
        self._stop()
        free = shutil.disk_usage(self._scratch.name).free
        if free < SCRATCH_BYTES:
            raise OutputError(
                f"{tempfile.gettempdir()} is full ({free >> 20} MiB left), where renderers put their pictures; "
                "free it or set TMPDIR, then run the same command again"
            )
        if isinstance(failure, ChildFailure):
            last = next((line for line in reversed(tail.strip().splitlines()) if line.strip()), "")
            return RenderFault(FAULTS[failure.kind], f"{failure.detail}; {last}"[:300], tail)
        return RenderFault("render_failed", str(failure)[:300], tail)

    def _receive(self, deadline: float) -> None:
        assert self._child is not None
        answer = self._child.receive(max(0.0, deadline - time.monotonic()))
        if not answer["ok"]:
            raise _JobFailed(answer["error"])

    def _send(self, flight: _Flight) -> None:
        spec = flight.spec
        # Both sides share the seed: their noise, such as is left, must not tell them apart.
        seed = (spec.index * 64 + spec.attempt) % 2**31
        self._send_jobs(
            *(
                RenderJob(f"{spec.key}/{side}", scene, seed, self._out(flight, side))
                for side, scene in enumerate(spec.scenes)
            )
        )

    def _send_jobs(self, *jobs: RenderJob) -> None:
        assert self._child is not None
        self._child.send(*({"job": job} for job in jobs))

    def _out(self, flight: _Flight, side: int) -> str:
        return f"{self._scratch.name}/{flight.slot}-{side}"

    def _read(self, out: str, scene: SceneSpec) -> Rendered:
        try:
            return read_picture(out, self._settings.size_px, len(scene.objects))
        except (OSError, ValueError) as error:
            raise _JobFailed(f"unreadable picture: {error}") from error

    def _renew_if_grown(self) -> None:
        """Replace a process whose memory has grown over the limit pair by pair: nobody's fault, so no strike."""
        if self._limit and self.resident_bytes() > self._limit:
            self._stop()

    def _start(self) -> None:
        """Start the process. A few tries: it may be ended from outside just now."""
        for last in (False,) * (STARTS - 1) + (True,):
            child = Child(self._module, self._log, memory_limit_bytes=self._limit)
            try:
                child.send({"settings": self._settings})
                answer = child.receive(START_TIMEOUT_S)
            except ChildFailure as failure:
                if not last:
                    continue
                raise RendererError(
                    f"the renderer ({self._module}) does not start ({failure}, {failure.detail}): "
                    f"{failure.log_tail.strip().splitlines()[-1:]}; try `python -m generator doctor`; log: {self._log}"
                ) from failure
            if not answer["ready"]:
                child.close()
                raise RendererError(f"{answer['error']}; see `python -m generator doctor`")
            self._child = child
            return

    def _stop(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def _tail(self) -> str:
        return "" if self._child is None else self._child.log_tail()


class Renderers:
    """The renderer processes of one worker, for shard after shard. Use as a context manager."""

    def __init__(self) -> None:
        self._kept: tuple[object, RenderProcess] | None = None
        self._running = contextlib.ExitStack()

    def __enter__(self) -> "Renderers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    @contextlib.contextmanager
    def lend(
        self, renderer: str, settings: RenderSettings, log: Path, timeout_s: float, memory_limit_bytes: int
    ) -> Iterator[RenderProcess]:
        """A process for one shard: the last shard's where it may go on, all its pairs came back and nothing changed."""
        wanted = (renderer, settings, timeout_s, memory_limit_bytes)
        kept, self._kept = self._kept, None
        if kept is not None and kept[0] == wanted:
            process = kept[1]
            process.log_to(log)
        else:
            self._running.close()
            made = RenderProcess(renderer, settings, log, timeout_s, memory_limit_bytes)
            process = self._running.enter_context(made)
        try:
            yield process
            if renderer in LASTING and not len(process):
                self._kept = (wanted, process)
        finally:
            if self._kept is None:
                self._running.close()


def read_picture(out: str, size_px: int, count: int) -> Rendered:
    """What a job with `count` objects left in `{out}.raw` (see RenderJob). OSError, ValueError."""
    raw = np.fromfile(f"{out}.raw", np.uint8)
    area = size_px * size_px
    if len(raw) != area * (4 + count):
        raise ValueError(f"{len(raw)} bytes for {count} objects in {size_px} x {size_px} pixels")
    image, visible, amodal = raw[: 3 * area], raw[3 * area : 4 * area], raw[4 * area :]
    return Rendered(
        image.reshape(size_px, size_px, 3),
        visible.reshape(size_px, size_px),
        amodal.view(np.bool_).reshape(count, size_px, size_px),
    )


def only(scene: SceneSpec, number: int) -> SceneSpec:
    """The scene with one of its objects alone."""
    return dataclasses.replace(scene, objects=(scene.objects[number],))
