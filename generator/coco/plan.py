"""From everything that could be made to what is made: splits by photo, order, balance and caps."""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from generator.coco.annotations import Instance, Photo
from generator.records import PairRecord
from generator.rng import digest, unit


@dataclass(frozen=True, slots=True)
class Swap:
    """The two objects whose boxes change contents in image_1."""

    a: Instance
    b: Instance


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """One pair that will be made: its record, complete but for the pixels, and the photos behind it.

    photos: one, or two for negation. swap: None where image_1 is no edited image_0.
    """

    record: PairRecord
    photos: tuple[Photo, ...]
    swap: Swap | None


class Draft(Protocol):
    """What could become a pair. photo_ids, nouns: for splits, caps and balance; identity: tells drafts apart."""

    @property
    def photo_ids(self) -> tuple[int, ...]: ...

    @property
    def nouns(self) -> tuple[str, ...]: ...

    @property
    def identity(self) -> tuple[str | int, ...]: ...


D = TypeVar("D", bound=Draft)


@dataclass(frozen=True, slots=True)
class Limits:
    """n: pairs wanted. max_per_photo, max_per_nouns: how often a photo, or a pair of nouns, comes up; 0 = no cap.

    balance: take the draft whose nouns were used least instead of a random one.
    """

    n: int
    max_per_photo: int
    max_per_nouns: int
    balance: bool


@dataclass(frozen=True, slots=True)
class Selection(Generic[D]):
    """drafts: the chosen ones, in order. capped: how many were passed over because of a cap."""

    drafts: list[D]
    capped: int


def split_of(photo_id: int, shares: Mapping[str, float]) -> str:
    """The split of a photo: the same for every task, seed and size of run, so that no photo is ever in two."""
    place = unit(0, "coco", "split", photo_id)
    reached = 0.0
    for name, share in shares.items():
        reached += share
        if place < reached:
            return name
    return list(shares)[-1]  # rounding of the last sum


def select(drafts: Iterable[D], limits: Limits, seed: int, task: str) -> Selection[D]:
    """The first n drafts within the caps, in a shuffled order that does not depend on n."""
    ordered = sorted(drafts, key=lambda draft: digest(seed, "coco", task, *draft.identity))
    used_nouns: Counter[str] = Counter()
    used_photos: Counter[int] = Counter()
    used_pairs: Counter[tuple[str, ...]] = Counter()
    chosen: list[D] = []
    capped = 0
    # Least used nouns first, the shuffled order among equals. A draft's use only grows, so one that has moved up
    # since it was queued goes back with its new count.
    queue = [(0, place) for place in range(len(ordered))]
    while queue and len(chosen) < limits.n:
        count, place = heapq.heappop(queue)
        draft = ordered[place]
        use = max(used_nouns[noun] for noun in draft.nouns) if limits.balance else 0
        if use > count:
            heapq.heappush(queue, (use, place))
            continue
        pair = tuple(sorted(draft.nouns))
        over_photo = limits.max_per_photo and any(used_photos[i] >= limits.max_per_photo for i in draft.photo_ids)
        if over_photo or (limits.max_per_nouns and used_pairs[pair] >= limits.max_per_nouns):
            capped += 1
            continue
        chosen.append(draft)
        used_nouns.update(draft.nouns)
        used_photos.update(draft.photo_ids)
        used_pairs[pair] += 1
    return Selection(chosen, capped)
