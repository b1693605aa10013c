"""Finding pairs that are there twice: `python tests/bench/bench_validate.py [--pairs N]`.

The comparison that `validate` makes of all pairs of a run with each other, on made-up pairs spread as real renders are,
50 of which are copies. Each size in a process of its own, for its peak memory. Goal: time and memory grow as the pairs.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from generator.validate.lookalikes import LOOK, NUMBERS, SCALE, candidates

COPIES = 50
# Standard deviations seen on 280 real renders, in grey levels; image_1 differs from image_0 by a third of them.
SPREAD = (29.9, 2.3, 2.4, 2.2, 5.3, 1.0, 1.0, 1.0, 3.8, 1.0, 1.0, 1.0, 3.6, 1.0, 1.0, 0.9, 8.0, 7.4)


def compare(pairs: int) -> tuple[float, float]:
    """Seconds of the comparison, and by how many MiB memory grew from before there were any pairs."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rng = np.random.default_rng(0)
    looks = np.zeros(pairs, LOOK)
    for start in range(0, pairs, 10_000):
        part = looks[start : start + 10_000]
        first = rng.normal(0, SPREAD, (len(part), NUMBERS))
        second = first + rng.normal(0, SPREAD, (len(part), NUMBERS)) / 3
        part["numbers"] = np.rint(np.concatenate([first, second], axis=1) * SCALE)
    looks["rendered"], looks["captions"] = True, np.arange(pairs)
    looks[-COPIES:] = looks[rng.integers(0, pairs - COPIES, COPIES)]
    begin = time.perf_counter()
    found = {later for _, later in candidates(looks)}
    seconds = time.perf_counter() - begin
    assert found >= set(range(pairs - COPIES, pairs)), "a copy was missed"
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--one", action="store_true", help="this size alone, in this process")
    arguments = parser.parse_args()
    if arguments.one:
        print(*compare(arguments.pairs))
        return
    figures = []
    for pairs in (arguments.pairs // 10, arguments.pairs):
        command = [sys.executable, __file__, "--one", "--pairs", str(pairs)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, mebibytes = map(float, printed.split())
        figures.append((seconds / pairs, mebibytes / pairs))
        print(f"{pairs} pairs: {seconds:.1f} s, {mebibytes:.0f} MiB ({mebibytes * 2**20 / pairs:.0f} bytes a pair)")
    (few_s, few_mib), (many_s, many_mib) = figures
    print(f"a pair of many against one of a tenth: time {many_s / few_s:.2f} x, memory {many_mib / few_mib:.2f} x")


if __name__ == "__main__":
    main()
