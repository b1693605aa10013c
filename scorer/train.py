"""Training (method 5.1, B.1, B.3): frozen towers, cached features, one small network over the maps.

A step takes one batch of each family, scores its images against both caption versions, averages the symmetric
cross-entropies and makes one Adam step.
"""

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from generator.records import dump
from scorer import checkpoint, parallel
from scorer.augment import AugmentedImages
from scorer.bank import Bank
from scorer.batches import Block, epoch_plan, make_block, steps_of_epoch
from scorer.checkpoint import Meta
from scorer.configs import TrainConfig
from scorer.errors import CheckpointError, ConfigError, TrainingError
from scorer.features import Clip, load_clip
from scorer.functional import Lexicon, load_lexicon, row_table
from scorer.losses import symmetric_cross_entropy, twin_accuracy
from scorer.models import Scorer, TextTokens, build_model
from scorer.predict import caption_accuracy, score_pairs
from scorer.report import alike_text, captions_text
from scorer.runlog import RunLog
from scorer.seeding import generator, seed_of
from scorer.splits import read_words, training_banks

SAVE_EVERY_S = 300.0
# May differ between a run and its continuation: they change where and how long it runs, not what it computes. The pairs
# themselves, wherever they lie, are compared by fingerprint.
FREE_TO_CHANGE = ("data", "out", "epochs", "patience", "device", "cache", "log_every", "control_epochs", "llm")


def train(config: TrainConfig) -> Path:
    """Train, or go on training, what `config` describes; the path of the best checkpoint.

    Raises a UserError for unusable data, towers or output directories, and when the loss is not a number.
    """
    _check(config)
    group = parallel.start()
    clip = load_clip(config.clip.clip, config.clip.pretrained, config.model.text_tokens, group.device(config.device))
    lexicon = load_lexicon()
    if config.words is not None:
        lexicon = lexicon.extended(read_words(config.words))
    banks = training_banks(config, clip, lexicon, group)
    config.out.mkdir(parents=True, exist_ok=True)
    best = Trainer(config, clip, lexicon, *banks, group).fit(config.out / checkpoint.LAST, config.epochs)
    if config.control_epochs:
        if group.is_first:
            print(f"training the control on shuffled labels for {config.control_epochs} epochs", flush=True)
        control = Trainer(config, clip, lexicon, *banks, group, shuffled=True)
        control.fit(config.out / checkpoint.CONTROL, config.control_epochs)
    parallel.stop(group)
    return best


class Trainer:
    """One training run. shuffled: captions trade sides at random in half of the pairs, the control."""

    def __init__(
        self,
        config: TrainConfig,
        clip: Clip,
        lexicon: Lexicon,
        bank: Bank,
        val: Bank,
        group: parallel.Group,
        shuffled: bool = False,
    ) -> None:
        self.config, self.bank, self.val, self.group, self.shuffled = config, bank, val, group, shuffled
        self.device = clip.device
        table = row_table(lexicon, clip.shape.image_tokens, config.model.rows, config.model.row_std, config.seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of(config.seed, "weights", config.model.model))
            self.scorer: Scorer = build_model(config.model, clip.shape, table, clip.logit_scale).to(self.device)
        trainable = [value for value in self.scorer.parameters() if value.requires_grad]
        # AdamW without decay is Adam; fused does one pass over the memory.
        self.optimizer = (
            torch.optim.AdamW(trainable, config.lr, weight_decay=config.weight_decay, fused=True) if trainable else None
        )
        self.amp = _bf16(config.precision, self.device)
        self.families = bank.families()
        nouns = {item.noun for pair in bank.pairs for item in pair.objects_0 + pair.objects_1}
        self.meta = Meta(
            format=checkpoint.FORMAT,
            clip=config.clip.clip,
            pretrained=config.clip.pretrained,
            clip_fingerprint=clip.fingerprint,
            logit_scale=clip.logit_scale,
            shape=clip.shape,
            model=config.model,
            lexicon=lexicon,
            seed=config.seed,
            config=config_text(config),
            data_fingerprint=_data_fingerprint(bank, val),
            seen_nouns=tuple(sorted(nouns)),
            epoch=0,
            step=0,
            best_epoch=-1,
            best_accuracy=0.0,
            sums=(),
        )
        self.steps = steps_of_epoch(self.families, config.batch_size * group.size, config.epoch_length)

    def fit(self, last: Path, epochs: int) -> Path:
        """Train until `epochs`, keeping `last` up to date; the path of the best checkpoint (`last` for a control)."""
        self._resume(last)
        best = last if self.shuffled else last.with_name(checkpoint.BEST)
        epochs = epochs if self.optimizer is not None else 0
        quiet = not self.group.is_first or self.shuffled
        log = RunLog(last.parent, epochs * self.steps, self._done(), quiet)
        log.say(self._summary())
        if not self._done():
            log.log("data", 0, 0, {f"pairs/{name}": float(len(members)) for name, members in self.families.items()})
        while self.meta.epoch < epochs and not self._out_of_patience():
            self._epoch(last, epochs, log)
            accuracies = self._validate()
            mean = sum(accuracies.values()) / len(accuracies)
            better = mean > self.meta.best_accuracy or self.meta.best_epoch < 0
            if better:
                self.meta = replace(self.meta, best_epoch=self.meta.epoch, best_accuracy=mean)
            self.meta = replace(self.meta, epoch=self.meta.epoch + 1, step=0, sums=())
            log.log("val", self.meta.epoch, self._done(), {f"accuracy/{k}": v for k, v in accuracies.items()})
            log.say(
                f"epoch {self.meta.epoch}/{epochs} validation accuracy {mean:.3f}"
                + "".join(f"  {name} {value:.3f}" for name, value in accuracies.items())
                + ("  (best so far)" if better else "")
            )
            if self.group.is_first:
                if better and not self.shuffled:
                    checkpoint.save(best, self.scorer, self.meta)
                checkpoint.save(last, self.scorer, self.meta, self.optimizer)
        if self.group.is_first and not best.exists():
            checkpoint.save(best, self.scorer, self.meta)
        log.close(last.parent)
        return best

    def _epoch(self, last: Path, epochs: int, log: RunLog) -> None:
        epoch, saved = self.meta.epoch, time.monotonic()
        sums = {name: torch.tensor(value, device=self.device, dtype=torch.float64) for name, value in self.meta.sums}
        batch = self.config.batch_size * self.group.size
        plan = epoch_plan(self.families, batch, self.config.epoch_length, self.config.seed, epoch)
        self.scorer.train()
        for step in range(self.meta.step, self.steps):
            for name, value in self._step(epoch, step, plan[step]).items():
                sums[name] = sums.get(name, torch.zeros((), device=self.device, dtype=torch.float64)) + value
            done = epoch * self.steps + step + 1
            if (step + 1) % self.config.log_every == 0 or step + 1 == self.steps:
                values = self._means(sums)
                log.log("train", epoch, done, values)
                log.show(epoch, epochs, done, values)
                _require_finite(values, done)
            self.meta = replace(self.meta, step=step + 1)
            if self.group.is_first and step + 1 < self.steps and time.monotonic() - saved > SAVE_EVERY_S:
                _require_finite(self._means(sums), done)
                self.meta = replace(self.meta, sums=tuple((name, float(value)) for name, value in sums.items()))
                checkpoint.save(last, self.scorer, self.meta, self.optimizer)
                saved = time.monotonic()

    def _step(self, epoch: int, step: int, plan: dict[str, list[int]]) -> dict[str, Tensor]:
        """One Adam step; losses and accuracies by family, weighted by pairs, and the pair counts."""
        assert self.optimizer is not None
        if self.config.model.dropout:
            torch.manual_seed(seed_of(self.config.seed, "dropout", epoch, step, self.group.rank))
        if isinstance(self.bank.images, AugmentedImages):
            self.bank.images.seek(epoch, step)
        self.optimizer.zero_grad(set_to_none=True)
        out: dict[str, Tensor] = {}
        for name, members in plan.items():
            mine = self.group.share(members)
            if not mine:
                continue
            loss, accuracy = self._family(mine)
            (loss * (len(mine) / len(members) / len(plan))).backward()  # type: ignore[no-untyped-call]
            count = torch.tensor(float(len(mine)), device=self.device)
            out |= {f"loss/{name}": loss.detach() * count, f"accuracy/{name}": accuracy * count, f"pairs/{name}": count}
        self.group.sum_gradients(self.scorer)
        self.optimizer.step()
        return out

    def _family(self, pairs: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Loss and 2-way accuracy of one family's batch, both caption versions at once."""
        swapped = None
        if self.shuffled:
            flips = [generator(self.config.seed, "shuffled", number) for number in pairs]
            swapped = [bool(torch.randint(2, (1,), generator=flip)) for flip in flips]
        block = make_block(self.bank, pairs, swapped)
        scores = self._score(block)
        own, twin, image, blocked = (
            part.to(self.device, non_blocking=True)
            for part in (block.own_text, block.twin_text, block.own_image, block.maybe_true)
        )
        losses = [symmetric_cross_entropy(scores[v], own, image, blocked[v]) for v in (0, 1)]
        accuracies = [twin_accuracy(scores[v].detach(), own, twin) for v in (0, 1)]
        return (losses[0] + losses[1]) / 2, (accuracies[0] + accuracies[1]) / 2

    def _score(self, block: Block) -> tuple[Tensor, Tensor]:
        images = self.bank.image_tokens(block.image_rows)
        texts: TextTokens = self.bank.text_tokens(block.text_rows.flatten())
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.amp):
            both = self.scorer(images, texts)
        half = block.text_rows.shape[1]
        return both[:, :half], both[:, half:]

    def _validate(self) -> dict[str, float]:
        accuracy = caption_accuracy(score_pairs(self.scorer, self.val))
        return {name: float(accuracy[members].mean()) for name, members in self.val.families().items()}

    def _means(self, sums: dict[str, Tensor]) -> dict[str, float]:
        counts = {name.removeprefix("pairs/"): float(v) for name, v in sums.items() if name.startswith("pairs/")}
        return {
            name: float(value) / counts[name.partition("/")[2]]
            for name, value in sums.items()
            if not name.startswith("pairs/")
        }

    def _resume(self, last: Path) -> None:
        if not last.exists():
            return
        meta, tensors = checkpoint.read(last)
        fresh = replace(meta, epoch=0, step=0, best_epoch=-1, best_accuracy=0.0, sums=(), config=self.meta.config)
        difference = _difference(meta.config, self.meta.config)
        if difference or fresh != self.meta:
            what = difference or "the data, the towers or the functional words"
            raise CheckpointError(f"{last.parent}: holds another run (differs in {what}); choose another --out")
        checkpoint.restore(self.scorer, tensors, last)
        if self.optimizer is not None:
            checkpoint.restore_optimizer(self.optimizer, tensors)
        self.meta = replace(meta, config=self.meta.config)

    def _done(self) -> int:
        return self.meta.epoch * self.steps + self.meta.step

    def _out_of_patience(self) -> bool:
        patience = self.config.patience
        return bool(patience) and self.meta.epoch - 1 - self.meta.best_epoch >= patience

    def _summary(self) -> str:
        sizes = ", ".join(f"{name} {len(members)}" for name, members in self.families.items())
        parameters = sum(value.numel() for value in self.scorer.parameters())
        text = f"training pairs: {sizes}; validation pairs: {len(self.val.pairs)}"
        text += " (the training pairs themselves: none is held out)" if self.val is self.bank else ""
        text += f"; {parameters / 1e6:.2f} M parameters"
        bad = sum(self.bank.tally.bad.values()) + sum(self.val.tally.bad.values())
        text += f"; {bad} unusable pairs left out ({'; '.join(self.bank.tally.examples)})" if bad else ""
        text += (
            f"; {captions_text(self.bank.cut_texts)} cut to {self.meta.shape.text_tokens} tokens"
            if self.bank.cut_texts
            else ""
        )
        alike = alike_text(self.bank.alike, {name: len(members) for name, members in self.families.items()})
        text += f"; {alike}" if alike else ""
        return text + (f"; resumed at step {self._done()}" if self._done() else "")


def _require_finite(values: dict[str, float], step: int) -> None:
    if not all(math.isfinite(value) for value in values.values()):
        raise TrainingError(f"the loss is not a number at step {step}; try a lower --lr, or --precision fp32")


def config_text(config: TrainConfig) -> str:
    """The config as JSON, as the checkpoint records it."""
    return json.dumps(asdict(config), default=str, sort_keys=True)


def _difference(old: str, new: str) -> str:
    """The first option that makes two recorded configs different runs, "" when there is none."""
    before, after = (_options(json.loads(text)) for text in (old, new))
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            return f"--{name.replace('_', '-')}: {before.get(name)} there, {after.get(name)} now"
    return ""


def _options(config: dict[str, Any]) -> dict[str, Any]:
    """The options that must agree, by the names of the command line."""
    flat = {name: value for name, value in config.items() if name not in (*FREE_TO_CHANGE, "clip", "model")}
    return {**flat, **config["clip"], **config["model"]}


def _data_fingerprint(*banks: Bank) -> str:
    state = hashlib.sha256()
    for bank in banks:
        state.update(f"{len(bank.pairs)}:".encode())
        for pair in bank.pairs:
            state.update(dump(pair))
    return state.hexdigest()[:16]


def _check(config: TrainConfig) -> None:
    for name, bad in (
        ("epochs", config.epochs < 0),
        ("batch_size", config.batch_size < 1),
        ("lr", not config.lr > 0),
        ("val_fraction", not 0 <= config.val_fraction < 1),
        ("patience", config.patience < 0),
        ("log_every", config.log_every < 1),
        ("max_pairs", config.max_pairs < 0),
        ("control_epochs", config.control_epochs < 0),
    ):
        if bad:
            raise ConfigError(f"--{name.replace('_', '-')} {getattr(config, name)}: out of range")


def _bf16(precision: str, device: torch.device) -> bool:
    """Whether to compute in bf16: asked for, or "auto" on a device with instructions for it."""
    if precision != "auto":
        return precision == "bf16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    # Absent from older torch, which then computes in fp32.
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16"))
