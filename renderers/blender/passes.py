"""The two passes of a job: the picture, and one flat pass from which all masks are read.

In the mask pass each object emits in a colour channel of its own and every surface lets 1/8 of what lies behind it
through. At a pixel's centre the nearest surface therefore weighs 1, and all others together at most 1/7: a
channel of 1 or more is the visible object, a channel above 0 an object that is there, hidden or not.
"""

from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generator.specs import RenderSettings
from renderers.blender import compat

# Three colour channels: more objects would need a second pass.
MAX_OBJECTS = 3
# With 1/8 a layer, float32 holds about 40 layers; deeper ones no longer count.
MAX_LAYERS = 40


def set_up(beauty: "bpy.types.Scene", masks: "bpy.types.Scene", settings: RenderSettings) -> None:
    """Configure both scenes for a run."""
    device = compat.choose_device(settings.device) if settings.engine == "cycles" else "CPU"
    for scene in (beauty, masks):
        render = scene.render
        render.resolution_x = render.resolution_y = settings.size_px
        render.resolution_percentage = 100
        render.use_file_extension = False
        render.threads_mode = "FIXED" if settings.threads else "AUTO"
        if settings.threads:
            render.threads = settings.threads
        scene.view_settings.view_transform = "Standard"
        scene.view_settings.look = "None"
    _set_up_beauty(beauty, settings, device)
    _set_up_masks(masks)


def render_picture(scene: "bpy.types.Scene", path: Path, seed: int) -> NDArray[np.uint8]:
    """Render the picture: (H, W, 3), 8-bit sRGB.

    path: a scratch file, removed again. (Blender rounds to 8 bits only on the way to a file.)
    """
    scene.cycles.seed = seed
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)
    with Image.open(path) as picture:
        image = np.asarray(picture.convert("RGB"))
    path.unlink()
    return image


def render_masks(scene: "bpy.types.Scene", path: Path, count: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Masks of `count` objects: visible (H, W), 0 = stage, 1 + i = object i; amodal (count, H, W).

    path: a scratch file, removed again.
    """
    assert 0 < count <= MAX_OBJECTS, count
    layers = render_values(scene, path)[..., :count].transpose(2, 0, 1)
    visible = np.zeros(layers.shape[1:], np.uint8)
    for number, layer in enumerate(layers):
        visible[layer >= 1.0] = 1 + number
    return visible, layers > 0.0


def render_values(scene: "bpy.types.Scene", path: Path) -> NDArray[np.float32]:
    """Render a scene that is set up to write OpenEXR: linear RGBA (H, W, 4), alpha premultiplied, first row on top.

    path: a scratch file, removed again.
    """
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)
    image = bpy.data.images.load(str(path))
    image.colorspace_settings.is_data = True
    width, height = image.size
    values = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    path.unlink()
    return values.reshape(height, width, 4)[::-1]


def _set_up_beauty(scene: "bpy.types.Scene", settings: RenderSettings, device: str) -> None:
    scene.render.engine = compat.engine_id(settings.engine)
    compat.set_file_format(scene.render.image_settings, "PNG", "RGB", "8")
    scene.render.image_settings.compression = 0
    if settings.engine == "eevee":
        scene.eevee.taa_render_samples = settings.samples_per_pixel
    elif settings.engine == "workbench":
        shading = scene.display.shading
        shading.light, shading.color_type = "STUDIO", "TEXTURE"
        shading.show_shadows = shading.show_cavity = True
    cycles = scene.cycles
    cycles.device = device
    cycles.samples = settings.samples_per_pixel
    cycles.use_adaptive_sampling = False
    cycles.use_denoising = True
    cycles.denoiser = "OPENIMAGEDENOISE"
    cycles.denoising_input_passes = "RGB"
    cycles.denoising_prefilter = "NONE"
    cycles.denoising_quality = "FAST"
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 3, 2, 2
    cycles.transparent_max_bounces = 16
    cycles.caustics_reflective = cycles.caustics_refractive = False
    cycles.use_animated_seed = False


def _set_up_masks(scene: "bpy.types.Scene") -> None:
    scene.render.engine = "CYCLES"
    compat.set_file_format(scene.render.image_settings, "OPEN_EXR", "RGBA", "32")
    scene.render.image_settings.exr_codec = "NONE"
    scene.view_settings.view_transform = "Raw"
    cycles = scene.cycles
    cycles.device = "CPU"
    cycles.samples = 1
    cycles.use_adaptive_sampling = False
    cycles.use_denoising = False
    # One sample at the pixel's centre: masks are exact there, not averaged over the pixel.
    cycles.pixel_filter_type = "BOX"
    scene.cycles.filter_width = 0.01
    cycles.max_bounces = 0
    # Cycles ends faint paths by chance unless told to follow them: what lies behind three surfaces would be lost.
    cycles.min_transparent_bounces = cycles.transparent_max_bounces = MAX_LAYERS
    cycles.seed = 0
