"""Shard writing against plain tar: `python tests/bench/bench_shards.py [--pairs N]`.

The same encoded pairs written by the shard writer (staged, digested, sealed, with parquet) and by Python's tarfile.
"""

import argparse
import io
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

from preview_run import record_of

from generator.records import dump
from generator.shards import ShardStage, encode_image

ROUNDS = 3


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=250)
    pairs = parser.parse_args().pairs
    noise = np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8)
    begin = time.perf_counter()
    files = {f"image_{side}.jpg": encode_image(noise, "jpg") for side in range(2)}
    encode_s = (time.perf_counter() - begin) * pairs
    records = [record_of(index) for index in range(pairs)]
    ours, plain = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            stage = ShardStage(Path(folder), "train", 0)
            for record in records:
                stage.accept(record, files)
            stage.seal({})
            ours.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            with tarfile.open(Path(folder, "plain.tar"), "w") as tar:
                for record in records:
                    for suffix, data in {**files, "json": dump(record)}.items():
                        info = tarfile.TarInfo(f"{record.key}.{suffix}")
                        info.size = len(data)
                        tar.addfile(info, io.BytesIO(data))
            plain.append(time.perf_counter() - begin)
    print(f"{pairs} pairs: plain tar {min(plain):.2f} s, shard {min(ours):.2f} s ({min(ours) / min(plain):.1f} x)")
    print(f"shard against encoding the same images as JPEG: {min(ours) / encode_s:.2f} x")


if __name__ == "__main__":
    main()
