"""From the command line to the verb that was asked for. Each verb's code is imported when it runs, not before."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from generator.assets import commands
from generator.assets.commands import AssetsFetch, AssetsList, AssetsShow, AssetsVet
from generator.cli import Audit, Doctor, Export, Merge, Preview, Render, Status, Validate
from generator.coco.commands import CocoAttribute, CocoNegation, CocoRun, CocoSpatial, CocoSwapNoun, run_coco
from generator.command_line import Program, parse
from generator.examples import EXAMPLES
from generator.sprites.commands import SpritesBuild, SpritesClean, SpritesList, run_sprites


@dataclass(frozen=True)
class Assets:
    """Fetch, check, list and look at 3D models."""

    verb: (
        Annotated[AssetsFetch, tyro.conf.subcommand("fetch")]
        | Annotated[AssetsVet, tyro.conf.subcommand("vet")]
        | Annotated[AssetsList, tyro.conf.subcommand("list")]
        | Annotated[AssetsShow, tyro.conf.subcommand("show")]
    )


@dataclass(frozen=True)
class Coco:
    """Build the same kind of pairs from COCO's photographs and annotations."""

    verb: (
        Annotated[CocoAttribute, tyro.conf.subcommand("attribute")]
        | Annotated[CocoSpatial, tyro.conf.subcommand("spatial")]
        | Annotated[CocoNegation, tyro.conf.subcommand("negation")]
        | Annotated[CocoSwapNoun, tyro.conf.subcommand("swap-noun")]
    )


@dataclass(frozen=True)
class Sprites:
    """Look after the bank of layers that `render --engine sprites` puts pictures together from."""

    verb: (
        Annotated[SpritesBuild, tyro.conf.subcommand("build")]
        | Annotated[SpritesList, tyro.conf.subcommand("list")]
        | Annotated[SpritesClean, tyro.conf.subcommand("clean")]
    )


Verb = (
    Annotated[Render, tyro.conf.subcommand("render")]
    | Annotated[Status, tyro.conf.subcommand("status")]
    | Annotated[Validate, tyro.conf.subcommand("validate")]
    | Annotated[Audit, tyro.conf.subcommand("audit")]
    | Annotated[Merge, tyro.conf.subcommand("merge")]
    | Annotated[Export, tyro.conf.subcommand("export")]
    | Annotated[Coco, tyro.conf.subcommand("coco")]
    | Annotated[Assets, tyro.conf.subcommand("assets")]
    | Annotated[Sprites, tyro.conf.subcommand("sprites")]
    | Annotated[Preview, tyro.conf.subcommand("preview")]
    | Annotated[Doctor, tyro.conf.subcommand("doctor")]
)


PROGRAM = Program(
    prog="python -m generator",
    script="twinscene",
    description="TwinScene: image pairs and captions that differ in exactly one fact. (Shell completion: docs/cli.md.)",
    examples=EXAMPLES,
)
CONFIG = (tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)


def run(arguments: list[str]) -> int:
    """Parse and run; the exit code."""
    verb = parse(Verb, PROGRAM, arguments, CONFIG)
    command = verb.verb if isinstance(verb, Assets | Coco | Sprites) else verb
    match command:
        case AssetsFetch():
            return commands.run_fetch(command)
        case AssetsVet():
            return commands.run_vet(command)
        case AssetsList():
            return commands.run_list(command)
        case AssetsShow():
            return commands.run_show(command)
        case SpritesBuild() | SpritesList() | SpritesClean():
            return run_sprites(command)
        case CocoRun():
            return run_coco(command)
        case Render():
            from generator.pipeline import run_render

            return run_render(command)
        case Status():
            from generator.status import run_status

            return run_status(command)
        case Validate():
            from generator.validate import run_validate

            return run_validate(command)
        case Audit():
            from generator.audit import run_audit

            return run_audit(command)
        case Merge():
            from generator.merge import run_merge

            return run_merge(command)
        case Export():
            from generator.export import run_export

            return run_export(command)
        case Preview():
            from generator.preview import run_preview

            return run_preview(command)
        case Doctor():
            from generator.doctor import run_doctor

            return run_doctor(command)
    raise AssertionError(command)
