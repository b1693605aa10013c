"""What Blender's importers made of a file's materials, read back from their node trees into flat descriptions.

The importers build a small and fixed set of nodes: factors multiplied with an image and with vertex colours. Each
socket is traced to that product; what a prepared model does not hold (normal maps, coats, glass) is left behind.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from renderers.geometry import Unusable
from renderers.model import Material

MAX_TEXTURE_PX = 1024
# A perfectly rough metal does not exist: it is glTF's default, left there by exporters that meant plain paint.
ROUGH_METAL = 0.9
# Below this opacity a part is not there for the eye.
INVISIBLE_ALPHA = 0.02

Wrap = Literal["repeat", "clamp", "mirror"]
CHANNELS = {"Red": 0, "Green": 1, "Blue": 2, "Alpha": 3}


@dataclass(frozen=True)
class Trace:
    """A socket as a product: factor (3 linear channels) x image channel(s) x vertex colour.

    cutoff: where the product is compared against a threshold. mapping: (location, rotation, scale) of the UVs.
    """

    factor: tuple[float, float, float] = (1.0, 1.0, 1.0)
    image: Any = None
    channel: int = -1
    uv_map: str = ""
    wrap: tuple[Wrap, Wrap] = ("repeat", "repeat")
    mapping: tuple[NDArray[np.float64], float, NDArray[np.float64]] | None = None
    corner_colour: bool = False
    cutoff: float | None = None


@dataclass
class Surface:
    """A traced material: its description, and how the UVs of the corners that carry it are to be changed."""

    material: Material
    uv_map: str = ""
    wrap: tuple[Wrap, Wrap] = ("repeat", "repeat")
    mapping: tuple[NDArray[np.float64], float, NDArray[np.float64]] | None = None
    texture_size: tuple[int, int] = (1, 1)
    invisible: bool = False


@dataclass
class Textures:
    """Pixels of the images in use, each read and scaled once."""

    arrays: list[NDArray[np.uint8]] = field(default_factory=list)
    _known: dict[tuple[str, str, Wrap, Wrap], int] = field(default_factory=dict)

    def add(self, colour: Any, alpha: Any, wrap: tuple[Wrap, Wrap]) -> int:
        """Index of the texture with the colour image's RGB and the alpha image's A (None: white, opaque)."""
        key = (colour.name if colour else "", alpha.name if alpha else "", *wrap)
        if key not in self._known:
            pixels = read_pixels(colour or alpha).copy()
            if colour is None:
                pixels[..., :3] = 255
            if alpha is None:
                pixels[..., 3] = 255
            elif colour is not None and alpha.name != colour.name:
                pixels[..., 3] = _resized(read_pixels(alpha)[..., 0], pixels.shape[:2])
            self._known[key] = len(self.arrays)
            self.arrays.append(_unmirrored(pixels, wrap))
        return self._known[key]


def read_pixels(image: Any, limit: int = MAX_TEXTURE_PX) -> NDArray[np.uint8]:
    """An image as (h, w, 4) uint8 sRGB, first row on top, at most `limit` pixels a side. Raises Unusable."""
    width, height = image.size
    if width == 0 or height == 0 or not len(image.pixels) or not image.has_data:
        raise Unusable("missing_texture", f"image {image.name!r} cannot be read")
    scale = limit / max(width, height)
    if scale < 1:
        image = image.copy()
        image.scale(max(1, round(width * scale)), max(1, round(height * scale)))
        width, height = image.size
    flat = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(flat)
    pixels = np.flipud(flat.reshape(height, width, 4))
    if image.is_float:
        # Float images hold linear light; byte images hold what the file holds.
        low = pixels[..., :3].clip(0, 1)
        srgb = np.where(low <= 0.0031308, low * 12.92, 1.055 * low ** (1 / 2.4) - 0.055)
        pixels = np.concatenate([srgb, pixels[..., 3:]], axis=-1)
    return (pixels.clip(0, 1) * 255 + 0.5).astype(np.uint8)


def trace(socket: Any) -> Trace:
    """The product behind an input socket."""
    if not socket.is_linked:
        return Trace(factor=_triple(socket.default_value))
    link = socket.links[0]
    node = link.from_node
    if node.type == "TEX_IMAGE":
        channel = 3 if link.from_socket.name == "Alpha" else -1
        return _trace_image(node, channel)
    if node.type == "MIX":
        return _product(trace(node.inputs[6]), trace(node.inputs[7]))
    if node.type == "MATH":
        return _trace_math(node)
    if node.type in ("VERTEX_COLOR", "ATTRIBUTE"):
        return Trace(corner_colour=True)
    if node.type == "SEPARATE_COLOR":
        return replace(trace(node.inputs[0]), channel=CHANNELS[link.from_socket.name])
    linked = next((entry for entry in node.inputs if entry.is_linked), None)
    return trace(linked) if linked is not None else Trace(factor=_triple(link.from_socket.default_value))


def flatten(blender_material: Any, textures: Textures) -> Surface:
    """A Blender material as a flat description; its images join `textures`."""
    name = blender_material.name
    nodes = blender_material.node_tree.nodes if blender_material.use_nodes else []
    principled = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    if principled is not None:
        colour, alpha = trace(principled.inputs["Base Color"]), trace(principled.inputs["Alpha"])
        metallic, roughness = _mean(trace(principled.inputs["Metallic"])), _mean(trace(principled.inputs["Roughness"]))
        emission = trace(principled.inputs["Emission Color"])
        strength = _mean(trace(principled.inputs["Emission Strength"]))
        if principled.inputs["IOR"].default_value > 100 and max(colour.factor) < 0.04:
            # Specular-glossiness writes a metal as black with a coloured reflection.
            colour, metallic = trace(principled.inputs["Specular Tint"]), 1.0
    else:
        emitter = next((node for node in nodes if node.type == "EMISSION"), None)
        if emitter is None:
            return Surface(Material(name, (0.8, 0.8, 0.8, 1.0), 0.0, 0.5, (0.0, 0.0, 0.0), "opaque", 0.5, -1, False))
        # Unlit: its colour is meant to be seen as it is, which under real light is a diffuse surface.
        colour, alpha = trace(emitter.inputs["Color"]), _unlit_alpha(nodes)
        metallic, roughness, emission, strength = 0.0, 1.0, Trace(), 0.0
    if metallic > 0.5 and roughness >= ROUGH_METAL:
        metallic = 0.0
    if emission.image is not None:
        # A glowing picture on black is an unlit texture in disguise; else it marks small lamps, and one colour for
        # the whole material would be wrong.
        if colour.image is None and max(colour.factor) < 0.02 and strength > 0:
            colour = replace(emission, corner_colour=colour.corner_colour)
        strength = 0.0
    glow = _clamped(tuple(channel * strength for channel in emission.factor))
    return _surface(name, colour, alpha, metallic, roughness, glow, textures)


def _surface(
    name: str,
    colour: Trace,
    alpha: Trace,
    metallic: float,
    roughness: float,
    emission: tuple[float, float, float],
    textures: Textures,
) -> Surface:
    alpha_factor = alpha.factor[0]
    mode: Literal["opaque", "mask", "blend"] = "opaque"
    if alpha.image is not None or alpha_factor < 1 or alpha.corner_colour:
        mode = "blend" if alpha.cutoff is None else "mask"
    index, size = -1, (1, 1)
    if colour.image is not None or alpha.image is not None:
        index = textures.add(colour.image, alpha.image, colour.wrap)
        opacity = textures.arrays[index][..., 3]
        size = (opacity.shape[1], opacity.shape[0])
        if mode == "blend" and alpha_factor >= 1 and not alpha.corner_colour and opacity.min() >= 250:
            mode = "opaque"  # Many exporters say BLEND of everything.
        alpha_peak = alpha_factor * float(opacity.max()) / 255
    else:
        alpha_peak = alpha_factor
    source = colour if colour.image is not None else alpha
    base = (*_clamped(colour.factor), float(min(max(alpha_factor, 0.0), 1.0)))
    cutoff = 0.5 if alpha.cutoff is None else alpha.cutoff
    uses_corners = colour.corner_colour or alpha.corner_colour
    limit = cutoff if mode == "mask" else INVISIBLE_ALPHA
    return Surface(
        Material(name, base, metallic, roughness, emission, mode, cutoff, index, uses_corners),
        uv_map=source.uv_map,
        wrap=source.wrap,
        mapping=source.mapping,
        texture_size=size,
        invisible=mode != "opaque" and alpha_peak < limit,
    )


def change_uv(uv: NDArray[np.float64], surface: Surface) -> NDArray[np.float64]:
    """UVs (N, 2) as the renderer needs them, which repeats every texture: transform and wrap modes worked in."""
    if surface.mapping is not None:
        location, angle, scale = surface.mapping
        cos, sin = np.cos(angle), np.sin(angle)
        uv = (uv * scale) @ np.array([[cos, sin], [-sin, cos]]) + location
    uv = uv.copy()
    for axis in (0, 1):
        if surface.wrap[axis] == "clamp":
            margin = 0.5 / surface.texture_size[axis]
            uv[:, axis] = uv[:, axis].clip(margin, 1 - margin)
        elif surface.wrap[axis] == "mirror":
            uv[:, axis] /= 2
    return uv


def _trace_image(node: Any, channel: int) -> Trace:
    if node.image is None:
        raise Unusable("missing_texture", f"a texture of material {node.id_data.name!r} has no image")
    simple: dict[str, Wrap] = {"REPEAT": "repeat", "MIRROR": "mirror"}
    wrap: tuple[Wrap, Wrap] = (simple.get(node.extension, "clamp"),) * 2
    uv_map, mapping = "", None
    vector = node.inputs["Vector"]
    while vector.is_linked:
        step = vector.links[0].from_node
        if step.type == "COMBXYZ":
            wrap = (_axis_wrap(step.inputs[0]), _axis_wrap(step.inputs[1]))
        elif step.type == "MAPPING":
            location, scale = (np.array(step.inputs[name].default_value[:2]) for name in ("Location", "Scale"))
            mapping = (location, float(step.inputs["Rotation"].default_value[2]), scale)
        elif step.type == "UVMAP":
            uv_map = step.uv_map
        entry = next((entry for entry in step.inputs if entry.is_linked), None)
        if entry is None:
            break
        vector = entry
    return Trace(image=node.image, channel=channel, uv_map=uv_map, wrap=wrap, mapping=mapping)


def _axis_wrap(socket: Any) -> Wrap:
    node = socket.links[0].from_node
    modes: dict[str, Wrap] = {"WRAP": "repeat", "PINGPONG": "mirror"}
    return modes.get(node.operation, "clamp") if node.type == "MATH" else "clamp"


def _trace_math(node: Any) -> Trace:
    if node.operation == "MULTIPLY":
        return _product(trace(node.inputs[0]), trace(node.inputs[1]))
    if node.operation == "LESS_THAN":
        return replace(trace(node.inputs[0]), cutoff=float(node.inputs[1].default_value))
    linked = [entry for entry in node.inputs if entry.is_linked]
    return trace(linked[0]) if linked else Trace()


def _product(a: Trace, b: Trace) -> Trace:
    (a0, a1, a2), (b0, b1, b2) = a.factor, b.factor
    factor = (a0 * b0, a1 * b1, a2 * b2)
    pictured = a if a.image is not None else b
    return replace(pictured, factor=factor, corner_colour=a.corner_colour or b.corner_colour)


def _unlit_alpha(nodes: Any) -> Trace:
    for node in nodes:
        if node.type == "MIX_SHADER":
            factor = node.inputs[0]
            if not (factor.is_linked and factor.links[0].from_node.type == "LIGHT_PATH"):
                return trace(factor)
    return Trace()


def _mean(traced: Trace) -> float:
    """One number for a scalar socket: the factor times the mean of its image's channel."""
    if traced.image is None:
        return float(min(max(traced.factor[0], 0.0), 1.0))
    channel = max(traced.channel, 0)
    return float(min(max(traced.factor[0], 0.0), 1.0) * read_pixels(traced.image, 64)[..., channel].mean() / 255)


def _triple(value: Any) -> tuple[float, float, float]:
    try:
        return (float(value[0]), float(value[1]), float(value[2]))
    except TypeError:
        return (float(value),) * 3


def _clamped(rgb: tuple[float, ...]) -> tuple[float, float, float]:
    red, green, blue = (float(min(max(channel, 0.0), 1.0)) for channel in rgb)
    return (red, green, blue)


def _resized(plane: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    rows = np.arange(shape[0]) * plane.shape[0] // shape[0]
    columns = np.arange(shape[1]) * plane.shape[1] // shape[1]
    resized: NDArray[np.uint8] = plane[rows[:, None], columns[None, :]]
    return resized


def _unmirrored(pixels: NDArray[np.uint8], wrap: tuple[Wrap, Wrap]) -> NDArray[np.uint8]:
    """A mirrored repeat as a plain one of twice the picture; v grows upwards, so the copy goes on top."""
    if wrap[0] == "mirror":
        pixels = np.concatenate([pixels, pixels[:, ::-1]], axis=1)
    if wrap[1] == "mirror":
        pixels = np.concatenate([pixels[::-1], pixels], axis=0)
    return pixels
