"""The labels are true: boxes, relations, colours and sizes worked out again from the saved pictures and masks alone.

Nothing of the generator's own verification is used here; only the reader of shards is.
"""

import io
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from blender_jobs import Blender, scene_of, thing
from numpy.typing import NDArray
from PIL import Image

from generator.assets.catalog import Catalog
from generator.records import ObjectRecord, Sample, find_shards, read_shard
from generator.shards import read_rows

pytestmark = pytest.mark.blender
pytest.importorskip("bpy", reason="renders with Blender")

ROOT = Path(__file__).resolve().parents[2]
RunOf = Callable[[str], Path]
FOCAL = {
    name: np.array(rgb)
    for name, rgb in tomllib.loads((ROOT / "templates" / "colours.toml").read_text())["colours"].items()
}


def samples(out: Path) -> list[Sample]:
    return [sample for path in find_shards([out]) for sample in read_shard(path)]


def picture(data: bytes | None) -> NDArray[np.uint8]:
    assert data is not None
    with Image.open(io.BytesIO(data)) as image:
        return np.array(image)


def sides(sample: Sample) -> list[tuple[NDArray[np.uint8], NDArray[np.uint8], tuple[ObjectRecord, ...]]]:
    """Image, mask and objects of both sides."""
    return [
        (picture(sample.image(side)), picture(sample.mask(side)), objects)
        for side, objects in enumerate((sample.record.objects_0, sample.record.objects_1))
    ]


def box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    rows, columns = np.nonzero(mask)
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def inner(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Without the rim, where a pixel's colour is half that of what lies behind."""
    core: NDArray[np.bool_] = np.logical_and.reduce([mask, *(np.roll(mask, s, a) for s in (-1, 1) for a in (0, 1))])
    return core if core.sum() > 0.3 * mask.sum() else mask


def lab(rgb: NDArray[np.generic]) -> NDArray[np.float64]:
    """CIELAB under D65 of 8-bit sRGB, by the formulas of IEC 61966-2-1 and CIE 15."""
    value = np.asarray(rgb, dtype=np.float64) / 255
    linear = np.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)
    red, green, blue = linear[..., 0], linear[..., 1], linear[..., 2]
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089

    def f(t: NDArray[np.float64]) -> NDArray[np.float64]:
        root: NDArray[np.float64] = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
        return root

    return np.stack([116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))], axis=-1)


def named(pixels: NDArray[np.uint8]) -> str:
    """The colour word that most pixels are nearest to; lightness counts half, since shade takes it first."""
    weight = np.array([0.5, 1.0, 1.0])
    names = list(FOCAL)
    centres = np.stack([lab(FOCAL[name]) for name in names])
    distance = np.linalg.norm((lab(pixels)[:, None] - centres[None]) * weight, axis=2)
    return str(names[int(np.bincount(distance.argmin(axis=1), minlength=len(names)).argmax())])


# From the bundled library, and from third-party models of any scale, origin and make where they are at hand.
SPATIAL = pytest.mark.parametrize("name", ["spatial", "real spatial"])
COLOUR = pytest.mark.parametrize("name", ["colour", "real colour"])


@pytest.mark.parametrize("name", ["spatial", "colour", "size", "negation", "real spatial", "real colour"])
def test_boxes_and_counts_are_those_of_the_masks(run_of: RunOf, name: str) -> None:
    found = samples(run_of(name))
    rows = [row for path in run_of(name).glob("*/*.parquet") for row in read_rows(path)]
    assert len(rows) == 6
    assert len(found) >= 3, [(row.key, row.reason, row.detail) for row in rows if row.reason]
    for sample in found:
        for image, mask, objects in sides(sample):
            assert image.shape == (128, 128, 3)
            assert mask.shape == (128, 128)
            assert set(np.unique(mask)) == {0, 1, 2}
            for number, item in enumerate(objects, start=1):
                assert item.box == box(mask == number)
                assert item.visible_px == (mask == number).sum()
                assert item.visible_px >= 0.015 * mask.size
                assert item.visible_fraction >= 0.7
                assert min(item.box[:2]) > 0
                assert max(item.box[2:]) < 128
                # The picture is of something there: the object's pixels are not those of its surroundings.
                assert image[mask == number].std() > 2


@SPATIAL
def test_relations_hold_in_the_masks(run_of: RunOf, name: str) -> None:
    for sample in samples(run_of(name)):
        said = {}
        for side, (_, mask, _) in enumerate(sides(sample)):
            (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = box(mask == 1), box(mask == 2)
            true = {"left": ax1 < bx0, "right": bx1 < ax0, "above": ay1 < by0, "below": by1 < ay0}
            holding = [word for word, held in true.items() if held]
            assert len(holding) == 1, sample.record.key
            said[side] = holding[0]
        assert {said[0], said[1]} in ({"left", "right"}, {"above", "below"})
        a, b = (item.noun for item in sample.record.objects_0)
        record = sample.record
        for side, captions in enumerate((record.captions_0, record.captions_1)):
            opposite = {"left": "right", "right": "left", "above": "below", "below": "above"}[said[side]]
            assert re.fullmatch(rf"A picture of (an? )?{a} (to the )?{said[side]}( of)? (an? )?{b}", captions[0])
            assert re.fullmatch(rf"A picture of (an? )?{b} (to the )?{opposite}( of)? (an? )?{a}", captions[1])


def test_twins_differ_where_the_objects_are(run_of: RunOf) -> None:
    """Camera, light and stage are the same: far from the objects, hardly a pixel differs."""
    for name in ("spatial", "colour"):
        for sample in samples(run_of(name)):
            (one, mask_one, _), (two, mask_two, _) = sides(sample)
            near = (mask_one > 0) | (mask_two > 0)
            change = np.abs(one.astype(int) - two.astype(int)).max(axis=2)
            assert (change[near] > 8).mean() > 0.25
            assert np.median(change[~near]) <= 8
            if name == "colour":
                assert ((mask_one > 0) == (mask_two > 0)).all()


@COLOUR
def test_colours_are_those_that_the_captions_say(run_of: RunOf, name: str) -> None:
    for sample in samples(run_of(name)):
        seen = []
        for image, mask, objects in sides(sample):
            names = [named(image[inner(mask == number)]) for number in (1, 2)]
            assert names == [item.colour for item in objects], sample.record.key
            assert names == [item.measured_colour for item in objects]
            seen.append({f"{colour} {item.noun}" for colour, item in zip(names, objects, strict=True)})
            for number, item in enumerate(objects, start=1):
                median = np.median(lab(image[inner(mask == number)]), axis=0)
                assert np.linalg.norm(median - np.array(item.measured_lab)) < 6
        for side, captions in enumerate((sample.record.captions_0, sample.record.captions_1)):
            for caption in captions:
                said = re.fullmatch(r"A picture of (?:an? )?(.+) and (?:an? )?(.+)", caption)
                assert said is not None
                assert {said[1], said[2]} == seen[side]


def test_sizes_are_those_that_the_captions_say(run_of: RunOf) -> None:
    for sample in samples(run_of("size")):
        for side, (_, mask, objects) in enumerate(sides(sample)):
            lengths = {}
            for number, item in enumerate(objects, start=1):
                x0, y0, x1, y1 = box(mask == number)
                lengths[item.noun] = max(x1 - x0, y1 - y0)
            big, small = sorted(lengths, key=lambda noun: -lengths[noun])
            assert lengths[big] > 1.3 * lengths[small]
            for caption in (sample.record.captions_0, sample.record.captions_1)[side]:
                assert re.search(rf"\bbig {big}\b", caption)
                assert re.search(rf"\bsmall {small}\b", caption)


def test_each_side_shows_its_own_nouns(run_of: RunOf) -> None:
    for sample in samples(run_of("negation")):
        record = sample.record
        (_, mask_0, first), (_, mask_1, second) = sides(sample)
        assert {1, 2} <= set(np.unique(mask_0)) & set(np.unique(mask_1))
        a1, a2, b1, b2 = (item.noun for item in (*first, *second))
        assert len({a1, a2, b1, b2}) == 4
        pattern = r"An image of (?:an? )?(.+) (?:but not|and no|without) (?:an? )?(.+)"
        pairs = []
        for caption in (*record.captions_0, *record.captions_1):
            said = re.fullmatch(pattern, caption)
            assert said is not None, caption
            pairs.append((said[1], said[2]))
        assert pairs == [(a1, b1), (a2, b2), (b1, a1), (b2, a2)]


# --- painting --------------------------------------------------------------------------------------------------------


def test_paintable_assets_take_the_colours_they_are_painted_with(bundled_catalog: Catalog) -> None:
    """A sample of the library, each in a colour of its own turn, seen as a stranger would name it."""
    chosen = bundled_catalog.paintable.assets[::7]
    assert len(chosen) >= 8
    names = ["red", "blue", "green", "yellow", "purple", "white", "pink"]
    wrong = []
    with Blender(96, samples_per_pixel=8, threads=0) as blender:
        for number, asset in enumerate(chosen):
            name = names[number % len(names)]
            red, green, blue = (float(value) / 255 for value in FOCAL[name])
            spec = thing(
                Path(asset.model), (0.0, 0.0, 0.0), 0.9, yaw=20.0, paint=(red, green, blue), plan=asset.paint_plan
            )
            shown = blender.render(scene_of([spec]))
            seen = named(shown.image[shown.visible == 1])
            if seen != name:
                wrong.append(f"{asset.uid} painted {name} looks {seen}")
    assert not wrong
