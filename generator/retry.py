"""`--retry-rejected`: another round of attempts for the pairs that were rejected, as if there had been more from the
start.

OUT/retry.json holds the number of the round and whether it is still open; an interrupted round goes on, with or
without the flag. In round k a pair has (1 + k) times the attempts of --attempts. A shard enters a round once: its
accepted pairs stay as they are, byte for byte; its rejected ones become `{index}.retry` files in its staging folder.
"""

from pathlib import Path
from typing import Any

from generator.errors import DataError
from generator.records import dump, read_shard
from generator.render import FAULTS
from generator.shards import ShardStage, put_staged, read_json, read_rows, read_staged, row_of, tar_fragment, write_json

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
        for path in stage.folder.glob("*.pair"):
            try:
                row, _ = read_staged(path)
            except DataError:
                continue
            if row.status == "rejected":
                path.replace(path.with_suffix(".retry"))
        stage.folder.mkdir(parents=True, exist_ok=True)
        mark.touch()


def retries(stage: ShardStage) -> dict[int, int]:
    """The attempt to begin with, by index, of the pairs marked for another try."""
    found: dict[int, int] = {}
    for path in stage.folder.glob("*.retry"):
        try:
            row, _ = read_staged(path)
        except DataError:
            continue  # Damaged: from the first attempt, which comes to the same.
        found[row.index] = 0 if row.reason in FROM_THE_START else row.attempts
    return found


def _unseal(stage: ShardStage) -> None:
    for row in read_rows(stage.base.with_suffix(".parquet")):
        if row.status == "rejected":
            put_staged(stage.folder / f"{row.index:09d}.retry", row, b"")
    for sample in read_shard(stage.base.with_suffix(".tar")):
        record = sample.record
        fragment = tar_fragment(record.key, {**sample.files, "json": dump(record)})
        put_staged(stage.folder / f"{record.index:09d}.pair", row_of(record), fragment)


def _state(out: Path) -> dict[str, Any]:
    path = out / "retry.json"
    return read_json(path) if path.exists() else {"round": 0, "open": False}
