"""The child's side of the line protocol: requests come on stdin, answers go to the pipe that was stdout."""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def serve(log: str, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer each line of stdin with one line until stdin closes.

    File descriptors 1 and 2 are sent to the log first: Blender's C code prints there whatever Python is told.
    """
    _end_with_parent()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    for line in sys.stdin:
        answers.write(json.dumps(handle(json.loads(line))) + "\n")
    answers.flush()


def put_picture(out: str, image: NDArray[np.uint8], visible: NDArray[np.uint8], amodal: NDArray[np.bool_]) -> None:
    """Write what a job made to `{out}.raw`, as RenderJob says: image (H, W, 3), visible (H, W), amodal (n, H, W).

    Both sides know the shapes: an archive's headers and checksums would cost more than the bytes themselves. A file
    that is there is overwritten in place: to cut it first would cost ten times as much.
    """
    size_px = len(visible)
    assert image.shape == (size_px, size_px, 3), image.shape
    assert visible.shape == amodal.shape[1:] == (size_px, size_px), (visible.shape, amodal.shape)
    with os.fdopen(os.open(f"{out}.raw", os.O_WRONLY | os.O_CREAT, 0o600), "wb", buffering=0) as stream:
        for part in (image, visible, amodal):
            stream.write(np.ascontiguousarray(part).data)
        stream.truncate()


def _end_with_parent() -> None:
    """Let the kernel end this process with its parent, also in the middle of a render, when nobody reads stdin.

    Elsewhere than on Linux the end of stdin has to do. (The thread that started us counts as the parent.)
    """
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
