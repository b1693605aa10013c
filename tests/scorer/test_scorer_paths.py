"""Paths that cannot be written: one line that says which and the mend, exit code 2, in every verb."""

import os
from pathlib import Path

import pytest
from scorer_shapes import make_pair

from scorer.cli import main

ON_CPU = ("--device", "cpu")
QUICK = ("--resamples", "0", *ON_CPU)
VERBS = {
    "train": ("train", "DATA", "--clip", "CLIP", "--pretrained", "random", "--epochs", "1", *ON_CPU),
    "eval": ("eval", "RUN", "DATA", "--split", "val", *QUICK),
    "eval --benchmark": ("eval", "RUN", "--benchmark", "sugarcrepe", "--root", "ROOT", *QUICK),
    "tables": ("tables", "RUN", "--root", "ROOT", *QUICK),
    "superposition": ("superposition", "RENDERED", "--clip", "tiny", "--count", "1", *ON_CPU),
    "noise": ("noise", "--dim", "8", "--trials", "2"),
    "maps": ("maps", "PHOTO", "a dog", "--clip", "tiny", *ON_CPU),
    "words": ("words", "TEXT"),
}


@pytest.fixture
def paths(run: Path, data: Path, clip_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the words in capitals stand for."""
    monkeypatch.setenv("TWINSCENE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "photo.png").write_bytes(make_pair("spatial", 0)[1])
    (tmp_path / "text.txt").write_text("a dog beside a cat\n" * 2)
    (tmp_path / "file").touch()
    (tmp_path / "root/sugarcrepe/data").mkdir(parents=True)
    return {
        "RUN": str(run),
        "DATA": str(data),
        "CLIP": clip_name,
        "ROOT": str(tmp_path / "root"),
        "RENDERED": str(Path(__file__).parent / "rendered"),
        "PHOTO": str(tmp_path / "photo.png"),
        "TEXT": str(tmp_path / "text.txt"),
    }


def said(arguments: tuple[str, ...], paths: dict[str, str], capsys: pytest.CaptureFixture[str]) -> str:
    """The last line of a command that ends with exit code 2."""
    assert main([paths.get(item, item) for item in arguments]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("error: ")
    return last


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_an_output_at_or_below_a_file(
    verb: str, below: str, paths: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "file" / below
    if verb == "words" and not below:
        out = tmp_path / "root"  # its output is a file, so that a folder is in the way
    last = said((*VERBS[verb], "--out", str(out)), paths, capsys)
    assert str(tmp_path / ("root" if out == tmp_path / "root" else "file")) in last
    assert "give " in last or "no such directory" in last


@pytest.mark.parametrize("verb", VERBS)
def test_an_output_that_may_not_be_written(
    verb: str, paths: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    if os.access(tmp_path / "locked", os.W_OK):
        pytest.skip("this user may write everywhere")
    last = said((*VERBS[verb], "--out", str(tmp_path / "locked" / "out")), paths, capsys)
    assert "give another path, or change its permissions" in last


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ("nowhere/x.png", "no such directory "),
        ("x.bmpp", "must end in .png, .pdf or .svg"),
        ("x", "must end in .png, .pdf or .svg"),
        ("folder.png", "is a directory; give a file in it"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_said_before_the_work(
    figure: str, message: str, paths: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.png").mkdir()
    path = tmp_path / figure
    last = said(("score", "RUN", "PHOTO", "a", "b", "--figure", str(path), *ON_CPU), paths, capsys)
    assert f"--figure {path}: " in last
    assert message in last


@pytest.mark.parametrize("verb", ["train", "eval", "tables"])
def test_a_cache_at_a_file(
    verb: str,
    paths: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TWINSCENE_CACHE", str(tmp_path / "file"))
    last = said((*VERBS[verb], "--out", str(tmp_path / "out")), paths, capsys)
    assert last == (
        f"error: {tmp_path / 'file'}: cannot keep features (Not a directory); give another --cache or TWINSCENE_CACHE"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_full_disk(paths: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    last = said((*VERBS["words"], "--min-count", "1", "--out", "/dev/full"), paths, capsys)
    assert last.startswith("error: the disk is full")
