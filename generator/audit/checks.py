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

TRUE_CAPTION = "captions alone, which are true of image 0?"
WHICH = "which of the twins is image 0?"
VALUE = "which of the two facts holds, in either image?"
VALUE_0 = "which of the two facts holds in image 0?"


@dataclass(frozen=True)
class Check:
    """question: what a model sees, and what it is asked. run(group, seed): None where it does not apply."""

    question: str
    run: Callable[[Group, int], Finding | None]


def _views() -> dict[str, Check]:
    seen = {
        "image_statistics": "brightness, colour and sharpness of an image",
        "encoding": "an image file's format, quantisation tables and metadata",
        "file_size": "an image file's size",
        "background": "an image outside the objects' boxes",
        "thumbnail": "an image of 8 x 8 pixels",
    }
    found: dict[str, Check] = {}
    for name, what in seen.items():
        found[f"{name}_side"] = Check(f"{what}: {WHICH}", partial(looks.side, view=looks.VIEWS[name]))
        found[f"{name}_fact"] = Check(f"{what}: {VALUE}", partial(looks.fact, view=looks.VIEWS[name]))
    return found


# Of every group of pairs.
CHECKS: dict[str, Check] = {
    "caption_words": Check(f"the words of {TRUE_CAPTION}", captions.words),
    "caption_word_ngrams": Check(f"up to three words in a row of {TRUE_CAPTION}", captions.word_ngrams),
    "caption_characters": Check(f"up to five characters in a row of {TRUE_CAPTION}", captions.characters),
    "caption_length": Check(f"the lengths of {TRUE_CAPTION}", captions.length),
    "single_word": Check(f"one word of {TRUE_CAPTION}", captions.single_word),
    "remembered_captions": Check("captions remembered from training: which are true?", leaks.remembered_captions),
    "mentioned_nouns": Check(
        "which nouns are in the image, and nothing else read: which caption?", mentions.mentioned_nouns
    ),
    **_views(),
    "boxes": Check(f"boxes of both objects: {WHICH}", context.boxes),
    "place_of_one": Check(f"the place of object A alone: {VALUE}", context.place_of_one),
    "setting": Check(f"stage and background: {VALUE_0}", context.setting),
    "light": Check(f"light and camera: {VALUE_0}", context.light),
    "nouns": Check(f"the two nouns: {VALUE_0}", context.nouns),
    "assets": Check(f"the two models: {VALUE_0}", context.assets),
    "file_order": Check(f"the place in the run: {VALUE_0}", context.file_order),
    "values_by_side": Check("is every value as often true of image 0 as of image 1?", balance.values_by_side),
    "nouns_by_role": Check("is every noun as often A as B?", balance.nouns_by_role),
    "values_by_stage": Check("do values go with stages?", balance.values_by_stage),
    "twins_differ": Check("do the two images of every pair differ?", lambda group, _: copies.within_pairs(group)),
    "labels": Check(
        "do captions, boxes, relations and sizes agree with the masks?", lambda group, _: agreement.labels(group)
    ),
    "colours": Check("do named colours agree with the pixels?", lambda group, _: agreement.colours(group)),
}
# Of everything together.
SPLIT_CHECKS: dict[str, tuple[str, Callable[[Holdings], Finding | None]]] = {
    "split_photos": ("is any photograph in two splits?", leaks.photos),
    "split_assets": ("is any asset in two splits?", leaks.assets),
    "split_nouns": ("is any noun in two splits?", leaks.nouns),
    "split_backgrounds": ("is any background in two splits?", leaks.backgrounds),
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
    asked.append((None, "near_duplicates", "does any image show the same as one of another pair?", copied))
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
        entry = inherent(group, name, finding.figure)
        verdict = "inherent" if entry else "shortcut"
        reason = f"{entry.reason}. Instead: {entry.instead}" if entry else ""
    elif (least := telling_accuracy(finding.pairs, tests)) > TELLING:
        verdict = "too few"
        reason = f"over {finding.pairs} pairs nothing below {min(least, 1.0):.2f} would stand out"
    return Result(group.name if group else EVERYTHING, name, question, finding, verdict, reason)
