"""The superposition of Lemma 1 seen in CLIP (Fig. 9): cosine of a picture and its labels against their number.

Labels are what the paper counts, so that k is the number of object categories: three dogs and a cat are two.

Shapes: S scenes, L texts, D joint dimensions.
"""

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from scorer.bank import BATCH
from scorer.configs import SuperpositionConfig
from scorer.empirical.scenes import SIDE_PX, Scene, coco_scenes, made_scenes, noise_pictures
from scorer.errors import ConfigError
from scorer.features import Clip, load_clip
from scorer.metrics import figure
from scorer.palette import BLUE, GREEN, ORANGE
from scorer.seeding import seed_of
from scorer.splits import show_progress

Values = NDArray[np.float64]
RESAMPLES = 1000
SHOWN = 5  # example pictures over the plot

# By series: what the legend says, colour, line style.
SERIES = {
    "each": ("picture and each label in it", ORANGE, "-"),
    "all": ("picture and one text of all its labels", BLUE, ":"),
    "noise": ("pictures of noise and every label", GREEN, "--"),
}


@dataclass(frozen=True, slots=True)
class Level:
    """A point of the figure.

    mean, low, high: of the scenes' means, with its 95 % bootstrap interval; q25, q75: quartiles of all cosines.
    scenes: how many there are; categories is 0 for the noise, which has none.
    """

    series: str
    categories: int
    mean: float
    low: float
    high: float
    q25: float
    q75: float
    scenes: int


def superposition(config: SuperpositionConfig) -> str:
    """Write OUT/superposition.png, .json and .csv; one line that says what was done.

    Raises a UserError for unusable data, photographs or towers.
    """
    scenes, what = _scenes(config)
    clip = load_clip(config.clip.clip, config.clip.pretrained, sys.maxsize, config.device)
    config.out.mkdir(parents=True, exist_ok=True)
    levels = measure(clip, scenes, config)
    rows = [asdict(level) for level in levels]
    with (config.out / "superposition.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    said = {"clip": clip.name, "prompt": config.prompt, "seed": config.seed, "scenes": what, "levels": rows}
    (config.out / "superposition.json").write_text(json.dumps(said, indent=1), "utf-8")
    _draw(levels, scenes, clip, config)
    each = [level for level in levels if level.series == "each"]
    noise = next(level for level in levels if level.series == "noise")
    under = next((level.categories for level in each if level.mean <= noise.mean), None)
    crossing = f"at {_said(under)} no higher than noise" if under else "above noise throughout"
    return (
        f"superposition in {clip.name}, {what}: cosine with a label {each[0].mean:.3f} at "
        f"{_said(each[0].categories)}, {each[-1].mean:.3f} at {_said(each[-1].categories)}, noise "
        f"{noise.mean:.3f} ({crossing}): {config.out / 'superposition.png'}, .json, .csv"
    )


@torch.inference_mode()
def measure(clip: Clip, scenes: Sequence[Scene], config: SuperpositionConfig) -> list[Level]:
    """The points of the three lines; "all" joins the labels with commas and "and"."""
    labels = sorted({label for scene in scenes for label in scene.labels})
    texts = list(dict.fromkeys([*labels, *(joined(scene.labels) for scene in scenes)]))
    place = {text: number for number, text in enumerate(texts)}
    text_LD = _texts(clip, [config.prompt.replace("{}", text) for text in texts])
    image_SD = _pictures(clip, (scene.open() for scene in scenes), len(scenes))
    rng = np.random.Generator(np.random.PCG64(seed_of(config.seed, "noise pictures")))
    noise_SD = _pictures(clip, noise_pictures(config.noise_images, rng), config.noise_images)
    cosines = (image_SD @ text_LD.t()).double().cpu().numpy()
    each = [cosines[number, [place[label] for label in scene.labels]] for number, scene in enumerate(scenes)]
    whole = [cosines[number, [place[joined(scene.labels)]]] for number, scene in enumerate(scenes)]
    levels = []
    for k in sorted({len(scene.labels) for scene in scenes}):
        members = [number for number, scene in enumerate(scenes) if len(scene.labels) == k]
        levels.append(_level("each", k, [each[number] for number in members], config.seed))
        levels.append(_level("all", k, [whole[number] for number in members], config.seed))
    noise = (noise_SD @ text_LD[: len(labels)].t()).double().cpu().numpy()
    return [*levels, _level("noise", 0, list(noise), config.seed)]


def joined(labels: Sequence[str]) -> str:
    """One text of some labels: "a", "a and b", "a, b and c"."""
    *first, last = labels
    return f"{', '.join(first)} and {last}" if first else last


def _scenes(config: SuperpositionConfig) -> tuple[list[Scene], str]:
    """The scenes, and what they are in words."""
    if config.most < 1 or config.count < 1 or config.noise_images < 1:
        raise ConfigError("--most, --count and --noise-images must be 1 or more")
    if "{}" not in config.prompt:
        raise ConfigError(f"--prompt {config.prompt!r}: must hold {{}}, where the label goes")
    if (config.coco is None) != (config.images is None):
        raise ConfigError("--coco FILE and --images FOLDER go together")
    if (config.coco is None) == (not config.data):
        raise ConfigError("give runs rendered with --masks, or --coco FILE --images FOLDER")
    rng = np.random.Generator(np.random.PCG64(seed_of(config.seed, "scenes")))
    if config.coco is None or config.images is None:
        scenes = made_scenes(config.data, config.most, config.count, rng)
        return scenes, f"{config.count} series of pasted pictures"
    every, absent = coco_scenes(config.coco, config.images)
    few = [scene for scene in every if len(scene.labels) <= config.most]
    if not few:
        raise ConfigError(f"--most {config.most}: every photograph has more categories")
    chosen = [few[i] for i in sorted(rng.permutation(len(few))[: config.count].tolist())]
    return chosen, f"{len(chosen)} photographs ({absent} missing, {len(every) - len(few)} with more categories)"


def _pictures(clip: Clip, pictures: Iterator[Image.Image], total: int) -> Tensor:
    """Pooled embeddings (S, D)."""
    found: list[Tensor] = []
    while batch := [clip.preprocess(picture) for picture in islice(pictures, BATCH)]:
        found.append(clip.image_tokens(torch.stack(batch))[:, 0])
        show_progress(sum(map(len, found)), total, "pictures")
    return torch.cat(found)


def _texts(clip: Clip, texts: Sequence[str]) -> Tensor:
    """Pooled embeddings (L, D)."""
    found = []
    for start in range(0, len(texts), BATCH):
        ids, eos, _ = clip.tokenize(texts[start : start + BATCH])
        tokens = clip.text_tokens(ids)
        found.append(tokens[torch.arange(len(ids)), eos.to(tokens.device)])
    return torch.cat(found)


def _level(series: str, categories: int, cosines: Sequence[Values], seed: int) -> Level:
    means = np.array([values.mean() for values in cosines])
    found = figure(means, RESAMPLES, seed, f"superposition {series} {categories}")
    low, high = np.quantile(np.concatenate(cosines), (0.25, 0.75))
    return Level(series, categories, found.value, found.low, found.high, float(low), float(high), found.count)


def _said(categories: int) -> str:
    return "1 category" if categories == 1 else f"{categories} categories"


def _draw(levels: Sequence[Level], scenes: Sequence[Scene], clip: Clip, config: SuperpositionConfig) -> None:
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(6.2, 5.4), layout="constrained")
    upper, lower = canvas.subfigures(2, 1, height_ratios=[1, 2.9], squeeze=False)[:, 0]
    counts = sorted({len(scene.labels) for scene in scenes})
    shown = [counts[i] for i in sorted({round(x) for x in np.linspace(0, len(counts) - 1, SHOWN)})]
    for panel, k in zip(upper.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
        picture = next(scene for scene in scenes if len(scene.labels) == k).open()
        panel.imshow(np.asarray(picture.resize((SIDE_PX, SIDE_PX))))
        panel.set_title(_said(k), fontsize=8)
        panel.set_axis_off()
    axis = lower.subplots()
    for series, (said, colour, style) in SERIES.items():
        mine = [level for level in levels if level.series == series]
        if series == "noise":  # it has no number of categories: a line across
            mine = [mine[0], mine[0]]
        x: list[Any] = [counts[0], counts[-1]] if series == "noise" else [level.categories for level in mine]
        axis.plot(
            x,
            [level.mean for level in mine],
            linestyle=style,
            color=colour,
            linewidth=2,
            label=said,
            marker="" if series == "noise" else "o",
            markersize=4,
        )
        axis.fill_between(
            x, [level.q25 for level in mine], [level.q75 for level in mine], color=colour, alpha=0.18, linewidth=0
        )
    scenes_of = {level.categories: level.scenes for level in levels}
    axis.set_xticks(counts, [f"{k}\nn = {scenes_of[k]}" if k == counts[0] else f"{k}\n{scenes_of[k]}" for k in counts])
    axis.tick_params(labelsize=9)
    axis.set_xlabel("object categories in the picture, and how many pictures", fontsize=10)
    axis.set_ylabel(f"cosine ({clip.name})", fontsize=10)
    axis.grid(alpha=0.25)
    axis.set_title("means, with bands from quartile to quartile", fontsize=9)
    lower.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    canvas.savefig(config.out / "superposition.png", dpi=150)
