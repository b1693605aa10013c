"""From `--assets` to the catalog: find the files, prepare what is not in the cache, say what was left out."""

from collections.abc import Callable, Sequence
from pathlib import Path

from generator.assets.bundled import read_bundled
from generator.assets.catalog import Asset, Catalog, Reject
from generator.assets.folder import read_folder
from generator.assets.objaverse import Selection, default_root, read_objaverse
from generator.assets.prepare import Limits, Prepared, prepare_all
from generator.assets.sources import Source
from generator.errors import AssetError

# More rejects than this and the folder is not what the user thinks it is.
MAX_REJECTED_SHARE = 0.5


def read_sources(
    source: str, selection: Selection, report: Callable[[int, int], None]
) -> tuple[list[Source], list[Reject]]:
    """What `source` ("bundled", "objaverse" or a directory) offers, and what it holds but cannot offer.

    `selection` narrows Objaverse alone. Raises AssetError.
    """
    if source == "bundled":
        return read_bundled(), []
    if source == "objaverse":
        return read_objaverse(default_root(), selection, report)
    return read_folder(Path(source).expanduser(), "folder"), []


def load_catalog(
    source: str,
    *,
    cache: Path,
    workers: int,
    report: Callable[[int, int], None],
    selection: Selection | None = None,
) -> Catalog:
    """The vetted assets of `source`: "bundled", "objaverse" or a directory.

    `report(done, total)` is called as they are prepared. Raises AssetError when there are none, or more than half are
    rejected.
    """
    sources, left_out = read_sources(source, selection or Selection(), report)
    catalog = vet_sources(sources, source, cache=cache, workers=workers, report=report)
    catalog = Catalog(catalog.assets, (*catalog.rejects, *left_out))
    total = len(catalog.assets) + len(catalog.rejects)
    if len(catalog.rejects) > MAX_REJECTED_SHARE * total:
        first = catalog.rejects[0]
        raise AssetError(
            f"{len(catalog.rejects)} of {total} assets of {source} cannot be used, e.g. {first.path}: {first.reason}"
            f" ({first.detail}); `python -m generator assets vet --assets {source}` lists all"
        )
    return catalog


def vet_sources(
    sources: Sequence[Source],
    name: str,
    *,
    cache: Path,
    workers: int,
    report: Callable[[int, int], None],
    limits: Limits | None = None,
) -> Catalog:
    """Prepare every source; accepted and rejected ones, in the order of their uids."""
    sources = sorted(sources, key=lambda source: source.uid)
    paths = [source.path for source in sources]
    outcomes = prepare_all(paths, cache=cache, workers=workers, report=report, limits=limits)
    assets: list[Asset] = []
    rejects: list[Reject] = []
    for source, outcome in zip(sources, outcomes, strict=True):
        if isinstance(outcome, Prepared):
            assets.append(_asset(source, name, outcome))
        else:
            rejects.append(Reject(source.uid, source.noun, str(source.path), outcome.reason, outcome.detail))
    return Catalog(tuple(assets), tuple(rejects))


def _asset(source: Source, name: str, prepared: Prepared) -> Asset:
    return Asset(
        uid=source.uid,
        noun=source.noun,
        source=name if name in ("bundled", "objaverse") else "folder",
        path=str(source.path),
        sha256=prepared.sha256,
        model=str(prepared.model),
        extent=prepared.extent,
        coverage=prepared.coverage,
        triangles=prepared.triangles,
        paint_plan=prepared.paint_plan,
        title=source.title,
        author=source.author,
        licence=source.licence,
        url=source.url,
    )
