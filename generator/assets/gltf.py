"""A glTF 2.0 file and all that it refers to, read into memory without trusting a byte of it.

Nothing outside the file's own folder is opened, nothing is fetched, and every fault is an `Unfit` with its reason.
"""

import base64
import binascii
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from generator.assets.reasons import Unfit

Json = dict[str, Any]

# What Blender's importer decodes and the prepared model keeps or may leave out.
SUPPORTED_EXTENSIONS = frozenset(
    {
        "KHR_draco_mesh_compression",
        "KHR_mesh_quantization",
        "KHR_texture_transform",
        "KHR_lights_punctual",
        "KHR_materials_anisotropy",
        "KHR_materials_clearcoat",
        "KHR_materials_emissive_strength",
        "KHR_materials_ior",
        "KHR_materials_pbrSpecularGlossiness",
        "KHR_materials_sheen",
        "KHR_materials_specular",
        "KHR_materials_transmission",
        "KHR_materials_unlit",
        "KHR_materials_variants",
        "KHR_materials_volume",
        "EXT_mesh_gpu_instancing",
        "EXT_texture_webp",
    }
)
MAX_FILE_BYTES = 1 << 30
COMPONENTS: dict[int, Any] = {
    5120: np.int8,
    5121: np.uint8,
    5122: np.int16,
    5123: np.uint16,
    5125: np.uint32,
    5126: np.float32,
}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
IMAGE_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"RIFF": "webp",
    b"\xabKTX 20\xbb": "ktx2",
    b"\xabKTX 11\xbb": "ktx",
    b"DDS ": "dds",
}


@dataclass
class Document:
    """A parsed file: its JSON, the bytes of each buffer, and the external files that were read, by their URI."""

    json: Json
    buffers: list[bytes]
    folder: Path
    files: dict[str, bytes] = field(default_factory=dict)

    def at(self, kind: str, index: Any) -> Json:
        """Entry `index` of one of the top-level arrays. Raises Unfit where there is none."""
        entries = self.json.get(kind, [])
        if not isinstance(entries, list) or type(index) is not int or not 0 <= index < len(entries):
            raise Unfit("bad_structure", f"{kind}[{index!r}] does not exist")
        entry = entries[index]
        if not isinstance(entry, dict):
            raise Unfit("bad_structure", f"{kind}[{index}] is not an object")
        return entry

    def view(self, index: Any) -> memoryview:
        """The bytes of a bufferView."""
        view = self.at("bufferViews", index)
        start, length = whole(view.get("byteOffset", 0)), whole(view.get("byteLength"))
        number = whole(view.get("buffer"))
        if number >= len(self.buffers):
            raise Unfit("bad_structure", f"buffers[{number}] does not exist")
        if start + length > len(self.buffers[number]):
            raise Unfit("bad_structure", f"bufferViews[{index}] ends beyond its buffer")
        return memoryview(self.buffers[number])[start : start + length]

    def accessor(self, index: Any) -> NDArray[Any]:
        """Values (count, width) of an accessor, sparse values applied."""
        entry = self.at("accessors", index)
        count, width = whole(entry.get("count")), WIDTHS.get(str(entry.get("type")), 0)
        dtype = COMPONENTS.get(entry["componentType"]) if isinstance(entry.get("componentType"), int) else None
        if dtype is None or not width or not count:
            raise Unfit("bad_structure", f"accessors[{index}] has no valid type or count")
        if count * width * np.dtype(dtype).itemsize > MAX_FILE_BYTES:
            raise Unfit("too_heavy", f"accessors[{index}] has {count} elements")
        if "bufferView" in entry:
            stride = self.at("bufferViews", entry["bufferView"]).get("byteStride")
            data = self.view(entry["bufferView"])
            values = _strided(
                data, whole(entry.get("byteOffset", 0)), count, width, dtype, stride, f"accessors[{index}]"
            )
        else:
            values = np.zeros((count, width), dtype)
        if "sparse" in entry:
            values = self._sparse(entry["sparse"], values, f"accessors[{index}]")
        return values

    def _sparse(self, sparse: Any, values: NDArray[Any], what: str) -> NDArray[Any]:
        indices, replaced = sparse["indices"], sparse["values"]
        count = whole(sparse["count"])
        kind = COMPONENTS[indices["componentType"]]
        at = _strided(self.view(indices["bufferView"]), whole(indices.get("byteOffset", 0)), count, 1, kind, None, what)
        new = _strided(
            self.view(replaced["bufferView"]),
            whole(replaced.get("byteOffset", 0)),
            count,
            values.shape[1],
            values.dtype.type,
            None,
            what,
        )
        if count and int(at.max()) >= len(values):
            raise Unfit("bad_index", f"{what}: a sparse index beyond its end")
        values = values.copy()
        values[at[:, 0].astype(np.int64)] = new
        return values

    def image(self, index: Any) -> bytes:
        """The encoded bytes of an image."""
        entry = self.at("images", index)
        if "bufferView" in entry:
            return bytes(self.view(entry["bufferView"]))
        if not isinstance(entry.get("uri"), str):
            raise Unfit("missing_texture", f"images[{index}] has neither data nor a file")
        try:
            return self.resolve(entry["uri"])
        except Unfit as problem:
            if problem.reason == "missing_file":
                raise Unfit("missing_texture", problem.detail) from None
            raise

    def resolve(self, uri: str) -> bytes:
        """The bytes behind a URI: data in the URI itself, or a file in the asset's own folder."""
        if uri[:5].lower() == "data:":
            head, _, payload = uri.partition(",")
            try:
                if not head.endswith(";base64"):
                    return unquote(payload).encode("latin-1")
                return base64.b64decode("".join(payload.split()), validate=True)
            except (binascii.Error, UnicodeError):
                raise Unfit("bad_structure", "a data URI that does not decode") from None
        scheme = urlsplit(uri).scheme
        if scheme in ("http", "https", "ftp") or uri.startswith("//"):
            raise Unfit("remote_resource", f"refers to {uri[:120]}")
        if scheme:
            raise Unfit("outside_folder", f"refers to {uri[:120]}")
        if uri not in self.files:
            self.files[uri] = read_inside(self.folder, unquote(uri))
        return self.files[uri]


def whole(value: Any) -> int:
    """A non-negative integer from JSON (3.0 is one). Raises Unfit."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise Unfit("bad_structure", f"{value!r} where a length or index belongs")
    return int(value)


def read_inside(folder: Path, name: str) -> bytes:
    """A file that an asset refers to, only if it lies in `folder` after symbolic links are followed."""
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve())
        exists = inside and path.is_file()
    except (OSError, ValueError, RuntimeError):
        raise Unfit("missing_file", f"refers to a file of impossible name {name[:120]!r}") from None
    if not inside:
        raise Unfit("outside_folder", f"refers to {name[:120]!r} outside its own folder")
    if not exists:
        raise Unfit("missing_file", f"refers to {name[:120]!r}, which does not exist")
    return read_bytes(path)


def read_bytes(path: Path) -> bytes:
    """A whole file of bounded size."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Unfit("too_heavy", f"{path.name} has {path.stat().st_size >> 20} MB")
        return path.read_bytes()
    except OSError as error:
        raise Unfit("missing_file", f"cannot read {path.name}: {error.strerror}") from None


def read(path: Path, data: bytes) -> Document:
    """Parse the content `data` of the file `path` and load its buffers."""
    if data[:4] == b"glTF":
        text, binary = split_glb(data)
    else:
        text, binary = data, b""
        if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
            raise Unfit("not_a_model", describe(data))
    document = Document(_parse(text), [], path.parent)
    _check_head(document.json)
    for index, entry in enumerate(_entries(document.json, "buffers")):
        document.buffers.append(_buffer(document, index, entry, binary))
    return document


def describe(data: bytes) -> str:
    """What content that should have been a model looks like."""
    head = data[:512].lstrip().lower()
    if head.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer; run `git lfs pull` where it came from"
    if head.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "a web page, saved instead of the file"
    return f"it starts with {data[:8]!r}"


def split_glb(data: bytes) -> tuple[bytes, bytes]:
    """JSON and binary chunk of a GLB."""
    if len(data) < 12:
        raise Unfit("truncated", f"a GLB header needs 12 bytes, there are {len(data)}")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise Unfit("unsupported_version", f"GLB version {version}")
    if length != len(data):
        raise Unfit("truncated", f"the header says {length} bytes, there are {len(data)}")
    chunks: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<I4s", data, at)
        if at + 8 + size > length:
            raise Unfit("truncated", f"a chunk of {size} bytes ends beyond the file")
        chunks.setdefault(kind, data[at + 8 : at + 8 + size])
        at += 8 + size
    if b"JSON" not in chunks:
        raise Unfit("bad_structure", "no JSON chunk")
    return chunks[b"JSON"], chunks.get(b"BIN\0", b"")


def image_format(data: bytes) -> str:
    """Format of an encoded image by its first bytes, "" if unknown."""
    return next((name for magic, name in IMAGE_MAGIC.items() if data.startswith(magic)), "")


def _parse(text: bytes) -> Json:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    try:
        parsed = json.loads(text.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Unfit("bad_json", str(error)[:200] or type(error).__name__) from None
    if not isinstance(parsed, dict):
        raise Unfit("bad_json", "the JSON is not an object")
    return parsed


def _check_head(parsed: Json) -> None:
    asset = parsed.get("asset")
    version = asset.get("version") if isinstance(asset, dict) else None
    if version != "2.0":
        raise Unfit("unsupported_version", f"asset.version is {version!r}")
    for extension in _names(parsed, "extensionsRequired"):
        if extension not in SUPPORTED_EXTENSIONS:
            reason = "unsupported_texture" if "texture" in extension else "unsupported_extension"
            raise Unfit(reason, f"requires {extension}")


def _names(parsed: Json, key: str) -> list[str]:
    names = parsed.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Unfit("bad_structure", f"{key} is not a list of names")
    return names


def _entries(parsed: Json, key: str) -> list[Json]:
    entries = parsed.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Unfit("bad_structure", f"{key} is not a list of objects")
    return entries


def _buffer(document: Document, index: int, entry: Json, binary: bytes) -> bytes:
    length = whole(entry.get("byteLength"))
    if isinstance(entry.get("uri"), str):
        data = document.resolve(entry["uri"])
    elif index == 0:
        data = binary
    else:
        data = b""  # A fallback buffer of a compression extension; whoever needs its bytes fails on the bounds.
    if len(data) < length and (data or index == 0):
        raise Unfit("truncated", f"buffers[{index}] has {len(data)} of {length} bytes")
    return data[:length]


def _strided(data: memoryview, offset: int, count: int, width: int, dtype: Any, stride: Any, what: str) -> NDArray[Any]:
    """(count, width) values; columns of byte and short matrices are taken as packed, which only skins could notice."""
    size = width * np.dtype(dtype).itemsize
    step = size if stride is None else whole(stride)
    if count == 0:
        return np.zeros((0, width), dtype)
    if step < size or offset + (count - 1) * step + size > len(data):
        raise Unfit("bad_structure", f"{what} ends beyond its data")
    raw: NDArray[np.uint8] = np.ndarray((count, size), np.uint8, buffer=data, offset=offset, strides=(step, 1))
    values: NDArray[Any] = np.ascontiguousarray(raw).view(dtype).reshape(count, width)
    return values
