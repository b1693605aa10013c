"""Frozen CLIP towers that keep all their tokens. The only module that imports open_clip.

Every token, image patch or text token, is taken after the tower's final LayerNorm, projected into the joint space and
L2-normalised (method 5.1). Row 0 of the image tokens is the tower's pooled embedding (CLS), and the text row at `eos`
is its pooled text embedding, so their dot product is CLIP's own cosine.

Shapes: B images, L texts, I image tokens (1 + patches), C tower context, T text tokens kept, D joint dimensions.
"""

import hashlib
import itertools
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from scorer.errors import ConfigError, TowerError, unknown

TINY = Path(__file__).parent / "tiny" / "model"
MERGES = "merges.txt.gz"
FORMAT = 1  # raise it when the meaning of a cached feature changes


@dataclass(frozen=True, slots=True)
class TowerShape:
    """What a scorer must know of the towers: I, T and D, and the patch grid (rows, columns)."""

    image_tokens: int
    text_tokens: int
    width: int
    grid: tuple[int, int]


class Clip:
    """One pair of frozen towers with its preprocess and tokenizer.

    text_tokens: rows kept of each text (30 in the paper). Towers that pool the last position or see the padding
    (SigLIP) keep their whole context instead, because there the padding is part of the embedding.
    """

    def __init__(
        self,
        model: nn.Module,
        preprocess: Callable[[Image.Image], Tensor],
        tokenizer: Callable[[list[str]], Tensor],
        name: str,
        text_tokens: int,
        device: torch.device,
    ) -> None:
        self.name = name
        self.device = device
        self.preprocess = preprocess
        self._model = model.to(device).eval().requires_grad_(False)
        self._tokenizer = tokenizer
        self._project_patches = _patch_projection(model.visual, name)
        self._text: Any = getattr(model, "text", model)
        self._pool: str = self._text.pool_type if hasattr(self._text, "pool_type") else self._text.text_pool_type
        _check_text_tower(model, self._pool, name)
        if text_tokens < 3:
            raise ConfigError(f"--text-tokens {text_tokens}: a text needs at least 3 rows (start, a word, end)")
        context = int(self._text.context_length)
        self.shape = TowerShape(
            image_tokens=1 + self._grid()[0] * self._grid()[1],
            text_tokens=min(text_tokens, context) if self._causal else context,
            width=self._width(),
            grid=self._grid(),
        )

    def cut_to(self, text_tokens: int) -> "Clip":
        """The same towers in the same memory, keeping so many rows of each text."""
        return Clip(self._model, self.preprocess, self._tokenizer, self.name, text_tokens, self.device)

    @property
    def logit_scale(self) -> float:
        """CLIP's own temperature, as a factor on cosines."""
        scale: Any = self._model.logit_scale
        return float(scale.exp())

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the weights, the preprocess and the feature format: features with equal ones are interchangeable."""
        state = hashlib.sha256(f"{FORMAT} {self.shape} {_preprocess_config(self._model)}".encode())
        for key, value in sorted(self._model.state_dict().items()):
            state.update(key.encode())
            state.update(value.cpu().reshape(-1).contiguous().view(torch.uint8).numpy().data)
        probe = self.encode_words("a Probe, of 2 tokenizers")
        state.update(json.dumps(probe).encode())
        return state.hexdigest()[:16]

    @torch.inference_mode()
    def image_tokens(self, images: Tensor) -> Tensor:
        """Preprocessed images (B, 3, H, W) -> unit tokens (B, I, D) in float32."""
        visual: Any = self._model.visual
        out = visual.forward_intermediates(
            images.to(self.device, non_blocking=True), indices=1, normalize_intermediates=True, output_fmt="NLC"
        )
        patches = self._project_patches(out["image_intermediates"][0])
        return nn.functional.normalize(torch.cat([out["image_features"][:, None], patches], dim=1).float(), dim=-1)

    @torch.inference_mode()
    def text_tokens(self, ids: Tensor) -> Tensor:
        """Token ids (L, T) from `tokenize` -> unit tokens (L, T, D) in float32."""
        full = ids.new_zeros(len(ids), int(self._text.context_length))
        full[:, : ids.shape[1]] = ids
        full = full.to(self.device)
        if self._text is self._model:
            out = self._model.forward_intermediates(text=full, text_indices=1, normalize_intermediates=True)
        else:
            out = self._text.forward_intermediates(full, indices=1, normalize_intermediates=True, output_fmt="NLC")
        tokens = out["text_intermediates"][0][:, : ids.shape[1]]
        projection = self._text.text_projection
        tokens = projection(tokens) if isinstance(projection, nn.Linear) else tokens @ projection
        return nn.functional.normalize(tokens.float(), dim=-1)

    def tokenize(self, texts: Sequence[str]) -> tuple[Tensor, Tensor, int]:
        """Texts -> ids (L, T), the row of each pooled embedding (L,), and how many texts were cut to fit.

        Causal towers are padded with the end token, as in the paper (B.1): what follows it cannot change it.
        """
        raw = self._tokenizer(list(texts))
        if not self._causal:
            return raw, torch.full((len(raw),), raw.shape[1] - 1), 0
        rows, end = self.shape.text_tokens, self._end(raw)
        ids = raw[:, :rows].clone()
        is_end = raw == end
        length = is_end.int().argmax(dim=1)
        cut = length >= rows
        ids[cut, -1] = end
        eos = length.clamp(max=rows - 1)
        ids[torch.arange(rows)[None, :] > eos[:, None]] = end
        # A text cut by the tokenizer itself ends exactly at the context's last position.
        return ids, eos, int((cut | (length == raw.shape[1] - 1)).sum())

    def encode_words(self, text: str) -> list[int]:
        """The ids of `text` alone, without start, end and padding."""
        ids: list[int] = self._tokenizer([text])[0].tolist()
        if not self._causal:
            empty: list[int] = self._tokenizer([""])[0].tolist()
            return [token for token in ids if token not in empty]
        return ids[1 : ids.index(self._end(torch.tensor(ids)))]

    def pieces(self, ids: Tensor) -> list[str]:
        """A readable name for each token id of one text, for figures."""
        tokenizer: Any = self._tokenizer
        if hasattr(tokenizer, "decoder"):
            return [tokenizer.decoder.get(int(i), "?").replace("</w>", "") for i in ids]
        return [tokenizer.tokenizer.decode([int(i)]) for i in ids]

    def _end(self, ids: Tensor) -> int:
        """The end token: named by the tower, or the highest id, as open_clip's "argmax" pooling has it."""
        eos: int | None = getattr(self._text, "text_eos_id", None) or getattr(self._text, "eos_id", None)
        return int(ids.max()) if self._pool == "argmax" or eos is None else eos

    @property
    def _causal(self) -> bool:
        return self._pool in ("argmax", "eos")

    def _grid(self) -> tuple[int, int]:
        visual: Any = self._model.visual
        grid = visual.grid_size if hasattr(visual, "grid_size") else visual.trunk.patch_embed.grid_size
        return int(grid[0]), int(grid[1])

    def _width(self) -> int:
        projection = self._text.text_projection
        return int(projection.out_features if isinstance(projection, nn.Linear) else projection.shape[1])


def load_clip(name: str, pretrained: str, text_tokens: int = 30, device: str = "auto") -> Clip:
    """Load towers by open_clip's names.

    name: an open_clip model ("ViT-B-16"), "tiny" (the bundled synthetic test encoder), or "local-dir:PATH".
    pretrained: an open_clip tag ("openai"), a weights file, or "random" for untrained towers (a control).
    Raises TowerError for unknown names, weights that cannot be had, and towers without tokens.
    """
    import open_clip

    target = f"local-dir:{TINY}" if name == "tiny" else name
    if name == "tiny" and not (TINY / "open_clip_config.json").exists():
        raise TowerError(f"the bundled tiny CLIP is missing in {TINY}; make it with: python -m scorer.tiny")
    folder = Path(target.removeprefix("local-dir:")) if target.startswith("local-dir:") else None
    if folder is not None and pretrained != "random" and not any(folder.glob("*.safetensors")):
        raise TowerError(
            f"--clip {name}: no .safetensors weights in {folder}; untrained towers need --pretrained random"
        )
    tag = None if pretrained == "random" or target.startswith(("local-dir:", "hf-hub:")) else pretrained
    if not target.startswith(("local-dir:", "hf-hub:")) and target not in open_clip.list_models():
        raise TowerError(f"--clip: {unknown('model', name, ['tiny', *open_clip.list_models()])}")
    tags = open_clip.list_pretrained_tags_by_model(target) if tag else []
    if tag and tag not in tags and not Path(tag).exists():
        raise TowerError(f"--pretrained: {unknown(f'weights of {name}', tag, [*tags, 'random'])}")
    # open_clip only warns when weights trained with QuickGELU meet a config without it; the features would be wrong.
    quick = bool(tag and open_clip.get_pretrained_cfg(target, tag).get("quick_gelu"))
    logging.getLogger().setLevel(max(logging.getLogger().level, logging.ERROR))
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # "random" must be the same towers in every process
            if folder is not None:
                model, tokenizer, preprocess = create_towers(folder, pretrained != "random")
            else:
                model, _, preprocess = open_clip.create_model_and_transforms(target, tag, force_quick_gelu=quick)
                tokenizer = open_clip.get_tokenizer(target)
    except Exception as error:  # open_clip, huggingface_hub and urllib raise a dozen unrelated classes here
        reason = " ".join(str(error).split())[:300]
        raise TowerError(f"--clip {name} --pretrained {pretrained}: cannot be loaded: {reason}") from error
    return Clip(model, preprocess, tokenizer, label(name, pretrained), text_tokens, pick_device(device))


def label(name: str, pretrained: str) -> str:
    """What to call the towers: local and hub models have no tag of weights beside their name."""
    own = (name == "tiny" or name.startswith(("local-dir:", "hf-hub:"))) and pretrained != "random"
    return name if own else f"{name}/{pretrained}"


def create_towers(
    folder: Path, trained: bool
) -> tuple[nn.Module, Callable[[list[str]], Tensor], Callable[[Image.Image], Tensor]]:
    """Model, tokenizer and preprocess of an open_clip local directory; a merges file there replaces the full one.

    trained: with the weights in the folder, else as torch's global generator has them.
    """
    import open_clip

    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}", load_weights=trained)
    merges = folder / MERGES
    if merges.exists():
        return model, open_clip.SimpleTokenizer(str(merges), context_length=model.context_length), preprocess
    return model, open_clip.get_tokenizer(f"local-dir:{folder}"), preprocess


def cut_merges(words: Sequence[str], most_frequent: int) -> str:
    """open_clip's byte-pair merges cut to the most frequent and those that `words` need; the text of a merges file.

    The words are encoded with the same pieces as by the full file: each step takes the first merge in the list that
    applies, the order is kept, and every merge that was taken is still there.
    """
    import gzip

    import open_clip
    from open_clip import tokenizer as full_module

    full = open_clip.SimpleTokenizer()
    lines = gzip.decompress(Path(full_module.default_bpe()).read_bytes()).decode("utf-8").split("\n")
    rank_of = {pair: rank for pair, rank in full.bpe_ranks.items() if len(pair) == 2}
    kept = set(range(most_frequent))
    for word in words:
        for piece in full.pat.findall(full.clean_fn(word)):
            symbols = [full.byte_encoder[byte] for byte in piece.encode()]
            symbols[-1] += "</w>"
            while len(symbols) > 1:
                ranks = [rank_of.get(pair, len(rank_of)) for pair in itertools.pairwise(symbols)]
                best = min(ranks)
                if best == len(rank_of):
                    break
                kept.add(best)
                at = ranks.index(best)
                symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    return "\n".join([lines[0], *(lines[1 + rank] for rank in sorted(kept))])


def pick_device(name: str) -> torch.device:
    """ "auto" is CUDA where there is one, else the CPU; other names are torch's. ConfigError where it is not usable."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"--device {name}: not usable here ({str(error).splitlines()[0]})") from error
    return device


def _patch_projection(visual: Any, name: str) -> Callable[[Tensor], Tensor]:
    """How this tower's patch tokens (B, P, width) reach the joint space (B, P, D)."""
    trunk = getattr(visual, "trunk", None)
    if trunk is not None and getattr(trunk, "attn_pool", None) is not None and hasattr(trunk, "patch_embed"):

        def attend_alone(tokens: Tensor) -> Tensor:
            # The pooling head maps a set of tokens to the joint space; a set of one token is that token's own place.
            flat = trunk.fc_norm(trunk.attn_pool(tokens.reshape(-1, 1, tokens.shape[-1])))
            projected: Tensor = visual.head(trunk.head(flat))
            return projected.reshape(*tokens.shape[:2], -1)

        return attend_alone
    if getattr(visual, "proj", None) is None or getattr(visual, "attn_pool", None) is not None or trunk is not None:
        raise TowerError(f"--clip {name}: its image tower has no projectable patch tokens; use a ViT of CLIP or SigLIP")
    return lambda tokens: tokens @ visual.proj


def _check_text_tower(model: Any, pool: str, name: str) -> None:
    text = getattr(model, "text", model)
    if pool not in ("argmax", "eos", "last") or getattr(text, "cls_emb", None) is not None:
        raise TowerError(f"--clip {name}: its text tower pools by {pool!r} and has no row of its own for that")
    if getattr(text, "text_projection", None) is None:
        raise TowerError(f"--clip {name}: its text tower has no projection into a joint space")


def _preprocess_config(model: Any) -> str:
    return json.dumps(getattr(model.visual, "preprocess_cfg", {}), sort_keys=True, default=str)
