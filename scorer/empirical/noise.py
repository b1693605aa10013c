"""Lemma 2 with noise, simulated (supplement E.3, Fig. 10).

i(x_a) = (o i(x) + d t(a) + w e) / norm, o = 1 - d, and i(x_a, y_b) is the normalised sum of i(x_a) and i(y_b) (Eq. 3).
All vectors are drawn at random, so in high dimensions they are nearly orthogonal, and with n = w^2 E|e|^2

    i(x_b, y_a) . i(x_a, y_b)  ->  (o^2 + d^2) / (o^2 + d^2 + n)

which is 1 without noise: Lemma 2's strong conclusion. The paper prints neither its dimension nor its weights.

Shapes: T trials, N dimensions.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scorer.configs import NoiseConfig
from scorer.errors import ConfigError
from scorer.palette import BLUE, GREEN, ORANGE, PURPLE, VERMILION
from scorer.seeding import seed_of

Vectors = NDArray[np.float64]

# What is measured: its name in the numbers, in the legend, its colour and the style of its line.
QUANTITIES: dict[str, tuple[str, str, Literal["-", "--", ":"]]] = {
    "bindings": ("$(x_b, y_a) \\cdot (x_a, y_b)$", BLUE, "-"),
    "object": ("$x \\cdot x_a$", GREEN, "-"),
    "attribute": ("$x_a \\cdot a$", ORANGE, "-"),
    "object_attribute": ("$x \\cdot a$", VERMILION, "--"),
    "unrelated": ("$(w_c, z_d) \\cdot (x_a, y_b)$", PURPLE, ":"),
}
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Panel:
    """The cosines of all trials, (T,) by quantity, for one choice of weights. limit: of the bindings, in high N."""

    object: float
    attribute: float
    noise: float
    limit: float
    values: Mapping[str, Vectors]


def noise(config: NoiseConfig) -> str:
    """Write OUT/noise.png, .json and .csv; one line that says what was done. Raises ConfigError."""
    _check(config)
    panels = [simulate(config, d, w) for d in config.attribute for w in config.noise]
    config.out.mkdir(parents=True, exist_ok=True)
    rows = [_row(panel, name) for panel in panels for name in QUANTITIES]
    with (config.out / "noise.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    said = {"config": asdict(config) | {"out": str(config.out)}, "rows": rows}
    (config.out / "noise.json").write_text(json.dumps(said, indent=1), "utf-8")
    _draw(panels, config)
    means = [float(panel.values["bindings"].mean()) for panel in panels]
    return (
        f"Lemma 2 with noise: {config.trials} trials in {config.dim} dimensions, {len(panels)} choices of weights, "
        f"the two bindings' mean cosine {min(means):.3f} to {max(means):.3f}: {config.out / 'noise.png'}, .json, .csv"
    )


def simulate(config: NoiseConfig, attribute: float, weight: float) -> Panel:
    """All trials with attributes of this weight and noise of that one; depends on the seed and the weights alone."""
    rng = np.random.Generator(np.random.PCG64(seed_of(config.seed, "noise", repr((attribute, weight, config.unit)))))

    def draw(unit: bool = True) -> Vectors:
        vectors = rng.standard_normal((config.trials, config.dim))
        return _unit(vectors) if unit else vectors

    def embed(thing: Vectors, quality: Vectors) -> Vectors:
        return _unit((1 - attribute) * thing + attribute * quality + weight * draw(config.unit))

    x, y, w, z, a, b, c, d = (draw() for _ in range(8))
    xa, yb, xb, ya, wc, zd = (embed(*pair) for pair in ((x, a), (y, b), (x, b), (y, a), (w, c), (z, d)))
    one, other, unrelated = _unit(xa + yb), _unit(xb + ya), _unit(wc + zd)
    pairs = {
        "bindings": (one, other),
        "object": (x, xa),
        "attribute": (xa, a),
        "object_attribute": (x, a),
        "unrelated": (unrelated, one),
    }
    kept = (1 - attribute) ** 2 + attribute**2
    power = weight**2 * (1 if config.unit else config.dim)
    values = {name: (left * right).sum(axis=1) for name, (left, right) in pairs.items()}
    return Panel(1 - attribute, attribute, weight, kept / (kept + power), values)


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _row(panel: Panel, name: str) -> dict[str, Any]:
    values = panel.values[name]
    quantiles = np.quantile(values, SHARES)
    return {
        "object_weight": panel.object,
        "attribute_weight": panel.attribute,
        "noise_weight": panel.noise,
        "quantity": name,
        "trials": len(values),
        "mean": float(values.mean()),
        "std": float(values.std()),
        **{f"q{round(100 * share):02d}": float(value) for share, value in zip(SHARES, quantiles, strict=True)},
        "limit": panel.limit if name == "bindings" else None,
    }


def _check(config: NoiseConfig) -> None:
    if config.dim < 2 or config.trials < 1:
        raise ConfigError(f"--dim {config.dim} --trials {config.trials}: at least 2 dimensions and one trial")
    if not config.attribute or not all(0 <= value <= 1 for value in config.attribute):
        raise ConfigError("--attribute: weights from 0 to 1")
    if not config.noise or not all(0 <= value < np.inf for value in config.noise):
        raise ConfigError("--noise: weights that are not negative")


def _draw(panels: Sequence[Panel], config: NoiseConfig) -> None:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    wide = len(config.noise)
    high = len(config.attribute)
    figure = Figure(figsize=(2.9 * wide + 0.3, 2.1 * high + 0.9), layout="constrained")
    axes = figure.subplots(high, wide, squeeze=False, sharex=True)
    bins = np.linspace(-0.3, 1.02, 133)
    for axis, panel in zip(axes.ravel(), panels, strict=True):
        for name, (_, colour, style) in reversed(QUANTITIES.items()):
            weights = np.full(len(panel.values[name]), 1 / len(panel.values[name]))
            inside = np.clip(panel.values[name], bins[0], bins[-1])
            filled = style == "-"
            axis.hist(inside, bins, weights=weights, histtype="stepfilled", color=colour, alpha=0.25 * filled)
            axis.hist(inside, bins, weights=weights, histtype="step", color=colour, linestyle=style, linewidth=1.3)
        axis.axvline(panel.limit, color="black", linestyle="-.", linewidth=0.9)
        axis.set_title(f"Obj={panel.object:g}  Attr={panel.attribute:g}  Noise={panel.noise:g}", fontsize=9)
        axis.tick_params(labelsize=8)
        axis.set_ylim(0, 0.62)
        axis.text(
            0.03, 0.95, f"mean {panel.values['bindings'].mean():.3f}", transform=axis.transAxes, fontsize=8,
            color=BLUE, va="top",
        )  # fmt: skip
    for axis in axes[-1]:
        axis.set_xlabel("cosine", fontsize=9)
    for axis in axes[:, 0]:
        axis.set_ylabel("share of trials", fontsize=9)
    lines = [Line2D([], [], color=c, linestyle=s) for _, c, s in QUANTITIES.values()]
    lines.append(Line2D([], [], color="black", linestyle="-.", linewidth=0.9))
    names = [*(name for name, _, _ in QUANTITIES.values()), "limit of the first"]
    figure.legend(lines, names, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    figure.savefig(config.out / "noise.png", dpi=150)
