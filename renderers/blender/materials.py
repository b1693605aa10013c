"""Shader trees: models' own materials, painted ones, stage surfaces, and the flat ones that masks are read from."""

import bpy
import numpy as np
from numpy.typing import NDArray

from generator.specs import PaintPlan, Rgb, SurfaceSpec
from renderers.model import Material, Model
from renderers.repaint import repaint, to_linear, to_srgb

# Each surface lets this much of what is behind it through in the mask pass. A power of two, so that sums are
# exact in float32; small enough that everything behind a surface adds up to less than the surface itself.
MASK_TRANSMISSION = 0.125
# From this opacity on a blended surface (tinted glass) counts as seen.
SEEN_ALPHA = 0.25


def srgb_to_rgba(rgb: Rgb) -> tuple[float, float, float, float]:
    """An sRGB colour as the linear RGBA that shader sockets take."""
    red, green, blue = (float(value) for value in to_linear(np.array(rgb)))
    return (red, green, blue, 1.0)


def new_material(name: str) -> tuple["bpy.types.Material", "bpy.types.NodeTree", "bpy.types.Node"]:
    """An empty material, its tree and its output node."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    return material, tree, tree.nodes.new("ShaderNodeOutputMaterial")


def new_image(name: str, pixels: NDArray[np.uint8]) -> "bpy.types.Image":
    """An 8-bit sRGB image datablock from (h, w, 4), first row on top."""
    height, width = pixels.shape[:2]
    image = bpy.data.images.new(name, width, height, alpha=True)
    image.alpha_mode = "CHANNEL_PACKED"
    image.pixels.foreach_set((pixels[::-1].astype(np.float32) / 255.0).ravel())
    image.pack()
    return image


def model_material(
    model: Model, number: int, paint: Rgb | None, plan: PaintPlan | None, name: str
) -> "bpy.types.Material":
    """Material `number` of a model, in its own colours or painted."""
    item = model.materials[number]
    painted = paint is not None and plan is not None and (plan.mode != "material" or item.name == plan.material)
    material, tree, output = new_material(name)
    shader = tree.nodes.new("ShaderNodeBsdfPrincipled")
    shader.inputs["Roughness"].default_value = item.roughness
    # Painted metal would show the room instead of its colour.
    shader.inputs["Metallic"].default_value = min(item.metallic, 0.0 if painted else 0.7)
    if max(item.emission_rgb) > 0 and not painted:
        shader.inputs["Emission Color"].default_value = (*item.emission_rgb, 1.0)
        shader.inputs["Emission Strength"].default_value = 1.0
    base = np.array([item.base_rgba[:3]], dtype=np.float64)
    alpha = None
    if item.texture >= 0:
        pixels = model.textures[item.texture]
        if painted or not np.allclose(base, 1.0):
            assert plan is not None or not painted
            pixels = _recoloured(pixels, base, paint if painted else None, plan)
        texture = tree.nodes.new("ShaderNodeTexImage")
        texture.image = new_image(f"{name}.texture", pixels)
        tree.nodes.active = texture  # Workbench shows the active node's image,
        colour, alpha = texture.outputs["Color"], texture.outputs["Alpha"]
        tree.links.new(colour, shader.inputs["Base Color"])
    else:
        if painted:
            assert plan is not None
            assert paint is not None
            base = repaint(base, plan, paint)
        shader.inputs["Base Color"].default_value = (*(float(value) for value in base[0]), 1.0)
        material.diffuse_color = shader.inputs["Base Color"].default_value  # ... or else this colour.
    if item.uses_corner_rgba and not painted:
        _multiply_corner_colour(tree, shader)
    tree.links.new(_with_alpha(tree, item, shader.outputs[0], alpha), output.inputs["Surface"])
    return material


def mask_material(item: Material, texture: NDArray[np.uint8] | None, channel: int, name: str) -> "bpy.types.Material":
    """Emission in one colour channel, letting `MASK_TRANSMISSION` through; alpha cut-outs stay cut out.

    channel -1 is the stage: it emits nothing and hides as much.
    """
    material, tree, output = new_material(name)
    emission = tree.nodes.new("ShaderNodeEmission")
    colour = [0.0, 0.0, 0.0, 1.0]
    if channel >= 0:
        colour[channel] = 1.0
    emission.inputs["Color"].default_value = colour
    through = tree.nodes.new("ShaderNodeBsdfTransparent")
    through.inputs["Color"].default_value = (*(MASK_TRANSMISSION,) * 3, 1.0)
    both = tree.nodes.new("ShaderNodeAddShader")
    tree.links.new(emission.outputs[0], both.inputs[0])
    tree.links.new(through.outputs[0], both.inputs[1])
    alpha = None
    if texture is not None and item.alpha_mode != "opaque":
        node = tree.nodes.new("ShaderNodeTexImage")
        node.image = new_image(f"{name}.alpha", texture)
        alpha = node.outputs["Alpha"]
    tree.links.new(_with_alpha(tree, item, both.outputs[0], alpha, hard=True), output.inputs["Surface"])
    return material


def surface_material(surface: SurfaceSpec, name: str) -> "bpy.types.Material":
    """A slab's material; "tile" expects UVs in metres, "camera" needs none."""
    material, tree, output = new_material(name)
    if surface.lit:
        shader = tree.nodes.new("ShaderNodeBsdfPrincipled")
        shader.inputs["Roughness"].default_value = surface.roughness
        socket = shader.inputs["Base Color"]
        tree.links.new(shader.outputs[0], output.inputs["Surface"])
    else:
        shader = tree.nodes.new("ShaderNodeEmission")
        socket = shader.inputs["Color"]
        # Only the camera sees it: a photograph must not light the scene, nor be tried as a lamp in vain.
        material.cycles.emission_sampling = "NONE"
        path, none = tree.nodes.new("ShaderNodeLightPath"), tree.nodes.new("ShaderNodeBsdfTransparent")
        mix = tree.nodes.new("ShaderNodeMixShader")
        tree.links.new(path.outputs["Is Camera Ray"], mix.inputs[0])
        tree.links.new(none.outputs[0], mix.inputs[1])
        tree.links.new(shader.outputs[0], mix.inputs[2])
        tree.links.new(mix.outputs[0], output.inputs["Surface"])
    socket.default_value = srgb_to_rgba(surface.rgb)
    material.diffuse_color = srgb_to_rgba(surface.rgb)
    if surface.texture is None:
        return material
    coordinates = tree.nodes.new("ShaderNodeTexCoord")
    mapping = tree.nodes.new("ShaderNodeMapping")
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = bpy.data.images.load(surface.texture, check_existing=True)
    tree.nodes.active = texture
    if surface.projection == "camera":
        texture.extension = "EXTEND"
        tree.links.new(coordinates.outputs["Window"], mapping.inputs["Vector"])
    else:
        mapping.inputs["Scale"].default_value = (1.0 / surface.tile_m,) * 3
        tree.links.new(coordinates.outputs["UV"], mapping.inputs["Vector"])
    tree.links.new(mapping.outputs[0], texture.inputs["Vector"])
    tint = tree.nodes.new("ShaderNodeMix")
    tint.data_type, tint.blend_type = "RGBA", "MULTIPLY"
    tint.inputs[0].default_value = 1.0
    tree.links.new(texture.outputs["Color"], tint.inputs[6])
    tint.inputs[7].default_value = srgb_to_rgba(surface.rgb)
    tree.links.new(tint.outputs[2], socket)
    return material


def _recoloured(
    pixels: NDArray[np.uint8], base: NDArray[np.float64], paint: Rgb | None, plan: PaintPlan | None
) -> NDArray[np.uint8]:
    """A texture times its base colour factor, painted if asked; alpha is kept."""
    linear = to_linear(pixels[..., :3].reshape(-1, 3) / 255.0) * base
    if paint is not None:
        assert plan is not None
        linear = repaint(linear, plan, paint)
    result = pixels.copy()
    result[..., :3] = np.round(to_srgb(linear) * 255).astype(np.uint8).reshape(*pixels.shape[:2], 3)
    return result


def _multiply_corner_colour(tree: "bpy.types.NodeTree", shader: "bpy.types.Node") -> None:
    socket = shader.inputs["Base Color"]
    colour = tree.nodes.new("ShaderNodeVertexColor")
    colour.layer_name = "colour"
    mix = tree.nodes.new("ShaderNodeMix")
    mix.data_type, mix.blend_type = "RGBA", "MULTIPLY"
    mix.inputs[0].default_value = 1.0
    if socket.is_linked:
        tree.links.new(socket.links[0].from_socket, mix.inputs[6])
    else:
        mix.inputs[6].default_value = tuple(socket.default_value)
    tree.links.new(colour.outputs["Color"], mix.inputs[7])
    tree.links.new(mix.outputs[2], socket)


def _with_alpha(
    tree: "bpy.types.NodeTree",
    item: Material,
    shader: "bpy.types.NodeSocket",
    alpha: "bpy.types.NodeSocket | None",
    hard: bool = False,
) -> "bpy.types.NodeSocket":
    """The shader behind the material's alpha; `hard` cuts blended alpha, as masks need."""
    if item.alpha_mode == "opaque":
        return shader
    if alpha is None:
        value = tree.nodes.new("ShaderNodeValue")
        value.outputs[0].default_value = item.base_rgba[3]
        alpha = value.outputs[0]
    elif item.base_rgba[3] != 1.0:
        product = tree.nodes.new("ShaderNodeMath")
        product.operation = "MULTIPLY"
        tree.links.new(alpha, product.inputs[0])
        product.inputs[1].default_value = item.base_rgba[3]
        alpha = product.outputs[0]
    if item.alpha_mode == "mask" or hard:
        step = tree.nodes.new("ShaderNodeMath")
        step.operation = "GREATER_THAN"
        tree.links.new(alpha, step.inputs[0])
        step.inputs[1].default_value = item.alpha_cutoff if item.alpha_mode == "mask" else SEEN_ALPHA
        alpha = step.outputs[0]
    hole = tree.nodes.new("ShaderNodeBsdfTransparent")
    mix = tree.nodes.new("ShaderNodeMixShader")
    tree.links.new(alpha, mix.inputs[0])
    tree.links.new(hole.outputs[0], mix.inputs[1])
    tree.links.new(shader, mix.inputs[2])
    return mix.outputs[0]
