"""The tables verb: every benchmark once for all rows, then the tables and the scaling figure."""

import json
from collections.abc import Callable
from pathlib import Path

from scorer.benchmarks.base import Benchmark
from scorer.benchmarks.judges import Judge
from scorer.benchmarks.report import plain
from scorer.benchmarks.run import BenchmarkReport, NotFoundError, run_benchmark
from scorer.benchmarks.towers import TowerPool
from scorer.cache import default_root
from scorer.configs import TablesConfig
from scorer.errors import ConfigError, DataError, DependencyError, missing
from scorer.splits import show_progress
from scorer.tables.cells import Figure, figure_of, needed
from scorer.tables.layout import chosen_layouts
from scorer.tables.rows import in_order, rows_of
from scorer.tables.scaling import draw_scaling
from scorer.tables.write import Table, write_tables


def make_tables(config: TablesConfig, say: Callable[[str], None]) -> list[Table]:
    """Judge all rows and write OUT/tables.{md,csv,json}, OUT/table-N.tex and, for several runs, OUT/scaling.{png,svg}.

    A benchmark that is not under the root, or needs a package that is not here, leaves n/a and its reason. Scores are
    kept under OUT/scores: the same command goes on where it stopped. Raises a UserError for anything unusable, and
    when there is no figure at all.
    """
    tables = chosen_layouts(config.table)
    if not config.root.is_dir():
        raise ConfigError(f"--root: {missing(config.root, 'directory')}")
    if config.resamples < 0:
        raise ConfigError(f"--resamples {config.resamples}: must not be negative")
    pool = TowerPool(config.device, config.cache or default_root(), show_progress)
    rows = rows_of(config, pool)
    config.out.mkdir(parents=True, exist_ok=True)  # an unusable --out is said before the work
    judges = [row.judge for row in rows]
    reports = {item.name: _report(item, judges, config, say) for item in needed(tables)}
    figures: dict[str, Figure] = {
        column.key: figure_of(column, reports[column.benchmark]) for table in tables for column in table.columns
    }
    if all(figure.reason for figure in figures.values()):
        raise DataError(
            f"--root {config.root}: nothing for these tables is found there; "
            f"see: python -m scorer benchmarks --root {config.root}"
        )
    made = [Table(table, in_order(rows, table), figures, config.published) for table in tables]
    say(write_tables(made, config.out))
    say(draw_scaling(rows, tables, figures, config.scale, config.out))
    return made


def _report(
    benchmark: Benchmark, judges: list[Judge], config: TablesConfig, say: Callable[[str], None]
) -> BenchmarkReport | str:
    try:
        report = run_benchmark(judges, benchmark, config.root, config.out / "scores", config.resamples, config.seed)
    except (NotFoundError, DependencyError) as error:
        say(f"n/a: {error}")
        return str(error)
    folder: Path = config.out / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{benchmark.name}.json").write_text(json.dumps(plain(report), indent=1), "utf-8")
    return report
