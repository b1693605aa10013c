"""Figures of an evaluation: score scatter of the two captions, and maps with tokens and patches named."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from PIL import Image

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
    maps = scorer.maps(image, texts)[0].float().cpu().numpy()
    scores = scorer(image, texts)[0].float().cpu().tolist()
    ids, eos, _ = clip.tokenize(captions)
    rows, columns = clip.shape.grid
    seen = _as_seen(picture, clip)
    figure = Figure(figsize=(12, 3.9 * len(captions)), layout="constrained")
    for part, sub in enumerate(figure.subfigures(len(captions), 1, squeeze=False).flat):
        length = int(eos[part]) + 1
        pieces = [
            piece.replace("<start_of_text>", "[start]").replace("<end_of_text>", "[end]")
            for piece in clip.pieces(ids[part, :length])
        ]
        functional = [bool(mark >= 0) for mark in texts.marks[part, :length]]
        sub.suptitle(f"“{captions[part]}”  score {scores[part]:.2f}", fontsize=10)
        upper, lower = sub.subfigures(2, 1, height_ratios=[1.5, 1])
        _draw_map(upper, maps[part, :length], pieces, functional, rows, columns)
        words = [i for i in range(1, length) if not functional[i]][:11]
        panels = lower.subplots(1, 1 + len(words), squeeze=False)[0]
        panels[0].imshow(seen)
        panels[0].set_title("picture", fontsize=8)
        panels[0].set_axis_off()
        for panel, i in zip(panels[1:], words, strict=True):
            panel.imshow(seen, extent=(0, columns, rows, 0))
            grid = maps[part, i, 1:].reshape(rows, columns)
            panel.imshow(grid, extent=(0, columns, rows, 0), cmap="magma", alpha=0.6, interpolation="nearest")
            panel.set_title(pieces[i], fontsize=8)
            panel.set_xticks(np.arange(0, columns, 4) + 0.5, range(0, columns, 4), fontsize=5)
            panel.set_yticks(np.arange(0, rows, 4) + 0.5, range(0, rows, 4), fontsize=5)
    figure.savefig(path, dpi=120)


def _draw_map(where: Any, values: Any, pieces: list[str], functional: list[bool], rows: int, columns: int) -> None:
    panel = where.subplots()
    shown = panel.imshow(values, aspect="auto", cmap="magma", interpolation="nearest")
    panel.set_yticks(range(len(pieces)), pieces, fontsize=8)
    for label, red in zip(panel.get_yticklabels(), functional, strict=True):
        label.set_color("tab:red" if red else "black")
    # CLS is column 0; then one tick at the first patch of every grid row.
    panel.set_xticks(
        [0, *(1 + row * columns for row in range(rows))],
        ["CLS", *(f"({row},0)" for row in range(rows))],
        fontsize=6,
        rotation=45,
    )
    panel.set_xlabel("image token: CLS, then patches (row, column)", fontsize=8)
    where.colorbar(shown, ax=panel, fraction=0.02)


def _as_seen(picture: Image.Image, clip: Clip) -> Any:
    """The picture cut and scaled as the tower saw it, (H, W, 3) in [0, 1]."""
    pixels = clip.preprocess(picture)
    low, high = pixels.amin(), pixels.amax()
    return ((pixels - low) / (high - low).clamp(min=1e-6)).permute(1, 2, 0).numpy()
