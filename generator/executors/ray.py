"""Run shard jobs on a Ray cluster: one task a shard, tried again elsewhere when its node is lost.

Tasks write where `--out` says, which all nodes must share (a file system or a store's URL). Rows come back in batches
through one small actor on the driver's node, so that progress is in the one terminal.
"""

import dataclasses
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.errors import ConfigError, DependencyError, OutputError, RendererError, UserError
from generator.executors.once import Once
from generator.plan import ShardPlan
from generator.shard_job import Recipe, Report, make_shard
from generator.shards import Row

if TYPE_CHECKING:
    from generator.cli import Render

POLL_S = 0.5
REACH_S = 10.0
SEND_EVERY_S = 2.0
# Cores of a shard's task, for the renderer and what is done with its pictures meanwhile.
CPUS = 2
# Times that Ray starts a shard again whose node or process is lost.
RETRIES = 8

Batch = list[tuple[Row, bool]]


class Desk:
    """Where tasks hand in rows and hear whether to stop; an actor."""

    def __init__(self) -> None:
        self._rows: list[tuple[ShardPlan, Batch]] = []
        self._stop = False

    def hand_in(self, plan: ShardPlan, rows: Batch) -> bool:
        """Take rows in; True says stop."""
        self._rows.append((plan, rows))
        return self._stop

    def collect(self) -> list[tuple[ShardPlan, Batch]]:
        """What was handed in since the last time."""
        rows, self._rows = self._rows, []
        return rows

    def stop(self) -> None:
        """Have every task end after the pair in hand."""
        self._stop = True


def run(config: "Render", recipe: Recipe, plans: Iterator[ShardPlan], report: Report) -> None:
    """Make all shards on the cluster of --address, as many at a time as it has cores for; `report` gets each row here.

    Raises DependencyError without Ray, ConfigError when no cluster answers, and what the tasks raise to the user.
    """
    try:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
    except ImportError as error:
        raise DependencyError("--executor ray needs Ray: pip install -e '.[ray]'") from error
    if not ray.is_initialized():
        check_reachable(config.address)
        try:
            ray.init(address=config.address or None, log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ConfigError(f"--address {config.address}: no Ray cluster answers ({error})") from error
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    desk = ray.remote(Desk).options(num_cpus=0, scheduling_strategy=here).remote()
    gpus = 0 if recipe.settings.device in ("cpu", "auto") else 1
    task = ray.remote(_task).options(num_cpus=CPUS, num_gpus=gpus, max_retries=RETRIES)
    recipe = dataclasses.replace(recipe, settings=dataclasses.replace(recipe.settings, threads=CPUS))
    shared = ray.put((config, recipe))
    once = Once(report)
    try:
        _drive(task, shared, desk, plans, once, recipe)
    except BaseException:
        ray.get(desk.stop.remote())
        raise


def check_reachable(address: str) -> None:
    """Raises ConfigError when nobody listens at HOST:PORT; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        with socket.create_connection((host, int(port)), REACH_S):
            pass
    except OSError as error:
        raise ConfigError(f"--address {address}: no Ray cluster answers ({error})") from error


def _drive(task: Any, shared: Any, desk: Any, plans: Iterator[ShardPlan], once: Once, recipe: Recipe) -> None:
    import ray

    running: dict[Any, ShardPlan] = {}
    exhausted = False
    while running or not exhausted:
        # One more than fit, so that no node waits for us; the cluster may grow or shrink meanwhile.
        fit = 1 + int(ray.cluster_resources().get("CPU", CPUS)) // CPUS
        while not exhausted and len(running) < fit:
            plan = next(plans, None)
            if plan is None:
                exhausted = True
            else:
                running[task.remote(shared, plan, desk)] = plan
        finished, _ = ray.wait(list(running), timeout=POLL_S) if running else ([], [])
        for reference in finished:
            _result(reference, running[reference])
        for plan, batch in ray.get(desk.collect.remote()):
            for row, fresh in batch:
                once.row(plan, row, fresh)
        for reference in finished:
            plan = running.pop(reference)
            # A node may die between sealing a shard and handing in its rows; the next try then finds nothing to do.
            sealed = recipe.out / plan.split / f"{plan.number:05d}.parquet"
            once.done(plan, None if recipe.round else sealed)


def _result(reference: Any, plan: ShardPlan) -> None:
    """Raise what went wrong with a shard, as this project says it."""
    import ray

    try:
        ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, UserError):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        raise RendererError(
            f"shard {plan.split}/{plan.number:05d} was lost with its node or process {RETRIES + 1} times ({error}); "
            "what is finished is kept: run the same command again"
        ) from error


def _task(shared: "tuple[Render, Recipe]", plan: ShardPlan, desk: Any) -> None:
    """On a node of the cluster: make one shard."""
    import ray

    config, recipe = shared
    handing = _Handing(lambda rows: bool(ray.get(desk.hand_in.remote(plan, rows))))
    try:
        make_shard(localised(config, recipe), plan, handing.row, handing.stopped)
    finally:
        handing.send()


class _Handing:
    """Rows on their way to the desk, a few seconds' worth at a time."""

    def __init__(self, hand_in: Callable[[Batch], bool]) -> None:
        self._hand_in = hand_in
        self._rows: Batch = []
        self._sent = time.monotonic()
        self._stop = False

    def row(self, row: Row, fresh: bool) -> None:
        self._rows.append((row, fresh))

    def stopped(self) -> bool:
        if time.monotonic() - self._sent >= SEND_EVERY_S:
            self.send()
        return self._stop

    def send(self) -> None:
        self._stop = self._hand_in(self._rows) or self._stop
        self._rows = []
        self._sent = time.monotonic()


_known: dict[tuple[str, int, Path], Recipe] = {}


def localised(config: "Render", recipe: Recipe) -> Recipe:
    """The recipe as it reads on this node: with a cache, prepared models and a work folder of its own where need be.

    Raises OutputError where the node cannot see `--out`, or would make other pairs than the driver.
    """
    from generator import pipeline
    from generator.storage import Place

    key = (recipe.fingerprint, recipe.round, recipe.out)
    if key in _known:
        return _known[key]
    here = recipe
    if recipe.settings.bank:
        settings = dataclasses.replace(recipe.settings, bank=str(pipeline.bank_folder()))
        here = dataclasses.replace(here, settings=settings)
    if recipe.store:
        place = Place(Path(recipe.store), pipeline.cache_folder())
        place.refresh()
        here = dataclasses.replace(here, out=place.out)
    elif not (recipe.out / "run.json").exists():
        raise OutputError(f"{recipe.out} is not on every node; give an --out that all nodes share, or a URL")
    models = [asset.model for context in recipe.contexts.values() for asset in context.catalog.assets]
    if recipe.renderer != "fake" and not all(Path(model).exists() for model in models):
        catalog = pipeline.read_assets(config)
        backgrounds = pipeline.read_backgrounds(config.backgrounds)
        found = pipeline.describe_run(config, catalog, backgrounds)["fingerprint"]
        if found != recipe.fingerprint:
            raise OutputError("a node has other assets, backgrounds or versions than the driver; install the same")
        here = dataclasses.replace(here, contexts=pipeline.make_contexts(config, catalog, backgrounds))
    _known[key] = here
    return here
