"""From a cast to two scenes: pose and scale the assets, furnish a stage around them, aim the camera, light it."""

import math
from dataclasses import dataclass

import numpy as np

from generator.assets.catalog import Asset, Catalog
from generator.backgrounds import Background
from generator.rng import choice
from generator.specs import ObjectSpec, Rgb, SceneSpec, Vec3
from generator.tasks.plates import PlateSet
from generator.tasks.pose import Pose
from generator.tasks.settings import Banked, Open, Setting, is_lying
from generator.tasks.stages import Axis, Stage
from generator.vocabulary import Vocabulary

# Length in frames of an object that fills half of its square; others are scaled to show as much of themselves.
FRACTIONS = (0.28, 0.42)
# Each further attempt draws objects this much larger: too small is what most often fails.
GROWTH = 0.12
# Objects are never shrunk below this share of the picture: verification asks for 1.5 %.
LEAST_AREA = 0.017
# With sizes: how much longer the big one is planned to look, and how much larger in area. Verification asks for 1.35
# and 1.5 of the pixels. And how much longer than when it is small an object may be at most.
CLEAR_LENGTH, CLEAR_AREA = 1.5, 1.8
MAX_RATIO = 2.2


@dataclass(frozen=True)
class Context:
    """What a run gives to every pair: its seed, the assets and backgrounds it may use, words and options.

    plates: the closed set of stages that sprites are put on; None where every stage is furnished anew.
    """

    seed: int
    catalog: Catalog
    backgrounds: tuple[Background, ...]
    vocabulary: Vocabulary
    options: "TaskOptions"
    plates: PlateSet | None = None


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
    """One object on one side: who, in which slot, whether it is the small one, and with which named value."""

    role: str
    asset: Asset
    slot: int
    small: bool = False
    colour: str | None = None
    paint: Rgb | None = None
    size: str | None = None


Side = tuple[Part, Part]


def compose(
    rng: np.random.Generator,
    context: Context,
    stages: tuple[str, ...],
    axis: Axis,
    sides: tuple[Side, Side],
    attempt: int,
    fractions: tuple[float, float] = FRACTIONS,
    spans: tuple[float, float] | None = None,
    ratios: tuple[float, float] | None = None,
) -> tuple[SceneSpec, SceneSpec]:
    """Two scenes that differ in nothing but the parts' slots, factors, colours or assets.

    fractions: usual lengths of objects in frames. spans: shrink the objects until both together are so long along the
    axis, as far as they stay visible. ratios: how much longer an object is than when it is the small one.
    """
    name = choice(rng, stages)
    setting: Setting
    if context.plates is None:
        setting = Open(rng, name, context.backgrounds)
    else:
        setting = Banked(rng, name, context.backgrounds, context.plates)
    fraction, growth = rng.uniform(*fractions), 1 + GROWTH * attempt
    base = {
        role: setting.pose(asset, fraction, growth)
        for role, asset in {part.role: part.asset for side in sides for part in side}.items()
    }
    if spans is not None:
        shrink = _shrink(base, axis, is_lying(name), rng.uniform(*spans), growth)
        base = {role: item.times(shrink) for role, item in base.items()}
    ratio = 1.0
    if ratios is not None:
        base, ratio = _contrasted(base, float(rng.uniform(*ratios)))
    poses = [[base[part.role].times(1.0 / ratio if part.small else 1.0) for part in side] for side in sides]
    stage = setting.furnish(axis, poses)
    placed = [
        [
            setting.seen(item.times(setting.fit), stage.slots[part.slot])
            for part, item in zip(side, side_poses, strict=True)
        ]
        for side, side_poses in zip(sides, poses, strict=True)
    ]
    corners = [
        corner
        for side, side_poses in zip(sides, placed, strict=True)
        for part, item in zip(side, side_poses, strict=True)
        for corner in _corners(stage.slots[part.slot], item)
    ]
    camera = setting.aim(corners)
    lamp = setting.light()

    def scene(side: Side, side_poses: list[Pose]) -> SceneSpec:
        objects = tuple(
            _object(part, item, stage) for part, item in sorted(zip(side, side_poses, strict=True), key=_by_role)
        )
        return SceneSpec(name, setting.place.id, objects, stage.slabs, camera, lamp)

    return scene(sides[0], placed[0]), scene(sides[1], placed[1])


def _shrink(base: dict[str, Pose], axis: Axis, lying: bool, span: float, growth: float) -> float:
    """The factor, at most 1, that makes the objects' lengths along the axis add up to `span`, if they stay visible."""
    number = 0 if axis == "horizontal" else 1 if lying else 2
    factor = min(1.0, span / sum(item.box[number] for item in base.values()))
    return max(factor, *(min(1.0, growth * math.sqrt(LEAST_AREA / item.area)) for item in base.values()))


def _contrasted(base: dict[str, Pose], ratio: float) -> tuple[dict[str, Pose], float]:
    """The objects made alike, and the ratio raised, as far as it takes for the big one to be clearly the larger, in
    length and in area, whichever of the two is big; and both so large that the small one is still seen.

    Lengths and areas are compared as logarithms: with x added to those of the first and taken from those of the second,
    |long + x| <= log(ratio) - log(CLEAR_LENGTH) and |wide + x| <= log(ratio) - log(CLEAR_AREA) / 2.
    """
    (role, one), (other_role, other) = base.items()
    long = math.log(one.length / other.length)
    wide = 0.5 * math.log(one.area / other.area)
    spare_long, spare_wide = math.log(CLEAR_LENGTH), 0.5 * math.log(CLEAR_AREA)
    needed = 0.5 * (abs(long - wide) + spare_long + spare_wide)
    power = min(max(math.log(ratio), needed), math.log(MAX_RATIO))
    low = max(-long - (power - spare_long), -wide - (power - spare_wide))
    high = min(-long + (power - spare_long), -wide + (power - spare_wide))
    # Nothing where nothing is needed; halfway where even the largest ratio does not do, which verification will tell.
    x = min(max(0.0, low), high) if low <= high else 0.5 * (low + high)
    ratio = math.exp(power)
    alike = {role: one.times(math.exp(0.5 * x)), other_role: other.times(math.exp(-0.5 * x))}
    grow = max(1.0, *(ratio * math.sqrt(LEAST_AREA / item.area) for item in alike.values()))
    return {name: item.times(grow) for name, item in alike.items()}, ratio


def _by_role(item: tuple[Part, Pose]) -> str:
    return item[0].role


def _corners(slot: Vec3, item: Pose) -> list[Vec3]:
    (x, y, z), (across, deep, up) = slot, item.box
    return [(x + i * across / 2, y + j * deep / 2, z + k * up) for i in (-1, 1) for j in (-1, 1) for k in (0, 1)]


def _object(part: Part, item: Pose, stage: Stage) -> ObjectSpec:
    return ObjectSpec(
        role=part.role,
        uid=part.asset.uid,
        noun=part.asset.noun,
        model=part.asset.model,
        position_m=stage.slots[part.slot],
        yaw_deg=item.yaw_deg,
        pitch_deg=item.pitch_deg,
        scale_m=item.scale,
        colour=part.colour,
        paint=part.paint,
        paint_plan=part.asset.paint_plan if part.paint is not None else None,
        size=part.size,
        spin_deg=item.spin_deg,
    )
