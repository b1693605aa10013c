"""Speed of vetting, against Blender's bare import of the same files.

python tests/bench/bench_assets.py [--assets DIR] [--limit N]
prepares up to N files of DIR (default: the collected models if they are there, else the bundled library) with an empty
cache and one process; imports the same files in one bare Blender process, each into an empty scene; and loads the
catalog again from the cache.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generator.assets import vet
from generator.assets.bundled import LIBRARY
from generator.assets.folder import read_folder
from generator.assets.prepare import Prepared, prepare_all
from generator.assets.reasons import Unfit

SHARED = Path(os.environ.get("TWINSCENE_SHARED") or Path(__file__).parents[3] / "shared") / "assets"
BARE = """
import sys, time
import bpy
begin = time.perf_counter()
for path in sys.argv[1:]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
print("seconds", time.perf_counter() - begin)
"""


def bare_import(paths: list[Path]) -> float:
    """Seconds that Blender needs to import the files one after the other, without its own start."""
    command = [sys.executable, "-c", BARE, *map(str, paths)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(next(line.split()[1] for line in output.splitlines() if line.startswith("seconds")))


def first_look(paths: list[Path]) -> float:
    """Seconds that the first look at all files needs."""
    begin = time.perf_counter()
    for path in paths:
        try:
            vet.first_look(vet.read(path))
        except Unfit:
            continue  # Refused is an outcome like any other here.
    return time.perf_counter() - begin


def prepared(paths: list[Path], cache: Path) -> tuple[float, int]:
    """Seconds that vetting needs from start to end, Blender's start included, and how many are accepted."""
    begin = time.perf_counter()
    outcomes = prepare_all(paths, cache=cache, workers=1, report=lambda _done, _total: None)
    return time.perf_counter() - begin, sum(isinstance(outcome, Prepared) for outcome in outcomes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assets", type=Path, default=SHARED if SHARED.is_dir() else LIBRARY)
    parser.add_argument("--limit", type=int, default=60)
    arguments = parser.parse_args()
    sources = read_folder(arguments.assets, "bench")
    # Evenly through the alphabet, so that a limit does not pick one maker's files.
    paths = [source.path for source in sources[:: max(1, len(sources) // arguments.limit)]][: arguments.limit]
    count = len(paths)
    with tempfile.TemporaryDirectory() as cache:
        bare = bare_import(paths)
        look = first_look(paths)
        vetted, accepted = prepared(paths, Path(cache))
        cached, _ = prepared(paths, Path(cache))
    print(f"{count} files of {arguments.assets}, {accepted} accepted")
    print(f"bare import: {count / bare:.1f} assets/s")
    print(f"first look, without Blender: {count / look:.0f} assets/s, {look / bare:.3f} x bare import")
    print(f"vetting and preparing: {count / vetted:.1f} assets/s, {vetted / bare:.2f} x bare import")
    print(f"from the cache: {count / cached:.0f} assets/s, {cached / bare:.3f} x bare import")


if __name__ == "__main__":
    main()
