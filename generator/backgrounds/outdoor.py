"""Ground that one stands on outside, as wrapping tiles, and soft views that fill the frame once.

A view stands out of focus behind the objects, and how much of it the ground covers depends on the camera; so
its skyline lies high and everything below it is a plausible haze of fields, leaves or lights.
"""

from typing import Any

import numpy as np
from PIL import Image as Pil
from PIL import ImageDraw, ImageFilter

from generator.backgrounds.noise import (
    SIZE_PX,
    Image,
    Map,
    Rgb,
    axes,
    blur,
    cells,
    clouds,
    courses,
    flat,
    mix,
    per_cell,
    ramp,
    relief,
    shade,
    step,
    warp,
)


def grass(rng: np.random.Generator, dark: Rgb, light: Rgb, blades: int) -> Image:
    """A lawn: short blades drawn from the dark ones below to the light ones on top."""
    patches = clouds(rng, beta=2.4, finest=10)
    canvas = Pil.fromarray(_bytes(shade(flat(dark), 1 + 0.06 * patches)))
    draw = ImageDraw.Draw(canvas)
    for index in range(blades):
        x, y, tilt, length, tone = rng.random(5)
        dx, dy = (tilt - 0.5) * 16, -(6 + 14 * length)
        level = 0.65 * index / blades + 0.35 * tone
        colour = tuple(round(255 * (low + (high - low) * level)) for low, high in zip(dark, light, strict=True))
        for shift_x in (-SIZE_PX, 0, SIZE_PX):
            for shift_y in (0, SIZE_PX):
                start = (x * SIZE_PX + shift_x, y * SIZE_PX + shift_y)
                draw.line([start, (start[0] + dx, start[1] + dy)], fill=colour, width=2)
    image = np.asarray(canvas, np.float64) / 255
    return shade(np.stack([blur(image[..., i], 0.7) for i in range(3)], axis=-1), 1 + 0.05 * patches)


def sand(rng: np.random.Generator, tone: Rgb, ripples: float) -> Image:
    """Dry sand: grains, soft dents, wind ripples. ripples: 0 none, 1 marked."""
    _, y = axes()
    dents = clouds(rng, beta=3.0, coarsest=2, finest=30)
    wave = np.sin(2 * np.pi * (9 * y + 0.35 * clouds(rng, beta=3.0, finest=5)))
    grains = clouds(rng, beta=0.2, coarsest=60, finest=256)
    factor = relief(4 * dents + 3.0 * ripples * wave, 0.06) * (1 + 0.035 * grains) * (1 + 0.02 * dents)
    return shade(flat(tone), factor)


def gravel(rng: np.random.Generator, palette: tuple[Rgb, ...], across: int) -> Image:
    """Pebbles side by side, each rounded and of its own tone."""
    push = [3.0 * clouds(rng, beta=2.0, coarsest=8, finest=80) for _ in range(2)]
    first, second, owner = cells(rng, across)
    gap = warp(second - first, push[0], push[1])
    dome: Map = np.sqrt(np.clip(gap, 0, 0.7))
    tone = np.clip((per_cell(rng, owner) + 1) / 2 + 0.04 * clouds(rng, beta=1.2, coarsest=20, finest=200), 0, 1)
    image = shade(ramp(tone, *palette), relief(blur(8 * dome, 1.4), 0.11))
    return shade(image, 0.72 + 0.30 * step(0.0, 0.28, gap))


def paving(rng: np.random.Generator, palette: tuple[Rgb, ...], rows: int, per_row: int, shift: float) -> Image:
    """Stone slabs with worn edges and earth in the joints."""
    wobble = clouds(rng, beta=2.0, coarsest=6, finest=90)
    slab, edge_px = courses(rng, rows, per_row, shift)
    grit = clouds(rng, beta=1.3, coarsest=6, finest=220)
    image = shade(ramp((per_cell(rng, slab) + 1) / 2, *palette), 1 + 0.05 * grit + 0.05 * per_cell(rng, slab))
    inside = step(2.2, 6.0, edge_px + 1.2 * wobble)
    earth = shade(flat((0.42, 0.39, 0.35)), 1 + 0.08 * grit)
    return shade(mix(earth, image, inside), relief(3 * blur(inside, 1.4) + 0.25 * grit, 0.12))


def cobbles(rng: np.random.Generator, palette: tuple[Rgb, ...], across: int) -> Image:
    """Setts: rounded stones in uneven rows."""
    first, second, owner = cells(rng, across, jitter=0.42)
    gap = warp(second - first, 2 * clouds(rng, coarsest=8, finest=60), 2 * clouds(rng, coarsest=8, finest=60))
    grit = clouds(rng, beta=1.3, coarsest=8, finest=220)
    stone = shade(ramp((per_cell(rng, owner) + 1) / 2, *palette), 1 + 0.05 * grit)
    inside = step(0.06, 0.22, gap)
    dome = blur(7 * np.sqrt(np.clip(gap, 0, 0.6)) * inside, 1.5)
    return shade(mix(flat((0.36, 0.34, 0.31)), stone, inside), relief(dome + 0.2 * grit, 0.12))


def asphalt(rng: np.random.Generator, tone: Rgb) -> Image:
    """Worn asphalt: light and dark stones in it, faint stains."""
    _, _, owner = cells(rng, 110)
    speck = per_cell(rng, owner)
    factor = 1 + 0.10 * speck**3 + 0.05 * clouds(rng, beta=2.6, finest=10) + 0.03 * clouds(rng, beta=0.6, coarsest=50)
    return shade(flat(tone), factor)


def earth(rng: np.random.Generator, dark: Rgb, light: Rgb) -> Image:
    """Trodden earth with a few small stones."""
    lumps = clouds(rng, beta=2.2, coarsest=2, finest=120)
    first, _, owner = cells(rng, 34)
    stone = step(0.30, 0.20, first) * (per_cell(rng, owner) < -0.68)
    image = ramp(np.clip(0.5 + 0.2 * lumps, 0, 1), dark, light)
    image = mix(image, (0.60, 0.56, 0.51), 0.7 * stone)
    return shade(image, relief(3.0 * lumps + 4 * blur(stone, 1.5), 0.08))


def snow(rng: np.random.Generator) -> Image:
    """Old snow: soft mounds with bluish hollows. Kept off pure white so that white objects stand out."""
    mounds = clouds(rng, beta=3.0, coarsest=2, finest=60)
    image = ramp(np.clip(0.5 + 0.25 * mounds, 0, 1), (0.70, 0.75, 0.82), (0.82, 0.85, 0.88))
    return shade(image, relief(6 * mounds + clouds(rng, beta=0.8, coarsest=40), 0.035))


def deck(rng: np.random.Generator, wood: Image, rows: int) -> Image:
    """Weathered decking: `wood` with open gaps between the boards."""
    _, y = axes()
    place = y * rows - np.floor(y * rows)
    edge_px = np.minimum(place, 1 - place) * SIZE_PX / rows
    groove = 0.05 * np.sin(2 * np.pi * 7 * place)
    return shade(wood, (1 + groove) * (1 - 0.42 * step(4.0, 1.8, edge_px)) * (1 + 0.04 * clouds(rng, finest=20)))


# --- views -----------------------------------------------------------------------------------------------------------


def sky(rng: np.random.Generator, zenith: Rgb, horizon: Rgb, cover: float) -> Image:
    """A sky that pales downwards, with soft clouds. cover: 0 clear, 1 overcast."""
    _, y = axes()
    image = ramp(y, zenith, horizon, horizon)
    mass = clouds(rng, beta=2.8, coarsest=1, finest=50, stretch=(2.2, 1.0))
    share = step(0.9 - 1.8 * cover, 2.4 - 1.8 * cover, mass)
    lit = ramp(np.clip(0.5 + 0.25 * clouds(rng, beta=2.8, finest=30), 0, 1), (0.80, 0.82, 0.85), (0.93, 0.93, 0.93))
    # Clouds thin out towards the horizon, so none hangs below it where the view goes on.
    return mix(image, lit, 0.75 * share * step(0.75, 0.25 + 0.4 * cover, y))


def hills(rng: np.random.Generator, behind: Image, near: Rgb, haze: Rgb, ridges: int, skyline: float) -> Image:
    """Ridges one before another, the farther the hazier, then a field. skyline: the first one's height, 0 = top."""
    x, y = axes()
    image = behind
    for ridge in range(ridges):
        nearness = (ridge + 1) / ridges
        profile = _profile(rng, x, roughness=1.9)
        line = skyline + 0.12 * ridge + (0.030 + 0.008 * ridge) * profile
        tone = tuple(h + (n - h) * nearness**1.3 for n, h in zip(near, haze, strict=True))
        mottle = 1 + 0.05 * nearness * clouds(rng, beta=2.0, coarsest=3, finest=50, stretch=(2.5, 1.0))
        image = mix(image, shade(flat((tone[0], tone[1], tone[2])), mottle), step(-0.006, 0.006, y - line))
    return _soft(image, 2.5)


def trees(rng: np.random.Generator, behind: Image, leaf: Rgb, light: Rgb, skyline: float) -> Image:
    """A line of trees out of focus, meadow below."""
    x, y = axes()
    image = behind
    for layer in range(3):
        crowns = _profile(rng, x, roughness=1.5) * 0.05 + 0.02 * _profile(rng, x, roughness=0.8)
        line = skyline + 0.05 * layer + crowns
        foliage = clouds(rng, beta=1.8, coarsest=5, finest=70)
        shadow = 0.80 + 0.07 * layer
        tone = shade(ramp(np.clip(0.42 + 0.22 * foliage, 0, 1), leaf, light), np.full(x.shape, shadow))
        image = mix(image, tone, step(-0.012, 0.012, y - line))
    meadow = shade(flat(light), 1 + 0.06 * clouds(rng, beta=2.2, finest=30, stretch=(6.0, 1.0)))
    image = mix(image, meadow, step(skyline + 0.30, skyline + 0.44, y + 0.01 * _profile(rng, x, 2.0)))
    return _soft(image, 4.5)


def sea(rng: np.random.Generator, behind: Image, water: Rgb, skyline: float) -> Image:
    """Calm water to the horizon."""
    _, y = axes()
    waves = clouds(rng, beta=1.6, coarsest=3, finest=120, stretch=(9.0, 1.0))
    depth = np.clip((y - skyline) / (1 - skyline), 0, 1)
    surface = shade(ramp(depth, (0.70, 0.76, 0.79), water, water), 1 + 0.05 * waves * np.sqrt(depth))
    return _soft(mix(behind, surface, step(-0.003, 0.003, y - skyline)), 1.8)


def bokeh(
    rng: np.random.Generator, top: Rgb, bottom: Rgb, lights: tuple[Rgb, ...], count: int, radius_px: float
) -> Image:
    """Lights far out of focus: translucent discs over a dim blur."""
    _, y = axes()
    image = shade(ramp(y, top, bottom), 1 + 0.10 * clouds(rng, beta=2.8, finest=14))
    for _ in range(count):
        cx, cy, size, strength, tint = rng.random(5)
        cx, cy, radius = cx * SIZE_PX, (0.05 + 0.8 * cy) * SIZE_PX, radius_px * (0.55 + 0.75 * size)
        box = tuple(slice(max(0, int(centre - radius - 4)), int(centre + radius + 5)) for centre in (cy, cx))
        rows, cols = np.mgrid[0:SIZE_PX, 0:SIZE_PX][(slice(None), *box)]
        distance = np.hypot(cols - cx, rows - cy)
        disc = step(radius + 3, radius - 3, distance) * (0.75 + 0.25 * step(0.6 * radius, radius, distance))
        image[box] = mix(image[box], lights[int(tint * len(lights))], (0.08 + 0.22 * strength) * disc)
    return _soft(image, 2.0)


def town(rng: np.random.Generator, behind: Image, walls: tuple[Rgb, ...], skyline: float) -> Image:
    """House fronts across a square, far out of focus."""
    x, y = axes()
    image = behind
    edges = np.sort(rng.random(7))
    house = np.searchsorted(edges, x) % len(edges)
    heights = skyline + 0.16 * rng.random(len(edges))
    tone = np.array(walls)[rng.permutation(len(edges)) % len(walls)]
    front = shade(tone[house], 1 + 0.05 * clouds(rng, beta=2.4, finest=20))
    windows = (np.abs((x * 17) % 1 - 0.5) < 0.24) & (np.abs((y * 9) % 1 - 0.5) < 0.30)
    front = shade(front, 1 - 0.30 * windows * (y < 0.72))
    image = mix(image, front, (y > heights[house]).astype(np.float64))
    street = flat((0.55, 0.54, 0.52))
    return _soft(mix(image, street, step(0.70, 0.78, y)), 9.0)


def room(rng: np.random.Generator, wall: Rgb, glow: Rgb, things: tuple[Rgb, ...]) -> Image:
    """The far side of a room out of focus: a bright window, dim furniture."""
    x, y = axes()
    image = shade(flat(wall), 1 - 0.18 * y + 0.03 * clouds(rng, beta=3.0, finest=6))
    left = 0.08 + 0.5 * rng.random()
    pane = step(0.0, 0.02, x - left) * step(0.0, 0.02, left + 0.34 - x) * step(0.06, 0.08, y) * step(0.60, 0.58, y)
    bar = step(0.010, 0.006, np.abs(x - left - 0.17)) + step(0.010, 0.006, np.abs(y - 0.33))
    image = mix(image, glow, 0.85 * pane * (1 - 0.6 * np.clip(bar, 0, 1)))
    for thing in things:
        centre, width, height = rng.random(), 0.06 + 0.12 * rng.random(), 0.35 + 0.3 * rng.random()
        body = step(0.0, 0.02, width - np.abs(x - centre)) * step(0.0, 0.02, y - height)
        image = mix(image, thing, 0.8 * body)
    return _soft(image, 11.0)


def studio(rng: np.random.Generator, edge: Rgb, centre: Rgb) -> Image:
    """A photographer's paper backdrop with a soft pool of light."""
    x, y = axes()
    pool = np.exp(-(((x - 0.5) / 0.45) ** 2) - ((y - 0.42) / 0.42) ** 2)
    return shade(ramp(pool, edge, centre), 1 + 0.012 * clouds(rng, beta=2.0, finest=120))


def _profile(rng: np.random.Generator, x: Map, roughness: float) -> Map:
    """A wavy line over x, deviation about 1, the same in every row."""
    total: Any = 0.0
    weights = [frequency**-roughness for frequency in range(1, 40)]
    for frequency, weight in enumerate(weights, start=1):
        total = total + weight * np.sin(2 * np.pi * (frequency * x[:1] + rng.random()))
    norm = np.sqrt(sum(weight**2 for weight in weights) / 2)
    return np.broadcast_to(total / norm, x.shape)


def _soft(image: Image, radius_px: float) -> Image:
    """Out of focus; the edges are not wrapped around, as a view fills the frame once."""
    blurred = Pil.fromarray(_bytes(image)).filter(ImageFilter.GaussianBlur(radius_px))
    return np.asarray(blurred, np.float64) / 255


def _bytes(image: Image) -> Any:
    return np.clip(np.rint(image * 255), 0, 255).astype(np.uint8)
