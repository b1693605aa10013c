"""Cost and memory by size of the run: `python tests/bench/bench_scale.py [--pairs N] [--rendered N]`, without Blender.

Planned: time to the first shard, and pairs planned a second near index 1,000 and near the end of the run. Looked
through: all shards of the run, with the memory that takes. Rendered: pairs of one shard by the fake renderer, early and
late in the run. All ratios are late against early, in this one process, of CPU rather than of a busy machine's hours.

With --rendered, besides: the command itself, that many pairs through the fake renderer from end to end, then once more
as a resumed run, then `validate`; with the memory of its processes, and the last tenth of the shards against the first.
"""

import argparse
import contextlib
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from worlds import context_of

from generator.plan import ShardPlan, parse_shares, shard_plans
from generator.shard_job import Recipe, make_shard
from generator.shards import read_json, write_json
from generator.specs import RenderSettings
from generator.tasks import TASKS

FAKE_CLI = Path(__file__).resolve().parents[1] / "fake_cli.py"
SHARD, SHARES = 250, parse_shares("train=0.9,val=0.05,test=0.05")


def first_shard_s(pairs: int) -> float:
    """Seconds until the first shard of a run is known."""
    begin = time.perf_counter()
    next(shard_plans(0, pairs, SHARES, SHARD))
    return time.perf_counter() - begin


def planning_s(start: int, count: int = 400) -> float:
    """Seconds of CPU to plan one pair from `start` on."""
    context = context_of()
    TASKS["spatial"].sample(context, start, 0, "train")
    begin = time.process_time()
    for index in range(start, start + count):
        TASKS["spatial"].sample(context, index, 0, "train")
    return (time.process_time() - begin) / count


def rendering_s(start: int, count: int = 100) -> float:
    """Seconds of CPU, the renderer's included, to make one pair of a shard whose pairs begin at `start`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        write_json(out / "run.json", {})
        settings = RenderSettings("cycles", 224, 4, "cpu", 1)
        contexts = {"train": context_of()}
        recipe = Recipe("spatial", out, contexts, "fake", settings, "jpg", False, 4, 60.0, 0, "f", 0, "")
        begin = processor_s()
        plan = ShardPlan("train", 0, tuple(range(start, start + count)))
        make_shard(recipe, plan, lambda *_: None, lambda: False)
        return (processor_s() - begin) / count


def processor_s() -> float:
    """Seconds of CPU that this process has used so far, and those of its children that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def end_to_end(pairs: int) -> None:
    """Render, resume and validate a long run; print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        flags = ("--task", "spatial", "--n", str(pairs), "--renderer", "fake", "--workers", "2", "--out", str(out))
        made = watched("render", *flags)
        stats = sorted(out.glob("train/*.json"), key=lambda path: path.stat().st_mtime_ns)
        seconds = [read_json(path)["seconds"] / read_json(path)["planned"] for path in stats]
        tenth = max(1, len(seconds) // 10)
        ratio = sum(seconds[-tenth:]) / sum(seconds[:tenth])
        print(f"{pairs} pairs end to end: {made.seconds:.0f} s, {pairs / made.seconds:.0f} pairs/s")
        print(f"last tenth of the shards against the first: {ratio:.2f} x a pair")
        for who, peak in made.peaks_mib.items():
            share = 1000 * made.cpu_s[who] / pairs
            print(f"{who}: peak {peak:.0f} MiB for the largest, {share:.2f} ms of CPU a pair for all")
        print(f"the same command again, finished: {watched('render', *flags).seconds:.1f} s")
        checked = watched("validate", str(out))
        print(f"validate: {checked.seconds:.0f} s, {1000 * sum(checked.cpu_s.values()) / pairs:.2f} ms of CPU a pair")


@dataclass
class Watched:
    """A command's wall time, and by kind of process the largest resident size and all its CPU time."""

    seconds: float = 0.0
    peaks_mib: dict[str, float] = field(default_factory=dict)
    cpu_s: dict[str, float] = field(default_factory=dict)


def watched(*command: str) -> Watched:
    """Run the command line of a world without Blender to its end, looking at its processes twice a second."""
    seen = Watched()
    spent: dict[int, tuple[str, float]] = {}
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, str(FAKE_CLI), *command], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            parent = psutil.Process(process.pid)
            for member in (parent, *parent.children(recursive=True)):
                kind = "parent" if member == parent else kind_of(member)
                spent[member.pid] = (kind, sum(member.cpu_times()[:2]))
                peak = member.memory_info().rss / 2**20
                seen.peaks_mib[kind] = max(seen.peaks_mib.get(kind, 0.0), peak)
        time.sleep(0.5)
    assert process.returncode == 0, command
    seen.seconds = time.perf_counter() - begin
    for kind, seconds in spent.values():
        seen.cpu_s[kind] = seen.cpu_s.get(kind, 0.0) + seconds
    return seen


def kind_of(member: psutil.Process) -> str:
    """Renderer or worker (multiprocessing's helpers, which do nothing, count as workers)."""
    return "renderer" if "renderers.fake" in member.cmdline() else "worker"


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--rendered", type=int, default=0)
    args = parser.parse_args()
    pairs = args.pairs
    print(f"first shard of {pairs} pairs known after {first_shard_s(pairs) * 1000:.0f} ms")
    near, far = planning_s(1000), planning_s(pairs)
    print(f"planning a pair: {near * 1000:.2f} ms of CPU; late in the run {far / near:.2f} x")
    early, late = zip(*[(rendering_s(1000), rendering_s(pairs)) for _ in range(3)], strict=True)
    ratio = min(late) / min(early)
    print(f"making a pair (fake renderer): {min(early) * 1000:.1f} ms of CPU; late in the run {ratio:.2f} x")
    peaks = []
    for part in (pairs // 10, pairs):
        begin = time.perf_counter()
        shards = sum(1 for _ in itertools.chain(shard_plans(0, part, SHARES, SHARD)))
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        print(f"{part} pairs in {shards} shards: {time.perf_counter() - begin:.1f} s, peak {peaks[-1]:.0f} MiB")
    print(f"peak memory, all against a tenth of them: {peaks[1] / peaks[0]:.2f} x")
    if args.rendered:
        end_to_end(args.rendered)


if __name__ == "__main__":
    main()
