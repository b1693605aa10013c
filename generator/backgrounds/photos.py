"""The user's own images as backgrounds: found, decoded whatever their format, and copied in one normal form."""

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path

from PIL import Image as Pil
from PIL import ImageOps, ImageStat

from generator.backgrounds.textures import VERSION, save
from generator.errors import BackgroundError, missing
from generator.specs import Rgb

SUFFIXES = (".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
LONGEST_PX = 1024
SHORTEST_PX = 64


@dataclass(frozen=True, slots=True)
class Photo:
    """One usable image: name relative to the folder, its content's SHA-256, the normalised copy, its mean colour."""

    name: str
    sha256: str
    path: Path
    mean_rgb: Rgb


@dataclass(frozen=True, slots=True)
class Skipped:
    """An image file that cannot be used, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def find(folder: Path, cache: Path) -> tuple[list[Photo], list[Skipped]]:
    """The images below `folder`, sorted by name, copied into `cache`, and the files that are no usable image.

    Identical files count once. Raises BackgroundError where the folder is missing or has no usable image.
    """
    if not folder.is_dir():
        hint = "--backgrounds takes bundled or a folder of images"
        raise BackgroundError(f"{missing(folder, 'directory', ('bundled',))}; {hint}")
    photos: dict[str, Photo] = {}
    skipped: list[Skipped] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in SUFFIXES or path.name.startswith(".") or not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        try:
            photo = _normalise(path, name, cache)
        except (OSError, ValueError, SyntaxError, Pil.DecompressionBombError) as error:
            # Pillow raises all four on broken files; one bad file must not end the run, but is always reported.
            skipped.append(Skipped(name, str(error) or type(error).__name__))
            continue
        if photo.sha256 in photos:
            skipped.append(Skipped(name, f"the same file as {photos[photo.sha256].name}"))
        else:
            photos[photo.sha256] = photo
    if not photos:
        first = f"; the first of {len(skipped)}: {skipped[0].name}: {skipped[0].reason}" if skipped else ""
        raise BackgroundError(f"{folder}: no usable image ({', '.join(s[1:] for s in SUFFIXES)}){first}")
    return list(photos.values()), skipped


def _normalise(path: Path, name: str, cache: Path) -> Photo:
    """An upright 8-bit RGB copy, square (the centre of the image), at most LONGEST_PX a side."""
    data = path.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    copy = cache.resolve() / f"photos-v{VERSION}" / f"{sha256[:32]}.jpg"
    if not copy.exists():
        with warnings.catch_warnings():
            # A "decompression bomb" warning would only repeat what the limit on pixels already decides.
            warnings.simplefilter("error", Pil.DecompressionBombWarning)
            try:
                save(_upright_rgb(path), copy)
            except Pil.DecompressionBombWarning as warning:
                raise ValueError(f"too many pixels ({warning})") from warning
    with Pil.open(copy) as image:
        image.draft("RGB", (32, 32))  # The mean is wanted, not the detail.
        mean = ImageStat.Stat(image).mean
    return Photo(name, sha256, copy, (mean[0] / 255, mean[1] / 255, mean[2] / 255))


def _upright_rgb(path: Path) -> Pil.Image:
    with Pil.open(path) as opened:
        if min(opened.size) < SHORTEST_PX:
            raise ValueError(f"only {opened.width} x {opened.height} pixels, at least {SHORTEST_PX} are needed")
        # A JPEG can be decoded at a fraction of its size, which makes 50-megapixel photographs cheap.
        opened.draft("RGB", (LONGEST_PX * 2, LONGEST_PX * 2))
        opened.load()
        image = ImageOps.exif_transpose(opened)
    if image.mode.startswith("I") or image.mode == "F":
        image = _eight_bits(image)
    if "A" in image.getbands() or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Pil.alpha_composite(Pil.new("RGBA", image.size, (128, 128, 128, 255)), image)
    image = image.convert("RGB")
    side = min(image.width, image.height)
    return ImageOps.fit(image, (min(side, LONGEST_PX),) * 2, Pil.Resampling.LANCZOS)


def _eight_bits(image: Pil.Image) -> Pil.Image:
    """A 16-bit, 32-bit or float greyscale image, its range stretched over 8 bits."""
    values = image.convert("F")
    low, high = values.getextrema()
    assert isinstance(low, float)
    assert isinstance(high, float)
    scale = 255.0 / (high - low) if high > low else 0.0
    return values.point(lambda value: value * scale - low * scale).convert("L")
