"""What a benchmark is: parts, examples, and where their files lie under a root. Standard library only.

A benchmark's file says these things and loads its rows; everything else (scoring, metrics, chance, intervals, ties,
missing images, reports) is shared.
"""

import ast
import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorer.errors import DataError

if TYPE_CHECKING:
    from scorer.benchmarks.kinds import Kind

NAMED = 5  # defective rows named in a note

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Picture:
    """An image file, and the part of it that is shown: (x0, y0, x1, y1) in pixels, None for all of it.

    member: (offset, size) in bytes of an image that lies in an uncompressed archive, None for a file of its own.
    """

    path: Path
    box: Box | None = None
    member: tuple[int, int] | None = None

    def read(self) -> bytes:
        """The encoded image. OSError where it cannot be read."""
        if self.member is None:
            return self.path.read_bytes()
        offset, size = self.member
        with self.path.open("rb") as file:
            file.seek(offset)
            return file.read(size)


@dataclass(frozen=True, slots=True)
class Example:
    """One row: images and captions whose scores are compared with each other.

    Attributes:
        key: Names the row within its part (the file's own id where it has one). Unique.
        images: One picture; two for Twins (image i belongs to caption i).
        captions: In the order of the official file. What their places mean is said by the part's kind.
        truth: Place of the true caption, for kinds that have one.
        label: What breakdowns and macro averages go by: a relation, a template, a class; "" for none.
    """

    key: str
    images: tuple[Picture, ...]
    captions: tuple[str, ...]
    truth: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rows of a part.

    Attributes:
        examples: In the file's order.
        together: Groups of rows that count only when all of them are right, by the name of their figure: What'sUp's
            "pair" and "set". Each group is a tuple of places in `examples`.
        macro: Labels whose figures are averaged with equal weight, in any order; empty for no macro average.
        excluded: Rows of the file that the official protocol leaves out, by reason.
        notes: What a reader of the figures must know (defects of the data).
    """

    examples: Sequence[Example]
    together: Mapping[str, Sequence[tuple[int, ...]]] = field(default_factory=dict)
    macro: frozenset[str] = frozenset()
    excluded: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A folder of images or a file of annotations that somebody else publishes.

    Attributes:
        name: What it is called.
        origin: Where to get it.
        licence: As its authors state it.
        places: Where it is looked for below the root, the usual place first.
    """

    name: str
    origin: str
    licence: str
    places: tuple[str, ...]

    def under(self, root: Path) -> Path:
        """The first place that exists below the root, else the usual one."""
        return next((root / place for place in self.places if (root / place).exists()), root / self.places[0])

    def file(self, name: str) -> "Source":
        """A file of this folder; the same origin and licence."""
        return Source(name, self.origin, self.licence, tuple(f"{place}/{name}" for place in self.places))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a benchmark that gets figures of its own.

    Attributes:
        name: In the benchmark's own words ("replace_rel").
        kind: How its rows are scored and judged.
        annotations: The file its rows come from.
        images: The folder their images come from.
    """

    name: str
    kind: "Kind"
    annotations: Source
    images: Source


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A public benchmark.

    Attributes:
        name: On the command line.
        title: In reports.
        paper: Who made it.
        protocol: The name of the official protocol, and what is particular about it.
        parts: All parts; those whose annotations are not under a root are reported as missing.
        load: (root, part) -> its rows. Called where the part's annotations exist. Raises DataError on a damaged file.
        averages: Plain means over parts of their first figure, by name, as papers report them.
    """

    name: str
    title: str
    paper: str
    protocol: str
    parts: tuple[Part, ...]
    load: Callable[[Path, Part], Loaded]
    averages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_json(path: Path) -> Any:
    """The content of a JSON file. DataError when it is not readable."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a readable JSON file ({error})") from error


def read_table(path: Path, columns: Sequence[str], delimiter: str = ",") -> list[dict[str, str]]:
    """The rows of a CSV or TSV file with a header. DataError when it is not readable or a column is missing."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, delimiter=delimiter, strict=True)
            absent = [name for name in columns if name not in (reader.fieldnames or ())]
            if absent:
                raise DataError(f"{path}: has no column {', '.join(absent)}")
            rows = list(reader)
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"{path}: not a readable table ({error})") from error
    for number, row in enumerate(rows, start=1):
        if any(row[name] is None for name in columns):
            raise DataError(f"{path}: row {number} is cut short")
    return rows


def list_of_texts(value: str, where: str) -> list[str]:
    """A table's cell that holds a Python list or set of text, in the order it is written in. DataError for others."""
    try:
        found = ast.parse(value.strip(), mode="eval").body
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    # Some of CREPE's lists are sets; read as sets, their order would differ from run to run.
    items = found.elts if isinstance(found, ast.List | ast.Set) else [None]
    texts = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if len(texts) < len(items):
        raise DataError(f"{where}: expected a list of texts, ['...', '...'], and found {value[:40]!r}")
    return texts


def defects(examples: Sequence[Example]) -> tuple[str, ...]:
    """Notes on rows of Choice that nobody can get right, alone or together."""
    true = {(item.images, item.captions[item.truth]) for item in examples}
    twice, contradicted = [], []
    for item in examples:
        own = item.captions[item.truth]
        if item.captions.count(own) > 1:
            twice.append(item.key)
        if any((item.images, text) in true for text in item.captions if text != own):
            contradicted.append(item.key)
    return (
        *_note("rows whose true caption is a false one, too, and can never be right", twice),
        *_note("rows whose false caption is the true one of another row with the same image", contradicted),
    )


def _note(what: str, keys: Sequence[str]) -> tuple[str, ...]:
    named = ", ".join(keys[:NAMED]) + (", ..." if len(keys) > NAMED else "")
    return (f"{what}: {len(keys)} ({named})",) if keys else ()


def texts_of(row: Any, names: Sequence[str], where: str) -> list[str]:
    """The values of a JSON object that must be there and be text. DataError says which is not."""
    bad = [name for name in names if not isinstance(row, dict) or not isinstance(row.get(name), str)]
    if bad:
        raise DataError(f"{where}: expected text under {', '.join(bad)}")
    return [row[name] for name in names]
