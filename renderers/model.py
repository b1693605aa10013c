"""The prepared model on disk: one mesh in a unit box, with flat descriptions of its materials."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Material:
    """One material. base_rgba and emission_rgb are linear; texture indexes `Model.textures`, -1 means none."""

    name: str
    base_rgba: tuple[float, float, float, float]
    metallic: float
    roughness: float
    emission_rgb: tuple[float, float, float]
    alpha_mode: Literal["opaque", "mask", "blend"]
    alpha_cutoff: float
    texture: int
    uses_corner_rgba: bool


@dataclass(frozen=True)
class Model:
    """V vertices, T triangles, 3T corners (triangle by triangle). Longest side 1, base on z = 0, front towards -y."""

    positions: NDArray[np.float32]  # (V, 3)
    triangles: NDArray[np.int32]  # (T, 3)
    corner_normals: NDArray[np.float32]  # (3T, 3)
    corner_uv: NDArray[np.float32]  # (3T, 2), Blender's convention: v grows upwards
    corner_rgba: NDArray[np.uint8] | None  # (3T, 4) sRGB + alpha
    material_index: NDArray[np.int32]  # (T,)
    materials: tuple[Material, ...]
    textures: tuple[NDArray[np.uint8], ...]  # each (h, w, 4) sRGB + alpha, first row on top


def load_model(path: str | Path) -> Model:
    """Read a model.npz as written by `renderers.blender.prepare`."""
    with np.load(path, allow_pickle=False) as data:
        raw: list[dict[str, Any]] = json.loads(bytes(data["materials"]).decode())
        count = sum(name.startswith("texture_") for name in data.files)
        return Model(
            positions=data["positions"],
            triangles=data["triangles"],
            corner_normals=data["corner_normals"],
            corner_uv=data["corner_uv"],
            corner_rgba=data["corner_rgba"] if "corner_rgba" in data.files else None,
            material_index=data["material_index"],
            materials=tuple(_material(item) for item in raw),
            textures=tuple(data[f"texture_{number}"] for number in range(count)),
        )


def _material(raw: dict[str, Any]) -> Material:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
    return Material(**values)
