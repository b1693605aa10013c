"""What a run tells: progress on the terminal, metrics.jsonl, TensorBoard events, and a plot at the end."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

METRICS, CURVES = "metrics.jsonl", "curves.png"


class RunLog:
    """The log of one run directory. Entries at or after the step where a run resumes are dropped and written anew."""

    def __init__(self, folder: Path, total_steps: int, resume_step: int, quiet: bool = False) -> None:
        self._path, self._quiet = folder / METRICS, quiet
        self._start, self._first_step, self._total = time.monotonic(), resume_step, total_steps
        self._entries: list[dict[str, Any]] = []
        if self._path.exists() and resume_step:
            entries = [json.loads(line) for line in self._path.read_text("utf-8").splitlines()]
            self._entries = [entry for entry in entries if entry["step"] <= resume_step]
        if quiet:
            return
        from torch.utils.tensorboard import SummaryWriter

        self._path.write_text("".join(json.dumps(entry) + "\n" for entry in self._entries), "utf-8")
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=resume_step + 1)

    def log(self, kind: str, epoch: int, step: int, values: Mapping[str, float]) -> None:
        """Record values: kind is "train" (by steps), "val" (by epochs) or "data" (once); names like "loss/spatial"."""
        if self._quiet:
            return
        entry = {
            "kind": kind,
            "epoch": epoch,
            "step": step,
            **{name: round(value, 6) for name, value in values.items()},
        }
        self._entries.append(entry)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        for name, value in values.items():
            self._writer.add_scalar(f"{kind}/{name}", value, step)

    def show(self, epoch: int, epochs: int, step: int, values: Mapping[str, float]) -> None:
        """One line of progress: where it is, how fast, how long still, and the values."""
        if self._quiet:
            return
        elapsed, done = time.monotonic() - self._start, step - self._first_step
        rate = done / elapsed if elapsed > 0 else 0.0
        left = (self._total - step) / rate if rate > 0 else 0.0
        text = f"epoch {epoch + 1}/{epochs} step {step}/{self._total} {rate:.2f} steps/s, {left / 60:.1f} min left"
        text += "".join(f"  {name} {value:.3f}" for name, value in values.items())
        # On a terminal the line renews itself; in a file every line is kept.
        print(f"\r\x1b[K{text}" if sys.stdout.isatty() else text, end="" if sys.stdout.isatty() else "\n", flush=True)

    def say(self, text: str) -> None:
        """A line that stays."""
        if not self._quiet:
            print(f"\r\x1b[K{text}" if sys.stdout.isatty() else text, flush=True)

    def close(self, folder: Path) -> None:
        """Draw the curves and close the event file."""
        if self._quiet:
            return
        self._writer.close()
        plot_curves(self._entries, folder / CURVES)


def plot_curves(entries: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Losses and accuracies by family over the steps, one panel each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for panel, prefix, title in ((panels[0], "loss/", "training loss"), (panels[1], "accuracy/", "2-way accuracy")):
        for kind, style in (("train", "-"), ("val", "o--")):
            names = sorted({name for e in entries if e["kind"] == kind for name in e if name.startswith(prefix)})
            for number, name in enumerate(names):
                points = [(e["step"], e[name]) for e in entries if e["kind"] == kind and name in e]
                label = f"{name.removeprefix(prefix)} ({kind})"
                panel.plot(
                    *zip(*points, strict=True),
                    style,
                    color=f"C{number}",
                    label=label,
                    markersize=4,
                    alpha=0.6 if kind == "train" else 1.0,
                    linewidth=1.2,
                )
        panel.set(title=title, xlabel="step")
        panel.grid(alpha=0.3)
        if panel.lines:
            panel.legend(fontsize=7)
    panels[1].set_ylim(0.0, 1.02)
    panels[1].axhline(0.5, color="0.5", linewidth=0.8, linestyle=":")
    figure.savefig(path, dpi=130)
