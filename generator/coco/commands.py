"""The verbs `coco attribute`, `spatial`, `negation` and `swap-noun`: real photos -> the shards of `render`."""

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from generator.errors import ConfigError, unknown
from generator.plan import parse_shares
from generator.records import ImageFormat

KINDS = ("colour", "size", "material", "pattern", "shape", "age")


@dataclass(frozen=True, kw_only=True)
class CocoRun:
    """What all COCO splits share."""

    captions: Path
    """COCO captions file, e.g. annotations/captions_train2017.json."""
    instances: Path | None = None
    """COCO instances file of the same photos, e.g. instances_train2017.json. Spatial and negation need it."""
    images: Path
    """Folder of the photos, e.g. train2017/."""
    n: int
    """Number of pairs to plan; fewer are made when the photos do not give that many."""
    out: Path | None = None
    """Output directory. Default: datasets_out/coco-TASK-SEED."""
    seed: int = 0
    """Seed of everything random. A photo's split does not depend on it."""
    split: str = "train=0.9,val=0.05,test=0.05"
    """Shares of the splits. Each photo is in one split, the same for all four tasks."""
    phrasing: Literal["paper", "varied"] = "paper"
    """Caption templates: the paper's one, or several."""
    balance: bool = False
    """Take the pairs whose nouns were used least, instead of as often as photos show them."""
    max_per_photo: int = 1
    """Pairs per photo at most; 0 means no cap."""
    max_per_nouns: int = 0
    """Pairs of the same nouns at most; 0 means no cap."""
    licenses: Literal["any", "free"] = "any"
    """Photos of any licence, or only of those that allow commercial use and changed copies."""
    workers: int | None = None
    """Processes at a time. Default: all cores."""
    shard_size: int = 250
    """Pairs per shard."""
    image_format: ImageFormat = "jpg"
    """Format of the images."""

    @property
    def task(self) -> str:
        """Name of the task in records and keys."""
        raise NotImplementedError

    def checked(self) -> "CocoRun":
        """The same with every default spelled out. Raises ConfigError on values that make no sense."""
        for flag, number in (("n", self.n), ("shard-size", self.shard_size)):
            if number < 1:
                raise ConfigError(f"--{flag} must be at least 1, not {number}")
        for flag, number in (("max-per-photo", self.max_per_photo), ("max-per-nouns", self.max_per_nouns)):
            if number < 0:
                raise ConfigError(f"--{flag} must not be below 0 (0 means no cap)")
        if self.workers is not None and self.workers < 1:
            raise ConfigError(f"--workers must be at least 1, not {self.workers}")
        if self.instances is None and self.task in ("spatial", "negation"):
            raise ConfigError(f"coco {self.task} needs --instances, the file with the boxes of the photos")
        parse_shares(self.split)
        return dataclasses.replace(
            self,
            out=self.out or Path("datasets_out") / f"coco-{self.task}-{self.seed}",
            workers=self.workers or os.cpu_count() or 1,
        )


@dataclass(frozen=True, kw_only=True)
class CocoAttribute(CocoRun):
    """Attribute captions of real photos: "a red bus and a white car" against "a white bus and a red car".

    There is no second image.
    """

    model: str = "en_core_web_sm"
    """spaCy model, by package name or path."""
    attributes: str = "all"
    """Kinds of attribute: all, or some of colour,size,material,pattern,shape,age."""
    statistics: Path | None = None
    """Captions file that says which attribute makes sense of which noun. Default: --captions itself."""
    min_photos: int = 2
    """An attribute makes sense of a noun if the captions of that many photos say it of one."""

    @property
    def task(self) -> str:
        """Name of the task in records and keys."""
        return "attribute"

    def checked(self) -> "CocoAttribute":
        """As CocoRun, and the kinds of attribute spelled out."""
        kinds = KINDS if self.attributes == "all" else tuple(part.strip() for part in self.attributes.split(","))
        for kind in kinds:
            if kind not in KINDS:
                raise ConfigError(f"--attributes: {unknown('kind', kind, KINDS)}")
        if self.min_photos < 1:
            raise ConfigError(f"--min-photos must be at least 1, not {self.min_photos}")
        resolved = super().checked()
        assert isinstance(resolved, CocoAttribute)
        return dataclasses.replace(resolved, attributes=",".join(kinds))


@dataclass(frozen=True, kw_only=True)
class CocoSpatial(CocoRun):
    """Spatial twins of real photos: the contents of two boxes change places (CutMix)."""

    synonyms: bool = False
    """Say relations in other words too (over and under, left of)."""
    paste: Literal["box", "mask"] = "box"
    """What changes places: whole boxes, or the objects' outlines with a soft edge where segmentations exist."""
    feather_px: float = 4.0
    """Width of that soft edge in pixels."""
    min_area: float = 0.02
    """Smallest box, as a share of the photo."""
    max_area: float = 0.5
    """Largest box, as a share of the photo."""
    min_fill: float = 0.25
    """Smallest share of its box that an object fills."""
    max_shared: float = 0.5
    """Largest share of a box that another object of about its size may cover."""
    max_stretch: float = 2.0
    """Largest change of a content's aspect ratio, as a factor."""
    max_zoom: float = 3.0
    """Largest change of a content's size, as a factor."""

    @property
    def task(self) -> str:
        """Name of the task in records and keys."""
        return "spatial"

    def checked(self) -> "CocoSpatial":
        """As CocoRun, and the geometry."""
        for flag, share in (("min-fill", self.min_fill), ("max-shared", self.max_shared)):
            if not 0 <= share <= 1:
                raise ConfigError(f"--{flag} must be between 0 and 1, not {share:g}")
        if not 0 <= self.min_area < self.max_area <= 1:
            raise ConfigError(
                f"--min-area {self.min_area:g} must be below --max-area {self.max_area:g}, both in 0 to 1"
            )
        if self.max_stretch < 1 or self.max_zoom < 1 or self.feather_px < 0:
            raise ConfigError("--max-stretch and --max-zoom must be at least 1, --feather-px not below 0")
        resolved = super().checked()
        assert isinstance(resolved, CocoSpatial)
        return resolved


@dataclass(frozen=True, kw_only=True)
class CocoNegation(CocoRun):
    """Negation twins: two real photos without a category in common."""

    min_area: float = 0.02
    """Smallest box of a named object, as a share of the photo."""

    @property
    def task(self) -> str:
        """Name of the task in records and keys."""
        return "negation"

    def checked(self) -> "CocoNegation":
        """As CocoRun, and the area."""
        if not 0 <= self.min_area <= 1:
            raise ConfigError(f"--min-area must be between 0 and 1, not {self.min_area:g}")
        resolved = super().checked()
        assert isinstance(resolved, CocoNegation)
        return resolved


@dataclass(frozen=True, kw_only=True)
class CocoSwapNoun(CocoRun):
    """Captions of real photos with two nouns swapped: "a dog on a bench" against "a bench on a dog".

    There is no second image.
    """

    model: str = "en_core_web_sm"
    """spaCy model, by package name or path."""

    @property
    def task(self) -> str:
        """Name of the task in records and keys."""
        return "swap_noun"


def run_coco(config: CocoRun) -> int:
    """All four verbs."""
    from generator.coco.run import run

    return run(config.checked())
