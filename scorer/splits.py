"""Which pairs train and which validate, with their features."""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from generator.records import PairRecord
from scorer.bank import Bank, EmptyError, build_bank
from scorer.cache import default_root
from scorer.configs import TrainConfig
from scorer.data import shards_of, sources_of, unfinished
from scorer.errors import ConfigError, DataError
from scorer.features import Clip
from scorer.functional import Lexicon, Marker
from scorer.openvocab import rewriter
from scorer.parallel import Group
from scorer.seeding import seed_of


def evaluation_shards(roots: tuple[Path, ...], split: str) -> tuple[list[Path], str]:
    """The shards to judge, and what to call them: the splits they are of, "all" for all pairs.

    Data without split folders are taken whole, as is a split folder or a tar given by itself: that was asked for.
    Raises DataError when some of the data have split folders and no complete shard of this split.
    """
    sources = sources_of(roots)
    lacking = [source for source in sources if source.folders and split not in ("all", *source.splits)]
    if lacking:
        common = [
            name for name in lacking[0].splits if all(name in source.splits for source in sources if source.folders)
        ]
        options = " or ".join(f"--split {name}" for name in [*common, "all"])
        raise DataError(f"no complete shard of the split {split} in {', '.join(map(str, lacking))}; try {options}")
    parts = [(source, split if source.folders and split != "all" else None) for source in sources]
    names = sorted({part or source.own or "all" for source, part in parts})
    return [shard for source, part in parts for shard in shards_of((source.root,), part)], ", ".join(names)


def training_shards(roots: tuple[Path, ...]) -> tuple[list[Path], list[Path]]:
    """The shards to train on, and those of the val split: none where the data have none.

    Data without split folders are taken whole. A split folder or a tar given by itself was asked for: val validates
    what stands beside it, and anything alone trains. Raises DataError when some of the data have nothing to train on.
    """
    sources = sources_of(roots)
    giving = [
        source for source in sources if "train" in (source.own, *source.splits) or not (source.own or source.folders)
    ]
    val = [source for source in sources if "val" in ((source.own,) if source not in giving else source.splits)]
    if not giving:
        giving, val = [source for source in sources if source.own], []
    lacking = [source for source in sources if source not in giving and source not in val]
    if lacking:
        raise DataError(
            f"no complete train shard in {', '.join(map(str, lacking))}; finish the render, leave it out, or give a "
            "split folder alone to train on it all the same"
        )
    train = [shard for source in giving for shard in shards_of((source.root,), "train" if source.folders else None)]
    return train, [shard for source in val for shard in shards_of((source.root,), None if source.own else "val")]


def held_out_split(roots: tuple[Path, ...]) -> str:
    """The split to judge a run on that was trained on these: test or val where all have it, "" where some have none."""
    sources = sources_of(roots)
    return next((name for name in ("test", "val") if all(name in source.splits for source in sources)), "")


def training_banks(config: TrainConfig, clip: Clip, lexicon: Lexicon, group: Group) -> tuple[Bank, Bank]:
    """Training and validation pairs.

    Without a val split, a part of the training pairs is held out by a hash of the key; where that leaves none,
    training pairs validate.
    """
    train_shards, val_shards = training_shards(config.data)
    split = bool(val_shards)
    seed, fraction = config.seed, config.val_fraction
    chosen = _Selection(config.max_pairs, lambda key: split or not held_out(key, seed, fraction))
    rest = _Selection(0, lambda key: split or held_out(key, seed, fraction))
    rewrite, cache = rewriter(config.model.simplify, config.llm), config.cache or default_root()
    marker = Marker(lexicon, clip, config.model.placement, rewrite)
    progress = show_progress if group.is_first else _silent

    if group.is_first:
        for note in _notes(config.data, split):
            print(f"note: {note}", file=sys.stderr)

    def read() -> tuple[Bank, Bank]:
        augment = config.seed if config.augment else None
        bank = build_bank(train_shards, clip, marker, cache, progress, chosen, augment)
        try:
            return bank, build_bank(val_shards or train_shards, clip, marker, cache, progress, rest)
        except EmptyError:
            return bank, bank

    if not group.is_first:
        group.wait()  # the first process fills the cache, the others find it filled
    banks = read()
    if group.is_first:
        group.wait()
    return banks


def _notes(roots: tuple[Path, ...], split: bool) -> list[str]:
    """What is worth knowing of the data before training on them. split: whether some of them have a val split."""
    sources = sources_of(roots)
    parts = [(source, unfinished(source)) for source in sources]
    notes = [f"{source.root}: the render is not finished ({there})" for source, there in parts if there]
    without = [source for source in sources if source.own != "val" and "val" not in source.splits]
    if split and not any(source.own == "val" for source in sources):
        notes += [f"{source.root}: no val split; only the other data validate" for source in without]
    return notes


@dataclass(slots=True)
class _Selection:
    """Which pairs to read: a rule on keys, and at most `limit` of each task (0 for all)."""

    limit: int
    rule: Callable[[str], bool]
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, record: PairRecord) -> bool:
        if not self.rule(record.key) or (self.limit and self.counts[record.task] >= self.limit):
            return False
        self.counts[record.task] += 1
        return True


def held_out(key: str, seed: int, fraction: float) -> bool:
    """Whether a pair is in the validation part; depends on its key and the seed alone."""
    return seed_of(seed, "validation", key) < fraction * 2**63


def show_progress(done: int, total: int, what: str) -> None:
    """One line on standard error while features are computed."""
    if sys.stderr.isatty() or done == total:
        print(
            f"\r\x1b[K{what} {done}/{total}" if sys.stderr.isatty() else f"{what} {done}/{total}",
            end="\n" if done == total else "",
            file=sys.stderr,
            flush=True,
        )


def _silent(done: int, total: int, what: str) -> None:
    """Progress of a process that is not the first."""


def read_words(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--words {path}: not readable ({error})") from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
