"""The first look: every kind of broken file that the wild holds, made in code, refused by name and without Blender."""

import base64
import copy
import csv
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.assets import gltf, vet
from generator.assets.reasons import Unfit
from tests.glb import CORNERS, QUADS, Glb, container, mesh, png, textured

WHITE = png(np.full((2, 2, 4), 255, np.uint8))


def look(path: Path) -> vet.Parcel:
    return vet.first_look(vet.read(path))


def look_at(folder: Path, data: bytes, name: str = "a.glb") -> vet.Parcel:
    (folder / name).write_bytes(data)
    return look(folder / name)


def packed(parcel: vet.Parcel) -> dict[str, Any]:
    """The JSON of the GLB that Blender is given."""
    parsed: dict[str, Any] = json.loads(gltf.split_glb(parcel.files[0][1])[0])
    return parsed


def changed(change: Callable[[dict[str, Any]], object], glb: Glb | None = None) -> bytes:
    glb = glb or mesh()
    change(glb.json)
    return glb.data()


def separate(glb: Glb, uri: str) -> bytes:
    """The document as .gltf text whose buffer is `uri`."""
    parsed = {**glb.json, "buffers": [{"byteLength": len(glb.binary), "uri": uri}]}
    return json.dumps(parsed).encode()


def bad_position(value: float) -> bytes:
    corners = CORNERS.copy()
    corners[3, 1] = value
    return mesh(positions=corners).data()


def sparse(index: int) -> bytes:
    glb = mesh()
    at = glb.view(np.array([index], np.uint16).tobytes())
    moved = glb.view(np.array([[9, 9, 9]], np.float32).tobytes())
    glb.json["accessors"][0]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": at, "componentType": 5123},
        "values": {"bufferView": moved},
    }
    return glb.data()


CUBE = mesh().data()
BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty_file"),
    "truncated": (CUBE[: len(CUBE) * 6 // 10], "truncated"),
    "longer than its header": (CUBE + b"\0\0\0\0", "truncated"),
    "header alone": (CUBE[:8], "truncated"),
    "chunk too big": (CUBE[:12] + struct.pack("<I", 1 << 30) + CUBE[16:], "truncated"),
    "web page": (b"<!DOCTYPE html><html>404</html>", "not_a_model"),
    "git lfs pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "not_a_model"),
    "something else": (b"PK\x03\x04 a zip file", "not_a_model"),
    "glb version 1": (b"glTF" + struct.pack("<I", 1) + CUBE[8:], "unsupported_version"),
    "gltf version 1": (changed(lambda j: j["asset"].update(version="1.0")), "unsupported_version"),
    "no asset": (changed(lambda j: j.pop("asset")), "unsupported_version"),
    "json cut": (container(b'{"asset": {"version": "2.0"}, "nodes": [', b""), "bad_json"),
    "json with NaN": (container(b'{"asset": {"version": "2.0"}, "a": NaN}', b""), "bad_json"),
    "json not text": (container(b"{\xff\xfe\x00", b""), "bad_json"),
    "json nested without end": (container(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b""), "bad_json"),
    "json a list": (container(b"[]", b""), "bad_json"),
    "no json chunk": (struct.pack("<4sII", b"glTF", 2, 12), "bad_structure"),
    "unknown extension": (changed(lambda j: j.update(extensionsRequired=["VENDOR_secret"])), "unsupported_extension"),
    "meshopt": (changed(lambda j: j.update(extensionsRequired=["EXT_meshopt_compression"])), "unsupported_extension"),
    "ktx2 alone": (changed(lambda j: j.update(extensionsRequired=["KHR_texture_basisu"])), "unsupported_texture"),
    "ktx2 in disguise": (textured(b"\xabKTX 20\xbb\r\n\x1a\n").data(), "unsupported_texture"),
    "no image source": (changed(lambda j: j.update(textures=[{}]), textured(WHITE)), "missing_texture"),
    "corrupt png": (textured(b"\x89PNG\r\n\x1a\n" + b"garbage" * 9).data(), "missing_texture"),
    "text as an image": (textured(b"not an image").data(), "missing_texture"),
    "enormous png": (textured(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 60000, 60000)).data(), "too_heavy"),
    "no scene nodes": (changed(lambda j: j.update(scenes=[{"nodes": []}])), "no_geometry"),
    "mesh in another scene": (changed(lambda j: j.update(scenes=[{}, {"nodes": [0]}])), "no_geometry"),
    "nodes without mesh": (changed(lambda j: j.update(nodes=[{}])), "no_geometry"),
    "points": (mesh(indices=None, mode=0).data(), "no_geometry"),
    "lines": (mesh(mode=1).data(), "no_geometry"),
    "index out of range": (mesh(indices=np.array([0, 1, 9999], np.uint16)).data(), "bad_index"),
    "signed indices": (changed(lambda j: j["accessors"][1].update(componentType=5122)), "bad_structure"),
    "NaN": (bad_position(float("nan")), "bad_numbers"),
    "infinity": (bad_position(float("inf")), "bad_numbers"),
    "infinite scale": (mesh(node={"scale": [1e300, 1, 1]}).data(), "bad_numbers"),
    "short matrix": (mesh(node={"matrix": [1, 0, 0]}).data(), "bad_structure"),
    "node its own child": (mesh(node={"children": [0]}).data(), "node_loop"),
    "node with two parents": (
        changed(lambda j: j.update(nodes=[{"children": [1, 2]}, {"children": [2]}, {"mesh": 0}])),
        "node_loop",
    ),
    "node that is not there": (changed(lambda j: j.update(scenes=[{"nodes": [7]}])), "bad_structure"),
    "negative node": (changed(lambda j: j.update(scenes=[{"nodes": [-1]}])), "bad_structure"),
    "mesh that is not there": (mesh(node={"mesh": 3}).data(), "bad_structure"),
    "view beyond the buffer": (changed(lambda j: j["bufferViews"][0].update(byteLength=1 << 20)), "bad_structure"),
    "accessor beyond its view": (changed(lambda j: j["accessors"][0].update(count=1 << 16)), "bad_structure"),
    "accessor beyond all memory": (
        changed(lambda j: j["accessors"].__setitem__(0, {"componentType": 5126, "count": 1 << 50, "type": "VEC3"})),
        "too_heavy",
    ),
    "overlapping stride": (changed(lambda j: j["bufferViews"][0].update(byteStride=4)), "bad_structure"),
    "attributes of different lengths": (
        changed(lambda j: j["meshes"][0]["primitives"][0]["attributes"].update(NORMAL=1)),
        "bad_structure",
    ),
    "material that is not there": (
        changed(lambda j: j["meshes"][0]["primitives"][0].update(material=5)),
        "bad_structure",
    ),
    "words for numbers": (changed(lambda j: j["accessors"][0].update(count="many")), "bad_structure"),
    "lists for objects": (changed(lambda j: j.update(meshes=[[]])), "bad_structure"),
    "buffers a word": (changed(lambda j: j.update(buffers="none")), "bad_structure"),
    "sparse index out of range": (sparse(24), "bad_index"),
    "too many objects": (
        changed(lambda j: j.update(nodes=[{"mesh": 0}] * 1001, scenes=[{"nodes": list(range(1001))}])),
        "too_many_objects",
    ),
    "a thousand instances": (
        changed(
            lambda j: j["nodes"][0].update(
                extensions={"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": len(j["accessors"]) - 1}}}
            ),
            (lambda glb: (glb.accessor(np.zeros((1200, 3), np.float32)), glb)[1])(mesh()),
        ),
        "too_many_objects",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    data, reason = BROKEN[kind]
    with pytest.raises(Unfit) as caught:
        look_at(tmp_path, data)
    assert caught.value.reason == reason
    assert caught.value.detail
    assert "\n" not in caught.value.detail


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("missing_dir/geometry.bin", "missing_file"),
        ("../outside.bin", "outside_folder"),
        ("%2e%2e/outside.bin", "outside_folder"),
        ("sub/../../outside.bin", "outside_folder"),
        ("link.bin", "outside_folder"),
        ("/etc/passwd", "outside_folder"),
        ("file:///etc/passwd", "outside_folder"),
        ("c:/windows/system.ini", "outside_folder"),
        ("http://127.0.0.1:9/geometry.bin", "remote_resource"),
        ("//127.0.0.1/share/geometry.bin", "remote_resource"),
        ("bad\0name.bin", "missing_file"),
        ("x" * 5000, "missing_file"),
        ("data:application/octet-stream;base64,@@@", "bad_structure"),
        ("short.bin", "truncated"),
    ],
)
def test_no_way_out_of_the_folder(uri: str, reason: str, tmp_path: Path) -> None:
    glb = mesh()
    (tmp_path / "outside.bin").write_bytes(glb.binary)
    folder = tmp_path / "asset"
    folder.mkdir()
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    (folder / "short.bin").write_bytes(glb.binary[:-40])
    with pytest.raises(Unfit) as caught:
        look_at(folder, separate(glb, uri), "a.gltf")
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("/etc/hostname", "outside_folder"),
        ("https://example.invalid/t.png", "remote_resource"),
        ("no.png", "missing_texture"),
    ],
)
def test_images_too_stay_inside(uri: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(Unfit) as caught:
        look_at(tmp_path, changed(lambda j: j.update(images=[{"uri": uri}]), textured(WHITE)))
    assert caught.value.reason == reason


def test_separate_files_are_packed(tmp_path: Path) -> None:
    glb = textured(WHITE)
    glb.json["images"] = [{"uri": "sub/my%20image.png"}]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "my image.png").write_bytes(WHITE)
    (tmp_path / "geometry.bin").write_bytes(glb.binary)
    parcel = look_at(tmp_path, separate(glb, "geometry.bin"), "a.gltf")
    document = gltf.read(tmp_path / "a.glb", parcel.files[0][1])
    assert document.image(0) == WHITE
    assert "uri" not in json.dumps(document.json)
    np.testing.assert_array_equal(document.accessor(0), CORNERS)
    (tmp_path / "sub" / "my image.png").write_bytes(png(np.zeros((2, 2, 4), np.uint8)))
    assert look(tmp_path / "a.gltf").sha256 != parcel.sha256, "the hash must cover the files referred to"


def test_embedded_buffer_is_read(tmp_path: Path) -> None:
    glb = mesh()
    uri = "data:application/octet-stream;base64," + base64.b64encode(glb.binary).decode()
    parcel = look_at(tmp_path, separate(glb, uri), "a.gltf")
    np.testing.assert_array_equal(gltf.read(tmp_path / "a.glb", parcel.files[0][1]).accessor(1)[:, 0], QUADS)


def test_hash_of_a_file_that_stands_alone_is_its_own(tmp_path: Path) -> None:
    import hashlib

    assert look_at(tmp_path, CUBE).sha256 == hashlib.sha256(CUBE).hexdigest()


def test_what_is_not_shown_is_left_out(tmp_path: Path) -> None:
    glb = textured(WHITE)
    extra = glb.accessor(np.zeros((1000, 3), np.float32))
    glb.json |= {
        "animations": [{"channels": [], "samplers": [{"input": extra, "output": extra}]}],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}],
        "extensionsUsed": ["KHR_lights_punctual"],
        "extensions": {"KHR_lights_punctual": {"lights": [{"type": "directional", "intensity": 1e5}]}},
    }
    glb.json["nodes"] += [{"camera": 0}, {"extensions": {"KHR_lights_punctual": {"light": 0}}}, {"mesh": 0}]
    glb.json["scenes"] = [{"nodes": [0, 1, 2]}, {"nodes": [3]}]
    glb.json["materials"][0]["normalTexture"] = {"index": 0}
    parcel = look_at(tmp_path, glb.data())
    kept = packed(parcel)
    assert not {"animations", "cameras", "extensions"} & set(kept)
    assert [set(node) for node in kept["nodes"]] == [{"mesh"}, set(), set(), set()]
    assert "normalTexture" not in kept["materials"][0]
    assert len(parcel.files[0][1]) < 4000, "the animation's 12 kB must be gone"


def test_an_optional_map_that_is_missing_does_no_harm(tmp_path: Path) -> None:
    glb = textured(WHITE)
    glb.json["images"].append({"uri": "lost.png"})
    glb.json["textures"].append({"source": 1})
    glb.json["materials"][0]["pbrMetallicRoughness"]["metallicRoughnessTexture"] = {"index": 1}
    assert (
        "metallicRoughnessTexture" not in packed(look_at(tmp_path, glb.data()))["materials"][0]["pbrMetallicRoughness"]
    )


def test_ktx2_with_a_fallback_uses_the_fallback(tmp_path: Path) -> None:
    glb = textured(WHITE)
    glb.json["images"].append({"uri": "better.ktx2", "mimeType": "image/ktx2"})
    glb.json["textures"] = [{"source": 0, "extensions": {"KHR_texture_basisu": {"source": 1}}}]
    glb.json["extensionsUsed"] = ["KHR_texture_basisu"]
    kept = packed(look_at(tmp_path, glb.data()))
    assert kept["textures"] == [{"source": 0}]
    assert [image["mimeType"] for image in kept["images"]] == ["image/png"]


def test_no_scenes_means_all_roots(tmp_path: Path) -> None:
    kept = packed(look_at(tmp_path, changed(lambda j: (j.pop("scenes"), j.pop("scene")))))
    assert kept["scenes"] == [{"nodes": [0]}]


def test_sparse_values_are_applied(tmp_path: Path) -> None:
    (tmp_path / "a.glb").write_bytes(sparse(5))
    values = gltf.read(tmp_path / "a.glb", sparse(5)).accessor(0)
    assert values[5].tolist() == [9, 9, 9]
    assert values[4].tolist() == CORNERS[4].tolist()


OBJ = b"mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl red\nf 1/1 2/1 3/1\n"


@pytest.mark.parametrize(
    ("obj", "mtl", "reason"),
    [
        (b"solid stl\n", None, "not_a_model"),
        (b"v 0 0 0\nv 1 0 0\nl 1 2\n", None, "no_geometry"),
        (b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", None, "bad_numbers"),
        (b"v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", None, "bad_structure"),
        (OBJ, None, "missing_file"),
        (OBJ.replace(b"m.mtl", b"..\\m.mtl"), b"newmtl red\n", "outside_folder"),
        (OBJ, b"newmtl red\nmap_Kd -s 1 1 1 lost.png\n", "missing_texture"),
        (OBJ, b"newmtl red\nmap_Kd ../../t.png\n", "outside_folder"),
        (OBJ, b"newmtl red\nmap_Kd C:\\art\\t.png\n", "outside_folder"),
        (OBJ, b"newmtl red\nmap_Kd https://example.invalid/t.png\n", "remote_resource"),
        (OBJ, b"newmtl red\nmap_Kd m.mtl\n", "missing_texture"),
    ],
)
def test_broken_obj_files(obj: bytes, mtl: bytes | None, reason: str, tmp_path: Path) -> None:
    folder = tmp_path / "asset"
    folder.mkdir()
    (tmp_path / "m.mtl").write_bytes(b"newmtl outside\n")
    if mtl is not None:
        (folder / "m.mtl").write_bytes(mtl)
    with pytest.raises(Unfit) as caught:
        look_at(folder, obj, "a.obj")
    assert caught.value.reason == reason


def test_obj_names_its_own_files_only(tmp_path: Path) -> None:
    (tmp_path / "tex").mkdir()
    (tmp_path / "tex" / "red wood.png").write_bytes(WHITE)
    (tmp_path / "m.mtl").write_bytes(b"newmtl red\nKd 1 0 0\nmap_Kd -s 2 2 2 tex\\red wood.png\nmap_Bump /etc/passwd\n")
    files = dict(look_at(tmp_path, OBJ, "a.obj").files)
    assert files["model.mtl"] == b"newmtl red\nKd 1 0 0\nmap_Kd texture_0.png\n"
    assert files["texture_0.png"] == WHITE
    assert files["model.obj"].startswith(b"mtllib model.mtl\n")
    assert b"m.mtl\n" not in files["model.obj"].removeprefix(b"mtllib model.mtl\n")


# What a mutation may put in the place of any value of the JSON.
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 70), 1 << 70),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    st.sampled_from([[], {}, [[]], [{}], {"index": 10**9}, "../x", "data:,", 5126, 1 << 31]),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values below a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [spot for key, child in inner for spot in [(*path, key), *places(child, (*path, key))]]


def rich() -> Glb:
    """A document that uses most of what glTF has."""
    glb = textured(WHITE)
    glb.json["nodes"] = [{"children": [1], "scale": [1, 2, 1]}, {"mesh": 0, "skin": 0, "translation": [0, 1, 0]}]
    matrices = glb.accessor(np.eye(4, dtype=np.float32).reshape(1, 16))
    glb.json["skins"] = [{"joints": [0], "inverseBindMatrices": matrices}]
    glb.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": 0}]
    glb.json["materials"][0]["emissiveTexture"] = {"index": 0}
    glb.json["materials"][0]["extensions"] = {"KHR_materials_unlit": {}}
    glb.json["extensionsUsed"] = ["KHR_materials_unlit"]
    return glb


SPOTS = places(rich().json)


def refused_or_packed(folder: Path, data: bytes) -> None:
    """Any other exception than Unfit (whose reasons are checked as it is made) is a crash of the parent."""
    try:
        parcel = look_at(folder, data)
    except Unfit:
        return
    packed_again = gltf.read(folder / "a.glb", parcel.files[0][1])
    assert np.isfinite(packed_again.accessor(0)).all()


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.sampled_from(SPOTS), JUNK), min_size=1, max_size=3), drop=st.booleans())
def test_mutated_json_is_refused_or_packed(
    tmp_path: Path, changes: list[tuple[tuple[Any, ...], Any]], drop: bool
) -> None:
    glb = rich()
    for path, value in changes:
        holder: Any = glb.json
        try:
            for key in path[:-1]:
                holder = holder[key]
            if drop and isinstance(holder, dict):
                holder.pop(path[-1], None)
            else:
                holder[path[-1]] = copy.deepcopy(value)  # A later change may reach into it.
        except (KeyError, IndexError, TypeError):
            continue  # An earlier change took this place away.
    refused_or_packed(tmp_path, glb.data())


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(st.tuples(st.integers(0, len(CUBE) - 1), st.integers(0, 255)), max_size=12),
    cut=st.integers(0, len(CUBE)),
    mend=st.booleans(),
)
def test_mutated_bytes_are_refused_or_packed(
    tmp_path: Path, edits: list[tuple[int, int]], cut: int, mend: bool
) -> None:
    data = bytearray(CUBE)
    for at, value in edits:
        data[at] = value
    data = data[: len(data) - cut // 8]
    if mend and len(data) >= 12:
        struct.pack_into("<I", data, 8, len(data))
    refused_or_packed(tmp_path, bytes(data))


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=400), name=st.sampled_from(["a.glb", "a.gltf", "a.obj"]))
def test_any_bytes_are_refused(tmp_path: Path, data: bytes, name: str) -> None:
    with pytest.raises(Unfit):
        look_at(tmp_path, data, name)


# Reasons that the manifest's files are to be refused with; those not listed pass the first look.
EXPECTED = {
    "h01_truncated.glb": "truncated",
    "h02_html_404.glb": "not_a_model",
    "h03_lfs_pointer.glb": "not_a_model",
    "h04_empty_file.glb": "empty_file",
    "r05_chunk_too_big.glb": "truncated",
    "r06_glb_version.glb": "unsupported_version",
    "r07_json_corrupt_http_header.gltf": "bad_json",
    "h08_missing_bin.gltf": "missing_file",
    "h09_path_traversal.gltf": "outside_folder",
    "h10_image_abs_path.gltf": "outside_folder",
    "h11_image_http.gltf": "remote_resource",
    "r13_meshopt_box.glb": "unsupported_extension",
    "r14_ktx2_mustard_only.glb": "unsupported_texture",
    "r16_empty_scene.gltf": "no_geometry",
    "r17_empty_nodes.glb": "no_geometry",
    "h18_mesh_only_in_scene1.glb": "no_geometry",
    "r21_node_loop.gltf": "node_loop",
    "h30_nan_positions.glb": "bad_numbers",
    "h35_points_only.glb": "no_geometry",
    "h36_lines_only.glb": "no_geometry",
    "r37_index_oob.gltf": "missing_file",
    "h38_index_oob_cube.glb": "bad_index",
    "h51_corrupt_png.glb": "missing_texture",
    "r57_gpu_instancing/TeapotsGalore.gltf": "too_many_objects",
    "h60_required_ext_unknown.glb": "unsupported_extension",
}


def test_collected_files_come_out_as_their_manifest_says(shared: Callable[[str], Path]) -> None:
    folder = shared("nasty")
    with (folder / "manifest.csv").open(newline="") as file:
        names = [row["file"] for row in csv.DictReader(file)]
    found = {}
    for name in names:
        try:
            look(folder / name)
        except Unfit as problem:
            found[name] = problem.reason
    assert found == EXPECTED
