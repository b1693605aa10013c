"""The command line: one frozen dataclass per verb, which is also what run.json records and the fingerprint hashes."""

import dataclasses
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from generator.errors import ConfigError, unknown
from generator.plan import parse_shares
from generator.records import ImageFormat
from generator.specs import Device, Engine
from generator.vocabulary import load_vocabulary

# Samples per pixel that give a clean picture after denoising (Cycles) or multisampling (EEVEE).
SAMPLES: dict[str, int] = {"cycles": 4, "eevee": 16, "workbench": 8}
# Layers of sprites are rendered once for many pictures, with samples of their own.
SPRITE_SAMPLES = 24
# What the sprite engine's plan has of everything that is dear to render: views of an asset, furnished stages.
VIEWS, PLATES = 12, 200
# Seconds for a pair: one of sprites may have to wait for its layers.
TIMEOUT_S, SPRITE_TIMEOUT_S = 120.0, 600.0
ATTRIBUTE_KINDS = ("colour", "size")


def default_workers(sprites: bool = False) -> int:
    """One renderer for every two cores: at small sizes Blender spends half its time on one core. Sprites always do."""
    return max(1, (os.cpu_count() or 1) // (1 if sprites else 2))


ExportFormat = Literal[
    "imagefolder",
    "hf",
    "parquet",
    "coco",
    "clip-csv",
    "winoground",
    "sugarcrepe",
    "whatsup",
    "dcsm-reference",
    "mosaic",
]


@dataclass(frozen=True)
class Render:
    """Render twin scenes: pairs of images with captions that differ in exactly one fact.

    The same command again resumes an interrupted run.
    """

    task: Literal["spatial", "attribute", "negation"]
    """What differs between the twins: the spatial relation, whose attribute it is, or what is absent."""
    n: int
    """Number of pairs to plan."""
    out: Path | None = None
    """Output directory. Default: datasets_out/TASK-SEED."""
    seed: int = 0
    """Seed of everything random. The same seed, assets and versions give the same bytes."""
    assets: str = "bundled"
    """3D models: "bundled", "objaverse", or a directory with one folder of GLB, glTF, OBJ, PLY, STL or OFF files."""
    categories: str = ""
    """With objaverse: LVIS categories or plain nouns, e.g. mug,phone. Default: some 200 everyday things."""
    per_category: int = 0
    """With objaverse: objects of each category; 0 for all that were fetched."""
    licences: str = "cc0,by"
    """With objaverse: licences to accept, of cc0, by, by-sa, by-nd, by-nc, by-nc-sa, by-nc-nd."""
    backgrounds: str = "bundled"
    """What stands behind the objects: "bundled", or a directory of images. Masks know nothing of what photographs show:
    use pictures of places, without things that captions may name."""
    backgrounds_vetted: bool = False
    """Say that you looked: the images of --backgrounds show none of the nouns. Negation asks for it, since a thing in
    the photograph would make "without" false."""
    engine: Engine = "cycles"
    """Blender's render engine. EEVEE needs a GPU or a software OpenGL, and workbench shows colours flat. "sprites" puts
    pictures together in 2D from layers that Cycles rendered once: many times faster for large runs (docs/sprites.md).
    """
    samples_per_pixel: int | None = None
    """Samples per pixel before denoising. Default: 4 for cycles, 16 for eevee. Sprites have their own."""
    views: int | None = None
    """With sprites: views of each asset, every one in a light of its own. Default: 12."""
    plates: int | None = None
    """With sprites: furnished stages, each with one place, camera and light. Default: 200."""
    bank_gb: float = 20.0
    """With sprites: most that the bank of layers may hold, in GiB; it is kept for later runs."""
    size: int = 224
    """Width and height of the images in pixels."""
    workers: int | None = None
    """Renderers at a time. Default: half as many as there are cores, with sprites as many."""
    shard_size: int = 250
    """Pairs per shard."""
    split: str = "train=0.9,val=0.05,test=0.05"
    """Shares of the splits."""
    split_by: Literal["pair", "asset", "noun"] = "pair"
    """What no two splits share: only the pair itself, or also every asset, or every noun."""
    masks: bool = False
    """Also store instance masks (PNG, 0 background, 1 and 2 the objects)."""
    image_format: ImageFormat = "jpg"
    """Format of the images."""
    device: Device = "auto"
    """Where Cycles renders; auto takes a GPU when there is one."""
    dry_run: bool = False
    """Plan only: write plan.parquet, show some captions and the balance, render nothing."""
    negation: Literal["paper", "shared"] = "paper"
    """Negation protocol: the paper's (four nouns), or twins that share a noun, so that only the "not" decides."""
    attributes: str = "colour,size"
    """Kinds of attribute to swap."""
    colours: str = "all"
    """Colours to paint with, e.g. red,green,blue."""
    phrasing: Literal["paper", "varied"] = "paper"
    """Caption templates: the paper's one, or several."""
    synonyms: bool = False
    """Say relations and sizes in other words too (over and under, large and small)."""
    attempts: int = 4
    """Renders tried before a pair is rejected."""
    timeout_s: float | None = None
    """Seconds after which a pair's render counts as hung. Default: 120, with sprites 600, layers included."""
    memory_gb: float | None = None
    """Resident memory at which a renderer is replaced; 0 means no limit. Default: 80 % of the machine's, shared.
    With sprites, up to half of it keeps layers."""
    executor: Literal["local", "ray"] = "local"
    """Where shards are made: in processes on this machine, or as tasks of a Ray cluster."""
    address: str = ""
    """The Ray cluster, e.g. "auto" on one of its nodes, or ray://HOST:10001. Default: one of this machine's own."""
    slice: str = ""
    """Make only every N-th shard, from the i-th on: "i/N", for Slurm arrays and other batch systems."""
    retry_rejected: bool = False
    """Give pairs rejected before another round of attempts, and those that took the renderer down another chance."""
    renderer: Literal["blender", "fake"] = "blender"
    """Blender, or flat boxes in no time ("fake"), to try out everything around the rendering."""

    def resolved(self) -> "Render":
        """The same with every default spelled out. Raises ConfigError on values that make no sense."""
        if self.n < 1:
            raise ConfigError(f"--n must be at least 1, not {self.n}")
        if not 32 <= self.size <= 4096:
            raise ConfigError(f"--size must be between 32 and 4096 pixels, not {self.size}")
        sprites = self.engine == "sprites"
        for flag, value in (
            ("workers", self.workers),
            ("samples-per-pixel", self.samples_per_pixel),
            ("views", self.views),
            ("plates", self.plates),
        ):
            if value is not None and value < 1:
                raise ConfigError(f"--{flag} must be at least 1, not {value}")
        for flag, number in (("shard-size", self.shard_size), ("attempts", self.attempts)):
            if number < 1:
                raise ConfigError(f"--{flag} must be at least 1, not {number}")
        if (self.timeout_s is not None and self.timeout_s <= 0) or (self.memory_gb or 0.0) < 0:
            raise ConfigError("--timeout-s must be above 0 and --memory-gb not below 0")
        if not 0 < self.bank_gb < math.inf:
            raise ConfigError(f"--bank-gb must be a number above 0, not {self.bank_gb:g}")
        if self.views is not None and self.views < 2:
            raise ConfigError("--views must be at least 2: one for things that stand, one for things that lie")
        if not sprites and (self.views or self.plates):
            raise ConfigError("--views and --plates are of the sprite engine; add --engine sprites")
        if sprites and self.samples_per_pixel not in (None, SPRITE_SAMPLES):
            raise ConfigError("--samples-per-pixel: the layers of --engine sprites have samples of their own")
        parse_shares(self.split)
        if self.task == "negation" and self.backgrounds != "bundled" and not self.backgrounds_vetted:
            raise ConfigError(
                "negation says what an image does not show, and nobody checked what these photographs show; "
                "look at them and add --backgrounds-vetted, or use --backgrounds bundled"
            )
        if self.assets != "objaverse" and (self.categories or self.per_category):
            raise ConfigError("--categories and --per-category choose from Objaverse; add --assets objaverse")
        parse_slice(self.slice)
        colours = tuple(load_vocabulary().colours) if self.colours == "all" else _names(self.colours, "colours")
        return dataclasses.replace(
            self,
            out=self.out or Path("datasets_out") / f"{self.task}-{self.seed}",
            samples_per_pixel=self.samples_per_pixel or (SPRITE_SAMPLES if sprites else SAMPLES[self.engine]),
            views=self.views or (VIEWS if sprites else None),
            plates=self.plates or (PLATES if sprites else None),
            timeout_s=self.timeout_s or (SPRITE_TIMEOUT_S if sprites else TIMEOUT_S),
            workers=self.workers or default_workers(sprites),
            attributes=",".join(_known(_names(self.attributes, "attributes"), ATTRIBUTE_KINDS, "attributes")),
            colours=",".join(_known(colours, tuple(load_vocabulary().colours), "colours")),
        )


@dataclass(frozen=True)
class Preview:
    """Write index.html, a gallery that opens from disk, for a run directory."""

    out: tyro.conf.Positional[Path]
    """Run directory."""
    limit: int = 240
    """Pairs to show at most."""
    contact_sheet: Path | None = None
    """Also write a picture of some pairs with their captions (PNG)."""


@dataclass(frozen=True)
class Validate:
    """Check finished runs: digests, records, images, masks, captions, duplicates. Any fault: exit code 1."""

    dirs: tyro.conf.Positional[tuple[Path, ...]]
    """Run directories, or URLs such as s3://bucket/prefix."""
    workers: int | None = None
    """Processes. Default: all cores."""


@dataclass(frozen=True)
class Status:
    """Say how far a run is: pairs and shards done, what was rejected, what is in quarantine."""

    dir: tyro.conf.Positional[Path]
    """Run directory, or a URL."""


@dataclass(frozen=True)
class Merge:
    """Join finished runs of other seeds or tasks into one, byte for byte.

    Runs of several seeds have the same keys: in the whole, a pair is told by its seed and key together.
    """

    dirs: tyro.conf.Positional[tuple[Path, ...]]
    """Run directories."""
    out: Path
    """The new run directory."""


@dataclass(frozen=True)
class Export:
    """Write finished runs as files that other tools read as they are, with licences and credits.

    Pairs that a format cannot hold are counted and named by reason; the export is written whole or not at all.
    """

    dirs: tyro.conf.Positional[tuple[Path, ...]]
    """Run directories."""
    to: ExportFormat
    """The layout to write; see docs/export.md for who reads which."""
    out: Path
    """The new folder."""
    split: str = ""
    """Splits to export, e.g. train,val. Default: all."""
    push: str = ""
    """Also send the folder to this dataset repository of the Hugging Face Hub, e.g. me/twins."""
    private: bool = False
    """Make a new repository on the Hub private."""


@dataclass(frozen=True)
class Audit:
    """Look for shortcuts: could a model be right from captions alone, from one image, from file sizes or backgrounds?

    Also balance, near-duplicates, leaks between splits, and labels against pixels. Several directories are one set of
    data. Writes audit.json and audit.html.
    """

    dirs: tyro.conf.Positional[tuple[Path, ...]]
    """Run directories."""
    out: Path | None = None
    """Folder for audit.json and audit.html. Default: the first run directory."""
    limit: int = 2000
    """Pairs of each task to look into, drawn at random; what is in which split is compared over all pairs."""
    seed: int = 0
    """Seed of that draw, and of the order in which the blind learners meet the pairs."""
    strict: bool = False
    """Exit with code 1 on any shortcut or fault."""


@dataclass(frozen=True)
class Doctor:
    """Say what this machine can do: Python and Blender versions, render devices, missing libraries."""


def parse_slice(text: str) -> tuple[int, int]:
    """ "3/16" as (3, 16); "" as (1, 1). Raises ConfigError."""
    number, _, of = (text or "1/1").partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise ConfigError(f"--slice must be like 3/16, from 1/16 to 16/16, not {text}")
    return int(number), int(of)


def split_names(text: str) -> tuple[str, ...]:
    """ "mug, phone" as its parts, empty ones left out."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _names(text: str, flag: str) -> tuple[str, ...]:
    names = split_names(text)
    if not names:
        raise ConfigError(f"--{flag} names nothing")
    if len(set(names)) < len(names):
        raise ConfigError(f"--{flag}: a name is given twice in {text!r}")
    return names


def _known(names: tuple[str, ...], known: tuple[str, ...], flag: str) -> tuple[str, ...]:
    for name in names:
        if name not in known:
            raise ConfigError(f"--{flag}: {unknown(flag.removesuffix('s'), name, known)}")
    return names
