"""From the parts of a recipe to one Blender object, ready for export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy  # before bmesh and mathutils, which exist only once it has been imported

# isort: split
import bmesh
from mathutils import Vector

from renderers.blender.recipes.kit import Part
from renderers.blender.recipes.materials import Material

# Coordinates are rounded to this many decimals, so that the last bits of sin and cos never reach a file.
DECIMALS = 5


def assemble(noun: str, parts: Sequence[Part]) -> Any:
    """Join parts into one object named `noun`, centred on x and y, standing on z = 0. Frees the parts."""
    joined = bmesh.new()
    slots: list[Material] = []
    for part in parts:
        if part.material not in slots:
            slots.append(part.material)
        part.append_to(joined, slots.index(part.material))
        part.bm.free()
    _stand(joined)
    mesh = bpy.data.meshes.new(noun)
    joined.to_mesh(mesh)
    joined.free()
    for slot in slots:
        mesh.materials.append(_blender_material(slot))
    item = bpy.data.objects.new(noun, mesh)
    bpy.context.scene.collection.objects.link(item)
    # Large flat faces keep their own normal, so that a bevel shades as a narrow highlight and not as a pillow.
    item.modifiers.new("normals", "WEIGHTED_NORMAL").keep_sharp = True
    return item


def _stand(bm: Any) -> None:
    corners = [vertex.co for vertex in bm.verts]
    low = Vector(min(co[i] for co in corners) for i in range(3))
    high = Vector(max(co[i] for co in corners) for i in range(3))
    shift = Vector((-(low.x + high.x) / 2, -(low.y + high.y) / 2, -low.z))
    for vertex in bm.verts:
        vertex.co = [round(c, DECIMALS) + 0.0 for c in vertex.co + shift]  # + 0.0: no negative zero


def _blender_material(spec: Material) -> Any:
    made = bpy.data.materials.new(spec.name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*spec.linear(), 1.0)
    shader.inputs["Roughness"].default_value = spec.roughness
    shader.inputs["Metallic"].default_value = spec.metallic
    return made
