"""From layers to a picture and its masks: cut the plate, shade it, set the sprites into it from far to near.

All of it in linear light with premultiplied alpha. Nothing depends on the order in which objects are named: each
shades the plate and the others before any of them is set in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import radians

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generator.specs import CameraSpec, ObjectSpec, SceneSpec, SlabSpec, SurfaceSpec, bearing_deg, camera_axes
from renderers.sprites import light, resample
from renderers.sprites.bank import MEMORY_BYTES, Bank, Kept, Layer
from renderers.sprites.keys import SpriteKey, picture_of, plate_key, scene_keys, sprite_keys
from renderers.sprites.light import Cast, Caster, Surroundings

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

# Points of an upright grid through each object at which its light is worked out: rows, columns.
GRID = (9, 7)
# What an object stands on is a slab whose top is this near to its foot.
SUPPORT_M = 0.006
# The foot of an object must fit best: it stands there.
FOOT_WEIGHT = 3.0
# Only every so many pixels are looked at to find where a shadow may fall.
COARSE = 4
# A picture projected onto the stage is seen where the plate says so, but for the plate's own noise.
PICTURE_NOISE = 0.01
# What a plate counts for: it stays on disk, but its file stays open.
PLATE_BYTES = 4 * 2**20


@dataclass(frozen=True)
class Cut:
    """The plate as the picture's frame shows it: rgb (3, H, W), linear; share (H, W) of the key light in it; depth
    (H, W) along the axis, inf where nothing is; ids (H, W), 1 + number of the slab; points (3, H, W) in the world."""

    rgb: Floats
    share: Floats
    depth: Floats
    ids: NDArray[np.uint8]
    points: Floats


@dataclass(frozen=True)
class Look:
    """A sprite in memory. layer: 7 or 13 planes, as renderers.blender.layers says; corners (8, 3) of the model's box,
    feet first, and where they are in it, pixels (8, 2)."""

    layer: Layer
    corners: Doubles
    pixels: Doubles


@dataclass(frozen=True)
class Thing:
    """An object where it stands: corners (8, 3) of its box in the world, nearest and middle depth along the axis."""

    spec: ObjectSpec
    look: Look
    caster: Caster
    corners: Doubles
    nearest: float
    distance: float
    support: int


class Compositor:
    """Makes pictures from a bank, whose missing layers it has rendered."""

    def __init__(self, bank: Bank, size_px: int) -> None:
        self._bank = bank
        self._size_px = size_px
        self._kept = Kept(MEMORY_BYTES)
        self._last: tuple[object, Cut] | None = None

    def render(self, scene: SceneSpec, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_]]:
        """Image (H, W, 3), visible (H, W) and amodal (n, H, W), as RenderJob says. Raises BankError."""
        self._bank.make(scene_keys(scene, self._size_px))
        view = View(scene.camera, self._size_px)
        cut = self._cut(scene, view)
        things = [self._thing(scene, item, view) for item in scene.objects]
        casters = [thing.caster for thing in things]
        canvas = cut.rgb * _shading(cut, things)
        surroundings = Surroundings(scene.slabs, scene.light)
        visible = np.zeros(cut.ids.shape, np.uint8)
        amodal = np.zeros((len(things), *cut.ids.shape), np.bool_)
        for number in sorted(range(len(things)), key=lambda number: -things[number].distance):
            thing = things[number]
            others = [caster for caster in casters if caster is not thing.caster]
            lit = _lit(thing, scene, view, surroundings, others)
            values, (rows, columns) = resample.warp(lit, view.to_sprite(thing.corners, thing.look.pixels), len(visible))
            outline = values[3] >= 0.5
            amodal[number, rows, columns] = outline
            in_front = (cut.depth[rows, columns] < thing.nearest) & (cut.ids[rows, columns] != thing.support)
            if in_front.any():
                values = values * ~in_front
                outline = outline & ~in_front
            window = canvas[:, rows, columns]
            window *= 1 - values[3]
            window += values[:3]
            visible[rows, columns][outline] = 1 + number
        return resample.encode(canvas, seed), visible, amodal

    def _cut(self, scene: SceneSpec, view: "View") -> Cut:
        """The plate of a scene; both sides of a pair share it, and come one after the other."""
        key = plate_key(scene, self._size_px)
        picture = picture_of(scene)
        wanted = (key, scene.camera, picture)
        if self._last is None or self._last[0] != wanted:
            layer = self._kept.get(key, lambda: self._bank.read(key), lambda _: PLATE_BYTES)
            planes, window = _windowed(layer, view.window(key.camera, key.px))
            smooth = [resample.cut(plane, window, self._size_px) for plane in (*planes[:4], *planes[6:])]
            depth, ids = (resample.cut(plane, window, self._size_px, exact=True) for plane in planes[4:6])
            rgb = np.stack(smooth[:3])
            if picture is not None:
                gain = np.stack(smooth[4:])
                rgb += np.where(gain > PICTURE_NOISE, gain, 0) * self._picture(picture)
            far = np.where(depth > 0, depth, np.float32(1e6))
            cut = Cut(rgb, smooth[3], far, np.round(ids).astype(np.uint8), view.points(far))
            self._last = (wanted, cut)
        return self._last[1]

    def _picture(self, surface: SurfaceSpec) -> Floats:
        """A picture as it fills the frame, linear (3, H, W)."""

        def load() -> NDArray[np.uint8]:
            assert surface.texture is not None
            size = (self._size_px, self._size_px)
            with Image.open(surface.texture) as opened:
                # A JPEG can be decoded at a fraction of its size.
                opened.draft("RGB", size)
                small = opened.convert("RGB").resize(size, Image.Resampling.BOX)
            return np.asarray(small).transpose(2, 0, 1)

        shown = self._kept.get((surface.texture, "picture"), load, lambda x: x.nbytes)
        return resample.to_linear(shown) * _linear(surface.rgb)[:, None, None]

    def _thing(self, scene: SceneSpec, item: ObjectSpec, view: "View") -> Thing:
        look_key, cast_key = sprite_keys(scene, item, self._size_px)
        look = self._kept.get(look_key, lambda: self._look(look_key), lambda x: x.layer.planes.nbytes)
        cast: Cast = self._kept.get(cast_key, lambda: light.decode_cast(self._bank.read(cast_key)), lambda x: x.nbytes)
        # The sprite's world is this one turned until the camera stands on the side of -y.
        turn = _about_z(-bearing_deg(scene.camera, item.position_m))
        position = np.array(item.position_m)
        corners = position + item.scale_m * look.corners @ turn.T
        depths = view.depth(corners)
        return Thing(
            spec=item,
            look=look,
            caster=Caster(cast, position, turn.T / item.scale_m, 2 * np.tan(radians(scene.light.angle_deg) / 2)),
            corners=corners,
            nearest=float(depths.min()),
            distance=float(view.depth(position[None])[0]),
            support=_support(scene.slabs, item),
        )

    def _look(self, key: SpriteKey) -> Look:
        layer = self._bank.read(key).in_memory()
        return Look(layer, np.array(layer.facts["corners"]), np.array(layer.facts["pixels"]))


class View:
    """The camera's arithmetic, for many points at a time."""

    def __init__(self, camera: CameraSpec, size_px: int) -> None:
        self._camera = camera
        self._size_px = size_px
        self._position = np.array(camera.position_m)
        self._axes = np.array(camera_axes(camera))  # right, up, forward
        self._lens = camera.focal_length_mm / camera.sensor_width_mm

    @property
    def towards(self) -> Doubles:
        """The way the camera looks."""
        forward: Doubles = self._axes[2]
        return forward

    @property
    def right(self) -> Doubles:
        """To the right in the picture."""
        right: Doubles = self._axes[0]
        return right

    def depth(self, points: Doubles) -> Doubles:
        """Depths (N,) along the axis of points (N, 3)."""
        along: Doubles = (points - self._position) @ self._axes[2]
        return along

    def project(self, points: Doubles) -> Doubles:
        """Pixels (N, 2) of points (N, 3), as specs.project."""
        right, up, along = ((points - self._position) @ self._axes.T).T
        shift = self._camera.shift
        u = 0.5 + self._lens * right / along - shift[0]
        v = 0.5 - self._lens * up / along + shift[1]
        pixels: Doubles = np.stack([u, v], axis=1) * self._size_px
        return pixels

    def to_sprite(self, corners: Doubles, pixels: Doubles) -> Doubles:
        """The map (3, 2) from the picture's pixels to a sprite's that fits its corners (N, 3) best, the feet above
        all: what perspective, roll and a longer lens do to a small thing."""
        there = np.concatenate([self.project(corners), np.ones((len(corners), 1))], axis=1)
        weight = np.where(np.arange(len(corners)) < len(corners) // 2, FOOT_WEIGHT, 1.0)[:, None]
        fit: Doubles = np.linalg.lstsq(there * weight, pixels * weight, rcond=None)[0]
        return fit

    def window(self, wide: CameraSpec, px: int) -> tuple[float, float, float, float]:
        """Where this camera's frame lies in the square picture, px wide, of one that only has a wider lens."""
        share = wide.focal_length_mm / self._camera.focal_length_mm
        across, up = self._camera.shift
        left, top = 0.5 + share * (across - 0.5), 0.5 - share * (up + 0.5)
        box = (left * px, top * px, (left + share) * px, (top + share) * px)
        return (max(0.0, box[0]), max(0.0, box[1]), min(px, box[2]), min(px, box[3]))

    def points(self, depth: Floats) -> Floats:
        """World points (3, H, W) at depths (H, W) behind the middles of the pixels."""
        middles = (np.arange(self._size_px) + 0.5) / self._size_px - 0.5
        x = ((middles + self._camera.shift[0]) / self._lens).astype(np.float32)[None, :] * depth
        y = ((middles - self._camera.shift[1]) / self._lens).astype(np.float32)[:, None] * depth
        right, up, forward = self._axes.astype(np.float32)[:, :, None, None]
        points: Floats = self._position.astype(np.float32)[:, None, None] + right * x - up * y + forward * depth
        return points


def _windowed(
    layer: Layer, window: tuple[float, float, float, float]
) -> tuple[Floats, tuple[float, float, float, float]]:
    """The part of a plate (C, h, w) that a window and the pixels around it need, and the window in it."""
    height, width = layer.planes.shape[1:]
    left, top = max(0, int(window[0]) - 2), max(0, int(window[1]) - 2)
    right, bottom = min(width, int(window[2]) + 3), min(height, int(window[3]) + 3)
    planes = layer.planes[:, top:bottom, left:right].astype(np.float32)
    planes *= layer.scales[:, None, None]
    return planes, (window[0] - left, window[1] - top, window[2] - left, window[3] - top)


def _shading(cut: Cut, things: Sequence[Thing]) -> Floats:
    """What is left (H, W) of the light on the empty stage when the objects stand there."""
    key = np.ones(cut.share.shape, np.float32)
    fill = np.ones(cut.share.shape, np.float32)
    coarse = cut.points[:, ::COARSE, ::COARSE]
    for thing in things:
        rows, columns = _bounds(thing.caster.bounds(coarse), len(key))
        key[rows, columns] *= 1 - thing.caster.shadow(cut.points[:, rows, columns])
        rows, columns = _bounds(cut.ids[::COARSE, ::COARSE] == thing.support, len(key))
        below = np.where(
            cut.ids[rows, columns] == thing.support, thing.caster.occlusion(cut.points[:, rows, columns]), 1
        )
        fill[rows, columns] *= below
    return fill + cut.share * (key - fill)


def _bounds(found: NDArray[np.bool_], size_px: int) -> tuple[slice, slice]:
    """The rows and columns around what was found on the coarse grid."""

    def bounds(line: NDArray[np.bool_]) -> slice:
        places = np.flatnonzero(line)
        if not len(places):
            return slice(0, 0)
        return slice(max(0, COARSE * (int(places[0]) - 1)), min(size_px, COARSE * (int(places[-1]) + 2)))

    return bounds(found.any(axis=1)), bounds(found.any(axis=0))


def _lit(thing: Thing, scene: SceneSpec, view: View, surroundings: Surroundings, others: Sequence[Caster]) -> Floats:
    """A sprite's (4, H, W) premultiplied linear colour and alpha in the light that reaches its place."""
    lamp, layer = scene.light, thing.look.layer
    height, width = layer.planes.shape[1:]
    grid = _upright(thing, view)  # (rows, columns, 3)
    points = grid.reshape(-1, 3)
    key = surroundings.key(points)
    for caster in others:
        key = key * (1 - caster.shadow(points.T.astype(np.float32)))
    fill = surroundings.fill(grid[:, GRID[1] // 2], -view.towards)
    planes = layer.planes.astype(np.float32)
    # Each colour is a sum of planes: what comes of the key light, of the fill, and of the paint in either.
    lights = np.stack(
        [_linear(lamp.key_rgb) * (lamp.key_strength / np.pi), _linear(lamp.fill_rgb) * lamp.fill_strength]
    )
    weights = lights * layer.scales[:6].reshape(2, 3)
    sums = planes[:6].reshape(2, 3, height, width) * weights[..., None, None]
    if thing.spec.paint is not None and len(planes) > 7:
        weights = lights * _linear(thing.spec.paint) * layer.scales[6:12].reshape(2, 3)
        sums += planes[6:12].reshape(2, 3, height, width) * weights[..., None, None]
    lit = np.empty((4, height, width), np.float32)
    np.multiply(sums[0], _spread(key.reshape(GRID), height, width), out=lit[:3])
    sums[1] *= _spread(fill[:, None], height, 1)
    lit[:3] += sums[1]
    np.multiply(planes[-1], layer.scales[-1], out=lit[3])
    return lit


def _upright(thing: Thing, view: View) -> Doubles:
    """Points (rows, columns, 3) on the object's middle plane that faces the camera, as its sprite's pixels lie."""
    low, high = thing.corners.min(axis=0), thing.corners.max(axis=0)
    middle = (low + high) / 2
    up = np.cross(view.right, view.towards)
    reach = np.abs(thing.corners - middle)
    across, along = (reach @ np.abs(axis) for axis in (view.right, up))
    x = np.linspace(-0.98, 0.98, GRID[1]) * across.max()
    y = np.linspace(0.98, -0.98, GRID[0]) * along.max()
    grid: Doubles = middle + y[:, None, None] * up + x[None, :, None] * view.right
    return grid


def _spread(grid: Doubles, height: int, width: int) -> Floats:
    """A coarse grid, spread smoothly over (height, width)."""
    image = Image.fromarray(grid.astype(np.float32), "F")
    return np.asarray(image.resize((width, height), Image.Resampling.BILINEAR), np.float32)


def _support(slabs: Sequence[SlabSpec], item: ObjectSpec) -> int:
    """1 + the number of the slab on which an object stands, 0 for none."""
    x, y, z = item.position_m
    for number, slab in enumerate(slabs):
        (cx, cy, cz), (sx, sy, sz) = slab.centre_m, slab.size_m
        if abs(cz + sz / 2 - z) < SUPPORT_M and abs(x - cx) <= sx / 2 and abs(y - cy) <= sy / 2:
            return 1 + number
    return 0


def _about_z(angle_deg: float) -> Doubles:
    c, s = np.cos(radians(angle_deg)), np.sin(radians(angle_deg))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _linear(rgb: tuple[float, float, float]) -> Floats:
    values = np.array(rgb)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4).astype(np.float32)
