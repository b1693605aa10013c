"""The kinds of rows: which scores they need, and the figures made of them. Standard library and NumPy only.

A higher score must be strictly higher: a tie is wrong in every figure but those named *_official, which answer as the
official code does, *_ties_shared, the expectation when ties are broken by a fair coin, and auroc.

Shapes: N examples, I images and L captions of an example; M captions of a retrieval part.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from scorer.benchmarks.auroc import auroc
from scorer.benchmarks.base import Example, Loaded
from scorer.benchmarks.judges import Block, Judge, Matrix
from scorer.errors import DataError
from scorer.seeding import seed_of

Values = NDArray[np.float64]
Raw = Mapping[str, NDArray[np.float32]]

IMAGES = 64  # handed to a judge at once, as one block or several
CAPTIONS = 1024  # of one block of a retrieval part


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a part before it is averaged.

    Attributes:
        name: accuracy, text_score, recall@5, ...
        protocol: What counts as right, in words.
        values: By example (or caption, or group), NaN where it was not scored.
        chance: What independent random scores get, by example.
        labels: What breakdowns and macro averages go by, as `values`; empty for neither.
    """

    name: str
    protocol: str
    values: Values
    chance: Values
    labels: tuple[str, ...] = ()


class Kind(ABC):
    """How rows are scored and judged. `present` marks the rows, (N,) bool, that are to be scored.

    compares_texts: Whether texts are also compared with each other, which rows without images allow.
    """

    compares_texts: ClassVar[bool] = False

    @abstractmethod
    def collect(self, loaded: Loaded, present: NDArray[np.bool_], judge: Judge, seed: int) -> Raw:
        """The scores that the figures need. DataError when one is not a number."""

    @abstractmethod
    def metrics(self, loaded: Loaded, raw: Raw) -> list[Metric]:
        """The figures of these scores, the headline first."""


class ExampleKind(Kind):
    """Kinds whose rows are scored one by one: raw["scores"] is (N, I, L), NaN-padded."""

    def collect(self, loaded: Loaded, present: NDArray[np.bool_], judge: Judge, seed: int) -> Raw:
        return {"scores": score_rows(loaded.examples, present, judge, seed)}


def score_rows(examples: Sequence[Example], present: NDArray[np.bool_], judge: Judge, seed: int) -> NDArray[np.float32]:
    """Every row's images against its captions, (N, I, L), NaN-padded.

    Captions are shown in an order drawn by seed for each row and put back, so that no place is favoured. Those that
    the judge reads as one are shown once and have one score.
    """
    deep = max((len(item.images) for item in examples), default=1)
    wide = max((len(item.captions) for item in examples), default=1)
    out = np.full((len(examples), deep, wide), np.nan, dtype=np.float32)
    for some in _together(_runs(examples, present), examples):
        read = [[judge.as_read(text) for text in examples[run[0]].captions] for run in some]
        blocks = [
            Block(
                tuple(picture for i in run for picture in examples[i].images),
                tuple(dict.fromkeys(texts[place] for place in _order(examples[run[0]], seed))),
            )
            for run, texts in zip(some, read, strict=True)
        ]
        for run, texts, block, scores in zip(some, read, blocks, judge.scores(blocks), strict=True):
            first = examples[run[0]]
            back = _numbers(scores, judge, first.key)[:, [block.captions.index(text) for text in texts]]
            shape = len(run), len(first.images), len(first.captions)
            out[run, : shape[1], : shape[2]] = back.reshape(shape)
    return out


@dataclass(frozen=True, slots=True)
class Choice(ExampleKind):
    """One image, k captions, one of them true: `truth` is its place.

    Attributes:
        official: How the official code decides. "strict" is as here; "argmax" takes the first maximum in the file's
            order, so that ties help or harm by place: that figure is reported beside.
        recall_at: Also report recall@k and the mean rank of the true caption.
        name: Of the headline: accuracy, top1.
        official_first: The official code stops after so many rows that have their image: that figure is beside.
        prompts: So many captions in a row say the same (the prompts of a class): their mean score is the option's, and
            `truth` counts options.
        auroc: Also report how well one threshold would tell true captions from false ones, rows of two captions only.
    """

    official: Literal["strict", "argmax"] = "strict"
    recall_at: tuple[int, ...] = ()
    name: str = "accuracy"
    official_first: int | None = None
    prompts: int = 1
    auroc: bool = False

    def metrics(self, loaded: Loaded, raw: Raw) -> list[Metric]:
        scores = raw["scores"][:, 0]
        if self.prompts > 1:
            scores = scores.reshape(len(scores), -1, self.prompts).mean(axis=2)
        rows = np.arange(len(scores))
        truth = np.array([item.truth for item in loaded.examples], dtype=np.int64)
        options = np.array([len(item.captions) / self.prompts for item in loaded.examples], dtype=np.float64)
        labels = tuple(item.label for item in loaded.examples)
        scored = ~np.isnan(scores[rows, truth])
        own = scores[rows, truth][:, None]
        above, level = (scores > own).sum(axis=1), (scores == own).sum(axis=1) - 1
        rank = 1.0 + above + level
        strict = np.where(scored, rank == 1, np.nan)
        found = [Metric(self.name, "strictly highest of its options", strict, 1 / options, labels)]
        if self.official == "argmax":
            padded = np.where(np.isnan(scores), -np.inf, scores)
            official = np.where(scored, padded.argmax(axis=1) == truth, np.nan)
            protocol = "official argmax: of tied options the first in the file wins"
            found.append(Metric(f"{self.name}_official", protocol, official, 1 / options, labels))
        if self.official_first is not None:
            official = np.where(np.cumsum(scored) <= self.official_first, strict, np.nan)
            protocol = f"official: the first {self.official_first} rows that have their image"
            found.append(Metric(f"{self.name}_official", protocol, official, 1 / options, labels))
        shared = np.where(scored, (above == 0) / (1.0 + np.maximum(level, 0)), np.nan)
        protocol = "a tie of m options counts 1/m, as broken by a fair coin"
        found.append(Metric(f"{self.name}_ties_shared", protocol, shared, 1 / options, labels))
        if self.auroc:
            protocol = "a true caption of the part above a false one, of whatever image; ties half"
            found.append(Metric("auroc", protocol, auroc(scores, truth), np.full(len(scores), 1 / 2)))
        return [*found, *self._ranks(rank, scored, options, labels)]

    def _ranks(
        self, rank: Values, scored: NDArray[np.bool_], options: Values, labels: tuple[str, ...]
    ) -> Iterator[Metric]:
        for k in self.recall_at:
            hit = np.where(scored, rank <= k, np.nan)
            chance = np.minimum(1, k / options)
            yield Metric(f"recall@{k}", f"among the {k} highest, ties against it", hit, chance, labels)
        if self.recall_at:
            mean = np.where(scored, rank, np.nan)
            yield Metric("mean_rank", "place of the true caption, ties against it", mean, (options + 1) / 2)


@dataclass(frozen=True, slots=True)
class Twins(ExampleKind):
    """Two images and two captions, image i belongs to caption i (Winoground).

    Attributes:
        headline: The figure that the benchmark reports first (MMVP-VLM: image_score).
        half: The official code asks whether a caption's first image gets more than half of the probability, so that
            ties go to the second image: "image_score_official" is reported beside.
    """

    headline: Literal["text_score", "image_score", "group_score"] = "text_score"
    half: bool = False

    def metrics(self, loaded: Loaded, raw: Raw) -> list[Metric]:
        s = raw["scores"]
        whole = ~np.isnan(s).any(axis=(1, 2))
        text = (s[:, 0, 0] > s[:, 0, 1]) & (s[:, 1, 1] > s[:, 1, 0])
        image = (s[:, 0, 0] > s[:, 1, 0]) & (s[:, 1, 1] > s[:, 0, 1])
        labels = tuple(item.label for item in loaded.examples)
        rules = {
            "text_score": ("both images prefer their caption", text, 1 / 4),
            "image_score": ("both captions prefer their image", image, 1 / 4),
            "group_score": ("text_score and image_score at once", text & image, 1 / 6),
        }
        if self.half:
            lenient = (s[:, 0, 0] > s[:, 1, 0]) & (s[:, 1, 1] >= s[:, 0, 1])
            rules["image_score_official"] = (
                "official p(first image) > 0.5: ties go to the second image",
                lenient,
                1 / 4,
            )
        return [
            Metric(name, protocol, np.where(whole, right, np.nan), np.full(len(s), chance), labels)
            for name, (protocol, right, chance) in sorted(rules.items(), key=lambda rule: rule[0] != self.headline)
        ]


@dataclass(frozen=True, slots=True)
class TwoPositives(ExampleKind):
    """One image, captions (P1, P2, N): two paraphrases that are true and one that is not (SugarCrepe++)."""

    compares_texts: ClassVar[bool] = True

    def collect(self, loaded: Loaded, present: NDArray[np.bool_], judge: Judge, seed: int) -> Raw:
        """Also raw["texts"], (N, 3): closeness of P1 to P2, P1 to N, P2 to N, where the judge can compare texts."""
        raw = {"scores": score_rows(loaded.examples, present, judge, seed)}
        captions = [[judge.as_read(text) for text in item.captions] for item in loaded.examples]
        pairs = [pair for p1, p2, n in captions for pair in ((p1, p2), (p1, n), (p2, n))]
        close = judge.text_scores(pairs)
        if close is not None:
            raw["texts"] = _numbers(close, judge, "texts").reshape(-1, 3)
        return raw

    def metrics(self, loaded: Loaded, raw: Raw) -> list[Metric]:
        first, second, negative = raw["scores"][:, 0].T
        scored = ~np.isnan(first)
        labels = tuple(item.label for item in loaded.examples)

        def metric(name: str, protocol: str, right: NDArray[np.bool_], known: NDArray[np.bool_], by: float) -> Metric:
            return Metric(name, protocol, np.where(known, right, np.nan), np.full(len(right), by), labels)

        one, two = first > negative, second > negative
        found = [
            metric("itt_accuracy", "image: both positives strictly above the negative", one & two, scored, 1 / 3),
            metric("p1_accuracy", "image: P1 strictly above N", one, scored, 1 / 2),
            metric("p2_accuracy", "image: P2 strictly above N", two, scored, 1 / 2),
        ]
        if "texts" in raw:
            own, p1, p2 = raw["texts"].T
            right = (own > p1) & (own > p2)
            known = np.ones(len(right), dtype=bool)
            protocol = "text only: P1 and P2 strictly closer to each other than either to N"
            found.append(metric("tot_accuracy", protocol, right, known, 1 / 3))
        return found


@dataclass(frozen=True, slots=True)
class Retrieval(Kind):
    """Each row is an image with its own captions; each caption and each image is a query over the whole part.

    raw["text_to_image"]: by caption, (M,), the rank of its image. raw["image_to_text"]: by image, (N,), the best rank
    of its own captions among the captions of others. Ties count against the query. NaN where an image is absent, and
    its captions are then neither queries nor distractors.
    """

    recall_at: tuple[int, ...] = (1, 5, 10)

    def collect(self, loaded: Loaded, present: NDArray[np.bool_], judge: Judge, seed: int) -> Raw:
        """Tile by tile: the matrix of all scores is never held. The own scores come first, then one pass counts."""
        examples = loaded.examples
        owner = np.array([i for i, item in enumerate(examples) for _ in item.captions], dtype=np.int64)
        captions = [judge.as_read(text) for item in examples for text in item.captions]
        texts = list(dict.fromkeys(captions))
        number = {text: place for place, text in enumerate(texts)}
        text_of = np.array([number[text] for text in captions], dtype=np.int64)
        own_texts = np.split(text_of, np.cumsum([len(item.captions) for item in examples])[:-1])
        own = score_rows(examples, present, judge, seed)[:, 0]
        own_of_caption = np.concatenate([own[i, : len(item.captions)] for i, item in enumerate(examples)])
        best = np.array([np.nan if np.isnan(row).all() else np.nanmax(row) for row in own])
        images, queries = np.flatnonzero(present), np.flatnonzero(present[owner])
        to_image, to_text = np.ones(len(captions)), np.ones(len(examples))
        for rows in _pieces(images, IMAGES):
            for columns in _pieces(queries, CAPTIONS):
                shown, place = np.unique(text_of[columns], return_inverse=True)
                block = Block(tuple(examples[i].images[0] for i in rows), tuple(texts[j] for j in shown))
                scores = _numbers(judge.scores([block])[0], judge, examples[rows[0]].key)[:, place]
                for row, i in enumerate(rows):  # a foreign caption that reads as an own one has its very score
                    for text, score in zip(own_texts[i], own[i], strict=False):
                        scores[row, text_of[columns] == text] = score
                foreign = owner[columns][None, :] != rows[:, None]
                to_image[columns] += ((scores >= own_of_caption[columns][None, :]) & foreign).sum(axis=0)
                to_text[rows] += ((scores >= best[rows][:, None]) & foreign).sum(axis=1)
        to_image[~present[owner]], to_text[~present] = np.nan, np.nan
        return {"text_to_image": to_image.astype(np.float32), "image_to_text": to_text.astype(np.float32)}

    def metrics(self, loaded: Loaded, raw: Raw) -> list[Metric]:
        to_image, to_text = (raw[name].astype(np.float64) for name in ("text_to_image", "image_to_text"))
        images, captions = int((~np.isnan(to_text)).sum()), int((~np.isnan(to_image)).sum())
        own = np.array([len(item.captions) for item in loaded.examples])
        found = []
        for k in self.recall_at:
            hit = np.where(np.isnan(to_image), np.nan, to_image <= k)
            chance = np.full(len(hit), min(1.0, k / images) if images else np.nan)
            found.append(Metric(f"text_to_image_recall@{k}", f"its image among the {k} highest", hit, chance))
        for k in self.recall_at:
            hit = np.where(np.isnan(to_text), np.nan, to_text <= k)
            chance = np.array([_any_in_first(k, int(n), captions) for n in own])
            found.append(Metric(f"image_to_text_recall@{k}", f"an own caption among the {k} highest", hit, chance))
        return found


def grouped(metric: Metric, name: str, groups: Sequence[tuple[int, ...]]) -> Metric:
    """The figure of groups that count only when all their rows are right; unknown when one row is."""
    values = np.array([metric.values[list(group)].min() for group in groups], dtype=np.float64)
    chance = np.array([metric.chance[list(group)].prod() for group in groups], dtype=np.float64)
    return Metric(f"{name}_{metric.name}", f"all rows of a {name} are right: {metric.protocol}", values, chance)


def _runs(examples: Sequence[Example], present: NDArray[np.bool_]) -> Iterator[list[int]]:
    """Rows that one block scores: neighbours of one image each that share their captions, else a row alone."""
    run: list[int] = []
    for i, item in enumerate(examples):
        if not present[i]:
            continue
        first = examples[run[0]] if run else item
        alone = len(item.images) == len(first.images) == 1
        if run and not (alone and len(run) < IMAGES and item.captions == first.captions):
            yield run
            run = []
        run.append(i)
    if run:
        yield run


def _together(runs: Iterable[list[int]], examples: Sequence[Example]) -> Iterator[list[list[int]]]:
    """Runs whose images fit in one call of a judge."""
    some: list[list[int]] = []
    images = 0
    for run in runs:
        size = len(run) * len(examples[run[0]].images)
        if some and images + size > IMAGES:
            yield some
            some, images = [], 0
        some.append(run)
        images += size
    if some:
        yield some


def _order(example: Example, seed: int) -> NDArray[np.int64]:
    rng = np.random.Generator(np.random.PCG64(seed_of(seed, "option order", example.key)))
    return rng.permutation(len(example.captions))


def _numbers(scores: Matrix, judge: Judge, where: str) -> Matrix:
    if not bool(np.isfinite(scores).all()):
        raise DataError(f"{where}: a score of {judge.name} is not a number; the checkpoint or a feature is damaged")
    return scores


def _pieces(rows: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _any_in_first(k: int, own: int, total: int) -> float:
    """The chance that one of `own` captions or more is among the first k of `total` in random order."""
    return 1.0 - math.comb(max(total - own, 0), k) / math.comb(total, k) if total >= k else 1.0
