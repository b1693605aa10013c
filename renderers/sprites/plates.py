"""The empty stage as a picture's frame shows it, cut out of its plate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generator.specs import SceneSpec, SurfaceSpec
from renderers.sprites import resample
from renderers.sprites.bank import Bank, Kept
from renderers.sprites.keys import picture_of, plate_key
from renderers.sprites.view import Box, View

Floats = NDArray[np.float32]
Planes = NDArray[np.uint16]

# A picture projected onto the stage is seen where the plate says so, but for the plate's own noise.
PICTURE_NOISE = 0.01
# What a plate counts for in memory: it stays on disk, but its file stays open.
PLATE_BYTES = 4 * 2**20
# Where nothing is hit.
NOWHERE_M = 1e6


@dataclass(frozen=True)
class Cut:
    """rgb (3, H, W), linear; share (H, W) of the key light in it; depth (H, W) along the axis; ids (H, W), 1 + number
    of the slab, 0 for none; points (3, H, W) in the world."""

    rgb: Floats
    share: Floats
    depth: Floats
    ids: NDArray[np.uint8]
    points: Floats


class Plates:
    """Cuts plates. Both sides of a pair share their cut, and come one after the other."""

    def __init__(self, bank: Bank, kept: Kept, size_px: int) -> None:
        self._bank = bank
        self._kept = kept
        self._size_px = size_px
        self._last: tuple[object, Cut] | None = None

    def cut(self, scene: SceneSpec, view: View) -> Cut:
        """The stage of a scene, whose plate is rendered if it is missing. Raises BankError."""
        wanted = (scene.slabs, scene.camera, scene.light)
        if self._last is None or self._last[0] != wanted:
            self._last = (wanted, self._new_cut(scene, view))
        return self._last[1]

    def _new_cut(self, scene: SceneSpec, view: View) -> Cut:
        size_px = self._size_px
        key = plate_key(scene, size_px)
        self._bank.make([key])
        layer = self._kept.get(key, lambda: self._bank.read(key), lambda _: PLATE_BYTES)
        box = view.window(key.camera, key.px)
        planes, window = _windowed(layer.planes, box)

        def smooth(number: int) -> Floats:
            plane = resample.cut(planes[number].astype(np.float32), window, size_px)
            plane *= layer.scales[number]
            return plane

        rgb = np.empty((3, size_px, size_px), np.float32)
        picture = picture_of(scene)
        shown = None if picture is None else self._picture(picture)
        for channel in range(3):
            plane = smooth(channel)
            if shown is not None:
                gain = smooth(6 + channel)
                gain[gain < PICTURE_NOISE] = 0
                gain *= shown[channel]
                plane += gain
            rgb[channel] = plane
        # The share belongs to what depth and number are of: a mean over an edge would let shadows fall beside it.
        places = resample.places((key.px, key.px), box, size_px)
        share, depth, ids = (layer.planes[number].take(places) * layer.scales[number] for number in (3, 4, 5))
        depth[depth <= 0] = NOWHERE_M
        ids += np.float32(0.5)
        return Cut(rgb, share, depth, ids.astype(np.uint8), view.points(depth))

    def _picture(self, surface: SurfaceSpec) -> Floats:
        """A picture as it fills the frame, linear (3, H, W)."""

        def load() -> NDArray[np.uint8]:
            assert surface.texture is not None
            size = (self._size_px, self._size_px)
            with Image.open(surface.texture) as opened:
                # A JPEG can be decoded at a fraction of its size.
                opened.draft("RGB", size)
                small = np.asarray(opened.convert("RGB").resize(size, Image.Resampling.BOX))
            return np.ascontiguousarray(small.transpose(2, 0, 1))

        shown = self._kept.get((surface.texture, "picture"), load, lambda picture: picture.nbytes)
        return resample.to_linear(shown) * resample.linear_rgb(surface.rgb)[:, None, None]


def _windowed(planes: Planes, window: Box) -> tuple[Planes, Box]:
    """The part of a plate (C, h, w) that a window and the pixels around it need, and the window in it."""
    height, width = planes.shape[1:]
    left, top = max(0, int(window[0]) - 2), max(0, int(window[1]) - 2)
    right, bottom = min(width, int(window[2]) + 3), min(height, int(window[3]) + 3)
    return planes[:, top:bottom, left:right], (window[0] - left, window[1] - top, window[2] - left, window[3] - top)
