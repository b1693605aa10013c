"""The bundled places and folders of photographs."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image as Pil

from generator import backgrounds
from generator.backgrounds import Background, noise, textures
from generator.errors import BackgroundError, OutputError
from generator.rng import stream

# One SHA-256 over the pixels of every texture for each version of the set: a change of looks must raise VERSION.
DIGESTS = {1: "34cc9f85478ac5df174ee6a5aab7e2c68967eefe97666930f2ef0b54d09c5cd3"}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def places(cache: Path) -> tuple[Background, ...]:
    return backgrounds.bundled(cache)


def pixels(path: str | None) -> NDArray[np.uint8]:
    assert path is not None
    return np.asarray(Pil.open(path))


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIELAB (D65) of sRGB in [0, 1]."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = linear @ matrix.T / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def test_the_set_is_varied_and_complete(places: tuple[Background, ...]) -> None:
    assert len(places) >= 48
    assert {place.kind for place in places} == {"indoor", "outdoor"}
    assert [place.id for place in places] == sorted({place.id for place in places})
    assert len({(place.wall, place.floor) for place in places}) == len(places)
    for place in places:
        for surface in (place.wall, place.floor, place.furniture):
            assert pixels(surface.texture).shape == (512, 512, 3)
            assert Path(surface.texture or "").is_absolute()


def test_every_texture_is_used(places: tuple[Background, ...]) -> None:
    used = {Path(s.texture or "").stem for place in places for s in (place.wall, place.floor, place.furniture)}
    assert used == set(textures.TEXTURES)


def test_only_views_and_studio_sheets_fill_the_frame(places: tuple[Background, ...]) -> None:
    for place in places:
        assert place.floor.projection == place.furniture.projection == "tile"
        view = Path(place.wall.texture or "").stem.startswith(("view_", "studio_"))
        assert (place.wall.projection == "camera") == view
        assert place.wall.lit != view


def test_no_surface_hides_or_tints_objects(places: tuple[Background, ...]) -> None:
    """Middle tones, muted colours, modest contrast, as seen at the size of a final image."""
    for surface in {s for place in places for s in (place.wall, place.floor, place.furniture)}:
        image = pixels(surface.texture).reshape(128, 4, 128, 4, 3).mean(axis=(1, 3)) / 255 * np.array(surface.rgb)
        values = lab(image)
        chroma = np.hypot(values[..., 1], values[..., 2])
        assert 28 < values[..., 0].mean() < 87, surface
        assert values[..., 0].std() < 14, surface
        assert chroma.mean() < 30, surface
        assert np.percentile(chroma, 95) < 34, surface


def test_same_bytes_always(cache: Path, places: tuple[Background, ...]) -> None:
    del places
    state = hashlib.sha256()
    for name, path in textures.write_textures(cache).items():
        state.update(name.encode() + pixels(str(path)).tobytes())
    assert state.hexdigest() == DIGESTS[textures.VERSION], "textures changed: raise VERSION, and note its digest here"


def test_a_texture_is_painted_once_and_whole(cache: Path, places: tuple[Background, ...]) -> None:
    path = Path(places[0].floor.texture or "")
    before = path.stat().st_mtime_ns
    assert backgrounds.bundled(cache) == places
    assert path.stat().st_mtime_ns == before
    assert not list(path.parent.glob(".*")), "temporary files left behind"


@pytest.mark.parametrize("name", [n for n in textures.TEXTURES if not n.startswith(("view_", "studio_"))])
def test_tiles_wrap_around(name: str, cache: Path, places: tuple[Background, ...]) -> None:
    """The step across the seam is no larger than steps inside the tile (99.9th percentile of its rows and columns)."""
    del places
    image = pixels(str(textures.write_textures(cache)[name])).astype(np.float64)
    for axis in (0, 1):
        steps = np.abs(np.diff(image, axis=axis, append=np.take(image, [0], axis=axis))).mean(axis=(1 - axis, 2))
        assert steps[-1] <= 1.3 * steps[:-1].max()


def test_unwritable_cache(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(OutputError, match="choose another cache folder"):
        backgrounds.bundled(blocked)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 30))
def test_cells_tile_the_plane(seed: int, across: int) -> None:
    first, second, owner = noise.cells(stream(seed, "test"), across)
    assert (first <= second).all()
    assert set(np.unique(owner)) <= set(range(across * across))
    assert np.abs(first[:, 0] - first[:, -1]).max() < 3 * across / noise.SIZE_PX


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.floats(0, 3))
def test_clouds_are_standardised(seed: int, beta: float) -> None:
    field = noise.clouds(stream(seed, "test"), beta=beta)
    assert abs(field.mean()) < 1e-9
    assert abs(field.std() - 1) < 1e-9


# --- folders of photographs ------------------------------------------------------------------------------------------


def gradient(width: int, height: int) -> Pil.Image:
    """Red grows to the right, green downwards."""
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Pil.fromarray(np.stack([x, y, np.full_like(x, 90)], axis=-1).astype(np.uint8))


def test_every_kind_of_image_is_normalised(tmp_path: Path, cache: Path, places: tuple[Background, ...]) -> None:
    folder = tmp_path / "photos"
    (folder / "deep").mkdir(parents=True)
    base = gradient(300, 200)
    base.save(folder / "rgb.jpg")
    base.convert("L").save(folder / "grey.png")
    base.convert("CMYK").save(folder / "cmyk.jpg")
    base.quantize(16).save(folder / "palette.gif")
    base.convert("RGBA").save(folder / "deep" / "alpha.WEBP")
    Pil.fromarray(np.asarray(base.convert("L"), np.uint16) * 200).save(folder / "sixteen.png")
    base.convert("1").save(folder / "bilevel.png")
    gradient(3000, 1400).save(folder / "large.jpg")
    (folder / "notes.txt").write_text("no image")
    found, skipped = backgrounds.from_folder(folder, cache)
    assert skipped == ()
    assert len(found) == 8
    for place in found:
        assert place.kind == "photo"
        assert place.wall.projection == "camera"
        assert not place.wall.lit
        image = pixels(place.wall.texture)
        assert image.shape[0] == image.shape[1] <= 1024
        assert image.shape[2] == 3
        assert image.std() > 20, "a gradient went flat"
        assert any((place.floor, place.furniture) == (other.floor, other.furniture) for other in places)
        assert max(place.fill_rgb) == pytest.approx(1.0)
    assert max(pixels(place.wall.texture).shape[0] for place in found) == 1024


def test_exif_rotation_is_applied(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    image = gradient(200, 200)
    exif = Pil.Exif()
    exif[0x0112] = 6  # Turn by 90 degrees clockwise to see it upright.
    image.save(folder / "turned.png", exif=exif)
    (place,), _ = backgrounds.from_folder(folder, cache)
    upright = pixels(place.wall.texture)
    assert upright[:, 10, 1].mean() > 240, "green grew downwards, so upright it is brightest on the left"
    assert upright[:, -10, 1].mean() < 15


def test_unusable_images_are_reported(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    gradient(100, 100).save(folder / "a.png")
    gradient(100, 100).save(folder / "b.png")
    gradient(20, 300).save(folder / "thin.png")
    (folder / "torn.jpg").write_bytes(b"\xff\xd8\xff\xe0 not much more")
    half = folder / "half.png"
    gradient(400, 400).save(half)
    half.write_bytes(half.read_bytes()[:900])
    (folder / "empty.png").touch()
    found, skipped = backgrounds.from_folder(folder, cache)
    assert len(found) == 1
    reasons = {item.name: item.reason for item in skipped}
    assert set(reasons) == {"b.png", "thin.png", "torn.jpg", "half.png", "empty.png"}
    assert reasons["b.png"] == "the same file as a.png"
    assert "20 x 300" in reasons["thin.png"]


def test_a_bomb_is_not_decoded(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    gradient(100, 100).save(folder / "fine.png")
    gradient(300, 300).save(folder / "bomb.png")
    monkeypatch.setattr(Pil, "MAX_IMAGE_PIXELS", 50_000)
    _, skipped = backgrounds.from_folder(folder, cache)
    assert [item.name for item in skipped] == ["bomb.png"]
    assert "too many pixels" in skipped[0].reason


def test_places_do_not_depend_on_file_names(tmp_path: Path, cache: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    gradient(128, 128).save(one / "x.png")
    gradient(128, 128).save(other / "renamed.png")
    assert backgrounds.from_folder(one, cache) == backgrounds.from_folder(other, cache)


@pytest.mark.parametrize("make", [False, True])
def test_no_usable_image(make: bool, tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "photos"
    if make:
        folder.mkdir()
        (folder / "torn.jpg").write_bytes(b"torn")
    with pytest.raises(BackgroundError, match="torn.jpg" if make else "no such directory"):
        backgrounds.from_folder(folder, cache)
