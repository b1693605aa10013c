"""Where layers for the sprite bank are rendered: empty stages, and models alone, in one light at a time.

What the planes of each kind hold is said in layers.py.
"""

import contextlib
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from generator.specs import (
    CameraSpec,
    LightSpec,
    ObjectSpec,
    RenderSettings,
    SceneSpec,
    SlabSpec,
    SurfaceSpec,
    Vec3,
    camera_axes,
    project,
)
from renderers.blender import compat, materials, passes
from renderers.blender.scene import Stagehand
from renderers.sprites.keys import PlateKey, SpriteKey

Floats = NDArray[np.float32]

# Layers are used many times: they deserve more samples than a picture.
PLATE_SAMPLES, SPRITE_SAMPLES, FLOOR_SAMPLES, OUTLINE_SAMPLES = 8, 16, 12, 8
WHITE = (1.0, 1.0, 1.0)
BLACK = (0.0, 0.0, 0.0)
# What an object stands on while its sprite is made: matt, of the albedo that furniture and ground usually have.
FLOOR = SlabSpec("floor", (0.0, 0.0, 0.0), (60.0, 60.0, 0.0), SurfaceSpec((0.68, 0.67, 0.65), 1.0))
# Linear albedo of the paint from which the effect of all paints follows, and its sRGB.
PAINT_LEVEL = 0.5
PAINT = (0.735357, 0.735357, 0.735357)
# Frames are so much wider than what they hold, and cut-out sprites keep so many pixels around what shows.
MARGIN, ROOM_PX = 1.06, 3
# Half the width of the patch of floor around the object whose darkness is kept, in longest sides.
FLOOR_REACH = 0.95
# Where cameras without perspective stand, in longest sides.
FAR = 10.0


class Studio:
    """Renders layers, each by itself: no layer depends on what was rendered before."""

    def __init__(self, settings: RenderSettings) -> None:
        self._hand = Stagehand()
        self._scene: bpy.types.Scene = self._hand.beauty
        passes.set_up(self._scene, self._hand.masks, replace(settings, engine="cycles"))
        compat.set_file_format(self._scene.render.image_settings, "OPEN_EXR", "RGBA", "32")
        self._scene.render.image_settings.exr_codec = "NONE"
        self._scratch = tempfile.TemporaryDirectory(prefix="twinscene-")
        self._probe = _probe_material()
        self._open_floor: float | None = None

    def plate(self, key: PlateKey) -> tuple[Floats, dict[str, Any]]:
        """An empty stage."""
        self._set(key.px, PLATE_SAMPLES, transparent=False)
        # What glows by itself must count once: it is black while the key light is on.
        dark = tuple(_coloured(slab, BLACK) if not slab.surface.lit else slab for slab in key.slabs)
        lamp, fill = replace(key.light, fill_strength=0.0), replace(key.light, key_strength=0.0)
        from_key = self._shot(SceneSpec("", "", (), dark, key.camera, lamp))[..., :3]
        from_fill = self._shot(SceneSpec("", "", (), key.slabs, key.camera, fill))[..., :3]
        total = from_key + from_fill
        gain = []
        share = _share(from_key, total)
        takers = [slab for slab in key.slabs if _takes_picture(slab)]
        if takers:
            lit = any(slab.surface.lit for slab in takers)
            level, paint = (PAINT_LEVEL, PAINT) if lit else (1.0, WHITE)
            bright = tuple(_coloured(slab, paint) if _takes_picture(slab) else slab for slab in key.slabs)
            with_picture = self._shot(SceneSpec("", "", (), bright, key.camera, fill))[..., :3] + from_key
            if lit:
                bright_key = self._shot(SceneSpec("", "", (), bright, key.camera, lamp))[..., :3]
                with_picture += bright_key - from_key
                share = _share(bright_key, with_picture)
            gain = [*np.moveaxis(np.maximum((with_picture - total) / level, 0.0), 2, 0)]
        self._scene.view_layers[0].material_override = self._probe
        for number, slab in enumerate(key.slabs):
            self._scene.objects[f"{self._scene.name} {slab.name}"].pass_index = 1 + number
        self._set_flat()
        depth, ids = np.moveaxis(self._values()[..., :2], 2, 0)
        # No shadow falls on what glows by itself.
        shaded = np.array([False, *(slab.surface.lit for slab in key.slabs)])[np.round(ids).astype(int)]
        planes = [*np.moveaxis(total, 2, 0), share * shaded, depth, ids, *gain]
        return np.stack(planes), {"exact": [4, 5]}

    def look(self, key: SpriteKey) -> tuple[Floats, dict[str, Any]]:
        """What a model looks like, cut out of its picture."""
        item, box = self._placed(key)
        camera = _camera_on(box, key)
        px = math.ceil(key.px * key.closeness**-1 * camera.sensor_width_mm / camera.focal_length_mm)
        self._set(px, SPRITE_SAMPLES, transparent=True)
        if key.kind == "own":
            light = self._lit(item, camera, key)
            planes = np.concatenate([light[0][..., :3], light[1][..., :3], light[1][..., 3:]], axis=2)
        else:
            dark = self._lit(replace(item, paint=BLACK), camera, key)
            bright = self._lit(replace(item, paint=PAINT), camera, key)
            gains = [(b[..., :3] - d[..., :3]) / PAINT_LEVEL for b, d in zip(bright, dark, strict=True)]
            planes = np.concatenate([dark[0][..., :3], dark[1][..., :3], *gains, bright[1][..., 3:]], axis=2)
        rows, columns = (np.flatnonzero(planes[..., -1].max(axis=axis) > 1e-3) for axis in (1, 0))
        assert len(rows), f"{key.model} does not show"
        # Some room around it, or averaging would find its edge at the layer's.
        top, left = max(0, rows[0] - ROOM_PX), max(0, columns[0] - ROOM_PX)
        planes = planes[top : rows[-1] + ROOM_PX + 1, left : columns[-1] + ROOM_PX + 1]
        pixels = [[u * px - left, v * px - top] for u, v in (project(camera, corner) for corner in _corners(box))]
        return np.moveaxis(planes, 2, 0), {"corners": _corners(box), "pixels": pixels}

    def cast(self, key: SpriteKey) -> tuple[Floats, dict[str, Any]]:
        """What a model takes of the light around it."""
        item, (low, high) = self._placed(key)
        centre = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        half = 0.5 * math.dist(low, high) * MARGIN
        towards = _direction(key.light_azimuth_deg, key.light_elevation_deg)
        sun = CameraSpec(_along(centre, towards, FAR), _along(centre, towards, 0.0), 50.0)
        light = LightSpec(0.0, 90.0, 1.0, 0.0, WHITE, 1.0, WHITE)
        self._set(key.px, OUTLINE_SAMPLES, transparent=True)
        self._scene.cycles.max_bounces = 0
        self._hand.build(SceneSpec("", "", (item,), (), sun, light))
        _make_orthographic(self._scene.camera, 2 * half)
        self._scene.cycles.use_denoising = False
        alpha = self._values()[..., 3]
        self._scene.view_layers[0].material_override = self._probe
        self._set_flat()
        depth = self._values()[..., 0]
        floor = self._floor(key.px, item) / self._bare_floor()
        right, up, forward = camera_axes(sun)
        facts = {"centre": centre, "axes": [right, [-value for value in up], forward], "half": half}
        # Depth counts from where the box around the object begins; beside the outline it is never read alone.
        depth = np.where(depth > 0, depth - (FAR - half), 0.0)
        return np.stack([alpha, depth, np.minimum(floor, 1.0)]), {**facts, "floor": FLOOR_REACH}

    def _floor(self, px: int, *items: ObjectSpec) -> Floats:
        """The floor from above in an even light, objects felt but not seen."""
        above = CameraSpec((0.0, 0.0, FAR), (0.0, 0.0, 0.0), 50.0)
        self._set(px, FLOOR_SAMPLES, transparent=False)
        light = LightSpec(0.0, 90.0, 1.0, 0.0, WHITE, 1.0, WHITE)
        self._hand.build(SceneSpec("", "", items, (FLOOR,), above, light))
        for number in range(len(items)):
            self._scene.objects[f"{self._scene.name} object {number}"].visible_camera = False
        _make_orthographic(self._scene.camera, 2 * FLOOR_REACH)
        return _luminance(self._values()[..., :3])

    def _bare_floor(self) -> float:
        if self._open_floor is None:
            self._open_floor = float(np.median(self._floor(16)))
        return self._open_floor

    def _lit(self, item: ObjectSpec, camera: CameraSpec, key: SpriteKey) -> tuple[Floats, Floats]:
        """An object in a white key light alone and in a white fill alone."""
        light = LightSpec(
            key.light_azimuth_deg, key.light_elevation_deg, key.light_angle_deg, math.pi, WHITE, 0.0, WHITE
        )
        self._hand.build(SceneSpec("", "", (item,), (FLOOR,), camera, light))
        self._scene.objects[f"{self._scene.name} {FLOOR.name}"].visible_camera = False
        thing = self._scene.objects[f"{self._scene.name} object 0"]
        with _unlit(thing):
            from_key = self._values()
        self._scene.objects["key"].data.energy = 0.0
        self._scene.world.node_tree.nodes["Background"].inputs["Strength"].default_value = 1.0
        return from_key, self._values()

    def _placed(self, key: SpriteKey) -> tuple[ObjectSpec, tuple[Vec3, Vec3]]:
        """The object of a key, and the box around it."""
        item = ObjectSpec(
            "", "", "", key.model, (0.0, 0.0, 0.0), key.yaw_deg, key.pitch_deg, 1.0,
            paint_plan=key.paint_plan, spin_deg=key.spin_deg,
        )  # fmt: skip
        return item, self._hand.box_of(item)

    def _shot(self, spec: SceneSpec) -> Floats:
        self._hand.build(spec)
        return self._values()

    def _values(self) -> Floats:
        return passes.render_values(self._scene, Path(self._scratch.name, "values.exr"))

    def _set(self, px: int, samples: int, transparent: bool) -> None:
        scene = self._scene
        scene.render.resolution_x = scene.render.resolution_y = px
        scene.render.film_transparent = transparent
        scene.view_layers[0].material_override = None
        cycles = scene.cycles
        cycles.samples, cycles.max_bounces, cycles.use_denoising = samples, 3, True
        cycles.pixel_filter_type, cycles.filter_width, cycles.seed = "BLACKMAN_HARRIS", 1.5, 0

    def _set_flat(self) -> None:
        """One sample at the pixel's centre, as for masks."""
        cycles = self._scene.cycles
        cycles.samples, cycles.max_bounces, cycles.use_denoising = 1, 0, False
        cycles.pixel_filter_type, cycles.filter_width = "BOX", 0.01


def _probe_material() -> "bpy.types.Material":
    """Shows depth along the camera's axis in red and the object's number in green."""
    material, tree, output = materials.new_material("probe")
    camera, thing = tree.nodes.new("ShaderNodeCameraData"), tree.nodes.new("ShaderNodeObjectInfo")
    both, emission = tree.nodes.new("ShaderNodeCombineXYZ"), tree.nodes.new("ShaderNodeEmission")
    tree.links.new(camera.outputs["View Z Depth"], both.inputs[0])
    tree.links.new(thing.outputs["Object Index"], both.inputs[1])
    tree.links.new(both.outputs[0], emission.inputs["Color"])
    tree.links.new(emission.outputs[0], output.inputs["Surface"])
    return material


def _make_orthographic(camera: "bpy.types.Object", width: float) -> None:
    camera.data.type = "ORTHO"
    camera.data.ortho_scale = width


@contextlib.contextmanager
def _unlit(thing: "bpy.types.Object") -> Iterator[None]:
    """Without the light of its own: of two pictures in two lights, one must hold it."""
    shaders = [
        node.inputs["Emission Strength"]
        for slot in thing.material_slots
        for node in slot.material.node_tree.nodes
        if node.bl_idname == "ShaderNodeBsdfPrincipled"
    ]
    before = [socket.default_value for socket in shaders]
    for socket in shaders:
        socket.default_value = 0.0
    yield
    for socket, value in zip(shaders, before, strict=True):
        socket.default_value = value


def _camera_on(box: tuple[Vec3, Vec3], key: SpriteKey) -> CameraSpec:
    """The camera of a sprite: its frame just holds the object's box."""
    centre = [(a + b) / 2 for a, b in zip(*box, strict=True)]
    position = _along([0.0, 0.0, 0.0], _direction(0.0, key.elevation_deg), 1.0 / key.closeness)
    camera = CameraSpec(position, (centre[0], centre[1], centre[2]), 36.0)
    reach = max(abs(value - 0.5) for corner in _corners(box) for value in project(camera, corner))
    return replace(camera, focal_length_mm=0.5 * camera.sensor_width_mm / (reach * MARGIN))


def _corners(box: tuple[Vec3, Vec3]) -> list[Vec3]:
    (x0, y0, z0), (x1, y1, z1) = box
    return [(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)]


def _direction(azimuth_deg: float, elevation_deg: float) -> Vec3:
    """Unit vector towards an azimuth (0 is -y, 90 is +x) and elevation."""
    azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
    return (
        math.sin(azimuth) * math.cos(elevation),
        -math.cos(azimuth) * math.cos(elevation),
        math.sin(elevation),
    )


def _along(origin: Sequence[float], direction: Vec3, distance: float) -> Vec3:
    x, y, z = (a + distance * b for a, b in zip(origin, direction, strict=True))
    return (x, y, z)


def _takes_picture(slab: SlabSpec) -> bool:
    return slab.surface.projection == "camera"


def _coloured(slab: SlabSpec, rgb: tuple[float, float, float]) -> SlabSpec:
    return replace(slab, surface=replace(slab.surface, rgb=rgb, texture=None))


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = _luminance(part) / np.maximum(_luminance(whole), 1e-6)
    return share


def _luminance(rgb: Floats) -> Floats:
    relative: Floats = rgb @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    return relative
