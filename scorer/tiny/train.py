"""Stage two of the recipe: train the tiny CLIP, contrastively, then token by token.

Four stages: crops that fill half the grid, at random places of it (nouns do not emerge from whole pictures alone);
whole pictures of one thing; of one and two things; and a token-wise loss added (every word's best patch, as in FILIP),
without which a map of tokens against patches says nothing. Pairs that are true as bags of words are left out of the
negatives, and no caption is ever made false by swapping: what binds, the scorer on top has to learn.

Shapes: B pictures and captions, T text tokens, P patches, D joint dimensions.
"""

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from scorer.features import MERGES, create_towers, cut_merges
from scorer.seeding import seed_of
from scorer.tiny.scenes import Mix, Painter

SIZE_PX, PATCH_PX, CONTEXT, FREQUENT_MERGES = 96, 12, 32, 4000
MEAN, STD = 0.5, 0.27
CONFIG_FILE, WEIGHTS_FILE = "open_clip_config.json", "open_clip_model.safetensors"
LOG_EVERY, SAVE_EVERY = 50, 500


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of the training: what its pictures are like, how many of them, at what rate, and which losses.

    steps: length of the rate's descent; stop: how many of them are made.
    """

    name: str
    steps: int
    stop: int
    batch: int
    lr: float
    mix: Mix
    token_wise: bool


STAGES = (
    Stage("crops", 2400, 2400, 192, 1.0e-3, Mix(48, 0.0, 0.35, 0.0, (30, 50), 0.7), False),
    Stage("one thing", 700, 700, 128, 7e-4, Mix(96, 0.0, 0.5, 0.0, (26, 62), 0.3), False),
    Stage("two things", 1000, 500, 128, 5e-4, Mix(96, 0.6, 0.5, 0.3, (22, 50), 0.15), False),
    Stage("token-wise", 1500, 1500, 96, 4e-4, Mix(96, 0.6, 0.5, 0.3, (16, 46), 0.15, 0.7), True),
)


def write_folder(folder: Path, painter: Painter) -> None:
    """The open_clip local directory without weights: config and merges."""
    folder.mkdir(parents=True, exist_ok=True)
    import gzip

    text = cut_merges(painter.vocabulary(), FREQUENT_MERGES)
    (folder / MERGES).write_bytes(gzip.compress(text.encode(), mtime=0))
    config = {
        "model_cfg": {
            "embed_dim": 128,
            "vision_cfg": {"image_size": SIZE_PX, "layers": 4, "width": 128, "head_width": 64, "patch_size": PATCH_PX},
            "text_cfg": {
                "context_length": CONTEXT,
                "vocab_size": 512 + text.count("\n") + 2,
                "width": 128,
                "heads": 2,
                "layers": 2,
            },
        },
        "preprocess_cfg": {"mean": [MEAN] * 3, "std": [STD] * 3, "interpolation": "bicubic"},
    }
    (folder / CONFIG_FILE).write_text(json.dumps(config, indent=1) + "\n")


class Towers:
    """The model with gradients: all tokens of pictures that may cover a part of the grid, and of captions."""

    def __init__(self, folder: Path) -> None:
        model, self.tokenizer, _ = create_towers(folder, trained=False)
        self.model: Any = model

    def images(self, pixels: Tensor, corner: tuple[int, int]) -> tuple[Tensor, Tensor]:
        """(B, 3, H, W) whose top left patch is `corner` of the full grid -> CLS (B, D), patches (B, P, D), unit."""
        visual = self.model.visual
        grid = visual.grid_size[1]
        x = visual.conv1(pixels)
        rows, columns = x.shape[2:]
        places = visual.positional_embedding[1:].view(-1, grid, x.shape[1])
        places = places[corner[0] : corner[0] + rows, corner[1] : corner[1] + columns].reshape(rows * columns, -1)
        first = (visual.class_embedding + visual.positional_embedding[0]).expand(len(x), 1, -1)
        x = torch.cat([first, x.flatten(2).transpose(1, 2) + places], dim=1)
        x = visual.ln_post(visual.transformer(visual.ln_pre(x))) @ visual.proj
        x = normalize(x.float(), dim=-1)
        return x[:, 0], x[:, 1:]

    def texts(self, captions: list[str]) -> tuple[Tensor, Tensor, Tensor]:
        """Captions -> pooled (B, D), words (B, T, D), and which positions are words (B, T)."""
        ids = self.tokenizer(captions)
        end = ids.argmax(dim=-1)
        ids = ids[:, : int(end.max()) + 1]
        model, length = self.model, ids.shape[1]
        x = model.token_embedding(ids) + model.positional_embedding[:length]
        x = model.ln_final(model.transformer(x, attn_mask=model.attn_mask[:length, :length])) @ model.text_projection
        x = normalize(x.float(), dim=-1)
        place = torch.arange(length)
        words = (place > 0) & (place < end[:, None])
        return x[torch.arange(len(x)), end], x, words


def train(folder: Path, painter: Painter, seed: int, stages: tuple[Stage, ...] = STAGES) -> None:
    """Train and write the weights (fp16 safetensors) into the folder; goes on from folder/.training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(seed, "tiny weights"))
        towers = Towers(folder)
    towers.model.train()
    optimizer = torch.optim.AdamW(towers.model.parameters(), 1e-3, betas=(0.9, 0.98), weight_decay=0.02, fused=True)
    state = folder / ".training"  # not named safetensors: open_clip would take it for weights
    done = _restore(state, towers.model, optimizer) if state.exists() else 0
    first, begin = 0, time.monotonic()
    for number, stage in enumerate(stages):
        for step in range(max(0, done - first), stage.stop):
            rate = _rate(step, stage, stages[number + 1].lr if number + 1 < len(stages) else 0.0, number == 0)
            for group in optimizer.param_groups:
                group["lr"] = rate
            rng = np.random.Generator(np.random.PCG64(seed_of(seed, "tiny batch", stage.name, step)))
            values = _step(towers, optimizer, painter, stage, rng)
            if (step + 1) % LOG_EVERY == 0:
                shown = "  ".join(f"{name} {value:.3f}" for name, value in values.items())
                print(f"{stage.name} {step + 1}/{stage.stop} {time.monotonic() - begin:.0f} s  {shown}", flush=True)
            if (step + 1) % SAVE_EVERY == 0 or step + 1 == stage.stop:
                _save(state, towers.model, optimizer, first + step + 1)
        first += stage.stop
    half = {name: value.half().contiguous() for name, value in towers.model.state_dict().items()}
    save_file(half, str(folder / WEIGHTS_FILE))
    state.unlink()


def _rate(step: int, stage: Stage, after: float, warm: bool) -> float:
    """Cosine from the stage's rate to the next one's, with a short warm-up at the very start."""
    rise = min(1.0, (step + 1) / 100) if warm else 1.0
    return rise * (after + (stage.lr - after) * 0.5 * (1 + math.cos(math.pi * step / stage.steps)))


def _step(
    towers: Towers, optimizer: torch.optim.Optimizer, painter: Painter, stage: Stage, rng: np.random.Generator
) -> dict[str, float]:
    pictures, captions, shown, said = painter.batch(rng, stage.mix, stage.batch)
    pixels = (torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255 - MEAN) / STD
    free = SIZE_PX // PATCH_PX - stage.mix.crop_px // PATCH_PX
    corner = (int(rng.integers(free + 1)), int(rng.integers(free + 1)))
    excluded = maybe_true(torch.from_numpy(shown), torch.from_numpy(said))
    # The plain attention kernel beats the fused one in the backward pass on CPUs at this size.
    with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
        with torch.autocast("cpu", torch.bfloat16):
            image, patches = towers.images(pixels, corner)
            text, tokens, words = towers.texts(captions)
        scale = towers.model.logit_scale.exp()
        logits = scale * image @ text.t()
        loss = contrastive(logits, excluded)
        values = {"loss": float(loss.detach()), "top1": _top1(logits, excluded)}
        if stage.token_wise:
            fine = scale * token_wise(patches, tokens, words)
            extra = contrastive(fine, excluded)
            values |= {"token loss": float(extra.detach()), "token top1": _top1(fine, excluded)}
            loss = loss + extra
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(towers.model.parameters(), 1.0)
    optimizer.step()
    with torch.no_grad():
        towers.model.logit_scale.clamp_(max=math.log(100))
    return values


def maybe_true(shown: Tensor, said: Tensor) -> Tensor:
    """(B, B) bool: caption j, as a bag of words, is true of picture i without being its own; shown, said: (B, 2, 2)."""
    nouns = (said[None, :, :, None, 0] == shown[:, None, None, :, 0]).any(dim=3) | (said[None, :, :, 0] < 0)
    looks = (said[None, :, :, None, 1] == shown[:, None, None, :, 1]).any(dim=3) | (said[None, :, :, 1] < 0)
    return (nouns & looks).all(dim=2) & ~torch.eye(len(shown), dtype=torch.bool)


def token_wise(patches_BPD: Tensor, tokens_BTD: Tensor, words_BT: Tensor) -> Tensor:
    """(B, B): the mean over a caption's words of the cosine with the picture's best patch."""
    pictures, captions = len(patches_BPD), len(tokens_BTD)
    cosines = tokens_BTD.flatten(0, 1) @ patches_BPD.flatten(0, 1).t()
    best = cosines.view(captions, -1, pictures, patches_BPD.shape[1]).amax(dim=3)
    weights = words_BT.float() / words_BT.sum(dim=1, keepdim=True)
    return torch.einsum("ctb,ct->bc", best, weights)


def contrastive(logits: Tensor, excluded: Tensor) -> Tensor:
    """Symmetric cross-entropy against the diagonal without the excluded pairs."""
    kept, own = logits.masked_fill(excluded, float("-inf")), torch.arange(len(logits))
    return (cross_entropy(kept, own) + cross_entropy(kept.t(), own)) / 2


def _top1(logits: Tensor, excluded: Tensor) -> float:
    kept = logits.detach().masked_fill(excluded, float("-inf"))
    return float((kept.argmax(dim=1) == torch.arange(len(kept))).float().mean())


def _named(optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, Tensor]]:
    for number, values in optimizer.state_dict()["state"].items():
        for name, value in values.items():
            yield f"optimizer.{number}.{name}", value


def _save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, done: int) -> None:
    tensors = {f"model.{name}": value.contiguous() for name, value in model.state_dict().items()}
    temporary = path.with_name(f"{path.name}.part")
    save_file({**tensors, **dict(_named(optimizer)), "done": torch.tensor(done)}, str(temporary))
    temporary.replace(path)


def _restore(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    tensors = load_file(str(path))
    model.load_state_dict({k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")})
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, number, key = name.split(".")
            state.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return int(tensors["done"])
