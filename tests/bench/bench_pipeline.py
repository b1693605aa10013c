"""CPU of a pair by stage: `python tests/bench/bench_pipeline.py [--pairs N] [--task TASK] [--masks]`, without Blender.

Everything that is not rendering, in one process: planning, talking to the renderer, reading its pictures, verification,
encoding, records and shards; then what the fake renderer itself took. Each in ms of CPU and as a share of the whole.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from worlds import context_of

from generator import shard_job
from generator.plan import ShardPlan
from generator.render import Renderers, RenderProcess
from generator.shard_job import Recipe, make_shard
from generator.shards import ShardStage, write_json
from generator.specs import RenderSettings
from generator.tasks import TASKS, Task

SHARD = 250
OWN = "shard job itself"


class Stopwatch:
    """CPU seconds of this process by stage; what a stage spends inside another counts there."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._stack = [OWN]
        self._since = time.process_time()

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time booked under `stage`."""

        def run(*args: Any, **kwargs: Any) -> Any:
            self._book(push=stage)
            try:
                return function(*args, **kwargs)
            finally:
                self._book(push=None)

        return run

    def stop(self) -> None:
        """Book what is left."""
        self._book(push=OWN)

    def _book(self, push: str | None) -> None:
        now = time.process_time()
        self.spent[self._stack[-1]] += now - self._since
        self._since = now
        if push is None:
            self._stack.pop()
        else:
            self._stack.append(push)


def watch(stopwatch: Stopwatch, task: str) -> None:
    """Put the stopwatch around every stage of a shard job."""
    TASKS[task] = Task(stopwatch.timed("plan", TASKS[task].sample), TASKS[task].roles)
    for owner, name, stage in (
        (RenderProcess, "submit", "send jobs"),
        (RenderProcess, "collect", "wait, supervise"),
        (RenderProcess, "_read", "read pictures"),
        (shard_job, "judge", "verify"),
        (shard_job, "encode_image", "encode"),
        (shard_job, "_record", "record"),
        (ShardStage, "accept", "stage pair"),
        (ShardStage, "reject", "stage pair"),
        (ShardStage, "seal", "seal shard"),
    ):
        setattr(owner, name, stopwatch.timed(stage, getattr(owner, name)))


def run(task: str, pairs: int, masks: bool) -> tuple[float, int]:
    """Make the shards; seconds of CPU of the renderer processes, and pictures rendered."""
    tries = 0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        write_json(out / "run.json", {})
        settings = RenderSettings("cycles", 224, 4, "cpu", 1)
        recipe = Recipe(task, out, {"train": context_of()}, "fake", settings, "jpg", masks, 4, 60.0, 0, "f", 0, "")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with Renderers() as renderers:
            for number, start in enumerate(range(0, pairs, SHARD)):
                plan = ShardPlan("train", number, tuple(range(start, min(start + SHARD, pairs))))
                stats = make_shard(recipe, plan, lambda *_: None, lambda: False, renderers)
                assert stats is not None
                tries += int(str(stats["attempts"]))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2 * tries


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--task", choices=list(TASKS), default="attribute")
    parser.add_argument("--masks", action="store_true")
    args = parser.parse_args()
    stopwatch = Stopwatch()
    watch(stopwatch, args.task)
    renderer_s, pictures = run(args.task, args.pairs, args.masks)
    stopwatch.stop()
    spent = dict(sorted(stopwatch.spent.items(), key=lambda item: -item[1]))
    spent["renderer (fake)"] = renderer_s
    whole = sum(spent.values())
    print(f"{args.task}: {args.pairs} pairs, {pictures / 2 / args.pairs:.2f} attempts each")
    for stage, seconds in spent.items():
        print(f"{stage:18} {1000 * seconds / args.pairs:6.2f} ms a pair {seconds / whole:6.1%}")
    print(f"{'whole':18} {1000 * whole / args.pairs:6.2f} ms a pair")


if __name__ == "__main__":
    main()
