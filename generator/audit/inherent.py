"""Shortcuts that belong to a protocol: the closed list. What is not here, or goes beyond its limit, is a fault of ours.

Each says why it cannot be helped in this kind of data, and what to use where it matters.
"""

from dataclasses import dataclass

from generator.audit.sampling import Group

CAPTIONS = (
    "caption_words", "caption_word_ngrams", "caption_characters", "caption_length", "single_word",
    "remembered_captions",
)  # fmt: skip


@dataclass(frozen=True)
class Inherent:
    """source "": any. up_to: the accuracy beyond which it is no longer what the protocol brings along.

    A shortcut is beyond it when its whole interval is: with few pairs an accuracy strays.
    """

    checks: tuple[str, ...]
    source: str
    task: str
    protocol: str
    up_to: float
    reason: str
    instead: str


INHERENT: tuple[Inherent, ...] = (
    Inherent(
        ("mentioned_nouns",),
        "",
        "negation",
        "",
        1.0,
        "in the paper's protocol the noun named first is in the image exactly when the caption is true, "
        "so that nothing of the negation has to be read",
        "render --negation shared, whose twins share a noun; there only the negation decides",
    ),
    Inherent(
        ("place_of_one",),
        "render",
        "spatial",
        "",
        0.90,
        "what is left of something cannot stand at the right edge: of two objects in one frame the place of one says "
        "something about the other",
        "pairs are moved and made small so that it says little; compare accuracies with this figure, not with 0.5",
    ),
    Inherent(
        ("place_of_one",),
        "coco",
        "spatial",
        "",
        1.0,
        "photographs are framed around what they show, and are not reframed",
        "render --task spatial, where pairs stand anywhere in the frame",
    ),
    Inherent(
        ("image_statistics_side", "background_side", "thumbnail_side", "file_size_side", "boxes"),
        "coco",
        "spatial",
        "",
        1.0,
        "image 1 is the edited one, and an edit can be seen",
        "--paste mask leaves less to see; never ask which image is the original",
    ),
    Inherent(
        ("nouns", "boxes", *CAPTIONS),
        "coco",
        "spatial",
        "",
        1.0,
        "image 0 is the photograph as taken, where a kite is above a person",
        "score both images of a pair (image_score, group_score), where the habit is as often wrong as right",
    ),
    Inherent(
        ("nouns", "nouns_by_role", *CAPTIONS),
        "coco",
        "attribute",
        "",
        1.0,
        "only true captions describe photographs, and things have usual colours and are named in a usual order",
        "report this figure beside the accuracy, or use render --task attribute, where colours are dealt out evenly",
    ),
    Inherent(
        ("nouns_by_role", *CAPTIONS),
        "coco",
        "swap_noun",
        "",
        1.0,
        "people wrote the true caption, and benches seldom sit on dogs: sense alone tells",
        "report this figure beside the accuracy, or use twins with two images",
    ),
)


def inherent(group: Group, check: str, low: float) -> Inherent | None:
    """The entry that a shortcut falls under, None where it is no part of its protocol; low: end of its interval."""
    for entry in INHERENT:
        if (
            check in entry.checks
            and entry.source in ("", group.source)
            and (entry.task, entry.protocol) == (group.task, group.protocol)
            and low <= entry.up_to
        ):
            return entry
    return None
