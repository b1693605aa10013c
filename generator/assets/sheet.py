"""A contact sheet of a catalog: every asset as scenes show it, by the renderer that scenes use, with its noun."""

import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from generator.assets.catalog import Asset
from generator.child import Child, ChildFailure
from generator.errors import RendererError
from generator.render import read_picture
from generator.specs import (
    CameraSpec,
    LightSpec,
    ObjectSpec,
    RenderJob,
    RenderSettings,
    SceneSpec,
    SlabSpec,
    SurfaceSpec,
    to_json,
)

MODULE = "renderers.blender"
LABEL_PX = 18
FIRST_TIMEOUT_S, NEXT_TIMEOUT_S = 180.0, 60.0
FLOOR = SlabSpec("floor", (0.0, 0.0, -0.01), (40.0, 40.0, 0.02), SurfaceSpec((0.72, 0.73, 0.75), 0.6))
LIGHT = LightSpec(-35.0, 50.0, 12.0, 2.4, (1.0, 0.98, 0.95), 0.6, (0.95, 0.97, 1.0))
# Eye height and distance suit anything that stands in a unit box, whichever way its longest side points.
CAMERA_ELEVATION_DEG, CAMERA_DISTANCE_M, FOCAL_LENGTH_MM = 18.0, 2.0, 62.0
YAW_DEG = 25.0


def portrait(asset: Asset) -> SceneSpec:
    """One asset on a plain floor, turned a little, seen from slightly above."""
    elevation = math.radians(CAMERA_ELEVATION_DEG)
    middle = (0.0, 0.0, asset.extent[2] / 2)
    distance = CAMERA_DISTANCE_M * max(0.75, math.sqrt(sum(side * side for side in asset.extent)))
    position = (0.0, -distance * math.cos(elevation), middle[2] + distance * math.sin(elevation))
    item = ObjectSpec("A", asset.uid, asset.noun, asset.model, (0.0, 0.0, 0.0), YAW_DEG, 0.0, 1.0)
    return SceneSpec("sheet", "plain", (item,), (FLOOR,), CameraSpec(position, middle, FOCAL_LENGTH_MM), LIGHT)


def render_portraits(
    assets: Sequence[Asset], size_px: int, samples_per_pixel: int, report: Callable[[int, int], None]
) -> list[Image.Image]:
    """One picture per asset, in order. Raises RendererError when the renderer does not start or dies."""
    settings = RenderSettings("cycles", size_px, samples_per_pixel, "cpu", 0)
    pictures: list[Image.Image] = []
    with tempfile.TemporaryDirectory(prefix="twinscene-sheet-") as scratch:
        child = Child(MODULE, Path(scratch) / "blender.log")
        try:
            child.send({"settings": to_json(settings)})
            ready = child.receive(FIRST_TIMEOUT_S)
            if not ready["ready"]:
                raise RendererError(f"{ready['error']}; see `python -m generator doctor`")
            for index, asset in enumerate(assets):
                out = str(Path(scratch) / str(index))
                child.send({"job": to_json(RenderJob(asset.uid, portrait(asset), index, out))})
                answer = child.receive(NEXT_TIMEOUT_S)
                if not answer["ok"]:
                    raise RendererError(f"cannot render {asset.uid}: {answer['error']}")
                pictures.append(Image.fromarray(read_picture(out, size_px, 1).image))
                report(index + 1, len(assets))
        except ChildFailure as failure:
            raise RendererError(f"the renderer failed: {failure}; {failure.log_tail.strip()[-300:]}") from failure
        finally:
            child.close()
    return pictures


def contact_sheet(pictures: Sequence[Image.Image], labels: Sequence[str], columns: int) -> Image.Image:
    """Pictures of one size in a grid, each above its label."""
    width, height = pictures[0].size
    rows = math.ceil(len(pictures) / columns)
    sheet = Image.new("RGB", (columns * width, rows * (height + LABEL_PX)), (255, 255, 255))
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(LABEL_PX * 0.7)
    for index, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        x, y = index % columns * width, index // columns * (height + LABEL_PX)
        sheet.paste(picture, (x, y))
        while label and draw.textlength(label, font) > width - 4:
            label = label[:-1]
        draw.text((x + 3, y + height + 2), label, fill=(30, 30, 30), font=font)
    return sheet
