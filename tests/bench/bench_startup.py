"""Time from the command to the first final pair: `python tests/bench/bench_startup.py [--renderer fake]`.

With a warm cache of assets, for a short run and for one of ten million pairs: the ratio should be about 1.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3


def first_pair_s(out: Path, pairs: int, renderer: str) -> float:
    """Seconds until a pair is staged; the run is ended then."""
    command = [sys.executable, "-m", "generator", "render", "--task", "spatial", "--n", str(pairs), "--out", str(out)]
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--renderer", renderer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while not any(out.glob(".staging/*/*.pair")):
        assert process.poll() is None, "the run ended without a pair"
        time.sleep(0.02)
    seconds = time.perf_counter() - begin
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return seconds


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renderer", default="blender", choices=("blender", "fake"))
    renderer = parser.parse_args().renderer
    seconds: dict[int, list[float]] = {1000: [], 10_000_000: []}
    with tempfile.TemporaryDirectory() as folder:
        first_pair_s(Path(folder, "warm-up"), 1000, renderer)
        for number in range(ROUNDS):
            for pairs, found in seconds.items():
                found.append(first_pair_s(Path(folder, f"{pairs}-{number}"), pairs, renderer))
    short, long = (min(found) for found in seconds.values())
    print(f"first pair of 1,000 after {short:.1f} s, of 10,000,000 after {long:.1f} s: {long / short:.2f} x")


if __name__ == "__main__":
    main()
