"""The command line: a user's mistake is one clear line and exit code 2, before anything is written."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generator.__main__ import main
from generator.cli import SAMPLES, Render, default_workers, parse_slice
from generator.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command line over the fake world, in which it must fail; the one line on stderr."""
    import fake_cli

    monkeypatch.setattr("generator.pipeline.load_catalog", fake_cli.load_catalog)
    monkeypatch.setattr("generator.pipeline.bundled", fake_cli.bundled)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        assert main(["render", "--renderer", "fake", *arguments]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: ")
        assert not list(tmp_path.iterdir())
        return str(line)

    return run


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--n 0", "--n must be at least 1, not 0"),
        ("--n 4 --size 16", "--size must be between 32 and 4096 pixels, not 16"),
        ("--n 4 --workers 0", "--workers must be at least 1, not 0"),
        ("--n 4 --samples-per-pixel 0", "--samples-per-pixel must be at least 1, not 0"),
        ("--n 4 --shard-size 0", "--shard-size must be at least 1, not 0"),
        ("--n 4 --attempts 0", "--attempts must be at least 1, not 0"),
        ("--n 4 --timeout-s 0", "--timeout-s must be above 0"),
        ("--n 4 --memory-gb -1", "--memory-gb not below 0"),
        ("--n 4 --split train=0.5", "--split: shares must .* add up to 1; 'train=0.5' does not"),
        ("--n 4 --categories mug", "--categories and --per-category choose from Objaverse"),
        ("--n 4 --split train=0.5,dev=0.5", "--split: unknown split 'dev'; known: train, val, test"),
        ("--n 4 --colours red,gren", "--colours: unknown colour 'gren'; did you mean 'green'.*known: red, "),
        ("--n 4 --colours red,red", "--colours: a name is given twice"),
        ("--n 4 --colours ,", "--colours names nothing"),
        ("--n 4 --attributes color", "--attributes: unknown attribute 'color'; did you mean 'colour'"),
        ("--n 4 --slice 3/2", "--slice must be like 3/16"),
        ("--n 4 --assets nowhere", "nowhere"),
        ("--n 4 --backgrounds nowhere", "no such directory nowhere; --backgrounds takes bundled or a folder of images"),
        ("--n 4 --backgrounds bundeld", "no such directory bundeld; did you mean bundled"),
        ("--n 4 --split train=0.5,tets=0.5", "unknown split 'tets'; did you mean 'test'"),
    ],
)
def test_mistakes_of_the_user(refused: Any, flags: str, said: str) -> None:
    assert re.search(said, refused("--task", "attribute", *flags.split()))


def test_too_few_nouns_for_a_task(refused: Any) -> None:
    line = refused("--task", "negation", "--n", "4", "--assets", "few")
    assert "needs" in line
    assert "4" in line


def test_photographs_that_nobody_looked_at_deny_nothing(refused: Any) -> None:
    line = refused("--task", "negation", "--n", "4", "--backgrounds", "photos")
    assert "--backgrounds-vetted" in line


def test_colours_that_cannot_be_told_apart(refused: Any) -> None:
    line = refused("--task", "attribute", "--n", "4", "--colours", "red,orange")
    assert "no two of them can be told apart" in line


def test_splits_that_come_out_too_small(refused: Any) -> None:
    line = refused("--task", "negation", "--n", "4", "--split-by", "noun", "--assets", "few")
    assert "--split-by noun" in line
    assert "needs 4" in line


@pytest.mark.parametrize("flags", ["--task spatial", "--task spatial --n many", "--frobnicate"])
def test_what_does_not_parse_is_code_2_too(flags: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["render", *flags.split()])
    assert caught.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("verb", [[], ["render"], ["doctor"], ["preview"]])
def test_help_says_how(verb: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "generator", *verb, "--help"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "usage: python -m generator" in done.stdout
    if verb == ["render"]:
        for field in dataclasses.fields(Render):
            assert f"--{field.name.replace('_', '-')}" in done.stdout


def test_every_flag_is_explained() -> None:
    """tyro shows the text under each field; one without would be a riddle."""
    source = (ROOT / "generator" / "cli.py").read_text(encoding="utf-8")
    for field in dataclasses.fields(Render):
        assert re.search(rf'\n    {field.name}: [^\n]+\n    """[^"]', source), field.name


@pytest.mark.parametrize("engine", ["cycles", "eevee", "workbench"])
def test_defaults_are_spelled_out(engine: Any) -> None:
    config = Render(task="spatial", n=5, seed=0, engine=engine).resolved()
    assert config.out == Path("datasets_out") / "spatial-0"
    assert config.samples_per_pixel == SAMPLES[engine]
    assert config.workers == default_workers() >= 1
    assert config.colours.split(",")[0] == "red"
    assert config.resolved() == config


def test_what_is_given_is_kept() -> None:
    config = Render(task="spatial", n=5, out=Path("x"), workers=3, samples_per_pixel=1, colours="blue,red").resolved()
    assert (config.out, config.workers, config.samples_per_pixel, config.colours) == (Path("x"), 3, 1, "blue,red")


@pytest.mark.parametrize(("text", "parsed"), [("", (1, 1)), ("1/1", (1, 1)), ("3/16", (3, 16)), ("16/16", (16, 16))])
def test_slices(text: str, parsed: tuple[int, int]) -> None:
    assert parse_slice(text) == parsed


@pytest.mark.parametrize("text", ["0/4", "5/4", "x", "1", "1/", "/4", "-1/4", "1/0", "1.5/4"])
def test_slices_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match="--slice must be like"):
        parse_slice(text)
