"""Small glTF files made in code: a cube, and every way to get one wrong."""

import copy
import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Six faces of four corners each, counter-clockwise from outside, unit cube around the origin.
CORNERS = np.array(
    [
        [[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]],
        [[1, -1, -1], [-1, -1, -1], [-1, 1, -1], [1, 1, -1]],
        [[1, -1, 1], [1, -1, -1], [1, 1, -1], [1, 1, 1]],
        [[-1, -1, -1], [-1, -1, 1], [-1, 1, 1], [-1, 1, -1]],
        [[-1, 1, 1], [1, 1, 1], [1, 1, -1], [-1, 1, -1]],
        [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1]],
    ],
    dtype=np.float32,
).reshape(-1, 3) / np.float32(2)
QUADS = np.array([[4 * f + i for i in (0, 1, 2, 0, 2, 3)] for f in range(6)], dtype=np.uint16).reshape(-1)
UVS = np.tile(np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype=np.float32), (6, 1))
COMPONENT = {np.dtype(np.float32): 5126, np.dtype(np.uint16): 5123, np.dtype(np.uint32): 5125, np.dtype(np.uint8): 5121}
KIND = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
RED: dict[str, Any] = {"pbrMetallicRoughness": {"baseColorFactor": [0.8, 0.1, 0.05, 1.0], "metallicFactor": 0.0}}


@dataclass
class Glb:
    """A document under construction."""

    json: dict[str, Any] = field(
        default_factory=lambda: {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": []}
    )
    binary: bytearray = field(default_factory=bytearray)

    def view(self, data: bytes) -> int:
        self.binary.extend(b"\0" * (-len(self.binary) % 4))
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)})
        self.binary.extend(data)
        return len(self.json["bufferViews"]) - 1

    def accessor(self, values: NDArray[Any]) -> int:
        values = np.ascontiguousarray(values)
        width = 1 if values.ndim == 1 else values.shape[1]
        entry: dict[str, Any] = {
            "bufferView": self.view(values.tobytes()),
            "componentType": COMPONENT[values.dtype],
            "count": len(values),
            "type": KIND[width],
        }
        if width == 3:
            # Blender trusts these, so they have to be there; they stay finite whatever the values are.
            finite = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1.0, neginf=-1.0)
            entry |= {"min": finite.min(axis=0).tolist(), "max": finite.max(axis=0).tolist()}
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def data(self) -> bytes:
        parsed = copy.deepcopy(self.json)
        parsed["buffers"] = parsed.get("buffers", [{"byteLength": len(self.binary)}])
        return container(
            json.dumps({key: value for key, value in parsed.items() if value != []}).encode(), bytes(self.binary)
        )


def container(text: bytes, binary: bytes) -> bytes:
    """A GLB of a JSON and a binary chunk."""
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def mesh(
    positions: NDArray[np.float32] = CORNERS,
    indices: NDArray[Any] | None = QUADS,
    uv: NDArray[np.float32] | None = None,
    material: dict[str, Any] | None = RED,
    mode: int = 4,
    node: dict[str, Any] | None = None,
) -> Glb:
    """One mesh in one node of one scene: a red cube unless told otherwise."""
    glb = Glb()
    primitive: dict[str, Any] = {"attributes": {"POSITION": glb.accessor(positions.astype(np.float32))}, "mode": mode}
    if uv is not None:
        primitive["attributes"]["TEXCOORD_0"] = glb.accessor(uv)
    if indices is not None:
        primitive["indices"] = glb.accessor(indices)
    if material is not None:
        primitive["material"] = 0
        glb.json["materials"] = [copy.deepcopy(material)]
    glb.json |= {"meshes": [{"primitives": [primitive]}], "nodes": [{"mesh": 0, **(node or {})}]}
    glb.json |= {"scenes": [{"nodes": [0]}], "scene": 0}
    return glb


def textured(image: bytes, mime: str = "image/png", uv: NDArray[np.float32] | None = UVS) -> Glb:
    """The cube with an embedded texture."""
    glb = mesh(uv=uv, material={"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.0}})
    glb.json |= {"textures": [{"source": 0}], "images": [{"bufferView": glb.view(image), "mimeType": mime}]}
    return glb


def png(pixels: Sequence[Sequence[Sequence[int]]] | NDArray[np.uint8]) -> bytes:
    """A PNG of (h, w, 4) bytes."""
    array = np.asarray(pixels, dtype=np.uint8)
    height, width = array.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in array)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
