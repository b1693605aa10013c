"""Planes cut, resized and turned, and linear light made into 8-bit sRGB: all in numpy and Pillow."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generator.specs import Rgb
from renderers.sprites.view import Box, Window, window_around

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

# Linear light is looked up in this many steps: less than one 8-bit step each, in the darkest tones too.
STEPS = 1 << 14
# Standard deviation of the grain, in 8-bit steps.
GRAIN = 0.5
# The pattern is so much larger than a picture, and starts in so many places each way: a prime number.
GRAIN_ROOM_PX = 509
# An 8-bit step is counted in so many parts, until the grain is in.
FINE_BITS = 6
# Sprites sampled more coarsely than this, in sprite pixels per picture pixel, are averaged first, in steps of LEVEL.
COARSE, LEVEL = 1.35, math.sqrt(2)


def cut(plane: Floats, box: Box, size_px: int) -> Floats:
    """A window of a plane (H, W), in its pixels, resized to a square."""
    image = Image.fromarray(plane, "F").resize((size_px, size_px), Image.Resampling.HAMMING, box)
    return np.array(image, np.float32)


def places(shape: tuple[int, int], box: Box, size_px: int) -> NDArray[np.intp]:
    """The pixels (size_px, size_px), numbered through, of planes (H, W) that are nearest to those of a window.

    What is taken from there is one of the plane's own values, no mean: numbers of things, depths.
    """
    left, top, right, bottom = box
    middles = (np.arange(size_px) + 0.5) / size_px
    columns = (left + middles * (right - left)).astype(np.intp)
    rows = (top + middles * (bottom - top)).astype(np.intp)
    numbers: NDArray[np.intp] = rows[:, None] * shape[1] + columns
    return numbers


def level_of(to_source: Doubles) -> int:
    """How many levels down planes are to be sampled so (see `warp`): 0 where their pixels are about the picture's."""
    scale = float(np.sqrt(abs(np.linalg.det(to_source[:2]))))
    return max(0, math.ceil(math.log(scale / COARSE, LEVEL)))


def shrunk(planes: Floats, level: int) -> tuple[Floats, tuple[float, float]]:
    """Planes (C, H, W) averaged down so many levels, and the factors across and down that came of it exactly."""
    if level == 0:
        return planes, (1.0, 1.0)
    factor = LEVEL**level
    height, width = planes.shape[1:]
    size = (max(1, round(width / factor)), max(1, round(height / factor)))
    small = [np.asarray(Image.fromarray(plane, "F").resize(size, Image.Resampling.HAMMING)) for plane in planes]
    return np.stack(small), (width / size[0], height / size[1])


def warp(planes: Floats, to_source: Doubles, size_px: int) -> tuple[Floats, Window]:
    """Planes (C, H, W) as they fall into a picture: values (C, h, w) and the (rows, columns) that they cover.

    to_source (3, 2): (x, y, 1) in picture pixels @ to_source = (x, y) in the planes' pixels, of the right level.
    """
    count, height, width = planes.shape
    rows, columns = _covered(height, width, to_source, size_px)
    # Nothing all around, so that what lies outside is found there.
    padded = np.zeros((height + 3, width + 3, count), np.float32)
    padded[1:-2, 1:-2] = np.moveaxis(planes, 0, 2)
    flat = padded.reshape(-1, count)
    x = np.arange(columns.start, columns.stop, dtype=np.float32) + np.float32(0.5)
    y = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None] + np.float32(0.5)
    (ax, ay), (bx, by), (cx, cy) = to_source.astype(np.float32)
    across, down = ax * x + (bx * y + (cx + np.float32(0.5))), ay * x + (by * y + (cy + np.float32(0.5)))
    np.clip(across, 0, np.float32(width + 1.999), out=across)
    np.clip(down, 0, np.float32(height + 1.999), out=down)
    left, top = across.astype(np.intp), down.astype(np.intp)
    first = top * (width + 3) + left
    # All planes of a pixel lie together: one look-up finds them, and weights are repeated to be multiplied in one go.
    across, down = (line.ravel().repeat(count).reshape(-1, count) for line in (across - left, down - top))
    first = first.ravel()
    upper, lower = flat.take(first, axis=0), flat.take(first + (width + 3), axis=0)
    for line, offset in ((upper, 1), (lower, width + 4)):
        right = flat.take(first + offset, axis=0)
        right -= line
        right *= across
        line += right
    lower -= upper
    lower *= down
    upper += lower
    shape = (count, rows.stop - rows.start, columns.stop - columns.start)
    return np.ascontiguousarray(upper.T).reshape(shape), (rows, columns)


def _covered(height: int, width: int, to_source: Doubles, size_px: int) -> Window:
    """The rows and columns of the picture that planes of a size can reach."""
    corners = np.array([(x, y) for x in (-1, width + 1) for y in (-1, height + 1)])
    return window_around((corners - to_source[2]) @ np.linalg.inv(to_source[:2]), size_px)


def encode(linear: Floats, seed: int) -> NDArray[np.uint8]:
    """Linear planes (3, H, W) as Blender's standard view shows them, with the grain of a seed: (H, W, 3) sRGB."""
    noise = grain(seed, linear.shape[1])
    image = np.empty((*linear.shape[1:], 3), np.uint8)
    # Plane by plane: what is in hand stays in the processor's cache.
    for channel, plane in enumerate(linear):
        values = _shown().take((plane * np.float32(STEPS - 1)).astype(np.intp), mode="clip")
        values += noise
        values >>= FINE_BITS
        np.maximum(values, 0, out=values)
        np.minimum(values, 255, out=values)
        image[..., channel] = values
    return image


def grain(seed: int, size_px: int) -> NDArray[np.int16]:
    """Faint noise (H, W) as a sensor's, in parts of an 8-bit step: for each seed a window of one fixed pattern."""
    tile = _grain_tile(size_px + GRAIN_ROOM_PX)
    # Any steps do that take neighbouring seeds far from one another.
    top, left = (seed * 7919) % GRAIN_ROOM_PX, (seed * 104729) % GRAIN_ROOM_PX
    return tile[top : top + size_px, left : left + size_px]


def linear_rgb(rgb: Rgb) -> Floats:
    """An sRGB colour as linear light (3,)."""
    return np.array([_to_linear(value) for value in rgb], np.float32)


def to_linear(srgb: NDArray[np.uint8]) -> Floats:
    """8-bit sRGB as linear light."""
    return _linear().take(srgb)


@cache
def _shown() -> NDArray[np.int16]:
    """sRGB of each step of linear light in parts of an 8-bit step, plus the half that makes a cut-off a rounding."""
    linear = (np.arange(STEPS) + 0.5) / STEPS
    shown = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    parts: NDArray[np.int16] = np.round((255 * shown + 0.5) * 2**FINE_BITS).astype(np.int16)
    return parts


@cache
def _linear() -> Floats:
    return np.array([_to_linear(value / 255) for value in range(256)], np.float32)


def _to_linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


@cache
def _grain_tile(size: int) -> NDArray[np.int16]:
    """White noise of uniform hashes, four of them added up to be nearly normal."""
    numbers = np.arange(4 * size * size, dtype=np.uint64)
    # A generator of random numbers in one line (SplitMix64): the same on all platforms.
    numbers = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    uniform = (numbers >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
    total = uniform.reshape(4, size, size).sum(axis=0) - 2
    tile: NDArray[np.int16] = np.round(total * (GRAIN * 2**FINE_BITS / math.sqrt(4 / 12))).astype(np.int16)
    return tile
