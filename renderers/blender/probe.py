"""`python -m renderers.blender.probe --log LOG`: what this machine's Blender can do, asked one thing at a time.

Requests: {"ask": "blender"}, {"ask": "render", "engine": Engine, "device": Device}.
Answers: {"version", "devices"}, {"ok", "error", "seconds"}. A broken driver may end the process instead.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from generator.specs import Device, Engine
from renderers.answers import serve

SIZE_PX = 16


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request; what Blender raises is the answer."""
    import bpy

    from renderers.blender import compat

    if request["ask"] == "blender":
        return {"version": bpy.app.version_string, "devices": compat.cycles_devices()}
    begin = time.perf_counter()
    try:
        level = _render(request["engine"], request["device"])
    except (RuntimeError, TypeError, compat.DeviceError) as error:
        return {"ok": False, "error": str(error).strip(), "seconds": 0.0}
    seconds = time.perf_counter() - begin
    if not level > 0.0:
        return {"ok": False, "error": "the test picture came out black", "seconds": seconds}
    return {"ok": True, "error": "", "seconds": seconds}


def _render(engine: Engine, device: Device) -> float:
    """Render Blender's start-up scene very small; the mean of its colour values."""
    import bpy

    from renderers.blender import compat

    bpy.ops.wm.read_factory_settings()
    scene = bpy.context.scene
    scene.render.engine = compat.engine_id(engine)
    scene.render.resolution_x = scene.render.resolution_y = SIZE_PX
    if engine == "cycles":
        scene.cycles.samples = 1
        scene.cycles.device = compat.choose_device(device)
    if engine == "eevee":
        scene.eevee.taa_render_samples = 1
    compat.set_file_format(scene.render.image_settings, "PNG", "RGB", "8")
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = str(Path(folder, "probe.png"))
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        values: list[float] = list(image.pixels)
        bpy.data.images.remove(image)
    colours = [value for index, value in enumerate(values) if index % 4 != 3]
    return sum(colours) / len(colours)


def main() -> None:
    """Parse the command line and serve until stdin closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True)
    serve(parser.parse_args().log, handle)


if __name__ == "__main__":
    main()
