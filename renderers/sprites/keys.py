"""Which layers a scene is made of: from a SceneSpec to the keys under which the bank keeps them.

A layer is rendered once for everything that leaves its pixels (almost) as they are:

- a plate for all crops of one stage, seen by one camera in one light, whatever picture is projected onto its walls;
- a sprite for all places where one model shows the camera the same side in light from the same side, whatever the
  light's strengths and colours, the model's size, its new colour, and where in the picture it stands.

What a key leaves out is put in by arithmetic (composite.py): light and paint are linear, places are affine. What it
rounds is rounded in steps too small to see, on ladders, so that the layers depend on the scene alone and never
on what else is in the bank.
"""

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from generator.specs import (
    CameraSpec,
    LightSpec,
    ObjectSpec,
    PaintPlan,
    SceneSpec,
    SlabSpec,
    SurfaceSpec,
    bearing_deg,
    camera_axes,
    to_json,
)

# Half the width of a plate, as a tangent, and its pixels per tangent for each pixel of the picture's width: the first
# step of each ladder, which doubles from step to step.
PLATE_TANGENT = 0.33
PLATE_PX = 4.75
# Sprite pixels per longest side of the object for each pixel of the picture's width; doubles from step to step. Sprites
# are soft by nature: enlarging them by so much is not seen.
SPRITE_PX, ENLARGED = 0.5, 1.15
# Width of what an object casts, for each pixel of the picture's width: it is soft.
CAST_PX = 0.5
ANGLE_STEP_DEG = 0.1
# Objects are drawn as seen from the camera's elevation. Those far above or below its axis are seen from another one.
ELEVATION_STEP_DEG = 16.0
# Steps of scale_m / distance, which is how much perspective there is within an object.
CLOSENESS_STEP = 0.1
# Looking down steeper than this, objects lie: each shows what the camera's axis sees.
STEEP_DEG = 60.0

Kind = Literal["own", "paint", "cast"]


@dataclass(frozen=True, slots=True)
class PlateKey:
    """The empty stage through a wide lens. slabs: those with a picture projected onto them by the camera are black.

    camera: its lens covers the plate; px: the plate's width.
    """

    slabs: tuple[SlabSpec, ...]
    camera: CameraSpec
    light: LightSpec
    px: int


@dataclass(frozen=True, slots=True)
class SpriteKey:
    """One model alone, of longest side 1, its foot at the origin, a camera on the side of -y looking at it.

    kind: "own" in its own colours; "paint" as a function of its paint; "cast" what it takes of the light from what is
    around it: its outline as the sun sees it, and how dark the floor is.
    spin_deg, pitch_deg, yaw_deg: as in ObjectSpec; elevation_deg: the camera's; closeness: 1 / its distance, 0 with
    "cast", which no camera sees; light_*: as in LightSpec; px: pixels per unit of length, with "cast" in all.
    """

    kind: Kind
    model: str
    spin_deg: float
    pitch_deg: float
    yaw_deg: float
    elevation_deg: float
    closeness: float
    light_azimuth_deg: float
    light_elevation_deg: float
    light_angle_deg: float
    px: int
    paint_plan: PaintPlan | None = None


Key = PlateKey | SpriteKey


def plate_key(scene: SceneSpec, size_px: int) -> PlateKey:
    """The plate from which the scene's picture is cut."""
    camera = scene.camera
    # The farthest that the picture reaches from the optical axis, and its pixels, both per unit of tangent.
    reach = (0.5 + max(abs(value) for value in camera.shift)) * camera.sensor_width_mm / camera.focal_length_mm
    density = size_px * camera.focal_length_mm / camera.sensor_width_mm
    tangent = _on_ladder(max(reach, PLATE_TANGENT), PLATE_TANGENT)
    px = math.ceil(2 * tangent * _on_ladder(max(density, PLATE_PX * size_px), PLATE_PX * size_px))
    wide = replace(camera, focal_length_mm=camera.sensor_width_mm / (2 * tangent), shift=(0.0, 0.0))
    return PlateKey(tuple(_bare(slab) for slab in scene.slabs), wide, scene.light, px)


def sprite_keys(scene: SceneSpec, item: ObjectSpec, size_px: int) -> tuple[SpriteKey, SpriteKey]:
    """What an object looks like, and what it casts."""
    camera, light = scene.camera, scene.light
    distance = math.dist(camera.position_m, item.position_m)
    density = size_px * camera.focal_length_mm / camera.sensor_width_mm / distance * item.scale_m
    painted = item.paint is not None and item.paint_plan is not None
    look = SpriteKey(
        kind="paint" if painted else "own",
        model=item.model,
        spin_deg=_rounded(item.spin_deg),
        pitch_deg=_rounded(item.pitch_deg),
        yaw_deg=_turn(item.yaw_deg + bearing_deg(camera, item.position_m)),
        elevation_deg=_seen_elevation(camera, item),
        closeness=_closeness(item.scale_m / distance),
        light_azimuth_deg=_turn(light.azimuth_deg - azimuth_deg(camera)),
        light_elevation_deg=_rounded(light.elevation_deg),
        light_angle_deg=_rounded(light.angle_deg),
        px=math.ceil(_on_ladder(max(density / ENLARGED, SPRITE_PX * size_px), SPRITE_PX * size_px)),
        paint_plan=item.paint_plan if painted else None,
    )
    cast = replace(
        look, kind="cast", elevation_deg=0.0, closeness=0.0, paint_plan=None, px=math.ceil(CAST_PX * size_px)
    )
    return look, cast


def scene_keys(scene: SceneSpec, size_px: int) -> tuple[Key, ...]:
    """All layers of a scene: the plate first."""
    sprites = [key for item in scene.objects for key in sprite_keys(scene, item, size_px)]
    return (plate_key(scene, size_px), *dict.fromkeys(sprites))


def kind_of(key: Key) -> str:
    """The first part of the layer's file name."""
    return "plate" if isinstance(key, PlateKey) else key.kind


def name_of(key: Key) -> str:
    """The layer's file name in the bank, without suffix: from the contents of models and textures, not their paths."""
    data = json.dumps(_with_contents(to_json(key)), sort_keys=True)
    return f"{kind_of(key)}-{hashlib.blake2b(data.encode(), digest_size=16).hexdigest()}"


def projected(slab: SlabSpec) -> bool:
    """Whether the camera projects the slab's picture onto it."""
    return slab.surface.projection == "camera" and slab.surface.texture is not None


def picture_of(scene: SceneSpec) -> SurfaceSpec | None:
    """The one picture that the camera projects into the scene; more than one is a programmer's mistake."""
    found = {(slab.surface.texture, slab.surface.rgb): slab.surface for slab in scene.slabs if projected(slab)}
    assert len(found) <= 1, "sprites know one projected picture a scene"
    return next(iter(found.values()), None)


def azimuth_deg(camera: CameraSpec) -> float:
    """Where the camera stands, by its axis: 0 is -y, 90 is +x."""
    forward = camera_axes(camera)[2]
    if math.hypot(forward[0], forward[1]) < 1e-9:
        return 0.0
    return -math.degrees(math.atan2(forward[0], forward[1]))


def elevation_deg(camera: CameraSpec) -> float:
    """How far down the camera looks."""
    return -math.degrees(math.asin(max(-1.0, min(1.0, camera_axes(camera)[2][2]))))


def _seen_elevation(camera: CameraSpec, item: ObjectSpec) -> float:
    own = elevation_deg(camera)
    if own >= STEEP_DEG:
        return _rounded(own)
    x, y, z = (a - b for a, b in zip(camera.position_m, item.position_m, strict=True))
    seen = math.degrees(math.atan2(z, math.hypot(x, y)))
    return _rounded(own + ELEVATION_STEP_DEG * round((seen - own) / ELEVATION_STEP_DEG))


def _closeness(value: float) -> float:
    return round(max(1, round(value / CLOSENESS_STEP)) * CLOSENESS_STEP, 6)


def _bare(slab: SlabSpec) -> SlabSpec:
    if not projected(slab):
        return slab
    return replace(slab, surface=replace(slab.surface, rgb=(0.0, 0.0, 0.0), texture=None))


def _on_ladder(value: float, step: float) -> float:
    """The smallest step * 2**k that is not below the value."""
    return step * 2.0 ** math.ceil(math.log2(value / step) - 1e-9)


def _rounded(angle_deg: float) -> float:
    return round(round(angle_deg / ANGLE_STEP_DEG) * ANGLE_STEP_DEG, 3) + 0.0


def _turn(angle_deg: float) -> float:
    """Rounded, between -180 and 180."""
    return _rounded((_rounded(angle_deg) + 180.0) % 360.0 - 180.0)


def _with_contents(data: Any) -> Any:
    if isinstance(data, dict):
        return {
            name: _content(value) if name in ("model", "texture") and value is not None else _with_contents(value)
            for name, value in data.items()
        }
    return [_with_contents(item) for item in data] if isinstance(data, list | tuple) else data


@lru_cache(maxsize=1 << 16)
def _content(path: str) -> str:
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
