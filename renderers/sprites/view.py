"""A camera's arithmetic, for many points at a time."""

from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

from generator.specs import CameraSpec, camera_axes

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Window = tuple[slice, slice]  # rows, columns
Box = tuple[float, float, float, float]  # left, top, right, bottom

# The foot of an object must fit best: it stands there. Corners are feet first.
FOOT_WEIGHTS = np.array([3.0] * 4 + [1.0] * 4)[:, None] ** 2


class View:
    """One camera and the size of its square picture."""

    def __init__(self, camera: CameraSpec, size_px: int) -> None:
        self._camera = camera
        self._size_px = size_px
        self._position = np.array(camera.position_m)
        self._axes = np.array(camera_axes(camera))
        self._lens = camera.focal_length_mm / camera.sensor_width_mm
        self.right, self.up, self.towards = self._axes

    def depth(self, points: Doubles) -> Doubles:
        """Depths (N,) along the axis of points (N, 3)."""
        along: Doubles = (points - self._position) @ self.towards
        return along

    def project(self, points: Doubles) -> Doubles:
        """Pixels (N, 2) of points (N, 3), as specs.project."""
        seen = (points - self._position) @ self._axes.T
        pixels: Doubles = seen[:, :2] * (self._lens / seen[:, 2:]) * (self._size_px, -self._size_px)
        across, up = self._camera.shift
        pixels += ((0.5 - across) * self._size_px, (0.5 + up) * self._size_px)
        return pixels

    def to_sprite(self, corners: Doubles, pixels: Doubles) -> Doubles:
        """The map (3, 2) from the picture's pixels to a sprite's that fits its corners (8, 3) best, the feet above
        all: what perspective, roll and a longer lens do to a small thing."""
        there = np.ones((len(corners), 3))
        there[:, :2] = self.project(corners)
        weighted = (there * FOOT_WEIGHTS).T
        fit: Doubles = np.linalg.solve(weighted @ there, weighted @ pixels)
        return fit

    def window(self, wide: CameraSpec, px: int) -> Box:
        """Where this camera's frame lies in the square picture, px wide, of one that only has a wider lens."""
        share = wide.focal_length_mm / self._camera.focal_length_mm
        across, up = self._camera.shift
        left, top = 0.5 + share * (across - 0.5), 0.5 - share * (up + 0.5)
        box = (left * px, top * px, (left + share) * px, (top + share) * px)
        return (max(0.0, box[0]), max(0.0, box[1]), min(px, box[2]), min(px, box[3]))

    def points(self, depth: Floats) -> Floats:
        """World points (3, H, W) at depths (H, W) behind the middles of the pixels."""
        middles = (np.arange(self._size_px) + 0.5) / self._size_px - 0.5
        across = (middles + self._camera.shift[0]) / self._lens
        down = (middles - self._camera.shift[1]) / self._lens
        points = np.empty((3, *depth.shape), np.float32)
        for axis, plane in enumerate(points):
            along_row = (self.towards[axis] + across * self.right[axis]).astype(np.float32)
            np.add(along_row, (-down * self.up[axis]).astype(np.float32)[:, None], out=plane)
            plane *= depth
            plane += np.float32(self._position[axis])
        return points


def window_around(pixels: Doubles, size_px: int) -> Window:
    """The rows and columns of a picture around pixels (N, 2)."""
    (left, top), (right, bottom) = pixels.min(axis=0), pixels.max(axis=0)

    def bounds(low: float, high: float) -> slice:
        first = min(max(int(np.floor(low)), 0), size_px)
        return slice(first, min(max(int(np.ceil(high)), first), size_px))

    return bounds(top, bottom), bounds(left, right)


def about_z(angle_deg: float) -> Doubles:
    """Rotation (3, 3)."""
    c, s = cos(radians(angle_deg)), sin(radians(angle_deg))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
