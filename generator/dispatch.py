"""From the command line to the verb that was asked for. Each verb's code is imported when it runs, not before."""

from typing import Annotated

import tyro

from generator.cli import Doctor, Preview, Render

Verb = (
    Annotated[Render, tyro.conf.subcommand("render")]
    | Annotated[Preview, tyro.conf.subcommand("preview")]
    | Annotated[Doctor, tyro.conf.subcommand("doctor")]
)


def run(arguments: list[str]) -> int:
    """Parse and run; the exit code."""
    verb = tyro.cli(
        Verb,
        prog="python -m generator",
        description="TwinScene: image pairs and captions that differ in exactly one fact.",
        args=arguments,
        config=(tyro.conf.OmitArgPrefixes,),
    )
    match verb:
        case Render():
            from generator.pipeline import run_render

            return run_render(verb)
        case Preview():
            from generator.preview import run_preview

            return run_preview(verb)
        case Doctor():
            from generator.doctor import run_doctor

            return run_doctor(verb)
    raise AssertionError(verb)
