"""The sprite engine's cameras and lights: a small closed set, so that what they show of an asset is kept and reused.

A rig is a camera's height and a light, seen from the camera; which way the two turn together about the world's z is the
plate's affair. Each asset has one view in each rig that it can stand or lie in. Nothing here depends on a run's seed:
all runs share one bank, and that of `--views 24` holds that of `--views 12`.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from generator.rng import unit
from generator.specs import CameraSpec, LightSpec, Rgb, Vec3
from generator.tasks.stages import FRAME_M, SENSOR_MM

# Far enough that an object anywhere in the frame is seen from nearly the same height: sprites have one.
DISTANCE_M = 4.0
# The focal length at which the picture is FRAME_M wide where the camera looks.
FOCAL_MM = SENSOR_MM * DISTANCE_M / FRAME_M
# Half of the widest picture of a rig, where the camera looks: no crop reaches further.
PLATE_HALF_M = 1.32
# Angles are multiples of this, so that what is computed back from a scene falls on the same one.
STEP_DEG = 0.1
# Two of three views are for standing things: of the four stages one is seen from above.
LYING_SHARE = 1 / 3
STANDING_ELEVATION_DEG, LYING_ELEVATION_DEG = (4.0, 20.0), (79.0, 89.0)
# Low enough to reach under boards, high enough for steps and ground; steep where things lie.
STANDING_KEY_DEG, LYING_KEY_DEG = (27.0, 37.0), (58.0, 78.0)
# Tints of the light from all around: daylight, a warm and a cool room.
FILLS: tuple[Rgb, ...] = ((1.0, 0.99, 0.97), (1.0, 0.95, 0.88), (0.93, 0.96, 1.0))
# Steps of a sequence that fills the cube of five dimensions evenly, whatever its length: powers of the only positive
# root of x**6 = x + 1.
_ROOT = 1.1347241384015194
_STEPS = tuple(_ROOT**-power for power in range(1, 6))
# Where the sequence of the lying rigs begins, so that it has lights of its own.
_LYING_START = 100
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Rig:
    """number: its place among those of its kind. light: its azimuth counts from the camera's."""

    number: int
    lying: bool
    elevation_deg: float
    light: LightSpec

    def camera(self, azimuth_deg: float, look_at_m: Vec3) -> CameraSpec:
        """The rig's camera, gone round what it looks at: 0 looks along +y, 90 from the right (+x)."""
        up, around = math.radians(self.elevation_deg), math.radians(azimuth_deg)
        offset = (math.sin(around) * math.cos(up), -math.cos(around) * math.cos(up), math.sin(up))
        x, y, z = (t + DISTANCE_M * o for t, o in zip(look_at_m, offset, strict=True))
        return CameraSpec((x, y, z), look_at_m, FOCAL_MM, sensor_width_mm=SENSOR_MM)

    def turn(self, uid: str) -> float:
        """How far an asset is turned in its view in this rig, in [-1, 1] of the allowed turns: evenly spread by rig."""
        return 2.0 * ((unit(0, "view", uid) + self.number * GOLDEN) % 1.0) - 1.0


@dataclass(frozen=True)
class RigSet:
    """The rigs of a run: `views` of them, each a view of every asset."""

    views: int

    @cached_property
    def standing(self) -> tuple[Rig, ...]:
        """Rigs for stages on which things stand."""
        return tuple(_rig(number, lying=False) for number in range(self.views - len(self.lying)))

    @cached_property
    def lying(self) -> tuple[Rig, ...]:
        """Rigs that look down."""
        return tuple(_rig(number, lying=True) for number in range(max(1, round(self.views * LYING_SHARE))))


def _rig(number: int, lying: bool) -> Rig:
    place = number + 1 + (_LYING_START if lying else 0)
    azimuth, key, softness, share, warmth = (place * step % 1.0 for step in _STEPS)
    low, high = LYING_ELEVATION_DEG if lying else STANDING_ELEVATION_DEG
    key_low, key_high = LYING_KEY_DEG if lying else STANDING_KEY_DEG
    # Halves, then quarters, then eighths of the range: the first rig's middle height suits every stage.
    elevation = low + (high - low) * _halving(number + 1)
    key_share = 0.45 + 0.25 * share
    return Rig(
        number,
        lying,
        _step(elevation),
        LightSpec(
            azimuth_deg=_step(-65.0 + 130.0 * azimuth),
            elevation_deg=_step(key_low + (key_high - key_low) * key),
            angle_deg=_step(4.0 + 14.0 * softness),
            key_strength=math.pi * key_share / 0.75,
            key_rgb=(1.0, 0.965 + 0.025 * (2 * warmth - 1), 0.92 + 0.06 * (2 * warmth - 1)),
            fill_strength=1.0 - key_share,
            fill_rgb=FILLS[number % len(FILLS)],
        ),
    )


def _halving(number: int) -> float:
    """The van der Corput sequence: 1/2, 1/4, 3/4, 1/8, 5/8 ..."""
    value, part = 0.0, 0.5
    while number:
        value += part * (number & 1)
        number >>= 1
        part /= 2
    return value


def _step(angle_deg: float) -> float:
    return round(round(angle_deg / STEP_DEG) * STEP_DEG, 1)
