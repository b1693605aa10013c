"""The language model: loading it, and parsing many captions in a few processes.

Only the tagger and the parser run: nothing here asks for entities, and lemmas differ between versions of spaCy.
"""

import importlib.metadata
import itertools
import multiprocessing
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, TypeVar

from generator.errors import ConfigError, DependencyError, UserError
from generator.progress import Meter

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

DEFAULT_MODEL = "en_core_web_sm"
COMPONENTS = ("tok2vec", "transformer", "tagger", "parser")
BATCH = 256
CHUNK = 4096

T = TypeVar("T")
Reader = Callable[["Doc"], T]


def load(model: str) -> "Language":
    """The spaCy pipeline `model` (a package name or a path), tagger and parser only.

    DependencyError when spaCy or the model is missing, with the command that installs it; ConfigError when
    the pipeline has no tagger or parser.
    """
    try:
        import spacy
    except ImportError as error:
        raise DependencyError("the COCO splits need spaCy; run: pip install -e '.[coco]'") from error
    try:
        nlp = spacy.load(model)
    except OSError as error:
        raise DependencyError(
            f"the spaCy model {model!r} is not installed; run: python -m spacy download {DEFAULT_MODEL} "
            f"(or name another with --model, by package name or path)"
        ) from error
    for name in nlp.pipe_names:
        if name not in COMPONENTS:
            nlp.remove_pipe(name)
    if missing := [name for name in ("tagger", "parser") if name not in nlp.pipe_names]:
        raise ConfigError(f"the spaCy model {model!r} has no {missing[0]}; use one that has, e.g. {DEFAULT_MODEL}")
    return nlp


def version(model: str) -> str:
    """`model version`, for the record of the run; the path itself where it is no package."""
    try:
        return f"{model} {importlib.metadata.version(model)}"
    except importlib.metadata.PackageNotFoundError:
        return model


def parse(nlp: "Language", texts: Iterable[str], read: "Reader[T]") -> Iterator[T]:
    """`read(doc)` of each text, in order."""
    for doc in nlp.pipe(texts, batch_size=BATCH):
        yield read(doc)


def parse_many(model: str, texts: Sequence[str], read: "Reader[T]", workers: int) -> Iterator[T]:
    """`parse` over `workers` processes, each with its own model; the order is that of `texts` whatever the number.

    `read` must be a function of a module (it is sent by name). Shows its progress where there is much to do.
    """
    if len(texts) <= CHUNK:
        yield from parse(load(model), texts, read)
        return
    with Meter("parsing", len(texts), "captions") as meter:
        for done, chunk in enumerate(_chunks(model, texts, read, workers), 1):
            yield from chunk
            meter.reach(min(done * CHUNK, len(texts)))


def _chunks(model: str, texts: Sequence[str], read: "Reader[T]", workers: int) -> Iterator[list[T]]:
    chunks = [texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK)]
    if workers == 1:
        nlp = load(model)
        yield from (list(parse(nlp, chunk, read)) for chunk in chunks)
        return
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(min(workers, len(chunks)), context, _start_worker, (model,)) as pool:
            yield from pool.map(_parse_chunk, chunks, itertools.repeat(read))
    except BrokenProcessPool as error:
        raise UserError("a language process was killed (out of memory?); try again with fewer --workers") from error


def words(text: str) -> list[str]:
    """Lower-case words of a caption, hyphens apart; for cheap filters before any parsing."""
    return re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.lower())


_worker_model: "Language | None" = None


def _start_worker(model: str) -> None:
    global _worker_model
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    _worker_model = load(model)


def _parse_chunk(texts: Sequence[str], read: "Reader[T]") -> list[T]:
    assert _worker_model is not None
    return list(parse(_worker_model, texts, read))
