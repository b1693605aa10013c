"""Stages: furniture for two objects, a camera, and a light, in frames.

All lengths are in units of FRAME_M, the width of the picture at the objects' depth. A stage must suit every
relation that a task asks of it, so that the set-up never tells the relation: a shelf, steps and a flat lay serve
left, right, above and below alike; open ground has no above and is left to the other tasks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from generator.backgrounds import Background
from generator.specs import CameraSpec, LightSpec, Rgb, SlabSpec, SurfaceSpec, Vec3, camera_axes

FRAME_M = 1.0
SENSOR_MM = 36.0
# Objects stay this far inside the frame, so that none is cut and verification has something to see.
FRAME_MARGIN = 0.035
# A person calls a thing "above" or "left" when it is clear of the other: gaps below this look like touching.
MIN_GAP = 0.035
MAX_GAP = 0.10

Axis = Literal["horizontal", "vertical"]


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a stage must know of the objects that will stand on it: the largest width, depth and height at each slot.

    Slot 0 is left or upper, slot 1 right or lower. Twins swap the objects, so both slots fit both.
    """

    width: float
    depth: float
    height: float

    def times(self, factor: float) -> "Footprint":
        """For objects so much larger."""
        return Footprint(self.width * factor, self.depth * factor, self.height * factor)


@dataclass(frozen=True, slots=True)
class Stage:
    """A furnished stage: where slot 0 and slot 1 are, how objects lie there, what surrounds them and the camera."""

    name: str
    slots: tuple[Vec3, Vec3]
    lying: bool
    slabs: tuple[SlabSpec, ...]
    camera: CameraSpec


def shelf(rng: np.random.Generator, axis: Axis, size: Footprint, place: Background) -> Stage:
    """A bookcase or wall shelves: the same boards whatever the relation; left and right share a board."""
    thickness = rng.uniform(0.02, 0.04)
    gap = rng.uniform(MIN_GAP, MAX_GAP)
    rise = size.height + thickness + gap
    depth = size.depth + rng.uniform(0.10, 0.2)
    # Objects stand near the front edge: the board above must not hide them from a raised camera.
    front = -0.5 * size.depth - rng.uniform(0.03, 0.06)
    rows = range(-2, 4)
    furniture = place.furniture
    boards = [
        box(f"board {row}", (-3, 3), (front, front + depth), (row * rise - thickness, row * rise), furniture, 0.004)
        for row in rows
    ]
    wall_y = front + depth + (0.0 if rng.uniform() < 0.7 else rng.uniform(0.2, 0.6))
    slots = slots_of(rng, axis, size, rise, (0.0, 1.0), gap_x=rng.uniform(MIN_GAP, MAX_GAP))
    camera = _camera(rng, slots, elevation=(1.0, 9.0), azimuth=(-14.0, 14.0), focal=(50.0, 90.0))
    half = 0.5 * size.width + abs(slots[1][0] - slots[0][0]) + rng.uniform(0.16, 0.5)
    middle = 0.5 * (slots[0][0] + slots[1][0])
    tall = (rows[0] * rise, rows[-1] * rise)
    sides = [
        # A little in front of the boards: faces in one plane would blotch where they cross.
        box(name, (x, x + sign * thickness), (front - 0.006, front + depth), tall, furniture, 0.004)
        for name, sign, x in (("side left", -1, middle - half), ("side right", 1, middle + half))
    ]
    slabs = [*boards, *(sides if rng.uniform() < 0.5 else ()), wall_of(wall_y, place)]
    return Stage("shelf", slots, False, tuple(slabs), camera)


def steps(rng: np.random.Generator, axis: Axis, size: Footprint, place: Background) -> Stage:
    """Display steps: each tread behind and above the last; left and right share a tread."""
    elevation = rng.uniform(10.0, 24.0)
    tread = size.depth + rng.uniform(0.08, 0.2)
    # The tread behind already looks higher by tread * sin(elevation); the riser makes up what is missing.
    wanted = size.height + rng.uniform(MIN_GAP, MAX_GAP)
    riser = (wanted - 0.8 * tread * math.sin(math.radians(elevation))) / math.cos(math.radians(elevation))
    riser = max(riser, 0.12)
    rows = range(-2, 4)
    treads = treads_of(rows, tread, riser, place)
    flat = slots_of(rng, axis, size, riser, (0.0, 1.0), gap_x=rng.uniform(MIN_GAP, MAX_GAP))
    slots = tuple((x, round(z / riser) * tread, z) for x, _, z in flat)
    camera = _camera(rng, (slots[0], slots[1]), (elevation, elevation), azimuth=(-12.0, 12.0), focal=(50.0, 85.0))
    return Stage("steps", (slots[0], slots[1]), False, (*treads, wall_of(rows[-1] * tread + 1.0, place)), camera)


def treads_of(rows: range, tread: float, riser: float, place: Background) -> list[SlabSpec]:
    """Steps of so much depth and height; row 0 is the one at y = 0 and z = 0."""
    return [
        box(
            f"tread {row}",
            (-3, 3),
            (row * tread - 0.5 * tread, 4.0),
            (row * riser - riser, row * riser),
            place.furniture,
            0.006,
        )
        for row in rows
    ]


def flatlay(rng: np.random.Generator, axis: Axis, size: Footprint, place: Background) -> Stage:
    """Things laid on their backs and seen from above, as in a catalogue."""
    gap = rng.uniform(MIN_GAP, MAX_GAP)
    slots = slots_of(rng, axis, size, size.height + gap, (-0.5, 0.5), gap_x=gap)
    lying = tuple((x, z, 0.0) for x, _, z in slots)
    ground = box("ground", (-8, 8), (-8, 8), (0, 0), surface_below(place))
    camera = _camera(rng, (lying[0], lying[1]), elevation=(80.0, 89.0), azimuth=(-3.0, 3.0), focal=(50.0, 85.0))
    return Stage("flatlay", (lying[0], lying[1]), True, (ground,), camera)


def surface_below(place: Background) -> SurfaceSpec:
    """What things lie on: a place's floor, or the photograph."""
    surface = place.wall if place.kind == "photo" else place.floor
    # Matt, or the key light would leave a glare in the middle of the picture.
    return replace(surface, lit=True, roughness=max(surface.roughness, 0.8))


def ground(rng: np.random.Generator, axis: Axis, size: Footprint, place: Background) -> Stage:
    """Open floor or a table top in front of a wall, a landscape or a photograph: side by side only."""
    assert axis == "horizontal", axis
    slots = slots_of(rng, axis, size, 0.0, (0.0, 0.0), gap_x=rng.uniform(MIN_GAP, MAX_GAP))
    shift = rng.uniform(-0.08, 0.08)
    slots = ((slots[0][0], shift, 0.0), (slots[1][0], -shift, 0.0))
    on_table = place.kind == "photo" or rng.uniform() < 0.3
    back = 0.5 * size.depth + (rng.uniform(0.2, 0.4) if on_table else rng.uniform(0.6, 1.6))
    floor = place.furniture if on_table else place.floor
    if place.kind == "outdoor" and not on_table:
        back = rng.uniform(3.0, 5.0)
    slab = box("ground", (-12, 12), (-6, back), (-0.06, 0.0), floor, 0.006 if on_table else 0.0)
    wall_y = back + (rng.uniform(0.4, 1.0) if on_table else 0.0)
    camera = _camera(rng, slots, elevation=(7.0, 26.0), azimuth=(-15.0, 15.0), focal=(45.0, 85.0))
    return Stage("ground", slots, False, (slab, wall_of(wall_y, place)), camera)


# Low enough to reach under a board; steep where things lie, or their shadows would make them float.
KEY_ELEVATION_DEG = {"shelf": (15.0, 35.0), "steps": (30.0, 60.0), "flatlay": (58.0, 78.0), "ground": (35.0, 65.0)}
StageMaker = Callable[[np.random.Generator, Axis, Footprint, Background], Stage]
STAGES: dict[str, StageMaker] = {"shelf": shelf, "steps": steps, "flatlay": flatlay, "ground": ground}
# Those on which all four relations look alike.
SPATIAL_STAGES = ("shelf", "steps", "flatlay")


def frame(camera: CameraSpec, rng: np.random.Generator, corners: list[Vec3]) -> CameraSpec:
    """Move the camera sideways so that the points (corners of every box on either side) fall anywhere in the frame.

    The pair stands anywhere that keeps it inside the margins, most often towards the edges: where an object is must
    not tell how it lies to the other. A pair too large for the frame is shrunk by stepping back.
    """
    room = 1.0 - 2.0 * FRAME_MARGIN
    # More often near the edges than in the middle (the arcsine law), or A's half of the picture would tell too much.
    places = (math.sin(0.5 * math.pi * rng.uniform()) ** 2, math.sin(0.5 * math.pi * rng.uniform()) ** 2)
    points_3N = np.array(corners).T
    for _ in range(5):  # Perspective makes each step inexact; a few settle it.
        spans = _spans(camera, points_3N)
        largest = max(high - low for low, high in spans)
        if largest > room:
            camera = _step_back(camera, 1.02 * largest / room)
            spans = _spans(camera, points_3N)
        u, v = (
            FRAME_MARGIN + place * (room - (high - low)) - low for place, (low, high) in zip(places, spans, strict=True)
        )
        camera = _pan(camera, u, v)
    return camera


def light(rng: np.random.Generator, ambient: Rgb, stage: str) -> LightSpec:
    """A soft key from a window or the sun and an even fill; together a white wall comes out near white."""
    key_share = rng.uniform(0.45, 0.7)
    # Boards take light away from what stands between them.
    level = rng.uniform(0.9, 1.1) * (1.25 if stage == "shelf" else 1.0)
    warmth = rng.uniform(-1.0, 1.0)
    elevation = rng.uniform(*KEY_ELEVATION_DEG[stage])
    return LightSpec(
        azimuth_deg=float(rng.uniform(-65.0, 65.0)),
        elevation_deg=float(elevation),
        angle_deg=float(rng.uniform(4.0, 18.0)),
        # A sun of pi W/m2 straight onto a white diffuse surface gives radiance 1; surfaces meet it at an angle.
        key_strength=float(math.pi * key_share * level / 0.75),
        key_rgb=(1.0, 0.965 + 0.025 * warmth, 0.92 + 0.06 * warmth),
        fill_strength=float((1.0 - key_share) * level),
        fill_rgb=ambient,
    )


def slots_of(
    rng: np.random.Generator,
    axis: Axis,
    size: Footprint,
    rise: float,
    levels: tuple[float, float],
    gap_x: float,
) -> tuple[Vec3, Vec3]:
    """Positions (x, 0, z) of slot 0 (left or upper) and slot 1; levels are the lower and upper one in rises."""
    if axis == "horizontal":
        half = 0.5 * (size.width + gap_x)
        z = rise * levels[int(rng.integers(2))]
        return (-half, 0.0, z), (half, 0.0, z)
    # A little out of line, as things stand; never enough to be beside one another.
    lean = 0.12 * size.width * rng.uniform(-1.0, 1.0)
    return (-lean, 0.0, rise * levels[1]), (lean, 0.0, rise * levels[0])


def _camera(
    rng: np.random.Generator,
    slots: tuple[Vec3, Vec3],
    elevation: tuple[float, float],
    azimuth: tuple[float, float],
    focal: tuple[float, float],
) -> CameraSpec:
    target = tuple(0.5 * (a + b) for a, b in zip(*slots, strict=True))
    focal_mm = float(rng.uniform(*focal))
    distance = FRAME_M * focal_mm / SENSOR_MM
    up, around = math.radians(rng.uniform(*elevation)), math.radians(rng.uniform(*azimuth))
    offset = (math.sin(around) * math.cos(up), -math.cos(around) * math.cos(up), math.sin(up))
    position = tuple(t + distance * o for t, o in zip(target, offset, strict=True))
    return CameraSpec(
        (position[0], position[1], position[2]),
        (target[0], target[1], target[2]),
        focal_mm,
        roll_deg=float(rng.uniform(-1.5, 1.5)),
        sensor_width_mm=SENSOR_MM,
    )


def _spans(camera: CameraSpec, points_3N: NDArray[np.float64]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Least and largest u and v of many points: as `project` gives them, bit by bit, all at once."""
    axes = np.array(camera_axes(camera)).T  # one column for each of right, up, forward
    x, y, z = points_3N - np.array(camera.position_m)[:, None]
    right, up, forward = x * axes[0][:, None] + y * axes[1][:, None] + z * axes[2][:, None]
    scale = camera.focal_length_mm / camera.sensor_width_mm / forward
    across, down = camera.shift
    right, up = scale * right, scale * up
    return (
        (0.5 + float(right.min()) - across, 0.5 + float(right.max()) - across),
        (0.5 - float(up.max()) + down, 0.5 - float(up.min()) + down),
    )


def _step_back(camera: CameraSpec, factor: float) -> CameraSpec:
    position = tuple(t + factor * (p - t) for p, t in zip(camera.position_m, camera.look_at_m, strict=True))
    return replace(camera, position_m=(position[0], position[1], position[2]))


def _pan(camera: CameraSpec, u: float, v: float) -> CameraSpec:
    """Turn nothing, move the camera so that the picture's content shifts by (u, v) frames at the target's depth."""
    right, up, _ = camera_axes(camera)
    distance = math.dist(camera.position_m, camera.look_at_m)
    scale = distance * camera.sensor_width_mm / camera.focal_length_mm
    move = tuple(scale * (-u * r + v * w) for r, w in zip(right, up, strict=True))

    def moved(point: Vec3) -> Vec3:
        return (point[0] + move[0], point[1] + move[1], point[2] + move[2])

    return replace(camera, position_m=moved(camera.position_m), look_at_m=moved(camera.look_at_m))


def box(
    name: str,
    x: tuple[float, float],
    y: tuple[float, float],
    z: tuple[float, float],
    surface: SurfaceSpec,
    bevel_m: float = 0.0,
) -> SlabSpec:
    """A slab from its bounds."""
    centre = (0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1]), 0.5 * (z[0] + z[1]))
    return SlabSpec(name, centre, (abs(x[1] - x[0]), y[1] - y[0], z[1] - z[0]), surface, bevel_m)


def wall_of(y: float, place: Background) -> SlabSpec:
    """The plane behind everything, at `y`."""
    return box("wall", (-12, 12), (y, y), (-8, 12), place.wall)
