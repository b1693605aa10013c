"""Runs for the audit: clean ones, flat boxes by the real planner and writers, and the same with a fault planted.

`planted(run, out, change)` writes the run anew with `change` applied to every sample: what a careless tool would have
made of it.
"""

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from worlds import context_of, options

from generator.audit.checks import run_checks
from generator.audit.figures import Result
from generator.audit.sampling import read
from generator.plan import splits_of
from generator.records import SCHEMA_VERSION, Sample, find_shards, read_shard
from generator.shard_job import record_of
from generator.shards import ShardStage, encode_image, write_json
from generator.specs import PairSpec
from generator.tasks import TASKS
from generator.verify import Rendered, judge
from generator.vocabulary import load_vocabulary
from renderers.fake import draw

SIZE_PX = 64
SHARES = {"train": 0.8, "val": 0.1, "test": 0.1}
COLOURS = load_vocabulary().colours
Change = Callable[[Sample], Sample]


def clean_run(out: Path, task: str, n: int = 150, seed: int = 5, split_by: str = "pair", **changes: Any) -> Path:
    """A finished run of the task over the small world of the tests, without what verification rejects."""
    chosen = options(**changes)
    context = context_of(seed, chosen)
    splits = splits_of(seed, np.arange(n), SHARES)
    samples = []
    for index, split in enumerate(splits):
        if made := _sample(TASKS[task].sample(context, index, 0, split)):
            samples.append(made)
    return write(out, samples, split_by)


def write(out: Path, samples: list[Sample], split_by: str = "pair") -> Path:
    """A run directory of the samples, one shard for each split."""
    config = {"task": samples[0].record.task, "split_by": split_by}
    write_json(out / "run.json", {"config": config, "versions": {"schema": SCHEMA_VERSION}})
    stages: dict[str, ShardStage] = {}
    for sample in samples:
        split = sample.record.split
        stages.setdefault(split, ShardStage(out, split, 0)).accept(sample.record, sample.files)
    for stage in stages.values():
        stage.seal({})
    return out


def samples_of(run: Path) -> list[Sample]:
    """All pairs of a run."""
    return [sample for shard in find_shards([run]) for sample in read_shard(shard)]


def planted(run: Path, out: Path, change: Change, split_by: str = "pair") -> Path:
    """The run with `change` applied to each sample."""
    return write(out, [change(sample) for sample in samples_of(run)], split_by)


def with_record(sample: Sample, **changes: Any) -> Sample:
    """The sample with fields of its record replaced."""
    return Sample(dataclasses.replace(sample.record, **changes), sample.files)


def turned(sample: Sample) -> Sample:
    """The same pair told from the other end: image 1 first, and what belongs to it."""
    record, files = sample.record, sample.files
    other = {
        "image_0.jpg": "image_1.jpg",
        "image_1.jpg": "image_0.jpg",
        "mask_0.png": "mask_1.png",
        "mask_1.png": "mask_0.png",
    }
    return Sample(
        dataclasses.replace(
            record,
            captions_0=record.captions_1,
            captions_1=record.captions_0,
            fact=dataclasses.replace(record.fact, value_0=record.fact.value_1, value_1=record.fact.value_0),
            objects_0=record.objects_1,
            objects_1=record.objects_0,
        ),
        {other[name]: data for name, data in files.items()},
    )


def repainted(sample: Sample, side: int, edit: Callable[[Any], Any], **saving: Any) -> Sample:
    """The sample with one image decoded, edited as (H, W, 3) float in [0, 255], and saved again."""
    name = f"image_{side}.jpg"
    pixels = np.asarray(Image.open(io.BytesIO(sample.files[name])).convert("RGB"), np.float64)
    edited = np.clip(edit(pixels), 0, 255).astype(np.uint8)
    if not saving:
        return Sample(sample.record, {**sample.files, name: encode_image(edited, "jpg")})
    buffer = io.BytesIO()
    Image.fromarray(edited).save(buffer, "JPEG", **saving)
    return Sample(sample.record, {**sample.files, name: buffer.getvalue()})


def audited(*runs: Path, seed: int = 0) -> dict[str, Result]:
    """The results by check; of several groups, the last one's."""
    found = read(runs, 2000, seed)
    return {result.check: result for result in run_checks(found, seed)}


def _sample(spec: PairSpec) -> Sample | None:
    sides = tuple(_drawn(spec, number) for number in (0, 1))
    verdict = judge(spec, (sides[0], sides[1]), COLOURS)
    if not verdict.accepted:
        return None
    record = record_of(spec, verdict, (sides[0], sides[1]))
    files = {}
    for number, side in enumerate(sides):
        files[f"image_{number}.jpg"] = encode_image(side.image, "jpg")
        files[f"mask_{number}.png"] = encode_image(side.visible, "png")
    return Sample(record, files)


def _drawn(spec: PairSpec, number: int) -> Rendered:
    image, visible, amodal = draw(spec.scenes[number], SIZE_PX)
    # Grain, as a camera has it: without it the compression of flat boxes says nothing at all.
    grain = np.random.default_rng([spec.index, number]).normal(0, 3, image.shape)
    return Rendered(np.clip(image + grain, 0, 255).astype(np.uint8), visible, amodal)
