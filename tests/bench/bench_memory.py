"""Memory of a renderer after few and after many renders: `python tests/bench/bench_memory.py [--renderer fake]`.

One Blender process renders pair after pair of changing assets; its resident memory after 50 and after 500 images, from
the 20th on, when the models of the cache's size are likely loaded. Goal: no growth.
"""

import argparse
import tempfile
from pathlib import Path

from generator.cli import Render
from generator.pipeline import make_contexts, read_assets, read_backgrounds
from generator.render import RenderFault, RenderProcess
from generator.specs import RenderSettings
from generator.tasks import TASKS

SIZE_PX = 96


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renderer", default="blender", choices=("blender", "fake"))
    parser.add_argument("--images", type=int, nargs=2, default=(50, 500))
    arguments = parser.parse_args()
    config = Render(task="spatial", n=1, split="train=1").resolved()
    context = make_contexts(config, read_assets(config), read_backgrounds(config.backgrounds))["train"]
    settings = RenderSettings("cycles", SIZE_PX, 1, "cpu", 2)
    held: dict[int, int] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        RenderProcess(arguments.renderer, settings, Path(folder, "log"), 120.0, 0) as renderer,
    ):
        for index in range(max(arguments.images) // 2):
            renderer.submit(TASKS["spatial"].sample(context, index, 0, "train"))
            _, result = renderer.collect()
            assert not isinstance(result, RenderFault), result
            held[2 * (index + 1)] = renderer.resident_bytes()
    few, many = (held[count] / 2**20 for count in arguments.images)
    print(f"resident after {arguments.images[0]} images {few:.0f} MiB, after {arguments.images[1]} {many:.0f} MiB")
    print(f"ratio: {many / few:.2f}")


if __name__ == "__main__":
    main()
