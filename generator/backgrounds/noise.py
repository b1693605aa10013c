"""Periodic patterns on a square tile: noise, cells, courses of bricks, relief. All wrap around at the edges.

Maps are (512, 512) float64, rows down; images (512, 512, 3) sRGB in [0, 1]. Double precision throughout, so
that rounding to 8 bits gives the same bytes on every machine.
"""

import numpy as np
from numpy.typing import NDArray

SIZE_PX = 512

Map = NDArray[np.float64]
Image = NDArray[np.float64]
Rgb = tuple[float, float, float]


def axes() -> tuple[Map, Map]:
    """(x, y) of the pixel centres in [0, 1)."""
    line = (np.arange(SIZE_PX) + 0.5) / SIZE_PX
    x, y = np.meshgrid(line, line)
    return x, y


def clouds(
    rng: np.random.Generator,
    beta: float = 2.0,
    coarsest: float = 1.0,
    finest: float = 128.0,
    stretch: tuple[float, float] = (1.0, 1.0),
) -> Map:
    """Gaussian noise with a power spectrum of f^-beta between two frequencies, mean 0, deviation 1.

    coarsest, finest: waves per tile. stretch: how much longer the features are along x and along y.
    """
    fx = np.fft.rfftfreq(SIZE_PX, 1.0 / SIZE_PX) * stretch[0]
    fy = np.fft.fftfreq(SIZE_PX, 1.0 / SIZE_PX) * stretch[1]
    frequency = np.hypot(fx[None, :], fy[:, None])
    inside = (frequency >= coarsest) & (frequency <= finest)
    gain = np.where(inside, np.maximum(frequency, 1.0) ** (-beta / 2), 0.0)
    noise = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((SIZE_PX, SIZE_PX))) * gain, s=(SIZE_PX, SIZE_PX))
    scaled: Map = (noise - noise.mean()) / noise.std()
    return scaled


def blur(values: Map, sigma_px: float) -> Map:
    """Gaussian blur that wraps around."""
    fx = np.fft.rfftfreq(SIZE_PX)
    fy = np.fft.fftfreq(SIZE_PX)
    gain = np.exp(-2 * (np.pi * sigma_px) ** 2 * (fx[None, :] ** 2 + fy[:, None] ** 2))
    blurred: Map = np.fft.irfft2(np.fft.rfft2(values) * gain, s=(SIZE_PX, SIZE_PX))
    return blurred


def warp(values: Map, dx_px: Map, dy_px: Map) -> Map:
    """`values` looked up at displaced pixels, bilinear, wrapping around."""
    rows, cols = np.indices(values.shape)
    y, x = rows + dy_px, cols + dx_px
    y0, x0 = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    ty, tx = y - y0, x - x0
    corners = [values[(y0 + j) % SIZE_PX, (x0 + i) % SIZE_PX] for j in (0, 1) for i in (0, 1)]
    top = corners[0] * (1 - tx) + corners[1] * tx
    looked_up: Map = top * (1 - ty) + (corners[2] * (1 - tx) + corners[3] * tx) * ty
    return looked_up


def cells(rng: np.random.Generator, across: int, jitter: float = 0.9) -> tuple[Map, Map, NDArray[np.int64]]:
    """Voronoi cells of one jittered point per square of an `across` x `across` grid.

    Returns the distances to the nearest and the second nearest point, in squares, and the nearest one's number.
    """
    offsets = 0.5 + jitter * (rng.random((across * across, 2)) - 0.5)
    x, y = axes()
    x, y = x * across, y * across
    ix, iy = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    first, second = np.full(x.shape, np.inf), np.full(x.shape, np.inf)
    owner = np.zeros(x.shape, np.int64)
    squares = [(dx, dy) for dy in range(-2, 3) for dx in range(-2, 3) if abs(dx) + abs(dy) < 4]
    for dx, dy in squares:
        number = (iy + dy) % across * across + (ix + dx) % across
        distance = (ix + dx + offsets[number, 0] - x) ** 2 + (iy + dy + offsets[number, 1] - y) ** 2
        nearer = distance < first
        second = np.where(nearer, first, np.minimum(second, distance))
        owner = np.where(nearer, number, owner)
        first = np.minimum(first, distance)
    return np.sqrt(first), np.sqrt(second), owner


def courses(rng: np.random.Generator, rows: int, per_row: int, shift: float | None) -> tuple[NDArray[np.int64], Map]:
    """Rows of bricks or boards along x: the brick's number, and the distance in pixels to its nearest edge.

    shift: of every second row, in brick lengths (0.5 is a running bond, 0 a grid); None draws each row's joints.
    """
    x, y = axes()
    row = np.minimum((y * rows).astype(np.int64), rows - 1)
    start = rng.random(rows)[row] if shift is None else np.where(row % 2 == 1, shift / per_row, 0.0)
    along = ((x - start) % 1.0) * per_row
    column = np.minimum(along.astype(np.int64), per_row - 1)
    brick_px, row_px = SIZE_PX / per_row, SIZE_PX / rows
    from_end = np.minimum(along - column, 1 - (along - column)) * brick_px
    from_side = np.minimum(y * rows - row, 1 - (y * rows - row)) * row_px
    return row * per_row + column, np.minimum(from_end, from_side)


def per_cell(rng: np.random.Generator, owner: NDArray[np.int64]) -> Map:
    """One uniform number in [-1, 1] for each numbered cell."""
    return (rng.random(int(owner.max()) + 1) * 2 - 1)[owner]


def step(edge_0: float, edge_1: float, values: Map) -> Map:
    """0 below edge_0, 1 above edge_1, smooth between (edge_0 > edge_1 falls instead)."""
    t = np.clip((values - edge_0) / (edge_1 - edge_0), 0.0, 1.0)
    return t * t * (3 - 2 * t)


def relief(height: Map, strength: float) -> Map:
    """Shading of a height map lit softly from the upper left: factors around 1."""
    slope_x = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) / 2
    slope_y = (np.roll(height, -1, 0) - np.roll(height, 1, 0)) / 2
    return 1 + strength * np.tanh(slope_x * 0.6 + slope_y * 0.8)


def ramp(values: Map, *colours: Rgb) -> Image:
    """Colours laid out evenly over [0, 1] and read at `values`."""
    stops = np.linspace(0.0, 1.0, len(colours))
    table = np.array(colours)
    return np.stack([np.interp(values, stops, table[:, channel]) for channel in range(3)], axis=-1)


def flat(colour: Rgb) -> Image:
    """One colour all over."""
    return np.broadcast_to(np.array(colour), (SIZE_PX, SIZE_PX, 3))


def mix(one: Image, other: Image | Rgb, share: Map) -> Image:
    """`one` where share is 0, `other` where it is 1."""
    return one + (np.asarray(other) - one) * share[..., None]


def shade(image: Image, factor: Map) -> Image:
    """`image` times a brightness factor for each pixel."""
    return image * factor[..., None]
