"""`python -m renderers.blender.prepare --log LOG`: asset files into prepared models, one line of JSON each.

Request: {"source": path of a self-contained .glb or an .obj, "out": path of the .npz to write, "max_triangles": n}.
Answer: {"ok": true, "facts": {...}} or {"ok": false, "reason": one of the closed list, "detail": what was seen}.

The parent decides what is safe to open and ends this process when it takes too long or too much memory; here only
Blender may crash.
"""

import argparse
import dataclasses
import json
import math
import os
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from renderers import geometry, repaint
from renderers.answers import serve
from renderers.blender import prepare_materials as materials
from renderers.geometry import Soup, Unusable
from renderers.model import Material, Model

SMOOTH_ANGLE_DEG = 40.0
# Objects with fewer triangles than this are not worth decimating.
DECIMATE_FROM = 500
# Less of every view than this (a pole covers about 2 %) means that there is nothing to recognise.
MIN_COVERAGE = 0.008
# Kinds of data that importers make.
DATA = (
    *("objects", "meshes", "materials", "images", "textures", "armatures", "actions", "shape_keys", "collections"),
    *("node_groups", "cameras", "lights", "curves", "texts", "worlds"),
)
RESET_EVERY = 100
_served = 0
PLAIN = Material("plain", (0.8, 0.8, 0.8, 1.0), 0.0, 0.5, (0.0, 0.0, 0.0), "opaque", 0.5, -1, False)


def main() -> None:
    """Serve requests until stdin closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    serve(parser.parse_args().log, handle)


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Prepare one file and write its model; Unusable becomes a reason, and so does Blender's refusal to import."""
    try:
        model, facts = prepare(request["source"], int(request["max_triangles"]))
    except Unusable as problem:
        return {"ok": False, "reason": problem.reason, "detail": problem.detail}
    plan = repaint.analyse(model)
    save_model(model, Path(request["out"]))
    return {"ok": True, "facts": {**facts, "paint_plan": dataclasses.asdict(plan) if plan is not None else None}}


def prepare(source: str, max_triangles: int) -> tuple[Model, dict[str, Any]]:
    """The model in `source`, and facts about it. Raises Unusable."""
    clear()
    import_file(source)
    decimated = decimate(max_triangles)
    textures = materials.Textures()
    soup, surfaces, warnings = collect(textures)
    visible = np.array([not surface.invisible for surface in surfaces])[soup.material]
    if not visible.any():
        raise Unusable("invisible", "every material is fully transparent")
    soup = geometry.drop_degenerate(geometry.to_unit_box(soup.keep(visible)))
    clean = geometry.drop_covered(geometry.drop_duplicates(soup))
    if len(clean.triangles) < len(soup.triangles):
        warnings.append("duplicate_faces")
    if decimated:
        warnings.append("decimated")
    soup = geometry.to_unit_box(clean)
    backdrop = geometry.find_backdrop(soup)
    if backdrop is not None:
        raise Unusable("backdrop", backdrop)
    model = to_model(soup, surfaces, textures)
    views = geometry.coverage(visible_points(soup, model))
    if max(views) < MIN_COVERAGE:
        reason = "invisible" if max(views) == 0 else "barely_visible"
        raise Unusable(reason, f"covers {max(views):.2%} of its own box in its best view")
    return model, {
        "extent": [round(side, 6) for side in (soup.positions.max(axis=0) - soup.positions.min(axis=0)).tolist()],
        "triangles": len(soup.triangles),
        "coverage": [round(share, 4) for share in views],
        "textures": len(textures.arrays),
        "warnings": sorted(set(warnings)),
    }


def clear() -> None:
    """An empty scene. Removing the data is much faster than a factory reset, which is left for what that misses."""
    global _served
    if _served % RESET_EVERY == 0:
        bpy.ops.wm.read_factory_settings(use_empty=True)
    _served += 1
    bpy.data.batch_remove([block for kind in DATA for block in getattr(bpy.data, kind)])


def import_file(source: str) -> None:
    """Run Blender's importer. Raises Unusable with its message where it refuses."""
    try:
        if source.lower().endswith(".obj"):
            bpy.ops.wm.obj_import(filepath=source, forward_axis="NEGATIVE_Z", up_axis="Y")
        else:
            bpy.ops.import_scene.gltf(filepath=source, disable_bone_shape=True, import_scene_extras=False)
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("Location:")]
        message = lines[-1][:300] if lines else "no message"
        if "draco" in message:
            # The bpy wheels of Blender 5.2 come without the library.
            raise Unusable("unsupported_extension", "KHR_draco_mesh_compression: this Blender has no decoder") from None
        raise Unusable("import_failed", message) from None
    for armature in bpy.data.armatures:
        armature.pose_position = "REST"
    bpy.context.view_layer.update()


def visible_meshes() -> list[Any]:
    """The mesh objects that the default scene shows."""
    return [item for item in bpy.context.view_layer.objects if item.type == "MESH" and item.visible_get()]


def decimate(max_triangles: int) -> bool:
    """Add modifiers that bring the whole to about `max_triangles`; whether there was need."""
    objects = visible_meshes()
    counts = [len(item.data.loops) - 2 * len(item.data.polygons) for item in objects]
    total = sum(counts)
    if total <= max_triangles:
        return False
    for item, count in zip(objects, counts, strict=True):
        if count < DECIMATE_FROM:
            continue
        # glTF splits vertices along seams; unless they are joined, decimation opens cracks there.
        weld = item.modifiers.new("weld", "WELD")
        weld.merge_threshold = max(max(item.dimensions) / max(max(abs(s) for s in item.scale), 1e-12) * 1e-6, 1e-12)
        modifier = item.modifiers.new("decimate", "DECIMATE")
        modifier.ratio = max_triangles / total
    return True


def collect(textures: materials.Textures) -> tuple[Soup, list[materials.Surface], list[str]]:
    """All visible geometry in world space, the materials that it uses, and warnings."""
    graph = bpy.context.evaluated_depsgraph_get()
    surfaces: list[materials.Surface] = [materials.Surface(PLAIN)]
    known: dict[str, int] = {}
    parts: list[Soup] = []
    warnings: list[str] = []
    for item in visible_meshes():
        evaluated = item.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        if any(modifier.type == "DECIMATE" for modifier in item.modifiers):
            reshade(mesh)
        mesh.calc_loop_triangles()
        if len(mesh.loop_triangles):
            slots = []
            for slot in item.material_slots:
                if slot.material is None:
                    slots.append(0)
                    continue
                if slot.material.name not in known:
                    known[slot.material.name] = len(surfaces)
                    surfaces.append(materials.flatten(slot.material, textures))
                slots.append(known[slot.material.name])
            if not slots:
                slots = [shown_colours(mesh, surfaces)]
            parts.append(read_mesh(mesh, item.matrix_world, slots, surfaces, warnings))
        evaluated.to_mesh_clear()
    if not parts:
        raise Unusable("no_geometry", "no triangles in the default scene")
    return geometry.join(parts), surfaces, warnings


def shown_colours(mesh: Any, surfaces: list[materials.Surface]) -> int:
    """Index of the material for an object without one: plain grey, or its vertex colours (an .obj may have them)."""
    if not mesh.color_attributes:
        return 0
    white = dataclasses.replace(PLAIN, name="vertex colours", base_rgba=(1.0, 1.0, 1.0, 1.0), uses_corner_rgba=True)
    surfaces.append(materials.Surface(white))
    return len(surfaces) - 1


def reshade(mesh: Any) -> None:
    """Normals from the decimated surface: the file's own belong to corners that are gone."""
    custom = mesh.attributes.get("custom_normal")
    if custom is not None:
        mesh.attributes.remove(custom)
    mesh.shade_smooth()
    mesh.set_sharp_from_angle(angle=math.radians(SMOOTH_ANGLE_DEG))


def read_mesh(mesh: Any, matrix: Any, slots: list[int], surfaces: list[materials.Surface], warnings: list[str]) -> Soup:
    """One evaluated mesh as arrays in world space; `slots` gives the surface index of each material slot."""
    count = len(mesh.loop_triangles)
    world = np.array(matrix, dtype=np.float64)
    positions = foreach(mesh.vertices, "co", np.float32, 3).astype(np.float64) @ world[:3, :3].T + world[:3, 3]
    triangles = foreach(mesh.loop_triangles, "vertices", np.int32, 3).astype(np.int64)
    loops = foreach(mesh.loop_triangles, "loops", np.int32, 3)
    slot = np.minimum(foreach(mesh.loop_triangles, "material_index", np.int32, 1)[:, 0], len(slots) - 1)
    material = np.array(slots, dtype=np.int64)[slot]

    normals = foreach(mesh.corner_normals, "vector", np.float32, 3)[loops].astype(np.float64)
    determinant = float(np.linalg.det(world[:3, :3]))
    if determinant != 0:
        normals = normals @ np.linalg.inv(world[:3, :3])
    normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-20)

    uv = np.zeros((count, 3, 2))
    for index in np.unique(material):
        surface = surfaces[index]
        if surface.material.texture < 0:
            continue
        at = material == index
        layer = mesh.uv_layers.get(surface.uv_map) if surface.uv_map else None
        layer = layer or next((entry for entry in mesh.uv_layers if entry.active_render), None)
        if layer is None:
            # glTF leaves this open; Blender and the viewers show the first texel everywhere.
            warnings.append("texture_without_uv")
            raw = np.tile([0.0, 1.0], (int(at.sum()) * 3, 1)) + [0.5, -0.5] / np.array(surface.texture_size)
        else:
            raw = np.nan_to_num(foreach(layer.uv, "vector", np.float32, 2)[loops[at]].astype(np.float64).reshape(-1, 2))
        uv[at] = materials.change_uv(raw, surface).reshape(-1, 3, 2)

    rgba = np.ones((count, 3, 4))
    if len(mesh.color_attributes) and any(surfaces[index].material.uses_corner_rgba for index in slots):
        colours = mesh.color_attributes[max(mesh.color_attributes.render_color_index, 0)]
        values = foreach(colours.data, "color", np.float32, 4).astype(np.float64)
        rgba = values[loops] if colours.domain == "CORNER" else values[triangles]

    if determinant < 0:
        # A mirrored object: the order of corners has to turn for the faces to look outwards again.
        triangles, normals, uv, rgba = triangles[:, ::-1], normals[:, ::-1], uv[:, ::-1], rgba[:, ::-1]
    return Soup(positions, triangles, normals, uv, rgba, material)


def foreach(collection: Any, name: str, dtype: Any, width: int) -> NDArray[Any]:
    """A property of all items of a Blender collection, as (N, width)."""
    flat = np.empty(len(collection) * width, dtype=dtype)
    collection.foreach_get(name, flat)
    return flat.reshape(-1, width)


def to_model(soup: Soup, surfaces: list[materials.Surface], textures: materials.Textures) -> Model:
    """The arrays of the file format; materials that nothing uses are dropped."""
    used, index = np.unique(soup.material, return_inverse=True)
    chosen = tuple(surfaces[number].material for number in used)
    rgba = None
    if any(material.uses_corner_rgba for material in chosen):
        rgba = np.concatenate([repaint.to_srgb(soup.rgba[..., :3]), soup.rgba[..., 3:].clip(0, 1)], axis=-1)
        rgba = (rgba * 255 + 0.5).astype(np.uint8).reshape(-1, 4)
    return Model(
        positions=soup.positions.astype(np.float32),
        triangles=soup.triangles.astype(np.int32),
        corner_normals=soup.normals.reshape(-1, 3).astype(np.float32),
        corner_uv=soup.uv.reshape(-1, 2).astype(np.float32),
        corner_rgba=rgba,
        material_index=index.reshape(-1).astype(np.int32),
        materials=chosen,
        textures=tuple(textures.arrays),
    )


def visible_points(soup: Soup, model: Model) -> NDArray[np.float64]:
    """Points (N, 3) spread over the surface, those without opacity left out."""
    triangle, weights = geometry.spread_points(soup, geometry.SILHOUETTE_POINTS)
    alpha = np.ones(len(triangle))
    uv = np.einsum("nc,ncd->nd", weights, soup.uv[triangle])
    for index, material in enumerate(model.materials):
        if material.alpha_mode == "opaque":
            continue
        at = model.material_index[triangle] == index
        alpha[at] = material.base_rgba[3]
        if material.texture >= 0:
            texture = model.textures[material.texture]
            height, width = texture.shape[:2]
            column = np.floor(uv[at, 0] * width).astype(np.int64) % width
            row = np.floor((1 - uv[at, 1]) * height).astype(np.int64) % height
            alpha[at] *= texture[row, column, 3] / 255
        if material.uses_corner_rgba:
            alpha[at] *= np.einsum("nc,nc->n", weights[at], soup.rgba[triangle[at]][..., 3])
        if material.alpha_mode == "mask":
            alpha[at] = alpha[at] >= material.alpha_cutoff
    points = np.einsum("nc,ncd->nd", weights, soup.positions[soup.triangles[triangle]])
    kept: NDArray[np.float64] = points[alpha > materials.INVISIBLE_ALPHA]
    return kept


def save_model(model: Model, path: Path) -> None:
    """Write the .npz under a temporary name, then rename it: whoever reads meets a whole file or none."""
    arrays: dict[str, NDArray[Any]] = {
        "positions": model.positions,
        "triangles": model.triangles,
        "corner_normals": model.corner_normals,
        "corner_uv": model.corner_uv,
        "material_index": model.material_index,
        "materials": np.frombuffer(
            json.dumps([dataclasses.asdict(material) for material in model.materials]).encode(), dtype=np.uint8
        ),
    }
    if model.corner_rgba is not None:
        arrays["corner_rgba"] = model.corner_rgba
    arrays |= {f"texture_{index}": texture for index, texture in enumerate(model.textures)}
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("wb") as file:
        np.savez(file, **arrays)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


if __name__ == "__main__":
    main()
