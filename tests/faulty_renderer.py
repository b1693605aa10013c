"""`python -m tests.faulty_renderer --log LOG`: the fake renderer with faults on order, for tests of supervision.

TWINSCENE_FAULTS is JSON: {"crash": ["uid", ...], "hang": [...], "grow": [...], "fail": [...], "once": FOLDER}. A fault
strikes at every job that shows one of its uids; with "once", only the first time that a fault meets a job's key.
"""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from renderers.answers import serve
from renderers.fake import Worker

GROWTH_BYTES = 400 << 20


class FaultyWorker(Worker):
    """Draws as the fake renderer does, unless a fault is due."""

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[str, Any] = json.loads(os.environ.get("TWINSCENE_FAULTS", "{}"))
        self._ballast: list[bytes] = []

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer, crash, hang, grow or fail."""
        if "job" in request:
            uids = {item["uid"] for item in request["job"]["scene"]["objects"]}
            for fault in ("crash", "hang", "grow", "fail"):
                if uids & set(self._faults.get(fault, ())) and self._due(fault, request["job"]["job_id"]):
                    print(f"about to {fault}", file=sys.stderr, flush=True)
                    return self._misbehave(fault, request["job"]["job_id"])
        return super().handle(request)

    def _due(self, fault: str, job_id: str) -> bool:
        if "once" not in self._faults:
            return True
        mark = Path(self._faults["once"]) / f"{fault}-{job_id.partition('/')[0]}"
        if mark.exists():
            return False
        mark.touch()
        return True

    def _misbehave(self, fault: str, job_id: str) -> dict[str, Any]:
        if fault == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if fault == "hang":
            time.sleep(3600)
        if fault == "grow":
            self._ballast.append(b"\1" * GROWTH_BYTES)
            time.sleep(3600)
        return {"job_id": job_id, "ok": False, "error": "RuntimeError: no such node", "seconds": 0.0}


def main() -> None:
    """Parse the command line and serve until stdin closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True, type=Path)
    serve(str(parser.parse_args().log), FaultyWorker().handle)


if __name__ == "__main__":
    main()
