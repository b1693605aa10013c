"""The main job from top to bottom: assets and backgrounds, plan, shards, card, preview, summary."""

import dataclasses
import hashlib
import importlib.metadata
import itertools
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from generator import __version__
from generator.assets.catalog import Catalog
from generator.assets.load import load_catalog
from generator.assets.objaverse import Selection
from generator.backgrounds import Background, bundled, from_folder
from generator.cli import Render, parse_slice, split_names
from generator.errors import AssetError, DataError, OutputError, RendererError
from generator.executors import local
from generator.plan import ShardPlan, parse_shares, shard_plans, split_catalogs
from generator.progress import Meter
from generator.records import SCHEMA_VERSION
from generator.retry import begin_round, current_round, end_round, is_behind
from generator.shard_job import Recipe
from generator.shards import Row, ShardStage, read_json, sha256, write_json_once
from generator.specs import RenderSettings, SurfaceSpec
from generator.storage import Place
from generator.summary import Summary
from generator.tasks import TASKS, Context, TaskOptions
from generator.tasks.plates import make_plates
from generator.tasks.rigs import RigSet
from generator.vocabulary import TEMPLATES, load_vocabulary

if TYPE_CHECKING:
    from generator.sprites.fill import Filling

# Not part of what a run is: they change when or where pairs are made, never what comes out.
NOT_IN_FINGERPRINT = (
    "out",
    "workers",
    "dry_run",
    "timeout_s",
    "memory_gb",
    "retry_rejected",
    "slice",
    "executor",
    "address",
    "bank_gb",
)
# Stop when more than this share of the pairs is rejected, once enough were tried to tell.
MAX_REJECTED_SHARE, TRIED_BEFORE_STOP = 0.5, 40
# Of this machine's memory, what all its renderers may hold together unless --memory-gb says otherwise.
MEMORY_SHARE = 0.8
# Layers that a renderer of sprites keeps; at most half of what it may hold.
LAYER_CACHE_BYTES = 2**31
# Pairs in index.html.
GALLERY = 240


def run_render(config: Render) -> int:
    """The `render` verb."""
    config = config.resolved()
    assert config.out is not None
    assert config.workers is not None
    catalog = read_assets(config)
    backgrounds = read_backgrounds(config.backgrounds)
    contexts = make_contexts(config, catalog, backgrounds)
    if config.dry_run:
        from generator.dry_run import show_plan

        return show_plan(config, contexts)
    place = Place(config.out, cache_folder())
    config = dataclasses.replace(config, out=place.out)
    place.refresh()
    run = describe_run(dataclasses.replace(config, slice="", retry_rejected=False, address=""), catalog, backgrounds)
    claim(place.out, run)
    if config.retry_rejected:
        begin_round(place.out)
    place.publish_run()
    round_number = current_round(place.out)
    summary = Summary(config, round_number)
    missing = missing_plans(config, round_number, summary, whole=not place.url)
    # So many workers as there is work for: the first few missing shards tell, without a look at all of them.
    first = list(itertools.islice(missing, config.workers))
    if first:
        recipe = make_recipe(config, contexts, run["fingerprint"], round_number, len(first), place.url)
        if recipe.renderer == "sprites" and config.executor == "local":
            stock_bank(config, contexts, round_number)
        render_shards(config, recipe, itertools.chain(first, missing), len(first), summary)
    place.refresh()
    if config.slice and not all_complete(config, round_number):
        print(summary.text("other slices are not done; the last one writes card and gallery"))
        return 0
    end_round(place.out)
    with place.finishing(GALLERY):
        finish(place.out, run, catalog)
    print(summary.text(place.url))
    if summary.tried and summary.tried == summary.tried_rejected:
        raise RendererError(
            f"no pair was accepted, e.g. {summary.example}; see {place.out}/logs and `python -m generator doctor`"
        )
    return 0


def render_shards(config: Render, recipe: Recipe, plans: Iterator[ShardPlan], workers: int, summary: Summary) -> None:
    """Make the shards under a progress bar."""
    pairs = -(-config.n // parse_slice(config.slice)[1])
    with Meter(f"{config.task} pairs", pairs, "images", 2, summary.planned) as meter:

        def report(row: Row, fresh: bool) -> None:
            summary.add(row, fresh)
            meter.reach(summary.planned, f"{summary.rejected} rejected")
            if not recipe.round:  # What was rejected before is likely to be rejected again.
                stop_if_hopeless(summary)

        if config.executor == "ray":
            from generator.executors import ray

            ray.run(config, recipe, plans, report)
        else:
            local.run(recipe, plans, workers, report)


def stock_bank(config: Render, contexts: dict[str, Context], round_number: int) -> None:
    """Have the layers rendered that the shards need; those of a short run are rendered as its pairs come to them.

    Either way it is known before the first pair whether there is room for them.
    """
    from generator.sprites.fill import announced, fill
    from generator.sprites.needs import LOOK_AHEAD, SHORT_RUN, planned

    assert config.out is not None
    plans = missing_plans(config, round_number, Summary(config, round_number))
    pairs = list(itertools.islice(((plan.split, index) for plan in plans for index in plan.indices), LOOK_AHEAD))
    scenes, how = planned(config.task, contexts, pairs), how_to_fill(config, config.out / "logs")
    if len(pairs) <= SHORT_RUN:
        announced(scenes, how)
    else:
        fill(scenes, how)


def how_to_fill(config: Render, logs: Path) -> "Filling":
    """As many renderers at a time as there are workers, within the same limits."""
    from generator.sprites.fill import Filling

    assert config.workers is not None
    assert config.timeout_s is not None
    return Filling(
        settings=make_settings(config, config.workers),
        workers=config.workers,
        logs=logs,
        timeout_s=config.timeout_s,
        memory_limit_bytes=memory_limit_bytes(config, config.workers),
        limit_gb=config.bank_gb,
    )


def missing_plans(config: Render, round_number: int, summary: Summary, whole: bool = False) -> Iterator[ShardPlan]:
    """The shards still to make, one by one as they are asked for; complete ones go into the summary in passing.

    whole: look whether complete shards have all their files (in an object store they lie elsewhere).
    """
    assert config.out is not None
    number, of = parse_slice(config.slice)
    plans = shard_plans(config.seed, config.n, parse_shares(config.split), config.shard_size)
    for plan in itertools.islice(plans, number - 1, None, of):
        stage = ShardStage(config.out, plan.split, plan.number)
        stats = read_json(stage.base.with_suffix(".json")) if stage.complete() else None
        if stats is not None and whole:
            check_whole(stage)
        if stats is None or is_behind(stats, round_number):
            yield plan
        else:
            summary.add_sealed(stats)


def check_whole(stage: ShardStage) -> None:
    """DataError where a shard that its json calls complete has lost a file."""
    for suffix in (".tar", ".parquet"):
        if not stage.base.with_suffix(suffix).is_file():
            raise DataError(
                f"{stage.base.with_suffix(suffix)} is missing; delete {stage.base.with_suffix('.json')} "
                "and run the same command again to make the shard anew"
            )


def all_complete(config: Render, round_number: int) -> bool:
    """Whether no shard is missing, of any slice."""
    whole = dataclasses.replace(config, slice="")
    return next(missing_plans(whole, round_number, Summary(whole, round_number)), None) is None


def read_assets(config: Render) -> Catalog:
    """The catalog of `--assets`, with a progress bar where models must be prepared first; says what cannot be used."""
    meter: Meter | None = None

    def report(done: int, total: int) -> None:
        nonlocal meter
        meter = meter or Meter("preparing assets", total, "assets")
        meter.reach(done)

    assert config.workers is not None
    selection = Selection(split_names(config.categories), config.per_category, split_names(config.licences))
    cache = cache_folder() / "assets"
    catalog = load_catalog(config.assets, cache=cache, workers=config.workers, report=report, selection=selection)
    if catalog.rejects:
        first, total = catalog.rejects[0], len(catalog.rejects) + len(catalog.assets)
        print(
            f"{len(catalog.rejects)} of {total} models cannot be used, e.g. {first.path}: {first.reason} "
            f"({first.detail}); see `python -m generator assets vet`",
            file=sys.stderr,
        )
    return catalog


def read_backgrounds(source: str) -> tuple[Background, ...]:
    """The places of `--backgrounds`; images that could not be used are named on stderr."""
    cache = cache_folder() / "backgrounds"
    if source == "bundled":
        return bundled(cache)
    found, skipped = from_folder(Path(source).expanduser(), cache)
    for item in skipped:
        print(f"background skipped: {item}", file=sys.stderr)
    return found


def cache_folder() -> Path:
    """Where prepared models and painted textures are kept: $TWINSCENE_CACHE, or ~/.cache/twinscene.

    Absolute, because renderers work in a folder of their own.
    """
    return Path(os.environ.get("TWINSCENE_CACHE") or Path.home() / ".cache" / "twinscene").expanduser().absolute()


def bank_folder() -> Path:
    """Where the sprite engine keeps its layers."""
    return cache_folder() / "sprites"


def make_contexts(config: Render, catalog: Catalog, backgrounds: tuple[Background, ...]) -> dict[str, Context]:
    """What each split may use. Raises AssetError where the task cannot be done with it."""
    options = TaskOptions(
        phrasing=config.phrasing,
        synonyms=config.synonyms,
        negation=config.negation,
        attributes=tuple(config.attributes.split(",")),
        colours=tuple(config.colours.split(",")),
    )
    vocabulary = load_vocabulary()
    shares = parse_shares(config.split)
    colour = config.task == "attribute" and "colour" in options.attributes
    catalogs = split_catalogs(catalog, config.split_by, shares, TASKS[config.task].roles)
    for name, part in catalogs.items():
        needs = [("", part, "")]
        if colour:
            needs.append((" whose colour can be changed", part.paintable, "; --attributes size does without"))
        if config.task == "attribute" and "size" in options.attributes:
            needs.append((" bulky enough to be small", part.bulky, "; --attributes colour does without"))
        for kind, usable, mend in needs:
            if len(usable.by_noun) < TASKS[config.task].roles:
                raise AssetError(
                    f"{config.task} needs assets of at least {TASKS[config.task].roles} nouns{kind}; "
                    f"{config.assets} has {len(usable.by_noun)} for the {name} split{mend}"
                )
    if colour and not vocabulary.colour_pairs(options.colours):
        raise AssetError(f"--colours {config.colours}: no two of them can be told apart safely; give more")
    plates = make_plates(RigSet(config.views), config.plates, backgrounds) if config.views and config.plates else None
    return {
        name: Context(config.seed, part, backgrounds, vocabulary, options, plates) for name, part in catalogs.items()
    }


def make_recipe(
    config: Render, contexts: dict[str, Context], fingerprint: str, round_number: int, workers: int, url: str
) -> Recipe:
    """What the workers need to know: `workers` of them share this machine's cores and memory."""
    assert config.out is not None
    assert config.timeout_s is not None
    return Recipe(
        task=config.task,
        out=config.out,
        contexts=contexts,
        renderer="sprites" if config.engine == "sprites" and config.renderer == "blender" else config.renderer,
        settings=make_settings(config, workers),
        image_format=config.image_format,
        masks=config.masks,
        attempts=config.attempts,
        timeout_s=config.timeout_s,
        memory_limit_bytes=memory_limit_bytes(config, workers),
        fingerprint=fingerprint,
        round=round_number,
        store=url,
    )


def make_settings(config: Render, workers: int) -> RenderSettings:
    """What each of so many renderers on this machine is told."""
    assert config.samples_per_pixel is not None
    return RenderSettings(
        engine=config.engine,
        size_px=config.size,
        samples_per_pixel=config.samples_per_pixel,
        device=config.device,
        threads=max(1, (os.cpu_count() or 1) // workers),
        bank=str(bank_folder()) if config.engine == "sprites" else "",
        layer_cache_bytes=min(LAYER_CACHE_BYTES, (memory_limit_bytes(config, workers) or sys.maxsize) // 2),
    )


def memory_limit_bytes(config: Render, workers: int) -> int:
    """What each of so many renderers may hold; 0 means no limit."""
    if config.memory_gb is not None:
        return int(config.memory_gb * 2**30)
    return int(psutil.virtual_memory().total * MEMORY_SHARE / workers)


def describe_run(config: Render, catalog: Catalog, backgrounds: tuple[Background, ...]) -> dict[str, Any]:
    """run.json: the config, the versions, what it was made from, and the fingerprint of all that decides bytes."""
    settings = {key: str(value) if isinstance(value, Path) else value for key, value in vars(config).items()}
    versions = {
        "generator": __version__,
        "schema": SCHEMA_VERSION,
        "python": platform.python_version(),
        "blender": importlib.metadata.version("bpy") if config.renderer == "blender" else "",
    }
    sources = {
        "assets": catalog.fingerprint,
        "backgrounds": _hash(repr([_portable(place) for place in backgrounds])),
        "templates": _hash("".join(_template_texts())),
    }
    decisive = {key: value for key, value in settings.items() if key not in NOT_IN_FINGERPRINT}
    fingerprint = _hash(json.dumps([decisive, versions, sources], sort_keys=True))
    return {"config": settings, "versions": versions, "sources": sources, "fingerprint": fingerprint}


def claim(out: Path, run: dict[str, Any]) -> None:
    """Make the output directory this run's own, or refuse, naming what differs."""
    path = out / "run.json"
    try:
        # A dry run leaves its plan there.
        foreign = out.exists() and any(
            item.name.strip(".").split(".")[0] not in ("run", "plan") for item in out.iterdir()
        )
    except OSError as error:
        raise OutputError(f"cannot read {out}: {error.strerror}; give another --out") from error
    if foreign and not path.exists():
        raise OutputError(f"{out} is not empty and holds no run; give another --out")
    if path.exists() or not write_json_once(path, run):
        before = read_json(path)
        if not all(isinstance(before.get(part), type(content)) for part, content in run.items()):
            raise OutputError(f"{path} is damaged: it does not say which run this is; give another --out")
        if before["fingerprint"] != run["fingerprint"]:
            raise OutputError(f"{out} holds another run ({'; '.join(_differences(before, run))}); give another --out")


def stop_if_hopeless(summary: Summary) -> None:
    """Give up early on a run that rejects most of its pairs, saying why."""
    if summary.tried >= TRIED_BEFORE_STOP and summary.tried_rejected > MAX_REJECTED_SHARE * summary.tried:
        reason, count = summary.reasons.most_common(1)[0]
        raise RendererError(
            f"{summary.tried_rejected} of {summary.tried} pairs were rejected, most ({count}) as {reason} "
            f"(e.g. {summary.example}); finished pairs are kept. See `python -m generator doctor` and the logs folder"
        )


def finish(out: Path, run: dict[str, Any], catalog: Catalog) -> None:
    """The files that a person opens first."""
    from generator.card import write_card
    from generator.preview import write_preview

    write_card(out, run, catalog)
    write_preview(out, GALLERY)


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for part in ("config", "versions", "sources"):
        for key in sorted({*before[part], *now[part]} - set(NOT_IN_FINGERPRINT)):
            old, new = before[part].get(key), now[part].get(key)
            if old != new:
                yield f"{key}: other files" if part == "sources" else f"{key}: {old!r} there, {new!r} asked"


def _portable(place: Background) -> Background:
    """The place with the content of its images in place of their paths, which differ between machines."""

    def hashed(surface: SurfaceSpec) -> SurfaceSpec:
        return dataclasses.replace(surface, texture=surface.texture and sha256(Path(surface.texture)))

    return dataclasses.replace(
        place, wall=hashed(place.wall), floor=hashed(place.floor), furniture=hashed(place.furniture)
    )


def _template_texts() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.toml"))]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
