"""Figures of a part, each with its chance, its count and a bootstrap interval.

Shapes: R resamples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scorer.benchmarks.base import Loaded
from scorer.benchmarks.kinds import Metric, Values, grouped
from scorer.metrics import interval, resampled_means

OFFICIAL = "_official"  # the suffix of a headline by the authors' own rule


@dataclass(frozen=True, slots=True)
class Result:
    """A figure of one judge.

    Attributes:
        metric, label: What it is; label is "" for the whole part.
        protocol: What counts as right, in words.
        value, low, high: Mean and 95 % bootstrap interval over `count` rows (captions, groups); NaN without any.
        count: How many were scored.
        chance: What independent random scores get.
    """

    metric: str
    label: str
    protocol: str
    value: float
    low: float
    high: float
    count: int
    chance: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure before its interval is taken: `means` are those of R bootstrap samples."""

    value: float
    chance: float
    count: int
    means: Values

    def result(self, metric: str, label: str, protocol: str) -> Result:
        low, high = interval(self.value, self.means)
        return Result(metric, label, protocol, self.value, low, high, self.count, self.chance)


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made. A sample depends on the seed, the part and how many rows it has, not on the judge."""

    resamples: int
    seed: int

    def estimate(self, values: Values, chance: Values, name: str) -> Estimate:
        """The mean of what is known; NaN where nothing is."""
        known = ~np.isnan(values)
        if not known.any():
            return Estimate(np.nan, np.nan, 0, np.empty(0))
        means = resampled_means(values[known], self.resamples, self.seed, name)
        return Estimate(float(values[known].mean()), float(chance[known].mean()), int(known.sum()), means)


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """The plain mean of several figures, each resampled on its own."""
    assert estimates
    return Estimate(
        float(np.mean([item.value for item in estimates])),
        float(np.mean([item.chance for item in estimates])),
        sum(item.count for item in estimates),
        np.mean([item.means for item in estimates], axis=0),
    )


def part_results(
    loaded: Loaded, metrics: Sequence[Metric], name: str, bootstrap: Bootstrap
) -> tuple[Estimate, list[Result]]:
    """The headline of a part, and all its figures: the whole part, groups, the macro average, and every label.

    Where the part has a macro average that is the headline, and it is listed first.
    """
    headline: Estimate | None = None
    found: list[Result] = []
    for metric in metrics:
        main = metric is metrics[0]
        whole = bootstrap.estimate(metric.values, metric.chance, name)
        if metric.labels and loaded.macro and (main or metric.name.endswith(OFFICIAL)):
            by_label = _by_label(metric, loaded.macro, name, bootstrap)
            if by_label:
                macro = mean_of(list(by_label.values()))
                protocol = f"mean over {len(by_label)} labels: {metric.protocol}"
                found.append(macro.result(f"macro_{metric.name}", "", protocol))
                headline = headline or macro
        found.append(whole.result(metric.name, "", metric.protocol))
        headline = headline or whole
    for metric in metrics:
        if metric is metrics[0] or metric.name.endswith(OFFICIAL):
            for together, groups in loaded.together.items():
                joint = grouped(metric, together, groups)
                estimate = bootstrap.estimate(joint.values, joint.chance, f"{name} {together}")
                found.append(estimate.result(joint.name, "", joint.protocol))
    labels = frozenset(metrics[0].labels) - {""}
    if len(labels) > 1:
        by_label = _by_label(metrics[0], labels, name, bootstrap)
        found += [item.result(metrics[0].name, label, metrics[0].protocol) for label, item in by_label.items()]
    assert headline is not None
    return headline, found


def _by_label(metric: Metric, labels: frozenset[str], name: str, bootstrap: Bootstrap) -> Mapping[str, Estimate]:
    """Labels with a row that was scored, in alphabetical order."""
    places: dict[str, list[int]] = {label: [] for label in sorted(labels)}
    for place, label in enumerate(metric.labels):
        if label in places:
            places[label].append(place)
    found = {
        label: bootstrap.estimate(metric.values[rows], metric.chance[rows], f"{name} {label}")
        for label, rows in places.items()
    }
    return {label: item for label, item in found.items() if item.count}
