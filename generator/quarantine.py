"""What renderers failed at, in OUT/quarantine: one file a pair or asset, with the reason and the end of the log.

An asset that cannot be rendered even alone is guilty, whatever pairs it was in; that is a property of the asset, so
which pairs it takes part in does not depend on who found out first. Its pairs draw another asset where there is one.
Each round of --retry-rejected starts with an empty quarantine of its own.
"""

import hashlib
from pathlib import Path
from typing import Any

from generator.errors import DataError
from generator.render import RenderFault, RenderProcess, only
from generator.shards import read_json, write_json
from generator.specs import PairSpec

FOLDER = "quarantine"


class Quarantine:
    """The quarantine of one run directory, shared by all its workers through the file system."""

    def __init__(self, out: Path, round_number: int) -> None:
        folder = out / FOLDER / f"round-{round_number}"
        self._pairs, self._assets = folder / "pairs", folder / "assets"
        self._known: dict[str, str] = {}
        self._seen: set[Path] = set()
        self.refresh()

    def refresh(self) -> None:
        """Take in what other workers have found."""
        for path in set(self._assets.glob("*.json")) - self._seen:
            try:
                entry = read_json(path)
            except DataError:
                continue  # Damaged: the asset is found out anew.
            self._seen.add(path)
            self._known[entry["uid"]] = entry["reason"]

    def guilty(self, spec: PairSpec) -> str:
        """ "uid: reason" of the first asset of the pair that is in quarantine, "" when none is."""
        uids = (item.uid for scene in spec.scenes for item in scene.objects)
        return next((f"{uid}: {self._known[uid]}" for uid in uids if uid in self._known), "")

    def add(self, spec: PairSpec, fault: RenderFault, renderer: RenderProcess) -> None:
        """Record a pair that failed twice, and find out by rendering its assets alone whether one of them is at fault.

        Where every asset fails alone, the machine is broken or the stage is, and no asset is blamed.
        """
        entry = {"key": spec.key, "attempt": spec.attempt, **_told(fault)}
        write_json(self._pairs / f"{spec.key}-{spec.attempt}.json", entry)
        alone = {
            item.uid: (scene, number) for scene in spec.scenes for number, item in enumerate(scene.objects)
        }  # Each asset once.
        faults = {uid: renderer.render_alone(spec, only(*place)) for uid, place in alone.items()}
        if all(faults.values()):
            return
        for uid, found in faults.items():
            if found is not None:
                name = hashlib.sha256(uid.encode()).hexdigest()[:20]
                write_json(self._assets / f"{name}.json", {"uid": uid, "pair": spec.key, **_told(found)})
        self.refresh()


def quarantined(out: Path, round_number: int) -> tuple[int, list[str]]:
    """How many pairs failed in a round of a run, and which assets are at fault, with their reasons."""
    folder = out / FOLDER / f"round-{round_number}"
    assets = [read_json(path) for path in sorted((folder / "assets").glob("*.json"))]
    return sum(1 for _ in (folder / "pairs").glob("*.json")), [f"{item['uid']}: {item['reason']}" for item in assets]


def _told(fault: RenderFault) -> dict[str, Any]:
    return {"reason": fault.reason, "detail": fault.detail, "log_tail": fault.log_tail}
