"""A contact sheet of GLB files: what a person looks at before an asset goes into the library."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector
from PIL import Image, ImageDraw, ImageFont

from renderers.blender.recipes.materials import PAINT, material

TILE_PX = 160
LABEL_PX = 18
COLUMNS = 8
# Share of the tile's width that the unit box spans, about what it spans in a scene of two objects.
FILL = 0.62
YAW_DEG = 30.0
PITCH_DEG = 15.0


def contact_sheet(
    assets: Sequence[tuple[str, Path]], out: Path, paint: str | None = None, size_px: int = TILE_PX,
    yaw_deg: float = YAW_DEG,
) -> None:  # fmt: skip
    """Render each (label, GLB) on a soft ground, label it, and write all of them as one PNG.

    `paint` recolours the material `paint`; `size_px` is the side of a tile.
    """
    columns = min(COLUMNS, len(assets))
    rows = math.ceil(len(assets) / columns)
    sheet = Image.new("RGB", (columns * size_px, rows * (size_px + LABEL_PX)), "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=12)
    with tempfile.TemporaryDirectory() as folder:
        for i, (label, path) in enumerate(assets):
            tile = Path(folder) / "tile.png"
            _render(path, tile, paint, size_px, yaw_deg)
            x, y = (i % columns) * size_px, (i // columns) * (size_px + LABEL_PX)
            with Image.open(tile) as image:
                sheet.paste(image.convert("RGB"), (x, y))
            draw.text((x + size_px / 2, y + size_px + LABEL_PX / 2), label, fill="black", anchor="mm", font=font)
    out.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(out)


def _render(path: Path, out: Path, paint: str | None, size_px: int, yaw_deg: float) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with _silent_stdout():
        bpy.ops.import_scene.gltf(filepath=str(path))
    _normalise()
    if paint is not None:
        shader = bpy.data.materials[PAINT].node_tree.nodes["Principled BSDF"]
        shader.inputs["Base Color"].default_value = (*material(PAINT, paint).linear(), 1.0)
    _studio(yaw_deg)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 8
    scene.cycles.use_denoising = True
    scene.cycles.seed = 0
    scene.cycles.max_bounces = 3
    scene.render.threads_mode = "FIXED"
    scene.render.threads = 1
    scene.render.resolution_x = scene.render.resolution_y = size_px
    scene.view_settings.view_transform = "Standard"
    scene.render.filepath = str(out)
    with _silent_stdout():
        bpy.ops.render.render(write_still=True)


@contextlib.contextmanager
def _silent_stdout() -> Iterator[None]:
    """Blender prints its progress from C straight to file descriptor 1, dozens of lines for each tile."""
    sys.stdout.flush()
    kept = os.dup(1)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _normalise() -> None:
    """Scale all that was imported to a unit box that stands on the ground."""
    bpy.context.view_layer.update()
    meshes = [o for o in bpy.context.scene.objects if o.type == "MESH"]
    corners = [o.matrix_world @ v.co for o in meshes for v in o.data.vertices]
    low = Vector(min(co[i] for co in corners) for i in range(3))
    high = Vector(max(co[i] for co in corners) for i in range(3))
    root = bpy.data.objects.new("unit", None)
    bpy.context.scene.collection.objects.link(root)
    for item in bpy.context.scene.objects:
        if item.parent is None and item is not root:
            item.parent = root
    scale = 1 / max(high - low)
    root.scale = (scale, scale, scale)
    root.location = -scale * Vector(((low.x + high.x) / 2, (low.y + high.y) / 2, low.z))


def _studio(yaw_deg: float) -> None:
    """Ground, key and fill light, a pale sky, and a camera 15 degrees above."""
    scene = bpy.context.scene
    bpy.ops.mesh.primitive_plane_add(size=40)
    bpy.context.object.data.materials.append(_plain("ground", 0.6))
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.75, 0.8, 0.85, 1)
    scene.world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.55
    _aim(_area_light(170, 1.6), Vector((-2.2, -2.6, 3.4)), Vector((0, 0, 0.4)))
    _aim(_area_light(55, 2.5), Vector((3.2, -2.0, 1.6)), Vector((0, 0, 0.4)))
    camera = bpy.data.cameras.new("camera")
    camera.lens_unit = "FOV"
    camera.angle = math.radians(24)
    item = bpy.data.objects.new("camera", camera)
    scene.collection.objects.link(item)
    scene.camera = item
    distance = 0.5 / FILL / math.tan(camera.angle / 2)
    yaw, pitch = math.radians(yaw_deg), math.radians(PITCH_DEG)
    target = Vector((0, 0, 0.42))
    offset = Vector((math.sin(yaw) * math.cos(pitch), -math.cos(yaw) * math.cos(pitch), math.sin(pitch)))
    _aim(item, target + distance * offset, target)


def _area_light(power_w: float, size: float) -> Any:
    light = bpy.data.lights.new("area", "AREA")
    light.energy = power_w
    light.size = size
    item = bpy.data.objects.new("area", light)
    bpy.context.scene.collection.objects.link(item)
    return item


def _aim(item: Any, position: Vector, target: Vector) -> None:
    item.location = position
    item.rotation_euler = (target - position).to_track_quat("-Z", "Y").to_euler()


def _plain(name: str, value: float) -> Any:
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (value, value, value, 1)
    shader.inputs["Roughness"].default_value = 0.9
    return made
