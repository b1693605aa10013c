"""`python -m renderers.blender --log LOG`: render the jobs that come on stdin, one JSON line each.

Requests: {"settings": RenderSettings} once, then {"job": RenderJob} each.
Answers: {"ready", "error"}, then {"job_id", "ok", "error", "seconds"} each.
"""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.specs import RenderJob, RenderSettings, from_json
from renderers.answers import put_picture, serve

if TYPE_CHECKING:
    from renderers.blender.scene import Stagehand


class Worker:
    """Holds Blender's state between requests; Blender itself is loaded by the first."""

    def __init__(self) -> None:
        self._stagehand: Stagehand | None = None

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request; a job's failure is its answer, not the end of the process."""
        from renderers.blender import compat, passes
        from renderers.blender.scene import Stagehand

        if "settings" in request:
            self._stagehand = self._stagehand or Stagehand()
            settings: RenderSettings = from_json(RenderSettings, request["settings"])
            try:
                passes.set_up(self._stagehand.beauty, self._stagehand.masks, settings)
            except compat.DeviceError as error:
                return {"ready": False, "error": str(error)}
            return {"ready": True, "error": ""}
        job: RenderJob = from_json(RenderJob, request["job"])
        begin = time.perf_counter()
        try:
            self._render(job)
        except Exception as error:  # Whatever Blender raises for this job is recorded with it; the parent counts them.
            return {"job_id": job.job_id, "ok": False, "error": f"{type(error).__name__}: {error}", "seconds": 0.0}
        return {"job_id": job.job_id, "ok": True, "error": "", "seconds": time.perf_counter() - begin}

    def _render(self, job: RenderJob) -> None:
        from renderers.blender import passes

        assert self._stagehand is not None, "a job before the settings"
        self._stagehand.build(job.scene)
        image = passes.render_picture(self._stagehand.beauty, Path(f"{job.out}.png"), job.seed)
        visible, amodal = passes.render_masks(self._stagehand.masks, Path(f"{job.out}.exr"), len(job.scene.objects))
        put_picture(job.out, image, visible, amodal)


def main() -> None:
    """Parse the command line and serve until stdin closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True)
    serve(parser.parse_args().log, Worker().handle)


if __name__ == "__main__":
    main()
