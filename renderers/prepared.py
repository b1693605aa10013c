"""The prepared model: one asset as plain arrays, in the pose and scale in which scenes use it, and its file.

A prepared model stands in a unit box: longest side 1, base on z = 0, centred on x and y, front towards -y,
z up. Everything that a source format may hold beside the visible surface (node hierarchies, cameras, lights, skins,
animations, unused textures) is gone, so that loading one is reading arrays.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

AlphaMode = Literal["opaque", "mask", "blend"]


@dataclass(frozen=True, slots=True)
class Material:
    """How one part of the surface looks.

    base_rgba: linear base colour and alpha, multiplied with the texture and the corner colours where there are any.
    alpha_mode: "mask" shows a point where its alpha reaches alpha_cutoff; "blend" mixes with what is behind.
    texture: index into `PreparedModel.textures`, -1 for none.
    """

    name: str
    base_rgba: tuple[float, float, float, float]
    metallic: float
    roughness: float
    emission_rgb: tuple[float, float, float]
    alpha_mode: AlphaMode
    alpha_cutoff: float
    texture: int
    uses_corner_rgba: bool


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """V vertices, T triangles; corner k of triangle t is row 3 t + k of the corner arrays.

    positions (V, 3) float32; triangles (T, 3) int32; corner_normals (3T, 3) float32, unit length;
    corner_uv (3T, 2) float32 in Blender's convention (origin at the bottom left; row 0 of a texture is its top);
    corner_rgba (3T, 4) uint8 sRGB with linear alpha, or None; material_index (T,) int32;
    textures: (h, w, 4) uint8 sRGB, straight alpha.
    """

    positions: NDArray[np.float32]
    triangles: NDArray[np.int32]
    corner_normals: NDArray[np.float32]
    corner_uv: NDArray[np.float32]
    corner_rgba: NDArray[np.uint8] | None
    material_index: NDArray[np.int32]
    materials: tuple[Material, ...]
    textures: tuple[NDArray[np.uint8], ...]

    @property
    def extent(self) -> tuple[float, float, float]:
        """Sides (x, y, z) of the box."""
        sides = self.positions.max(axis=0) - self.positions.min(axis=0)
        return (float(sides[0]), float(sides[1]), float(sides[2]))


def save(model: PreparedModel, path: Path) -> None:
    """Write the .npz under a temporary name, then rename: readers see a whole file or none."""
    arrays: dict[str, NDArray[Any]] = {
        "positions": model.positions,
        "triangles": model.triangles,
        "corner_normals": model.corner_normals,
        "corner_uv": model.corner_uv,
        "material_index": model.material_index,
        "materials": np.frombuffer(json.dumps([asdict(m) for m in model.materials]).encode(), dtype=np.uint8),
    }
    if model.corner_rgba is not None:
        arrays["corner_rgba"] = model.corner_rgba
    for index, texture in enumerate(model.textures):
        arrays[f"texture_{index}"] = texture
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".npz.part")
    with os.fdopen(handle, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    os.replace(name, path)


def load(path: Path) -> PreparedModel:
    """Read what `save` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        return _from_arrays({name: arrays[name] for name in arrays.files})


def _from_arrays(arrays: Mapping[str, NDArray[Any]]) -> PreparedModel:
    rows = json.loads(arrays["materials"].tobytes())
    materials = tuple(
        Material(**{**row, "base_rgba": tuple(row["base_rgba"]), "emission_rgb": tuple(row["emission_rgb"])})
        for row in rows
    )
    count = sum(name.startswith("texture_") for name in arrays)
    return PreparedModel(
        positions=arrays["positions"],
        triangles=arrays["triangles"],
        corner_normals=arrays["corner_normals"],
        corner_uv=arrays["corner_uv"],
        corner_rgba=arrays.get("corner_rgba"),
        material_index=arrays["material_index"],
        materials=materials,
        textures=tuple(arrays[f"texture_{index}"] for index in range(count)),
    )
