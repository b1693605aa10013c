"""`python -m generator status DIR`: how far a run is, from its files alone, also while it runs.

Of a run in a store: the shards that are there; and, from this machine's own folder, what it has in hand.
"""

from collections import Counter
from pathlib import Path

from generator.cli import Status
from generator.journal import count_staged
from generator.quarantine import quarantined
from generator.records import SPLITS
from generator.retry import current_round
from generator.shards import STAGING, read_json
from generator.storage import Reading, is_stats, url_of, work_folder


def run_status(config: Status) -> int:
    """The `status` verb: 0 when the run is finished, 1 when it is not."""
    from generator.pipeline import cache_folder

    run = Reading(config.dir)
    names = run.names()
    wanted = run.described(names)["config"].get("n")
    url = url_of(config.dir)
    with run.at_hand(filter(is_stats, names)) as folder:
        planned = _print_shards(folder)
    # What this machine has in hand of a run in a store is in a folder of its own.
    own = work_folder(url, cache_folder()) if url else config.dir
    staged = count_staged(own / STAGING)
    if staged:
        here = " on this machine" if url else ""
        stages = sum(1 for _ in (own / STAGING).glob("*/"))
        print(f"unfinished shards{here}: {stages}, {staged} pairs done in them")
    _print_quarantine(own)
    finished = not staged and (wanted is None or planned == wanted)
    if wanted is not None:
        print(f"{planned + staged} of {wanted} pairs planned are final")
    print("finished" if finished else "not finished; the same render command again goes on")
    return 0 if finished else 1


def _print_shards(folder: Path) -> int:
    """Say what the complete shards hold; the pairs planned in them."""
    planned = 0
    reasons: Counter[str] = Counter()
    for split in SPLITS:
        shards: Counter[str] = Counter()
        for shard in (folder / split).glob("*.json"):
            stats = read_json(shard)
            shards.update(shards=1, planned=stats["planned"], accepted=stats["accepted"])
            reasons.update(stats["reasons"])
        if shards:
            print(f"{split}: {shards['shards']} shards, {shards['accepted']} of {shards['planned']} pairs accepted")
        planned += shards["planned"]
    if reasons:
        print("rejected: " + ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()))
    return planned


def _print_quarantine(out: Path) -> None:
    pairs, assets = quarantined(out, current_round(out))
    if pairs:
        print(f"quarantine: {pairs} pairs took the renderer down; logs in {out / 'quarantine'}")
    for asset in assets:
        print(f"  asset at fault: {asset}")
