"""The feature cache: written once, memory-mapped, safe against interruption, damage and other towers."""

from pathlib import Path

import numpy as np
import pytest

from scorer.cache import TokenCache, default_root
from scorer.errors import CacheError


def features(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, 3, 4)).astype(np.float16)


def filled(root: Path) -> np.ndarray:
    values = features(5)
    TokenCache(root, "tower", "images", (3, 4)).add([f"k{i}" for i in range(5)], values)
    return values


def test_what_was_added_is_read_back_in_any_order(tmp_path: Path) -> None:
    values = filled(tmp_path)
    cache = TokenCache(tmp_path, "tower", "images", (3, 4))
    assert "k3" in cache
    assert "k9" not in cache
    np.testing.assert_array_equal(cache.gather(["k4", "k0", "k4"]), values[[4, 0, 4]])


def test_segments_join_and_the_first_value_of_a_key_stays(tmp_path: Path) -> None:
    values, more = filled(tmp_path), features(2, seed=1)
    cache = TokenCache(tmp_path, "tower", "images", (3, 4))
    cache.add(["k0", "new"], more)
    again = TokenCache(tmp_path, "tower", "images", (3, 4))
    for one in (cache, again):
        np.testing.assert_array_equal(one.gather(["new", "k1"]), np.stack([more[1], values[1]]))
    np.testing.assert_array_equal(cache.gather(["k0"]), values[:1])


def test_other_towers_kinds_and_shapes_do_not_mix(tmp_path: Path) -> None:
    filled(tmp_path)
    assert "k0" not in TokenCache(tmp_path, "other", "images", (3, 4))
    assert "k0" not in TokenCache(tmp_path, "tower", "texts", (3, 4))
    with pytest.raises(CacheError, match="shape"):
        TokenCache(tmp_path, "tower", "images", (3, 5))


def test_an_interrupted_write_leaves_nothing_that_counts(tmp_path: Path) -> None:
    filled(tmp_path)
    index = next(tmp_path.rglob("*.json"))
    index.unlink()  # as if the process had died between the two renames
    assert "k0" not in TokenCache(tmp_path, "tower", "images", (3, 4))
    values = filled(tmp_path)
    np.testing.assert_array_equal(TokenCache(tmp_path, "tower", "images", (3, 4)).gather(["k0"]), values[:1])
    assert len(list(tmp_path.rglob("*.bin"))) == 1


def test_a_shortened_segment_is_named(tmp_path: Path) -> None:
    filled(tmp_path)
    data = next(tmp_path.rglob("*.bin"))
    data.write_bytes(data.read_bytes()[:-2])
    with pytest.raises(CacheError, match="delete it and run again"):
        TokenCache(tmp_path, "tower", "images", (3, 4))


def test_a_flipped_bit_is_found_when_its_item_is_read(tmp_path: Path) -> None:
    values = filled(tmp_path)
    data = next(tmp_path.rglob("*.bin"))
    raw = bytearray(data.read_bytes())
    raw[24 * 2 + 5] ^= 1
    data.write_bytes(raw)
    cache = TokenCache(tmp_path, "tower", "images", (3, 4))
    np.testing.assert_array_equal(cache.gather(["k0"]), values[:1])
    with pytest.raises(CacheError, match="item 2"):
        cache.gather(["k2"])


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 99, "keys": [], "crc32": [], "shape": [3, 4]}'])
def test_a_damaged_index_is_named(tmp_path: Path, text: str) -> None:
    filled(tmp_path)
    next(tmp_path.rglob("*.json")).write_text(text)
    with pytest.raises(CacheError, match="damaged feature cache"):
        TokenCache(tmp_path, "tower", "images", (3, 4))


def test_the_root_can_be_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TWINSCENE_CACHE", str(tmp_path))
    assert default_root() == tmp_path
