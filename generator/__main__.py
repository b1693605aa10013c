"""`python -m generator VERB ...`"""

import os
import sys

from generator.errors import UserError
from generator.threads import one_thread

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run one verb; its exit code. A user's mistake is one line on stderr and code 2."""
    one_thread(os.environ)
    try:
        from generator.dispatch import run
    except ModuleNotFoundError as error:
        mend = "activate the environment (. .venv/bin/activate), or make one with `make demo`"
        print(f"error: {sys.executable} has no package {error.name}; {mend}", file=sys.stderr)
        return 2
    try:
        return run(sys.argv[1:] if arguments is None else arguments)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; what is finished is kept: run the same command again to go on", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
