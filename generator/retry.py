"""`--retry-rejected`: another round of attempts for the pairs that were rejected, as if there had been more from the
start.

OUT/retry.json holds the number of the round and whether it is still open; an interrupted round goes on, with or
without the flag. In round k a pair has (1 + k) times the attempts of --attempts. A shard enters a round once: its
accepted pairs stay as they are, byte for byte; its rejected ones are marked in its journal.
"""

from pathlib import Path
from typing import Any

from generator.records import read_shard
from generator.render import FAULTS
from generator.shards import ShardStage, read_json, read_rows, write_json

# Reasons that say nothing of the pair's attempts: these are tried from the first one again.
FROM_THE_START = (*FAULTS.values(), "render_failed", "asset_quarantined")


def begin_round(out: Path) -> None:
    """Open the next round, unless one is open."""
    state = _state(out)
    if not state["open"]:
        write_json(out / "retry.json", {"round": int(state["round"]) + 1, "open": True})


def current_round(out: Path) -> int:
    """The last round begun; 0 before the first."""
    return int(_state(out)["round"])


def end_round(out: Path) -> None:
    """Close the round, if one is open: all shards are complete."""
    state = _state(out)
    if state["open"]:
        write_json(out / "retry.json", {"round": state["round"], "open": False})


def is_behind(stats: dict[str, object], round_number: int) -> bool:
    """Whether a complete shard, by its json, has rejected pairs that this round is to try again."""
    return bool(stats["rejected"]) and int(str(stats.get("round", 0))) < round_number


def open_round(stage: ShardStage, round_number: int) -> None:
    """Bring a shard into the round: unseal it when complete, and mark its rejected pairs for another try.

    Can be interrupted anywhere and done again: the staged pairs are whole before the shard's json goes.
    """
    if not round_number:
        return
    mark = stage.folder / f"round-{round_number}"
    if stage.complete():
        path = stage.base.with_suffix(".json")
        if not is_behind(read_json(path), round_number):
            return
        stage.clear()
        _unseal(stage)
        mark.touch()
        path.unlink()
    elif not mark.exists():
        for row in stage.done().values():
            if row.status == "rejected":
                stage.try_again(row)
        stage.folder.mkdir(parents=True, exist_ok=True)
        mark.touch()


def retries(stage: ShardStage) -> dict[int, int]:
    """The attempt to begin with, by index, of the pairs marked for another try."""
    return {index: 0 if row.reason in FROM_THE_START else row.attempts for index, row in stage.to_try_again().items()}


def _unseal(stage: ShardStage) -> None:
    for row in read_rows(stage.base.with_suffix(".parquet")):
        if row.status == "rejected":
            stage.try_again(row)
    for sample in read_shard(stage.base.with_suffix(".tar")):
        stage.accept(sample.record, sample.files)


def _state(out: Path) -> dict[str, Any]:
    path = out / "retry.json"
    return read_json(path) if path.exists() else {"round": 0, "open": False}
