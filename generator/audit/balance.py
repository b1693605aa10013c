"""Are nouns, values, sides and roles dealt out evenly? Counts with exact tests, corrected for how many were tested."""

from collections import Counter
from collections.abc import Mapping

from generator.audit.facts import about_looks, pieces
from generator.audit.figures import CHANCE, Finding, Table, wilson
from generator.audit.sampling import Group

SHOWN = 10
# Below this expected count a chi-squared test is not to be trusted (Cochran 1954).
LEAST_EXPECTED = 5.0


def values_by_side(group: Group, seed: int) -> Finding | None:
    """Every value (with nouns that differ: every noun) as often true of image 0 as of image 1."""
    del seed
    sides = [Counter(name for pair in group.pairs for name in pieces(pair.record, side)) for side in (0, 1)]
    return _two_columns(sides[0], sides[1], ("value", "true of image 0", "true of image 1"))


def nouns_by_role(group: Group, seed: int) -> Finding | None:
    """Every noun as often A as B. None where roles stand for sides."""
    del seed
    roles = [
        Counter(item.noun for pair in group.pairs for item in pair.record.objects_0 if item.role == role)
        for role in "AB"
    ]
    return _two_columns(roles[0], roles[1], ("noun", "as A", "as B"))


def values_by_stage(group: Group, seed: int) -> Finding | None:
    """Values of image 0 independent of the stage. None without stages, with one value or too few pairs for the test."""
    del seed
    from scipy.stats import chi2_contingency

    pairs = about_looks(group)
    counts = Counter((pair.record.stage, name) for pair in pairs for name in pieces(pair.record, 0))
    stages = sorted({stage for stage, _ in counts if stage})
    values = sorted({name for _, name in counts})
    if len(stages) < 2 or len(values) < 2:
        return None
    observed = [[counts[stage, value] for value in values] for stage in stages]
    tested = chi2_contingency(observed)
    if tested.expected_freq.min() < LEAST_EXPECTED:
        return None
    n, total = len(pairs), sum(map(sum, observed))
    # Cramer's V without its bias (Bergsma 2013): 0 independent, 1 one tells the other; shown from 0.5 as accuracies.
    squared = max(0.0, tested.statistic / total - tested.dof / (total - 1)) / (min(len(stages), len(values)) - 1)
    figure = CHANCE + min(1.0, squared**0.5) / 2
    rows = tuple((stage, *map(str, row)) for stage, row in zip(stages, observed, strict=True))
    detail = f"chi-squared {tested.statistic:.1f} with {tested.dof} degrees of freedom"
    return Finding(figure, *wilson(figure, n), n, float(tested.pvalue), detail, table=Table(("stage", *values), rows))


def _two_columns(one: Mapping[str, int], other: Mapping[str, int], header: tuple[str, str, str]) -> Finding | None:
    """A two-sided binomial test for each name; the worst of them, its p multiplied by their number.

    The figure is the worst name's; the pairs that it takes to tell are all names' together.
    """
    from scipy.stats import binomtest

    names = sorted(set(one) | set(other))
    if not one or not other:
        return None
    counts = {name: (one.get(name, 0), other.get(name, 0)) for name in names}
    tests = {name: float(binomtest(counts[name][0], sum(counts[name])).pvalue) for name in names}
    ranked = sorted(names, key=lambda name: (tests[name], -sum(counts[name]), name))
    worst = ranked[0]
    n = sum(counts[worst])
    figure = max(counts[worst]) / n
    rows = tuple((name, *map(str, counts[name])) for name in ranked[:SHOWN])
    return Finding(
        figure,
        *wilson(figure, n),
        sum(one.values()) + sum(other.values()),
        min(1.0, tests[worst] * len(names)),
        f"{worst}: {header[1]} {counts[worst][0]} times, {header[2]} {counts[worst][1]}, the worst of {len(names)}",
        table=Table(header, rows),
    )
