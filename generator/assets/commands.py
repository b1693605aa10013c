"""The verbs under `python -m generator assets`: fetch, vet, list and show."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from generator.cli import split_names
from generator.errors import AssetError, ConfigError, unknown

if TYPE_CHECKING:
    from generator.assets.catalog import Catalog, Reject
    from generator.assets.prepare import Limits

MAX_FAILED_SHARE = 0.5
SHOWN_FAILURES = 20


@dataclass(frozen=True)
class AssetsFetch:
    """Fetch Objaverse objects ahead of time, so that rendering needs no network. What is there already is kept."""

    categories: str = ""
    """LVIS categories or plain nouns, e.g. mug,phone. Default: some 200 everyday things."""
    per_category: int = 2
    """Objects of each category."""
    licences: str = "cc0,by"
    """Licences to accept, of cc0, by, by-sa, by-nd, by-nc, by-nc-sa, by-nc-nd."""
    root: Path | None = None
    """Directory of the layout. Default: $TWINSCENE_OBJAVERSE, or ~/.objaverse/hf-objaverse-v1."""
    workers: int = 8
    """Downloads at a time."""


@dataclass(frozen=True)
class AssetsVet:
    """Check every model of a source: what is accepted, and why each of the others is not."""

    assets: str = "bundled"
    """"bundled", "objaverse", or a directory with one folder of models per noun."""
    workers: int | None = None
    """Blender processes at a time. Default: one per core."""
    time_limit_s: float = 240.0
    """Seconds after which a model counts as too slow to prepare."""
    memory_limit_gb: float = 4.0
    """Memory at which a model counts as too large to prepare; 0 means no limit."""


@dataclass(frozen=True)
class AssetsList:
    """List the nouns of a source with their models, licences and authors, and the rejected ones by reason."""

    assets: str = "bundled"
    """"bundled", "objaverse", or a directory with one folder of models per noun."""
    workers: int | None = None
    """Blender processes at a time, where models must be prepared first. Default: one per core."""


@dataclass(frozen=True)
class AssetsShow:
    """Render a contact sheet of the models of a source (PNG)."""

    assets: str = "bundled"
    """"bundled", "objaverse", or a directory with one folder of models per noun."""
    out: Path = Path("assets.png")
    """Picture to write."""
    nouns: str = ""
    """Show these nouns alone, e.g. mug,chair. Default: all."""
    columns: int = 12
    """Models per row."""
    size: int = 160
    """Width and height of each in pixels."""
    samples_per_pixel: int = 8
    """Samples per pixel."""
    limit: int = 600
    """Models to show at most, spread over the nouns."""
    workers: int | None = None
    """Blender processes at a time, where models must be prepared first. Default: one per core."""


def run_fetch(config: AssetsFetch) -> int:
    """Fetch; 0 if all arrived, 1 if some did not. Raises AssetError when most did not."""
    from generator.assets.fetch import Repository
    from generator.assets.objaverse import Selection, default_root, fetch

    if config.per_category < 1 or config.workers < 1:
        raise ConfigError("--per-category and --workers must be at least 1")
    selection = Selection(split_names(config.categories), config.per_category, split_names(config.licences))
    root = config.root or default_root()
    with _progress("fetching", "objects") as report:
        outcome = fetch(Repository(root), selection, config.workers, report)
    for failure in outcome.failures[:SHOWN_FAILURES]:
        print(f"failed: {failure.name}: {failure.detail}")
    if len(outcome.failures) > SHOWN_FAILURES:
        print(f"failed: {len(outcome.failures) - SHOWN_FAILURES} more")
    if outcome.short:
        shown = ", ".join(outcome.short[:SHOWN_FAILURES]) + (", ..." if len(outcome.short) > SHOWN_FAILURES else "")
        print(f"fewer than {config.per_category} under these licences in {len(outcome.short)} categories: {shown}")
    print(f"{outcome.total} objects in {root}, {outcome.new} of them new, {len(outcome.failures)} failed")
    if len(outcome.failures) > MAX_FAILED_SHARE * (outcome.total + len(outcome.failures)):
        raise AssetError(
            f"{len(outcome.failures)} files failed and {outcome.total} are there; run the same command again to go on"
        )
    print("next: python -m generator assets show --assets objaverse")
    return 1 if outcome.failures else 0


def run_vet(config: AssetsVet) -> int:
    """Vet; 0 if any model can be used, else 1."""
    from generator.assets.prepare import Limits

    if config.time_limit_s <= 0 or config.memory_limit_gb < 0:
        raise ConfigError("--time-limit-s must be above 0 and --memory-limit-gb not below 0")
    limits = Limits(config.time_limit_s, int(config.memory_limit_gb * (1 << 30)))
    catalog = _catalog(config.assets, config.workers, limits)
    _print_rejects(catalog.rejects)
    paintable = len(catalog.paintable.assets)
    print(f"{len(catalog.assets)} accepted ({paintable} can be recoloured), {len(catalog.rejects)} rejected")
    return 0 if catalog.assets else 1


def run_list(config: AssetsList) -> int:
    """List; 0 if any model can be used, else 1."""
    catalog = _catalog(config.assets, config.workers)
    width = max((len(noun) for noun in catalog.by_noun), default=0)
    for noun, assets in catalog.by_noun.items():
        paintable = sum(asset.paint_plan is not None for asset in assets)
        licences = ", ".join(sorted({asset.licence or "licence unknown" for asset in assets}))
        authors = ", ".join(sorted({asset.author for asset in assets if asset.author}))
        counts = f"{len(assets):4d} models  {paintable:4d} recolourable"
        print(f"{noun:{width}}  {counts}  {licences}{'  by ' if authors else ''}{authors}")
    _print_rejects(catalog.rejects)
    print(f"{len(catalog.by_noun)} nouns, {len(catalog.assets)} models, {len(catalog.rejects)} rejected")
    return 0 if catalog.assets else 1


def run_show(config: AssetsShow) -> int:
    """Render the sheet. Raises AssetError where there is nothing to show."""
    from generator.assets.sheet import contact_sheet, render_portraits

    if min(config.columns, config.limit, config.samples_per_pixel) < 1 or not 32 <= config.size <= 1024:
        raise ConfigError("--columns, --limit and --samples-per-pixel must be at least 1, --size between 32 and 1024")
    catalog = _catalog(config.assets, config.workers)
    wanted = set(split_names(config.nouns))
    for noun in sorted(wanted - set(catalog.by_noun)):
        raise AssetError(f"--nouns: {unknown('noun', noun, catalog.by_noun)}")
    columns = [assets for noun, assets in catalog.by_noun.items() if not wanted or noun in wanted]
    if not columns:
        raise AssetError(f"nothing to show: all {len(catalog.rejects)} models of {config.assets} are rejected")
    # Round by round through the nouns, so that a limit leaves out further models before it leaves out nouns.
    rounds = [(turn, assets[turn]) for assets in columns for turn in range(len(assets))]
    chosen = [asset for _, asset in sorted(rounds, key=lambda pair: pair[0])[: config.limit]]
    chosen.sort(key=lambda asset: (asset.noun, asset.uid))
    with _progress("rendering", "models") as report:
        pictures = render_portraits(chosen, config.size, config.samples_per_pixel, report)
    sheet = contact_sheet(pictures, [asset.noun for asset in chosen], min(config.columns, len(chosen)))
    config.out.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(config.out)
    print(f"{config.out}: {len(chosen)} models of {len({asset.noun for asset in chosen})} nouns")
    return 0


@contextmanager
def _progress(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """A report callback that shows a meter from its first call on."""
    from generator.progress import Meter

    meter: Meter | None = None
    with ExitStack() as stack:

        def report(done: int, total: int) -> None:
            nonlocal meter
            if meter is None:
                meter = stack.enter_context(Meter(what, total, unit))
            meter.reach(done)

        yield report


def _catalog(source: str, workers: int | None, limits: "Limits | None" = None) -> "Catalog":
    """Everything that a source holds, however much of it is rejected."""
    from generator.assets.catalog import Catalog
    from generator.assets.load import read_sources, vet_sources
    from generator.assets.objaverse import Selection
    from generator.assets.prepare import default_cache

    if workers is not None and workers < 1:
        raise ConfigError(f"--workers must be at least 1, not {workers}")
    workers = workers or os.cpu_count() or 1
    with _progress("fetching", "objects") as report:
        sources, left_out = read_sources(source, Selection(), report)
    with _progress("preparing", "models") as report:
        vetted = vet_sources(sources, source, cache=default_cache(), workers=workers, report=report, limits=limits)
    return Catalog(vetted.assets, (*vetted.rejects, *left_out))


def _print_rejects(rejects: tuple["Reject", ...]) -> None:
    from generator.assets.reasons import REASONS

    for reject in rejects:
        print(f"rejected: {reject.path}: {reject.reason}: {reject.detail}")
    for reason, count in sorted(Counter(reject.reason for reject in rejects).items()):
        print(f"{count:4d}  {reason}: {REASONS[reason]}")
