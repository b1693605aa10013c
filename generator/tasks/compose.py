"""From a cast to two scenes: pose and scale the assets, furnish a stage around them, aim the camera, light it."""

import math
from dataclasses import dataclass

import numpy as np

from generator.assets.catalog import Asset, Catalog
from generator.backgrounds import Background
from generator.rng import choice
from generator.specs import ObjectSpec, Rgb, SceneSpec, Vec3
from generator.tasks.stages import STAGES, Axis, Footprint, Stage, frame, light
from generator.vocabulary import Vocabulary

# Side in frames of an object that fills half of its square; others are scaled to show as much of themselves, within
# these bounds on the longest side: from about a fifth to half of the picture.
FRACTIONS = (0.28, 0.42)
TYPICAL_COVERAGE = 0.5
SMALLEST, LARGEST = 0.2, 0.5
# Each further attempt draws objects this much larger: most first attempts fail on something too small.
GROWTH = 0.12
# Turns that keep an object's front in view.
YAW_DEG = 38.0
LYING_YAW_DEG = 25.0


@dataclass(frozen=True)
class Context:
    """What a run gives to every pair: its seed, the assets and backgrounds it may use, words and options."""

    seed: int
    catalog: Catalog
    backgrounds: tuple[Background, ...]
    vocabulary: Vocabulary
    options: "TaskOptions"


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """phrasing: "paper" or "varied" templates; synonyms: other words for the same relation too; negation: "paper" or
    "shared"; attributes: kinds to draw from; colours: names to draw from."""

    phrasing: str
    synonyms: bool
    negation: str
    attributes: tuple[str, ...]
    colours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One object on one side: who, in which slot, how large against its usual size, and with which named value."""

    role: str
    asset: Asset
    slot: int
    factor: float = 1.0
    colour: str | None = None
    paint: Rgb | None = None
    size: str | None = None


Side = tuple[Part, Part]


@dataclass(frozen=True, slots=True)
class _Pose:
    """A turned and scaled asset: its width and height in the picture and its depth, in frames."""

    yaw_deg: float
    scale: float
    width: float
    depth: float
    height: float


def compose(
    rng: np.random.Generator,
    context: Context,
    stages: tuple[str, ...],
    axis: Axis,
    sides: tuple[Side, Side],
    attempt: int,
    fractions: tuple[float, float] = FRACTIONS,
) -> tuple[SceneSpec, SceneSpec]:
    """Two scenes that differ in nothing but the parts' slots, factors, colours or assets."""
    name = choice(rng, stages)
    lying = name == "flatlay"
    place = choice(rng, context.backgrounds)
    growth = 1 + GROWTH * attempt
    fraction, largest = rng.uniform(*fractions) * growth, LARGEST * growth
    base = {
        role: _pose(asset, float(rng.uniform(-1.0, 1.0)), float(fraction * rng.uniform(0.9, 1.1)), largest, lying)
        for role, asset in {part.role: part.asset for side in sides for part in side}.items()
    }
    poses = [[_scaled(base[part.role], part.factor) for part in side] for side in sides]
    every = [pose for side in poses for pose in side]
    size = Footprint(
        width=max(0.5 * (one.width + other.width) for one, other in poses),
        depth=max(pose.depth for pose in every),
        height=max(pose.height for pose in every),
    )
    stage = STAGES[name](rng, axis, size, place)
    corners = [
        corner
        for side, side_poses in zip(sides, poses, strict=True)
        for part, pose in zip(side, side_poses, strict=True)
        for corner in _corners(stage, stage.slots[part.slot], pose)
    ]
    camera = frame(stage.camera, rng, corners)
    lamp = light(rng, place.fill_rgb, name)

    def scene(side: Side, side_poses: list[_Pose]) -> SceneSpec:
        objects = tuple(
            _object(part, pose, stage) for part, pose in sorted(zip(side, side_poses, strict=True), key=_by_role)
        )
        return SceneSpec(name, place.id, objects, stage.slabs, camera, lamp)

    return scene(sides[0], poses[0]), scene(sides[1], poses[1])


def _by_role(item: tuple[Part, _Pose]) -> str:
    return item[0].role


def _pose(asset: Asset, turn: float, fraction: float, largest: float, lying: bool) -> _Pose:
    """`turn` in [-1, 1] of the allowed yaw; an object that fills half of its square is `fraction` long."""
    x, y, z = asset.extent
    front, side, _ = asset.coverage
    yaw = turn * (LYING_YAW_DEG if lying else YAW_DEG)
    c, s = abs(math.cos(math.radians(yaw))), abs(math.sin(math.radians(yaw)))
    if lying:
        width, height, depth, covered = x * c + z * s, x * s + z * c, y, front
    else:
        width, height, depth, covered = x * c + y * s, z, x * s + y * c, max(front * c, side * s)
    scale = fraction * math.sqrt(TYPICAL_COVERAGE / max(covered, 1e-3))
    scale = min(max(scale, SMALLEST), largest) / max(width, height)
    return _Pose(yaw, scale, width * scale, depth * scale, height * scale)


def _scaled(pose: _Pose, factor: float) -> _Pose:
    return _Pose(pose.yaw_deg, pose.scale * factor, pose.width * factor, pose.depth * factor, pose.height * factor)


def _corners(stage: Stage, slot: Vec3, pose: _Pose) -> list[Vec3]:
    x, y, z = slot
    across, deep, up = (
        (pose.width, pose.height, pose.depth) if stage.pitch_deg else (pose.width, pose.depth, pose.height)
    )
    return [(x + i * across / 2, y + j * deep / 2, z + k * up) for i in (-1, 1) for j in (-1, 1) for k in (0, 1)]


def _object(part: Part, pose: _Pose, stage: Stage) -> ObjectSpec:
    return ObjectSpec(
        role=part.role,
        uid=part.asset.uid,
        noun=part.asset.noun,
        model=part.asset.model,
        position_m=stage.slots[part.slot],
        yaw_deg=pose.yaw_deg,
        pitch_deg=stage.pitch_deg,
        scale_m=pose.scale,
        colour=part.colour,
        paint=part.paint,
        paint_plan=part.asset.paint_plan if part.paint is not None else None,
        size=part.size,
    )
