"""Figures of an evaluation: score scatter of the two captions, and maps with tokens and patches named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from scorer.features import Clip
from scorer.metrics import Scores
from scorer.models import ImageTokens, MapScorer, Scorer, TextTokens


def scatter_figure(scores: Scores, cosine: Scores, tasks: Sequence[str], path: Path) -> None:
    """For every image, the score of its own caption against its twin's: CLIP's cosine and the scorer, by task.

    A point above the diagonal is a right choice.
    """
    names = sorted(set(tasks))
    picture = Figure(figsize=(3.2 * len(names), 6.4), layout="constrained")
    panels = picture.subplots(2, len(names), squeeze=False)
    for row, (title, values) in enumerate((("CLIP cosine", cosine), ("scorer", scores))):
        for column, name in enumerate(names):
            chosen = values[np.array([task == name for task in tasks])]
            panel = panels[row][column]
            for side, marker in ((0, "o"), (1, "^")):
                own, other = chosen[:, side, side].ravel(), chosen[:, side, 1 - side].ravel()
                keep = ~np.isnan(own)
                right = own[keep] > other[keep]
                colours = np.where(right, "tab:green", "tab:red")
                panel.scatter(other[keep], own[keep], c=colours, s=9, marker=marker, alpha=0.6, linewidths=0)
            low, high = np.nanmin(chosen), np.nanmax(chosen)
            panel.plot([low, high], [low, high], color="0.4", linewidth=0.8)
            panel.set(title=f"{name}: {title}", xlabel="score of the twin's caption", ylabel="score of its own caption")
            for side, marker in ((0, "o"), (1, "^")):
                panel.scatter([], [], c="0.4", s=9, marker=marker, label=f"image_{side}")
            panel.legend(fontsize=7, loc="lower right")
    picture.savefig(path, dpi=130)


@torch.inference_mode()
def map_figure(
    scorer: Scorer,
    clip: Clip,
    picture: Image.Image,
    image: ImageTokens,
    texts: TextTokens,
    captions: Sequence[str],
    path: Path,
) -> None:
    """The maps of one image and some captions as the scorer reads them, and each word's patches on the picture.

    Rows are tokens (functional ones in red: their rows are fixed, so they have no place on the picture), columns are
    CLS and the patches, named (row, column). Scorers that read no maps get no figure.
    """
    if not isinstance(scorer, MapScorer):
        return
    values = scorer.maps(image, texts)[0].float().cpu().numpy()
    scores = scorer(image, texts)[0].float().cpu().tolist()
    ids, eos, _ = clip.tokenize(captions)
    maps = []
    for part, caption in enumerate(captions):
        length = int(eos[part]) + 1
        functional = tuple(bool(mark >= 0) for mark in texts.marks[part, :length])
        title = f"“{caption}”  score {scores[part]:.2f}"
        unit = "cosine" if scorer.config.z_score == "none" else "cosine, z-scored"
        tokens = named_tokens(clip, ids[part, :length])
        maps.append(CaptionMap(title, tokens, functional, values[part, :length], unit=unit))
    draw_maps(maps, picture, clip, path)


@dataclass(frozen=True, slots=True)
class CaptionMap:
    """A map to draw, (rows, I): a name for every row, whether it is a functional one, and what its values are."""

    title: str
    tokens: tuple[str, ...]
    functional: tuple[bool, ...]
    values: NDArray[np.float32]
    colour: str = "black"
    unit: str = "cosine"


def named_tokens(clip: Clip, ids: Tensor) -> tuple[str, ...]:
    """Readable names of the tokens of one text."""
    marks = {"<start_of_text>": "[start]", "<end_of_text>": "[end]"}
    return tuple(marks.get(piece, piece) for piece in clip.pieces(ids))


def draw_maps(
    maps: Sequence[CaptionMap],
    picture: Image.Image,
    clip: Clip,
    path: Path,
    parts: Mapping[str, Sequence[int]] | None = None,
) -> None:
    """Every map, and each word's patches on the picture.

    parts: columns by the part of the picture they show, in the order in which they are drawn; all of them once.
    """
    rows, columns = clip.shape.grid
    seen = _as_seen(picture, clip)
    figure = Figure(figsize=(12, 3.9 * len(maps)), layout="constrained")
    for item, sub in zip(maps, figure.subfigures(len(maps), 1, squeeze=False).flat, strict=True):
        sub.suptitle(item.title, fontsize=10, color=item.colour)
        upper, lower = sub.subfigures(2, 1, height_ratios=[1.5, 1])
        _draw_map(upper, item, rows, columns, parts)
        words = [i for i in range(1, len(item.tokens)) if not item.functional[i]][:11]
        panels = lower.subplots(1, 1 + len(words), squeeze=False)[0]
        panels[0].imshow(seen)
        panels[0].set_title("picture", fontsize=8)
        panels[0].set_axis_off()
        for panel, i in zip(panels[1:], words, strict=True):
            panel.imshow(seen, extent=(0, columns, rows, 0))
            grid = item.values[i, 1:].reshape(rows, columns)
            panel.imshow(grid, extent=(0, columns, rows, 0), cmap="magma", alpha=0.6, interpolation="nearest")
            panel.set_title(item.tokens[i], fontsize=8)
            panel.set_xticks(np.arange(0, columns, 4) + 0.5, range(0, columns, 4), fontsize=5)
            panel.set_yticks(np.arange(0, rows, 4) + 0.5, range(0, rows, 4), fontsize=5)
    figure.savefig(path, dpi=120)


def _draw_map(where: Any, item: CaptionMap, rows: int, columns: int, parts: Mapping[str, Sequence[int]] | None) -> None:
    panel = where.subplots()
    order = [column for some in parts.values() for column in some] if parts else list(range(item.values.shape[1]))
    shown = panel.imshow(item.values[:, order], aspect="auto", cmap="magma", interpolation="nearest")
    panel.set_yticks(range(len(item.tokens)), item.tokens, fontsize=8)
    for label, red in zip(panel.get_yticklabels(), item.functional, strict=True):
        label.set_color("tab:red" if red else "black")
    if parts:
        _name_parts(panel, parts)
    else:
        # CLS is column 0; then one tick at the first patch of every grid row.
        panel.set_xticks(
            [0, *(1 + row * columns for row in range(rows))],
            ["CLS", *(f"({row},0)" for row in range(rows))],
            fontsize=6,
            rotation=45,
        )
        panel.set_xlabel("image token: CLS, then patches (row, column)", fontsize=8)
    where.colorbar(shown, ax=panel, fraction=0.02).set_label(item.unit, fontsize=8)


def _name_parts(panel: Any, parts: Mapping[str, Sequence[int]]) -> None:
    """A line between the parts of the picture, and their names below."""
    at, middles = 0, []
    for members in parts.values():
        middles.append(at + (len(members) - 1) / 2)
        at += len(members)
        panel.axvline(at - 0.5, color="white", linewidth=1.5)
    names = [f"{name} ({len(members)})" if len(members) > 1 else name for name, members in parts.items()]
    panel.set_xticks(middles, names, fontsize=8)
    panel.set_xlabel("image tokens by part of the picture (how many patches)", fontsize=8)


def _as_seen(picture: Image.Image, clip: Clip) -> Any:
    """The picture cut and scaled as the tower saw it, (H, W, 3) in [0, 1]."""
    pixels = clip.preprocess(picture)
    low, high = pixels.amin(), pixels.amax()
    return ((pixels - low) / (high - low).clamp(min=1e-6)).permute(1, 2, 0).numpy()
