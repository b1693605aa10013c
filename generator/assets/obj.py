"""A Wavefront OBJ file with its materials, read without trusting it, and rewritten to name only its own files."""

from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath

import numpy as np

from generator.assets.gltf import describe, image_format, read_inside
from generator.assets.reasons import Unfit

# Map options and how many values follow them; the file name is what remains.
MAP_OPTIONS = {
    "-blendu": 1, "-blendv": 1, "-boost": 1, "-mm": 2, "-o": 3, "-s": 3, "-t": 3, "-texres": 1, "-clamp": 1, "-bm": 1,
    "-imfchan": 1, "-type": 1,
}  # fmt: skip
KEPT_MAPS = ("map_kd", "map_d")
KEPT_VALUES = ("newmtl", "kd", "ks", "ke", "ns", "d", "tr", "illum", "pr", "pm")
SUFFIXES = {"png": ".png", "jpeg": ".jpg", "webp": ".webp"}


@dataclass
class Wavefront:
    """Lines of the OBJ and of its material libraries, and the files that were read, by the name used for them."""

    lines: list[bytes]
    materials: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    textures: dict[str, str] = field(default_factory=dict)


def read(path: Path, data: bytes) -> Wavefront:
    """Read the file and all that it refers to. Raises Unfit."""
    lines = data.splitlines()
    if b"\0" in data[:4096] or not any(line.startswith((b"v ", b"v\t")) for line in lines):
        raise Unfit("not_a_model", describe(data))
    document = Wavefront([line for line in lines if not line.lstrip().startswith((b"mtllib", b"call", b"csh"))], [])
    for line in lines:
        if line.lstrip().startswith(b"mtllib"):
            name = line.split(None, 1)[1].decode("utf-8", "replace").strip() if len(line.split(None, 1)) > 1 else ""
            _read_library(document, path.parent, name)
    return document


def check(document: Wavefront, max_triangles: int) -> None:
    """Finite vertices and at least one face. Raises Unfit."""
    triangles = sum(max(len(line.split()) - 3, 0) for line in document.lines if line.lstrip()[:2] in (b"f ", b"f\t"))
    if triangles == 0:
        raise Unfit("no_geometry", "no faces")
    if triangles > max_triangles:
        raise Unfit("too_heavy", f"{triangles} triangles, at most {max_triangles} are decimated")
    try:
        rows = [line.split()[1:4] for line in document.lines if line.lstrip()[:2] in (b"v ", b"v\t")]
        vertices = np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise Unfit("bad_structure", f"a vertex that is not three numbers: {error}"[:200]) from None
    if not np.isfinite(vertices.astype(np.float32)).all():
        raise Unfit("bad_numbers", "vertex positions that are not finite")


def pack(document: Wavefront) -> tuple[tuple[str, bytes], ...]:
    """The files that Blender gets: model.obj, model.mtl and the textures under neutral names."""
    content = b"mtllib model.mtl\n" + b"\n".join(document.lines) + b"\n"
    textures = tuple((neutral, document.files[name]) for name, neutral in document.textures.items())
    return (("model.obj", content), ("model.mtl", "\n".join(document.materials).encode() + b"\n"), *textures)


def _read_library(document: Wavefront, folder: Path, name: str) -> None:
    library = _inside(folder, name)
    document.files[name] = library
    base = (folder / _portable(name)).parent
    for raw in library.decode("utf-8", "replace").splitlines():
        words = raw.split()
        if not words:
            continue
        key = words[0].lower()
        if key in KEPT_VALUES:
            document.materials.append(" ".join(words))
        elif key in KEPT_MAPS:
            document.materials.append(f"{words[0]} {_texture(document, folder, base, words[1:])}")


def _texture(document: Wavefront, folder: Path, base: Path, words: list[str]) -> str:
    """Read a texture; the neutral name under which Blender finds it."""
    while words and words[0].lower() in MAP_OPTIONS:
        words = words[1 + MAP_OPTIONS[words[0].lower()] :]
    name = " ".join(words)
    if not name:
        raise Unfit("missing_texture", "a texture without a file name")
    if name not in document.textures:
        try:
            content = _inside(folder, name, base)
        except Unfit as problem:
            raise Unfit("missing_texture", problem.detail) if problem.reason == "missing_file" else problem from None
        kind = image_format(content)
        if kind not in SUFFIXES:
            raise Unfit("missing_texture", f"{name!r} is no PNG, JPEG or WebP: {describe(content)}")
        document.files[name] = content
        document.textures[name] = f"texture_{len(document.textures)}{SUFFIXES[kind]}"
    return document.textures[name]


def _inside(folder: Path, name: str, base: Path | None = None) -> bytes:
    """A file named in the OBJ (relative to `folder`) or in a library (relative to its directory `base`)."""
    if "://" in name:
        raise Unfit("remote_resource", f"refers to {name[:120]}")
    return read_inside(folder, str((base or folder).resolve() / _portable(name)))


def _portable(name: str) -> str:
    """OBJ files are written on Windows as often as not."""
    path = PureWindowsPath(name)
    if path.drive:
        raise Unfit("outside_folder", f"refers to {name[:120]}")
    return path.as_posix() if "\\" in name else name
