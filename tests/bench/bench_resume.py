"""Resume of a finished run: `python tests/bench/bench_resume.py [--pairs N] [--shard-size S]`.

Shards are written as a finished run has them (their jsons alone: nothing else is read), then the whole command's look
for missing shards is timed. Goal: seconds, not minutes, and the same for every shard.
"""

import argparse
import tempfile
import time
from pathlib import Path

from generator.cli import Render
from generator.pipeline import missing_plans
from generator.plan import parse_shares, shard_plans
from generator.shards import write_json
from generator.summary import Summary


def look_s(out: Path, pairs: int, shard_size: int) -> float:
    """Seconds to find nothing missing."""
    config = Render(task="spatial", n=pairs, out=out, shard_size=shard_size).resolved()
    for plan in shard_plans(0, pairs, parse_shares(config.split), shard_size):
        path = out / plan.split / f"{plan.number:05d}.json"
        count = len(plan.indices)
        write_json(path, {"planned": count, "accepted": count, "rejected": 0, "reasons": {}})
    summary = Summary(config, 0)
    begin = time.perf_counter()
    assert next(missing_plans(config, 0, summary), None) is None
    assert summary.planned == pairs
    return time.perf_counter() - begin


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--shard-size", type=int, default=250)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small = look_s(Path(folder, "small"), arguments.pairs // 10, arguments.shard_size)
        large = look_s(Path(folder, "large"), arguments.pairs, arguments.shard_size)
    print(f"resume of {arguments.pairs} finished pairs: {large:.2f} s")
    print(f"cost per pair against a tenth of them: {large / small / 10:.2f}")


if __name__ == "__main__":
    main()
