"""One shard from its plan: sample, render, verify, encode, store, pair by pair. Runs in a worker process."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.plan import ShardPlan
from generator.records import SCHEMA_VERSION, ImageFormat, PairRecord, key_of
from generator.render import RenderFault, RenderProcess
from generator.shards import Row, ShardStage, encode_image
from generator.specs import PairSpec, RenderSettings, to_json
from generator.tasks import TASKS, Context
from generator.verify import Rendered, Verdict, fact_record, judge

# Pairs under way in the renderer: one being rendered, one waiting, so that it never idles while we verify.
IN_FLIGHT = 2


@dataclass(frozen=True)
class Recipe:
    """What all shards of a run share. contexts by split; attempts: renders before a pair is given up."""

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


def make_shard(
    recipe: Recipe, plan: ShardPlan, report: Callable[[Row], None], stopped: Callable[[], bool]
) -> dict[str, object] | None:
    """Make what is missing of a shard and seal it; None when stopped before the end. `report` gets every new row."""
    stage = ShardStage(recipe.out, plan.split, plan.number)
    if stage.complete():
        return None
    begin = time.monotonic()
    done = stage.done()
    missing = [index for index in plan.indices if index not in done]
    if missing:
        log = recipe.out / "logs" / f"{plan.split}-{plan.number:05d}.log"
        with RenderProcess(
            recipe.renderer, recipe.settings, log, recipe.timeout_s, recipe.memory_limit_bytes
        ) as renderer:
            if not _make_pairs(recipe, plan.split, missing, renderer, stage, report, stopped):
                return None
    return stage.seal({"fingerprint": recipe.fingerprint, "seconds": round(time.monotonic() - begin, 3)})


def _make_pairs(
    recipe: Recipe,
    split: str,
    indices: list[int],
    renderer: RenderProcess,
    stage: ShardStage,
    report: Callable[[Row], None],
    stopped: Callable[[], bool],
) -> bool:
    """All the pairs in order, each tried until accepted or out of attempts; False when stopped."""
    context = recipe.contexts[split]
    sample = TASKS[recipe.task].sample
    queue = list(reversed(indices))
    while queue or len(renderer):
        while queue and len(renderer) < IN_FLIGHT and not stopped():
            renderer.submit(sample(context, queue.pop(), 0, split))
        if not len(renderer):
            return False
        spec, result = renderer.collect()
        verdict = _verdict(spec, result, context)
        if not verdict.accepted and spec.attempt + 1 < recipe.attempts:
            renderer.submit(sample(context, spec.index, spec.attempt + 1, split))
            continue
        if verdict.accepted:
            assert not isinstance(result, RenderFault)
            record = _record(spec, verdict, result)
            row = stage.accept(record, _files(recipe, result))
        else:
            row = _rejected(spec, verdict)
            stage.reject(row)
        report(row)
    return True


def _verdict(spec: PairSpec, result: tuple[Rendered, Rendered] | RenderFault, context: Context) -> Verdict:
    if isinstance(result, RenderFault):
        return Verdict(False, result.reason, result.detail, ((), ()))
    return judge(spec, result, context.vocabulary.colours)


def _record(spec: PairSpec, verdict: Verdict, sides: tuple[Rendered, Rendered]) -> PairRecord:
    height, width = sides[0].visible.shape
    scenes = [json.dumps(to_json(scene), separators=(",", ":")) for scene in spec.scenes]
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
