"""A preparing process that dies in the ways that Blender does, told by words in the file; else it refuses politely."""

import argparse
import os
import re
import time
from pathlib import Path
from typing import Any

from renderers.answers import serve


def handle(request: dict[str, Any]) -> dict[str, Any]:
    content = Path(request["source"]).read_bytes()
    marker = re.search(rb"CRASH-UNLESS ([^\"]+)", content)
    if marker is not None and Path(marker[1].decode()).exists():
        content = b""
    elif marker is not None:
        Path(marker[1].decode()).touch()
    if b"CRASH" in content:
        os.write(2, b"Segmentation fault in the importer\n")
        os.abort()
    if b"HANG" in content:
        time.sleep(60)
    if b"GROW" in content:
        hoard = bytearray(os.urandom(1)) * (1 << 29)
        time.sleep(60)
        del hoard
    return {"ok": False, "reason": "import_failed", "detail": "prepared by the stand-in"}


if __name__ == "__main__":
    print("what a library says while it loads", flush=True)
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    serve(parser.parse_args().log, handle)
