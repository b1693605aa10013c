"""`python -m renderers.fake --log LOG`: flat coloured boxes with exact masks, for fast tests and for scale.

It speaks the same protocol as Blender's worker, projects the same cameras and knows occlusion by distance, but draws
each object as the box of its model's extent. Extents are read from the spec's scale alone: boxes are cubes.
"""

import argparse
import math
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from generator.specs import ObjectSpec, RenderJob, RenderSettings, SceneSpec, Vec3, from_json, project
from renderers.answers import put_picture, serve

WALL, FLOOR = (205, 200, 190), (150, 140, 125)


class Worker:
    """Draws jobs at the size that the settings asked for."""

    def __init__(self) -> None:
        self._size_px = 0

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request as `renderers.blender` does."""
        if "settings" in request:
            settings: RenderSettings = from_json(RenderSettings, request["settings"])
            self._size_px = settings.size_px
            return {"ready": True, "error": ""}
        job: RenderJob = from_json(RenderJob, request["job"])
        begin = time.perf_counter()
        image, visible, amodal = draw(job.scene, self._size_px)
        put_picture(job.out, image, visible, amodal)
        return {"job_id": job.job_id, "ok": True, "error": "", "seconds": time.perf_counter() - begin}


def draw(scene: SceneSpec, size_px: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_]]:
    """Image (H, W, 3) uint8, visible (H, W) uint8 and amodal (n, H, W) bool of a scene of boxes."""
    size = (size_px, size_px)
    image, visible = Image.new("RGB", size, WALL), Image.new("L", size)
    ImageDraw.Draw(image).rectangle((0, size_px // 2, size_px, size_px), FLOOR)
    outlines = [_silhouette(item, scene, size_px) for item in scene.objects]
    for number in sorted(range(len(scene.objects)), key=lambda number: -_distance(scene, number)):
        item = scene.objects[number]
        colour = _own(item.uid) if item.paint is None else tuple(round(255 * value) for value in item.paint)
        ImageDraw.Draw(image).polygon(outlines[number], colour)
        ImageDraw.Draw(visible).polygon(outlines[number], 1 + number)
    amodal = np.empty((len(outlines), *size), np.bool_)
    for mask, outline in zip(amodal, outlines, strict=True):
        alone = Image.new("L", size)
        ImageDraw.Draw(alone).polygon(outline, 1)
        mask[:] = alone
    return np.asarray(image), np.asarray(visible), amodal


def _own(uid: str) -> tuple[int, int, int]:
    """The colour of an object that keeps its own look: its asset's, never its role's, which an image must not tell."""
    number = zlib.crc32(uid.encode())
    return 20 + number % 211, 20 + number // 211 % 211, 20 + number // 211**2 % 211


def _silhouette(item: ObjectSpec, scene: SceneSpec, size_px: int) -> list[tuple[float, float]]:
    """The convex hull of the projected corners, in pixels."""
    half = 0.35 * item.scale_m
    x, y, z = item.position_m
    corners: list[Vec3] = [
        (x + i * half, y + j * half, z + k * 2 * half) for i in (-1, 1) for j in (-1, 1) for k in (0, 1)
    ]
    points = [project(scene.camera, corner) for corner in corners]
    return [(u * size_px, v * size_px) for u, v in _hull(points)]


def _hull(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Convex hull (Andrew's monotone chain)."""
    ordered = sorted(set(points))

    def half(sequence: list[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for point in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return half(ordered) + half(ordered[::-1])


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _distance(scene: SceneSpec, number: int) -> float:
    return math.dist(scene.camera.position_m, scene.objects[number].position_m)


def main() -> None:
    """Parse the command line and serve until stdin closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True, type=Path)
    serve(str(parser.parse_args().log), Worker().handle)


if __name__ == "__main__":
    main()
