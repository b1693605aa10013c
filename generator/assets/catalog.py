"""The catalog: the vetted assets that a run may use, whatever their source."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

from generator.specs import PaintPlan

# Share of its square that a bulky thing covers from the front or the side.
BULKY_COVERAGE = 0.22


@dataclass(frozen=True, slots=True)
class Asset:
    """One accepted asset.

    uid: unique within its source and stable ("bundled/mug", "folder/mug/kenney_mug", an Objaverse uid).
    model: path of the prepared model (.npz); sha256: of the original file.
    extent: sides (x, y, z) of its own box, the longest is 1. coverage: area of its silhouette from the front, the side
    and above, where a square on the longest side is 1. paint_plan: None where no recognisable recolouring exists.
    """

    uid: str
    noun: str
    source: str
    path: str
    sha256: str
    model: str
    extent: tuple[float, float, float]
    coverage: tuple[float, float, float]
    triangles: int
    paint_plan: PaintPlan | None
    title: str
    author: str
    licence: str
    url: str


@dataclass(frozen=True, slots=True)
class Reject:
    """An asset that cannot be used: reason from `generator.assets.reasons.REASONS`, and what was seen."""

    uid: str
    noun: str
    path: str
    reason: str
    detail: str


@dataclass(frozen=True)
class Catalog:
    """Accepted assets in the order of their uids, and the rejected ones."""

    assets: tuple[Asset, ...]
    rejects: tuple[Reject, ...]

    @cached_property
    def by_noun(self) -> dict[str, tuple[Asset, ...]]:
        """Assets of each noun; nouns sorted."""
        nouns = sorted({asset.noun for asset in self.assets})
        return {noun: tuple(asset for asset in self.assets if asset.noun == noun) for noun in nouns}

    @cached_property
    def paintable(self) -> "Catalog":
        """The part whose colour can be changed recognisably."""
        return Catalog(tuple(asset for asset in self.assets if asset.paint_plan is not None), ())

    @cached_property
    def bulky(self) -> "Catalog":
        """The part that can be small in a picture and still be seen: no forks, poles or wires."""
        return Catalog(tuple(asset for asset in self.assets if max(asset.coverage[:2]) >= BULKY_COVERAGE), ())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything that reaches a picture: content, nouns, extents and paint plans."""
        state = hashlib.sha256()
        for asset in self.assets:
            decisive = (asset.uid, asset.noun, asset.sha256, asset.extent, asset.coverage, asset.paint_plan)
            state.update(repr(decisive).encode())
        return state.hexdigest()
