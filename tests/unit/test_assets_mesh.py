"""PLY, STL and OFF files: written by trimesh, read as glTF documents, damaged in every way."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.assets import vet
from generator.assets.gltf import Document
from generator.assets.reasons import REASONS, Unfit

RED, GREEN = (255, 0, 0, 255), (0, 128, 0, 255)


def lamp(change: Callable[[trimesh.Trimesh], object] = lambda _: None) -> trimesh.Trimesh:
    """A tall box whose top leans to -y: no two axes alike."""
    mesh = trimesh.creation.box((1.0, 2.0, 4.0))
    mesh.vertices[mesh.vertices[:, 2] > 0, 1] -= 1.0
    change(mesh)
    return mesh


def write(folder: Path, kind: str, mesh: trimesh.Trimesh, **options: object) -> Path:
    path = folder / f"a.{kind}"
    mesh.export(path, **options)
    return path


def read(path: Path) -> Document:
    document = vet.read(path).document
    assert isinstance(document, Document)
    return document


def attribute(document: Document, name: str) -> np.ndarray:
    primitive = document.json["meshes"][0]["primitives"][0]
    return document.accessor(primitive["attributes"][name] if name != "indices" else primitive[name])


@pytest.mark.parametrize("kind", ["ply", "stl", "off"])
def test_shape_arrives_upright(kind: str, tmp_path: Path) -> None:
    mesh = lamp()
    document = read(write(tmp_path, kind, mesh))
    corners = attribute(document, "POSITION")[attribute(document, "indices")[:, 0]].reshape(-1, 3, 3)
    wanted = mesh.triangles[:, :, [0, 2, 1]] * (1, 1, -1)  # z up becomes y up, the front (-y) becomes +z
    np.testing.assert_allclose(np.sort(corners.mean(axis=1), axis=0), np.sort(wanted.mean(axis=1), axis=0), atol=1e-6)
    # Turned, not mirrored: the same volume with the same sign.
    volume = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(mesh.volume, rel=1e-5)


@pytest.mark.parametrize("kind", ["ply", "stl", "off"])
def test_first_look_passes_a_self_contained_glb(kind: str, tmp_path: Path) -> None:
    parcel = vet.first_look(vet.read(write(tmp_path, kind, lamp())))
    [(name, content)] = parcel.files
    assert name == "model.glb"
    [mesh] = trimesh.load(trimesh.util.wrap_as_stream(content), file_type="glb").geometry.values()
    assert sorted(mesh.extents) == pytest.approx([1.0, 3.0, 4.0])


def test_vertex_colours_become_linear(tmp_path: Path) -> None:
    def paint(mesh: trimesh.Trimesh) -> None:
        mesh.visual.vertex_colors = np.where((mesh.vertices[:, 2] > 0)[:, None], RED, GREEN).astype(np.uint8)

    document = read(write(tmp_path, "ply", lamp(paint)))
    rgba, top = attribute(document, "COLOR_0"), attribute(document, "POSITION")[:, 1] > 0
    np.testing.assert_allclose(rgba[top], np.tile([1, 0, 0, 1], (4, 1)), atol=1e-6)
    np.testing.assert_allclose(rgba[~top], np.tile([0, 0.2158605, 0, 1], (4, 1)), atol=1e-6)


def test_face_colours_stay_on_their_faces(tmp_path: Path) -> None:
    path = tmp_path / "a.ply"
    colours = "".join(f"property uchar {name}\n" for name in ("red", "green", "blue"))
    path.write_text(
        PLY.replace("vertex 3", "vertex 4")
        + FACE.replace("face 1", "face 2").replace("end_header\n", colours + "end_header\n0 0 1\n")
        + "3 1 2 3 255 0 0\n3 1 3 0 0 128 0\n"
    )
    document = read(path)
    wanted = [[1, 0, 0]] * 3 + [[0, 0.2158605, 0]] * 3
    np.testing.assert_allclose(attribute(document, "COLOR_0")[:, :3], wanted, atol=1e-6)


def test_only_the_files_own_normals_are_taken(tmp_path: Path) -> None:
    mesh = lamp()
    primitive = read(write(tmp_path, "ply", mesh, vertex_normal=False)).json["meshes"][0]["primitives"][0]
    assert "NORMAL" not in primitive["attributes"]
    normals = attribute(read(write(tmp_path, "ply", mesh, vertex_normal=True)), "NORMAL")
    np.testing.assert_allclose(normals, mesh.vertex_normals[:, [0, 2, 1]] * (1, 1, -1), atol=1e-6)


PLY = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
FACE = "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.ply", b"glTF and more", "not_a_model"),
        ("a.off", b"ply\n", "not_a_model"),
        ("a.stl", b"solid empty\nendsolid\n", "no_geometry"),
        ("a.off", b"OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n", "no_geometry"),
        ("a.ply", (PLY + "end_header\n0 0 0\n1 0 0\n0 1 0\n").encode(), "no_geometry"),
        ("a.ply", (PLY + FACE + "3 0 1 7\n").encode(), "bad_index"),
        ("a.ply", (PLY + FACE.replace("0 1 0", "0 nan 0") + "3 0 1 2\n").encode(), "bad_numbers"),
        ("a.ply", (PLY.replace("1.0\n", "1.0\ncomment TextureFile a.png\n") + FACE).encode(), "unsupported_texture"),
        ("a.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 9\n", "bad_structure"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex x\nend_header\n", "bad_structure"),
        ("a.ply", b"", "empty_file"),
    ],
)
def test_what_is_wrong_is_named(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Unfit) as found:
        vet.first_look(vet.read(tmp_path / name))
    assert found.value.reason == reason


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(["ply", "stl", "off"]), data=st.data())
def test_a_damaged_file_is_read_or_refused(kind: str, data: st.DataObject, tmp_path: Path) -> None:
    content = bytearray(write(tmp_path, kind, lamp()).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(0, len(content))) :]
    path = tmp_path / f"a.{kind}"
    path.write_bytes(content)
    try:
        reason = "" if vet.first_look(vet.read(path)).files else "nothing"
    except Unfit as unfit:
        reason = unfit.reason
    assert reason in {"", *REASONS}
