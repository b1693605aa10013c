"""The Markdown pages as tests see them: fenced blocks, the commands in them, links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# How a line of a block begins that somebody is meant to type.
TYPED = ("python", ".venv/bin/python", ". .venv", "make", "pip ", "torchrun", "srun", "sbatch", "source", "twinscene",
         "CUDA_VISIBLE_DEVICES=", "export ", "git ")  # fmt: skip


@dataclass(frozen=True)
class Block:
    """A fenced block: `file` is the path that a comment above it names, "" without one."""

    language: str
    text: str
    file: str


def pages() -> list[Path]:
    """Every Markdown page of the project that is written by hand for people."""
    folders = (ROOT, ROOT / "docs", ROOT / "datasets_out", ROOT / "tests" / "data")
    found = [path for folder in folders[:3] for path in folder.glob("*.md")]
    return sorted([*found, *folders[3].rglob("*.md")])


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(found["language"], found["text"], found["file"] or "") for found in FENCE.finditer(text)]


def commands(block: Block) -> list[str]:
    """The commands of a block in order, continued lines joined, remarks left out; [] where nothing is to be typed."""
    if block.language not in ("", "bash", "console"):
        return []
    joined = re.sub(r"\\\n\s*", " ", block.text)
    lines = [re.sub(r"\s+#\s.*$", "", line).strip() for line in joined.splitlines()]
    return [line for line in lines if line.startswith(TYPED)]


def links(page: Path) -> list[str]:
    """Targets of a page's links and pictures, those in code left out."""
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    return LINK.findall(text)
