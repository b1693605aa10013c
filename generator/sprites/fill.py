"""Have missing layers rendered, by several renderers at a time; what is rendered stays, whatever happens then."""

import shutil
import sys
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from generator.child import Child, ChildFailure
from generator.errors import ConfigError, OutputError, RendererError
from generator.progress import Meter
from generator.render import RENDERERS, START_TIMEOUT_S
from generator.specs import RenderJob, RenderSettings, SceneSpec
from generator.sprites.house import GIB, bank_bytes, gib, make_writable

# Mean bytes of a layer for each pixel of a picture, by kind: as the bundled models and places need.
BYTES_PER_PIXEL = {"plate": 130.0, "own": 3.3, "paint": 6.2, "cast": 3.2}
# Give up when more than this share of the scenes fails, once enough were tried to tell.
MAX_FAILED_SHARE, TRIED_BEFORE_STOP = 0.5, 10
# Left free on the disk.
SPARE_BYTES = GIB


@dataclass(frozen=True, slots=True)
class Filling:
    """How to fill a bank. logs: folder for what renderers print; timeout_s: for one scene; limit_gb: of the bank."""

    settings: RenderSettings
    workers: int
    logs: Path
    timeout_s: float
    memory_limit_bytes: int
    limit_gb: float


@dataclass(frozen=True, slots=True)
class Want:
    """A smallest scene, and the names of the layers that are rendered for it."""

    scene: SceneSpec
    layers: tuple[str, ...]


def fill(scenes: Sequence[SceneSpec], how: Filling) -> int:
    """Render the layers that these smallest scenes need and the bank lacks; how many that were.

    Says how much it will be. Raises ConfigError where the bank would outgrow its limit, OutputError where the disk
    would not hold it, RendererError where layers fail.
    """
    wants = announced(scenes, how)
    _Crew(how).render(wants)
    return sum(len(want.layers) for want in wants)


def announced(scenes: Sequence[SceneSpec], how: Filling) -> list[Want]:
    """What the bank lacks for these smallest scenes, said to the user. Nothing is rendered. Raises as `fill`."""
    wants = survey(scenes, how)
    names = [name for want in wants for name in want.layers]
    if names:
        need = estimate(names, how.settings.size_px)
        said = f"sprite bank: {describe(names)} to render, about {gib(need)}, into {how.settings.bank}"
        print(said, file=sys.stderr, flush=True)
        check_room(need, how)
    return wants


def survey(scenes: Sequence[SceneSpec], how: Filling) -> list[Want]:
    """What the bank lacks for the scenes; a layer that several need is the first one's. Nothing is rendered."""
    wants: list[Want] = []
    if not scenes:
        return wants
    counted: set[str] = set()
    child = _start(how, 0)
    try:
        for number, scene in enumerate(scenes):
            child.send({"missing": RenderJob(str(number), scene, 0, "")})
            answer = child.receive(how.timeout_s)
            if not answer["ok"]:
                raise RendererError(f"the sprite renderer cannot say what is missing: {answer['error']}")
            new = tuple(name for name in answer["missing"] if name not in counted)
            counted.update(new)
            if new:
                wants.append(Want(scene, new))
    except ChildFailure as failure:
        raise RendererError(f"the sprite renderer failed ({failure}); logs: {how.logs}") from failure
    finally:
        child.close()
    return wants


def estimate(names: Sequence[str], size_px: int) -> float:
    """About how many bytes layers will hold."""
    return size_px**2 * sum(BYTES_PER_PIXEL[name.partition("-")[0]] for name in names)


def describe(names: Sequence[str]) -> str:
    """ "200 plates and 3,816 layers of sprites"."""
    plates = sum(name.startswith("plate-") for name in names)
    return f"{plates:,} {'plate' if plates == 1 else 'plates'} and {len(names) - plates:,} layers of sprites"


def check_room(need: float, how: Filling) -> None:
    """Raises ConfigError and OutputError where so many bytes more are too many for the limit and the disk."""
    bank = Path(how.settings.bank)
    held = bank_bytes(bank)
    if held + need > how.limit_gb * GIB:
        raise ConfigError(
            f"the sprite bank would hold about {gib(held + need)}, {gib(held)} of them now, and "
            f"--bank-gb is {how.limit_gb:g}: give more, fewer --views or --plates, or a smaller --size, or make room "
            "with `python -m generator sprites clean`"
        )
    make_writable(bank)
    free = shutil.disk_usage(bank).free
    if need + SPARE_BYTES > free:
        raise OutputError(
            f"{bank} has {gib(free)} left and the layers need about {gib(need)}; free some, or set "
            "TWINSCENE_CACHE to a larger disk"
        )


class _Crew:
    """Renderers at work on one list of wants, each in a thread that waits for it."""

    def __init__(self, how: Filling) -> None:
        self._how = how
        self._lock = threading.Lock()
        self._queue: deque[list[Want]] = deque()
        self._done = self._tried = self._failed = 0
        self._error = ""
        self._fatal: Exception | None = None

    def render(self, wants: Sequence[Want]) -> None:
        """All of them: plates first, then each model's sprites by one renderer, so that no two make the same layer."""
        plates = [[want] for want in wants if not want.scene.objects]
        sprites = [want for want in wants if want.scene.objects]
        groups = [list(group) for _, group in groupby(sprites, key=lambda want: want.scene.objects[0].model)]
        if not wants:
            return
        with Meter("sprite bank", sum(len(want.layers) for want in wants), "layers") as meter:
            for batch in (plates, groups):
                self._queue.extend(batch)
                threads = [
                    threading.Thread(target=self._work, args=(number, meter), daemon=True)
                    for number in range(min(self._how.workers, len(batch)))
                ]
                for thread in threads:
                    thread.start()
                try:
                    for thread in threads:
                        thread.join()
                except BaseException:  # Ctrl-C: each ends after the layer in hand.
                    self._queue.clear()
                    raise
                if self._fatal:
                    raise self._fatal

    def _work(self, number: int, meter: Meter) -> None:
        child: Child | None = None
        try:
            while True:
                with self._lock:
                    if self._fatal or not self._queue:
                        return
                    group = self._queue.popleft()
                while group:
                    child = child or _start(self._how, number)
                    want, *group = group
                    done, child = len(want.layers), self._one(child, want)
                    if child is None:
                        # A model that takes the process down once would do so view by view, perhaps after minutes.
                        done, group = done + sum(len(rest.layers) for rest in group), []
                    with self._lock:
                        self._done += done
                        meter.reach(self._done, f"{self._failed} failed" if self._failed else "")
                limit = self._how.memory_limit_bytes
                if child is not None and limit and child.resident_bytes() > limit:  # Grown group by group.
                    child.close()
                    child = None
        except RendererError as error:
            self._fatal = error
        finally:
            if child is not None:
                child.close()

    def _one(self, child: Child, want: Want) -> Child | None:
        """Render one scene's layers; the renderer, unless it was lost to it. What fails is met again by the pairs."""
        error = ""
        kept: Child | None = child
        try:
            child.send({"warm": RenderJob("warm", want.scene, 0, "")})
            answer = child.receive(self._how.timeout_s)
            error = answer["error"]
        except ChildFailure as failure:
            error, kept = f"{failure}, {failure.detail}", None
        with self._lock:
            self._tried += 1
            self._failed += bool(error)
            self._error = error or self._error
            if self._tried >= TRIED_BEFORE_STOP and self._failed > MAX_FAILED_SHARE * self._tried:
                raise RendererError(
                    f"{self._failed} of {self._tried} layers failed, e.g. {self._error}; logs: {self._how.logs}"
                )
        return kept


def _start(how: Filling, number: int) -> Child:
    """A sprite renderer that is ready."""
    log = how.logs / f"sprites-{number}.log"
    child = Child(RENDERERS["sprites"], log, memory_limit_bytes=how.memory_limit_bytes)
    try:
        child.send({"settings": how.settings})
        answer = child.receive(START_TIMEOUT_S)
    except ChildFailure as failure:
        raise RendererError(
            f"the sprite renderer does not start ({failure}, {failure.detail}); log: {log}"
        ) from failure
    if not answer["ready"]:
        child.close()
        raise RendererError(f"{answer['error']}; see `python -m generator doctor`")
    return child
