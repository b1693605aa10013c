"""Give an asset a new colour and keep its detail: which part is paint, and what its texels become.

A painted texel takes the new colour, scaled by its own luminance against the median of the painted part: prints, seams
and baked shading stay, hue and saturation are the new ones. All of it is plain numpy, so that what the
renderer does and what the analysis measures are one function.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from generator.specs import PaintPlan, Rgb
from renderers.model import Model

# The library's own models call their main material so.
PAINT_MATERIAL = "paint"
# Below this share of what is seen from the front a stranger would not name the object by the new colour: a red car
# shows as much glass, tyre and lamp as red.
MIN_SHARE = 0.45
# ... and more where the paint is only guessed at, from hues.
MIN_FOUND_SHARE = 0.6
# Painted parts whose luminance varies more than this (95th to 5th percentile, log2) hold a picture, not a colour.
MAX_CONTRAST_STOPS = 4.0
# Textures modulate the new colour within these factors, so that white prints on a dark ground do not glare.
DETAIL_RANGE = (0.25, 1.6)
SAMPLES = 12000
# Directions (yaw, elevation) from which objects are seen; a point within DEPTH of the nearest in its cell is visible.
VIEWS_DEG = ((-30.0, 15.0), (0.0, 15.0), (30.0, 15.0))
CELLS = 48
DEPTH = 0.04

Rgbs = NDArray[np.float64]  # (N, 3), linear unless said otherwise


def to_linear(srgb: NDArray[np.float64]) -> Rgbs:
    """sRGB in [0, 1] to linear light."""
    values = np.asarray(srgb, dtype=np.float64)
    linear: Rgbs = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return linear


def to_srgb(linear: NDArray[np.float64]) -> Rgbs:
    """Linear light to sRGB, clipped to [0, 1]."""
    values = np.clip(np.asarray(linear, dtype=np.float64), 0.0, 1.0)
    encoded: Rgbs = np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)
    return encoded


def luminance(linear: Rgbs) -> NDArray[np.float64]:
    """Relative luminance Y of linear sRGB (BT.709)."""
    relative: NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return relative


def paint_weight(linear: Rgbs, mode: Literal["material", "all", "chromatic"]) -> NDArray[np.float64]:
    """How far each texel takes the new colour, 0 to 1.

    "all" leaves the near-black (tyres, pupils, outlines) alone; "chromatic" takes only what has a hue of its own.
    """
    if mode == "material":
        return np.ones(len(linear))
    values = to_srgb(linear)
    high, low = values.max(axis=1), values.min(axis=1)
    if mode == "all":
        return _ramp(high, 0.10, 0.22)
    saturation = np.where(high > 0, (high - low) / np.maximum(high, 1e-6), 0.0)
    return _ramp(saturation, 0.18, 0.32) * _ramp(high, 0.10, 0.22)


def repaint(linear: Rgbs, plan: PaintPlan, paint: Rgb) -> Rgbs:
    """New linear colours (N, 3) of texels (N, 3) when the asset is painted `paint` (sRGB)."""
    weight = paint_weight(linear, plan.mode)[:, None]
    detail = np.clip(luminance(linear) / max(plan.luminance, 1e-4), *DETAIL_RANGE)[:, None]
    painted: Rgbs = linear * (1 - weight) + to_linear(np.array(paint))[None, :] * detail * weight
    return painted


def analyse(model: Model) -> PaintPlan | None:
    """The paint plan of a model, or None where no recolouring would be recognised.

    The library's own models mark their paint; otherwise the coloured part is taken if it is large enough, and the
    whole surface if nothing on it has a hue to speak of. Shares count what is seen from the front. Colours that sit
    in the vertices are left alone: they hold pictures as often as paint.
    """
    if any(material.uses_corner_rgba for material in model.materials):
        return None
    points = surface_points(model)
    seen = visibility(points.position) * points.opaque
    total = max(float(seen.sum()), 1.0)
    named = np.array([material.name == PAINT_MATERIAL for material in model.materials])
    if named.any():
        painted = named[points.material]
        share = float((seen * painted).sum() / total)
        if share < MIN_SHARE:
            return None
        return PaintPlan("material", PAINT_MATERIAL, _usual_luminance(points.linear[painted]), round(share, 4))
    modes: tuple[Literal["chromatic", "all"], ...] = ("chromatic", "all")
    for mode in modes:
        weight = paint_weight(points.linear, mode) * seen
        share = float(weight.sum() / total)
        if share < MIN_FOUND_SHARE:
            continue
        part = points.linear[weight > 0.5]
        low, high = np.percentile(luminance(part), [5, 95])
        if np.log2((high + 1e-3) / (low + 1e-3)) <= MAX_CONTRAST_STOPS:
            return PaintPlan(mode, "", _usual_luminance(part), round(share, 4))
    return None


@dataclass(frozen=True, slots=True)
class SurfacePoints:
    """Points spread evenly over a surface: where (N, 3), colour (N, 3), material (N,) and opacity, 0 or 1 (N,)."""

    position: NDArray[np.float64]
    linear: Rgbs
    material: NDArray[np.int32]
    opaque: NDArray[np.float64]


def visibility(position: NDArray[np.float64]) -> NDArray[np.float64]:
    """In how many of VIEWS_DEG each point (N, 3) is seen: those near the front of the cell that they fall in."""
    seen = np.zeros(len(position))
    for yaw_deg, elevation_deg in VIEWS_DEG:
        yaw, elevation = np.radians(yaw_deg), np.radians(elevation_deg)
        forward = np.array([np.sin(yaw) * np.cos(elevation), np.cos(yaw) * np.cos(elevation), -np.sin(elevation)])
        right = np.array([np.cos(yaw), -np.sin(yaw), 0.0])
        across, along = position @ right, position @ np.cross(right, forward)
        column = np.floor((across - across.min()) * CELLS).astype(np.int64)
        cell = np.floor((along - along.min()) * CELLS).astype(np.int64) * 4 * CELLS + column
        depth = position @ forward
        nearest = np.full(int(cell.max()) + 1, np.inf)
        np.minimum.at(nearest, cell, depth)
        seen += depth <= nearest[cell] + DEPTH
    return seen


def surface_points(model: Model, count: int = SAMPLES) -> SurfacePoints:
    """Points with their base colours, by area: a low-discrepancy sequence, so no random numbers are needed."""
    corners = model.positions[model.triangles].astype(np.float64)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    cumulative = np.cumsum(area) / max(area.sum(), 1e-20)
    index = np.arange(count)
    triangle = np.minimum(np.searchsorted(cumulative, (index + 0.5) / count), len(area) - 1)
    u, v = np.modf(0.5 + index * 0.7548776662466927)[0], np.modf(0.5 + index * 0.5698402909980532)[0]
    fold = u + v > 1
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    bary = np.stack([1 - u - v, u, v], axis=1)  # (N, 3)

    material = model.material_index[triangle]
    linear, opaque = np.zeros((count, 3)), np.ones(count)
    uv = np.einsum("nc,ncd->nd", bary, model.corner_uv.reshape(-1, 3, 2)[triangle])
    for number, item in enumerate(model.materials):
        at = material == number
        colour = np.tile(np.array(item.base_rgba[:3]), (int(at.sum()), 1))
        alpha = np.full(int(at.sum()), item.base_rgba[3])
        if item.texture >= 0:
            texel = _texels(model.textures[item.texture], uv[at])
            colour, alpha = colour * to_linear(texel[:, :3]), alpha * texel[:, 3]
        linear[at] = colour
        opaque[at] = 1.0 if item.alpha_mode == "opaque" else (alpha >= 0.5)
    position = np.einsum("nc,ncd->nd", bary, corners[triangle])
    return SurfacePoints(position, linear, material, opaque)


def _texels(texture: NDArray[np.uint8], uv: NDArray[np.float64]) -> NDArray[np.float64]:
    height, width = texture.shape[:2]
    column = (np.modf(np.modf(uv[:, 0])[0] + 1)[0] * width).astype(int) % width
    row = ((1 - np.modf(np.modf(uv[:, 1])[0] + 1)[0]) * height).astype(int) % height
    texels: NDArray[np.float64] = texture[row, column] / 255.0
    return texels


def _usual_luminance(linear: Rgbs) -> float:
    return round(float(np.median(luminance(linear))), 6)


def _ramp(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    return np.clip((values - low) / (high - low), 0.0, 1.0)
