"""The documentation as text: commands parse, links lead somewhere, the record's page says what the code says."""

import dataclasses
import re
import shlex
import shutil
import subprocess
import tomllib
import typing
from pathlib import Path
from typing import Any

import pytest
from markdown_pages import ROOT, blocks, commands, links, pages

from generator import __version__, dispatch
from generator.command_line import Program, parse, verbs_of
from generator.records import FactRecord, ObjectRecord, PairRecord
from scorer import cli as scorer_cli

COMMAND_LINES: dict[str, tuple[Any, Program, tuple[Any, ...]]] = {
    "generator": (dispatch.Verb, dispatch.PROGRAM, dispatch.CONFIG),
    "scorer": (scorer_cli.Verb, scorer_cli.PROGRAM, ()),
}
OURS = re.compile(r"(?:^|\s|\()(?:python|torchrun .*?) -m (generator|scorer)\s+(.*)$|^(twinscene(?:-scorer)?) (.*)$")
# Choices that a page adds before it uses them.
ADDED = {"howto-task.md": ("--task comparison", "--task spatial")}
IMAGES_BYTES = 3 * 2**20


def ours(page: Path) -> list[tuple[str, str]]:
    """(package, arguments) of each of our own commands in the fenced blocks of a page."""
    found = []
    for block in blocks(page):
        for command in commands(block):
            match = OURS.search(command.replace(".venv/bin/", ""))
            if match and match[1]:
                found.append((match[1], match[2]))
            elif match:
                found.append(("scorer" if match[3].endswith("scorer") else "generator", match[4]))
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.name)
def test_commands_parse(page: Path) -> None:
    for package, arguments in ours(page):
        kind, program, config = COMMAND_LINES[package]
        arguments = arguments.replace(*ADDED.get(page.name, ("", "")))
        words = shlex.split(re.sub(r"\s+>.*$|\)$", "", arguments).replace("$(", "'$(").replace(".txt)", ".txt)'"))
        if words[0] == "--print-completion" or words[-1] == "--help":
            continue
        try:
            parse(kind, program, words, config)
        except SystemExit:
            pytest.fail(f"{page.name}: python -m {package} {arguments} does not parse")


def test_every_verb_is_listed() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for package, (kind, _, _) in COMMAND_LINES.items():
        table = text.split(f"| `python -m {package}` |")[1].split("\n\n")[0]
        listed = set(re.findall(r"`([a-z -]+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:])))
        verbs = {
            f"{name} {part}" if part else name
            for name, inner in verbs_of(kind).items()
            for part in (verbs_of(inner) or [""])
        }
        assert listed == verbs


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        if target.startswith(("https://", "http://", "#")):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve()
        assert path.exists(), f"{page.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{page.name}: {target}"


def test_every_page_and_picture_is_reached() -> None:
    index = {(ROOT / "docs" / target).resolve() for target in links(ROOT / "docs" / "index.md")}
    for page in (ROOT / "docs").glob("*.md"):
        assert page in index or page.name == "index.md", f"docs/index.md does not list {page.name}"
    shown = {(page.parent / target).resolve() for page in pages() for target in links(page)}
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert set(pictures) <= shown
    assert sum(path.stat().st_size for path in pictures) < IMAGES_BYTES


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.name)
def test_pages_are_about_the_project_alone(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for word in (r"/work/", r"/home/\w+", r"/root/", r"\bTODO\b", r"\bFIXME\b", r"\bissue \d+\b"):
        assert not re.search(word, text), word


@pytest.mark.parametrize(("heading", "kind"), [("Pair", PairRecord), ("Fact", FactRecord), ("Object", ObjectRecord)])
def test_the_record_is_described_field_by_field(heading: str, kind: type) -> None:
    text = (ROOT / "docs" / "record.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.+) \|$", section, re.MULTILINE)
    hints = typing.get_type_hints(kind)
    assert [(name, shown) for name, shown, _ in rows] == [
        (field.name, spelled(hints[field.name])) for field in dataclasses.fields(kind)
    ]


def spelled(hint: Any) -> str:
    """A type as the page writes it: [str, str], [Object, ...]."""
    if typing.get_origin(hint) is tuple:
        parts = ["..." if part is Ellipsis else spelled(part) for part in typing.get_args(hint)]
        return f"[{', '.join(parts)}]"
    return str(hint.__name__).removesuffix("Record")


def test_changes_that_pages_ask_for_still_apply(tmp_path: Path) -> None:
    """tests/blender/test_docs.py makes them and runs what comes out; this says sooner that the code has moved on."""
    if not (shutil.which("git") and (ROOT / ".git").exists()):
        pytest.skip("git, or the repository, is not here")
    asked = [block.text for page in pages() for block in blocks(page) if block.language == "diff"]
    assert asked
    for number, text in enumerate(asked):
        (tmp_path / f"{number}.diff").write_text(text, encoding="utf-8")
        command = ["git", "apply", "--check", "--recount", "-C1", str(tmp_path / f"{number}.diff")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_changelog_and_citation_speak_of_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog.startswith("# Changelog\n")
    assert re.search(r"^## \[Unreleased\]$", changelog, re.MULTILINE)
    assert __version__ in changelog
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    licence = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["license"]
    assert f"\nlicense: {licence}\n" in citation


def test_the_citation_file_has_what_cff_asks_for() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed; huggingface_hub brings it")
    data = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(data)
    assert (data["cff-version"], data["type"]) == ("1.2.0", "software")
    assert data["authors"] == [{"name": "TwinScene contributors"}]
    (paper,) = data["references"]
    assert paper["title"] == "Is CLIP ideal? No. Can we fix it? Yes!"
    assert [author["family-names"] for author in paper["authors"]] == ["Kang", "Song", "Gkioxari", "Perona"]
