"""From layers to a picture and its masks: cut the plate, shade it, set the sprites into it from far to near.

All of it in linear light with premultiplied alpha. Nothing depends on the order in which objects are named: each
shades the plate and the others before any of them is set in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import pi, radians, sin, tan

import numpy as np
from numpy.typing import NDArray

from generator.specs import LightSpec, ObjectSpec, SceneSpec, SlabSpec, bearing_deg
from renderers.sprites import light, resample
from renderers.sprites.bank import Bank, Kept
from renderers.sprites.keys import SpriteKey, sprite_keys
from renderers.sprites.light import Cast, Caster, Surroundings
from renderers.sprites.plates import Cut, Plates
from renderers.sprites.view import View, about_z

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

# Points of an upright grid through each object at which its light is worked out: rows, columns.
GRID = (9, 5)
# The fill light changes slowly: every so many rows do.
FILL_STEP = 4
GRID_X, GRID_Y = np.linspace(-0.98, 0.98, GRID[1]), np.linspace(0.98, -0.98, GRID[0])
# Light at the foot is that of so much of the height above it.
FOOT = 0.03
# What an object stands on is a slab whose top is this near to its foot.
SUPPORT_M = 0.006
# The share of an object's light that comes from the ground, whose colour is looked up so near to its foot; and the
# linear albedo of the floor on which sprites are made.
BOUNCE, FOOT_PX, FLOOR_ALBEDO = 0.12, 6, 0.4
# Where less of the light than this comes from the key, its shadows do not show.
DARK = 0.02
# The share of the key light on the stage that comes straight; the rest has been thrown back and fills shadows too. As
# measured against pictures rendered whole.
DIRECT = 0.87
# What a sprite's frame weighs in memory, about.
FRAME_BYTES = 1024
# Only every so many pixels are looked at to find where a shadow may fall.
COARSE = 4


@dataclass(frozen=True)
class Look:
    """A sprite in memory, at one level of `resample`. planes: 7 or 13, as renderers.blender.layers says; factors: how
    many of the layer's pixels one of its own is, across and down."""

    planes: Floats
    factors: tuple[float, float]


@dataclass(frozen=True)
class Frame:
    """Where things are in a sprite: corners (8, 3) of the model's box, feet first, and their pixels (8, 2)."""

    corners: Doubles
    pixels: Doubles


@dataclass(frozen=True)
class Thing:
    """An object where it stands: fit (3, 2) from the picture's pixels to its look's; corners (8, 3) of its box in the
    world, nearest and middle depth along the axis; support: 1 + number of the slab that it stands on, 0 for none."""

    spec: ObjectSpec
    look: Look
    fit: Doubles
    caster: Caster
    corners: Doubles
    nearest: float
    distance: float
    support: int


class Compositor:
    """Makes pictures from a bank, whose missing layers it has rendered."""

    def __init__(self, bank: Bank, size_px: int, cache_bytes: int) -> None:
        """cache_bytes: of layers kept in memory, whatever the number of pairs and the size of the bank."""
        self._bank = bank
        self._size_px = size_px
        self._kept = Kept(cache_bytes)
        self._plates = Plates(bank, self._kept, size_px)

    def render(self, scene: SceneSpec, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_]]:
        """Image (H, W, 3), visible (H, W) and amodal (n, H, W), as RenderJob says. Raises BankError."""
        keys = [sprite_keys(scene, item, self._size_px) for item in scene.objects]
        self._bank.make([key for both in keys for key in both])
        view = View(scene.camera, self._size_px)
        cut = self._plates.cut(scene, view)
        things = [self._thing(scene, item, view, *both) for item, both in zip(scene.objects, keys, strict=True)]
        canvas = cut.rgb * _shading(cut, things)
        surroundings = Surroundings(scene.slabs, scene.light)
        visible = np.zeros(cut.ids.shape, np.uint8)
        amodal = np.zeros((len(things), *cut.ids.shape), np.bool_)
        for number in sorted(range(len(things)), key=lambda number: -things[number].distance):
            thing = things[number]
            lit = _lit(thing, [other for other in things if other is not thing], scene.light, view, surroundings)
            lit[:3] *= _bounce(cut, thing, scene.light, view)[:, None, None]
            values, (rows, columns) = resample.warp(lit, thing.fit, self._size_px)
            outline = values[3] >= 0.5
            amodal[number, rows, columns] = outline
            in_front = (cut.depth[rows, columns] < thing.nearest) & (cut.ids[rows, columns] != thing.support)
            if in_front.any():
                values *= ~in_front
                outline &= ~in_front
            window = canvas[:, rows, columns]
            window *= 1 - values[3]
            window += values[:3]
            visible[rows, columns][outline] = 1 + number
        return resample.encode(canvas, seed), visible, amodal

    def _thing(self, scene: SceneSpec, item: ObjectSpec, view: View, look_key: SpriteKey, cast_key: SpriteKey) -> Thing:
        frame = self._kept.get((look_key, "frame"), lambda: self._frame(look_key), lambda _: FRAME_BYTES)
        cast = self._kept.get(cast_key, lambda: self._cast(cast_key), lambda cast: cast.nbytes)
        # The sprite's world is this one turned until the camera stands on the side of -y.
        turn = about_z(-bearing_deg(scene.camera, item.position_m))
        position = np.array(item.position_m)
        corners = position + item.scale_m * frame.corners @ turn.T
        depths = view.depth(corners)
        fit = view.to_sprite(corners, frame.pixels)
        level = resample.level_of(fit)
        look = self._kept.get((look_key, level), lambda: self._look(look_key, level), lambda look: look.planes.nbytes)
        return Thing(
            spec=item,
            look=look,
            fit=fit / np.array(look.factors),
            caster=Caster(cast, position, turn.T / item.scale_m, 2 * tan(radians(scene.light.angle_deg) / 2)),
            corners=corners,
            nearest=float(depths.min()),
            distance=float(view.depth(position[None])[0]),
            support=_support(scene.slabs, item),
        )

    def _frame(self, key: SpriteKey) -> Frame:
        facts = self._bank.read(key).facts
        return Frame(np.array(facts["corners"]), np.array(facts["pixels"]))

    def _look(self, key: SpriteKey, level: int) -> Look:
        return Look(*resample.shrunk(self._bank.read(key).values(), level))

    def _cast(self, key: SpriteKey) -> Cast:
        return light.decode_cast(self._bank.read(key))


def _shading(cut: Cut, things: Sequence[Thing]) -> Floats:
    """What is left (H, W) of the light on the empty stage when the objects stand there."""
    key, fill = np.ones(cut.share.shape, np.float32), np.ones(cut.share.shape, np.float32)
    points, ids, share = cut.points.reshape(3, -1), cut.ids.reshape(-1), cut.share.reshape(-1)
    coarse = cut.points[:, ::COARSE, ::COARSE]
    for thing in things:
        at = _pixels(thing.caster.may_shade(coarse), len(key))
        at = at[share[at] > DARK]
        key.reshape(-1)[at] *= 1 - DIRECT * thing.caster.shadow(points.take(at, axis=1))
        at = _pixels(thing.caster.may_darken(coarse), len(key))
        at = at[ids[at] == thing.support]
        fill.reshape(-1)[at] *= thing.caster.occlusion(points.take(at, axis=1))
    key -= fill
    key *= cut.share
    key += fill
    return key


def _pixels(coarse: NDArray[np.bool_], size_px: int) -> NDArray[np.intp]:
    """Numbers of the pixels in and around the blocks of a picture that were found on the coarse grid."""
    wide = coarse.copy()
    wide[1:] |= coarse[:-1]
    wide[:-1] |= coarse[1:]
    beside = wide.copy()
    wide[:, 1:] |= beside[:, :-1]
    wide[:, :-1] |= beside[:, 1:]
    every = wide.repeat(COARSE, axis=0).repeat(COARSE, axis=1)
    return np.flatnonzero(every[:size_px, :size_px])


def _lit(thing: Thing, others: Sequence[Thing], lamp: LightSpec, view: View, surroundings: Surroundings) -> Floats:
    """A sprite's (4, H, W) premultiplied linear colour and alpha in the light that reaches its place."""
    planes = thing.look.planes
    height, width = planes.shape[1:]
    grid = _upright(thing, view)  # (rows, columns, 3)
    points = grid.reshape(-1, 3)
    key = surroundings.key(points)
    for other in others:
        key = key * (1 - other.caster.shadow(points.T.astype(np.float32)))
    fill = surroundings.fill(grid[::FILL_STEP, GRID[1] // 2], -view.towards)
    down, across = _spread(height, GRID[0]), _spread(width, GRID[1])
    gains = (
        down @ key.reshape(GRID).astype(np.float32) @ across.T,
        (_spread(height, len(fill)) @ fill.astype(np.float32))[:, None],
    )
    lights = (
        resample.linear_rgb(lamp.key_rgb) * np.float32(lamp.key_strength / pi),
        resample.linear_rgb(lamp.fill_rgb) * np.float32(lamp.fill_strength),
    )
    paint = None if thing.spec.paint is None else resample.linear_rgb(thing.spec.paint)
    lit = np.empty((4, height, width), np.float32)
    # Each colour is a sum of planes: what comes of the key light and of the fill, and of the paint in either.
    for channel in range(3):
        total = lit[channel]
        total[:] = 0
        for number, (gain, rgb) in enumerate(zip(gains, lights, strict=True)):
            plane = 3 * number + channel
            part = planes[plane] * rgb[channel]
            if paint is not None and len(planes) > 7:
                part += planes[6 + plane] * (rgb[channel] * paint[channel])
            part *= gain
            total += part
    lit[3] = planes[-1]
    return lit


def _bounce(cut: Cut, thing: Thing, lamp: LightSpec, view: View) -> Floats:
    """What the colour of the ground around an object's foot does to its own (3,): sprites are made on a grey floor."""
    column, row = view.project(np.array(thing.spec.position_m)[None])[0].astype(int)
    rows, columns = (slice(max(0, at - FOOT_PX), max(0, at + FOOT_PX + 1)) for at in (row, column))
    ground = cut.rgb[:, rows, columns][:, cut.ids[rows, columns] == thing.support]
    if thing.support == 0 or not ground.size:
        return np.ones(3, np.float32)
    from_key = resample.linear_rgb(lamp.key_rgb) * (lamp.key_strength / pi * sin(radians(lamp.elevation_deg)))
    usual = FLOOR_ALBEDO * (from_key + resample.linear_rgb(lamp.fill_rgb) * lamp.fill_strength)
    ratio = ground.mean(axis=1) / np.maximum(usual, 1e-6)
    tint: Floats = (1 + BOUNCE * (np.minimum(ratio, 2.0) - 1)).astype(np.float32)
    return tint


def _upright(thing: Thing, view: View) -> Doubles:
    """Points (rows, columns, 3) on the object's middle plane that faces the camera, as its sprite's pixels lie."""
    middle = thing.corners.mean(axis=0)
    reach = np.abs((thing.corners - middle) @ np.stack([view.right, view.up], axis=1)).max(axis=0)
    across, along = GRID_X[:, None] * (reach[0] * view.right), GRID_Y[:, None] * (reach[1] * view.up)
    grid: Doubles = middle + along[:, None] + across[None]
    # A plane that leans with the camera would dive under what the object stands on.
    low, high = thing.corners[:, 2].min(), thing.corners[:, 2].max()
    np.maximum(grid[..., 2], low + FOOT * (high - low), out=grid[..., 2])
    return grid


@lru_cache(maxsize=1024)
def _spread(length: int, count: int) -> Floats:
    """Weights (length, count) that draw lines between `count` values spread evenly over a length."""
    places = (np.arange(length) + 0.5) / length * (count - 1)
    return np.maximum(0, 1 - np.abs(places[:, None] - np.arange(count))).astype(np.float32)


def _support(slabs: Sequence[SlabSpec], item: ObjectSpec) -> int:
    """1 + the number of the slab on which an object stands, 0 for none."""
    x, y, z = item.position_m
    for number, slab in enumerate(slabs):
        (cx, cy, cz), (sx, sy, sz) = slab.centre_m, slab.size_m
        if abs(cz + sz / 2 - z) < SUPPORT_M and abs(x - cx) <= sx / 2 and abs(y - cy) <= sy / 2:
            return 1 + number
    return 0
