"""`python -m renderers.sprites --log LOG`: put together the jobs that come on stdin, one JSON line each.

Requests: {"settings": RenderSettings} once, then {"job": RenderJob} each, as with renderers.blender. Besides,
{"warm": RenderJob} only has the missing layers of a scene rendered, and {"missing": RenderJob} only counts them.
Answers: {"ready", "error"}, then {"job_id", "ok", "error", "seconds"} each; "warm" also says "made" and "bytes",
"missing" says "missing", the layers' names: kind-digest.
"""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.specs import RenderJob, RenderSettings, from_json
from renderers.answers import put_picture, serve

if TYPE_CHECKING:
    from renderers.sprites.bank import Bank
    from renderers.sprites.composite import Compositor


class Worker:
    """Holds the bank and what was decoded of it between requests."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._size_px = 0
        self._bank: Bank | None = None
        self._compositor: Compositor | None = None

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request; a job's failure is its answer, not the end of the process."""
        from renderers.sprites.bank import Bank, BankError
        from renderers.sprites.composite import Compositor

        if "settings" in request:
            settings: RenderSettings = from_json(RenderSettings, request["settings"])
            self._size_px = settings.size_px
            self._bank = Bank(settings, self._log)
            if settings.device not in ("auto", "cpu"):
                # Blender starts with the first layer that is missing; a device that is not here must show before.
                try:
                    self._bank.check_device()
                except BankError as error:
                    return {"ready": False, "error": str(error)}
            self._compositor = Compositor(self._bank, settings.size_px, settings.layer_cache_bytes)
            return {"ready": True, "error": ""}
        ((verb, data),) = request.items()
        job: RenderJob = from_json(RenderJob, data)
        begin = time.perf_counter()
        try:
            more = self._do(verb, job)
        except Exception as error:  # Whatever goes wrong with this job is recorded with it; the parent counts them.
            return {"job_id": job.job_id, "ok": False, "error": f"{type(error).__name__}: {error}", "seconds": 0.0}
        return {"job_id": job.job_id, "ok": True, "error": "", "seconds": time.perf_counter() - begin, **more}

    def _do(self, verb: str, job: RenderJob) -> dict[str, Any]:
        from renderers.sprites.keys import name_of, scene_keys

        assert self._bank is not None, "a job before the settings"
        assert self._compositor is not None
        if verb == "warm":
            made, size = self._bank.make(scene_keys(job.scene, self._size_px))
            return {"made": made, "bytes": size}
        if verb == "missing":
            missing = self._bank.missing(scene_keys(job.scene, self._size_px))
            return {"missing": [name_of(key) for key in missing]}
        assert verb == "job", verb
        put_picture(job.out, *self._compositor.render(job.scene, job.seed))
        return {}


def main() -> None:
    """Parse the command line and serve until stdin closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True)
    log = parser.parse_args().log
    serve(log, Worker(Path(log)).handle)


if __name__ == "__main__":
    main()
