"""`render --dry-run`: the plan without a picture, to look at captions and balance."""

from collections import Counter
from dataclasses import asdict

from generator.cli import Render
from generator.plan import parse_shares, shard_plans
from generator.tasks import TASKS, Context

SHOWN = 5


def show_plan(config: Render, contexts: dict[str, Context]) -> int:
    """Write OUT/plan.parquet (first attempts of every pair) and print captions and counts."""
    import pyarrow
    import pyarrow.parquet

    assert config.out is not None
    config.out.mkdir(parents=True, exist_ok=True)
    path = config.out / "plan.parquet"
    roles, facts, splits = dict[str, Counter[str]](), Counter[str](), Counter[str]()
    writer: pyarrow.parquet.ParquetWriter | None = None
    shown = 0
    for plan in shard_plans(config.seed, config.n, parse_shares(config.split), config.shard_size):
        specs = [TASKS[config.task].sample(contexts[plan.split], index, 0, plan.split) for index in plan.indices]
        for spec in specs:
            splits[spec.split] += 1
            facts[spec.fact.value_0 if spec.fact.kind == "relation" else spec.fact.kind] += 1
            for item in spec.scenes[0].objects:
                roles.setdefault(item.role, Counter())[item.noun] += 1
            if shown < SHOWN:
                shown += 1
                print(f"{spec.key}  {' | '.join(spec.captions_0)}  ##  {' | '.join(spec.captions_1)}")
        rows = [
            {
                "key": spec.key,
                "split": spec.split,
                "index": spec.index,
                "captions_0": list(spec.captions_0),
                "captions_1": list(spec.captions_1),
                "fact": asdict(spec.fact),
                "nouns": [item.noun for scene in spec.scenes for item in scene.objects],
                "uids": [item.uid for scene in spec.scenes for item in scene.objects],
                "stage": spec.scenes[0].stage,
                "background": spec.scenes[0].background,
            }
            for spec in specs
        ]
        table = pyarrow.Table.from_pylist(rows)
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer:
        writer.close()
    print(f"splits: {dict(splits)}")
    print(f"facts of image 0: {dict(facts)}")
    for role, counts in sorted(roles.items()):
        print(f"role {role}: {len(counts)} nouns, each {min(counts.values())} to {max(counts.values())} times")
    print(f"plan: {path}")
    return 0
