"""The evaluation report as Markdown."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scorer.metrics import CHANCE, Figure

if TYPE_CHECKING:
    from scorer.evaluate import Report

_EXPLAINED = """\
caption_accuracy is the paper's 2-way choice (an image prefers its own caption to its twin's), over both images and both
caption versions. text_score: both images of a pair choose right; image_score: both captions choose the right image;
group_score: both hold. Only a strictly higher score counts as a choice. Intervals are 95 % bootstrap intervals over
pairs. CLIP cosine is the plain cosine of the same towers on the same pairs, of whole captions and in single precision.
"""

_CONTROLS = """\
blind scorer: this scorer with the average image in every image's place; on image_0 alone this is what it answers from
the text. Over both images a blind scorer is right half of the time by construction. Probes: ridge regression on the
pooled embeddings of these pairs, cross-validated; above .5 means that captions, or images, give their side away by
themselves. trained on shuffled labels: the same scorer, trained with captions traded at random; it may stay a little
above .5 on attributes, where other items of the batch still teach binding. The negation probe asks for "A1 but not B1"
against "A1 but not A2" on an image of A1 and A2: to look for the first noun does not help there.
"""


def report_text(report: "Report") -> str:
    """The whole report."""
    model = report.model
    alike = alike_text(report.alike, {group.name.removeprefix("task: "): group.pairs for group in report.groups})
    lines = [
        f"# Evaluation of {report.run}",
        "",
        f"{model.model} on {report.clip} after epoch {report.epoch}; functional rows: {model.rows}, placed by "
        f"{model.placement}; z-score per {model.z_score}. "
        f"{'All pairs' if report.split == 'all' else f'Split {report.split}'}: {report.pairs} pairs, "
        f"{report.without_image_1} of them without a second image; {report.unusable} unusable pairs left out; "
        f"{captions_text(report.cut_texts)} cut to the map's rows{f'; {alike}' if alike else ''}.",
        "",
        "## Results",
        "",
        "| pairs of | n | " + " | ".join(CHANCE) + " | CLIP cosine: caption_accuracy |",
        "|---|--:|" + "---|" * (len(CHANCE) + 1),
    ]
    for group in report.groups:
        cells = [cell(group.metrics[name]) for name in CHANCE] + [cell(group.cosine["caption_accuracy"])]
        lines.append(f"| {group.name} | {group.pairs} | " + " | ".join(cells) + " |")
    lines.append("| chance | | " + " | ".join(f"{value:.3f}" for value in CHANCE.values()) + " | 0.500 |")
    lines += ["", _EXPLAINED, "## Controls", "", "| control | n | value (chance 0.500) |", "|---|--:|---|"]
    lines += [f"| {name} | {item.count} | {cell(item)} |" for name, item in report.controls.items()]
    if "trained on shuffled labels" not in report.controls:
        lines.append("| trained on shuffled labels | 0 | not trained; train with --control-epochs |")
    return "\n".join([*lines, "", _CONTROLS])


def captions_text(count: int) -> str:
    """So many captions, in words that agree."""
    return f"{count} caption{'' if count == 1 else 's'}"


def alike_text(alike: Mapping[str, int], sizes: Mapping[str, int]) -> str:
    """Pairs whose twins read the same, of how many of each task; "" when there is none."""
    found = ", ".join(f"{count} of {sizes[name]} {name} pairs" for name, count in sorted(alike.items()))
    return f"a caption reads the same as its twin in {found}" if found else ""


def cell(item: Figure) -> str:
    """A figure with its interval."""
    return f"{item.value:.3f} [{item.low:.3f}, {item.high:.3f}]" if item.count else "n/a"
