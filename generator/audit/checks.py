"""All checks, by name: what each asks, and the function that answers it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from generator.audit import agreement, balance, captions, context, copies, leaks, looks, mentions
from generator.audit.figures import (
    ALPHA,
    TELLING,
    Finding,
    Result,
    Verdict,
    holm,
    telling_accuracy,
)
from generator.audit.inherent import inherent
from generator.audit.sampling import Found, Group, Holdings

TRUE = "which captions are true of image 0?"
WHICH = "which of the twins is image 0?"
VALUE = "which of the two facts holds in an image?"
VALUE_0 = "which of the two facts holds in image 0?"


@dataclass(frozen=True)
class Check:
    """question: what a model sees, and what it is asked. run(group, seed): None where that does not apply."""

    question: str
    run: Callable[[Group, int], Finding | None]


def _views() -> dict[str, Check]:
    seen = {
        "image_statistics": "From an image's brightness, colour and sharpness",
        "encoding": "From an image file's format, quantisation tables and metadata",
        "file_size": "From an image file's size",
        "background": "From an image outside the objects' boxes",
        "thumbnail": "From an image of 8 x 8 pixels",
    }
    found: dict[str, Check] = {}
    for name, what in seen.items():
        found[f"{name}_side"] = Check(f"{what}: {WHICH}", partial(looks.side, view=looks.VIEWS[name]))
        found[f"{name}_fact"] = Check(f"{what}: {VALUE}", partial(looks.fact, view=looks.VIEWS[name]))
    return found


# Of every group of pairs.
CHECKS: dict[str, Check] = {
    "caption_words": Check(f"From the words of captions: {TRUE}", captions.words),
    "caption_word_ngrams": Check(f"From up to three words of captions in a row: {TRUE}", captions.word_ngrams),
    "caption_characters": Check(f"From up to five characters of captions in a row: {TRUE}", captions.characters),
    "caption_length": Check(f"From the lengths of captions: {TRUE}", captions.length),
    "single_word": Check(f"From one word of captions: {TRUE}", captions.single_word),
    "remembered_captions": Check(f"From captions remembered from training: {TRUE}", leaks.remembered_captions),
    "mentioned_nouns": Check("From nouns being in an image: which captions are true of it?", mentions.mentioned_nouns),
    **_views(),
    "boxes": Check(f"From the boxes of both objects: {WHICH}", context.boxes),
    "place_of_one": Check(f"From the place of object A alone: {VALUE}", context.place_of_one),
    "setting": Check(f"From stage and background: {VALUE_0}", context.setting),
    "light": Check(f"From light and camera: {VALUE_0}", context.light),
    "nouns": Check(f"From the two nouns: {VALUE_0}", context.nouns),
    "assets": Check(f"From the two models: {VALUE_0}", context.assets),
    "file_order": Check(f"From the place in the run: {VALUE_0}", context.file_order),
    "values_by_side": Check("Is every value as often true of image 0 as of image 1?", balance.values_by_side),
    "nouns_by_role": Check("Is every noun as often A as B?", balance.nouns_by_role),
    "values_by_stage": Check("Do values go with stages?", balance.values_by_stage),
    "twins_differ": Check("Do the two images of every pair differ?", copies.within_pairs),
    "labels": Check("Do captions, boxes, relations and sizes agree with the masks?", agreement.labels),
    "colours": Check("Do named colours agree with the pixels?", agreement.colours),
}
# Of everything together.
SPLIT_CHECKS: dict[str, tuple[str, Callable[[Holdings], Finding | None]]] = {
    "split_photos": ("Is any photograph in two splits?", leaks.photos),
    "split_assets": ("Is any asset in two splits?", leaks.assets),
    "split_nouns": ("Is any noun in two splits?", leaks.nouns),
    "split_backgrounds": ("Is any background in two splits?", leaks.backgrounds),
}
EVERYTHING = "all pairs"


def run_checks(found: Found, seed: int) -> list[Result]:
    """Every check that applies, with its verdict: p values are corrected for their number over the whole audit."""
    asked: list[tuple[Group | None, str, str, Finding]] = []
    for group in found.groups:
        for name, check in CHECKS.items():
            finding = check.run(group, seed)
            if finding is not None:
                asked.append((group, name, check.question, finding))
    copied = copies.across_pairs(found.groups)
    asked.append((None, "near_duplicates", "Does any image show the same as one of another pair?", copied))
    for name, (question, answer) in SPLIT_CHECKS.items():
        finding = answer(found.holdings)
        if finding is not None:
            asked.append((None, name, question, finding))
    tested = [finding.p for *_, finding in asked if finding.p is not None]
    adjusted = iter(holm(tested))
    return [
        _result(group, name, question, finding, next(adjusted) if finding.p is not None else None, len(tested))
        for group, name, question, finding in asked
    ]


def _result(
    group: Group | None, name: str, question: str, finding: Finding, adjusted: float | None, tests: int
) -> Result:
    verdict: Verdict = "ok"
    reason = ""
    if adjusted is None:
        verdict = "fault" if finding.wrong else "ok"
    elif adjusted < ALPHA:
        assert group is not None, "what is asked of everything is a plain yes or no"
        entry = inherent(group, name, finding.low)
        verdict = "inherent" if entry else "shortcut"
        reason = f"{entry.reason}. Instead: {entry.instead}" if entry else ""
    elif (least := telling_accuracy(finding.pairs, tests)) > TELLING:
        verdict = "too few"
        reason = f"over {finding.pairs} pairs nothing below {min(least, 1.0):.2f} would stand out"
    return Result(group.name if group else EVERYTHING, name, question, finding, verdict, reason)
