"""audit.html: one file with everything in it; no server, no network, and, but for the theme, no program."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

from generator.audit.figures import CHANCE, Finding, Result, Table
from generator.audit.sampling import Found

MEANING = {
    "shortcut": "telling more than they should",
    "fault": "plainly wrong",
    "inherent": "telling, as the protocol has it",
    "too few": "too few pairs to tell",
    "ok": "at chance, or as it should be",
}


def page(title: str, found: Found, results: Sequence[Result], summary: str) -> str:
    """The page as text."""
    folder = resources.files("generator.audit")
    # The colours, faces and tags are the gallery's.
    shared = resources.files("generator.preview").joinpath("page.css").read_text(encoding="utf-8")
    style = shared + folder.joinpath("page.css").read_text(encoding="utf-8")
    body = "\n".join(_body(found, results))
    parts = {"TITLE": escape(title), "SUMMARY": escape(summary), "STYLE": style, "BODY": body}
    pieces = folder.joinpath("page.html").read_text(encoding="utf-8").split("{{")
    text = pieces[0]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        text += parts[name] + rest
    return text


def _body(found: Found, results: Sequence[Result]) -> Iterator[str]:
    yield from _verdicts(results)
    sizes = {group.name: len(group.pairs) for group in found.groups}
    for number, group in enumerate(dict.fromkeys(result.group for result in results)):
        pairs = f" <small>{sizes[group]:,} pairs</small>" if group in sizes else ""
        yield f'<section aria-labelledby="group-{number}"><h2 id="group-{number}">{escape(group)}{pairs}</h2>'
        yield '<ul class="checks">'
        yield from (_row(result) for result in results if result.group == group)
        yield "</ul></section>"


def _verdicts(results: Sequence[Result]) -> Iterator[str]:
    """How many there are of each verdict, and links to those that want reading."""
    yield '<section aria-labelledby="verdicts"><h2 id="verdicts">Verdicts</h2><dl class="verdicts">'
    for verdict, meaning in MEANING.items():
        own = [result for result in results if result.verdict == verdict]
        links = ", ".join(f'<a href="#{_anchor(result)}">{escape(_short(result))}</a>' for result in own)
        what = f"{len(own)} {escape(meaning)}" + (f": {links}" if own and verdict != "ok" else "")
        yield f"<dt>{_tag(verdict)}</dt><dd>{what}</dd>"
    yield "</dl></section>"


def _row(result: Result) -> str:
    finding = result.finding
    tested = finding.p is not None
    notes = "".join(f"<p>{escape(text)}</p>" for text in (finding.detail, result.reason) if text)
    table = _table(finding.table) if finding.table else ""
    chance = f"<p>{finding.pairs:,} pairs; chance alone gives as much with p = {finding.p:.2g}</p>" if tested else ""
    opened = "" if result.verdict == "ok" else " open"
    more = f"<details{opened}><summary>{escape(result.check)}</summary>{notes}{chance}{table}</details>"
    asked = f'<div class="asked"><h3>{escape(result.question)}</h3>{more}</div>'
    return f'<li id="{_anchor(result)}">{_tag(result.verdict)}{asked}{_scale(finding)}</li>'


def _scale(finding: Finding) -> str:
    """The figure, and for accuracies its place between never and always right."""
    label = f"{finding.figure:.3f}, 95 % interval {finding.low:.3f} to {finding.high:.3f}"
    if finding.p is None:
        return f'<div class="figure"><b>{finding.figure:.1%}</b></div>'
    bar = (
        f'<i class="chance" style="left:{CHANCE:.0%}"></i>'
        f'<i class="interval" style="left:{finding.low:.1%};width:{finding.high - finding.low:.1%}"></i>'
        f'<i class="dot" style="left:{finding.figure:.1%}"></i>'
    )
    scale = f'<span class="scale" role="img" aria-label="{label}">{bar}</span>'
    return f'<div class="figure">{scale}<b>{finding.figure:.3f}</b></div>'


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _tag(verdict: str) -> str:
    return f'<span class="verdict {verdict.replace(" ", "-")}">{verdict}</span>'


def _short(result: Result) -> str:
    return f"{result.group}: {result.check}"


def _anchor(result: Result) -> str:
    kept = "".join(letter if letter.isalnum() else "-" for letter in f"{result.group}-{result.check}")
    return escape(kept)
