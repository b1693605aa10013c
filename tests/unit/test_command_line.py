"""Both command lines: near misses in one line, examples that parse, completion that a shell takes."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generator import dispatch
from generator.__main__ import main
from generator.command_line import Program, completion, flags_of, parse, verbs_of
from generator.errors import ConfigError, missing, nearest, no_run, unknown
from scorer import cli as scorer_cli

ROOT = Path(__file__).resolve().parents[2]
COMMAND_LINES: dict[str, tuple[Any, Program, tuple[Any, ...]]] = {
    "generator": (dispatch.Verb, dispatch.PROGRAM, dispatch.CONFIG),
    "scorer": (scorer_cli.Verb, scorer_cli.PROGRAM, ()),
}


def verb_paths(kind: Any, path: str = "") -> list[str]:
    """Every verb, and every group of verbs, by its words."""
    found = [path]
    for name, inner in verbs_of(kind).items():
        found += verb_paths(inner, f"{path} {name}".strip())
    return found


@pytest.mark.parametrize("name", COMMAND_LINES)
def test_every_verb_has_examples_and_they_parse(name: str) -> None:
    kind, program, config = COMMAND_LINES[name]
    assert sorted(program.examples) == sorted(verb_paths(kind))
    for verb, lines in program.examples.items():
        assert 1 <= len(lines) <= 4, f"{verb}: a few examples, not {len(lines)}"
        for line in lines:
            assert line.startswith(verb), f"{line}: not an example of {verb}"
            if "--help" not in line:
                assert parse(kind, program, shlex.split(line), config)


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        (["generator", "merge"], "python -m generator merge datasets_out/spatial-0 datasets_out/attribute-0 "),
        (["generator", "assets", "fetch"], "python -m generator assets fetch --licences cc0 "),
        (["generator"], "python -m generator doctor"),
        (["scorer", "words"], "python -m scorer words captions.txt --by llm "),
    ],
)
def test_help_ends_with_the_examples(arguments: list[str], last: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments, "--help"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    options, examples = done.stdout.split("\nexamples:\n")
    assert "usage: " in options
    assert examples.splitlines()[-1].strip().startswith(last)


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("generator", "rendr --n 4", "unknown verb 'rendr'; did you mean 'render'? known: render, status, "),
        ("generator", "assets lst", "unknown verb 'lst'; did you mean 'list'? known: fetch, vet, list, show"),
        ("generator", "coco spacial", "unknown verb 'spacial'; did you mean 'spatial'?"),
        ("generator", "render --task spatail --n 4", "--task: unknown value 'spatail'; did you mean 'spatial'? known"),
        ("generator", "render --task=colour --n 4", "--task: unknown value 'colour'; known: spatial, attribute"),
        ("generator", "render --task spatial --n 4 --engine cycle", "unknown value 'cycle'; did you mean 'cycles'?"),
        ("generator", "render --task spatial --n 4 --image-format jpeg", "did you mean 'jpg'? known: jpg, png, webp"),
        ("generator", "render --tsk spatial --n 4", "render: unknown option --tsk; did you mean --task?"),
        ("generator", "render --task spatial --n 4 --no-mask", "unknown option --no-mask; did you mean --no-masks?"),
        ("generator", "export x --to image-folder --out y", "--to: unknown value 'image-folder'; did you mean"),
        ("generator", "--print-completion bsh", "unknown shell 'bsh'; did you mean 'bash'? known: bash, zsh, fish"),
        ("scorer", "trane x", "unknown verb 'trane'; did you mean 'train'?"),
        ("scorer", "eval x y --split tset", "--split: unknown value 'tset'; did you mean 'test'? known: test, val"),
        ("scorer", "train x --rows gausian", "--rows: unknown value 'gausian'; did you mean 'gaussian'?"),
        ("scorer", "train x --llm.ur y", "unknown option --llm.ur; did you mean --llm.url?"),
        ("scorer", "score a b c d --simplify rule", "did you mean 'rules'? known: none, rules, llm, None"),
    ],
)  # fmt: skip
def test_a_slip_of_the_keyboard_is_one_line(
    name: str, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = main if name == "generator" else scorer_cli.main
    assert run(shlex.split(line)) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert said in printed.err
    assert not printed.out


@pytest.mark.parametrize("line", ["render --task spatial --n four", "render --task spatial", "render --frobnicate"])
def test_what_is_no_slip_is_left_to_tyro(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(shlex.split(line))
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert "error: " not in said
    assert "--help" in said


@pytest.mark.parametrize("name", COMMAND_LINES)
def test_the_options_known_here_are_those_of_tyro(name: str) -> None:
    """The walk over the dataclasses writes options as tyro does: each stands in the completion script's table."""
    kind, program, config = COMMAND_LINES[name]
    script = completion(kind, program, "bash", config)
    for path in verb_paths(kind):
        inner = kind
        for verb in path.split():
            inner = verbs_of(inner)[verb]
        if verbs_of(inner):
            continue
        flags = dict(flags_of(inner, bool(config)))
        for flag, choices in flags.items():
            assert f"'{flag}'" in script, flag
            if choices and "None" not in choices:
                assert f"'choices': {list(choices)!r}" in script, (flag, choices)


def complete(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    code = f"""
        source {shlex.quote(str(script))}
        COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}
        registered=$(complete -p {words[0]}); handler=${{registered##*-F }}; ${{handler%% *}}
        printf '%s\\n' "${{COMPREPLY[@]}}"
        complete -p {words[0]} >&2
    """
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "-o default" in done.stderr  # Files where there is nothing else.
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


@pytest.mark.parametrize(
    ("name", "words", "offered"),
    [
        ("generator", ["twinscene", "ren"], ["render"]),
        ("generator", ["twinscene", "assets", "v"], ["vet"]),
        ("generator", ["twinscene", "assets", ""], ["--help", "-h", "fetch", "list", "show", "vet"]),
        ("generator", ["twinscene", "render", "--back"], ["--backgrounds", "--backgrounds-vetted"]),
        ("generator", ["twinscene", "render", "--task", ""], ["attribute", "negation", "spatial"]),
        ("generator", ["twinscene", "status", "data"], []),
        ("scorer", ["twinscene-scorer", "tr"], ["train"]),
        ("scorer", ["twinscene-scorer", "train", "--z-score", ""], ["batch", "map", "none"]),
        ("scorer", ["twinscene-scorer", "score", "--llm.u"], ["--llm.url"]),
    ],
)
def test_bash_completes(tmp_path: Path, name: str, words: list[str], offered: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", name, "--print-completion", "bash"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    (tmp_path / "completion.bash").write_text(done.stdout, encoding="utf-8")
    assert sorted(complete(tmp_path / "completion.bash", *words)) == offered


@pytest.mark.parametrize("name", COMMAND_LINES)
@pytest.mark.parametrize(
    ("shell", "registers"), [("zsh", "#compdef {}"), ("fish", "complete --no-files --command '{}'")]
)
def test_zsh_and_fish_get_scripts_for_the_installed_commands(name: str, shell: str, registers: str) -> None:
    kind, program, config = COMMAND_LINES[name]
    assert registers.format(program.script) in completion(kind, program, shell, config)


@pytest.mark.parametrize("name", COMMAND_LINES)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_a_shell_is_told_of_each_option_is_one_line(name: str, shell: str) -> None:
    kind, program, config = COMMAND_LINES[name]
    script = completion(kind, program, shell, config)
    (line,) = [line for line in script.splitlines() if line.startswith("COMPLETION_SPEC = ")]
    table = line.removeprefix("COMPLETION_SPEC = ")
    if shell == "fish":  # There it stands in double quotes.
        table = re.sub(r"\\(.)", r"\1", table)
    options = [option for verb in ast.literal_eval(table)["subcommands"].values() for option in verb["options"]]
    assert len(options) > 20
    assert not any("\n" in option["description"] for option in options)


def test_the_scripts_that_complete_are_installed() -> None:
    import tomllib

    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert set(scripts) == {program.script for _, program, _ in COMMAND_LINES.values()}


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("cra", "car"),
        ("odg", "dog"),
        ("Traffic_Cone", "traffic cone"),
        ("elefant", "elephant"),
        ("zebra crossing", ""),
        ("", ""),
    ],
)
def test_the_nearest_name(name: str, near: str) -> None:
    assert nearest(name, ["cat", "car", "dog", "traffic cone", "elephant"]) == near


def test_unknown_names_say_what_is_known() -> None:
    assert unknown("noun", "cra", ["car", "dog"]) == "unknown noun 'cra'; did you mean 'car'? known: car, dog"
    assert unknown("noun", "xyz", ["car", "dog"]) == "unknown noun 'xyz'; known: car, dog"
    assert unknown("noun", "xyz", [f"n{i}" for i in range(30)]).endswith("n23 and 6 more")


def test_missing_paths_say_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs" / "demo" / "train").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert missing(Path("runs/demp"), "directory") == "no such directory runs/demp; did you mean runs/demo?"
    assert missing(Path("run/demo/train")).endswith("did you mean runs/demo/train?")
    assert missing(tmp_path / "runs" / "dmeo").endswith(f"did you mean {tmp_path}/runs/demo?")
    # The rest of the path must be there too, or the advice would be as wrong as the path.
    assert missing(Path("run/demo/test")) == "no such file or directory run/demo/test"
    assert missing(Path("elsewhere")) == "no such file or directory elsewhere"
    assert missing(Path("runs/demo/train/x/y/z")) == "no such file or directory runs/demo/train/x/y/z"


def test_there_is_one_way_to_say_what_was_meant() -> None:
    """A message of its own would lack the near miss."""
    own = re.compile(r"known are|known: \{|get_close_matches|no such (file|folder|directory)|not a run directory")
    for path in sorted([*(ROOT / "generator").rglob("*.py"), *(ROOT / "scorer").rglob("*.py")]):
        if path.name != "errors.py":
            for line in path.read_text(encoding="utf-8").splitlines():
                assert not ("Error(" in line and own.search(line)), f"{path}: {line}"


def test_directories_that_hold_no_run(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    assert no_run(tmp_path / "demp") == f"no such directory {tmp_path}/demp; did you mean {tmp_path}/demo?"
    assert no_run(tmp_path).endswith("not a run directory (no run.json); give what --out of render was")
    (tmp_path / "demo" / "run.json").write_text("{}", encoding="utf-8")
    assert no_run(tmp_path).endswith(f"not a run directory (no run.json); did you mean {tmp_path}/demo?")


def test_a_shell_must_be_named() -> None:
    kind, program, config = COMMAND_LINES["generator"]
    with pytest.raises(ConfigError, match="unknown shell ''"):
        completion(kind, program, "", config)
