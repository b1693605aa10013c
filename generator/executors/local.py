"""Run shard jobs in worker processes on this machine, each with a renderer process of its own.

A worker that is killed is replaced and its shard goes on from its last finished pair. Each worker has a pipe of its
own: a queue shared by all could be left locked, or with half a message in it, by one that dies.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from generator.errors import RendererError, UserError
from generator.executors.once import Once
from generator.plan import ShardPlan
from generator.render import Renderers
from generator.shard_job import Recipe, Report, make_shard

POLL_S = 0.5
# A shard that takes its worker down so often, without a pair finished in between, will do it again.
MAX_DEATHS = 3


@dataclass
class _Worker:
    """One worker process as the parent sees it."""

    process: BaseProcess
    pipe: Connection
    plan: ShardPlan | None = None


@dataclass
class _Crew:
    """All workers. deaths: of a shard's workers since its last finished pair."""

    recipe: Recipe
    workers: list[_Worker] = field(default_factory=list)
    deaths: dict[ShardPlan, int] = field(default_factory=dict)

    def hire(self) -> _Worker:
        """Start one more worker."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(self.recipe, theirs))
        with _deaf_to_interrupts():  # Inherited: Ctrl-C is the parent's to handle, from the first moment on.
            process.start()
        theirs.close()  # So that the pipe ends for us when it ends for them.
        worker = _Worker(process, ours)
        self.workers.append(worker)
        return worker

    def bury(self, worker: _Worker) -> ShardPlan | None:
        """Forget a dead worker; the shard that it leaves unfinished. RendererError where that is no accident."""
        self.workers.remove(worker)
        worker.pipe.close()
        worker.process.join()
        plan = worker.plan
        if plan is not None:
            self.deaths[plan] = self.deaths.get(plan, 0) + 1
            if self.deaths[plan] >= MAX_DEATHS:
                raise RendererError(
                    f"the worker processes of shard {plan.split}/{plan.number:05d} keep dying "
                    f"(exit code {worker.process.exitcode}); is there enough memory? What is finished is kept"
                )
        return plan


def run(recipe: Recipe, plans: Iterator[ShardPlan], workers: int, report: Report) -> None:
    """Make all shards; `report` gets each row here, in the calling process.

    Ctrl-C, or any exception out of `report`, lets every worker finish the pair in hand, then ends; what was made
    stays. Plans are taken from the iterator only as workers become free. Raises what the workers raise to the user.
    """
    crew = _Crew(recipe)
    try:
        _drive(crew, plans, workers, Once(report))
    finally:
        with _deaf_to_interrupts():  # A second Ctrl-C must not tear the workers out of a write.
            for worker in crew.workers:
                with contextlib.suppress(OSError):
                    worker.pipe.send(None)
            for worker in crew.workers:
                _drain(worker)
                worker.pipe.close()
                worker.process.join()


def _drive(crew: _Crew, plans: Iterator[ShardPlan], workers: int, once: Once) -> None:
    orphaned: list[ShardPlan] = []
    while True:
        idle = [worker for worker in crew.workers if worker.plan is None]
        while idle or len(crew.workers) < workers:
            plan = orphaned.pop() if orphaned else next(plans, None)
            if plan is None:
                break
            worker = idle.pop() if idle else crew.hire()
            worker.plan = plan
            try:
                worker.pipe.send(plan)
            except OSError:  # Died while idle; its end is noticed below.
                continue
        busy = [worker for worker in crew.workers if worker.plan is not None]
        if not busy:
            return
        for ready in wait([worker.pipe for worker in busy], timeout=POLL_S):
            worker = next(worker for worker in busy if worker.pipe is ready)
            lost = _hear(crew, worker, once)
            if lost is not None:
                orphaned.append(lost)


def _hear(crew: _Crew, worker: _Worker, once: Once) -> ShardPlan | None:
    """Take in what one worker says; the shard that it leaves behind if it is dead."""
    try:
        kind, content = worker.pipe.recv()
    except (EOFError, OSError):
        return crew.bury(worker)
    if kind == "row":
        assert worker.plan is not None
        row, fresh = content
        if fresh:
            crew.deaths.pop(worker.plan, None)
        once.row(worker.plan, row, fresh)
    elif kind == "done":
        assert worker.plan is not None
        once.done(worker.plan)
        worker.plan = None
    else:
        raise content
    return None


def _drain(worker: _Worker) -> None:
    """Read what a stopping worker still says, so that it is not stuck in saying it, until it is done."""
    while worker.plan is not None:
        try:
            kind, _ = worker.pipe.recv()
        except (EOFError, OSError):
            return
        if kind != "row":
            return


def _work(recipe: Recipe, pipe: Connection) -> None:
    """In each worker process: make the shards that come through the pipe until None comes or it closes.

    Nothing is sent while a shard is in hand but the None that says stop, so that something to read means just that.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with Renderers() as renderers:
        while True:
            try:
                plan: ShardPlan | None = pipe.recv()
            except EOFError:
                return
            if plan is None:
                return
            try:
                make_shard(recipe, plan, lambda row, fresh: pipe.send(("row", (row, fresh))), pipe.poll, renderers)
                pipe.send(("done", None))
            except UserError as error:
                pipe.send(("error", error))
            except Exception:
                pipe.send(("error", AssertionError(traceback.format_exc())))


def _end_with_parent() -> None:
    """A worker without a parent must not go on: the same command, run again, would meet it in its shard."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
