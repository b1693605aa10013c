"""What is measured of one image: never what it shows, only what a model could use without looking at the objects."""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, JpegImagePlugin

from generator.errors import DataError
from generator.records import ObjectRecord
from generator.validate import perceptual_hash

Floats = NDArray[np.float32]

STATISTICS = (
    "mean red", "mean green", "mean blue", "spread of red", "spread of green", "spread of blue", "saturation",
    "sharpness", "edge energy", "darkest 5 %", "brightest 5 %",
)  # fmt: skip
ENCODING = (
    "format", "luma quantisation", "chroma quantisation", "progressive", "subsampling", "width", "height", "metadata",
)  # fmt: skip
FILE_SIZE = ("file size", "bytes per pixel")
QUARTERS = ("top left", "top right", "bottom left", "bottom right")
BACKGROUND = (
    *(f"{what} {channel}" for what in ("mean", "spread of") for channel in ("red", "green", "blue")),
    "sharpness",
    "edge energy",
    *(f"{channel} {quarter}" for quarter in QUARTERS for channel in ("red", "green", "blue")),
)
THUMBNAIL_PX = 16
SMALL_PX = 8
CHANNELS = ("red", "green", "blue")
THUMBNAIL = tuple(f"{name} at {x},{y}" for y in range(SMALL_PX) for x in range(SMALL_PX) for name in CHANNELS)
# Around a box, as a share of the image, where shadows and reflections of the object fall; and the frame that counts as
# background where no boxes are known, or they leave less than LEAST_FREE of the image.
GROWN, BORDER, LEAST_FREE = 0.04, 0.08, 0.1
# Larger images are measured at this size: what tells, tells there too.
WORKING_PX = 256


@dataclass(frozen=True, slots=True)
class Picture:
    """Features of one image, named above: statistics (11,), encoding (8,), file_size (2,), background (20,),
    thumbnail (16, 16, 3) uint8, and the perceptual hash of 64 bytes."""

    statistics: Floats
    encoding: Floats
    file_size: Floats
    background: Floats
    thumbnail: NDArray[np.uint8]
    hash: bytes

    def small(self) -> Floats:
        """The thumbnail at 8 x 8, (192,)."""
        cells = self.thumbnail.reshape(SMALL_PX, 2, SMALL_PX, 2, 3).astype(np.float32)
        averages: Floats = cells.mean(axis=(1, 3))
        return averages.ravel()


def measure(data: bytes, objects: tuple[ObjectRecord, ...], size: tuple[int, int], where: str) -> Picture:
    """objects: those whose boxes are not background, in an image of `size` (width, height). Raises DataError."""
    try:
        with Image.open(io.BytesIO(data)) as opened:
            opened.load()
            encoding, area = _encoding(opened), opened.width * opened.height
            picture = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{where} does not decode ({error})") from error
    edge = max(picture.size)
    working = picture
    if edge > WORKING_PX:
        scale = WORKING_PX / edge
        shape = (max(2, round(picture.width * scale)), max(2, round(picture.height * scale)))
        working = picture.resize(shape, Image.Resampling.BOX)
    pixels = np.asarray(working, np.float32) / 255.0  # (H, W, 3)
    free = _background(objects, size, (working.height, working.width))
    return Picture(
        statistics=_statistics(pixels),
        encoding=encoding,
        file_size=np.array([np.log(len(data)), len(data) / area], np.float32),
        background=_background_features(pixels, free),
        thumbnail=np.asarray(picture.resize((THUMBNAIL_PX, THUMBNAIL_PX), Image.Resampling.BOX)),
        hash=perceptual_hash(picture),
    )


def _statistics(pixels: Floats) -> Floats:
    flat = pixels.reshape(-1, 3)
    grey = pixels.mean(axis=2)
    dark, bright = np.percentile(grey, (5, 95))
    saturation = float((flat.max(axis=1) - flat.min(axis=1)).mean())
    return np.array([*flat.mean(axis=0), *flat.std(axis=0), saturation, *_detail(grey), dark, bright], np.float32)


def _detail(grey: Floats, where: NDArray[np.bool_] | None = None) -> tuple[float, float]:
    """Sharpness and edge energy, as logarithms: the spread of the Laplacian, and the mean step between neighbours."""
    middle = grey[1:-1, 1:-1]
    laplacian = 4 * middle - grey[:-2, 1:-1] - grey[2:, 1:-1] - grey[1:-1, :-2] - grey[1:-1, 2:]
    steps = np.abs(grey[1:-1, 2:] - middle) + np.abs(grey[2:, 1:-1] - middle)
    inside = where[1:-1, 1:-1] if where is not None else None
    if inside is not None and inside.any():
        laplacian, steps = laplacian[inside], steps[inside]
    return float(np.log(laplacian.std() + 1e-4)), float(np.log(steps.mean() + 1e-4))


def _background_features(pixels: Floats, free: NDArray[np.bool_]) -> Floats:
    flat = pixels[free]  # (n, 3)
    mean = flat.mean(axis=0)
    rows, columns = pixels.shape[0] // 2, pixels.shape[1] // 2
    quarters = []
    for down in (slice(None, rows), slice(rows, None)):
        for across in (slice(None, columns), slice(columns, None)):
            part = pixels[down, across][free[down, across]]
            quarters.append(part.mean(axis=0) if len(part) else mean)
    detail = _detail(pixels.mean(axis=2), free)
    return np.array([*mean, *flat.std(axis=0), *detail, *np.concatenate(quarters)], np.float32)


def _background(objects: tuple[ObjectRecord, ...], size: tuple[int, int], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """(H, W): outside every box and its surroundings; the image's border where that is unknown or too little."""
    free = np.ones(shape, bool)
    (width, height), (rows, columns) = size, shape
    boxes = [item.box for item in objects if item.box != (0, 0, 0, 0)]
    for x0, y0, x1, y1 in boxes:
        down = _reach(y0 / height, y1 / height, rows)
        across = _reach(x0 / width, x1 / width, columns)
        free[down, across] = False
    if not boxes or free.mean() < LEAST_FREE:
        free[:] = False
        band = max(1, round(BORDER * min(shape)))
        free[:band], free[-band:], free[:, :band], free[:, -band:] = True, True, True, True
    return free


def _reach(low: float, high: float, size: int) -> slice:
    """The grown span [low, high] of an axis of length 1, in pixels of one of `size`."""
    return slice(max(0, int((low - GROWN) * size)), int((high + GROWN) * size) + 1)


def _encoding(picture: Image.Image) -> Floats:
    tables = getattr(picture, "quantization", None) or {}
    sums = [float(sum(tables[number])) if number in tables else 0.0 for number in (0, 1)]
    sampling = JpegImagePlugin.get_sampling(picture) if isinstance(picture, JpegImagePlugin.JpegImageFile) else -1
    formats = ("JPEG", "PNG", "WEBP")
    number = formats.index(picture.format) if picture.format in formats else len(formats)
    progressive = float(bool(picture.info.get("progressive")))
    metadata = float(sum(len(value) for value in picture.info.values() if isinstance(value, bytes | str)))
    return np.array([number, *sums, progressive, sampling, picture.width, picture.height, metadata], np.float32)
