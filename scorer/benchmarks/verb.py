"""The eval verb on benchmarks: judges and reports on disk, one benchmark after the other."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from scorer import checkpoint
from scorer.benchmarks import chosen
from scorer.benchmarks.judges import Judge, Shorter
from scorer.benchmarks.report import plain, report_text
from scorer.benchmarks.run import BenchmarkReport, NotFoundError, run_benchmark
from scorer.benchmarks.runs import CosineJudge, RunJudge
from scorer.benchmarks.towers import TowerPool
from scorer.cache import default_root
from scorer.configs import EvalConfig
from scorer.errors import ConfigError, DataError, DependencyError, missing
from scorer.features import label
from scorer.splits import show_progress


def evaluate_benchmarks(config: EvalConfig, say: Callable[[str], None]) -> list[BenchmarkReport]:
    """Judge a run, the plain CLIP of its towers and of --clip, and the control that never looks.

    Writes OUT/NAME.md and OUT/NAME.json after each benchmark, and the scores under OUT/scores. With "all", benchmarks
    that are not found under the root, or need a package that is not here, are said and passed over; so are those with a
    damaged file, which a DataError at the end lists. Raises a UserError for anything unusable.
    """
    wanted = chosen(config.benchmark)
    root = _checked_root(config)
    out = config.out or _default_out(config)
    judges = judges_of(config)
    out.mkdir(parents=True, exist_ok=True)  # an unusable --out is said before the work
    reports = []
    damaged: list[str] = []
    for benchmark in wanted:
        try:
            report = run_benchmark(judges, benchmark, root, out / "scores", config.resamples, config.seed)
        except (DataError, DependencyError) as error:
            if "all" not in config.benchmark:
                raise
            say(f"{benchmark.name} is passed over: {error}\n")
            if not isinstance(error, NotFoundError | DependencyError):
                damaged.append(f"{benchmark.name} ({error})")
            continue
        (out / f"{benchmark.name}.json").write_text(json.dumps(plain(report), indent=1), "utf-8")
        (out / f"{benchmark.name}.md").write_text(report_text(report), "utf-8")
        say(report_text(report))
        reports.append(report)
    if not reports and not damaged:
        raise DataError(f"--root {root}: no benchmark is found there; see: python -m scorer benchmarks --root {root}")
    if reports:
        say(f"reports: {out}")
    if damaged:
        raise DataError(f"passed over, as their files are damaged: {'; '.join(damaged)}")
    return reports


def judges_of(config: EvalConfig) -> list[Judge]:
    """The run first, then plain CLIP, then the control."""
    pool = TowerPool(config.device, config.cache or default_root(), show_progress)
    judges: list[Judge] = []
    towers: dict[tuple[str, str], None] = {}
    if config.run is not None:
        path = checkpoint.checkpoint_path(config.run)
        judges.append(RunJudge(str(config.run), path, pool, config.llm))
        meta, _ = checkpoint.read(path)
        towers[meta.clip, meta.pretrained] = None
    if config.clip is not None:
        towers[config.clip, config.pretrained] = None
    plain_clips: dict[str, Judge] = {}
    for clip, pretrained in towers:
        # A model that has no tag of weights is the same whatever --pretrained says.
        plain_clips.setdefault(label(clip, pretrained), CosineJudge(pool.of(clip, pretrained)))
    return [*judges, *plain_clips.values(), Shorter()]


def _checked_root(config: EvalConfig) -> Path:
    if config.data:
        raise ConfigError(f"{config.data[0]}: --benchmark takes no data; its files are found under --root")
    if config.run is None and config.clip is None:
        raise ConfigError("give a run to judge, or --clip NAME for plain CLIP")
    if config.root is None:
        raise ConfigError("--benchmark needs --root PATH; see: python -m scorer benchmarks")
    if not config.root.is_dir():
        raise ConfigError(f"--root: {missing(config.root, 'directory')}")
    if config.resamples < 0:
        raise ConfigError(f"--resamples {config.resamples}: must not be negative")
    return config.root


def _default_out(config: EvalConfig) -> Path:
    if config.run is not None:
        return (config.run if config.run.is_dir() else config.run.parent) / "benchmarks"
    assert config.clip is not None
    return Path("runs/benchmarks") / re.sub(r"[^A-Za-z0-9.-]+", "_", label(config.clip, config.pretrained))
