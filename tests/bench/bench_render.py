"""Whole pipeline against bare Blender: `python tests/bench/bench_render.py [--assets DIR] [--pairs N] [--rounds R]`.

Bare is the sum of the render calls alone, of the very scenes that the pipeline makes, in a Blender that has the models
loaded. The pipeline is all of it from a cold worker: start of Blender, loading, masks, verification, encoding, shards.
Both alternate within one run, so that a noisy machine disturbs both.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GOAL = 1.5

BARE = """
import json, sys, time
from pathlib import Path
from generator.specs import RenderSettings, SceneSpec, from_json
from renderers.blender.scene import Stagehand
from renderers.blender import passes
import bpy
request = json.loads(Path(sys.argv[1]).read_text())
stagehand = Stagehand()
passes.set_up(stagehand.beauty, stagehand.masks, from_json(RenderSettings, request["settings"]))
seconds = 0.0
for raw in request["scenes"]:
    stagehand.build(from_json(SceneSpec, raw))
    begin = time.perf_counter()
    bpy.ops.render.render(scene=stagehand.beauty.name)
    seconds += time.perf_counter() - begin
Path(sys.argv[2]).write_text(json.dumps(seconds))
"""


def located(text: str) -> dict[str, Any]:
    """A record's scene with its files where this machine has them: records name them by the end of their paths."""
    from generator.pipeline import cache_folder

    scene: dict[str, Any] = json.loads(text)
    for item in scene["objects"]:
        item["model"] = str(cache_folder() / "assets" / item["model"])
    for slab in scene["slabs"]:
        if slab["surface"]["texture"]:
            slab["surface"]["texture"] = str(cache_folder() / "backgrounds" / slab["surface"]["texture"])
    return scene


def bare_seconds(scenes: list[object], settings: object, folder: Path) -> float:
    """Seconds spent inside Blender's render call for all scenes."""
    request, answer = folder / "request.json", folder / "answer.json"
    request.write_text(json.dumps({"scenes": scenes, "settings": settings}))
    command = [sys.executable, "-c", BARE, str(request), str(answer)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return float(json.loads(answer.read_text()))


def pipeline_seconds(assets: str, pairs: int, out: Path) -> float:
    """Seconds of the whole command."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "generator", "render", "--task", "spatial", "--n", str(pairs), "--assets", assets]
    begin = time.perf_counter()
    subprocess.run(
        [*command, "--out", str(out), "--workers", "1", "--split", "train=1"], check=True, cwd=ROOT, capture_output=True
    )
    return time.perf_counter() - begin


def main() -> None:
    """Print seconds per image of both, and their ratio, by round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assets", default="bundled")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from generator.records import find_shards, read_shard
    from generator.shards import read_rows
    from generator.specs import RenderSettings, to_json

    settings = to_json(RenderSettings("cycles", 224, 4, "cpu", 0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "run"
        pipeline_seconds(arguments.assets, arguments.pairs, out)  # Prepares models and textures once.
        # Rejected attempts cost as much as accepted ones: the pipeline is charged by the image rendered, not kept.
        rendered = 2 * sum(
            row.attempts for path in find_shards([out]) for row in read_rows(path.with_suffix(".parquet"))
        )
        samples = [sample for path in find_shards([out]) for sample in read_shard(path)]
        scenes = [located(text) for sample in samples for text in (sample.record.scene_0, sample.record.scene_1)]
        ratios = []
        for number in range(arguments.rounds):
            bare = bare_seconds(scenes, settings, folder) / len(scenes)
            whole = pipeline_seconds(arguments.assets, arguments.pairs, out) / rendered
            ratios.append(whole / bare)
            print(
                f"round {number}: bare {bare:.3f} s, pipeline {whole:.3f} s an image, ratio {ratios[-1]:.2f}",
                flush=True,
            )
        print(f"pipeline / bare Blender: {statistics.median(ratios):.2f} (goal at most {GOAL}), {rendered} images")


if __name__ == "__main__":
    main()
