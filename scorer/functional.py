"""Functional words: which rows of a map are theirs, and the fixed values that stand there instead (method 5.1).

The paper's public code looks for space-separated words and uses the word's index as the row, which is another
token's row. Here a phrase is found as a run of the tokenizer's own tokens. The published placement and the published
scale of the rows stay available by name, for comparison.
"""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from scorer.configs import Placement, RowScale
from scorer.errors import ConfigError
from scorer.seeding import generator

LEXICON = Path(__file__).parent.parent / "templates" / "functional_words.toml"


class Tokens(Protocol):
    """What is needed of a tokenizer: the ids of a phrase without start, end and padding."""

    def encode_words(self, text: str) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class Row:
    """One functional row: its name, and the phrases that share it."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All functional rows; row i of the table belongs to rows[i]."""

    rows: tuple[Row, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.rows)

    def extended(self, words: Iterable[str]) -> "Lexicon":
        """With a row of its own for every phrase that is not known yet. Known rows keep their place."""
        known = {word for row in self.rows for word in row.words} | set(self.names)
        fresh = dict.fromkeys(word.strip().lower() for word in words if word.strip())
        return Lexicon(self.rows + tuple(Row(word, (word,)) for word in fresh if word not in known))


def load_lexicon(path: Path = LEXICON) -> Lexicon:
    """Read and check a lexicon. Raises ConfigError naming the file and the first thing that is wrong."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: not a readable lexicon ({error})") from error
    rows = raw.get("row")
    if not isinstance(rows, list) or not rows:
        raise ConfigError(f"{path}: expected one [[row]] table or more")
    seen: dict[str, str] = {}
    lexicon: list[Row] = []
    for row in rows:
        name, words = row.get("name"), row.get("words")
        if not isinstance(name, str) or not isinstance(words, list) or not all(isinstance(w, str) and w for w in words):
            raise ConfigError(f"{path}: a [[row]] needs a name and a list of words, got {row!r}")
        for word in words:
            if word in seen:
                raise ConfigError(f"{path}: {word!r} stands in the rows {seen[word]!r} and {name!r}")
            seen[word] = name
        lexicon.append(Row(name, tuple(words)))
    if len({row.name for row in lexicon}) != len(lexicon):
        raise ConfigError(f"{path}: two rows have the same name")
    return Lexicon(tuple(lexicon))


def row_table(lexicon: Lexicon, width: int, scale: RowScale, std: float, seed: int) -> Tensor:
    """The fixed rows, (R, width). Each depends on (seed, its name) alone.

    gaussian: N(0, std^2). reference: the published ones, N(0, 1) scaled to unit length and mapped by (x + 1) / 3, which
    makes all rows nearly equal (cosine .995 at 197 tokens).
    """
    rows = [torch.randn(width, generator=generator(seed, "functional row", name)) for name in lexicon.names]
    table = torch.stack(rows)
    if scale == "reference":
        return (torch.nn.functional.normalize(table, dim=1) + 1) / 3
    return table * std


Rewrite = Callable[[Sequence[str]], list[str]]


class Marker:
    """How captions are read: rewritten first, where that is wanted, then searched for functional phrases."""

    def __init__(
        self, lexicon: Lexicon, tokens: Tokens, placement: Placement = "tokens", rewrite: Rewrite | None = None
    ) -> None:
        self._placement = placement
        self._rewrite = rewrite
        self._words = {word: i for i, row in enumerate(lexicon.rows) for word in row.words if " " not in word}
        self._phrases: dict[int, list[tuple[tuple[int, ...], int]]] = {}
        for i, row in enumerate(lexicon.rows):
            for word in row.words:
                ids = tuple(tokens.encode_words(word))
                if ids:
                    self._phrases.setdefault(ids[0], []).append((ids, i))
        for phrases in self._phrases.values():
            phrases.sort(key=lambda phrase: -len(phrase[0]))

    def read(self, captions: Sequence[str]) -> list[str]:
        """The captions as they are to be tokenised."""
        return list(captions) if self._rewrite is None else self._rewrite(captions)

    def mark(self, texts: Sequence[str], ids: Tensor, eos: Tensor) -> Tensor:
        """(L, T) int16: the functional row that replaces each token's row, -1 where the map's own row stays."""
        marks = torch.full(ids.shape, -1, dtype=torch.int16)
        if self._placement == "tokens":
            for text, (row, end) in enumerate(zip(ids.tolist(), eos.tolist(), strict=True)):
                self._mark_tokens(row[:end], marks[text])
        elif self._placement == "word-index":
            for text, caption in enumerate(texts):
                self._mark_word_index(caption, marks[text])
        return marks

    def _mark_tokens(self, ids: list[int], marks: Tensor) -> None:
        at = 0
        while at < len(ids):
            for phrase, row in self._phrases.get(ids[at], ()):
                if tuple(ids[at : at + len(phrase)]) == phrase:
                    marks[at : at + len(phrase)] = row
                    at += len(phrase)
                    break
            else:
                at += 1

    def _mark_word_index(self, caption: str, marks: Tensor) -> None:
        """As the public code does: exact words between spaces, the first of each, and the word's index as the row."""
        words = caption.split(" ")
        for word, row in self._words.items():
            if word in words and words.index(word) < len(marks):
                marks[words.index(word)] = row


def occurrences(marks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Marks (L, T) on the CPU -> (text, token, row) of every marked place, ready for an indexed write."""
    text, token = (marks >= 0).nonzero(as_tuple=True)
    return text, token, marks[text, token].long()
