"""Pairs that show the same as another pair, also after recompression, among millions.

First pass, while shards are read: some numbers for each pair, which a recompression hardly moves (`look_of`, 81 bytes).
Second pass: pairs with the same numbers within a tolerance, found by sorting (`candidates`). Third: their pictures are
looked at again (`Glance`), since scenes of few flat shapes can be alike in those numbers and yet differ.
"""

import hashlib
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generator.records import PairRecord, read_shard
from generator.storage import Reading

# Side of the grid that is looked at, and how many of its cosine components are kept across and down.
GRID, KEPT = 32, 4
# A picture's numbers: components of brightness, then how much redder and bluer than grey it is, in 1/64 grey levels.
NUMBERS, SCALE = KEPT * KEPT + 2, 64
LOOK = np.dtype([("numbers", "<i2", (2 * NUMBERS,)), ("captions", "<u8"), ("rendered", "?")])
# How far they may be apart, in grey levels. JPEG recompressed at quality 90 (0.06 and 0.25 at most in 800 pictures) and
# noise of +-2 levels stay below; of 40,000 pairs of pairs of real renders none was below 1.8.
TOLERANCE, COLOUR_TOLERANCE = 0.15, 0.4
# The numbers of image_0 that candidates are sorted by: mean brightness, and the slowest changes down and across.
SORTED_BY = (0, 1, KEPT, 2 * KEPT)
# The last look: mean and largest difference of cells of 8 x 8 pixels.
CELL_PX, MEAN_LEVELS, CELL_LEVELS = 8, 0.8, 12
# Side of the grid of the perceptual hash: brightness differences between neighbours in a picture of so few pixels.
HASH_SIDE = 16

Looks = NDArray[np.void]
Glance = NDArray[np.uint8]

_PLACES = (2 * np.arange(GRID) + 1) * np.pi / (2 * GRID)
_WAVES = np.cos(np.arange(KEPT)[:, None] * _PLACES) / GRID


def perceptual_hash(picture: Image.Image) -> bytes:
    """Which of neighbouring cells is brighter, in a grid of 16 x 16, across and down: the same after recompression."""
    side = HASH_SIDE + 1
    values = np.asarray(picture.convert("L").resize((side, side), Image.Resampling.BOX), np.int16)
    across, down = values[:-1, 1:] > values[:-1, :-1], values[1:, :-1] > values[:-1, :-1]
    return np.packbits(np.stack([across, down])).tobytes()


def look_of(record: PairRecord, pictures: Sequence[Image.Image]) -> Looks:
    """One row of LOOK: what a pair shows and says. Of a missing second picture the numbers are 0."""
    row = np.zeros(1, LOOK)
    for side, picture in enumerate(pictures):
        row["numbers"][0, side * NUMBERS : (side + 1) * NUMBERS] = numbers_of(picture)
    row["captions"] = caption_digest(record)
    row["rendered"] = record.source == "render"
    return row


def numbers_of(picture: Image.Image) -> NDArray[np.int16]:
    """(NUMBERS,): the slow changes of brightness in a picture, and its mean colour."""
    small = picture.convert("RGB").resize((GRID, GRID), Image.Resampling.BOX)
    values = np.asarray(small, np.float64)
    brightness = values @ (0.299, 0.587, 0.114)
    tints = (values[..., ::2] - brightness[..., None]).mean((0, 1))
    numbers = np.concatenate([(_WAVES @ brightness @ _WAVES.T).ravel(), tints])
    rounded: NDArray[np.int16] = np.rint(numbers * SCALE).astype(np.int16)
    return rounded


def plain(caption: str) -> str:
    """A caption without what nobody would call a difference: case, spaces, the full stop."""
    return " ".join(caption.casefold().split()).rstrip(" .")


def caption_digest(record: PairRecord) -> int:
    """The captions of both sides as a number of 64 bits."""
    text = "\n".join(plain(caption) for caption in (*record.captions_0, *record.captions_1))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def candidates(looks: Looks) -> Iterator[tuple[int, int]]:
    """(earlier, later) places of pairs alike in their numbers; each later one comes once.

    Photographs come again with other captions as a matter of course: they count when the captions are the same too.
    """
    numbers = looks["numbers"]
    limit = np.full(NUMBERS, round(TOLERANCE * SCALE))
    limit[-2:] = round(COLOUR_TOLERANCE * SCALE)
    limit = np.tile(limit, 2)
    # Two numbers within the tolerance are in one cell of twice its width, or are when the cells are shifted by it.
    width, left = 2 * int(limit[0]) + 1, np.ones(len(looks), bool)
    for shifts in itertools.product((0, width // 2), repeat=len(SORTED_BY)):
        places, keys = _by_cell(numbers, np.flatnonzero(left), shifts, width)
        lag = 1
        while len(near := np.flatnonzero(keys[lag:] == keys[:-lag])):
            one, other = places[near], places[near + lag]
            alike = left[other] & (np.abs(numbers[one].astype(np.int32) - numbers[other]) <= limit).all(1)
            same_text = looks["captions"][one] == looks["captions"][other]
            alike &= same_text | (looks["rendered"][one] & looks["rendered"][other])
            found, first = np.unique(other[alike], return_index=True)
            yield from zip(one[alike][first].tolist(), found.tolist(), strict=True)
            left[found] = False
            lag += 1
            if 10 * len(found) > len(places):  # Whole shards twice: without them, cells are small again.
                stay = left[places]
                places, keys, lag = places[stay], keys[stay], 1


def _by_cell(
    numbers: NDArray[np.int16], places: NDArray[np.intp], shifts: tuple[int, ...], width: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The places sorted by the cell of SORTED_BY that they fall in, and those cells' keys. Equal ones stay in order."""
    cells = (numbers[places[:, None], SORTED_BY].astype(np.int64) + shifts) // width
    keys = cells @ (np.int64(1) << np.arange(0, 16 * len(SORTED_BY), 16))
    order = np.argsort(keys, kind="stable")
    return places[order], keys[order]


def glances(run: Reading, wanted: Mapping[str, AbstractSet[int]]) -> dict[tuple[str, int], tuple[str, list[Glance]]]:
    """Key and pictures of the pairs with these ranks, by shard and rank. Each shard is read once."""
    seen: dict[tuple[str, int], tuple[str, list[Glance]]] = {}
    for name, ranks in wanted.items():
        with run.at_hand([f"{name}.tar"]) as folder:
            for rank, sample in enumerate(read_shard(folder / f"{name}.tar")):
                if rank in ranks:
                    files = [data for data in map(sample.image, range(2)) if data is not None]
                    seen[name, rank] = (sample.record.key, [glance(data) for data in files])
                if rank >= max(ranks):
                    break
    return seen


def glance(data: bytes) -> Glance:
    """An encoded picture in cells of 8 x 8 pixels, or 32 x 32 larger ones: (H, W, 3)."""
    with Image.open(io.BytesIO(data)) as picture:
        width, height = (min(GRID, max(1, side // CELL_PX)) for side in picture.size)
        return np.asarray(picture.convert("RGB").resize((width, height), Image.Resampling.BOX))


def same_glance(one: Glance, other: Glance) -> bool:
    """Whether two pictures are the same but for compression."""
    if one.shape != other.shape:
        return False
    difference = np.abs(one.astype(np.int16) - other)
    return bool(difference.mean() <= MEAN_LEVELS and difference.max() <= CELL_LEVELS)
