"""Public benchmarks, as their authors evaluate them.

To add a benchmark, write ONE file beside this one and put its BENCHMARK into the list below:

    BENCHMARK = Benchmark(name, title, paper, protocol, parts, load, averages)

- parts: a `Part` for every number that a paper would print, with its `kind`, the file its rows come from and the folder
  of its images. Both are a `Source` (origin, licence, places below the root; the first place is the usual one:
  `<name>/<layout of the official repository>`). Image sets that several benchmarks share stand in places.py.
- load(root, part) -> `Loaded`: the rows of one part, called only when the part's annotation file exists. It reads with
  `read_json`, `read_table` and `texts_of`, raises DataError naming file and row, opens no image, and keeps
  every row in the file's order. Rows that the official protocol drops are counted in `excluded`. A protocol that makes
  its options by chance draws from scorer.seeding.seed_of with a path of its own, so that all scorers see the same.
- Captions stay in the official file's order: the place of the truth goes to `Example.truth`. They are shown to the
  scorer in an order drawn by seed, and ties are never correct.

Kinds (kinds.py); values, chance and protocol of every figure come from them:

- `Choice(official, recall_at)`: one image, k captions, `truth`. official="argmax" where the authors take the argmax of
  the file's order (ties then depend on the place of the truth): both figures are reported. recall_at=(1, 3, 5) adds
  recall@k and the mean rank. Classification is Choice(name="top1", prompts=P): all rows share one tuple of captions, P
  in a row for each class, `label` is the class, `macro` all labels, and "macro_top1" is the mean per class.
  official_first: the authors' code stops after so many rows. auroc: one threshold for all captions.
- `Twins(headline, half)`: two images, two captions, image i belongs to caption i: text, image and group score.
- `TwoPositives()`: captions (P1, P2, N).
- `Retrieval(recall_at)`: a row is an image with its own captions; recall@k both ways over the part.

`Loaded` also says which rows go together (`together={"pair": [(0, 3), ...]}` adds "pair_accuracy": all of them right),
which labels enter the macro average (`macro`: every other label still gets its line), and notes on the data.
`Benchmark.averages` names plain means over parts.

To judge: `run_benchmark(judges, benchmark, root)` in run.py; judges are made in runs.py.
Tests: tests/scorer/benchmarks has judges that know nothing, everything, or toss a coin (bench_judges.py); a line in
ROWS of test_bench_real.py puts a benchmark's real rows before them.
"""

from scorer.benchmarks import (
    aro,
    aro_order,
    caltech101,
    clevr_bind,
    crepe,
    flowers102,
    mmvp_vlm,
    ncd,
    negbench,
    sugarcrepe,
    sugarcrepe_pp,
    valse,
    vl_checklist,
    whatsup,
    winoground,
)
from scorer.benchmarks.base import Benchmark
from scorer.errors import ConfigError, unknown

__all__ = ["BENCHMARKS", "chosen"]

# Those of the DCSM paper's tables first.
BENCHMARKS: dict[str, Benchmark] = {
    module.BENCHMARK.name: module.BENCHMARK
    for module in (
        clevr_bind,
        ncd,
        aro,
        whatsup,
        negbench,
        sugarcrepe,
        vl_checklist,
        caltech101,
        flowers102,
        aro_order,
        sugarcrepe_pp,
        crepe,
        valse,
        winoground,
        mmvp_vlm,
    )
}


def chosen(names: tuple[str, ...]) -> list[Benchmark]:
    """The benchmarks of these names; "all" is all of them. ConfigError for an unknown name."""
    wanted = tuple(BENCHMARKS) if "all" in names else tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in BENCHMARKS:
            raise ConfigError(f"--benchmark: {unknown('benchmark', name, ['all', *BENCHMARKS])}")
    return [BENCHMARKS[name] for name in wanted]
