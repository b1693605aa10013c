"""The bundled library: what is committed is what the recipes build, and it is fit for recolouring."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("bpy", reason="the asset recipes are built with Blender")

import bpy
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from renderers.blender.recipes import recipes
from renderers.blender.recipes.assemble import assemble
from renderers.blender.recipes.build import MANIFEST, MANIFEST_COLUMNS, build, main
from renderers.blender.recipes.kit import box, cylinder, lathe, sphere
from renderers.blender.recipes.materials import PAINT, STEEL, paint

pytestmark = pytest.mark.blender

LIBRARY = Path(__file__).parents[2] / "generator" / "assets" / "library"
FILES = sorted(LIBRARY.glob("*.glb"))
MAX_BYTES = 90 * 1024
TRIANGLES = range(400, 4001)
# Of what the camera sees, at the yaws and the pitch that scenes use around the front of an object.
MIN_PAINT_SHARE = 0.5
VIEWS_DEG = ((-35.0, 15.0), (0.0, 15.0), (35.0, 25.0))
RAYS = 40


@pytest.mark.skipif(bpy.app.version[:2] != (4, 5), reason="the committed files were built with Blender 4.5")
@pytest.mark.parametrize("noun", ["mug", "banana", "toaster"])
def test_a_rebuild_gives_the_committed_bytes(noun: str, tmp_path: Path) -> None:
    recipe = recipes()[noun]
    assert build(recipe, tmp_path).read_bytes() == (LIBRARY / recipe.file).read_bytes()


def test_manifest_lists_exactly_the_files_and_every_recipe_has_one() -> None:
    with (LIBRARY / MANIFEST).open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert tuple(rows[0]) == MANIFEST_COLUMNS
    assert [row["file"] for row in rows] == [path.name for path in FILES]
    assert [row["noun"] for row in rows] == list(recipes())
    root = LIBRARY.parents[2]
    assert all((root / row["source"]).is_file() and row["licence"] == "CC0-1.0" for row in rows)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_library_file(path: Path) -> None:
    assert path.stat().st_size <= MAX_BYTES
    (root,) = _imported(path)
    assert root.type == "MESH"
    assert root.name == path.stem.replace("_", " ")
    mesh = root.data
    assert sum(len(polygon.vertices) - 2 for polygon in mesh.polygons) in TRIANGLES
    low, high = _bounds(mesh)
    assert (low.z, low.x + high.x, low.y + high.y) == pytest.approx((0, 0, 0), abs=1e-3)
    thinnest, middle, longest = sorted(high - low)
    assert middle >= longest / 3, "too slender to be made out"
    assert thinnest >= longest / 8, "too thin to be seen from the side"
    assert _visible_share(mesh, PAINT) >= MIN_PAINT_SHARE


def test_an_unknown_noun_is_refused_with_the_known_ones(capsys: Any, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--out", str(tmp_path), "--only", "mugg"])
    assert stop.value.code == 2
    message = capsys.readouterr().err
    assert "no recipe for mugg; known:" in message
    assert " mug," in message
    assert not list(tmp_path.iterdir())


def test_primitives_are_closed_and_face_outwards() -> None:
    shapes = {
        "box": (box((1, 2, 3), STEEL), 6.0),
        "bevelled box": (box((1, 1, 1), STEEL, 0.01), 1.0),
        "cylinder": (cylinder(1, 2, STEEL, sides=256), 2 * math.pi),
        "cone": (cylinder(1, 3, STEEL, top_radius=0, sides=256), math.pi),
        "sphere": (sphere(1, STEEL, 96, 64), 4 / 3 * math.pi),
        "mirrored sphere": (sphere(1, STEEL, 96, 64).mirrored(), 4 / 3 * math.pi),
        "hollow cup": (
            lathe([(0, 0), (1, 0), (1, 1), (0.5, 1), (0.5, 0.5), (0, 0.5)], STEEL, 256),
            math.pi * (1 - 0.25 * 0.5),
        ),
        "cut box": (box((2, 2, 2), STEEL).minus(box((1, 1, 4), STEEL)), 6.0),
    }
    for name, (part, volume) in shapes.items():
        assert all(len(edge.link_faces) == 2 for edge in part.bm.edges), name
        # A signed volume: negative when the normals look inwards.
        assert part.bm.calc_volume(signed=True) == pytest.approx(volume, rel=0.01), name


def test_assemble_keeps_materials_and_stands_on_the_ground() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    parts = [box((1, 1, 1), paint("#ff0000")).at(5, 5, 5), sphere(0.5, STEEL).at(5, 5, 6)]
    made = assemble("thing", parts)
    low, high = _bounds(made.data)
    assert (low.x, low.y, low.z) == pytest.approx((-0.5, -0.5, 0), abs=1e-4)
    assert high.z == pytest.approx(2, abs=1e-4)
    names = Counter(made.data.materials[polygon.material_index].name for polygon in made.data.polygons)
    assert names["paint"] == 6
    assert set(names) == {"paint", "steel"}


def _imported(path: Path) -> list[Any]:
    """Objects without a parent after importing `path` into an empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(path))
    return [item for item in bpy.context.scene.objects if item.parent is None]


def _bounds(mesh: Any) -> tuple[Any, Any]:
    points = [vertex.co for vertex in mesh.vertices]
    low = Vector([min(p[i] for p in points) for i in range(3)])
    return low, Vector([max(p[i] for p in points) for i in range(3)])


def _visible_share(mesh: Any, material: str) -> float:
    """The smallest share of `material` among what a distant camera sees, over VIEWS_DEG."""
    tree = BVHTree.FromPolygons([v.co for v in mesh.vertices], [tuple(p.vertices) for p in mesh.polygons])
    low, high = _bounds(mesh)
    centre, reach = (low + high) / 2, (high - low).length / 2
    shares = []
    for yaw_deg, pitch_deg in VIEWS_DEG:
        yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
        towards = Vector((math.sin(yaw) * math.cos(pitch), -math.cos(yaw) * math.cos(pitch), math.sin(pitch)))
        across = Vector((math.cos(yaw), math.sin(yaw), 0))
        up = towards.cross(across)
        seen: Counter[str] = Counter()
        for row in range(RAYS):
            for column in range(RAYS):
                u, v = (2 * (column + 0.5) / RAYS - 1) * reach, (2 * (row + 0.5) / RAYS - 1) * reach
                face = tree.ray_cast(centre + u * across + v * up + 2 * reach * towards, -towards)[2]
                if face is not None:
                    seen[mesh.materials[mesh.polygons[face].material_index].name] += 1
        shares.append(seen[material] / seen.total())
    return min(shares)
