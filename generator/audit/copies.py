"""Near-duplicates: images of different pairs that show the same, and twins that do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generator.audit.figures import Finding, Table, share
from generator.audit.pictures import Picture
from generator.audit.sampling import Group, Pair

# Root mean square of the difference of two thumbnails (16 x 16, of 255) that show the same. Measured on rendered runs
# and photographs: compressed again at quality 60 up to 1.6, twins from 5.8, other images from 13.8.
ALIKE = 2.0
# And the share of the 512 bits of their perceptual hashes that differ: flat areas flip some in copies, too.
HASH_ALIKE = 0.35
# Rows of the distance table in memory at a time.
CHUNK = 512
SHOWN = 10
# Rounding of distances in float32, in squared levels.
SLACK = 64.0
BITS = np.array([bin(value).count("1") for value in range(256)], np.uint16)


@dataclass(frozen=True)
class Shown:
    """One image: its pair, side and picture."""

    pair: Pair
    side: int
    picture: Picture

    @property
    def name(self) -> str:
        """`train spatial-000000001 image_0`."""
        return f"{self.pair.record.split} {self.pair.record.key} image_{self.side}"


def across_pairs(groups: Sequence[Group]) -> Finding:
    """Images that show the same as an image of another pair. Pairs of one photograph are alike by design."""
    images = [
        Shown(pair, side, picture)
        for group in groups
        for pair in group.pairs
        for side, picture in enumerate(pair.pictures)
        if picture is not None
    ]
    found = list(_copies(images))
    concerned = {id(item.pair) for both in found for item in both}
    between = sum(one.pair.record.split != other.pair.record.split for one, other in found)
    rows = tuple((one.name, other.name) for one, other in found[:SHOWN])
    detail = f"{len(found)} pairs of images alike, {between} of them between two splits" if found else "no two alike"
    n = sum(len(group.pairs) for group in groups)
    table = Table(("image", "shows the same as"), rows) if rows else None
    return share(n - len(concerned), n, detail, bool(found), table)


def within_pairs(group: Group, seed: int) -> Finding | None:
    """Twins whose two images show the same. None where pairs have one image."""
    del seed
    twins = [(pair.record.key, pair.pictures[0], pair.pictures[1]) for pair in group.pairs]
    alike = [key for key, one, other in twins if other is not None and _near(_flat(one), _flat(other))]
    n = sum(other is not None for _, _, other in twins)
    if not n:
        return None
    detail = f"no difference to see in {', '.join(alike[:3])}{' ...' if len(alike) > 3 else ''}" if alike else ""
    return share(n - len(alike), n, detail, bool(alike))


def _copies(images: Sequence[Shown]) -> Iterator[tuple[Shown, Shown]]:
    if not images:
        return
    flat = np.stack([_flat(item.picture) for item in images])  # (n, 768)
    hashes = np.stack([np.frombuffer(item.picture.hash, np.uint8) for item in images])  # (n, 64)
    squares = np.square(flat).sum(axis=1)
    limit = flat.shape[1] * ALIKE**2
    for start in range(0, len(images), CHUNK):
        part = slice(start, start + CHUNK)
        # |a - b|^2 = |a|^2 + |b|^2 - 2 a.b: in float32 off by some units, so this only proposes.
        distance = squares[part, None] + squares[None] - 2 * flat[part] @ flat.T
        for row, column in zip(*np.nonzero(distance <= limit + SLACK), strict=True):
            one, other = start + int(row), int(column)
            if one < other and _alike(flat, hashes, one, other) and not _same_source(images[one], images[other]):
                yield images[other], images[one]


def _flat(picture: Picture) -> NDArray[np.float32]:
    return picture.thumbnail.ravel().astype(np.float32)


def _near(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    return float(np.square(one - other).mean()) <= ALIKE**2


def _alike(flat: NDArray[np.float32], hashes: NDArray[np.uint8], one: int, other: int) -> bool:
    if not _near(flat[one], flat[other]):
        return False
    differing = int(BITS[hashes[one] ^ hashes[other]].sum())
    return differing <= HASH_ALIKE * 8 * hashes.shape[1]


def _same_source(one: Shown, other: Shown) -> bool:
    if one.pair is other.pair:
        return True
    photos = set(one.pair.record.image_ids) & set(other.pair.record.image_ids)
    return bool(photos) and one.pair.record.split == other.pair.record.split
