"""How an asset stands or lies, and how large: turned so that what shows most of it faces the camera.

Most models face -y. Cars, horses and bananas show themselves better from the side, plates and forks from above: on a
shelf they are turned or propped up, lying they stay flat. Scales follow the area that is then seen, because a fork
as long as a ball would be a line.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from generator.assets.catalog import Asset

# Seen better from the side when that silhouette is this much larger; then shown three quarters on.
SIDE_FACTOR = 1.25
SIDE_SPIN_DEG = (40.0, 78.0)
# Flat things (height / longest side) are propped up where others stand, leaning back a little.
FLAT_HEIGHT = 0.14
PROPPED_PITCH_DEG = 80.0
LYING_PITCH_DEG = -90.0
# Turns that keep what faces the camera in view.
STANDING_DEG, PROPPED_DEG, LYING_DEG = 38.0, 22.0, 25.0
# An object that covers this share of its own square is exactly as long as asked.
TYPICAL_COVERAGE = 0.5
SMALLEST, LARGEST = 0.17, 0.5
# What shows less of itself, a sheet seen edge-on, counts as showing so much: nothing is divided by nothing.
LEAST_COVERAGE = 1e-3


@dataclass(frozen=True, slots=True)
class Pose:
    """Turns, scale, the size of the turned box along x, y and z of the world, and what is seen, in frames.

    extent: of the asset's own box. length: the longer side of the box around its silhouette; area: of its silhouette.
    """

    extent: tuple[float, float, float]
    spin_deg: float
    pitch_deg: float
    yaw_deg: float
    scale: float
    box: tuple[float, float, float]
    length: float
    area: float

    def times(self, factor: float) -> "Pose":
        """The same pose at another scale."""
        x, y, z = self.box
        return replace(
            self,
            scale=self.scale * factor,
            box=(x * factor, y * factor, z * factor),
            length=self.length * factor,
            area=self.area * factor**2,
        )

    def turned(self, by_deg: float) -> "Pose":
        """The same pose turned further about the world's z."""
        yaw_deg = self.yaw_deg + by_deg
        x, y, z = turned_box(self.extent, self.spin_deg, self.pitch_deg, yaw_deg)
        return replace(self, yaw_deg=yaw_deg, box=(x * self.scale, y * self.scale, z * self.scale))


def pose(asset: Asset, turn: float, fraction: float, growth: float, lying: bool, digits: int | None = None) -> Pose:
    """`turn` in [-1, 1] of the allowed turns; `fraction` of the frame is the length of an object of usual coverage.

    growth: factor on fraction and on the longest allowed side. digits: round the turns to so many.
    """
    spin, pitch, yaw, covered = _turns(asset, turn, lying)
    covered = max(covered, LEAST_COVERAGE)
    if digits is not None:
        spin, yaw = round(spin, digits), round(yaw, digits)
    box = turned_box(asset.extent, spin, pitch, yaw)
    seen = max(box[0], box[1] if lying else box[2])
    wanted = fraction * growth * math.sqrt(TYPICAL_COVERAGE / covered)
    length = min(max(wanted, SMALLEST), LARGEST * growth)
    scale = length / seen
    return Pose(
        asset.extent, spin, pitch, yaw, scale,
        box=(box[0] * scale, box[1] * scale, box[2] * scale),
        length=_silhouette(asset, spin, pitch, yaw, lying) * scale,
        area=covered * scale**2,
    )  # fmt: skip


def turned_box(
    extent: tuple[float, float, float], spin_deg: float, pitch_deg: float, yaw_deg: float
) -> tuple[float, float, float]:
    """Sides of the world-aligned box around a box of `extent` turned about z, then x, then z again."""
    half = np.abs(turn_matrix(spin_deg, pitch_deg, yaw_deg)) @ np.array(extent)
    return (float(half[0]), float(half[1]), float(half[2]))


def turn_matrix(spin_deg: float, pitch_deg: float, yaw_deg: float) -> NDArray[np.float64]:
    """Rotation (3, 3): spin about the object's own z, pitch about x, yaw about the world's z."""
    p = math.radians(pitch_deg)
    tilt = np.array([[1, 0, 0], [0, math.cos(p), -math.sin(p)], [0, math.sin(p), math.cos(p)]])
    matrix: NDArray[np.float64] = _about_z(yaw_deg) @ tilt @ _about_z(spin_deg)
    return matrix


def _silhouette(asset: Asset, spin: float, pitch: float, yaw: float, lying: bool) -> float:
    """The longer side of the box around what is seen: round things do not grow when they are turned, boxes do."""
    turn = turn_matrix(spin, pitch, yaw)
    as_box = np.abs(turn) @ np.array(asset.extent)
    as_ball = np.sqrt(turn**2 @ np.array(asset.extent) ** 2)
    x, y, z = asset.extent
    # How round it is in the plane in which it is turned: a disc fills pi / 4 of its square.
    filled = asset.coverage[0] / max(x * z, LEAST_COVERAGE) if lying else asset.coverage[2] / max(x * y, LEAST_COVERAGE)
    roundness = min(max((1.0 - filled) / (1.0 - math.pi / 4), 0.0), 1.0)
    sides = roundness * as_ball + (1.0 - roundness) * as_box
    return float(max(sides[0], sides[1] if lying else sides[2]))


def _about_z(angle_deg: float) -> NDArray[np.float64]:
    t = math.radians(angle_deg)
    return np.array([[math.cos(t), -math.sin(t), 0], [math.sin(t), math.cos(t), 0], [0, 0, 1]])


def _turns(asset: Asset, turn: float, lying: bool) -> tuple[float, float, float, float]:
    """Spin, pitch and yaw in degrees, and the area that the asset then shows, where its longest side is 1."""
    front, side, top = asset.coverage
    flat = asset.extent[2] <= FLAT_HEIGHT and top > max(front, side)
    if flat:
        pitch, reach = (0.0, LYING_DEG) if lying else (PROPPED_PITCH_DEG, PROPPED_DEG)
        return 0.0, pitch, turn * reach, top
    if side <= SIDE_FACTOR * front:
        if lying:
            return 0.0, LYING_PITCH_DEG, turn * LYING_DEG, front
        c, s = abs(math.cos(math.radians(turn * STANDING_DEG))), abs(math.sin(math.radians(turn * STANDING_DEG)))
        return 0.0, 0.0, turn * STANDING_DEG, max(front * c, side * s)
    low, high = SIDE_SPIN_DEG
    spin = math.copysign(low + (high - low) * abs(turn), turn)
    if lying:
        # On its back and on its side at once: the side faces up, the nose points left or right.
        return math.copysign(90.0, turn), LYING_PITCH_DEG, turn * LYING_DEG, side
    return spin, 0.0, 0.0, max(side * abs(math.sin(math.radians(spin))), front * abs(math.cos(math.radians(spin))))
