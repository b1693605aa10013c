"""ARO's order tests: a caption of COCO or Flickr30k against four shuffled ones.

The authors publish no shuffled captions: their code makes them anew each time. Here they are made by the same four
rules from a seed of their own, with spaCy's words throughout (the authors take NLTK's for the two rules on trigrams). A
file of rows that somebody has made with the authors' code is read as it is.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scorer.benchmarks.base import Benchmark, Example, Loaded, Part, Picture, Source, read_json
from scorer.benchmarks.kinds import Choice
from scorer.benchmarks.places import COCO_VAL2014
from scorer.errors import DataError
from scorer.seeding import seed_of

ARO = "https://github.com/mertyg/vision-language-models-are-bows"
KARPATHY = "https://storage.googleapis.com/sfr-vision-language-research/datasets"
COCO = Source(
    "COCO captions, Karpathy's test split",
    f"{KARPATHY}/coco_karpathy_test.json, or rows made with {ARO}",
    "CC BY 4.0 (COCO's captions)",
    ("aro/coco_karpathy_test.json", "coco/coco_karpathy_test.json", "aro/coco_order.json"),
)
FLICKR = Source(
    "Flickr30k captions, Karpathy's test split",
    f"{KARPATHY}/flickr30k_test.json, or rows made with {ARO}",
    "unknown",
    ("aro/flickr30k_test.json", "flickr30k/flickr30k_test.json", "aro/flickr30k_order.json"),
)
FLICKR_IMAGES = Source(
    "Flickr30k",
    "https://forms.illinois.edu/sec/229675",
    "non-commercial research; Flickr terms of each photograph",
    ("flickr30k/flickr30k-images", "flickr30k-images"),
)

WORDS = 30  # a caption is cut after so many
NOUNS = {"NN", "NNS", "NNP", "NNPS"}
ADJECTIVES = {"JJ", "JJR", "JJS"}

Tagged = Sequence[tuple[str, str]]  # words with their tags
Rule = Callable[[Tagged, np.random.Generator], list[str]]


def nouns_and_adjectives(words: Tagged, rng: np.random.Generator) -> list[str]:
    """Nouns trade places with nouns, adjectives with adjectives."""
    return _traded(_traded([word for word, _ in words], words, NOUNS, rng), words, ADJECTIVES, rng)


def all_but_nouns_and_adjectives(words: Tagged, rng: np.random.Generator) -> list[str]:
    """All other words trade places."""
    return _traded([word for word, _ in words], words, {tag for _, tag in words} - NOUNS - ADJECTIVES, rng)


def within_trigrams(words: Tagged, rng: np.random.Generator) -> list[str]:
    """Every three words in a row are shuffled."""
    return [trigram[place] for trigram in _trigrams(words) for place in rng.permutation(len(trigram))]


def trigrams(words: Tagged, rng: np.random.Generator) -> list[str]:
    """Threes of words trade places."""
    parts = _trigrams(words)
    return [word for place in rng.permutation(len(parts)) for word in parts[place]]


RULES: dict[str, Rule] = {
    "shuffle_nouns_and_adj": nouns_and_adjectives,
    "shuffle_allbut_nouns_and_adj": all_but_nouns_and_adjectives,
    "shuffle_within_trigrams": within_trigrams,
    "shuffle_trigrams": trigrams,
}


def load(root: Path, part: Part) -> Loaded:
    """Rows {image, caption: [...]} to be shuffled, or {image, caption_options: [true, false, ...]} as they are.

    A shuffle that leaves a caption as it was is no false caption and left out. Raises DependencyError without spaCy.
    """
    path = part.annotations.under(root)
    rows, folder = read_json(path), part.images.under(root)
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of rows")
    prepared = bool(rows) and isinstance(rows[0], dict) and "caption_options" in rows[0]
    field = "caption_options" if prepared else "caption"
    found: list[tuple[str, str, list[str]]] = []  # key, image, true caption and shuffled ones
    for number, row in enumerate(rows):
        image, texts = _row(row, field, f"{path}: row {number}")
        found += (
            [(str(number), image, texts)] if prepared else [(f"{number}.{i}", image, [t]) for i, t in enumerate(texts)]
        )
    if not prepared:
        shuffled = _shuffled([texts[0] for _, _, texts in found], part.name)
        found = [(key, image, [*texts, *more]) for (key, image, texts), more in zip(found, shuffled, strict=True)]
    examples, same = [], 0
    for key, image, texts in found:
        true, *false = (normal(text) for text in texts)
        changed = [text for text in false if text != true]
        same += len(false) - len(changed)
        if changed:
            examples.append(Example(key, (Picture(folder / Path(image).name),), (true, *changed)))
    excluded = {"no shuffle changes the caption": len(found) - len(examples)} if len(examples) < len(found) else {}
    notes = (
        f"{same} shuffled captions equal the true one and are left out (the official code takes such ties as right)",
    ) * bool(same)
    return Loaded(examples, excluded=excluded, notes=notes)


def normal(caption: str) -> str:
    """A caption as ARO reads it: lower case, no punctuation but commas and dashes, at most 30 words."""
    text = re.sub(r"[.!\"()*#:;~]", " ", caption.lower())
    return " ".join(re.sub(r"\s{2,}", " ", text).strip().split(" ")[:WORDS])


def _row(row: Any, field: str, where: str) -> tuple[str, list[str]]:
    image, texts = (row.get("image"), row.get(field)) if isinstance(row, dict) else (None, None)
    if not isinstance(image, str) or not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: expected an image and a list of texts under {field}")
    if len(texts) < (2 if field == "caption_options" else 1):
        raise DataError(f"{where}: too few texts under {field}")
    return image, texts


def _shuffled(captions: Sequence[str], name: str) -> Iterator[list[str]]:
    """The four shuffled captions of each. They depend on the caption's own place and the part's name alone."""
    from scorer.openvocab.rules import load_english  # heavy

    tagger = load_english(("parser", "lemmatizer", "ner"))
    for place, doc in enumerate(tagger.pipe(captions)):
        words = [(token.text, token.tag_) for token in doc]
        yield [" ".join(rule(words, _rng(name, place, title))) for title, rule in RULES.items()]


def _rng(*path: str | int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed_of(0, "aro order", *path)))


def _traded(texts: list[str], words: Tagged, tags: set[str], rng: np.random.Generator) -> list[str]:
    places = [place for place, (_, tag) in enumerate(words) if tag in tags]
    out = list(texts)
    for place, other in zip(places, rng.permutation(len(places)), strict=True):
        out[place] = texts[places[other]]
    return out


def _trigrams(words: Tagged) -> list[list[str]]:
    return [[word for word, _ in words[start : start + 3]] for start in range(0, len(words), 3)]


BENCHMARK = Benchmark(
    name="aro_order",
    title="ARO: COCO-Order, Flickr30k-Order",
    paper="Yuksekgonul et al., ICLR 2023",
    protocol=(
        "argmax over the caption and its four shuffles, true one first (Precision@1); lower case, no punctuation, 30 "
        "words; shuffles made here by the authors' four rules unless the file holds caption_options"
    ),
    parts=(
        Part("coco_order", Choice("argmax", name="precision@1"), COCO, COCO_VAL2014),
        Part("flickr30k_order", Choice("argmax", name="precision@1"), FLICKR, FLICKR_IMAGES),
    ),
    load=load,
)
