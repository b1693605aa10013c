"""Two workers against one: `python tests/bench/bench_workers.py [--pairs N] [--renderer fake]`.

The same run with one and with two workers, alternating; each worker's renderer gets its share of the cores. Goal: two
are no slower than one, and faster wherever a renderer does not fill its cores.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 2


def images_per_s(out: Path, pairs: int, workers: int, renderer: str) -> float:
    """What the command says of itself at its end."""
    command = [sys.executable, "-m", "generator", "render", "--task", "spatial", "--n", str(pairs), "--out", str(out)]
    command += ["--renderer", renderer, "--workers", str(workers), "--split", "train=1"]
    command += ["--shard-size", str(max(1, pairs // 4))]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"\(([\d.]+) images/s\)", printed)
    assert found, printed
    return float(found[1])


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--renderer", default="blender", choices=("blender", "fake"))
    arguments = parser.parse_args()
    rates: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        images_per_s(Path(folder, "warm-up"), 4, 1, arguments.renderer)
        for number in range(ROUNDS):
            for workers, found in rates.items():
                out = Path(folder, f"{workers}-{number}")
                found.append(images_per_s(out, arguments.pairs, workers, arguments.renderer))
    one, two = max(rates[1]), max(rates[2])
    print(f"one worker {one:.2f} images/s, two {two:.2f} images/s: {two / one:.2f} x")


if __name__ == "__main__":
    main()
