"""Layers of the sprite bank: `python tests/bench/bench_layers.py [--models N] [--only colours|rate]`.

Colours: models of the library in four colours each, put together from one sprite, against Blender's render of the same
scene in that colour with many samples; mean CIELAB difference inside the mask. Goal: at most 3 over 100 samples. The
objects stand where the camera looks, so that it is the colour that is compared.
Rate: the share of the time that making layers spends in bare render calls of Blender.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from blender_jobs import Blender

from generator.assets.catalog import Asset
from generator.cli import PLATES, VIEWS, Render
from generator.colour import to_lab
from generator.pipeline import read_assets, read_backgrounds
from generator.specs import (
    CameraSpec,
    LightSpec,
    ObjectSpec,
    RenderSettings,
    SceneSpec,
    SlabSpec,
    SurfaceSpec,
    to_json,
)
from generator.sprites.needs import whole_bank
from generator.tasks.plates import make_plates
from generator.tasks.pose import pose
from generator.tasks.rigs import RigSet
from generator.vocabulary import load_vocabulary
from renderers.sprites.bank import Bank
from renderers.sprites.composite import Compositor
from renderers.sprites.keys import kind_of, scene_keys

SIZE_PX, SAMPLES, COLOURS_EACH = 128, 16, 4
ELEVATION = np.radians(10.0)
CAMERA = CameraSpec(
    (0.0, -4.0 * float(np.cos(ELEVATION)), 4.0 * float(np.sin(ELEVATION))), (0.0, 0.0, 0.0), 252.0, shift=(0.0, 0.3)
)
LIGHT = LightSpec(30.0, 45.0, 9.0, 2.4, (1.0, 0.97, 0.93), 0.42, (1.0, 0.97, 0.93))
SLABS = (
    SlabSpec("ground", (0.0, 0.0, -0.03), (20.0, 8.0, 0.06), SurfaceSpec((0.72, 0.66, 0.58), 0.7)),
    SlabSpec("wall", (0.0, 1.2, 2.0), (20.0, 0.0, 12.0), SurfaceSpec((0.7, 0.72, 0.74), 0.9)),
)
# Layers whose making is timed: plates, and the layers of so many models.
FEW_PLATES, FEW_MODELS = 3, 2


def painted(assets: Sequence[Asset]) -> Iterator[SceneSpec]:
    """One object each, turned as it would stand, in colours that go round."""
    colours = list(load_vocabulary().colours.items())
    for number, asset in enumerate(assets):
        stands = pose(asset, 0.5 if number % 2 else -0.5, 0.4, 1.0, lying=False, digits=1)
        for turn in range(COLOURS_EACH):
            name, rgb = colours[(number * COLOURS_EACH + turn) % len(colours)]
            item = ObjectSpec(
                "A", asset.uid, asset.noun, asset.model, (0.0, 0.0, 0.0), stands.yaw_deg, stands.pitch_deg, 0.4,
                name, rgb, asset.paint_plan, spin_deg=stands.spin_deg,
            )  # fmt: skip
            yield SceneSpec("ground", "bench", (item,), SLABS, CAMERA, LIGHT)


def compare_colours(assets: Sequence[Asset], folder: Path) -> None:
    """Print the mean difference over all samples."""
    folder.mkdir()
    settings = RenderSettings("sprites", SIZE_PX, 1, "cpu", 2, str(folder))
    compositor = Compositor(Bank(settings, folder / "log"), SIZE_PX, 2**28)
    differences = []
    with Blender(SIZE_PX, threads=2, samples_per_pixel=SAMPLES) as blender:
        for scene in painted(assets):
            image, visible, _ = compositor.render(scene, 1)
            true = blender.render(scene)
            inside = (visible == 1) & (true.visible == 1)
            differences.append(np.linalg.norm(to_lab(image / 255) - to_lab(true.image / 255), axis=-1)[inside].mean())
    print(
        f"recoloured against rendered, CIELAB, {len(differences)} samples of {len(assets)} models: mean "
        f"{np.mean(differences):.2f}, median {np.median(differences):.2f}, largest {np.max(differences):.2f} (goal 3)"
    )


def time_layers(folder: Path) -> None:
    """Print the share of bare render calls, by kind of layer."""
    import bpy

    from renderers.blender import layers

    config = Render(task="attribute", n=1, engine="sprites").resolved()
    plates = make_plates(RigSet(VIEWS), PLATES, read_backgrounds(config.backgrounds))
    scenes = list(whole_bank(read_assets(config), plates))
    empty = [scene for scene in scenes if not scene.objects][:FEW_PLATES]
    models = list(dict.fromkeys(scene.objects[0].model for scene in scenes if scene.objects))
    chosen = set(models[:: max(1, len(models) // FEW_MODELS)][:FEW_MODELS])
    single = [scene for scene in scenes if scene.objects and scene.objects[0].model in chosen]
    keys = dict.fromkeys(key for scene in (*empty, *single) for key in scene_keys(scene, config.size))
    wanted = [key for key in keys if kind_of(key) != "plate" or key in {scene_keys(s, config.size)[0] for s in empty}]

    inside = begun = 0.0

    # Kept when the studio begins with an empty file.
    @bpy.app.handlers.persistent
    def begin_render(*_: object) -> None:
        nonlocal begun
        begun = time.perf_counter()

    @bpy.app.handlers.persistent
    def end_render(*_: object) -> None:
        nonlocal inside
        inside += time.perf_counter() - begun

    bpy.app.handlers.render_init.append(begin_render)
    bpy.app.handlers.render_complete.append(end_render)
    worker = layers.Worker()
    answer = worker.handle({"settings": to_json(RenderSettings("sprites", config.size, 1, "cpu", 2, str(folder)))})
    assert answer["ready"], answer
    for kind in ("plate", "own", "paint", "cast"):
        inside, begin, count = 0.0, time.perf_counter(), 0
        for number, key in enumerate(wanted):
            if kind_of(key) == kind:
                path = folder / f"{kind}-{number}"
                answer = worker.handle({"kind": kind, "key": to_json(key), "path": str(path)})
                assert answer["ok"], answer
                count += 1
        seconds = time.perf_counter() - begin
        if count:
            share = inside / seconds
            print(f"{count} layers ({kind}): {share:.2f} of the time in render calls, {seconds / count:.2f} s each")


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=25)
    parser.add_argument("--only", choices=("colours", "rate"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.only != "rate":
            assets = read_assets(Render(task="attribute", n=1).resolved()).paintable.assets
            step = len(assets) / arguments.models
            compare_colours([assets[int(number * step)] for number in range(arguments.models)], Path(folder, "bank"))
        if arguments.only != "colours":
            time_layers(Path(folder, "layers"))


if __name__ == "__main__":
    main()
