"""The sprite engine in steady state against a bare loop: `python tests/bench/bench_sprites.py [--pairs N] [--small]`.

Sprites are the whole command: planning, compositing with masks, verification, encoding, shards, two workers, the bank
filled before. Steady state is what a run of twice the pairs takes longer. The bare loop, also in two processes, only
decodes a background (a JPEG of the run), pastes two sprites with alpha onto it and encodes the picture as the shards
have it. Both alternate, so that a noisy machine disturbs both. --small: a bank of few assets, views and plates, for a
first look.
"""

import argparse
import io
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
GOAL_PER_S = 300.0
NOUNS = ("apple", "banana", "bell", "car", "chair", "clock", "dog", "guitar", "mug", "rocket", "sofa", "teapot")


def command_seconds(flags: list[str], pairs: int, out: Path) -> float:
    """Seconds of the whole command."""
    command = [sys.executable, "-m", "generator", "render", "--task", "spatial", "--engine", "sprites", *flags]
    command += [
        "--n",
        str(pairs),
        "--out",
        str(out),
        "--workers",
        "2",
        "--split",
        "train=1",
        "--shard-size",
        "250",
        "--masks",
    ]
    begin = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return time.perf_counter() - begin


def rendered(out: Path) -> int:
    """Images that a run rendered, rejected attempts included."""
    from generator.shards import read_rows

    return 2 * sum(row.attempts for path in out.glob("*/*.parquet") for row in read_rows(path))


def bare(images: int, background: bytes) -> None:
    """Decode, paste two, encode, so many times."""
    from generator.shards import encode_image

    with Image.open(io.BytesIO(background)) as opened:
        size = opened.width
    rng = np.random.default_rng(0)
    cut = Image.fromarray(rng.integers(0, 255, (size // 3, size // 3, 4), np.uint8), "RGBA")
    for number in range(images):
        picture = Image.open(io.BytesIO(background)).convert("RGB")
        for place in (number % (size // 2), (number * 7) % (size // 2)):
            picture.paste(cut, (place, place), cut)
        encode_image(np.asarray(picture), "jpg")


def bare_per_s(images: int, run: Path) -> float:
    """Images a second of two processes, upon a picture of the run."""
    from generator.records import find_shards, read_shard

    background = next(read_shard(find_shards([run])[0])).image(0)
    assert background is not None
    workers = [multiprocessing.Process(target=bare, args=(images // 2, background)) for _ in range(2)]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return images / (time.perf_counter() - begin)


def some_assets(folder: Path) -> Path:
    """A folder of a dozen models of the library."""
    for noun in NOUNS:
        (folder / noun).mkdir(parents=True)
        (folder / noun / f"{noun}.glb").symlink_to(ROOT / "generator" / "assets" / "library" / f"{noun}.glb")
    return folder


def main() -> None:
    """Print images a second of both and their ratio, by round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    pairs, size = arguments.pairs, arguments.size
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = ["--size", str(size)]
        if arguments.small:
            flags += ["--assets", str(some_assets(folder / "assets")), "--views", "6", "--plates", "40"]
        first = command_seconds(flags, 2 * pairs, folder / "fill")
        print(f"first run of {2 * pairs} pairs, bank included: {first:.0f} s", flush=True)
        rates, shares = [], []
        for number in range(arguments.rounds):
            short, long = folder / f"short-{number}", folder / f"long-{number}"
            seconds = -command_seconds(flags, pairs, short) + command_seconds(flags, 2 * pairs, long)
            rate, loop = (rendered(long) - rendered(short)) / seconds, bare_per_s(2 * pairs, long)
            rates.append(rate)
            shares.append(rate / loop)
            print(f"round {number}: sprites {rate:.0f}, bare loop {loop:.0f} images/s: {rate / loop:.2f}", flush=True)
    print(
        f"sprites / bare loop: {statistics.median(shares):.2f}; {statistics.median(rates):.0f} images/s "
        f"(goal {GOAL_PER_S:.0f} on two free cores), {size} px"
    )


if __name__ == "__main__":
    main()
