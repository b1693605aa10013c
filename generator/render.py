"""The renderer as the pipeline sees it: jobs in, pictures and masks out, two of them under way at a time."""

import tempfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from PIL import Image

from generator.child import Child, ChildFailure
from generator.errors import RendererError
from generator.specs import PairSpec, RenderJob, RenderSettings, to_json
from generator.verify import Reason, Rendered

# How renderers are started: modules that speak the line protocol of renderers/answers.py.
RENDERERS = {"blender": "renderers.blender", "fake": "renderers.fake"}
START_TIMEOUT_S = 180.0


@dataclass(frozen=True, slots=True)
class RenderFault:
    """A pair that the renderer could not make."""

    reason: Reason
    detail: str


class RenderProcess:
    """One renderer process, restarted when it dies. Use as a context manager.

    `submit` queues a pair and `collect` returns the oldest one submitted, so that one pair can be verified and
    encoded while the next is being rendered.
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
        self._waiting: deque[PairSpec] = deque()

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

    def submit(self, spec: PairSpec) -> None:
        """Ask for both sides of a pair."""
        self._waiting.append(spec)
        # A child that dies here is noticed by the next `collect`, which knows what was under way.
        self._send(spec)

    def collect(self) -> tuple[PairSpec, tuple[Rendered, Rendered] | RenderFault]:
        """The oldest pair under way. A death of the process is that pair's fault; those behind it are sent again."""
        spec = self._waiting.popleft()
        if self._child is None:
            self._start()
            for item in (spec, *self._waiting):
                self._send(item)
        child = self._child
        assert child is not None
        try:
            answers = [child.receive(self._timeout_s) for _ in spec.scenes]
        except ChildFailure as failure:
            self._stop()
            tail = " | ".join(failure.log_tail.strip().splitlines()[-3:])
            reasons: dict[str, Reason] = {
                "crashed": "renderer_crashed",
                "timed_out": "renderer_timed_out",
                "out_of_memory": "renderer_out_of_memory",
            }
            return spec, RenderFault(reasons[failure.kind], tail)
        for answer in answers:
            if not answer["ok"]:
                return spec, RenderFault("render_failed", answer["error"])
        first, second = (self._read(self._out(spec, side)) for side in range(2))
        return spec, (first, second)

    def _send(self, spec: PairSpec) -> None:
        if self._child is None:
            return
        try:
            for side, scene in enumerate(spec.scenes):
                # Both sides share the seed: their noise, such as is left, must not tell them apart.
                job = RenderJob(
                    f"{spec.key}/{side}", scene, (spec.index * 64 + spec.attempt) % 2**31, self._out(spec, side)
                )
                self._child.send({"job": to_json(job)})
        except ChildFailure:
            return

    def _out(self, spec: PairSpec, side: int) -> str:
        return str(Path(self._scratch.name) / f"{spec.key}-{spec.attempt}-{side}")

    @staticmethod
    def _read(out: str) -> Rendered:
        with Image.open(f"{out}.png") as picture:
            image = np.asarray(picture.convert("RGB"))
        with np.load(f"{out}.npz", allow_pickle=False) as masks:
            rendered = Rendered(image, masks["visible"], masks["amodal"])
        for suffix in (".png", ".npz"):
            Path(out + suffix).unlink()
        return rendered

    def _start(self) -> None:
        child = Child(self._module, self._log, memory_limit_bytes=self._limit)
        try:
            child.send({"settings": to_json(self._settings)})
            answer = child.receive(START_TIMEOUT_S)
        except ChildFailure as failure:
            raise RendererError(
                f"the renderer ({self._module}) does not start ({failure.kind}): "
                f"{failure.log_tail.strip().splitlines()[-1:]}; try `python -m generator doctor`; log: {self._log}"
            ) from failure
        if not answer["ready"]:
            child.close()
            raise RendererError(f"{answer['error']}; see `python -m generator doctor`")
        self._child = child

    def _stop(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None
