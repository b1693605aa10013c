"""Bare meshes of the field's other formats (PLY, STL, OFF), parsed by trimesh and handed on as glTF documents.

Such a file names no other file and no unit. Its axes are taken as its makers mostly mean them: z up, front towards -y.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.assets.gltf import Document, Json, describe
from generator.assets.reasons import Unfit

SUFFIXES = (".ply", ".stl", ".off")
# How files of these formats begin; an STL may begin with anything.
MAGIC = {".ply": (b"ply",), ".off": (b"OFF", b"COFF", b"NOFF", b"CNOFF")}
FLOAT, UNSIGNED = 5126, 5125


def read(path: Path, data: bytes) -> Document:
    """Parse the file. Raises Unfit."""
    suffix = path.suffix.lower()
    if not data.lstrip()[:5].startswith(MAGIC.get(suffix, (b"",))):
        raise Unfit("not_a_model", describe(data))
    if suffix == ".ply" and b"TextureFile" in data.partition(b"end_header")[0]:
        raise Unfit("unsupported_texture", "a PLY whose colours are in a picture beside it; convert it to GLB")
    mesh = _parse(suffix, data)
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise Unfit("bad_index", f"a face refers to vertex {int(faces.max())} of {len(vertices)}")
    # trimesh computes the normals that a file lacks; those are smooth over edges too, so only the file's own are taken.
    normals = np.asarray(mesh.vertex_normals) if "vertex_normals" in mesh._cache else None
    rgba = mesh.visual.vertex_colors if mesh.visual.kind == "vertex" else None
    if mesh.visual.kind == "face":
        rgba = mesh.visual.face_colors.repeat(3, axis=0)
        vertices, normals, faces = vertices[faces].reshape(-1, 3), None, np.arange(faces.size)
    return _document(path.parent, vertices, normals, rgba, faces)


def _parse(suffix: str, data: bytes) -> Any:
    import trimesh

    try:
        # Without a resolver trimesh opens no other file; without processing it changes no vertex.
        mesh = trimesh.load(io.BytesIO(data), file_type=suffix[1:], process=False, resolver=None)
    except MemoryError as error:
        raise Unfit("too_heavy", f"its header asks for more than there is memory: {error}"[:200]) from None
    except Exception as error:  # trimesh raises whatever its parsers meet in a damaged file.
        raise Unfit("bad_structure", f"{type(error).__name__}: {error}"[:200]) from None
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.faces) == 0:
        raise Unfit("no_geometry", "no faces")
    return mesh


def _document(
    folder: Path,
    vertices: NDArray[np.float64],
    normals: NDArray[np.float64] | None,
    rgba: NDArray[np.uint8] | None,
    faces: NDArray[np.int64],
) -> Document:
    """A glTF document of one mesh: vertices and normals (V, 3), sRGB colours (V, 4), faces of any shape."""
    arrays: dict[str, NDArray[Any]] = {"POSITION": _y_up(vertices)}
    if normals is not None:
        arrays["NORMAL"] = _y_up(normals)
    if rgba is not None:
        # glTF's vertex colours are linear; floats, because eight linear bits band in the shadows.
        share = rgba.astype(np.float64) / 255.0
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        arrays["COLOR_0"] = np.column_stack([linear[:, :3], share[:, 3]]).astype(np.float32)
    arrays["indices"] = faces.reshape(-1, 1).astype(np.uint32)
    binary = bytearray()
    views: list[Json] = []
    accessors: list[Json] = []
    for name, values in arrays.items():
        content = values.tobytes()
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(content)})
        binary += content
        component, kind = (UNSIGNED, "SCALAR") if name == "indices" else (FLOAT, f"VEC{values.shape[1]}")
        accessors.append({"bufferView": len(accessors), "componentType": component, "count": len(values), "type": kind})
    accessors[0] |= {"min": arrays["POSITION"].min(axis=0).tolist(), "max": arrays["POSITION"].max(axis=0).tolist()}
    numbers = {name: number for number, name in enumerate(arrays)}
    indices = numbers.pop("indices")
    return Document(
        json={
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": numbers, "indices": indices}]}],
            "accessors": accessors,
            "bufferViews": views,
            "buffers": [{"byteLength": len(binary)}],
        },
        buffers=[bytes(binary)],
        folder=folder,
    )


def _y_up(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    """From z up, front -y to glTF's y up, front +z."""
    turned: NDArray[np.float32] = np.stack([vectors[:, 0], vectors[:, 2], -vectors[:, 1]], axis=1).astype(np.float32)
    return turned
