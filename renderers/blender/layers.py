"""`python -m renderers.blender.layers --log LOG`: render layers for the sprite bank, one JSON line each.

Requests: {"settings": RenderSettings} once, then {"kind", "key": PlateKey or SpriteKey, "path"} each.
Answers: {"ready", "error"}, then {"ok", "error", "bytes"} each. The layer is `{path}.npy` (uint16, (C, H, W)) and
`{path}.json`, which is written last: the "scales" that make each plane's numbers linear values again, the "shape" and
"crc32" of the numbers, and where things are in it. Both come into being under other names, so that any number of
processes may make the same layer at once.
Whole numbers, because halves of floats take twenty times as long to read.

plate: red, green, blue; the key light's share of their luminance; depth along the camera's axis in metres; 1 + the
number of the slab; and, where the stage has a projected picture, how much of its red, green and blue is seen.
own: red, green, blue in a white key light of pi W/m2; the same in a white fill of radiance 1; alpha. Premultiplied.
paint: the same without what depends on the paint, then six planes to be multiplied by its linear colour; alpha.
cast: seen from the sun, without perspective: alpha, and depth from the near side of a ball around the model on; seen
from above: how bright the floor is in the fill light against open floor.
"""

import argparse
import io
import json
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from generator.specs import RenderSettings, from_json
from renderers.answers import serve
from renderers.sprites.keys import PlateKey, SpriteKey

if TYPE_CHECKING:
    from renderers.blender.studio import Studio

# Nothing in a layer is brighter than so many times white.
WHITEST = 8.0


class Worker:
    """Holds Blender's state between requests; Blender itself is loaded by the first."""

    def __init__(self) -> None:
        self._studio: Studio | None = None

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request; a layer's failure is its answer, not the end of the process."""
        from renderers.blender import compat
        from renderers.blender.studio import Studio

        if "settings" in request:
            try:
                self._studio = Studio(from_json(RenderSettings, request["settings"]))
            except compat.DeviceError as error:
                return {"ready": False, "error": str(error)}
            return {"ready": True, "error": ""}
        assert self._studio is not None, "a layer before the settings"
        try:
            if request["kind"] == "plate":
                planes, facts = self._studio.plate(from_json(PlateKey, request["key"]))
            else:
                key: SpriteKey = from_json(SpriteKey, request["key"])
                planes, facts = self._studio.cast(key) if key.kind == "cast" else self._studio.look(key)
            size = store(Path(request["path"]), planes, facts)
        except Exception as error:  # Whatever Blender raises for this layer is the answer; the asker decides.
            return {"ok": False, "error": f"{type(error).__name__}: {error}", "bytes": 0}
        return {"ok": True, "error": "", "bytes": size}


def store(path: Path, planes: NDArray[np.float32], facts: dict[str, Any]) -> int:
    """Write a layer under other names, then rename."""
    assert np.isfinite(planes).all()
    values = np.clip(planes, 0.0, None)
    peaks = values.max(axis=(1, 2))
    # Beyond WHITEST nothing looks brighter, and what is dark would be told apart less.
    shown = np.array([plane not in facts.get("exact", ()) for plane in range(len(planes))])
    scales = np.maximum(np.where(shown, np.minimum(peaks, WHITEST), peaks), 1e-6) / 65535
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = np.ascontiguousarray(np.minimum(np.round(values / scales[:, None, None]), 65535), np.uint16)
    buffer = io.BytesIO()
    np.save(buffer, whole)
    said = {"scales": scales.tolist(), "shape": whole.shape, "crc32": zlib.crc32(whole.data), **facts}
    contents = ((".npy", buffer.getbuffer()), (".json", json.dumps(said).encode()))
    for suffix, data in contents:
        partial = path.with_name(f".{path.name}-{os.getpid()}")
        with partial.open("wb") as stream:
            stream.write(data)
            stream.flush()
            # Without it, a power cut may leave the name and none of what is in it.
            os.fsync(stream.fileno())
        partial.replace(f"{path}{suffix}")
    return sum(len(data) for _, data in contents)


def main() -> None:
    """Parse the command line and serve until stdin closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True)
    serve(parser.parse_args().log, Worker().handle)


if __name__ == "__main__":
    main()
