"""Time from the command to the first final pair: `python tests/bench/bench_startup.py [--renderer fake]`.

With a warm cache of assets, for a short run and for one of ten million pairs: the ratio should be about 1. With Blender
also against a bare Blender process, from its start to the second of two small pictures of its own cube.
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
BARE = """
import bpy
bpy.ops.wm.read_factory_settings()
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.cycles.samples = 4
scene.render.resolution_x = scene.render.resolution_y = 224
for number in range(2):
    scene.render.filepath = f"FOLDER/{number}.png"
    bpy.ops.render.render(write_still=True)
"""


def first_pair_s(out: Path, pairs: int, renderer: str) -> float:
    """Seconds until a pair is staged; the run is ended then."""
    command = [sys.executable, "-m", "generator", "render", "--task", "spatial", "--n", str(pairs), "--out", str(out)]
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--renderer", renderer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while not any(path.stat().st_size for path in out.glob(".staging/*/*.pair")):
        assert process.poll() is None, "the run ended without a pair"
        time.sleep(0.02)
    seconds = time.perf_counter() - begin
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return seconds


def bare_s(folder: Path) -> float:
    """Seconds that Blender takes for two pictures, its start included."""
    begin = time.perf_counter()
    program = BARE.replace("FOLDER", str(folder))
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renderer", default="blender", choices=("blender", "fake"))
    renderer = parser.parse_args().renderer
    seconds: dict[int, list[float]] = {1000: [], 10_000_000: []}
    bare: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        first_pair_s(Path(folder, "warm-up"), 1000, renderer)
        for number in range(ROUNDS):
            for pairs, found in seconds.items():
                found.append(first_pair_s(Path(folder, f"{pairs}-{number}"), pairs, renderer))
            if renderer == "blender":
                bare.append(bare_s(Path(folder)))
    short, long = (min(found) for found in seconds.values())
    print(f"first pair of 1,000 after {short:.1f} s, of 10,000,000 after {long:.1f} s: {long / short:.2f} x")
    if bare:
        print(f"bare Blender, two pictures after {min(bare):.1f} s: {short / min(bare):.2f} x")


if __name__ == "__main__":
    main()
