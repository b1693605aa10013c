"""The first look at an asset: from its bytes alone, without Blender, cheap, and safe on any input.

What passes is handed on as a `Parcel`: content that names no file and no address any more, so that whatever opens it
next cannot be led elsewhere.
"""

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from generator.assets import gltf, mesh, obj, pack
from generator.assets.gltf import Document, Json
from generator.assets.reasons import REASONS, Unfit

__all__ = ["MAX_OBJECTS", "MAX_TRIANGLES", "REASONS", "SUFFIXES", "Parcel", "first_look"]

SUFFIXES = (".glb", ".gltf", ".obj", *mesh.SUFFIXES)
MAX_OBJECTS = 1000
MAX_TRIANGLES = 4_000_000
MAX_IMAGE_SIDE_PX = 16_384
MAX_DEPTH = 200
# glTF primitive modes that make triangles: list, strip, fan.
TRIANGLE_MODES = (4, 5, 6)
# What Python raises where a value read from JSON has another type, length or range than glTF says.
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, struct.error)
ATTRIBUTE_WIDTHS = {"POSITION": 3, "NORMAL": 3}


@dataclass(frozen=True)
class Parcel:
    """An asset that passed the first look.

    sha256: over the file and all files that it refers to. files: name and content of what Blender gets; the first is
    the one to open.
    """

    sha256: str
    files: tuple[tuple[str, bytes], ...]

    def write(self, folder: Path) -> Path:
        """Put the files into `folder`; the path of the one to open."""
        for name, content in self.files:
            (folder / name).write_bytes(content)
        return folder / self.files[0][0]


@dataclass(frozen=True)
class Content:
    """An asset as it was read: parsed, and the SHA-256 of all bytes that belong to it.

    Of the file alone where it stands alone (as any tool prints it), else of the files that it refers to as well.
    """

    sha256: str
    document: Document | obj.Wavefront


def read(path: Path) -> Content:
    """Read an asset and all that it refers to. Raises Unfit."""
    data = gltf.read_bytes(path)
    if not data:
        raise Unfit("empty_file", "0 bytes")
    document: Document | obj.Wavefront
    if path.suffix.lower() == ".obj":
        document = obj.read(path, data)
    elif path.suffix.lower() in mesh.SUFFIXES:
        document = mesh.read(path, data)
    else:
        try:
            document = gltf.read(path, data)
            pack.load_images(document)
        except MALFORMED as error:
            raise _malformed(error) from None
    state = hashlib.sha256(data)
    for name, content in sorted(document.files.items()):
        state.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return Content(state.hexdigest(), document)


def first_look(content: Content) -> Parcel:
    """Judge an asset by its content. Raises Unfit."""
    if isinstance(content.document, obj.Wavefront):
        obj.check(content.document, MAX_TRIANGLES)
        return Parcel(content.sha256, obj.pack(content.document))
    try:
        roots, nodes = check(content.document)
        return Parcel(content.sha256, (("model.glb", pack.to_glb(content.document, roots, nodes)),))
    except MALFORMED as error:
        raise _malformed(error) from None


def check(document: Document) -> tuple[list[int], list[int]]:
    """All checks of a glTF document; the root nodes of its default scene, and all nodes of it."""
    roots = default_roots(document)
    nodes = reachable(document, roots)
    triangles, objects, other = 0, 0, 0
    seen: dict[int, tuple[int, int]] = {}
    for index in nodes:
        node = document.at("nodes", index)
        check_node(document, node, index)
        if "mesh" not in node:
            continue
        number = gltf.whole(node["mesh"])
        if number not in seen:
            seen[number] = check_mesh(document, number)
        instances = instance_count(document, node)
        triangles += seen[number][0] * instances
        other += seen[number][1]
        objects += instances
    if triangles == 0:
        raise Unfit("no_geometry", "only points or lines" if other else "no mesh in the default scene")
    if objects > MAX_OBJECTS:
        raise Unfit("too_many_objects", f"{objects} objects, at most {MAX_OBJECTS} are joined")
    if triangles > MAX_TRIANGLES:
        raise Unfit("too_heavy", f"{triangles} triangles, at most {MAX_TRIANGLES} are decimated")
    for image in pack.base_images(document):
        check_image(document.image(image), f"images[{image}]")
    return roots, nodes


def default_roots(document: Document) -> list[int]:
    """Roots of the default scene; without any scene, all nodes that are no one's child."""
    scenes = document.json.get("scenes")
    if scenes:
        return [gltf.whole(node) for node in document.at("scenes", document.json.get("scene", 0)).get("nodes", [])]
    nodes = document.json.get("nodes", [])
    children = {child for node in nodes for child in node.get("children", [])}
    return [index for index in range(len(nodes)) if index not in children]


def reachable(document: Document, roots: list[int]) -> list[int]:
    """Nodes of the default scene, each once. Raises Unfit on a cycle or a second parent."""
    order: list[int] = []
    seen: set[int] = set()
    stack = [(root, 0) for root in reversed(roots)]
    while stack:
        index, depth = stack.pop()
        if index in seen or depth > MAX_DEPTH:
            raise Unfit("node_loop", f"nodes[{index}] is reached twice" if index in seen else "nodes nested too deeply")
        seen.add(index)
        order.append(index)
        node = document.at("nodes", index)
        stack += [(gltf.whole(child), depth + 1) for child in reversed(node.get("children", []))]
    if not order:
        raise Unfit("no_geometry", "the default scene has no nodes")
    return order


def check_node(document: Document, node: Json, index: int) -> None:
    """Finite transforms of the right length, and a skin whose joints exist."""
    for key, length in (("matrix", 16), ("translation", 3), ("rotation", 4), ("scale", 3)):
        if key in node:
            values = np.array(node[key], dtype=np.float64)
            if values.shape != (length,):
                raise Unfit("bad_structure", f"nodes[{index}].{key} has not {length} numbers")
            if not (np.abs(values) < 1e30).all():
                raise Unfit("bad_numbers", f"nodes[{index}].{key} is not finite")
    if "skin" in node:
        skin = document.at("skins", node["skin"])
        for joint in skin["joints"]:
            document.at("nodes", joint)
        if "inverseBindMatrices" in skin:
            values = document.accessor(skin["inverseBindMatrices"])
            if len(values) < len(skin["joints"]) or values.shape[1] != 16:
                raise Unfit("bad_structure", "a skin has fewer inverse bind matrices than joints")


def instance_count(document: Document, node: Json) -> int:
    """How many copies of its mesh a node shows (EXT_mesh_gpu_instancing)."""
    extension = node.get("extensions", {}).get("EXT_mesh_gpu_instancing")
    if extension is None:
        return 1
    return max(
        (gltf.whole(document.at("accessors", index)["count"]) for index in extension["attributes"].values()), default=1
    )


def check_mesh(document: Document, number: int) -> tuple[int, int]:
    """Check all primitives of a mesh: (triangles, primitives of points or lines)."""
    triangles = other = 0
    for place, primitive in enumerate(document.at("meshes", number).get("primitives", [])):
        what = f"meshes[{number}].primitives[{place}]"
        if primitive.get("mode", 4) not in TRIANGLE_MODES:
            other += 1
            continue
        triangles += check_primitive(document, primitive, what)
    return triangles, other


def check_primitive(document: Document, primitive: Json, what: str) -> int:
    """Bounds of all attributes, finite positions, indices in range; the number of triangles."""
    attributes = primitive["attributes"]
    if "POSITION" not in attributes:
        raise Unfit("bad_structure", f"{what} has no POSITION")
    if "material" in primitive:
        document.at("materials", primitive["material"])
    draco = primitive.get("extensions", {}).get("KHR_draco_mesh_compression")
    if draco is not None:
        document.view(draco["bufferView"])
        return corner_triangles(primitive, gltf.whole(document.at("accessors", primitive["indices"])["count"]))
    count = 0
    for name, index in attributes.items():
        values = document.accessor(index)
        if name == "POSITION":
            count = len(values)
        if name in ATTRIBUTE_WIDTHS and values.shape[1] != ATTRIBUTE_WIDTHS[name]:
            raise Unfit("bad_structure", f"{what}.{name} has {values.shape[1]} components")
        if name == "POSITION" and not np.isfinite(values).all():
            raise Unfit("bad_numbers", f"{what} has positions that are not finite")
    if any(gltf.whole(document.at("accessors", index)["count"]) != count for index in attributes.values()):
        raise Unfit("bad_structure", f"{what} has attributes of different lengths")
    for target in primitive.get("targets", []):
        if any(len(document.accessor(index)) != count for index in target.values()):
            raise Unfit("bad_structure", f"{what} has a morph target of another length")
    if "indices" not in primitive:
        return corner_triangles(primitive, count)
    indices = document.accessor(primitive["indices"])
    if indices.dtype.kind != "u" or indices.shape[1] != 1:
        raise Unfit("bad_structure", f"{what} has indices that are no unsigned integers")
    if int(indices.max()) >= count:
        raise Unfit("bad_index", f"{what} refers to vertex {int(indices.max())} of {count}")
    return corner_triangles(primitive, len(indices))


def corner_triangles(primitive: Json, corners: int) -> int:
    """Triangles that so many corners make in the primitive's mode."""
    return corners // 3 if primitive.get("mode", 4) == 4 else max(corners - 2, 0)


def check_image(data: bytes, what: str) -> None:
    """Raises Unfit where Blender would show magenta."""
    kind = gltf.image_format(data)
    if kind in ("ktx2", "ktx", "dds"):
        raise Unfit("unsupported_texture", f"{what} is {kind.upper()}")
    if not kind:
        raise Unfit("missing_texture", f"{what} is no PNG, JPEG or WebP: {gltf.describe(data)}")
    if kind == "png":
        if len(data) < 24 or data[12:16] != b"IHDR":
            raise Unfit("missing_texture", f"{what} is a damaged PNG")
        width, height = struct.unpack_from(">II", data, 16)
        if max(width, height) > MAX_IMAGE_SIDE_PX or width * height > MAX_IMAGE_SIDE_PX**2 // 2:
            raise Unfit("too_heavy", f"{what} has {width} x {height} pixels")


def _malformed(error: Exception) -> Unfit:
    """A document whose values are not of the types that glTF says, wherever that was noticed."""
    return Unfit("bad_structure", f"{type(error).__name__}: {error}"[:200])
