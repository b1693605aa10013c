"""Errors a user can cause, each one clear line: what is wrong, where, and the mend.

`python -m generator` prints such an error without a traceback and exits with code 2. A programmer's
mistake is an assertion instead.
"""


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
