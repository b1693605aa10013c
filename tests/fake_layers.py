"""`python -m tests.fake_layers --log LOG`: a sprite renderer without Blender, whose layers are empty files.

It says what is missing by the real keys' names, and takes as long as a layer's name says: nothing. A model called
"broken" fails, one called "deadly" takes the process down.
"""

import argparse
import json
import os
import signal
from pathlib import Path
from typing import Any

from generator.specs import RenderJob, RenderSettings, from_json, to_json
from renderers.answers import serve
from renderers.sprites.keys import Key, kind_of, scene_keys


class Worker:
    """Makes layers, each in a folder of its kind."""

    def __init__(self) -> None:
        self._bank = Path()
        self._size_px = 0

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer as `renderers.sprites` does."""
        if "settings" in request:
            settings: RenderSettings = from_json(RenderSettings, request["settings"])
            self._bank, self._size_px = Path(settings.bank), settings.size_px
            return {"ready": True, "error": ""}
        ((verb, data),) = request.items()
        job: RenderJob = from_json(RenderJob, data)
        missing = [key for key in scene_keys(job.scene, self._size_px) if not self._path(key).exists()]
        answer = {"job_id": job.job_id, "ok": True, "error": "", "seconds": 0.0}
        if verb == "missing":
            return {**answer, "missing": [self._path(key).stem for key in missing]}
        models = " ".join(item.model for item in job.scene.objects)
        if "deadly" in models:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "broken" in models:
            return {**answer, "ok": False, "error": "this model is broken"}
        for key in missing:
            path = self._path(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".npy").write_bytes(bytes(1000))
            with path.open("a") as stream:  # Appended: a layer made twice shows.
                stream.write("{}\n")
        return {**answer, "made": len(missing), "bytes": 1000 * len(missing)}

    def _path(self, key: Key) -> Path:
        """By the key itself, not by the contents of models, which are not on disk."""
        import hashlib

        name = hashlib.sha256(json.dumps(to_json(key), sort_keys=True).encode()).hexdigest()[:32]
        return self._bank / "v0-test" / f"{kind_of(key)}-{name[:2]}" / f"{kind_of(key)}-{name}.json"


def main() -> None:
    """Parse the command line and serve until stdin closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True)
    serve(parser.parse_args().log, Worker().handle)


if __name__ == "__main__":
    main()
