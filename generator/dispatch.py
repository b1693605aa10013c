"""From the command line to the verb that was asked for. Each verb's code is imported when it runs, not before."""

from typing import Annotated

import tyro

from generator.cli import Doctor, Merge, Preview, Render, Status, Validate

Verb = (
    Annotated[Render, tyro.conf.subcommand("render")]
    | Annotated[Status, tyro.conf.subcommand("status")]
    | Annotated[Validate, tyro.conf.subcommand("validate")]
    | Annotated[Merge, tyro.conf.subcommand("merge")]
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
        case Status():
            from generator.status import run_status

            return run_status(verb)
        case Validate():
            from generator.validate import run_validate

            return run_validate(verb)
        case Merge():
            from generator.merge import run_merge

            return run_merge(verb)
        case Preview():
            from generator.preview import run_preview

            return run_preview(verb)
        case Doctor():
            from generator.doctor import run_doctor

            return run_doctor(verb)
    raise AssertionError(verb)
