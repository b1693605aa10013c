"""CLIP's dense cosine similarity maps of any picture and captions (Fig. 3), tokens and patches named.

Shapes: L captions, T text tokens, I image tokens (1 + patches).
"""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from scorer.configs import MapsConfig
from scorer.data import read_picture
from scorer.dcsm import cosine_maps
from scorer.errors import ConfigError
from scorer.features import Clip, load_clip
from scorer.figures import CaptionMap, draw_maps, named_tokens
from scorer.palette import BLUE, VERMILION

CLS, BACKGROUND = "CLS", "background"
HALF = 0.5  # of a patch must lie in a region

Box = tuple[int, int, int, int]


def maps(config: MapsConfig) -> str:
    """Write OUT/maps.png, .json and .csv; one line that says what was done.

    Raises a UserError for an unusable picture, caption, region or model.
    """
    _check(config)
    regions = dict(_region(text) for text in config.region)
    picture = read_picture(config.image)
    clip = load_clip(config.clip.clip, config.clip.pretrained, config.text_tokens, config.device)
    values, tokens = _maps(clip, picture, config.captions)
    parts = parts_of(clip, picture, regions) if regions else None
    drawn = [
        CaptionMap(_title(config, place), names, (False,) * len(names), rows, _colour(config, place))
        for place, (names, rows) in enumerate(zip(tokens, values, strict=True))
    ]
    config.out.mkdir(parents=True, exist_ok=True)
    draw_maps(drawn, picture, clip, config.out / "maps.png", parts)
    _write(config, clip, tokens, values, parts)
    return (
        f"maps of {config.image} and {len(values)} captions by {clip.name}, {clip.shape.grid[0]} x "
        f"{clip.shape.grid[1]} patches: {config.out / 'maps.png'}, .json, .csv"
    )


def parts_of(clip: Clip, picture: Image.Image, regions: Mapping[str, Box]) -> dict[str, list[int]]:
    """Columns of a map by part of the picture: CLS, the background, then each region; every column once.

    A patch belongs to the region that covers most of it, if that is half of it or more; a region that covers no patch
    so far has the one that it covers most. The regions take the towers' own way, so that resizing and cropping are
    those of the picture. ConfigError for a region that is cropped away.
    """
    black, white = (_seen(clip, Image.new("RGB", picture.size, colour)) for colour in ("black", "white"))
    shares = []
    for name, box in regions.items():
        mask = Image.new("RGB", picture.size, "black")
        ImageDraw.Draw(mask).rectangle((box[0], box[1], box[2] - 1, box[3] - 1), fill="white")
        share = ((_seen(clip, mask) - black) / (white - black)).clip(0, 1)
        rows, columns = clip.shape.grid
        high, wide = (side // count for side, count in zip(share.shape, clip.shape.grid, strict=True))
        # Towers whose patches do not fill the picture leave out what is over at its end.
        share = share[: rows * high, : columns * wide]
        blocks = share.reshape(rows, high, columns, wide).mean(axis=(1, 3)).ravel()
        if not blocks.max() > 0:
            raise ConfigError(f"--region {name}: nothing of it is in what the towers see")
        shares.append(blocks)
    stack = np.stack(shares)
    owner = np.where(stack.max(axis=0) >= HALF, stack.argmax(axis=0), -1)
    for number, blocks in enumerate(shares):
        if not (owner == number).any():
            owner[blocks.argmax()] = number
    found = {CLS: [0], BACKGROUND: [1 + int(i) for i in np.flatnonzero(owner == -1)]}
    found |= {name: [1 + int(i) for i in np.flatnonzero(owner == n)] for n, name in enumerate(regions)}
    return {name: members for name, members in found.items() if members}


@torch.inference_mode()
def _maps(
    clip: Clip, picture: Image.Image, captions: Sequence[str]
) -> tuple[list[NDArray[np.float32]], list[tuple[str, ...]]]:
    """By caption: the raw cosines of its rows up to its end token, and their names."""
    ids, eos, _ = clip.tokenize(captions)
    values = cosine_maps(clip.image_tokens(clip.preprocess(picture)[None]), clip.text_tokens(ids))[0].cpu().numpy()
    lengths = [int(end) + 1 for end in eos]
    return (
        [values[place, :length] for place, length in enumerate(lengths)],
        [named_tokens(clip, ids[place, :length]) for place, length in enumerate(lengths)],
    )


def _seen(clip: Clip, picture: Image.Image) -> NDArray[np.float64]:
    """(H, W): the first channel as the tower gets it."""
    return clip.preprocess(picture)[0].double().numpy()


def _region(text: str) -> tuple[str, Box]:
    name, equals, numbers = text.rpartition("=")
    try:
        x0, y0, x1, y1 = (int(number) for number in numbers.split(","))
    except ValueError:
        equals = ""
    if not equals or not name or not (0 <= x0 < x1 and 0 <= y0 < y1) or name in (CLS, BACKGROUND):
        raise ConfigError(f"--region {text}: expected NAME=x0,y0,x1,y1 in pixels, x0 < x1 and y0 < y1")
    return name, (x0, y0, x1, y1)


def _check(config: MapsConfig) -> None:
    if not config.captions or not all(caption.strip() for caption in config.captions):
        raise ConfigError("give the picture and at least one caption that is not empty")
    wrong = [number for number in config.true if not 1 <= number <= len(config.captions)]
    if wrong:
        raise ConfigError(f"--true {wrong[0]}: captions are numbered from 1 to {len(config.captions)}")


def _title(config: MapsConfig, place: int) -> str:
    word = "" if not config.true else ("true: " if place + 1 in config.true else "false: ")
    return f"{word}“{config.captions[place]}”"


def _colour(config: MapsConfig, place: int) -> str:
    return "black" if not config.true else (BLUE if place + 1 in config.true else VERMILION)


def _write(
    config: MapsConfig,
    clip: Clip,
    tokens: Sequence[Sequence[str]],
    values: Sequence[NDArray[np.float32]],
    parts: Mapping[str, Sequence[int]] | None,
) -> None:
    rows, columns = clip.shape.grid
    patches = [CLS, *(f"({row},{column})" for row in range(rows) for column in range(columns))]
    part_of = {column: name for name, members in (parts or {}).items() for column in members}
    with (config.out / "maps.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["caption", "row", "token", "patch", "part", "cosine"])
        for number, (names, cells) in enumerate(zip(tokens, values, strict=True), start=1):
            for row, name in enumerate(names):
                for column, patch in enumerate(patches):
                    part = part_of.get(column, "")
                    writer.writerow([number, row, name, patch, part, f"{cells[row, column]:.6f}"])
    said = {
        "image": str(config.image),
        "clip": clip.name,
        "grid": [rows, columns],
        "patches": patches,
        "parts": parts,
        "captions": [
            {
                "caption": caption,
                "true": place + 1 in config.true if config.true else None,
                "tokens": list(tokens[place]),
                "cosine": float(values[place][-1, 0]),
                "map": [[round(float(value), 6) for value in row] for row in values[place]],
            }
            for place, caption in enumerate(config.captions)
        ],
    }
    path: Path = config.out / "maps.json"
    path.write_text(json.dumps(said), "utf-8")
