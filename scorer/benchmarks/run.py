"""Judge scorers on a benchmark: rows in, figures out.

Shapes: N examples of a part.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scorer.benchmarks import saved
from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture
from scorer.benchmarks.figures import Bootstrap, Estimate, Result, mean_of, part_results
from scorer.benchmarks.judges import Judge
from scorer.benchmarks.kinds import Raw
from scorer.errors import ConfigError, DataError

NAMED = 3  # missing images named in a report
EMPTY = "holds no row that the protocol keeps"


class NotFoundError(DataError):
    """No annotations of a benchmark are under the root, or none of its images."""


@dataclass(frozen=True, slots=True)
class PartReport:
    """What was found for one part.

    Attributes:
        name: Of the part.
        annotations: Where its rows were read from, or should have been.
        found: Whether the annotations are there; without them everything below is empty.
        examples: Rows of the protocol.
        scored: Rows whose images are all there and readable.
        images, missing_images, unreadable_images: Distinct image files that the rows name.
        named: Some of those that are missing or unreadable.
        excluded: Rows that the protocol leaves out, by reason.
        notes: On the data.
        cut_captions: How many captions each judge had to cut to fit its towers.
        results: Figures by judge.
    """

    name: str
    annotations: str
    found: bool
    examples: int
    scored: int
    images: int
    missing_images: int
    unreadable_images: int
    named: tuple[str, ...]
    excluded: Mapping[str, int]
    notes: tuple[str, ...]
    cut_captions: Mapping[str, int]
    results: Mapping[str, list[Result]]


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """All parts of a benchmark, and its averages over parts by judge."""

    benchmark: str
    title: str
    paper: str
    protocol: str
    root: str
    seed: int
    judges: tuple[str, ...]
    parts: tuple[PartReport, ...]
    averages: Mapping[str, list[Result]]


def run_benchmark(
    judges: Sequence[Judge],
    benchmark: Benchmark,
    root: Path,
    scores: Path | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> BenchmarkReport:
    """Score every part that is found under the root.

    scores: folder that keeps the scores; what is there already, of the same judge, rows and images, is not made again.
    seed: of the order in which captions are shown, and of the intervals.
    Raises NotFoundError when no annotations are found or judges that look find no image at all, DataError when a file
    is damaged.
    """
    names = [judge.name for judge in judges]
    assert judges, "nobody to judge"
    if len(set(names)) != len(names):
        raise ConfigError(f"two scorers have the same name: {', '.join(sorted(names))}")
    bootstrap = Bootstrap(resamples, seed)
    parts: list[PartReport] = []
    headlines: dict[str, dict[str, Estimate]] = {name: {} for name in names}
    for part in benchmark.parts:
        path = part.annotations.under(root)
        if not path.exists():
            parts.append(PartReport(part.name, str(path), False, 0, 0, 0, 0, 0, (), {}, (), {}, {}))
            continue
        loaded = benchmark.load(root, part)
        if not loaded.examples:
            notes = (*loaded.notes, EMPTY)
            parts.append(PartReport(part.name, str(path), True, 0, 0, 0, 0, 0, (), loaded.excluded, notes, {}, {}))
            continue
        assert len({item.key for item in loaded.examples}) == len(loaded.examples), f"{part.name}: keys repeat"
        scored = _score(part, loaded, judges, scores / benchmark.name if scores else None, seed)
        results: dict[str, list[Result]] = {}
        for name, raw in scored.raw.items():
            metrics = part.kind.metrics(loaded, raw)
            headline, results[name] = part_results(loaded, metrics, f"{benchmark.name} {part.name}", bootstrap)
            if headline.count:
                headlines[name][part.name] = headline
        parts.append(_report(part, path, loaded, scored, results))
    _check_found(benchmark, root, parts, judges)
    averages = {name: _averages(benchmark, headlines[name]) for name in names}
    return BenchmarkReport(
        benchmark.name,
        benchmark.title,
        benchmark.paper,
        benchmark.protocol,
        str(root),
        seed,
        tuple(names),
        tuple(parts),
        averages,
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    """Scores by judge; which rows have them, (N,) bool; which pictures were no use;
    captions cut to fit by judge."""

    raw: Mapping[str, Raw]
    rows: NDArray[np.bool_]
    missing: frozenset[Picture]
    unreadable: frozenset[Picture]
    cut: Mapping[str, int]


def _score(part: Part, loaded: Loaded, judges: Sequence[Judge], folder: Path | None, seed: int) -> _Scored:
    """All judges are asked about the same rows: those whose images are there, or all where nobody looks."""
    examples = loaded.examples
    pictures = list(dict.fromkeys(picture for item in examples for picture in item.images))
    looks = any(judge.needs_images for judge in judges)
    looked_at = pictures if looks else []
    here = {path: path.is_file() for path in dict.fromkeys(picture.path for picture in looked_at)}
    missing = frozenset(picture for picture in looked_at if not here[picture.path])
    present = _without(examples, missing)
    digests = {judge.name: saved.digest(part, examples, present, judge, seed, looks) for judge in judges}
    files = {judge.name: saved.place(folder, part, judge) for judge in judges} if folder else {}
    kept = {name: found for name, path in files.items() if (found := saved.read(path, digests[name])) is not None}
    known = {name: {pictures[place] for place in found.unreadable} for name, found in kept.items()}
    unreadable = {picture for some in known.values() for picture in some}
    wanted = list(dict.fromkeys(p for item, row in zip(examples, present, strict=True) if row for p in item.images))
    captions = list(
        dict.fromkeys(
            text
            for item, row in zip(examples, present, strict=True)
            if row or part.kind.compares_texts
            for text in item.captions
        )
    )
    cut = {name: found.cut for name, found in kept.items()}

    def prepare(some: Sequence[Judge]) -> None:
        for judge in some if wanted or captions else ():
            prepared = judge.prepare(wanted if judge.needs_images else [], captions)
            unreadable.update(prepared.unreadable)
            cut[judge.name] = prepared.cut

    fresh = [judge for judge in judges if judge.name not in kept]
    prepare(fresh)
    # Scores that were kept for other rows than these are no use beside the new ones.
    stale = [judge for judge in judges if known.get(judge.name, unreadable) != unreadable]
    prepare(stale)
    rows = present & _without(examples, unreadable)
    raw = {name: found.raw for name, found in kept.items()}
    for judge in (*fresh, *stale):
        raw[judge.name] = part.kind.collect(loaded, rows, judge, seed)
        if files:
            places = np.array([i for i, picture in enumerate(pictures) if picture in unreadable], dtype=np.int64)
            saved.write(
                files[judge.name], digests[judge.name], saved.Saved(raw[judge.name], places, cut.get(judge.name, 0))
            )
    return _Scored({judge.name: raw[judge.name] for judge in judges}, rows, missing, frozenset(unreadable), cut)


def _without(examples: Sequence[Example], useless: Collection[Picture]) -> NDArray[np.bool_]:
    """(N,): rows none of whose pictures is among the useless ones."""
    return np.array([not any(picture in useless for picture in item.images) for item in examples], dtype=bool)


def _report(part: Part, path: Path, loaded: Loaded, scored: _Scored, results: Mapping[str, list[Result]]) -> PartReport:
    useless = dict.fromkeys(
        item.path.as_posix() for item in sorted(scored.missing | scored.unreadable, key=lambda p: p.path)
    )
    return PartReport(
        name=part.name,
        annotations=str(path),
        found=True,
        examples=len(loaded.examples),
        scored=int(scored.rows.sum()),
        images=len({picture.path for item in loaded.examples for picture in item.images}),
        missing_images=len({picture.path for picture in scored.missing}),
        unreadable_images=len({picture.path for picture in scored.unreadable}),
        named=tuple(useless)[:NAMED],
        excluded=loaded.excluded,
        notes=loaded.notes,
        cut_captions={name: count for name, count in scored.cut.items() if count},
        results=results,
    )


def _check_found(benchmark: Benchmark, root: Path, parts: Sequence[PartReport], judges: Sequence[Judge]) -> None:
    there = [part for part in parts if part.examples]
    if not there:
        empty = [part.annotations for part in parts if part.found]
        if empty:
            raise DataError(f"{empty[0]}: {EMPTY}")
        raise NotFoundError(
            f"{benchmark.title}: no annotations under {root}; expected {parts[0].annotations} "
            f"(from {benchmark.parts[0].annotations.origin})"
        )
    counted = any(item.count for part in there for found in part.results.values() for item in found)
    if any(judge.needs_images for judge in judges) and not counted:
        images = next(part.images for part in benchmark.parts if part.name == there[0].name)
        raise NotFoundError(
            f"{benchmark.title}: none of its {sum(part.missing_images for part in there)} images is under {root}; "
            f"expected for example {there[0].named[0]} (from {images.origin})"
        )


def _averages(benchmark: Benchmark, headlines: Mapping[str, Estimate]) -> list[Result]:
    """Averages whose parts all have a figure."""
    return [
        mean_of([headlines[part] for part in parts]).result("mean", name, f"plain mean of {', '.join(parts)}")
        for name, parts in benchmark.averages.items()
        if all(part in headlines for part in parts)
    ]
