"""Errors a user can cause, each one clear line: what is wrong, where, and the mend.

`python -m generator` prints such an error without a traceback and exits with code 2. A programmer's
mistake is an assertion instead. What a name or a path was probably meant to be is said by the functions below.
"""

import difflib
import itertools
from collections.abc import Iterable
from pathlib import Path

# Known names that a message lists, and entries of a directory that are compared with a mistyped one.
LISTED, LOOKED_AT = 24, 10_000


class UserError(Exception):
    """Base of all errors that the user can mend."""


class ConfigError(UserError):
    """A flag, or a combination of flags, that makes no sense."""


class VocabularyError(UserError):
    """A template or vocabulary file is missing, malformed or contradicts another."""


class AssetError(UserError):
    """Assets are missing, unreadable, or too few for the task."""


class BackgroundError(UserError):
    """A background folder is missing, empty or unreadable."""


class OutputError(UserError):
    """The output directory cannot be used: not writable, or it holds another run."""


class DataError(UserError):
    """A shard, record or annotation file is missing, truncated or not what it claims to be."""


class RendererError(UserError):
    """The renderer cannot be started or keeps failing."""


class DependencyError(UserError):
    """An optional package or system library is needed and not installed."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant, "" when none is near. Case, spaces, "-" and "_" do not matter."""
    plain = {_plain(item): item for item in known}
    # difflib takes "cra" for "cat" before it takes it for "car": letters in another order come first.
    letters = sorted(_plain(name))
    near = [item for item in plain if sorted(item) == letters] or difflib.get_close_matches(_plain(name), plain, 1)
    return plain[near[0]] if near else ""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """ "unknown colour 'gren'; did you mean 'green'? known: red, green, ...", for an error's message."""
    listed = list(known)
    near = nearest(name, listed)
    hint = f"did you mean {near!r}? " if near else ""
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    return f"unknown {what} {name!r}; {hint}known: {', '.join(listed[:LISTED])}{more}"


def missing(path: Path, what: str = "file or directory", instead: Iterable[str] = ()) -> str:
    """ "no such directory runs/demp; did you mean runs/demo?", for a message about a path that is not there.

    instead: words that may stand in its place, as "bundled" does for a directory of models.
    """
    near = nearest(str(path), instead) or _near_path(path)
    return f"no such {what} {path}" + (f"; did you mean {near}?" if near else "")


def no_run(path: Path) -> str:
    """What is wrong with a path that should be a run directory and holds no run.json."""
    if not path.exists():
        return missing(path, "directory")
    runs = sorted(found.parent for found in path.glob("*/run.json"))
    hint = f"; did you mean {runs[0]}?" if runs else "; give what --out of render was"
    return f"{path}: not a run directory (no run.json){hint}"


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ").replace("-", " ")


def _near_path(path: Path) -> Path | None:
    """The path with its first part that is not there replaced by what is there and nearly called so."""
    # From the longest part that exists: in runs/demp/train it is "demp" that is mistyped.
    for parent in path.parents:
        if parent.is_dir():
            wrong, *rest = path.relative_to(parent).parts
            try:
                near = nearest(wrong, (item.name for item in itertools.islice(parent.iterdir(), LOOKED_AT)))
            except OSError:
                return None
            found = parent / near / Path(*rest)
            return found if near and found.exists() else None
    return None
