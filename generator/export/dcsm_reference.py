"""The folders and file names that the paper's public training code reads its labels from."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from generator.export.folder import json_items, picture, put, text_of
from generator.export.source import NO_SECOND_IMAGE, Format, Part
from generator.records import PairRecord, Sample

SPATIAL = "objaverse_train_composite_newrelations_withbg"
COLOURS = "objaverse_attributes_overlay_withbg"
SIZES = "objaverse_smallbig_withbg"
NEGATION = "negated_pairs_cocotrain_v1.json"
NEGATION_IMAGES = "negated_pairs"
RELATIONS = {"above": "above", "below": "below", "left of": "leftof", "right of": "rightof"}
READING = """Give `{split}/` to the training as `--data_path`. It makes its captions from the file names, and it
needs all three families (spatial, attribute, negation), cut to the smallest: export runs of all three together.

- `objaverse_train_composite_newrelations_withbg/{A}_{relation}_{B}.jpg` with its twin `CUTMIX_...`. A name says no
  more than that, so pairs of the same words differ in capital letters, which CLIP's tokenizer does not see;
- `objaverse_attributes_overlay_withbg/{colour}_{A}_{colour}_{B}_{number}.jpg` with its twin `MIRROR_...`, and
  `objaverse_smallbig_withbg/` for sizes;
- `negated_pairs_cocotrain_v1.json`, whose images are in `negated_pairs/`.
"""


def write(part: Part) -> Iterator[PairRecord]:
    """{split}/ with the three folders and the JSON. Its captions all say "a {noun}", whatever the noun."""
    base = part.folder / part.split
    for name in (SPATIAL, COLOURS, SIZES, NEGATION_IMAGES):
        (base / name).mkdir(parents=True)
    used: Counter[str] = Counter()
    with json_items(base / NEGATION) as negation:
        for number, sample in part.samples:
            record = sample.record
            if not record.has_image_1:
                reason = NO_SECOND_IMAGE
            elif record.task == "spatial":
                reason = _spatial(base, sample, used)
            elif record.task == "attribute":
                reason = _attribute(base, sample, number)
            elif record.task == "negation":
                negation(text_of(_negation(base, sample, number)))
                reason = ""
            else:
                reason = f"it has no place for {record.task}"
            if reason:
                part.left_out[reason] += 1
            else:
                yield record


def _spatial(base: Path, sample: Sample, used: Counter[str]) -> str:
    record = sample.record
    if record.fact.value_0 not in RELATIONS:
        return f"it has no relation {record.fact.value_0!r}"
    a, b = _nouns(sample)
    relation = RELATIONS[record.fact.value_0]
    nth = used[f"{a}_{relation}_{b}"]
    used[f"{a}_{relation}_{b}"] += 1
    cased = _in_capitals(f"{a}_{b}", nth)
    if cased is None:
        return "more pairs of the same words than its names can tell apart"
    a, b = cased.split("_")
    data, suffix = picture(sample, 0, ("jpg", "png"))
    path = base / SPATIAL / f"{a}_{relation}_{b}.{suffix}"
    if path.exists():  # A file system that does not tell capitals from small letters.
        return "file names here do not differ by capitals"
    path.write_bytes(data)
    put(path.parent, f"CUTMIX_{path.name}", _twin(sample, suffix))
    return ""


def _attribute(base: Path, sample: Sample, number: int) -> str:
    record = sample.record
    values = {item.role: item.colour or item.size for item in record.objects_0}
    if record.fact.kind not in ("colour", "size"):
        return f"it has no attribute {record.fact.kind}"
    a, b = _nouns(sample)
    data, suffix = picture(sample, 0, ("jpg", "png"))
    name = f"{values['A']}_{a}_{values['B']}_{b}_{number:09d}.{suffix}"
    # It looks in the other folder for every name with "small" in it, whatever the word is part of.
    folder = base / (SIZES if "small" in name else COLOURS)
    put(folder, name, data)
    put(folder, f"MIRROR_{name}", _twin(sample, suffix))
    return ""


def _negation(base: Path, sample: Sample, number: int) -> dict[str, object]:
    """Its captions: "A1 not B1" and "A2 not B2" of image 0, the other way round of image 1.

    Where the twins share a noun, only the nouns that they do not share can be said so.
    """
    record = sample.record
    sides = [[item.noun for item in objects] for objects in (record.objects_0, record.objects_1)]
    own = [[noun for noun in sides[side] if noun not in sides[1 - side]] for side in range(2)]
    paths = []
    for side in range(2):
        data, suffix = picture(sample, side, ("jpg", "png"))
        paths.append(put(base, f"{NEGATION_IMAGES}/{number:09d}_{side}.{suffix}", data))
    return {
        "img1_path": paths[0],
        "img2_path": paths[1],
        "img1_obj": [own[0][0], own[0][-1]],
        "img2_obj": [own[1][0], own[1][-1]],
    }


def _nouns(sample: Sample) -> tuple[str, str]:
    by_role = {item.role: item.noun.replace("_", " ") for item in sample.record.objects_0}
    return by_role["A"], by_role["B"]


def _twin(sample: Sample, suffix: str) -> bytes:
    """The second image: the twin's name is fixed by the first one's, suffix and all."""
    return picture(sample, 1, ("jpg",) if suffix == "jpg" else ("png",))[0]


def _in_capitals(text: str, nth: int) -> str | None:
    """The text with the letters of the nth subset in capitals, None where it has no so many letters."""
    letters = [place for place, letter in enumerate(text) if letter.upper() != letter and len(letter.upper()) == 1]
    if nth >> len(letters):
        return None
    chosen = {place for rank, place in enumerate(letters) if nth >> rank & 1}
    return "".join(letter.upper() if place in chosen else letter for place, letter in enumerate(text))


FORMAT = Format(write, READING)
