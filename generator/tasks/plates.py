"""The sprite engine's furnished stages without objects: a closed set, so that each is rendered once and reused.

A plate is a stage of one of two sizes, a rig, a place and an azimuth. Pairs are drawn to a plate's size and seen
through a crop of its wide picture: furniture a fifth larger with objects a fifth larger, seen from a fifth further off,
is the same picture. So there are no more plates than asked for, and things still stand as close as on stages of
their own. Lengths are in metres, axes as in `stages`.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from generator.backgrounds import Background
from generator.errors import ConfigError
from generator.rng import choice, stream
from generator.specs import CameraSpec, LightSpec, SlabSpec, Vec3, camera_axes
from generator.tasks.rigs import PLATE_HALF_M, Rig, RigSet
from generator.tasks.stages import (
    FRAME_M,
    FRAME_MARGIN,
    MAX_GAP,
    MIN_GAP,
    Axis,
    Footprint,
    box,
    slots_of,
    surface_below,
    treads_of,
    wall_of,
)

# What a board or a step has room for, by level: height and depth of the objects with the air around them.
LEVELS = ((0.33, 0.40), (0.50, 0.56))
# How much smaller or larger than drawn a pair is made so that it fits a level; the crop makes up for it.
FIT = (0.85, 1.25)
# The longest side of an object: longer ones, so near, would show another perspective than the bank's.
LONGEST_M = 0.59
# Objects stand this far behind a board's front edge, and from what is behind them.
SETBACK_M, BEHIND_M = 0.045, 0.04
# The sides of a bookcase stand so far from the middle. Objects keep away, or a camera from the side would see them cut.
SIDE_HALF_M, SIDE_CLEAR_M = (0.85, 1.15), 0.14
# Without sides, objects stay within so much of the middle.
HALF_M = 0.95
# How far from the middle of the stage a pair is put, along x (and y where things lie).
STRAY_M = 0.22
# The stages of each ten plates in a row, so that a small bank is the beginning of a large one; the heights of camera
# that suit a stage, and how far round the camera goes.
PATTERN = ("shelf", "steps", "flatlay", "shelf", "steps", "ground", "shelf", "steps", "flatlay", "ground")
SUITED_DEG = {"shelf": (0.0, 12.5), "steps": (7.5, 90.0), "flatlay": (0.0, 90.0), "ground": (5.5, 90.0)}
AZIMUTH_DEG = {"shelf": 12.0, "steps": 11.0, "flatlay": 3.0, "ground": 14.0}
LEVELLED = ("shelf", "steps")


@dataclass(frozen=True)
class Plate:
    """One furnished stage before its camera.

    rise_m, run_m: from a board or step to the next one, up and back. half_m: objects' boxes stay that close to x = 0.
    picture: name of the slab that shows a picture which fills the frame, if any: any other may be shown there.
    """

    stage: str
    rig: Rig
    level: int
    place: Background
    azimuth_deg: float
    slabs: tuple[SlabSpec, ...]
    camera: CameraSpec
    light: LightSpec
    rise_m: float
    run_m: float
    half_m: float
    picture: str

    def fit(self, rng: np.random.Generator, size: Footprint) -> float:
        """The factor that makes objects of this size fit snugly."""
        return _factors(rng, self.stage, self.rig, size)[self.level] if self.stage in LEVELLED else 1.0


@dataclass(frozen=True)
class PlateSet:
    """All plates of a run. Which there are depends on views, number and places alone, not on the seed."""

    rigs: RigSet
    plates: tuple[Plate, ...]

    @cached_property
    def cells(self) -> dict[tuple[str, int, int], tuple[Plate, ...]]:
        """Plates by stage, rig's number and level."""
        found: dict[tuple[str, int, int], list[Plate]] = {}
        for plate in self.plates:
            found.setdefault((plate.stage, plate.rig.number, plate.level), []).append(plate)
        return {key: tuple(plates) for key, plates in found.items()}

    def rigs_of(self, stage: str) -> tuple[Rig, ...]:
        """The rigs that a stage is seen with."""
        return suited(self.rigs, stage)


def make_plates(rigs: RigSet, count: int, places: Sequence[Background]) -> PlateSet:
    """`count` plates: stages by their shares, rigs and levels in turn, every place before any comes again.

    Raises ConfigError when there are too few for the rigs.
    """
    least = least_plates(rigs)
    if count < least:
        raise ConfigError(f"--plates must be at least {least} with --views {rigs.views}, not {count}")
    plates = []
    numbers = dict.fromkeys(FURNISH, 0)
    for index in range(count):
        stage = PATTERN[index % len(PATTERN)]
        cells = _cells(rigs, stage)
        rig, level = cells[numbers[stage] % len(cells)]
        numbers[stage] += 1
        round_number, turn = divmod(index, len(places))
        place = places[int(stream(0, "places", round_number).permutation(len(places))[turn])]
        rng = stream(0, "plate", index)
        azimuth_deg = round(float(rng.uniform(-1.0, 1.0)) * AZIMUTH_DEG[stage], 1)
        plates.append(FURNISH[stage](rng, rig, level, place, azimuth_deg))
    return PlateSet(rigs, tuple(plates))


def least_plates(rigs: RigSet) -> int:
    """The smallest number of plates with which each stage has one for each of its rigs and levels."""
    missing = {stage: len(_cells(rigs, stage)) for stage in FURNISH}
    count = 0
    while any(number > 0 for number in missing.values()):
        missing[PATTERN[count % len(PATTERN)]] -= 1
        count += 1
    return count


def suited(rigs: RigSet, stage: str) -> tuple[Rig, ...]:
    """The rigs whose height suits a stage."""
    low, high = SUITED_DEG[stage]
    return tuple(
        rig for rig in (rigs.lying if stage == "flatlay" else rigs.standing) if low <= rig.elevation_deg <= high
    )


def level_for(rng: np.random.Generator, stage: str, rig: Rig, size: Footprint) -> int:
    """The level for objects of this size."""
    if stage not in LEVELLED:
        return 0
    factors = _factors(rng, stage, rig, size)
    # The last one takes whatever is larger still, made smaller.
    return next((number for number, factor in enumerate(factors) if factor >= FIT[0]), len(LEVELS) - 1)


def hung(
    rng: np.random.Generator, plate: Plate, places: Sequence[Background]
) -> tuple[Background, tuple[SlabSpec, ...]]:
    """The place that is seen, and the slabs: where the plate has a picture, one of the run's pictures hangs there."""
    if not plate.picture:
        return plate.place, plate.slabs
    place = choice(rng, [item for item in places if item.kind == plate.place.kind and _is_picture(item)])
    picture = surface_below(place) if plate.stage == "flatlay" else place.wall
    slabs = (replace(slab, surface=picture) if slab.name == plate.picture else slab for slab in plate.slabs)
    return place, tuple(slabs)


def slots_on(rng: np.random.Generator, plate: Plate, axis: Axis, size: Footprint) -> tuple[Vec3, Vec3]:
    """Where slot 0 and slot 1 are for objects of this size, which fit."""
    gap = float(rng.uniform(MIN_GAP, MAX_GAP))
    lying = plate.stage == "flatlay"
    rise = size.height + gap if lying else plate.rise_m
    slots = slots_of(rng, axis, size, rise, (-0.5, 0.5) if lying else (0.0, 1.0), gap)
    reach = max(abs(x) for x, _, _ in slots) + 0.5 * size.width
    stray = max(0.0, min(STRAY_M, plate.half_m - reach))
    x0, y0 = float(rng.uniform(-stray, stray)), float(rng.uniform(-STRAY_M, STRAY_M))
    if lying:
        return _pair((x + x0, z + y0, 0.0) for x, _, z in slots)
    if plate.stage == "ground":  # One a little behind the other.
        return _pair((x + x0, sign * 0.3 * y0, 0.0) for sign, (x, _, _) in zip((1, -1), slots, strict=True))
    front = SETBACK_M + 0.5 * size.depth if plate.stage == "shelf" else 0.0
    return _pair((x + x0, front + round(z / rise) * plate.run_m, z) for x, _, z in slots)


def crop(camera: CameraSpec, rng: np.random.Generator, corners: list[Vec3], fit: float) -> CameraSpec:
    """The part of the rig's wide picture that shows the points anywhere in the frame: as `stages.frame`, unmoved.

    fit: the factor on the objects, and so on the width of the part; it is wider still where they need it.
    """
    right, up, forward = (np.array(axis) for axis in camera_axes(camera))
    offsets = np.array(corners) - camera.position_m  # (N, 3)
    scale = camera.focal_length_mm / camera.sensor_width_mm / (offsets @ forward)
    # In frames of the rig's usual width, from the middle, to the right and down.
    points = np.stack([scale * (offsets @ right), -scale * (offsets @ up)])
    low, high = points.min(axis=1), points.max(axis=1)
    room = 1.0 - 2.0 * FRAME_MARGIN
    # A factor further down would ask for more detail than plates have.
    width = max(fit, FIT[0], float((high - low).max()) / room)
    places = np.sin(0.5 * math.pi * rng.uniform(size=2)) ** 2  # As `stages.frame` has it.
    start = low - width * FRAME_MARGIN - places * (width * room - (high - low))
    half = PLATE_HALF_M / FRAME_M
    left, top = (float(value) for value in np.clip(start, -half, half - width))
    return replace(
        camera, focal_length_mm=camera.focal_length_mm / width, shift=(left / width + 0.5, -top / width - 0.5)
    )


def _factors(rng: np.random.Generator, stage: str, rig: Rig, size: Footprint) -> list[float]:
    """By level, what makes objects of this size fit it snugly; not so much larger that they fill the frame."""
    gap = float(rng.uniform(MIN_GAP, MAX_GAP))
    if stage == "shelf":
        # The board above must not hide the far side of what stands below it from a raised camera.
        hidden = (size.depth + SETBACK_M) * math.tan(math.radians(rig.elevation_deg + 3.0))
        height, depth = size.height + max(gap, hidden), size.depth + SETBACK_M + BEHIND_M
    else:
        height, depth = size.height + gap, size.depth + 2 * BEHIND_M
    return [min(room / height, run / depth, FIT[1]) for room, run in LEVELS]


def _cells(rigs: RigSet, stage: str) -> list[tuple[Rig, int]]:
    levels = range(len(LEVELS) if stage in LEVELLED else 1)
    return [(rig, level) for rig in suited(rigs, stage) for level in levels]


def _pair(slots: Iterable[Vec3]) -> tuple[Vec3, Vec3]:
    first, second = slots
    return first, second


def _is_picture(place: Background) -> bool:
    return place.wall.texture is not None and place.wall.projection == "camera"


def _plate(
    rig: Rig,
    stage: str,
    level: int,
    place: Background,
    azimuth_deg: float,
    slabs: Sequence[SlabSpec],
    look_at_m: Vec3,
    picture: str = "",
    rise_m: float = 0.0,
    run_m: float = 0.0,
    half_m: float = HALF_M,
) -> Plate:
    lamp = replace(rig.light, azimuth_deg=round(rig.light.azimuth_deg + azimuth_deg, 1))
    camera = rig.camera(azimuth_deg, look_at_m)
    return Plate(
        stage, rig, level, place, azimuth_deg, tuple(slabs), camera, lamp, rise_m, run_m, half_m, picture
    )  # fmt: skip


def _shelf(rng: np.random.Generator, rig: Rig, level: int, place: Background, azimuth_deg: float) -> Plate:
    """As `stages.shelf`: boards with a front edge at y = 0, the same whatever stands on them."""
    room, run = LEVELS[level]
    thickness, depth = float(rng.uniform(0.02, 0.04)), run + float(rng.uniform(0.03, 0.1))
    rise = room + thickness
    rows = range(-2, 4)
    furniture = place.furniture
    boards = [
        box(f"board {row}", (-3, 3), (0.0, depth), (row * rise - thickness, row * rise), furniture, 0.004)
        for row in rows
    ]
    wall_y = depth + (0.0 if rng.uniform() < 0.7 else float(rng.uniform(0.2, 0.6)))
    half, with_sides = float(rng.uniform(*SIDE_HALF_M)), rng.uniform() < 0.5
    tall = (rows[0] * rise, rows[-1] * rise)
    sides = [
        box(name, (sign * half, sign * (half + thickness)), (-0.006, depth), tall, furniture, 0.004)
        for name, sign in (("side left", -1), ("side right", 1))
    ]
    slabs = [*boards, *(sides if with_sides else ()), wall_of(wall_y, place)]
    return _plate(
        rig, "shelf", level, place, azimuth_deg, slabs,
        look_at_m=(0.0, 0.5 * run, 0.5 * (rise + 0.75 * room)),
        picture="wall" if _is_picture(place) else "",
        rise_m=rise,
        half_m=half - SIDE_CLEAR_M if with_sides else HALF_M,
    )  # fmt: skip


def _steps(rng: np.random.Generator, rig: Rig, level: int, place: Background, azimuth_deg: float) -> Plate:
    """As `stages.steps`: each tread as deep as the level, as high as makes it look so much higher than the last."""
    wanted, tread = LEVELS[level]
    tread += float(rng.uniform(0.0, 0.06))
    elevation = math.radians(rig.elevation_deg)
    riser = max((wanted - 0.8 * tread * math.sin(elevation)) / math.cos(elevation), 0.12)
    rows = range(-4, 4)
    treads = treads_of(rows, tread, riser, place)
    slabs = [*treads, wall_of(rows[-1] * tread + 1.0, place)]
    return _plate(
        rig, "steps", level, place, azimuth_deg, slabs,
        look_at_m=(0.0, 0.5 * tread, 0.5 * (riser + 0.75 * wanted)),
        picture="wall" if _is_picture(place) else "",
        rise_m=riser,
        run_m=tread,
    )  # fmt: skip


def _flatlay(_: np.random.Generator, rig: Rig, level: int, place: Background, azimuth_deg: float) -> Plate:
    """As `stages.flatlay`."""
    slabs = [box("ground", (-8, 8), (-8, 8), (0, 0), surface_below(place))]
    picture = "ground" if place.kind == "photo" else ""
    return _plate(rig, "flatlay", level, place, azimuth_deg, slabs, (0.0, 0.0, 0.0), picture)


def _ground(rng: np.random.Generator, rig: Rig, level: int, place: Background, azimuth_deg: float) -> Plate:
    """As `stages.ground`."""
    on_table = place.kind == "photo" or rng.uniform() < 0.3
    back = 0.35 + float(rng.uniform(0.2, 0.4) if on_table else rng.uniform(0.6, 1.6))
    if place.kind == "outdoor" and not on_table:
        back = float(rng.uniform(3.0, 5.0))
    floor = place.furniture if on_table else place.floor
    slab = box("ground", (-12, 12), (-6, back), (-0.06, 0.0), floor, 0.006 if on_table else 0.0)
    wall_y = back + (float(rng.uniform(0.4, 1.0)) if on_table else 0.0)
    # Where the place's own floor is seen, its own view belongs behind it.
    picture = "wall" if on_table and _is_picture(place) else ""
    return _plate(
        rig, "ground", level, place, azimuth_deg, [slab, wall_of(wall_y, place)], (0.0, 0.0, 0.17), picture
    )  # fmt: skip


FURNISH: dict[str, Callable[[np.random.Generator, Rig, int, Background, float], Plate]] = {
    "shelf": _shelf,
    "steps": _steps,
    "flatlay": _flatlay,
    "ground": _ground,
}
