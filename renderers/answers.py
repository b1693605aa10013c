"""The child's side of the line protocol: requests come on stdin, answers go to the pipe that was stdout."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any


def serve(log: str, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer each line of stdin with one line until stdin closes.

    File descriptors 1 and 2 are sent to the log first: Blender's C code prints there whatever Python is told.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    for line in sys.stdin:
        answers.write(json.dumps(handle(json.loads(line))) + "\n")
    answers.flush()
