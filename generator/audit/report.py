"""What an audit came to: lines for the terminal, audit.json for programs, audit.html for people."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from generator import __version__
from generator.audit.figures import ALPHA, Result
from generator.audit.page import page
from generator.audit.sampling import Found
from generator.cli import Audit
from generator.shards import replacing, write_json


def lines(found: Found, results: Sequence[Result]) -> Iterator[str]:
    """One line for each check, more where it is not ok, and a sum at the end."""
    sizes = {group.name: f" ({len(group.pairs)} pairs)" for group in found.groups}
    wide = max(len(result.check) for result in results)
    for group in dict.fromkeys(result.group for result in results):
        yield f"{group}{sizes.get(group, '')}"
        for result in results:
            if result.group != group:
                continue
            finding = result.finding
            interval = f"{finding.figure:.3f} [{finding.low:.3f}, {finding.high:.3f}]"
            yield f"  {result.verdict:<8}  {result.check:<{wide}}  {interval}"
            if result.verdict == "too few":
                yield f"            {result.reason}"
            elif result.verdict != "ok":
                yield from (f"            {text}" for text in (result.question, finding.detail, result.reason) if text)
            elif finding.p is None and finding.detail:
                yield f"            {finding.detail}"
    yield summary(results)


def summary(results: Sequence[Result]) -> str:
    """ "31 checks: 29 ok, 1 inherent, 1 shortcut"."""
    counts = Counter(result.verdict for result in results)
    return f"{len(results)} checks: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


def write(config: Audit, found: Found, results: Sequence[Result]) -> tuple[Path, Path]:
    """Write audit.json and audit.html to --out, by default the first run directory. Raises OutputError."""
    out = config.out or config.dirs[0]
    data = as_json(config, found, results)
    paths = out / "audit.json", out / "audit.html"
    write_json(paths[0], data)
    names = ", ".join(data["runs"])
    with replacing(paths[1]) as temporary:
        temporary.write_text(page(names, found, results, summary(results)), encoding="utf-8")
    return paths


def as_json(config: Audit, found: Found, results: Sequence[Result]) -> dict[str, Any]:
    """Everything that was found; nothing in it depends on the time or the machine."""
    return {
        "generator": __version__,
        "runs": [folder.resolve().name for folder in config.dirs],
        "seed": config.seed,
        "limit": config.limit,
        "alpha": ALPHA,
        "groups": [
            {"name": group.name, "source": group.source, "task": group.task, "pairs": len(group.pairs)}
            for group in found.groups
        ],
        "results": [
            {**{key: value for key, value in asdict(result).items() if key != "finding"}, **asdict(result.finding)}
            for result in results
        ],
    }
