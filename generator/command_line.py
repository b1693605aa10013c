"""What both command lines share: near misses, examples under --help, shell completion. tyro does the rest.

This module, the records and the errors are all that `scorer` imports of the generator.
"""

import contextlib
import dataclasses
import io
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import tyro

from generator.errors import ConfigError, nearest, unknown

SHELLS = ("bash", "zsh", "fish")
# tyro completes verbs, options and choices, and leaves nothing to the shell: where it knows nothing, bash shall offer
# files, as for every other command.
OR_FILES = """
_{name}_or_files() {{ _tyro_{name} "$@"; [[ ${{#COMPREPLY[@]}} -eq 1 && -z ${{COMPREPLY[0]}} ]] && COMPREPLY=(); }}
complete -o bashdefault -o default -F _{name}_or_files {script}
"""


@dataclass(frozen=True)
class Program:
    """A command line: how it is run, the script that is the same, what it is, and examples by verb ("assets fetch")."""

    prog: str
    script: str
    description: str
    examples: Mapping[str, tuple[str, ...]]


def parse(kind: Any, program: Program, arguments: list[str], config: tuple[Any, ...] = ()) -> Any:
    """The dataclass of the verb that was asked for.

    SystemExit after --help and where the arguments do not parse; ConfigError where it is plain what was meant.
    kind: union of verbs as tyro takes it; config: markers of tyro.conf for all of it.
    """
    if arguments[:1] == ["--print-completion"]:
        print(completion(kind, program, arguments[1] if len(arguments) > 1 else "", config), end="")
        raise SystemExit(0)

    def parsed() -> Any:
        return tyro.cli(kind, prog=program.prog, description=program.description, args=arguments, config=config)

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return parsed()
    except SystemExit as stop:
        if not stop.code:
            print(_examples(kind, program, arguments), end="")
            raise
        slip = near_miss(kind, program, arguments, tyro.conf.OmitArgPrefixes in config)
        if slip:
            raise ConfigError(slip) from None
    # Not a near miss: tyro says what is wrong, in its own words and colours.
    return parsed()


def completion(kind: Any, program: Program, shell: str, config: tuple[Any, ...] = ()) -> str:
    """The completion script of a shell for `program.script`. Raises ConfigError for a shell that is not known."""
    if shell not in SHELLS:
        raise ConfigError(f"--print-completion: {unknown('shell', shell, SHELLS)}")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        tyro.cli(kind, prog=program.script, args=["--tyro-print-completion", shell], config=config)
    # A shell takes every line of an option's explanation for one more thing to offer.
    script = "".join(
        line.replace("\\\\n", " ").replace("\\n", " ") if line.startswith("COMPLETION_SPEC = ") else line
        for line in printed.getvalue().splitlines(keepends=True)
    )
    files = OR_FILES.format(name=program.script.replace("-", "_"), script=program.script) if shell == "bash" else ""
    return script + files


def near_miss(kind: Any, program: Program, arguments: list[str], omit_prefixes: bool) -> str:
    """The first verb, option or choice that is not known, with what it was probably meant to be; "" without one."""
    verb = program.prog
    rest = list(arguments)
    while verbs := verbs_of(kind):
        if not rest or rest[0].startswith("-"):
            return ""
        if rest[0] not in verbs:
            return f"{verb}: {unknown('verb', rest[0], verbs)}"
        verb, kind = f"{verb} {rest[0]}", verbs[rest.pop(0)]
    flags = dict(flags_of(kind, omit_prefixes))
    for number, token in enumerate(rest):
        flag, equals, value = token.partition("=")
        if not flag.startswith("--"):
            continue
        flag = flag.replace("_", "-")
        if flag not in flags:
            near = nearest(flag, flags)
            if near:
                return f"{verb}: unknown option {flag}; did you mean {near}?"
            continue
        if not equals:
            value = rest[number + 1] if number + 1 < len(rest) else ""
        if flags[flag] and value and value not in flags[flag]:
            return f"{flag}: {unknown('value', value, flags[flag])}"
    return ""


def verbs_of(kind: Any) -> dict[str, Any]:
    """Verb -> its dataclass, for a union of subcommands or a dataclass that holds just one; {} for a verb itself."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        return verbs_of(hints["verb"]) if set(hints) == {"verb"} else {}
    return {
        typing.cast(str, part.__metadata__[0].name): typing.get_args(part)[0]
        for part in typing.get_args(kind)
        if typing.get_origin(part) is typing.Annotated
    }


def flags_of(kind: Any, omit_prefixes: bool, prefix: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each option of a verb as it is written, and its choices, () where there are none."""
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        marks = getattr(hint, "__metadata__", ())
        plain = typing.get_args(hint)[0] if marks else hint
        option = prefix + name.replace("_", "-")
        if tyro.conf.Positional in marks:
            continue
        if dataclasses.is_dataclass(plain):
            inner = prefix if omit_prefixes or tyro.conf.OmitArgPrefixes in marks else f"{option}."
            yield from flags_of(plain, omit_prefixes, inner)
        elif plain is bool:
            yield f"--{option}", ()
            yield f"--{prefix}no-{name.replace('_', '-')}", ()
        else:
            yield f"--{option}", tuple(str(choice) for choice in _choices(plain))


def _choices(hint: Any) -> tuple[Any, ...]:
    """The values of a Literal, and of `Literal[...] | None` those and "None"; () for everything else."""
    if typing.get_origin(hint) is Literal:
        return typing.get_args(hint)
    parts = typing.get_args(hint)
    if type(None) in parts and len(parts) == 2:
        found = _choices(next(part for part in parts if part is not type(None)))
        return (*found, "None") if found else ()
    return ()


def _examples(kind: Any, program: Program, arguments: list[str]) -> str:
    """What stands under the help of the verb that was asked about."""
    path: list[str] = []
    for token in arguments:
        verbs = verbs_of(kind)
        if token not in verbs:
            break
        path.append(token)
        kind = verbs[token]
    wanted = program.examples.get(" ".join(path), ())
    return "\n".join(("examples:", *(f"  {program.prog} {line}" for line in wanted), "")) if wanted else ""
