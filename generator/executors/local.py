"""Run shard jobs in worker processes on this machine, each with a renderer process of its own."""

import multiprocessing
import queue
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from typing import Any

from generator.errors import RendererError
from generator.plan import ShardPlan
from generator.shard_job import Recipe, make_shard
from generator.shards import Row

POLL_S = 0.2

# Set once in each worker process by `_begin`.
_recipe: Recipe
_rows: Any
_stop: Event


def run(recipe: Recipe, plans: Iterator[ShardPlan], workers: int, report: Callable[[Row], None]) -> None:
    """Make all shards; `report` gets each new row here, in the calling process.

    Ctrl-C, or any exception out of `report`, lets every worker finish the pair in hand, then ends; what was made
    stays. Plans are taken from the iterator only as workers become free.
    """
    context = multiprocessing.get_context("spawn")
    rows, stop = context.Queue(), context.Event()
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(recipe, rows, stop))
    try:
        _drive(pool, plans, workers, rows, report)
    finally:
        stop.set()
        # A second Ctrl-C must not tear the workers out of a write.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        pool.shutdown(wait=True, cancel_futures=True)
        signal.signal(signal.SIGINT, before)


def _drive(
    pool: ProcessPoolExecutor, plans: Iterator[ShardPlan], workers: int, rows: Any, report: Callable[[Row], None]
) -> None:
    running: set[Future[None]] = set()
    exhausted = False
    while running or not exhausted:
        while not exhausted and len(running) < workers:
            plan = next(plans, None)
            if plan is None:
                exhausted = True
            else:
                running.add(pool.submit(_job, plan))
        finished, running = wait(running, timeout=POLL_S, return_when=FIRST_COMPLETED)
        _drain(rows, report)
        for future in finished:
            try:
                future.result()
            except BrokenProcessPool as error:
                raise RendererError("a worker process was killed; run the same command again to go on") from error
    _drain(rows, report)


def _drain(rows: Any, report: Callable[[Row], None]) -> None:
    while True:
        try:
            row = rows.get_nowait()
        except queue.Empty:
            return
        report(row)


def _begin(recipe: Recipe, rows: Any, stop: Event) -> None:
    """In each worker process: keep what all shards share. Ctrl-C is the parent's to handle."""
    global _recipe, _rows, _stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _recipe, _rows, _stop = recipe, rows, stop


def _job(plan: ShardPlan) -> None:
    make_shard(_recipe, plan, _rows.put, _stop.is_set)
