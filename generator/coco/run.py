"""One COCO split from top to bottom: annotations, drafts, selection, shards, card, gallery, summary."""

import hashlib
import importlib.metadata
import json
import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from generator import __version__
from generator.coco import attribute, negation, spatial, swap_noun
from generator.coco.annotations import Corpus, Faults, Photo, read_captions, read_corpus
from generator.coco.commands import CocoAttribute, CocoNegation, CocoRun, CocoSpatial, CocoSwapNoun
from generator.coco.credits import as_csv, as_markdown, credits_of
from generator.coco.images import present_files
from generator.coco.language import load, version
from generator.coco.make import ShardJob, make_all, shard_sizes
from generator.coco.plan import Draft, Limits, PlannedPair, select
from generator.coco.records import Context
from generator.errors import ConfigError, DataError, missing
from generator.plan import parse_shares
from generator.progress import Meter, clock
from generator.records import SCHEMA_VERSION
from generator.shards import Row, ShardStage, read_json, sha256, write_json
from generator.summary import interpreter
from generator.vocabulary import TEMPLATES, load_vocabulary

D = TypeVar("D", bound=Draft)

# They change when, where or from which copy of the files pairs are made, never what comes out.
NOT_IN_FINGERPRINT = ("out", "workers", "captions", "instances", "images", "statistics")
# Stop when more than this share of the pairs is rejected, once enough were tried to tell.
MAX_REJECTED_SHARE, TRIED_BEFORE_STOP = 0.5, 40


@dataclass
class Tally:
    """Counts of a run. why: drafts passed over, by reason; reasons: planned pairs rejected, by reason."""

    why: Counter[str]
    reasons: Counter[str]
    planned: int = 0
    rejected: int = 0
    tried: int = 0
    tried_rejected: int = 0
    example: str = ""

    def add(self, row: Row) -> None:
        """A pair that was made just now; DataError when most of them cannot be made."""
        self.planned += 1
        self.tried += 1
        if row.reason:
            self.rejected += 1
            self.tried_rejected += 1
            self.reasons[row.reason] += 1
            self.example = row.detail
        if self.tried >= TRIED_BEFORE_STOP and self.tried_rejected > MAX_REJECTED_SHARE * self.tried:
            reason, count = self.reasons.most_common(1)[0]
            raise DataError(
                f"{self.tried_rejected} of {self.tried} pairs were rejected, most ({count}) as {reason} "
                f"({self.example}); check that --images holds the photos of --captions"
            )


def run(config: CocoRun) -> int:
    """Any of the four verbs, its config checked."""
    from generator.pipeline import claim

    assert config.out is not None
    assert config.workers is not None
    begin = time.monotonic()
    if isinstance(config, CocoAttribute | CocoSwapNoun):
        load(config.model)  # A missing model is said before a minute of reading.
    corpus, files = read_present(config)
    run_info = describe(config, files)
    if config.out.exists():
        claim(config.out, run_info)  # Refuse a foreign directory before minutes of mining, ...
    tally = Tally(Counter(), Counter())
    pairs = plan_pairs(config, corpus, tally.why)
    claim(config.out, run_info)  # ... and leave no directory behind where nothing can be made.
    mined_s = time.monotonic() - begin
    jobs = []
    for split, number, members in shard_sizes(pairs, config.shard_size):
        job = _job(config, split, number, members, run_info["fingerprint"])
        stage = ShardStage(config.out, split, number)
        if stage.complete():
            stats = read_json(stage.base.with_suffix(".json"))
            tally.planned += stats["planned"]
            tally.rejected += stats["rejected"]
            tally.reasons.update(stats["reasons"])
        else:
            jobs.append(job)
    with Meter(f"coco {config.task} pairs", len(pairs), "pairs", 1, tally.planned) as meter:

        def report(row: Row) -> None:
            tally.add(row)
            meter.reach(tally.planned, f"{tally.rejected} rejected")

        make_all(jobs, config.workers, report)
    finish(config.out, run_info, corpus, pairs, tally)
    print(_summary(config, corpus.faults, tally, mined_s, time.monotonic() - begin))
    return 0


def read_present(config: CocoRun) -> tuple[Corpus, list[str]]:
    """The corpus, cut down to the photos that --images holds and --licenses allows, and those photos' file names."""
    if not config.images.is_dir():
        raise ConfigError(f"--images: {missing(config.images, 'directory')}")
    masks = isinstance(config, CocoSpatial) and config.paste == "mask"
    corpus = read_corpus(config.captions, config.instances, segmentations=masks)
    files = present_files(config.images)
    kept: dict[int, Photo] = {}
    for photo in corpus.photos.values():
        if photo.file_name not in files:
            corpus.faults["photo not in the folder"] += 1
        elif config.licenses == "free" and not _is_free(photo, corpus):
            corpus.faults["photo's licence not free"] += 1
        else:
            kept[photo.id] = photo
    if not kept:
        raise DataError(
            f"none of the {len(corpus.photos)} photos of {config.captions} can be used: " + _counts(corpus.faults)
        )
    captions = {key: value for key, value in corpus.captions.items() if key in kept}
    instances = {key: value for key, value in corpus.instances.items() if key in kept}
    corpus.faults["photo without captions"] += sum(photo_id not in captions for photo_id in kept)
    if config.instances is not None:
        corpus.faults["photo without boxes"] += sum(photo_id not in instances for photo_id in kept)
    return Corpus(kept, captions, instances, corpus.licenses, corpus.faults), sorted(
        photo.file_name for photo in kept.values()
    )


def plan_pairs(config: CocoRun, corpus: Corpus, why: Counter[str]) -> list[PlannedPair]:
    """All pairs of the run, in the order of their indices. DataError when there is not a single one."""
    assert config.workers is not None
    context = Context(
        seed=config.seed,
        phrasing=config.phrasing,
        synonyms=isinstance(config, CocoSpatial) and config.synonyms,
        shares=parse_shares(config.split),
        vocabulary=load_vocabulary(),
        photos=corpus.photos,
    )
    match config:
        case CocoAttribute():
            return _select(config, context, _attribute_drafts(config, corpus, why), attribute.plan, why)
        case CocoSpatial():
            rules = spatial.SpatialRules(
                config.min_area,
                config.max_area,
                config.min_fill,
                config.max_shared,
                config.max_stretch,
                config.max_zoom,
            )
            return _select(config, context, list(spatial.drafts(corpus, rules, config.seed, why)), spatial.plan, why)
        case CocoNegation():
            sides = list(negation.sides(corpus, config.min_area, why))
            found = list(negation.drafts(sides, context, config.max_per_photo, why))
            return _select(config, context, found, negation.plan, why)
        case CocoSwapNoun():
            captions = [caption for captions in corpus.captions.values() for caption in captions]
            clauses = swap_noun.mine_clauses(captions, config.model, config.workers)
            return _select(config, context, list(swap_noun.drafts(corpus, clauses, why)), swap_noun.plan, why)
    raise AssertionError(config)


def describe(config: CocoRun, files: list[str]) -> dict[str, Any]:
    """run.json: the config, the versions, what it was made from, and the fingerprint of all that decides bytes."""
    settings = {key: str(value) if isinstance(value, Path) else value for key, value in vars(config).items()}
    settings["task"] = config.task
    versions = {"generator": __version__, "schema": SCHEMA_VERSION, "python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in ("pillow", "numpy")}
    if isinstance(config, CocoAttribute | CocoSwapNoun):
        versions |= {"spacy": importlib.metadata.version("spacy"), "model": version(config.model)}
    sources = {"photos": _hash("\n".join(files)), "templates": _hash(_templates())}
    for name in ("captions", "instances", "statistics"):
        path = getattr(config, name, None)
        if path is not None:
            sources[name] = sha256(path)
    decisive = {key: value for key, value in settings.items() if key not in NOT_IN_FINGERPRINT}
    fingerprint = _hash(json.dumps([decisive, versions, sources], sort_keys=True))
    return {"config": settings, "versions": versions, "sources": sources, "fingerprint": fingerprint}


def finish(out: Path, run_info: Mapping[str, Any], corpus: Corpus, pairs: list[PlannedPair], tally: Tally) -> None:
    """Credits, counts, card and gallery."""
    from generator.assets.catalog import Catalog
    from generator.card import write_card
    from generator.preview import write_preview

    rows = credits_of((photo for pair in pairs for photo in pair.photos), corpus.licenses)
    (out / "photo_credits.csv").write_text(as_csv(rows), encoding="utf-8")
    write_json(out / "mining.json", {"annotations": dict(+corpus.faults), "passed_over": dict(tally.why.most_common())})
    write_card(out, run_info, Catalog((), ()))
    with (out / "README.md").open("a", encoding="utf-8") as card:
        card.write("\n## Photographs\n\n" + as_markdown(rows))
    write_preview(out)


def _attribute_drafts(config: CocoAttribute, corpus: Corpus, why: Counter[str]) -> list[attribute.AttributeDraft]:
    assert config.workers is not None
    captions = [caption for captions in corpus.captions.values() for caption in captions]
    mentions = attribute.mine_mentions(captions, config.model, config.workers)
    counted = mentions
    if config.statistics is not None:
        counted = attribute.mine_mentions(read_captions(config.statistics), config.model, config.workers)
    statistics = attribute.statistics_of(counted)
    kinds = config.attributes.split(",")
    return list(attribute.drafts(corpus, mentions, statistics, config.min_photos, kinds, why))


def _select(
    config: CocoRun,
    context: Context,
    drafts: list[D],
    plan: Callable[[D, Context, int], PlannedPair],
    why: Counter[str],
) -> list[PlannedPair]:
    if not drafts:
        raise DataError(f"no photo gives a pair for coco {config.task}: {_counts(why) or 'nothing was mined'}")
    limits = Limits(config.n, config.max_per_photo, config.max_per_nouns, config.balance)
    chosen = select(drafts, limits, config.seed, config.task)
    why["over a cap"] += chosen.capped
    return [plan(draft, context, index) for index, draft in enumerate(chosen.drafts)]


def _job(config: CocoRun, split: str, number: int, pairs: tuple[PlannedPair, ...], fingerprint: str) -> ShardJob:
    assert config.out is not None
    spatial_config = config if isinstance(config, CocoSpatial) else None
    return ShardJob(
        out=config.out,
        split=split,
        number=number,
        pairs=pairs,
        images=config.images,
        image_format=config.image_format,
        paste=spatial_config.paste if spatial_config else "box",
        feather_px=spatial_config.feather_px if spatial_config else 0.0,
        fingerprint=fingerprint,
    )


def _summary(config: CocoRun, faults: Faults, tally: Tally, mined_s: float, total_s: float) -> str:
    out = config.out
    lines = [f"{tally.planned - tally.rejected} of {tally.planned} pairs accepted"]
    if tally.planned < config.n:
        lines[0] += f" ({config.n} were asked for; the photos give no more within the rules and caps)"
    if tally.rejected:
        lines.append(f"{tally.rejected} rejected: {_counts(tally.reasons)}")
    if +faults:
        lines.append(f"annotations: {_counts(faults)}")
    if +tally.why:
        lines.append(f"passed over: {_counts(tally.why)}")
    lines += [
        f"mining {clock(mined_s)}, in all {clock(total_s)}",
        f"shards:  {out}/*/*.tar",
        f"gallery: {out}/index.html",
        f"card:    {out}/README.md",
        f"next:    {interpreter()} -m scorer train {out}",
    ]
    return "\n".join(lines)


def _is_free(photo: Photo, corpus: Corpus) -> bool:
    name = corpus.licenses.get(photo.license_id, ("", ""))[0]
    return bool(name) and "NonCommercial" not in name and "NoDerivs" not in name


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in (+counter).most_common())


def _templates() -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.toml")))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
