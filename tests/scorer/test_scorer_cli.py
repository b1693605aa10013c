"""The command line as a person meets it: real processes, exit codes, and what importing costs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scorer_shapes import make_pair

from scorer.cli import main
from scorer.configs import TrainConfig

REPO = Path(__file__).resolve().parents[2]


def python(*args: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *args], cwd=REPO, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("module", ["scorer", "scorer.cli", "scorer.configs"])
def test_importing_is_cheap(module: str) -> None:
    heavy = "{'torch', 'open_clip', 'spacy', 'matplotlib', 'bpy', 'renderers'}"
    found = python("-c", f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))")
    assert found.stdout.strip() == "[]", found.stdout + found.stderr


def test_only_features_imports_open_clip() -> None:
    importers = {path.name for path in (REPO / "scorer").rglob("*.py") if "import open_clip" in path.read_text("utf-8")}
    assert importers == {"features.py"}


def test_help_lists_the_verbs() -> None:
    found = python("-m", "scorer", "--help")
    assert found.returncode == 0
    assert all(verb in found.stdout for verb in ("train", "eval", "score", "words"))


def test_options_go_by_the_short_names_of_the_readme() -> None:
    found = python("-m", "scorer", "train", "--help")
    for option in ("--clip STR", "--pretrained STR", "--model STR", "--rows {", "--z-score {", "--epochs INT"):
        assert option in found.stdout, option


def test_a_users_mistake_is_one_line_and_code_2(tmp_path: Path) -> None:
    found = python("-m", "scorer", "eval", str(tmp_path / "none"), str(tmp_path))
    assert found.returncode == 2
    assert found.stderr.startswith("error: ")
    assert found.stderr.count("\n") == 1


def test_score_prints_every_caption_and_marks_the_best(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, first, _ = make_pair("spatial", 3)
    (tmp_path / "photo.png").write_bytes(first)
    figure = tmp_path / "maps.png"
    captions = [record.captions_0[0], record.captions_1[0]]
    code = main(["score", str(run), str(tmp_path / "photo.png"), *captions, "--figure", str(figure), "--device", "cpu"])
    out = capsys.readouterr().out
    assert code == 0
    assert all(caption in out for caption in captions)
    assert out.count("*") == 1
    assert figure.stat().st_size > 10_000


def test_score_says_what_was_cut(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "photo.png").write_bytes(make_pair("spatial", 3)[1])
    long = "a picture that shows on its grey ground, as pictures of this kind so often do, "
    assert main(["score", str(run), str(tmp_path / "photo.png"), "a cross", f"{long}a", f"{long}b"]) == 0
    first, second, third, last = capsys.readouterr().out.splitlines()
    assert "same" not in first + second
    assert third.endswith(f"{long}b   (reads the same as: {long}a)")
    assert second.strip("* ")[:17] == third.strip("* ")[:17]
    assert last == "2 of 3 captions cut to 16 tokens, as the run reads no more"


def test_train_names_the_command_that_works_next(
    config: TrainConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--clip", config.clip.clip, "--pretrained", "random", "--epochs", "0", "--device", "cpu"]
    options += ["--text-tokens", "16", "--cache", str(config.cache), "--out", str(tmp_path / "run")]
    assert main(["train", str(config.data[0]), *options]) == 0
    assert capsys.readouterr().out.endswith(f"scorer eval {tmp_path / 'run'} {config.data[0]} --split val\n")


@pytest.mark.parametrize(("name", "content"), [("gone.png", None), ("text.png", b"no picture at all")])
def test_a_picture_that_is_none(
    run: Path, tmp_path: Path, name: str, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["score", str(run), str(tmp_path / name), "a", "b"]) == 2
    err = capsys.readouterr().err
    assert name in err
    assert "object at 0x" not in err


def test_no_new_word_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("spacy")
    (tmp_path / "captions.txt").write_text("A dog to the left of a cat.\n")
    assert main(["words", str(tmp_path / "captions.txt")]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "no word that the lexicon lacks is in 2 captions (--min-count)\n")


def test_what_ends_a_run_is_not_glued_to_its_progress() -> None:
    """On a terminal the progress line has no end yet when an interruption comes."""
    code = (
        "import sys, scorer.cli as cli\n"
        "def run(config):\n    print('step 3/9', end='', file=sys.stderr, flush=True)\n    raise KeyboardInterrupt\n"
        "cli._run = run\nraise SystemExit(cli.main(['benchmarks']))"
    )
    ours, theirs = os.openpty()
    found = subprocess.run([sys.executable, "-c", code], cwd=REPO, stdout=subprocess.PIPE, stderr=theirs, timeout=120)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    os.close(theirs)
    assert found.returncode == 130
    assert shown.startswith("step 3/9\r\x1b[Kinterrupted;")


def test_a_picture_nearly_called_so(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "photo.png").write_bytes(b"")
    assert main(["score", str(run), str(tmp_path / "foto.png"), "a", "b"]) == 2
    assert f"no such picture {tmp_path}/foto.png; did you mean {tmp_path}/photo.png?" in capsys.readouterr().err


def test_an_empty_caption(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(run), str(tmp_path / "x.png"), "a", " "]) == 2
    assert "not empty" in capsys.readouterr().err
