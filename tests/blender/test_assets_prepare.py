"""Assets through Blender: every oddity that passes the first look, made in code, and the collected files."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.assets.folder import read_folder
from generator.assets.load import load_catalog, vet_sources
from generator.assets.prepare import Prepared, Refused, prepare_all
from renderers.model import Model, load_model
from tests.glb import CORNERS, QUADS, RED, UVS, Glb, mesh, png, textured
from tests.objaverse_server import Item, layout, serve

pytestmark = pytest.mark.blender

QUARTERS = np.zeros((8, 8, 4), np.uint8)
QUARTERS[:4, :4] = (255, 0, 0, 255)
QUARTERS[:4, 4:] = (0, 255, 0, 255)
QUARTERS[4:, :4] = (0, 0, 255, 255)
QUARTERS[4:, 4:] = (255, 255, 255, 255)


def quiet(_done: int, _total: int) -> None:
    pass


def with_colours(glb: Glb, rgba: np.ndarray) -> Glb:
    glb.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = glb.accessor(rgba.astype(np.float32))
    return glb


def edited(glb: Glb, change: Callable[[dict[str, Any]], object]) -> Glb:
    change(glb.json)
    return glb


def skinned() -> Glb:
    """A cube bound to a joint that an animation, and its own node, throw far away."""
    glb = mesh(node={"skin": 0})
    attributes = glb.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_0"] = glb.accessor(np.zeros((24, 4), np.uint8))
    attributes["WEIGHTS_0"] = glb.accessor(np.tile(np.array([[1, 0, 0, 0]], np.float32), (24, 1)))
    times = glb.accessor(np.array([0, 1], np.float32))
    moves = glb.accessor(np.array([[0, 0, 0], [0, 9, 0]], np.float32))
    glb.json |= {
        "skins": [{"joints": [1], "inverseBindMatrices": glb.accessor(np.eye(4, dtype=np.float32).reshape(1, 16))}],
        "animations": [
            {
                "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
                "samplers": [{"input": times, "output": moves}],
            }
        ],
    }
    glb.json["nodes"].append({"name": "joint"})
    glb.json["scenes"] = [{"nodes": [0, 1]}]
    return glb


def doubled(shared_vertices: bool) -> Glb:
    """Every face twice, back to back."""
    backs = QUADS.reshape(-1, 3)[:, ::-1].reshape(-1)
    if shared_vertices:
        return mesh(indices=np.concatenate([QUADS, backs]))
    return mesh(positions=np.concatenate([CORNERS, CORNERS]), indices=np.concatenate([QUADS, backs + np.uint16(24)]))


def sphere(rings: int) -> tuple[np.ndarray, np.ndarray]:
    """A UV sphere with a groove, finely cut: positions and triangle indices."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, rings), np.linspace(0.01, np.pi - 0.01, rings))
    radius = 1 + 0.1 * np.cos(6 * u)
    points = np.stack([radius * np.cos(u) * np.sin(v), np.cos(v), radius * np.sin(u) * np.sin(v)], axis=-1)
    a = (np.arange(rings - 1)[:, None] * rings + np.arange(rings - 1)[None]).reshape(-1)
    quads = np.stack([a, a + 1, a + rings, a + 1, a + rings + 1, a + rings], axis=1)
    return points.reshape(-1, 3).astype(np.float32), quads.reshape(-1).astype(np.uint32)


def ground() -> Glb:
    corners = np.concatenate([CORNERS, np.array([[-50, -0.5, -50], [50, -0.5, -50], [50, -0.5, 50], [-50, -0.5, 50]])])
    return mesh(positions=corners, indices=np.concatenate([QUADS, np.array([24, 26, 25, 24, 27, 26], np.uint16)]))


def masked(alpha: int) -> Glb:
    """A card whose texture is opaque in the middle quarter alone."""
    pixels = np.full((8, 8, 4), 255, np.uint8)
    pixels[..., 3] = alpha
    pixels[2:6, 2:6, 3] = 255 if alpha == 0 else alpha
    glb = textured(png(pixels))
    glb.json["materials"][0] |= {"alphaMode": "MASK", "alphaCutoff": 0.4}
    return glb


TRANSPARENT = {"pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 0]}, "alphaMode": "BLEND"}
UNLIT = {"pbrMetallicRoughness": {"baseColorFactor": [0.2, 0.5, 0.1, 1]}, "extensions": {"KHR_materials_unlit": {}}}
SPEC_GLOSS = {
    "extensions": {
        "KHR_materials_pbrSpecularGlossiness": {"diffuseTexture": {"index": 0}, "diffuseFactor": [1, 0.5, 1, 1]}
    }
}
MADE: dict[str, Callable[[], Glb]] = {
    "plain": mesh,
    "no indices": lambda: mesh(positions=CORNERS[QUADS], indices=None),
    "micrometre": lambda: mesh(node={"scale": [1e-6] * 3}),
    "thousand kilometres": lambda: mesh(node={"scale": [1e6] * 3}),
    "far off": lambda: mesh(node={"translation": [1000, -2000, 500]}),
    "baked far off": lambda: mesh(positions=CORNERS + np.float32(1e7)),
    "zero scale": lambda: mesh(node={"scale": [0, 0, 0]}),
    "zero area": lambda: mesh(positions=CORNERS * np.array([1, 0, 0], np.float32)),
    "mirrored": lambda: mesh(node={"scale": [-1, 1, 1]}),
    "inside out": lambda: mesh(indices=QUADS.reshape(-1, 3)[:, ::-1].reshape(-1)),
    "doubled faces": lambda: doubled(False),
    "doubled faces on the same vertices": lambda: doubled(True),
    "ground plane": ground,
    "invisible": lambda: mesh(material=TRANSPARENT),
    "invisible by texture": lambda: masked(1),
    "cut out": lambda: masked(0),
    "vertex colours": lambda: with_colours(mesh(material=None), np.tile([[0.5, 0.25, 1, 1]], (24, 1))),
    "unlit": lambda: edited(mesh(material=UNLIT), lambda j: j.update(extensionsUsed=["KHR_materials_unlit"])),
    "textured": lambda: textured(png(QUARTERS)),
    "spec gloss": lambda: edited(
        textured(png(QUARTERS)),
        lambda j: j.update(materials=[SPEC_GLOSS], extensionsUsed=["KHR_materials_pbrSpecularGlossiness"]),
    ),
    "texture without uv": lambda: textured(png(QUARTERS), uv=None),
    "clamped": lambda: edited(
        textured(png(QUARTERS), uv=UVS * 3 - 1),
        lambda j: j.update(samplers=[{"wrapS": 33071, "wrapT": 33071}], textures=[{"source": 0, "sampler": 0}]),
    ),
    "mirrored repeat": lambda: edited(
        textured(png(QUARTERS)),
        lambda j: j.update(samplers=[{"wrapS": 33648, "wrapT": 33648}], textures=[{"source": 0, "sampler": 0}]),
    ),
    "unreadable texture": lambda: textured(png(QUARTERS)[:40] + b"garbage"),
    "skinned": skinned,
    "rough metal": lambda: mesh(material={"pbrMetallicRoughness": {"baseColorFactor": [0.8, 0.1, 0.05, 1]}}),
    "polished metal": lambda: mesh(material={"pbrMetallicRoughness": {"roughnessFactor": 0.2}}),
    "glowing": lambda: mesh(material={**RED, "emissiveFactor": [0.1, 0.2, 0.3]}),
    "large texture": lambda: textured(png(np.full((2048, 512, 4), (200, 30, 30, 255), np.uint8))),
    "heavy": lambda: mesh(*sphere(260)),
}
Outcomes = dict[str, Prepared | Refused]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """All of them prepared in one process."""
    folder = tmp_path_factory.mktemp("made")
    paths = []
    for number, make in enumerate(MADE.values()):
        paths.append(folder / f"{number}.glb")
        paths[-1].write_bytes(make().data())
    return dict(zip(MADE, prepare_all(paths, cache=folder / "cache", workers=1, report=quiet), strict=True))


def model(outcomes: Outcomes, kind: str) -> Model:
    outcome = outcomes[kind]
    assert isinstance(outcome, Prepared), outcome
    return load_model(outcome.model)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("baked far off", "lost_precision"),
        ("zero scale", "no_extent"),
        ("zero area", "no_geometry"),
        ("ground plane", "backdrop"),
        ("invisible", "invisible"),
        ("invisible by texture", "invisible"),
        ("unreadable texture", "missing_texture"),
    ],
)
def test_refused(outcomes: Outcomes, kind: str, reason: str) -> None:
    outcome = outcomes[kind]
    assert isinstance(outcome, Refused), outcome
    assert outcome.reason == reason


SAME = "plain/no indices/micrometre/thousand kilometres/far off/mirrored/inside out/doubled faces/skinned"


@pytest.mark.parametrize("kind", [*SAME.split("/"), "doubled faces on the same vertices"])
def test_all_of_these_are_the_same_cube(outcomes: Outcomes, kind: str) -> None:
    cube = model(outcomes, kind)
    assert len(cube.triangles) == 12
    np.testing.assert_allclose(cube.positions.min(axis=0), [-0.5, -0.5, 0], atol=1e-5)
    np.testing.assert_allclose(cube.positions.max(axis=0), [0.5, 0.5, 1], atol=1e-5)
    (material,) = cube.materials
    np.testing.assert_allclose(material.base_rgba, [0.8, 0.1, 0.05, 1], atol=1e-6)
    assert (material.alpha_mode, material.texture, material.metallic) == ("opaque", -1, 0)
    np.testing.assert_allclose(np.linalg.norm(cube.corner_normals, axis=1), 1, atol=1e-4)


@pytest.mark.parametrize("kind", ["plain", "mirrored", "doubled faces", "skinned"])
def test_faces_and_normals_look_outwards(outcomes: Outcomes, kind: str) -> None:
    cube = model(outcomes, kind)
    corners = cube.positions[cube.triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((facing * (corners.mean(axis=1) - [0, 0, 0.5])).sum(axis=1) > 0).all()
    assert (np.einsum("tcd,td->tc", cube.corner_normals.reshape(-1, 3, 3), facing) > 0).all()


def test_front_and_up_are_those_of_gltf(tmp_path: Path) -> None:
    # A nose towards +z, which glTF calls the front, and a hat towards +y.
    corners = np.concatenate([CORNERS, np.array([[0, 0, 3], [0, 2, 0]], np.float32)])
    more = np.array([0, 1, 24, 16, 17, 25], np.uint16)
    (tmp_path / "a.glb").write_bytes(mesh(positions=corners, indices=np.concatenate([QUADS, more])).data())
    (outcome,) = prepare_all([tmp_path / "a.glb"], cache=tmp_path / "c", workers=1, report=quiet)
    assert isinstance(outcome, Prepared)
    np.testing.assert_allclose(outcome.extent, [1 / 3.5, 1, 2.5 / 3.5], atol=1e-4)
    positions = load_model(outcome.model).positions
    assert positions[positions[:, 1].argmin(), 0] == pytest.approx(0, abs=1e-4)
    assert np.count_nonzero(positions[:, 1] < -0.4) < np.count_nonzero(positions[:, 1] > 0.1)


def test_texture_and_uv(outcomes: Outcomes) -> None:
    cube = model(outcomes, "textured")
    (texture,) = cube.textures
    np.testing.assert_array_equal(texture, QUARTERS)
    assert cube.corner_uv.min() == 0
    assert cube.corner_uv.max() == 1
    # Front face (towards -y): the texture's top left corner, red, is at the top left of the face as seen from -y.
    corners = cube.positions[cube.triangles].reshape(-1, 3)
    front = np.abs(cube.corner_normals[:, 1] + 1) < 1e-3
    top_left = front & (corners[:, 0] < 0) & (corners[:, 2] > 0.5)
    np.testing.assert_allclose(cube.corner_uv[top_left], [[0, 1]] * top_left.sum(), atol=1e-6)


def test_texture_without_uv_takes_its_first_texel(outcomes: Outcomes) -> None:
    outcome = outcomes["texture without uv"]
    assert isinstance(outcome, Prepared)
    assert outcome.warnings == ("texture_without_uv",)
    cube = model(outcomes, "texture without uv")
    column, row = int(cube.corner_uv[0, 0] * 8), int((1 - cube.corner_uv[0, 1]) * 8)
    assert (column, row) == (0, 0)


def test_wrap_modes_are_worked_in(outcomes: Outcomes) -> None:
    clamped = model(outcomes, "clamped")
    assert clamped.corner_uv.min() > 0
    assert clamped.corner_uv.max() < 1
    mirrored = model(outcomes, "mirrored repeat")
    assert mirrored.textures[0].shape == (16, 16, 4)
    np.testing.assert_array_equal(mirrored.textures[0][8:, :8], QUARTERS)
    assert mirrored.corner_uv.max() == 0.5


def test_specular_glossiness_keeps_texture_and_factor(outcomes: Outcomes) -> None:
    cube = model(outcomes, "spec gloss")
    assert cube.materials[0].texture == 0
    np.testing.assert_allclose(cube.materials[0].base_rgba, [1, 0.5, 1, 1], atol=1e-6)


def test_vertex_colours(outcomes: Outcomes) -> None:
    cube = model(outcomes, "vertex colours")
    assert cube.materials[0].uses_corner_rgba
    assert cube.corner_rgba is not None
    np.testing.assert_allclose(cube.corner_rgba, [[188, 137, 255, 255]] * 36, atol=2)


def test_plain_models_carry_no_vertex_colours(outcomes: Outcomes) -> None:
    assert model(outcomes, "plain").corner_rgba is None


def test_unlit_becomes_diffuse(outcomes: Outcomes) -> None:
    (material,) = model(outcomes, "unlit").materials
    np.testing.assert_allclose(material.base_rgba, [0.2, 0.5, 0.1, 1], atol=1e-6)
    assert (material.metallic, material.emission_rgb) == (0, (0, 0, 0))


def test_metals(outcomes: Outcomes) -> None:
    assert model(outcomes, "rough metal").materials[0].metallic == 0, "glTF's default, left by an exporter"
    polished = model(outcomes, "polished metal").materials[0]
    assert (polished.metallic, polished.roughness) == (1, pytest.approx(0.2))


def test_emission(outcomes: Outcomes) -> None:
    np.testing.assert_allclose(model(outcomes, "glowing").materials[0].emission_rgb, [0.1, 0.2, 0.3], atol=1e-6)


def test_cut_outs_count_by_their_alpha(outcomes: Outcomes) -> None:
    outcome = outcomes["cut out"]
    assert isinstance(outcome, Prepared)
    material = model(outcomes, "cut out").materials[0]
    assert (material.alpha_mode, material.alpha_cutoff) == ("mask", pytest.approx(0.4))
    assert model(outcomes, "cut out").textures[0][0, 0, 3] == 0
    full = outcomes["plain"]
    assert isinstance(full, Prepared)
    # The middle quarter of each face; the edges of the sides show as lines.
    assert 0.2 < outcome.coverage[0] < 0.45
    assert min(full.coverage) > 0.98


def test_large_textures_are_scaled_down(outcomes: Outcomes) -> None:
    (texture,) = model(outcomes, "large texture").textures
    assert texture.shape == (1024, 256, 4)
    np.testing.assert_allclose(texture.reshape(-1, 4).mean(axis=0), [200, 30, 30, 255], atol=1)


def test_heavy_meshes_are_decimated_in_shape(outcomes: Outcomes) -> None:
    outcome = outcomes["heavy"]
    assert isinstance(outcome, Prepared)
    assert 45_000 < outcome.triangles < 62_000
    assert "decimated" in outcome.warnings
    np.testing.assert_allclose(outcome.extent, [1, 1, 1], atol=0.12)
    ball = load_model(outcome.model)
    middle = (ball.positions.min(axis=0) + ball.positions.max(axis=0)) / 2
    outward = ball.positions[ball.triangles].reshape(-1, 3) - middle
    assert ((outward * ball.corner_normals).sum(axis=1) > 0).mean() > 0.99


def test_obj_with_material_and_texture(tmp_path: Path) -> None:
    rows = ["mtllib m.mtl", "usemtl paint"]
    rows += [f"v {x} {y} {z}" for x, y, z in CORNERS.tolist()] + [f"vt {u} {1 - v}" for u, v in UVS.tolist()]
    rows += ["f " + " ".join(f"{i + 1}/{i + 1}" for i in triangle) for triangle in QUADS.reshape(-1, 3).tolist()]
    (tmp_path / "a.obj").write_text("\n".join(rows))
    (tmp_path / "m.mtl").write_text("newmtl paint\nKd 1 1 1\nmap_Kd t.png\n")
    (tmp_path / "t.png").write_bytes(png(QUARTERS))
    (outcome,) = prepare_all([tmp_path / "a.obj"], cache=tmp_path / "c", workers=1, report=quiet)
    assert isinstance(outcome, Prepared), outcome
    cube = load_model(outcome.model)
    assert [material.name for material in cube.materials] == ["paint"]
    np.testing.assert_array_equal(cube.textures[0], QUARTERS)
    corners = cube.positions[cube.triangles].reshape(-1, 3)
    top_left = (np.abs(cube.corner_normals[:, 1] + 1) < 1e-3) & (corners[:, 0] < 0) & (corners[:, 2] > 0.5)
    assert top_left.any()
    np.testing.assert_allclose(cube.corner_uv[top_left], [[0, 1]] * top_left.sum(), atol=1e-6)


def test_somebody_elses_colour_management_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OCIO is set on artists' machines, and by Blender 5.2 itself in any process that imports bpy."""
    monkeypatch.setenv("OCIO", str(tmp_path / "nowhere.ocio"))
    (tmp_path / "a.glb").write_bytes(textured(png(QUARTERS)).data())
    (outcome,) = prepare_all([tmp_path / "a.glb"], cache=tmp_path / "c", workers=1, report=quiet)
    assert isinstance(outcome, Prepared), outcome


def test_a_preparing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.glb").write_bytes(textured(png(QUARTERS)).data())
    models = []
    for cache in ("c1", "c2"):
        (outcome,) = prepare_all([tmp_path / "a.glb"], cache=tmp_path / cache, workers=1, report=quiet)
        assert isinstance(outcome, Prepared)
        models.append(load_model(outcome.model))
    for name in ("positions", "triangles", "corner_normals", "corner_uv", "material_index"):
        np.testing.assert_array_equal(getattr(models[0], name), getattr(models[1], name))
    assert models[0].materials == models[1].materials


# What the collected files that pass the first look come to: triangles, and what else is particular about them.
COLLECTED: dict[str, str | int] = {
    "h20_no_scenes.glb": 12,
    "r23_many_cubes.glb": 6012,
    "h24_negative_scale.glb": 12,
    "h25_scale_1e-6.glb": 12,
    "h26_scale_1e6.glb": 12,
    "h27_offset_1e7_baked.glb": "lost_precision",
    "h29_zero_scale.glb": "no_extent",
    "h32_zero_area.glb": "no_geometry",
    "h33_non_manifold.glb": 3,
    "h40_sparse_accessor.glb": 12,
    "h41_vertex_colour_only.glb": 12,
    "r42_vertex_colour_box.glb": 12,
    "h44_unlit.glb": 12,
    "h46_alpha_zero.glb": "invisible",
    "r47_specgloss_box/BoxTextured.gltf": 12,
    "r48_webp/webp.gltf": 5292,
    "h49_texture_8192.glb": 12,
    "h52_texture_no_uv.glb": 12,
    "h54_camera_and_light.glb": 12,
    "r55_skinned_animated_fox.glb": 1848,
    "r15_ktx2_fallback/yellow_bell_pepper_no_stem_low.gltf": 968,
    "h58_backdrop_plane.glb": "backdrop",
    "h59_inside_out.glb": 12,
    "h62_coincident_faces.glb": 12,
}


@pytest.fixture(scope="module")
def collected(shared: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = shared("nasty")
    with (folder / "manifest.csv").open(newline="") as file:
        names = [row["file"] for row in csv.DictReader(file)]
    cache = tmp_path_factory.mktemp("cache")
    prepared = prepare_all([folder / name for name in names], cache=cache, workers=2, report=quiet)
    return dict(zip(names, prepared, strict=True))


def test_collected_files_come_out_as_their_manifest_says(collected: Outcomes) -> None:
    found = {
        name: outcome.reason if isinstance(outcome, Refused) else outcome.triangles
        for name, outcome in collected.items()
        if name in COLLECTED
    }
    assert found == COLLECTED


def test_collected_files_never_kill_the_process(collected: Outcomes) -> None:
    ends = {outcome.reason for outcome in collected.values() if isinstance(outcome, Refused)}
    assert not ends & {"crashed", "timed_out", "out_of_memory", "import_failed"}


def test_collected_draco_and_skins(collected: Outcomes) -> None:
    guitar = collected["r12_draco_guitar.gltf"]
    if isinstance(guitar, Refused):
        assert guitar == Refused("unsupported_extension", "KHR_draco_mesh_compression: this Blender has no decoder")
    else:
        assert 30_000 < guitar.triangles <= 60_000
        assert len(load_model(guitar.model).textures) > 0
    for name in ("r53_lights_skinned.glb", "r56_skinned_animated_character.glb", "r65_unlit_skinned_mech.glb"):
        outcome = collected[name]
        assert isinstance(outcome, Prepared)
        # Rest pose, and no bone shapes: the box is that of the figure.
        assert min(outcome.extent) > 0.2


def test_collected_sparse_accessor_is_applied(collected: Outcomes) -> None:
    outcome = collected["h40_sparse_accessor.glb"]
    assert isinstance(outcome, Prepared)
    np.testing.assert_allclose(outcome.extent, [2 / 3, 2 / 3, 1], atol=1e-4)


@pytest.mark.slow
def test_collected_models_are_all_accepted(shared: Callable[[str], Path], tmp_path: Path) -> None:
    folder = shared("assets")
    catalog = vet_sources(read_folder(folder, "folder"), str(folder), cache=tmp_path, workers=2, report=quiet)
    assert len(catalog.assets) >= 285, [(reject.uid, reject.reason, reject.detail) for reject in catalog.rejects]
    assert all(max(asset.extent) == pytest.approx(1, abs=1e-4) for asset in catalog.assets)
    assert all(asset.licence and asset.url for asset in catalog.assets)


def test_objaverse_from_the_network_to_the_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = mesh(indices=np.array([0, 1, 9999], np.uint16)).data()
    items = [
        Item("a" * 32, "mug", mesh().data(), author="Ada", name="Red mug"),
        Item("b" * 32, "cellular_telephone", textured(png(QUARTERS)).data(), licence="cc0"),
        Item("c" * 32, "crab_(animal)", broken),
    ]
    with serve(layout(items)) as site:
        monkeypatch.setenv("HF_ENDPOINT", site.url)
        monkeypatch.setenv("TWINSCENE_OBJAVERSE", str(tmp_path / "objaverse"))
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        from generator.assets.objaverse import Selection

        choice = Selection(categories=("mug", "phone", "crab"))
        catalog = load_catalog("objaverse", cache=tmp_path / "c", workers=1, report=quiet, selection=choice)
    assert [(asset.uid[0], asset.noun, asset.licence) for asset in catalog.assets] == [
        ("a", "mug", "CC-BY-4.0"),
        ("b", "phone", "CC0-1.0"),
    ]
    assert (catalog.assets[0].author, catalog.assets[0].title) == ("Ada", "Red mug")
    assert catalog.assets[0].source == "objaverse"
    assert [(reject.uid[0], reject.reason) for reject in catalog.rejects] == [("c", "bad_index")]
