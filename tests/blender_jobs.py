"""What the Blender tests share: one worker process, models made of numbers, and a ray caster to compare with."""

import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.child import Child
from generator.render import read_picture
from generator.specs import (
    CameraSpec,
    LightSpec,
    ObjectSpec,
    PaintPlan,
    RenderJob,
    RenderSettings,
    Rgb,
    SceneSpec,
    SlabSpec,
    SurfaceSpec,
    Vec3,
    camera_axes,
    to_json,
)

ROOT = Path(__file__).resolve().parents[1]
Floats = NDArray[np.float64]
LIGHT = LightSpec(20.0, 45.0, 10.0, 2.5, (1.0, 1.0, 1.0), 0.5, (1.0, 1.0, 1.0))
GREY = SurfaceSpec((0.6, 0.6, 0.6), 0.8)
FRONT = CameraSpec((0.3, -3.0, 1.1), (0.0, 0.0, 0.4), 60.0, roll_deg=3.0)


@dataclass(frozen=True)
class Picture:
    """What one job gave: image (H, W, 3), visible (H, W), amodal (n, H, W)."""

    image: NDArray[np.uint8]
    visible: NDArray[np.uint8]
    amodal: NDArray[np.bool_]

    def same_as(self, other: "Picture") -> bool:
        """Bit for bit."""
        return all(
            np.array_equal(one, two)
            for one, two in (
                (self.image, other.image), (self.visible, other.visible), (self.amodal, other.amodal),
            )
        )  # fmt: skip


class Blender:
    """One worker process. Use as a context manager."""

    def __init__(self, size_px: int = 64, threads: int = 1, **settings: Any) -> None:
        given: dict[str, Any] = {"engine": "cycles", "samples_per_pixel": 4, "device": "cpu", **settings}
        self._settings = RenderSettings(size_px=size_px, threads=threads, **given)

    def __enter__(self) -> "Blender":
        self._scratch = tempfile.TemporaryDirectory()
        self._child = Child("renderers.blender", Path(self._scratch.name) / "log")
        self._child.send({"settings": to_json(self._settings)})
        self.ready = self._child.receive(180)
        self._count = 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()
        self._scratch.cleanup()

    def resident_bytes(self) -> int:
        """Memory that the process holds now."""
        return self._child.resident_bytes()

    def render(self, scene: SceneSpec, seed: int = 7) -> Picture:
        """Render one scene."""
        self._count += 1
        out = str(Path(self._scratch.name) / f"job-{self._count}")
        self._child.send({"job": to_json(RenderJob(f"job {self._count}", scene, seed, out))})
        answer = self._child.receive(120)
        assert answer["ok"], answer["error"]
        made = read_picture(out, self._settings.size_px, len(scene.objects))
        return Picture(made.image, made.visible, made.amodal)


def slab(name: str, centre: Vec3, size: Vec3, surface: SurfaceSpec = GREY) -> SlabSpec:
    """A stage slab."""
    return SlabSpec(name, centre, size, surface)


FLOOR = slab("floor", (0.0, 0.0, -0.05), (8.0, 8.0, 0.1))
WALL = slab("wall", (0.0, 2.0, 1.0), (8.0, 0.0, 8.0))


def scene_of(
    objects: Sequence[ObjectSpec], slabs: Sequence[SlabSpec] = (FLOOR, WALL), camera: CameraSpec = FRONT
) -> SceneSpec:
    """A scene with a plain light."""
    return SceneSpec("test", "test", tuple(objects), tuple(slabs), camera, LIGHT)


def thing(model: Path, position: Vec3 = (0.0, 0.0, 0.0), scale: float = 0.8, yaw: float = 0.0, pitch: float = 0.0,
          paint: Rgb | None = None, plan: PaintPlan | None = None) -> ObjectSpec:  # fmt: skip
    """An object of a model file."""
    return ObjectSpec(
        "A", model.name, "thing", str(model), position, yaw, pitch, scale, paint=paint, paint_plan=plan
    )  # fmt: skip


def render(out: Path, *flags: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """`python -m generator render`, small, on the CPU."""
    command = [sys.executable, "-m", "generator", "render", "--out", str(out), "--device", "cpu", *flags]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stderr
    return done


# --- models ----------------------------------------------------------------------------------------------------------


def write_model(
    path: Path,
    positions: Floats,
    triangles: NDArray[np.int64],
    alpha_mode: str = "opaque",
    texture: NDArray[np.uint8] | None = None,
    uv: Floats | None = None,
    base_rgba: Sequence[float] = (0.5, 0.5, 0.5, 1.0),
) -> Path:
    """A prepared model as `renderers.model` reads it, of one material."""
    import json

    corners = positions[triangles]  # (T, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    material = {
        "name": "stuff", "base_rgba": list(base_rgba), "metallic": 0.0, "roughness": 0.6,
        "emission_rgb": [0.0, 0.0, 0.0], "alpha_mode": alpha_mode, "alpha_cutoff": 0.5,
        "texture": -1 if texture is None else 0, "uses_corner_rgba": False,
    }  # fmt: skip
    arrays: dict[str, Any] = {} if texture is None else {"texture_0": texture}
    np.savez(
        path,
        positions=positions.astype(np.float32),
        triangles=triangles.astype(np.int32),
        corner_normals=np.repeat(normals, 3, axis=0).astype(np.float32),
        corner_uv=(np.zeros((3 * len(triangles), 2)) if uv is None else uv).astype(np.float32),
        material_index=np.zeros(len(triangles), np.int32),
        materials=np.frombuffer(json.dumps([material]).encode(), np.uint8),
        **arrays,
    )
    return path


def box_mesh(x: float = 1.0, y: float = 1.0, z: float = 1.0) -> tuple[Floats, NDArray[np.int64]]:
    """A box standing on its base."""
    positions = np.array([(i * x / 2, j * y / 2, k * z) for i in (-1, 1) for j in (-1, 1) for k in (0, 1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return positions, np.array(triangles)


def ball_mesh(rings: int = 48) -> tuple[Floats, NDArray[np.int64]]:
    """A ball of diameter 1 standing on its base: the surface is within 0.0011 of the sphere."""
    polar, around = np.linspace(0, math.pi, rings + 1), np.linspace(0, 2 * math.pi, 2 * rings, endpoint=False)
    positions = np.array(
        [
            (math.sin(p) * math.cos(a) / 2, math.sin(p) * math.sin(a) / 2, 0.5 - math.cos(p) / 2)
            for p in polar
            for a in around
        ]
    )
    n = len(around)
    triangles = []
    for ring in range(rings):
        for step in range(n):
            a, b = ring * n + step, ring * n + (step + 1) % n
            if ring:
                triangles.append((a, b, b + n))
            if ring < rings - 1:
                triangles.append((a, b + n, a + n))
    return positions, np.array(triangles)


def pane_mesh() -> tuple[Floats, NDArray[np.int64], Floats]:
    """An upright unit square facing -y, and its UVs."""
    positions = np.array([(-0.5, 0, 0), (0.5, 0, 0), (0.5, 0, 1), (-0.5, 0, 1)], dtype=np.float64)
    triangles = np.array([(0, 1, 2), (0, 2, 3)])
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=np.float64)
    return positions, triangles, corners[triangles].reshape(-1, 2)


# --- ray casting -----------------------------------------------------------------------------------------------------


def placed(spec: ObjectSpec, positions: Floats) -> Floats:
    """World positions: spun about its own z, pitched about x, turned about z, set down a thousandth of its size up."""
    p, t, u = (math.radians(angle) for angle in (spec.pitch_deg, spec.yaw_deg, spec.spin_deg))
    pitch = np.array([[1, 0, 0], [0, math.cos(p), -math.sin(p)], [0, math.sin(p), math.cos(p)]])
    yaw = np.array([[math.cos(t), -math.sin(t), 0], [math.sin(t), math.cos(t), 0], [0, 0, 1]])
    spin = np.array([[math.cos(u), -math.sin(u), 0], [math.sin(u), math.cos(u), 0], [0, 0, 1]])
    turned = positions @ (yaw @ pitch @ spin).T * spec.scale_m
    low, high = turned.min(axis=0), turned.max(axis=0)
    anchor = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2] - 0.001 * spec.scale_m]
    moved: Floats = turned - anchor + np.array(spec.position_m)
    return moved


def rays(camera: CameraSpec, size_px: int) -> Floats:
    """Directions (size, size, 3) through the centres of the pixels."""
    right, up, forward = (np.array(axis) for axis in camera_axes(camera))
    centres = (np.arange(size_px) + 0.5) / size_px - 0.5
    scale = camera.sensor_width_mm / camera.focal_length_mm
    across, along = centres + camera.shift[0], centres - camera.shift[1]
    directions: Floats = forward + scale * (across[None, :, None] * right - along[:, None, None] * up)
    return directions


def depths(camera: CameraSpec, size_px: int, positions: Floats, triangles: NDArray[np.int64]) -> Floats:
    """(size, size) distance along each ray to the nearest triangle, inf where there is none (Moller-Trumbore)."""
    directions = rays(camera, size_px).reshape(-1, 3)
    origin = np.array(camera.position_m)
    nearest = np.full(len(directions), np.inf)
    for a, b, c in positions[triangles]:
        edge_1, edge_2 = b - a, c - a
        p = np.cross(directions, edge_2)
        determinant = p @ edge_1
        with np.errstate(divide="ignore", invalid="ignore"):
            u = (p @ (origin - a)) / determinant
            q = np.cross(origin - a, edge_1)
            v = (directions @ q) / determinant
            t = (edge_2 @ q) / determinant
            hit = (np.abs(determinant) > 1e-12) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0)
        nearest = np.where(hit & (t < nearest), t, nearest)
    return nearest.reshape(size_px, size_px)


def slab_depths(camera: CameraSpec, size_px: int, spec: SlabSpec) -> Floats:
    """The same for a slab."""
    positions, triangles = box_mesh()
    return depths(camera, size_px, (positions - [0, 0, 0.5]) * spec.size_m + spec.centre_m, triangles)


def expected(
    scene: SceneSpec, meshes: Sequence[tuple[Floats, NDArray[np.int64]]], size_px: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """visible and amodal as they should be."""
    own = np.stack(
        [
            depths(scene.camera, size_px, placed(spec, positions), triangles)
            for spec, (positions, triangles) in zip(scene.objects, meshes, strict=True)
        ]
    )
    stage = np.min(
        [np.full((size_px, size_px), np.inf), *(slab_depths(scene.camera, size_px, s) for s in scene.slabs)], axis=0
    )
    visible = np.zeros((size_px, size_px), np.uint8)
    for number, depth in enumerate(own):
        others = np.min([stage, *(d for i, d in enumerate(own) if i != number)], axis=0)
        visible[np.isfinite(depth) & (depth < others)] = 1 + number
    return visible, np.isfinite(own)
