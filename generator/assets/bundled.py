"""The library that comes with the project: GLB files built by its own recipes, one per noun."""

from pathlib import Path

from generator.assets.folder import read_folder
from generator.assets.sources import Source

LIBRARY = Path(__file__).resolve().parent / "library"


def read_bundled() -> list[Source]:
    """All models of the library, uid "bundled/mug"."""
    return read_folder(LIBRARY, "bundled")
