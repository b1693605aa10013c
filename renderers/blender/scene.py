"""Build a Blender scene from a SceneSpec, and take it down again. No choices are made here."""

import math
from collections import OrderedDict
from dataclasses import dataclass, field

import bpy  # Before bmesh and mathutils, which exist only once bpy is loaded.

# isort: split
import bmesh
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from generator.specs import CameraSpec, LightSpec, ObjectSpec, PaintPlan, Rgb, SceneSpec, SlabSpec, Vec3, camera_axes
from renderers.blender import materials
from renderers.model import Material, Model, load_model

# Models kept loaded at a time: a bound on memory, whatever the number of pairs.
MODEL_CACHE_SIZE = 48


@dataclass
class LoadedModel:
    """One prepared model as a mesh datablock, with the materials made for it so far."""

    model: Model
    mesh: "bpy.types.Mesh"
    materials: "dict[tuple[int, Rgb | None], bpy.types.Material]" = field(default_factory=dict)
    masks: "dict[tuple[int, int], bpy.types.Material]" = field(default_factory=dict)

    def remove(self) -> None:
        """Free every datablock that belongs to this model, images included."""
        for material in (*self.materials.values(), *self.masks.values()):
            for node in material.node_tree.nodes:
                if node.bl_idname == "ShaderNodeTexImage" and node.image is not None:
                    bpy.data.images.remove(node.image)
            bpy.data.materials.remove(material)
        bpy.data.meshes.remove(self.mesh)


class Stagehand:
    """Keeps models loaded between jobs, builds scenes and clears them.

    Objects are made anew for each job, in the order of the spec and under fixed names, so that a picture does
    not depend on what the process rendered before.
    """

    def __init__(self) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.beauty = bpy.context.scene
        self.masks = bpy.data.scenes.new("masks")
        for scene in (self.beauty, self.masks):
            scene.world = bpy.data.worlds.new(scene.name)
            scene.world.use_nodes = True
        self.masks.world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.0
        self._stage_mask = materials.mask_material(_STAGE, None, -1, "stage mask")
        self._models: OrderedDict[str, LoadedModel] = OrderedDict()

    def build(self, spec: SceneSpec) -> None:
        """Fill both scenes: the one to look at, and its double with flat materials."""
        self.clear()
        for number, item in enumerate(spec.objects):
            self._add_object(item, number)
        for slab in spec.slabs:
            self._add_slab(slab)
        _add_light(self.beauty, spec.light)
        for scene in (self.beauty, self.masks):
            _add_camera(scene, spec.camera)

    def box_of(self, spec: ObjectSpec) -> tuple[Vec3, Vec3]:
        """The lowest and the highest corner of the world-aligned box around an object."""
        positions = self._load(spec.model).model.positions
        matrix = np.array(_placement(spec, positions))
        placed = positions.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        (x0, y0, z0), (x1, y1, z1) = placed.min(axis=0).tolist(), placed.max(axis=0).tolist()
        return (x0, y0, z0), (x1, y1, z1)

    def clear(self) -> None:
        """Remove everything that the last job added, and models beyond the cache's size."""
        for scene in (self.beauty, self.masks):
            for item in list(scene.collection.objects):
                bpy.data.objects.remove(item)
        kept = {loaded.mesh for loaded in self._models.values()}
        for mesh in [mesh for mesh in bpy.data.meshes if mesh not in kept]:
            bpy.data.meshes.remove(mesh)
        for kind in (bpy.data.cameras, bpy.data.lights):
            for item in list(kind):
                kind.remove(item)
        for material in [item for item in bpy.data.materials if item.name.startswith("slab:")]:
            bpy.data.materials.remove(material)
        while len(self._models) > MODEL_CACHE_SIZE:
            self._models.popitem(last=False)[1].remove()

    def _add_object(self, spec: ObjectSpec, number: int) -> None:
        loaded = self._load(spec.model)
        matrix = _placement(spec, loaded.model.positions)
        for scene in (self.beauty, self.masks):
            item = bpy.data.objects.new(f"{scene.name} object {number}", loaded.mesh)
            scene.collection.objects.link(item)
            item.matrix_world = matrix
            for slot_number, slot in enumerate(item.material_slots):
                slot.link = "OBJECT"
                if scene is self.beauty:
                    slot.material = self._material(loaded, slot_number, spec.paint, spec.paint_plan)
                else:
                    slot.material = self._mask(loaded, slot_number, number)

    def _add_slab(self, spec: SlabSpec) -> None:
        mesh = _slab_mesh(spec)
        for scene in (self.beauty, self.masks):
            item = bpy.data.objects.new(f"{scene.name} {spec.name}", mesh)
            scene.collection.objects.link(item)
            slot = item.material_slots[0]
            slot.link = "OBJECT"
            if scene is self.beauty:
                slot.material = materials.surface_material(spec.surface, f"slab:{spec.name}")
            else:
                slot.material = self._stage_mask

    def _load(self, path: str) -> LoadedModel:
        if path not in self._models:
            model = load_model(path)
            self._models[path] = LoadedModel(model, _model_mesh(model))
        self._models.move_to_end(path)
        return self._models[path]

    def _material(
        self, loaded: LoadedModel, number: int, paint: Rgb | None, plan: PaintPlan | None
    ) -> "bpy.types.Material":
        key = (number, paint)
        if key not in loaded.materials:
            loaded.materials[key] = materials.model_material(loaded.model, number, paint, plan, "model")
        return loaded.materials[key]

    def _mask(self, loaded: LoadedModel, number: int, channel: int) -> "bpy.types.Material":
        key = (number, channel)
        if key not in loaded.masks:
            item = loaded.model.materials[number]
            texture = loaded.model.textures[item.texture] if item.texture >= 0 else None
            loaded.masks[key] = materials.mask_material(item, texture, channel, "mask")
        return loaded.masks[key]


# A flat fork's surface lies in the plane that it stands on; in one plane, each would lie in the other's shadow.
CLEARANCE = 0.001
_STAGE = Material("stage", (0.0, 0.0, 0.0, 1.0), 0.0, 1.0, (0.0, 0.0, 0.0), "opaque", 0.5, -1, False)


def _placement(spec: ObjectSpec, positions: NDArray[np.float32]) -> Matrix:
    """Turn, scale and set down: the turned object's footprint is centred on x, y and its lowest point touches z."""
    turn = _about("Z", spec.yaw_deg) @ _about("X", spec.pitch_deg) @ _about("Z", spec.spin_deg)
    turned = positions.astype(np.float64) @ np.array(turn).T * spec.scale_m
    low, high = turned.min(axis=0), turned.max(axis=0)
    anchor = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2] - CLEARANCE * spec.scale_m])
    move = Matrix.Translation(Vector(np.array(spec.position_m) - anchor))
    return move @ turn.to_4x4() @ Matrix.Scale(spec.scale_m, 4)


def _about(axis: str, angle_deg: float) -> Matrix:
    return Matrix.Rotation(math.radians(angle_deg), 3, axis)


def _model_mesh(model: Model) -> "bpy.types.Mesh":
    count = len(model.triangles)
    mesh = bpy.data.meshes.new("model")
    mesh.vertices.add(len(model.positions))
    mesh.vertices.foreach_set("co", model.positions.ravel())
    mesh.loops.add(3 * count)
    mesh.loops.foreach_set("vertex_index", model.triangles.ravel())
    mesh.polygons.add(count)
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * count, 3, dtype=np.int32))
    mesh.polygons.foreach_set("material_index", model.material_index)
    mesh.uv_layers.new(name="uv").uv.foreach_set("vector", model.corner_uv.ravel())
    if model.corner_rgba is not None:
        # sRGB bytes in, linear colours out: byte colour attributes are converted by Blender.
        attribute = mesh.color_attributes.new("colour", "BYTE_COLOR", "CORNER")
        attribute.data.foreach_set("color_srgb", (model.corner_rgba.astype(np.float32) / 255.0).ravel())
    for _ in model.materials:
        mesh.materials.append(None)
    mesh.update()
    mesh.normals_split_custom_set(model.corner_normals)
    return mesh


def _slab_mesh(spec: SlabSpec) -> "bpy.types.Mesh":
    """A box (or a plane, where a side is 0) with UVs in metres, taken along each face's main axis."""
    mesh = bpy.data.meshes.new(spec.name)
    frame = bmesh.new()
    bmesh.ops.create_cube(frame, size=1.0)
    bmesh.ops.scale(frame, vec=spec.size_m, verts=frame.verts)
    bmesh.ops.translate(frame, vec=spec.centre_m, verts=frame.verts)
    if min(spec.size_m) == 0.0:
        axis = spec.size_m.index(0.0)
        # The collapsed cube's far side and rims would lie on the near one and make Cycles blotch.
        facing = max(frame.faces, key=lambda face: face.normal[axis] * (-1 if axis == 1 else 1))
        bmesh.ops.delete(frame, geom=[face for face in frame.faces if face is not facing], context="FACES")
    elif spec.bevel_m > 0:
        bmesh.ops.bevel(frame, geom=list(frame.edges), offset=spec.bevel_m, segments=2, affect="EDGES", profile=0.5)
    layer = frame.loops.layers.uv.new("uv")
    for face in frame.faces:
        face.smooth = False
        sizes = [abs(value) for value in face.normal]
        axis = sizes.index(max(sizes))
        across, along = {0: (1, 2), 1: (0, 2), 2: (0, 1)}[axis]
        for loop in face.loops:
            loop[layer].uv = (loop.vert.co[across], loop.vert.co[along])
    frame.to_mesh(mesh)
    frame.free()
    mesh.materials.append(None)
    return mesh


def _add_camera(scene: "bpy.types.Scene", spec: CameraSpec) -> None:
    data = bpy.data.cameras.new("camera")
    data.lens = spec.focal_length_mm
    data.sensor_width = spec.sensor_width_mm
    data.shift_x, data.shift_y = spec.shift
    data.clip_start, data.clip_end = 0.01, 1000.0
    camera = bpy.data.objects.new("camera", data)
    right, up, forward = (Vector(axis) for axis in camera_axes(spec))
    turn = Matrix((right, up, -forward)).transposed()
    camera.matrix_world = Matrix.Translation(Vector(spec.position_m)) @ turn.to_4x4()
    scene.collection.objects.link(camera)
    scene.camera = camera


def _add_light(scene: "bpy.types.Scene", spec: LightSpec) -> None:
    data = bpy.data.lights.new("key", "SUN")
    data.energy = spec.key_strength
    data.color = materials.srgb_to_rgba(spec.key_rgb)[:3]
    data.angle = math.radians(spec.angle_deg)
    light = bpy.data.objects.new("key", data)
    azimuth, elevation = math.radians(spec.azimuth_deg), math.radians(spec.elevation_deg)
    towards = Vector(
        (math.sin(azimuth) * math.cos(elevation), -math.cos(azimuth) * math.cos(elevation), math.sin(elevation))
    )
    light.matrix_world = towards.to_track_quat("Z", "Y").to_matrix().to_4x4()
    scene.collection.objects.link(light)
    background = scene.world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value = materials.srgb_to_rgba(spec.fill_rgb)
    background.inputs["Strength"].default_value = spec.fill_strength
