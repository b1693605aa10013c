"""Objaverse 1.0 as a source of assets: LVIS categories as nouns, licences and authors from its own metadata.

Local files lie as the `objaverse` package puts them (lvis-annotations.json.gz, object-paths.json.gz,
metadata/000-000.json.gz, glbs/000-000/UID.glb). Beside them `twinscene-credits.json` keeps, for the fetched objects
alone, what the large metadata files say of them, so that a run starts without reading those.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from generator.assets.catalog import Reject
from generator.assets.fetch import Failure, Repository, offline, read_json, require
from generator.assets.prepare import write_atomically
from generator.assets.sources import Source
from generator.errors import AssetError, ConfigError, nearest, unknown
from generator.rng import unit
from generator.vocabulary import TEMPLATES

LVIS, PATHS, CREDITS = "lvis-annotations.json.gz", "object-paths.json.gz", "twinscene-credits.json"
# Objaverse's short names, and what they stand for (all are version 4.0 of Creative Commons, as on Sketchfab).
LICENCES = {
    "cc0": "CC0-1.0",
    "by": "CC-BY-4.0",
    "by-sa": "CC-BY-SA-4.0",
    "by-nd": "CC-BY-ND-4.0",
    "by-nc": "CC-BY-NC-4.0",
    "by-nc-sa": "CC-BY-NC-SA-4.0",
    "by-nc-nd": "CC-BY-NC-ND-4.0",
}
DEFAULT_LICENCES = ("cc0", "by")
DEFAULT_PER_CATEGORY = 2
FETCH_WORKERS = 8
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Words:
    """templates/lvis_nouns.toml: nouns of categories, categories left out, and the everyday ones."""

    words: dict[str, str]
    left_out: frozenset[str]
    everyday: tuple[str, ...]

    def noun(self, category: str) -> str:
        """The plain word for an LVIS category."""
        if category in self.words:
            return self.words[category]
        return re.sub(r"\([^)]*\)", "", category).replace("_", " ").strip().lower()


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects. categories: LVIS names or plain nouns, () for no choice; per_category: 0 for all that there are;
    licences: keys of LICENCES."""

    categories: tuple[str, ...] = ()
    per_category: int = 0
    licences: tuple[str, ...] = DEFAULT_LICENCES

    def __post_init__(self) -> None:
        for licence in sorted(set(self.licences) - set(LICENCES)):
            raise ConfigError(f"--licences: {unknown('licence', licence, LICENCES)}")
        if self.per_category < 0:
            raise ConfigError(f"{self.per_category} objects per category; it is 1 or more, or 0 for all")


@dataclass(frozen=True, slots=True)
class Fetched:
    """Outcome of a fetch: how many objects are there now, how many of them are new, what failed, and the categories
    with fewer objects under the chosen licences than were asked for."""

    total: int
    new: int
    failures: tuple[Failure, ...]
    short: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Credit:
    """What is kept of an object's metadata. path: its file within the layout; licence: a key of LICENCES."""

    category: str
    path: str
    title: str
    author: str
    licence: str
    url: str


@cache
def load_words() -> Words:
    """Read the table of nouns."""
    table = tomllib.loads((TEMPLATES / "lvis_nouns.toml").read_text(encoding="utf-8"))
    return Words(table["words"], frozenset(table["left_out"]["categories"]), tuple(table["everyday"]["categories"]))


def default_root() -> Path:
    """TWINSCENE_OBJAVERSE, or where the `objaverse` package keeps its files."""
    chosen = os.environ.get("TWINSCENE_OBJAVERSE")
    if chosen:
        return Path(chosen).expanduser()
    import objaverse

    return Path(objaverse.BASE_PATH) / "hf-objaverse-v1"


def read_objaverse(root: Path, selection: Selection, report: Report) -> tuple[list[Source], list[Reject]]:
    """The objects that are in `root`, and those that are there but cannot be credited.

    When there are none yet, the everyday ones are fetched first. Raises AssetError when that cannot be.
    """
    sources, rejects = local_sources(root, selection)
    if sources:
        return sources, rejects
    if offline():
        raise AssetError(
            f"no Objaverse objects in {root} for this choice, and HF_HUB_OFFLINE is set; run `python -m generator"
            " assets fetch` where there is a network, or set TWINSCENE_OBJAVERSE to a filled directory"
        )
    wanted = Selection(selection.categories, selection.per_category or DEFAULT_PER_CATEGORY, selection.licences)
    fetch(Repository(root), wanted, workers=FETCH_WORKERS, report=report)
    sources, rejects = local_sources(root, selection)
    if not sources:
        raise AssetError(f"no Objaverse objects could be fetched into {root}; see `python -m generator assets fetch`")
    return sources, rejects


def local_sources(root: Path, selection: Selection) -> tuple[list[Source], list[Reject]]:
    """The objects in `root` that match, by uid, and those without metadata; nothing is fetched but missing metadata."""
    files = {path.stem: path for path in root.glob("glbs/*/*.glb")}
    if not files:
        return [], []
    credits = read_credits(root)
    strangers = sorted(set(files) - set(credits))
    rejects: list[Reject] = []
    if strangers:
        # Put there by other tools: the `objaverse` package, or a copy without our index.
        found, missing = _look_up(Repository(root), strangers, files)
        credits = {**credits, **found}
        write_credits(root, credits)
        rejects = [Reject(uid, "", str(files[uid]), "no_credits", missing[uid]) for uid in sorted(missing)]
    words = load_words()
    chosen = {uid: credits[uid] for uid in sorted(files) if uid in credits}
    names = {name.lower() for name in selection.categories}
    sources: list[Source] = []
    counts: dict[str, int] = {}
    for uid, credit in sorted(chosen.items(), key=lambda item: rank(item[0], item[1].path)):
        noun = words.noun(credit.category)
        named = bool(names & {credit.category.lower(), noun}) if names else credit.category not in words.left_out
        fits = named and credit.licence in selection.licences
        if fits and (not selection.per_category or counts.get(credit.category, 0) < selection.per_category):
            counts[credit.category] = counts.get(credit.category, 0) + 1
            licence = LICENCES[credit.licence]
            sources.append(Source(uid, noun, files[uid], credit.title, credit.author, licence, credit.url))
    return sorted(sources, key=lambda source: source.uid), rejects


def fetch(repository: Repository, selection: Selection, workers: int, report: Report) -> Fetched:
    """Choose objects and bring them into the layout; what is there already is kept. Raises AssetError, ConfigError.

    Which objects are chosen depends on the choice alone: more per category keeps the ones before.
    """
    lvis: dict[str, list[str]] = read_json(require(repository, LVIS))
    paths: dict[str, str] = read_json(require(repository, PATHS))
    words = load_words()
    everyday = [name for name in words.everyday if name in lvis]
    categories = resolve(selection.categories, sorted(lvis), words) if selection.categories else everyday
    metadata = _Metadata(repository, {uid for name in categories for uid in lvis[name]})
    queues = {
        name: sorted((u for u in lvis[name] if u in paths), key=lambda u: rank(u, paths[u])) for name in categories
    }
    count = selection.per_category or max((len(queue) for queue in queues.values()), default=0)
    metadata.load((shard(paths[uid]) for queue in queues.values() for uid in queue[: 2 * count]), workers)

    chosen: dict[str, Credit] = {}
    short: list[str] = []
    for name, queue in queues.items():
        picked = _pick(queue, name, paths, metadata, selection.licences, count)
        chosen |= picked
        if len(picked) < selection.per_category:
            short.append(name)
    present = {uid for uid, credit in chosen.items() if (repository.root / credit.path).is_file()}
    arrived, failures = repository.get_all([credit.path for credit in chosen.values()], workers, report)
    there = {uid: credit for uid, credit in chosen.items() if credit.path in arrived}
    write_credits(repository.root, {**read_credits(repository.root), **there})
    return Fetched(len(there), len(set(there) - present), (*metadata.failures, *failures), tuple(short))


def resolve(names: Sequence[str], known: Sequence[str], words: Words) -> list[str]:
    """LVIS categories among `known` for names that are categories or plain nouns; () stands for all that name a thing.

    Raises ConfigError with near matches for a name that is neither.
    """
    if not names:
        return [category for category in known if category not in words.left_out]
    by_name: dict[str, set[str]] = {}
    for category in known:
        by_name.setdefault(category.lower(), set()).add(category)
        by_name.setdefault(words.noun(category), set()).add(category)
    chosen: set[str] = set()
    for name in names:
        if name.lower() not in by_name:
            near = nearest(name, by_name)
            hint = f"did you mean {near!r}?" if near else "`python -m generator assets list` shows what there is"
            raise ConfigError(f"--categories: Objaverse has no category {name!r}; {hint}")
        chosen |= by_name[name.lower()]
    return sorted(chosen)


def rank(uid: str, path: str) -> tuple[float, float]:
    """Order in which a category's objects are taken: arbitrary, fixed, and the same metadata files first for all."""
    return unit(0, "objaverse", shard(path)), unit(0, "objaverse", uid)


def shard(path: str) -> str:
    """Directory of an object, which names its metadata file as well ("000-023")."""
    return path.split("/")[1]


def read_credits(root: Path) -> dict[str, Credit]:
    """The credits of the objects in `root`, {} where there are none yet. Raises AssetError on a damaged file."""
    path = root / CREDITS
    if not path.is_file():
        return {}
    try:
        return {uid: Credit(**entry) for uid, entry in json.loads(path.read_bytes()).items()}
    except (ValueError, TypeError, AttributeError):
        raise AssetError(f"{path} is damaged; delete it, and it is made again") from None


def write_credits(root: Path, credits: dict[str, Credit]) -> None:
    """Write the credits of all objects in `root`."""
    entries = {uid: vars_of(credit) for uid, credit in sorted(credits.items())}
    write_atomically(root / CREDITS, json.dumps(entries, indent=1, ensure_ascii=False).encode())


def vars_of(credit: Credit) -> dict[str, str]:
    """A credit as plain JSON."""
    return {name: getattr(credit, name) for name in Credit.__slots__}


def _quiet(_done: int, _total: int) -> None:
    """No progress for the small files before the large ones."""


@dataclass
class _Metadata:
    """The metadata of the objects in question, read file by file as they are needed."""

    repository: Repository
    uids: set[str]
    failures: list[Failure] = field(default_factory=list)
    _entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def load(self, shards: Iterable[str], workers: int) -> None:
        """Read several files, downloading side by side what is not there."""
        wanted = sorted(set(shards) - self._known)
        names = [f"metadata/{name}.json.gz" for name in wanted]
        found, failures = self.repository.get_all(names, workers, _quiet)
        self.failures += failures
        self._known |= set(wanted)
        for path in found.values():
            entries = read_json(path)
            self._entries |= {uid: entries[uid] for uid in self.uids & set(entries)}

    def credit(self, uid: str, category: str, path: str) -> Credit | None:
        """An object's credit, None where nothing is known of it."""
        self.load([shard(path)], workers=1)
        entry = self._entries.get(uid)
        if entry is None or entry.get("license") not in LICENCES:
            return None
        user = entry.get("user") or {}
        author = user.get("displayName") or user.get("username") or ""
        url = entry.get("viewerUrl") or f"https://sketchfab.com/3d-models/{uid}"
        return Credit(category, path, str(entry.get("name") or ""), str(author), str(entry["license"]), str(url))


def _pick(
    queue: Sequence[str], category: str, paths: dict[str, str], metadata: _Metadata, licences: Sequence[str], count: int
) -> dict[str, Credit]:
    picked: dict[str, Credit] = {}
    for uid in queue:
        if len(picked) == count:
            break
        credit = metadata.credit(uid, category, paths[uid])
        if credit is not None and credit.licence in licences:
            picked[uid] = credit
    return picked


def _look_up(
    repository: Repository, uids: Sequence[str], files: dict[str, Path]
) -> tuple[dict[str, Credit], dict[str, str]]:
    """Credits of objects that lie in the layout without any, and why there are none for the others."""
    lvis: dict[str, list[str]] = read_json(require(repository, LVIS))
    category = {uid: name for name, members in lvis.items() for uid in members}
    metadata = _Metadata(repository, set(uids))
    relative = {uid: files[uid].relative_to(repository.root).as_posix() for uid in uids}
    metadata.load((shard(relative[uid]) for uid in uids if uid in category), workers=FETCH_WORKERS)
    found: dict[str, Credit] = {}
    missing: dict[str, str] = {}
    for uid in uids:
        if uid not in category:
            continue  # Objaverse has far more objects than LVIS names; without a noun one is of no use here.
        credit = metadata.credit(uid, category[uid], relative[uid])
        if credit is None:
            missing[uid] = f"no licence in metadata/{shard(relative[uid])}.json.gz"
        else:
            found[uid] = credit
    return found, missing
