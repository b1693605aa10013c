"""Cost and memory by size of the run: `python tests/bench/bench_scale.py [--pairs N]`, without Blender.

Planned: time to the first shard, and pairs planned a second near index 1,000 and near the end of the run. Looked
through: all shards of the run, with the memory that takes. Rendered: pairs of one shard by the fake renderer, early and
late in the run. All ratios are late against early, in this one process.
"""

import argparse
import itertools
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from worlds import context_of

from generator.plan import ShardPlan, parse_shares, shard_plans
from generator.shard_job import Recipe, make_shard
from generator.shards import write_json
from generator.specs import RenderSettings
from generator.tasks import TASKS

SHARD, SHARES = 250, parse_shares("train=0.9,val=0.05,test=0.05")


def first_shard_s(pairs: int) -> float:
    """Seconds until the first shard of a run is known."""
    begin = time.perf_counter()
    next(shard_plans(0, pairs, SHARES, SHARD))
    return time.perf_counter() - begin


def planning_s(start: int, count: int = 400) -> float:
    """Seconds to plan one pair from `start` on."""
    context = context_of()
    TASKS["spatial"].sample(context, start, 0, "train")
    begin = time.perf_counter()
    for index in range(start, start + count):
        TASKS["spatial"].sample(context, index, 0, "train")
    return (time.perf_counter() - begin) / count


def rendering_s(start: int, count: int = 100) -> float:
    """Seconds to make one pair of a shard whose pairs begin at `start`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        write_json(out / "run.json", {})
        settings = RenderSettings("cycles", 224, 4, "cpu", 1)
        contexts = {"train": context_of()}
        recipe = Recipe("spatial", out, contexts, "fake", settings, "jpg", False, 4, 60.0, 0, "f", 0, "")
        begin = time.perf_counter()
        plan = ShardPlan("train", 0, tuple(range(start, start + count)))
        make_shard(recipe, plan, lambda *_: None, lambda: False)
        return (time.perf_counter() - begin) / count


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    pairs = parser.parse_args().pairs
    print(f"first shard of {pairs} pairs known after {first_shard_s(pairs) * 1000:.0f} ms")
    near, far = planning_s(1000), planning_s(pairs)
    print(f"planning a pair: {near * 1000:.2f} ms; late in the run {far / near:.2f} x")
    early, late = zip(*[(rendering_s(1000), rendering_s(pairs)) for _ in range(3)], strict=True)
    print(f"making a pair (fake renderer): {min(early) * 1000:.1f} ms; late in the run {min(late) / min(early):.2f} x")
    peaks = []
    for part in (pairs // 10, pairs):
        begin = time.perf_counter()
        shards = sum(1 for _ in itertools.chain(shard_plans(0, part, SHARES, SHARD)))
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        print(f"{part} pairs in {shards} shards: {time.perf_counter() - begin:.1f} s, peak {peaks[-1]:.0f} MiB")
    print(f"peak memory, all against a tenth of them: {peaks[1] / peaks[0]:.2f} x")


if __name__ == "__main__":
    main()
