"""What stands between the light and a point: the stage's slabs, and other objects.

Sprites are made in the open, plates without objects. What boards keep from an object, and what objects keep from the
stage and from each other, follows here from the geometry: slabs are boxes, objects are their outlines as seen
from the sun, blurred the more the farther behind them the shadow falls.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from generator.specs import LightSpec, SlabSpec
from renderers.sprites.bank import Layer

Floats = NDArray[np.float32]

# Blur of an outline in its pixels, from level to level.
BLURS_PX = tuple(2.0 ** (step / 2) for step in range(-2, 7))
# The blurs within which the occluder of a point is looked for, and how much each counts.
SEARCH = ((4, 1.0), (6, 0.1), (8, 0.01))
# Room around outlines for the softest of them.
PADDING_PX = 24
# Darkness of the floor that nobody sees: it would reach far for nothing.
FAINT = 0.012
# What is within so many longest sides of the foot's height is the floor.
NEAR_FLOOR = 0.05
SUN_RAYS = 8
SKY_RAYS = 24
# How bright the stage's own surfaces are against the fill light, and the floor on which sprites are made.
STAGE_BRIGHTNESS = 0.45
FLOOR_BRIGHTNESS = 0.5


@dataclass(frozen=True)
class Cast:
    """What a model takes of the light around it, decoded. Lengths in its longest sides.

    shadows: (levels, H, W) uint8 outlines as the sun sees them, ever more blurred; depth: (H, W) of what is nearby.
    axes (3, 3): right, down and away in the sun's view; centre (3,): its middle; half: half its unpadded width.
    floor: (N, N) how much of the fill light reaches the floor, in 255ths, row 0 at the far side; reach: half its width.
    """

    shadows: NDArray[np.uint8]
    depth: Floats
    axes: NDArray[np.float64]
    centre: NDArray[np.float64]
    half: float
    floor: NDArray[np.uint8]
    reach: float

    @property
    def nbytes(self) -> int:
        return self.shadows.nbytes + self.depth.nbytes + self.floor.nbytes


def decode_cast(layer: Layer) -> Cast:
    """Blur the outline, level by level, and let the darkness of the floor end softly."""
    alpha, depth, floor = layer.values()
    half = float(layer.facts["half"])
    outline = np.pad(alpha, PADDING_PX)
    shadows = np.stack([_blurred(outline, blur) for blur in BLURS_PX])
    # What is in front of a point is the mean of what is nearest to it in the sun's view: the wider the blur that it
    # takes to find something, the less it weighs; where nothing is found, the mean of all.
    nearness = np.pad(alpha * depth / (2 * half), PADDING_PX)
    usual = float(nearness.sum() / max(outline.sum(), 1e-6))
    found, weights = np.full(outline.shape, 0.02 * usual), np.full(outline.shape, 0.02)
    for level, weight in SEARCH:
        found += weight * _blurred(nearness, BLURS_PX[level])
        weights += weight * _blurred(outline, BLURS_PX[level])
    share = found / weights
    size = len(floor)
    ramp = np.clip((1 - np.abs(np.linspace(-1, 1, size, dtype=np.float32))) * 4, 0, 1)
    ramp = ramp * ramp * (3 - 2 * ramp)
    darkness = np.maximum((1 - floor) * ramp * ramp[:, None] - FAINT, 0) / (1 - FAINT)
    fine = Image.fromarray(1 - darkness, "F").resize((2 * size, 2 * size))
    return Cast(
        shadows=shadows,
        depth=((2 * share - 1) * half).astype(np.float32),
        axes=np.array(layer.facts["axes"]),
        centre=np.array(layer.facts["centre"]),
        half=half,
        floor=(np.clip(np.asarray(fine), 0, 1) * 255 + 0.5).astype(np.uint8),
        reach=float(layer.facts["floor"]),
    )


@dataclass(frozen=True)
class Caster:
    """An object where it stands. to_own (3, 3): from world axes, in metres, to its own, in longest sides. softness:
    width of the penumbra for each unit of length behind the object."""

    cast: Cast
    position: NDArray[np.float64]
    to_own: NDArray[np.float64]
    softness: float

    def may_shade(self, points: Floats) -> NDArray[np.bool_]:
        """Which of the points (3, ...) are in or near the shadow in the key light."""
        across, down, away = self._in_sun(points)
        place, _, _ = self._place(across, down)
        # The widest blur finds thin things too that fall between the points.
        near: NDArray[np.bool_] = self.cast.shadows[-1].reshape(-1).take(place) > 1
        near &= away > -self.cast.half
        return near

    def may_darken(self, points: Floats) -> NDArray[np.bool_]:
        """Which of the points (3, ...) are on the patch of floor that the object darkens in the fill light."""
        on_floor = np.abs(self._own(points, self.to_own)[2]) < NEAR_FLOOR
        darkened: NDArray[np.bool_] = on_floor & (self.occlusion(points) < 1)
        return darkened

    def shadow(self, points: Floats) -> Floats:
        """How much of the key light the object keeps from points (3, N): (N,)."""
        across, down, away = self._in_sun(points)
        levels, size = self.cast.shadows.shape[:2]
        place, column, row = self._place(across, down)
        gap = away - self.cast.depth.reshape(-1).take(place)
        # A quarter of the penumbra's width: what a uniform disc is to a bell curve.
        blur = np.maximum(gap * np.float32(0.25 * self.softness * self._per_unit / BLURS_PX[0]), np.float32(1))
        level = (2 * np.log2(blur) + np.float32(0.5)).astype(np.intp)
        np.minimum(level, levels - 1, out=level)
        level *= size * size
        place += level
        flat = self.cast.shadows.reshape(-1)
        rows = []
        for below in (0, size):
            near = flat.take(place + below).astype(np.float32)
            far = flat.take(place + (below + 1)) - near
            far *= column
            near += far
            rows.append(near)
        shadow: Floats = rows[0]
        lower = rows[1]
        lower -= shadow
        lower *= row
        shadow += lower
        # What lies before the occluder, towards the sun, is not in its shadow.
        shadow *= np.clip(gap * np.float32(12) + np.float32(1), 0, 1) * np.float32(1 / 255)
        return shadow

    def occlusion(self, points: Floats) -> Floats:
        """How much of the fill light is left on the floor that the object stands on, at points (3, ...)."""
        size = len(self.cast.floor)
        x, y = self._own(points, self.to_own[:2])
        scale = np.float32(size / (2 * self.cast.reach))
        column = np.clip(x * scale + np.float32(size / 2), 0, size - 1).astype(np.int32)
        row = np.clip(np.float32(size / 2) - y * scale, 0, size - 1).astype(np.int32)
        left: Floats = self.cast.floor.reshape(-1).take(row * np.int32(size) + column) * np.float32(1 / 255)
        return left

    @property
    def _per_unit(self) -> float:
        """Pixels of the outline for each unit of length."""
        return (self.cast.shadows.shape[1] - 2 * PADDING_PX) / (2 * self.cast.half)

    def _place(self, across: Floats, down: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
        """The pixel of the outline up and left of points in the sun's view, and how far they are from it."""
        size = self.cast.shadows.shape[1]
        column = across * np.float32(self._per_unit) + np.float32(size / 2 - 0.5)
        row = down * np.float32(self._per_unit) + np.float32(size / 2 - 0.5)
        np.clip(column, 0, size - 1.001, out=column)
        np.clip(row, 0, size - 1.001, out=row)
        left, top = column.astype(np.intp), row.astype(np.intp)
        column -= left
        row -= top
        top *= size
        top += left
        return top, column, row

    def _in_sun(self, points: Floats) -> Floats:
        offset = self.cast.axes @ self.cast.centre
        moved = self._own(points, self.cast.axes @ self.to_own)
        moved -= offset.astype(np.float32).reshape(3, *([1] * (points.ndim - 1)))
        return moved

    def _own(self, points: Floats, matrix: NDArray[np.float64]) -> Floats:
        flat = points.reshape(3, -1)
        moved: Floats = matrix.astype(np.float32) @ flat - (matrix @ self.position).astype(np.float32)[:, None]
        return moved.reshape(len(matrix), *points.shape[1:])


class Surroundings:
    """The slabs of a stage as boxes that keep light off. Those that are not lit keep off nothing."""

    def __init__(self, slabs: Sequence[SlabSpec], light: LightSpec) -> None:
        solid = [slab for slab in slabs if slab.surface.lit]
        centre = np.array([slab.centre_m for slab in solid], np.float64).reshape(-1, 3)
        half = np.array([slab.size_m for slab in solid], np.float64).reshape(-1, 3) / 2 + 1e-6
        self._low, self._high = centre - half, centre + half
        self._sun = _sun_rays(light)

    def key(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of the sun that points (N, 3) see."""
        seen: NDArray[np.float64] = 1 - self._hit(points, self._sun).mean(axis=1)
        return seen

    def fill(self, points: NDArray[np.float64], normal: NDArray[np.float64]) -> NDArray[np.float64]:
        """Fill light on points (N, 3) of surfaces that face `normal`, against that above an open floor."""
        rays = _around(normal)
        hit = self._hit(points, rays)
        open_floor = np.where(rays[:, 2] > 0, 1.0, FLOOR_BRIGHTNESS).mean()
        level: NDArray[np.float64] = np.where(hit, STAGE_BRIGHTNESS, 1.0).mean(axis=1) / open_floor
        return level

    def _hit(self, points: NDArray[np.float64], rays: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N, R): whether a ray from a point meets a box."""
        if not len(self._low):
            return np.zeros((len(points), len(rays)), dtype=bool)
        inverse = 1 / np.where(np.abs(rays) < 1e-9, 1e-9, rays)  # (R, 3)
        enter = leave = None
        for axis in range(3):
            # Where rays pass the two faces of each box across this axis: (N, R, S).
            near = (self._low[:, axis] - points[:, None, axis])[:, None] * inverse[None, :, None, axis]
            far = (self._high[:, axis] - points[:, None, axis])[:, None] * inverse[None, :, None, axis]
            first, last = np.minimum(near, far), np.maximum(near, far)
            enter = first if enter is None else np.maximum(enter, first)
            leave = last if leave is None else np.minimum(leave, last)
        assert enter is not None
        assert leave is not None
        found: NDArray[np.bool_] = ((enter < leave) & (leave > 1e-4)).any(axis=2)
        return found


def _sun_rays(light: LightSpec) -> NDArray[np.float64]:
    """Directions (R, 3) towards points spread evenly over the sun's disc."""
    azimuth, elevation = math.radians(light.azimuth_deg), math.radians(light.elevation_deg)
    towards = np.array(
        [math.sin(azimuth) * math.cos(elevation), -math.cos(azimuth) * math.cos(elevation), math.sin(elevation)]
    )
    right = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
    disc = math.tan(math.radians(light.angle_deg) / 2) * _disc(SUN_RAYS)
    rays: NDArray[np.float64] = towards + disc @ np.stack([right, np.cross(right, towards)])
    return rays


def _around(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Directions (R, 3) over the hemisphere around a normal, as densely as a matt surface weighs them."""
    side = np.cross(normal, [0.0, 0.0, 1.0] if abs(normal[2]) < 0.9 else [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    disc = _disc(SKY_RAYS)
    along = np.sqrt(1 - (disc**2).sum(axis=1))
    rays: NDArray[np.float64] = disc @ np.stack([side, np.cross(normal, side)]) + along[:, None] * normal
    return rays


@cache
def _disc(count: int) -> NDArray[np.float64]:
    """Points (count, 2) spread evenly over the unit disc, as seeds in a sunflower."""
    number = np.arange(count) + 0.5
    turn = number * math.pi * (3 - math.sqrt(5))
    points: NDArray[np.float64] = np.stack([np.cos(turn), np.sin(turn)], axis=1) * np.sqrt(number / count)[:, None]
    return points


def _blurred(plane: Floats, blur_px: float) -> NDArray[np.uint8]:
    image = Image.fromarray((np.clip(plane, 0, 1) * 255 + 0.5).astype(np.uint8), "L")
    return np.asarray(image.filter(ImageFilter.GaussianBlur(blur_px)))
