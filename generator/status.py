"""`python -m generator status DIR`: how far a run is, from its files alone, also while it runs."""

from collections import Counter
from pathlib import Path

from generator.cli import Status
from generator.errors import DataError, no_run
from generator.quarantine import quarantined
from generator.records import SPLITS
from generator.retry import current_round
from generator.shards import STAGING, read_json


def run_status(config: Status) -> int:
    """The `status` verb: 0 when the run is finished, 1 when it is not."""
    path = config.dir / "run.json"
    if not path.is_file():
        raise DataError(no_run(config.dir))
    wanted = read_json(path)["config"].get("n")
    done: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for split in SPLITS:
        shards: Counter[str] = Counter()
        for shard in (config.dir / split).glob("*.json"):
            stats = read_json(shard)
            shards.update(shards=1, planned=stats["planned"], accepted=stats["accepted"])
            reasons.update(stats["reasons"])
        if shards:
            print(f"{split}: {shards['shards']} shards, {shards['accepted']} of {shards['planned']} pairs accepted")
        done.update(shards)
    staged = sum(1 for _ in (config.dir / STAGING).glob("*/*.pair"))
    if staged:
        print(f"unfinished shards: {sum(1 for _ in (config.dir / STAGING).glob('*/'))}, {staged} pairs done in them")
    if reasons:
        print("rejected: " + ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()))
    _print_quarantine(config.dir)
    finished = not staged and (wanted is None or done["planned"] == wanted)
    if wanted is not None:
        print(f"{done['planned'] + staged} of {wanted} pairs planned are final")
    print("finished" if finished else "not finished; the same render command again goes on")
    return 0 if finished else 1


def _print_quarantine(out: Path) -> None:
    pairs, assets = quarantined(out, current_round(out))
    if pairs:
        print(f"quarantine: {pairs} pairs took the renderer down; logs in {out / 'quarantine'}")
    for asset in assets:
        print(f"  asset at fault: {asset}")
