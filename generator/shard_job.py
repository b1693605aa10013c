"""One shard from its plan: sample, render, verify, encode, store, pair by pair. Runs in a worker process."""

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from generator.errors import OutputError
from generator.plan import ShardPlan
from generator.quarantine import Quarantine
from generator.records import SCHEMA_VERSION, ImageFormat, PairRecord, key_of
from generator.render import Renderers, RenderFault, RenderProcess
from generator.retry import open_round, retries
from generator.shards import Row, ShardStage, encode_image, read_json
from generator.specs import PairSpec, RenderSettings, fields_of
from generator.storage import Store, pull_shard, push_shard
from generator.tasks import TASKS, Context
from generator.verify import Rendered, Verdict, fact_record, judge

# Pairs under way in the renderer: one being rendered, one waiting, so that it never idles while we verify.
IN_FLIGHT = 2

# Gets every row of a shard: True when it was made just now, False when it was there from before.
Report = Callable[[Row, bool], None]


@dataclass(frozen=True)
class Recipe:
    """What all shards of a run share.

    contexts by split; attempts: renders before a pair is given up; round: of --retry-rejected, 0 before the first;
    store: URL that finished shards go to, "" when they stay in `out`.
    """

    task: str
    out: Path
    contexts: Mapping[str, Context]
    renderer: str
    settings: RenderSettings
    image_format: ImageFormat
    masks: bool
    attempts: int
    timeout_s: float
    memory_limit_bytes: int
    fingerprint: str
    round: int
    store: str


def make_shard(
    recipe: Recipe,
    plan: ShardPlan,
    report: Report,
    stopped: Callable[[], bool],
    renderers: Renderers | None = None,
) -> dict[str, object] | None:
    """Make what is missing of a shard and seal it; None when stopped before the end. `report` gets every row.

    renderers: those of a worker that makes more than this shard.
    Raises OutputError when another process is at it, or when something cannot be written.
    """
    stage = ShardStage(recipe.out, plan.split, plan.number)
    check_there(recipe.out)
    with stage.lock():
        begin = time.monotonic()
        store = Store(recipe.store) if recipe.store else None
        if store and recipe.round and stage.complete():
            pull_shard(store, stage.base, recipe.out)  # To be opened again: the tar is only there.
        open_round(stage, recipe.round)
        if stage.complete():
            stage.clear()
            return read_json(stage.base.with_suffix(".json"))
        done = stage.done()
        for row in done.values():
            report(row, False)
        missing = [index for index in plan.indices if index not in done]
        log = recipe.out / "logs" / f"{plan.split}-{plan.number:05d}.log"
        if missing:
            with (
                Renderers() if renderers is None else contextlib.nullcontext(renderers) as lender,
                lender.lend(
                    recipe.renderer, recipe.settings, log, recipe.timeout_s, recipe.memory_limit_bytes
                ) as renderer,
            ):
                maker = _Maker(recipe, plan.split, renderer, stage)
                if not maker.make(missing, report, stopped):
                    return None
        info: dict[str, object] = {"fingerprint": recipe.fingerprint, "seconds": round(time.monotonic() - begin, 3)}
        if recipe.round:
            info["round"] = recipe.round
        check_there(recipe.out)
        stats = stage.seal(info)
        if store:
            push_shard(store, stage.base, recipe.out)
        return stats


def check_there(out: Path) -> None:
    """Raises OutputError when the run is not where it was: an empty mount point takes files without complaint."""
    if not (out / "run.json").exists():
        raise OutputError(f"{out} no longer holds the run (no run.json): was a mount lost? Then run again")


class _Maker:
    """Makes the pairs of one shard with one renderer."""

    def __init__(self, recipe: Recipe, split: str, renderer: RenderProcess, stage: ShardStage) -> None:
        self._recipe = recipe
        self._split = split
        self._renderer = renderer
        self._stage = stage
        self._context = recipe.contexts[split]
        self._quarantine = Quarantine(recipe.out, recipe.round)
        self._retries = retries(stage)
        self._last_attempt = recipe.attempts * (1 + recipe.round) - 1

    def make(self, indices: list[int], report: Report, stopped: Callable[[], bool]) -> bool:
        """All the pairs in order, each tried until accepted or out of attempts; False when stopped."""
        queue = list(reversed(indices))
        while queue or len(self._renderer):
            while queue and len(self._renderer) < IN_FLIGHT and not stopped():
                index = queue.pop()
                row = self._try(index, self._retries.get(index, 0))
                if row is not None:
                    report(row, True)
            if not len(self._renderer):
                return not queue
            row = self._finish(*self._renderer.collect())
            if row is not None:
                report(row, True)
        return True

    def _try(self, index: int, attempt: int) -> Row | None:
        """Have the next attempt rendered that shows no asset from quarantine; the row when there is none."""
        sample = TASKS[self._recipe.task].sample
        while True:
            spec = sample(self._context, index, attempt, self._split)
            guilty = self._quarantine.guilty(spec)
            if not guilty:
                self._renderer.submit(spec)
                return None
            if attempt >= self._last_attempt:
                return self._reject(spec, Verdict(False, "asset_quarantined", guilty, ((), ())))
            attempt += 1

    def _finish(self, spec: PairSpec, result: tuple[Rendered, Rendered] | RenderFault) -> Row | None:
        """The pair's row when it is final."""
        if isinstance(result, RenderFault):
            self._quarantine.refresh()
            if not self._quarantine.guilty(spec):
                self._quarantine.add(spec, result, self._renderer)
            if self._quarantine.guilty(spec):
                return self._try(spec.index, spec.attempt)
            # No asset of it fails by itself: another attempt would be as likely to take the renderer down.
            return self._reject(spec, Verdict(False, result.reason, result.detail, ((), ())))
        verdict = judge(spec, result, self._context.vocabulary.colours)
        if verdict.accepted:
            return self._stage.accept(record_of(spec, verdict, result), _files(self._recipe, result))
        if spec.attempt < self._last_attempt:
            return self._try(spec.index, spec.attempt + 1)
        return self._reject(spec, verdict)

    def _reject(self, spec: PairSpec, verdict: Verdict) -> Row:
        row = _rejected(spec, verdict)
        self._stage.reject(row)
        return row


def record_of(spec: PairSpec, verdict: Verdict, sides: tuple[Rendered, Rendered]) -> PairRecord:
    """The record of an accepted pair."""
    height, width = sides[0].visible.shape
    scenes = [json.dumps(scene, default=_portable, separators=(",", ":")) for scene in spec.scenes]
    return PairRecord(
        schema_version=SCHEMA_VERSION,
        key=key_of(spec.task, spec.index),
        task=spec.task,
        source="render",
        split=spec.split,
        index=spec.index,
        attempt=spec.attempt,
        seed=spec.seed,
        captions_0=spec.captions_0,
        captions_1=spec.captions_1,
        template=spec.template,
        words=spec.words,
        fact=fact_record(spec),
        has_image_1=True,
        width=width,
        height=height,
        objects_0=verdict.objects[0],
        objects_1=verdict.objects[1],
        stage=spec.scenes[0].stage,
        background=spec.scenes[0].background,
        image_ids=(),
        scene_0=scenes[0],
        scene_1=scenes[1],
    )


def _portable(spec: Any) -> dict[str, Any]:
    """A scene's parts with file names that mean the same in every cache: the last two parts of the paths."""
    fields = fields_of(spec)
    for name in ("model", "texture"):
        if fields.get(name):
            fields[name] = _last_two_parts(fields[name])
    return fields


@lru_cache(maxsize=4096)
def _last_two_parts(path: str) -> str:
    return "/".join(Path(path).parts[-2:])


def _files(recipe: Recipe, sides: tuple[Rendered, Rendered]) -> dict[str, bytes]:
    files = {}
    for number, side in enumerate(sides):
        files[f"image_{number}.{recipe.image_format}"] = encode_image(side.image, recipe.image_format)
        if recipe.masks:
            files[f"mask_{number}.png"] = encode_image(side.visible, "png")
    return files


def _rejected(spec: PairSpec, verdict: Verdict) -> Row:
    objects = [item for scene in spec.scenes for item in scene.objects]
    return Row(
        key=spec.key,
        task=spec.task,
        split=spec.split,
        index=spec.index,
        status="rejected",
        reason=verdict.reason,
        detail=verdict.detail,
        attempts=spec.attempt + 1,
        captions_0=spec.captions_0,
        captions_1=spec.captions_1,
        template=spec.template,
        fact_kind=spec.fact.kind,
        fact_value_0=spec.fact.value_0,
        fact_value_1=spec.fact.value_1,
        nouns=tuple(item.noun for item in objects),
        uids=tuple(item.uid for item in objects),
        stage=spec.scenes[0].stage,
        background=spec.scenes[0].background,
        image_ids=(),
    )
