"""Photos as they come: stored pixels, whatever their mode; what cannot be used is named."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from generator.coco.annotations import Photo
from generator.coco.images import PhotoFault, is_grey, present_files, read_photo

PHOTO = Photo(1, "photo.jpg", 40, 30, 4, "")


def picture() -> np.ndarray:
    pixels = np.zeros((30, 40, 3), np.uint8)
    pixels[:, :20] = (220, 30, 30)
    pixels[:, 20:] = (30, 30, 220)
    return pixels


def test_rgb(tmp_path: Path) -> None:
    Image.fromarray(picture()).save(tmp_path / "photo.jpg", quality=95)
    pixels = read_photo(tmp_path, PHOTO)
    assert pixels.shape == (30, 40, 3)
    assert np.abs(pixels.astype(int) - picture()).mean() < 6


def test_greyscale_becomes_three_equal_channels(tmp_path: Path) -> None:
    Image.fromarray(picture()).convert("L").save(tmp_path / "photo.jpg")
    pixels = read_photo(tmp_path, PHOTO)
    assert pixels.shape == (30, 40, 3)
    assert is_grey(pixels)


def test_cmyk_keeps_its_colours(tmp_path: Path) -> None:
    Image.fromarray(picture()).convert("CMYK").save(tmp_path / "photo.jpg", quality=95)
    pixels = read_photo(tmp_path, PHOTO).astype(int)
    assert np.abs(pixels - picture()).mean() < 12
    assert not is_grey(pixels.astype(np.uint8))


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_exif_rotation_is_not_applied(tmp_path: Path, orientation: int) -> None:
    """COCO's boxes refer to the stored pixels, so these are what is read."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(picture()).save(tmp_path / "photo.jpg", exif=exif, quality=95)
    pixels = read_photo(tmp_path, PHOTO)
    assert pixels.shape == (30, 40, 3)
    assert pixels[15, 5, 0] > 150 > pixels[15, 35, 0]


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(PhotoFault) as caught:
        read_photo(tmp_path, PHOTO)
    assert (caught.value.reason, caught.value.detail) == ("photo_missing", "photo.jpg")


@pytest.mark.parametrize("keep", [0, 10, 300])
def test_truncated(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "photo.jpg"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (30, 40, 3), dtype=np.uint8)).save(path, quality=95)
    path.write_bytes(path.read_bytes()[:keep] if keep < 300 else path.read_bytes()[:-300])
    with pytest.raises(PhotoFault) as caught:
        read_photo(tmp_path, PHOTO)
    assert caught.value.reason == "photo_unreadable"
    assert "photo.jpg" in caught.value.detail


def test_no_image_at_all(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("<html>404</html>")
    with pytest.raises(PhotoFault, match="photo_unreadable"):
        read_photo(tmp_path, PHOTO)


def test_other_size_than_annotated(tmp_path: Path) -> None:
    Image.fromarray(picture()).resize((30, 40)).save(tmp_path / "photo.jpg")
    with pytest.raises(PhotoFault, match=r"photo_size_differs: photo\.jpg: 30x40, annotated 40x30"):
        read_photo(tmp_path, PHOTO)


def test_decompression_bomb_is_a_fault_and_not_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.fromarray(picture()).save(tmp_path / "photo.jpg")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(PhotoFault, match="photo_unreadable"):
        read_photo(tmp_path, PHOTO)


def test_present_files_lists_files_only(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").touch()
    (tmp_path / "folder.jpg").mkdir()
    assert present_files(tmp_path) == {"a.jpg"}
