"""The verbs under `python -m generator sprites`: build, list and clean."""

from collections import Counter
from dataclasses import dataclass

from generator.cli import PLATES, VIEWS, Render
from generator.errors import ConfigError, OutputError
from generator.specs import Device


@dataclass(frozen=True)
class SpritesBuild:
    """Render, ahead of time, all layers that runs with these assets can need. What is there already is kept."""

    assets: str = "bundled"
    """"bundled", "objaverse", or a directory with one folder of models per noun."""
    categories: str = ""
    """With objaverse: as in render."""
    per_category: int = 0
    """With objaverse: as in render."""
    licences: str = "cc0,by"
    """With objaverse: as in render."""
    backgrounds: str = "bundled"
    """"bundled", or a directory of images. A bank holds no photographs: any number share the same plates."""
    views: int = VIEWS
    """Views of each asset."""
    plates: int = PLATES
    """Furnished stages."""
    size: int = 224
    """Width and height in pixels of the images that it will be used for."""
    bank_gb: float = 20.0
    """Most that the bank may hold, in GiB."""
    workers: int | None = None
    """Blender processes at a time. Default: as many as there are cores."""
    device: Device = "auto"
    """Where Cycles renders."""


@dataclass(frozen=True)
class SpritesList:
    """Say what the bank holds, by version and kind of layer."""


@dataclass(frozen=True)
class SpritesClean:
    """Remove layers that were not used for a while, or all of them. They are rendered again when a run needs them."""

    days: float = 30.0
    """Days without use; 0 removes everything."""
    yes: bool = False
    """Remove them; without it, only say what would go."""


def run_sprites(config: SpritesBuild | SpritesList | SpritesClean) -> int:
    """The verb that was asked for."""
    match config:
        case SpritesBuild():
            return run_build(config)
        case SpritesList():
            return run_list(config)
        case SpritesClean():
            return run_clean(config)


def run_build(config: SpritesBuild) -> int:
    """Render what the bank lacks."""
    from generator import pipeline
    from generator.sprites.fill import fill
    from generator.sprites.house import bank_bytes, gib, make_writable
    from generator.sprites.needs import whole_bank
    from generator.tasks.plates import make_plates
    from generator.tasks.rigs import RigSet

    # The flags mean what they mean to render, down to the errors.
    run = Render(task="spatial", n=1, engine="sprites", **vars(config)).resolved()
    catalog = pipeline.read_assets(run)
    plates = make_plates(RigSet(config.views), config.plates, pipeline.read_backgrounds(config.backgrounds))
    bank = pipeline.bank_folder()
    make_writable(bank)
    made = fill(whole_bank(catalog, plates), pipeline.how_to_fill(run, bank / "logs"))
    print(
        f"{len(catalog.assets)} assets in {config.views} views and {config.plates} plates are in {bank}: "
        f"{made:,} layers made now, {gib(bank_bytes(bank))} in all"
    )
    command = f"render --engine sprites --task spatial --n 10000 --views {config.views} --plates {config.plates}"
    print(f"next: python -m generator {command} --size {config.size}")
    return 0


def run_list(_: SpritesList) -> int:
    """A line for each kind of layer of each version."""
    from generator.pipeline import bank_folder
    from generator.sprites.house import gib, stored

    bank = bank_folder()
    count: Counter[tuple[str, str]] = Counter()
    size: Counter[tuple[str, str]] = Counter()
    for item in stored(bank):
        count[item.version, item.kind] += item.path.suffix == ".json"
        size[item.version, item.kind] += item.size
    for version, kind in sorted(size):
        print(f"{version}  {kind:6} {count[version, kind]:>8,} layers  {gib(size[version, kind]):>9}")
    print(f"{bank}: {count.total():,} layers, {gib(size.total())}")
    return 0


def run_clean(config: SpritesClean) -> int:
    """Say what nobody uses, and remove it when told to."""
    from generator.pipeline import bank_folder
    from generator.sprites.house import gib, unused

    if not config.days >= 0:
        raise ConfigError(f"--days must be 0 or more, not {config.days:g}")
    files = unused(bank_folder(), config.days)
    size = gib(sum(item.size for item in files))
    if not config.yes:
        print(f"{len(files):,} files, {size}, were not used for {config.days:g} days; add --yes to remove them")
        return 0
    # A layer is there when its .json is: these go first, so that no half of one is ever taken for a whole.
    for item in sorted(files, key=lambda item: item.path.suffix != ".json"):
        try:
            item.path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"cannot remove {item.path}: {error.strerror}") from error
    print(f"removed {len(files):,} files, {size}")
    return 0
