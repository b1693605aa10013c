"""Ratios of the scorer, each measured within one run: `python tests/bench/bench_scorer.py [--device cuda]`.

- a training step from cached features against one that runs the towers and places rows in a Python loop, as the
  published code does (ViT-B/16 size, batch 8, untrained weights: speed does not depend on them);
- the loader (read, check, decode, preprocess) against reading the same tars alone;
- token features against the image tower's own forward;
- on CUDA also 27 epochs over 20,000 cached pairs.
"""

import argparse
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scorer"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import scorer_shapes

from scorer.bank import build_bank
from scorer.configs import ClipConfig, ModelConfig, TrainConfig
from scorer.data import decode
from scorer.features import Clip, load_clip
from scorer.functional import Marker, load_lexicon
from scorer.models import ImageTokens, TextTokens
from scorer.parallel import start
from scorer.splits import show_progress, training_banks
from scorer.train import Trainer


def seconds(work: Callable[[], object], device: torch.device, repeats: int = 3) -> float:
    """Best of some repeats after a warm-up: what the machine can do, not what else it did."""
    work()
    best = float("inf")
    for _ in range(repeats):
        if device.type == "cuda":
            torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    return best


def published_step(clip: Clip, trainer: Trainer) -> Callable[[], None]:
    """One family's step as the published code makes it: towers each time, rows in a loop, fp32, plain Adam."""
    scorer, table = trainer.scorer, trainer.scorer.table
    optimizer = torch.optim.Adam([p for p in scorer.parameters() if p.requires_grad], fused=False)
    images = torch.randn(16, 3, 224, 224, device=clip.device)
    captions = [
        f"A picture of a {a} above a {b}" for a in ("dog", "cat", "cup", "car") for b in ("box", "bed", "bus", "hat")
    ]
    marker = Marker(load_lexicon(), clip, "word-index")
    labels = torch.arange(16, device=clip.device)

    def step() -> None:
        ids, eos, _ = clip.tokenize(captions)
        tokens = ImageTokens(clip.image_tokens(images).clone())
        texts = TextTokens(clip.text_tokens(ids).clone(), eos.to(clip.device), marker.mark(captions, ids, eos))
        maps = torch.einsum("bid,ltd->blti", tokens.tokens, texts.tokens)
        for image in range(16):
            for text in range(16):
                for row, name in enumerate(texts.marks[text].tolist()):
                    if name >= 0:
                        maps[image, text, row] = table[name]
        maps = (maps - maps.mean()) / maps.std()
        scores = scorer.score_maps(maps.flatten(0, 1)).view(16, 16)  # type: ignore[operator]
        loss = torch.nn.functional.cross_entropy(scores, labels) + torch.nn.functional.cross_entropy(scores.t(), labels)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def cached_step(trainer: Trainer) -> Callable[[], None]:
    """The same amount of work as this project does it: one family, one caption version's share of a step."""
    assert trainer.optimizer is not None
    optimizer = trainer.optimizer

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss, _ = trainer._family(list(range(8)))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def write_data(root: Path, pairs: int) -> None:
    """Pairs at 224 px, as the generator writes them."""
    scorer_shapes.write_run(root, {"spatial": pairs})
    import io

    rewritten = []
    for i in range(pairs):
        record, first, second = scorer_shapes.make_pair("spatial", i)
        sides = []
        for data in (first, second):
            out = io.BytesIO()
            decode(data, "").resize((224, 224), Image.Resampling.BICUBIC).save(out, "JPEG", quality=95)
            sides.append(out.getvalue())
        rewritten.append((record, *sides))
    scorer_shapes.write_shard(root / "train" / "00000.tar", rewritten)


def read_tar(path: Path) -> int:
    with tarfile.open(path) as tar:
        return sum(len(tar.extractfile(member).read()) for member in tar)  # type: ignore[union-attr]


def load(path: Path, clip: Clip, cache: Path) -> None:
    """Read, check, decode and preprocess, as training with augmentation starts; the towers see cached texts alone."""
    build_bank([path], clip, Marker(load_lexicon(), clip), cache, lambda *_: None, augment_seed=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_data(root / "data", 64)
        config = TrainConfig(
            (root / "data",),
            root / "run",
            ClipConfig("ViT-B-16", "random"),
            ModelConfig(),
            max_pairs=8,
            val_fraction=0.0,
            device=options.device,
            cache=root / "cache",
        )
        clip = load_clip("ViT-B-16", "random", device=options.device)
        trainer = Trainer(config, clip, load_lexicon(), *training_banks(config, clip, load_lexicon(), start()), start())
        device = clip.device
        # The step here holds both caption versions, the published one holds one.
        ours = seconds(cached_step(trainer), device) / 2
        theirs = seconds(published_step(clip, trainer), device, repeats=1)
        print(
            f"training step: published way {theirs * 1e3:.0f} ms, cached {ours * 1e3:.0f} ms: {theirs / ours:.1f} times"
        )
        shard = root / "data" / "train" / "00000.tar"
        bare, full = (
            seconds(lambda: read_tar(shard), device),
            seconds(lambda: load(shard, clip, root / "cache"), device),
        )
        print(f"loader: {128 / full:.0f} images/s, reading the tar alone {128 / bare:.0f}: {bare / full:.2f} of it")
        batch = torch.randn(8 if device.type == "cpu" else 256, 3, 224, 224, device=device)
        with torch.inference_mode():
            tower = seconds(lambda: clip._model.encode_image(batch), device)  # type: ignore[operator]
        tokens = seconds(lambda: clip.image_tokens(batch), device)
        print(f"token features: {len(batch) / tokens:.1f} images/s, {tower / tokens:.0%} of the tower's own forward")
        if device.type == "cuda":
            epochs(root, clip, config)


def epochs(root: Path, clip: Clip, config: TrainConfig) -> None:
    """Time of 27 epochs over 20,000 pairs, from a measured part: the same pairs again and again, three families."""
    marker = Marker(load_lexicon(), clip)
    scorer_shapes.write_run(root / "more", {"attribute": 64, "negation": 64, "spatial": 64})
    bank = build_bank([root / "more" / "train" / "00000.tar"], clip, marker, root / "cache", show_progress)
    trainer = Trainer(config, clip, load_lexicon(), bank, bank, start())
    plan = {name: members[:8] for name, members in bank.families().items()}
    step = seconds(lambda: trainer._step(0, 0, plan), clip.device, repeats=20)
    steps = 27 * 20_000 / 24
    print(f"27 epochs over 20,000 pairs: {steps * step:.0f} s ({step * 1e3:.2f} ms a step of three families)")


if __name__ == "__main__":
    main()
