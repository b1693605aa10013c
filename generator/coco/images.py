"""Reading photographs as COCO means them: stored pixels, three channels."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generator.coco.annotations import Photo

Pixels = NDArray[np.uint8]

GREY_SPREAD = 6.0  # mean difference between a pixel's channels, 0 to 255, below which a photo has no colour


class PhotoFault(Exception):
    """A photo that cannot be used; `reason` is one of the closed list, `detail` says what was seen."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def present_files(folder: Path) -> set[str]:
    """Names of all files in the folder: one listing instead of a look at every photo."""
    with os.scandir(folder) as entries:
        return {entry.name for entry in entries if entry.is_file()}


def read_photo(folder: Path, photo: Photo) -> Pixels:
    """(height, width, 3) uint8 sRGB: the stored pixels, greyscale and CMYK converted, EXIF rotation not applied.

    COCO's boxes refer to stored pixels, so a photo that EXIF would turn is left as it lies, and written without EXIF.
    PhotoFault when the file is missing, cut off, no image, or not of the annotated size.
    """
    path = folder / photo.file_name
    try:
        with Image.open(path) as image:
            if image.size != (photo.width, photo.height):
                detail = f"{photo.file_name}: {image.size[0]}x{image.size[1]}, annotated {photo.width}x{photo.height}"
                raise PhotoFault("photo_size_differs", detail)
            return np.asarray(image.convert("RGB"))
    except FileNotFoundError as error:
        raise PhotoFault("photo_missing", photo.file_name) from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise PhotoFault("photo_unreadable", f"{photo.file_name}: {error}") from error


def is_grey(pixels: Pixels) -> bool:
    """Has the photo no colour to speak of? True of greyscale files and of black and white or sepia-free scans."""
    spread = pixels.max(axis=2).astype(np.int16) - pixels.min(axis=2)
    return float(spread.mean()) < GREY_SPREAD
