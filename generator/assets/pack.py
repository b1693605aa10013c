"""A checked glTF document as one self-contained GLB that holds what a prepared model needs and nothing else.

Left out: animations, cameras, lights, other scenes, normal and occlusion maps, extensions that do not change shape or
base colour. Importing gets faster and safer: the result refers to no file and no address.
"""

import copy
import json
import struct
from typing import Any

from generator.assets.gltf import Document, Json, image_format, whole
from generator.assets.reasons import Unfit

MESH_EXTENSIONS = frozenset({"KHR_draco_mesh_compression"})
NODE_EXTENSIONS = frozenset({"EXT_mesh_gpu_instancing"})
TEXTURE_INFO_EXTENSIONS = frozenset({"KHR_texture_transform"})
MATERIAL_EXTENSIONS = frozenset(
    {"KHR_materials_unlit", "KHR_materials_pbrSpecularGlossiness", "KHR_materials_emissive_strength"}
)
DROPPED = frozenset({"KHR_lights_punctual", "KHR_materials_variants", "KHR_texture_basisu", "KHR_animation_pointer"})
SPEC_GLOSS = "KHR_materials_pbrSpecularGlossiness"
MIME_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}


def base_images(document: Document) -> list[int]:
    """Indices of the images that give the file's materials their base colour. Raises Unfit where one has no image."""
    infos = [info for material in document.json.get("materials", []) for info in _base_infos(material)]
    return sorted({texture_image(document, info["index"]) for info in infos})


def load_images(document: Document) -> None:
    """Read the files of all images in use; only those of base colours have to exist."""
    for image in base_images(document):
        document.image(image)
    for material in document.json.get("materials", []):
        for holder, key in _optional_infos(material):
            _image_or_none(document, holder[key])


def texture_image(document: Document, index: Any) -> int:
    """The image of a texture, the one that can be decoded where there is a choice. Raises Unfit without one."""
    texture = document.at("textures", index)
    if "source" in texture:
        return whole(texture["source"])
    extensions = texture.get("extensions", {})
    if "EXT_texture_webp" in extensions:
        return whole(extensions["EXT_texture_webp"]["source"])
    if extensions:
        raise Unfit("unsupported_texture", f"textures[{index}] only exists as {', '.join(sorted(extensions))}")
    raise Unfit("missing_texture", f"textures[{index}] has no image")


def to_glb(document: Document, roots: list[int], nodes: list[int]) -> bytes:
    """The GLB of the nodes of one scene. `nodes`: all that the scene reaches."""
    source = document.json
    binary = bytearray()
    used = _used_views(document, nodes)
    views = [_move_view(document, index, index in used, binary) for index in range(len(source.get("bufferViews", [])))]
    packed: Json = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": roots}]}
    shown = set(nodes)
    packed["nodes"] = [_node(node, index in shown) for index, node in enumerate(source["nodes"])]
    packed["meshes"] = [_mesh(mesh) for mesh in source["meshes"]]
    packed["accessors"] = source.get("accessors", [])
    packed["skins"] = [_without(skin, "extensions", "extras") for skin in source.get("skins", [])]
    packed["samplers"] = source.get("samplers", [])
    packed["materials"] = [_material(document, material) for material in source.get("materials", [])]
    images: dict[int, int] = {}
    packed["textures"] = [_texture(document, index, images) for index in range(len(source.get("textures", [])))]
    packed["images"] = [_image(document, index, views, binary) for index in images]
    packed["bufferViews"] = views
    packed["buffers"] = [{"byteLength": len(binary)}]
    required = [name for name in source.get("extensionsRequired", []) if name not in DROPPED]
    known = {name for name in source.get("extensionsUsed", []) if name not in DROPPED}
    packed |= {"extensionsUsed": sorted({*known, *required}), "extensionsRequired": required}
    return _glb({key: value for key, value in packed.items() if value != []}, bytes(binary))


def _used_views(document: Document, nodes: list[int]) -> set[int]:
    """The bufferViews that shown meshes and their skins read."""
    accessors: set[int] = set()
    views: set[int] = set()
    for index in nodes:
        node = document.at("nodes", index)
        if "mesh" in node:
            for primitive in document.at("meshes", node["mesh"])["primitives"]:
                for attributes in (primitive["attributes"], *primitive.get("targets", [])):
                    accessors.update(attributes.values())
                if "indices" in primitive:
                    accessors.add(primitive["indices"])
                if (draco := primitive.get("extensions", {}).get("KHR_draco_mesh_compression")) is not None:
                    views.add(draco["bufferView"])
        if "skin" in node and "inverseBindMatrices" in (skin := document.at("skins", node["skin"])):
            accessors.add(skin["inverseBindMatrices"])
        instancing = node.get("extensions", {}).get("EXT_mesh_gpu_instancing", {})
        accessors.update(instancing.get("attributes", {}).values())
    for number in accessors:
        accessor = document.at("accessors", number)
        sparse = accessor.get("sparse", {"indices": {}, "values": {}})
        views.update(
            part["bufferView"] for part in (accessor, sparse["indices"], sparse["values"]) if "bufferView" in part
        )
    return views


def _move_view(document: Document, index: int, used: bool, binary: bytearray) -> Json:
    """Copy one bufferView into the common buffer, aligned for any component type; one byte stands for an unused one."""
    content = document.view(index) if used else memoryview(b"\0")
    binary.extend(b"\0" * (-len(binary) % 8))
    moved: Json = {"buffer": 0, "byteOffset": len(binary), "byteLength": len(content)}
    stride = document.at("bufferViews", index).get("byteStride")
    binary.extend(content)
    return moved if stride is None else moved | {"byteStride": stride}


def _node(node: Json, shown: bool) -> Json:
    kept = _without(node, "camera", "extras", "extensions", *(() if shown else ("mesh", "skin")))
    return kept | _extensions(node, NODE_EXTENSIONS)


def _mesh(mesh: Json) -> Json:
    primitives = [
        _without(primitive, "extras", "extensions") | _extensions(primitive, MESH_EXTENSIONS)
        for primitive in mesh["primitives"]
        if primitive.get("mode", 4) in (4, 5, 6)
    ]
    # A mesh of nothing but lines stays in its place, because nodes refer to meshes by number.
    return _without(mesh, "extras", "extensions") | {"primitives": primitives or mesh["primitives"]}


def _material(document: Document, material: Json) -> Json:
    kept = copy.deepcopy(_without(material, "normalTexture", "occlusionTexture", "extras", "extensions"))
    kept |= copy.deepcopy(_extensions(material, MATERIAL_EXTENSIONS))
    for holder, key in _optional_infos(kept):
        if _image_or_none(document, holder[key]) is None:
            del holder[key]
    for info in [*_base_infos(kept), *(holder[key] for holder, key in _optional_infos(kept))]:
        info.pop("extras", None)
        extensions = _extensions(info, TEXTURE_INFO_EXTENSIONS)
        info.pop("extensions", None)
        info.update(extensions)
    return kept


def _base_infos(material: Json) -> list[Json]:
    """Texture references that give a material its base colour."""
    extension = material.get("extensions", {}).get(SPEC_GLOSS)
    holder, key = (
        (extension, "diffuseTexture")
        if extension is not None
        else (material.get("pbrMetallicRoughness", {}), "baseColorTexture")
    )
    return [holder[key]] if key in holder else []


def _optional_infos(material: Json) -> list[tuple[Json, str]]:
    """Where a material refers to textures that it can do without: (object that holds the reference, key)."""
    holders = [
        (material, "emissiveTexture"),
        (material.get("pbrMetallicRoughness", {}), "metallicRoughnessTexture"),
        (material.get("extensions", {}).get(SPEC_GLOSS, {}), "specularGlossinessTexture"),
    ]
    if SPEC_GLOSS in material.get("extensions", {}):
        holders.append((material.get("pbrMetallicRoughness", {}), "baseColorTexture"))
    return [(holder, key) for holder, key in holders if key in holder]


def _image_or_none(document: Document, info: Json) -> bytes | None:
    try:
        content = document.image(texture_image(document, info["index"]))
    except Unfit:
        return None
    return content if image_format(content) in MIME_TYPES else None


def _texture(document: Document, index: int, images: dict[int, int]) -> Json:
    """A texture with its one image, entered into `images` (old number -> new number) where it can be decoded."""
    texture = document.at("textures", index)
    kept: Json = {"sampler": texture["sampler"]} if "sampler" in texture else {}
    try:
        number = texture_image(document, index)
        usable = image_format(document.image(number)) in MIME_TYPES
    except Unfit:
        usable = False  # No base colour uses it, or the file would have been refused.
    if usable:
        kept["source"] = images.setdefault(number, len(images))
    return kept


def _image(document: Document, index: int, views: list[Json], binary: bytearray) -> Json:
    content = document.image(index)
    binary.extend(b"\0" * (-len(binary) % 8))
    views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(content)})
    binary.extend(content)
    return {"bufferView": len(views) - 1, "mimeType": MIME_TYPES[image_format(content)]}


def _extensions(entry: Json, kept: frozenset[str]) -> Json:
    extensions = {name: value for name, value in entry.get("extensions", {}).items() if name in kept}
    return {"extensions": extensions} if extensions else {}


def _without(entry: Json, *keys: str) -> Json:
    return {key: value for key, value in entry.items() if key not in keys}


def _glb(packed: Json, binary: bytes) -> bytes:
    text = json.dumps(packed, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    length = 12 + 8 + len(text) + 8 + len(binary)
    head = struct.pack("<4sII", b"glTF", 2, length)
    return b"".join(
        [head, struct.pack("<I4s", len(text), b"JSON"), text, struct.pack("<I4s", len(binary), b"BIN\0"), binary]
    )
