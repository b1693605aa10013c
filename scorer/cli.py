"""The command line. A user's mistake is one clear line and exit code 2; torch is imported by the verb that needs it."""

import errno
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from generator.command_line import Program, parse
from scorer.configs import (
    BenchmarksConfig,
    EvalConfig,
    MapsConfig,
    NoiseConfig,
    ScoreConfig,
    SuperpositionConfig,
    TablesConfig,
    TrainConfig,
    WordsConfig,
)
from scorer.errors import ConfigError, UserError, missing
from scorer.examples import EXAMPLES

if TYPE_CHECKING:
    from scorer.score import Scored

# What the scorer's extra brings: a traceback is no answer to a missing one.
PACKAGES = ("torch", "torchvision", "open_clip", "safetensors", "matplotlib", "tensorboard")

FIGURES = (".png", ".pdf", ".svg")

# What to do about a path that cannot be used, by what the system says of it.
MENDS: dict[type[OSError], str] = {
    FileExistsError: "a file is in the way; give another path",
    NotADirectoryError: "a file is in the way; give another path",
    IsADirectoryError: "give a file in it",
    PermissionError: "give another path, or change its permissions",
    FileNotFoundError: "make its folder first, or give another path",
}

Verb = (
    Annotated[TrainConfig, tyro.conf.subcommand("train")]
    | Annotated[EvalConfig, tyro.conf.subcommand("eval")]
    | Annotated[BenchmarksConfig, tyro.conf.subcommand("benchmarks")]
    | Annotated[TablesConfig, tyro.conf.subcommand("tables")]
    | Annotated[ScoreConfig, tyro.conf.subcommand("score")]
    | Annotated[SuperpositionConfig, tyro.conf.subcommand("superposition")]
    | Annotated[NoiseConfig, tyro.conf.subcommand("noise")]
    | Annotated[MapsConfig, tyro.conf.subcommand("maps")]
    | Annotated[WordsConfig, tyro.conf.subcommand("words")]
)


PROGRAM = Program(
    prog="python -m scorer",
    script="twinscene-scorer",
    description="Train and judge scorers of images against captions on twin scenes.",
    examples=EXAMPLES,
)


def main(argv: list[str] | None = None) -> int:
    """Run one verb; the exit code."""
    try:
        _run(parse(Verb, PROGRAM, sys.argv[1:] if argv is None else argv))
    except UserError as error:
        _say_last(f"error: {error}")
        return 2
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            # Whoever writes into an open file is told of a full disk without its name.
            _say_last(f"error: the disk is full ({error.strerror}); free some space and run the same command again")
            return 2
        if error.filename is None:
            raise
        mend = next((said for kind, said in MENDS.items() if isinstance(error, kind)), "give another path")
        _say_last(f"error: {error.filename}: {error.strerror}; {mend}")
        return 2
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        _say_last(f"error: the scorer needs {error.name}; run: pip install -e '.[scorer]'")
        return 2
    except KeyboardInterrupt:
        _say_last("interrupted; the same command goes on from the last checkpoint")
        return 130
    return 0


def _say_last(text: str) -> None:
    """A line on standard error, in the place of a progress line that may stand there."""
    print(f"\r\x1b[K{text}" if sys.stderr.isatty() else text, file=sys.stderr)


def _run(config: object) -> None:
    if isinstance(config, TrainConfig):
        from scorer.splits import held_out_split
        from scorer.train import train

        best = train(config)
        split, data = held_out_split(config.data), " ".join(map(str, config.data))
        command = (
            f"{data}{' --split val' if split == 'val' else ''}" if split else "DATA, with pairs it was not trained on"
        )
        print(f"best checkpoint: {best}\nnext: python -m scorer eval {config.out} {command}")
    elif isinstance(config, BenchmarksConfig):
        from scorer.benchmarks import chosen
        from scorer.benchmarks.report import benchmarks_text

        print(benchmarks_text(chosen(config.names), config.root))
    elif isinstance(config, EvalConfig) and config.benchmark:
        from scorer.benchmarks.verb import evaluate_benchmarks

        evaluate_benchmarks(config, print)
    elif isinstance(config, EvalConfig):
        from scorer.evaluate import evaluate
        from scorer.report import report_text

        report = evaluate(config)
        print(report_text(report))
    elif isinstance(config, TablesConfig):
        from scorer.tables.verb import make_tables

        make_tables(config, print)
    elif isinstance(config, SuperpositionConfig):
        from scorer.empirical.superposition import superposition

        print(superposition(config))
    elif isinstance(config, NoiseConfig):
        from scorer.empirical.noise import noise

        print(noise(config))
    elif isinstance(config, MapsConfig):
        from scorer.empirical.maps import maps

        print(maps(config))
    elif isinstance(config, ScoreConfig):
        _check_file("--figure", config.figure, FIGURES)
        from scorer.score import score

        _print_scores(score(config))
    elif isinstance(config, WordsConfig):
        _check_file("--out", config.out)
        from scorer.openvocab import new_words

        words = new_words(config)
        if not words:
            print(f"no word that the lexicon lacks is in {config.min_count} captions (--min-count)", file=sys.stderr)
        lines = "".join(f"{word}\n" for word in words)
        if config.out is None:
            print(lines, end="")
        else:
            config.out.write_text(lines, "utf-8")
    else:
        raise AssertionError(config)


def _check_file(option: str, path: Path | None, suffixes: tuple[str, ...] = ()) -> None:
    """ConfigError for a file that could not be written once the work is done. suffixes: those it may have."""
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise ConfigError(f"{option} {path}: must end in {', '.join(suffixes[:-1])} or {suffixes[-1]}")
    if path.is_dir():
        raise ConfigError(f"{option} {path}: is a directory; give a file in it")
    if not path.parent.is_dir():
        raise ConfigError(f"{option} {path}: {missing(path.parent, 'directory')}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ConfigError(f"{option} {path}: may not be written; give another path, or change its permissions")


def _print_scores(scored: "list[Scored]") -> None:
    from scorer.report import captions_text

    top = max(item.score for item in scored)
    weights = [math.exp(item.score - top) for item in scored]
    for item, weight in zip(scored, weights, strict=True):
        mark = "*" if item.score == top and len(scored) > 1 else " "
        read = f"   (read as: {item.read})" if item.read != item.caption else ""
        alike = f"   (reads the same as: {item.alike})" if item.alike != item.caption else ""
        print(f"{mark} {item.score:9.3f}  {weight / sum(weights):6.1%}  {item.caption}{read}{alike}")
    cut = [item.cut for item in scored if item.cut]
    if cut:
        print(f"{len(cut)} of {captions_text(len(scored))} cut to {cut[0]} tokens, as the run reads no more")
