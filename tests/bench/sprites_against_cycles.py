"""Does a scorer trained on sprites know as much? `python tests/bench/sprites_against_cycles.py --out DIR [--n N]`.

Trains the scorer on the bundled tiny CLIP on pairs of either engine, the same number with the same flags, with three
seeds each, and judges all on pairs that Cycles rendered from a seed of their own. Goal: at most 3 points between them.
Renders 2 x 3 runs of N pairs to train on and 3 to judge by, the sprite bank besides; running it again goes on where it
stopped.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOAL_POINTS = 3.0
SEEDS = (0, 1, 2)
TRAIN_SEED, TEST_SEED = 1, 2
RUNS: dict[str, tuple[str, ...]] = {
    "spatial": ("--task", "spatial"),
    "attribute": ("--task", "attribute"),
    "negation": ("--task", "negation"),
}
METRIC = "caption_accuracy"


def run(*words: str) -> None:
    """One command of the project; its last lines where it fails."""
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr[-2000:]}")


def rendered(out: Path, engine: str, seed: int, n: int, size: int, split: str) -> list[str]:
    """Directories of the runs of an engine."""
    folders = []
    for name, flags in RUNS.items():
        folder = out / f"{engine}-{seed}" / name
        run("generator", "render", *flags, "--engine", engine, "--seed", str(seed), "--n", str(n), "--size", str(size),
            "--split", split, "--out", str(folder))  # fmt: skip
        print(f"{folder} is there", flush=True)
        folders.append(str(folder))
    return folders


def accuracy(out: Path, train: list[str], test: list[str], seed: int, epochs: int) -> dict[str, float]:
    """Train with one seed; accuracy on the test pairs, of all and by task."""
    common = ("--clip", "tiny", "--text-tokens", "20", "--epochs", str(epochs), "--seed", str(seed))
    run("scorer", "train", *train, *common, "--out", str(out))
    run("scorer", "eval", str(out), *test, "--split", "test")
    report = json.loads((out / "eval" / "report.json").read_text(encoding="utf-8"))
    return {group["name"]: 100 * group["metrics"][METRIC]["value"] for group in report["groups"]}


def main() -> None:
    """Print accuracies by engine and seed, their means, and the difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--n-test", type=int, default=200)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--epochs", type=int, default=12)
    arguments = parser.parse_args()
    out, size = arguments.out.resolve(), arguments.size
    # Whole runs, so that no asset or place is left out of either side.
    test = rendered(out, "cycles", TEST_SEED, arguments.n_test, size, "test=1")
    means: dict[str, dict[str, float]] = {}
    for engine in ("cycles", "sprites"):
        train = rendered(out, engine, TRAIN_SEED, arguments.n, size, "train=0.95,val=0.05")
        found = [accuracy(out / f"scorer-{engine}-{seed}", train, test, seed, arguments.epochs) for seed in SEEDS]
        means[engine] = {name: statistics.mean(item[name] for item in found) for name in found[0]}
        for name in found[0]:
            shown = ", ".join(f"{item[name]:.1f}" for item in found)
            print(f"trained on {engine}, {name}: {means[engine][name]:.1f} ({shown})", flush=True)
    for name, value in means["cycles"].items():
        print(f"{name}: sprites {means['sprites'][name] - value:+.1f} points (goal within {GOAL_POINTS:g})")


if __name__ == "__main__":
    main()
