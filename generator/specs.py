"""What is asked of a renderer, spelled out: no random numbers, no defaults to look up, no paths to guess.

A scene is a stage of slabs (floor, wall, boards), objects standing on them, one camera, one light. World
axes are Blender's: x right, y away from the camera at rest, z up; metres and degrees. Image axes: x right, y down,
pixels, origin at the top left corner. Colours are sRGB in [0, 1] unless a name says `linear`.

Standard library only: this module is all that `renderers` may import from `generator`.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

Vec3 = tuple[float, float, float]
Rgb = tuple[float, float, float]
Engine = Literal["cycles", "eevee", "workbench", "sprites"]
Device = Literal["auto", "cpu", "cuda", "optix", "hip", "oneapi", "metal"]


@dataclass(frozen=True, slots=True)
class PaintPlan:
    """Which part of an asset takes a new colour, found once when the asset is prepared.

    mode: "material": only the materials called `material`; "all": everything but near-black parts;
        "chromatic": what has a hue of its own; greys, blacks and whites stay as they are.
    luminance: median linear luminance of the painted part, the level that maps onto the new colour itself.
    share: painted part of the asset's surface, 0 to 1.
    """

    mode: Literal["material", "all", "chromatic"]
    material: str
    luminance: float
    share: float


@dataclass(frozen=True, slots=True)
class ObjectSpec:
    """One object of a scene.

    model: path of the prepared model (.npz; unit box, base on z = 0, front towards -y).
    position_m: where the middle of the turned object's footprint stands; its lowest point touches this z.
    spin_deg, pitch_deg, yaw_deg: turns about its own z, then x (-90 lays it on its back, front up), then the world's z.
    scale_m: length of the longest side of the object's own box.
    colour, size: the named attribute, None where the object keeps its own; paint: the sRGB colour to paint with.
    """

    role: str
    uid: str
    noun: str
    model: str
    position_m: Vec3
    yaw_deg: float
    pitch_deg: float
    scale_m: float
    colour: str | None = None
    paint: Rgb | None = None
    paint_plan: PaintPlan | None = None
    size: str | None = None
    spin_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class SurfaceSpec:
    """How a slab looks: a colour, or an image (sRGB) that multiplies it.

    tile_m: width in metres of one repeat of the image (ignored with projection "camera").
    projection: "tile" repeats the image over the faces in world coordinates; "camera" fills the frame with it once.
    lit: False shows the colour as it is, neither lit nor lighting anything (a far backdrop, a photograph).
    """

    rgb: Rgb
    roughness: float
    texture: str | None = None
    tile_m: float = 1.0
    projection: Literal["tile", "camera"] = "tile"
    lit: bool = True


@dataclass(frozen=True, slots=True)
class SlabSpec:
    """An axis-aligned box of the stage; a zero thickness makes a plane."""

    name: str
    centre_m: Vec3
    size_m: Vec3
    surface: SurfaceSpec
    bevel_m: float = 0.0


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """A perspective camera; up is +z, or +y when it looks straight down. sensor_width_mm is Blender's 36 mm.

    shift: how far the lens is shifted to the right and up, in sensor widths, as Blender's shift_x and shift_y. What
    the camera looks at then falls as far to the left of and below the middle. A crop of a wide picture is
    the same camera with a longer lens and a shift.
    """

    position_m: Vec3
    look_at_m: Vec3
    focal_length_mm: float
    roll_deg: float = 0.0
    sensor_width_mm: float = 36.0
    shift: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class LightSpec:
    """A soft key light far away, and an even fill from all around.

    azimuth_deg: 0 comes from the camera's side (-y), 90 from the right (+x). elevation_deg: above the horizon.
    angle_deg: apparent diameter, i.e. softness of the shadows. Strengths: irradiance in W/m2 (key), radiance (fill).
    """

    azimuth_deg: float
    elevation_deg: float
    angle_deg: float
    key_strength: float
    key_rgb: Rgb
    fill_strength: float
    fill_rgb: Rgb


@dataclass(frozen=True, slots=True)
class SceneSpec:
    """Everything in one image."""

    stage: str
    background: str
    objects: tuple[ObjectSpec, ...]
    slabs: tuple[SlabSpec, ...]
    camera: CameraSpec
    light: LightSpec


@dataclass(frozen=True, slots=True)
class FactSpec:
    """The one fact that differs between the two sides.

    kind: "relation", "colour", "size" or "presence". value_0, value_1: what holds on each side, in words:
    the relation of A to B; "red A, blue B"; the nouns present.
    """

    kind: Literal["relation", "colour", "size", "presence"]
    value_0: str
    value_1: str


@dataclass(frozen=True, slots=True)
class PairSpec:
    """One planned pair: two scenes, two captions for each, and the fact that tells them apart."""

    key: str
    task: str
    index: int
    attempt: int
    seed: int
    split: str
    scenes: tuple[SceneSpec, SceneSpec]
    captions_0: tuple[str, str]
    captions_1: tuple[str, str]
    template: str
    words: tuple[str, str]
    fact: FactSpec


@dataclass(frozen=True, slots=True)
class RenderSettings:
    """How to render: the same for all jobs of a run. threads 0 = all cores.

    bank: folder of the sprite bank, which engine "sprites" reads and fills; "" with the other engines.
    layer_cache_bytes: of layers that a renderer of sprites keeps in memory.
    """

    engine: Engine
    size_px: int
    samples_per_pixel: int
    device: Device
    threads: int
    bank: str = ""
    layer_cache_bytes: int = 2**31


@dataclass(frozen=True, slots=True)
class RenderJob:
    """One image to make. The renderer writes `{out}.raw` and answers.

    The file is three arrays one after the other, bytes alone: the image (H, W, 3) uint8, 8-bit sRGB; `visible` (H, W)
    uint8: 0 stage, 1 + i for object i where it is the first thing hit at the pixel's centre; and `amodal` (n, H, W)
    bool: object i alone, nothing in front of it. H and W are the settings' size, n is the scene's objects.
    """

    job_id: str
    scene: SceneSpec
    seed: int
    out: str


def camera_axes(camera: CameraSpec) -> tuple[Vec3, Vec3, Vec3]:
    """Unit vectors right, up and forward of the camera in world axes, roll included."""
    forward = _unit(_minus(camera.look_at_m, camera.position_m))
    # Straight down, +z is no help: what is up in the image is then +y.
    reference = (0.0, 0.0, 1.0) if abs(forward[2]) < 0.999 else (0.0, 1.0, 0.0)
    right = _unit(_cross(forward, reference))
    up = _cross(right, forward)
    c, s = math.cos(math.radians(camera.roll_deg)), math.sin(math.radians(camera.roll_deg))
    rolled_right = (c * right[0] + s * up[0], c * right[1] + s * up[1], c * right[2] + s * up[2])
    return rolled_right, _cross(rolled_right, forward), forward


def project(camera: CameraSpec, point_m: Vec3) -> tuple[float, float]:
    """Where a world point falls in a square image: (u, v) with (0, 0) top left and (1, 1) bottom right."""
    right, up, forward = camera_axes(camera)
    offset = _minus(point_m, camera.position_m)
    scale = camera.focal_length_mm / camera.sensor_width_mm / _dot(offset, forward)
    across, down = camera.shift
    return 0.5 + scale * _dot(offset, right) - across, 0.5 - scale * _dot(offset, up) + down


def bearing_deg(camera: CameraSpec, point_m: Vec3) -> float:
    """How far the camera has gone round what stands at a point, clockwise from +y: with its own yaw less by as much, an
    object there shows (almost) the same side as in the middle of the picture of a camera that looks along +y.

    Almost: what a camera sees beside its axis is turned about the camera's up, an object about the world's. Of all
    turns about z this one leaves the least over. It tends to the azimuth at the point for a level camera, and to the
    camera's own for one that looks straight down.
    """
    right, _, forward = camera_axes(camera)
    offset = _minus(point_m, camera.position_m)
    level = math.hypot(forward[0], forward[1])
    # Straight down, up in the image is +y: the camera has gone round nothing.
    own = math.atan2(forward[0], forward[1]) if level > 1e-9 else 0.0
    return math.degrees(own + level * math.atan2(_dot(offset, right), _dot(offset, forward)))


def _minus(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def _dot(a: Vec3, b: Vec3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _unit(a: Vec3) -> Vec3:
    length = math.sqrt(_dot(a, a))
    assert length > 0, "camera looks at where it stands"
    return (a[0] / length, a[1] / length, a[2] / length)


def to_json(spec: Any) -> Any:
    """A spec as plain dicts, tuples and scalars, ready for json.dumps. (dataclasses.asdict copies scalars deeply.)"""
    kind: Any = type(spec)
    if kind is tuple:
        return tuple(map(to_json, spec))
    names = _field_names(kind)
    return {name: to_json(getattr(spec, name)) for name in names} if names else spec


def fields_of(spec: Any) -> dict[str, Any]:
    """A spec's fields by name, for `json.dumps(spec, default=fields_of)`: the text of `to_json`, faster."""
    kind: Any = type(spec)
    return {name: getattr(spec, name) for name in _field_names(kind)}


def from_json(kind: Any, data: Any) -> Any:
    """The inverse of `to_json`. Unknown and missing keys are programmer's mistakes: both sides are this package."""
    return _reader(kind)(data)


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """What turns JSON data into a `kind`: annotations are looked at once, not for every number."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = _reader(next(arg for arg in args if arg is not type(None)))
        return lambda data: None if data is None else inner(data)
    if origin is tuple:
        return _tuple_reader(args)
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(kind)
    return float if kind is float else lambda data: data


def _tuple_reader(args: tuple[Any, ...]) -> Callable[[Any], Any]:
    readers = [_reader(arg) for arg in args if arg is not Ellipsis]
    if Ellipsis in args:
        return lambda data: tuple(map(readers[0], data))

    def read(data: Any) -> Any:
        assert len(data) == len(readers), f"{len(data)} values for {args}"
        return tuple([reader(item) for reader, item in zip(readers, data, strict=True)])

    return read


def _dataclass_reader(kind: Any) -> Callable[[Any], Any]:
    readers = {name: _reader(hint) for name, hint in typing.get_type_hints(kind).items()}

    def read(data: Any) -> Any:
        assert data.keys() <= readers.keys(), f"{kind.__name__}: unknown keys {sorted(set(data) - set(readers))}"
        return kind(**{name: readers[name](value) for name, value in data.items()})

    return read
