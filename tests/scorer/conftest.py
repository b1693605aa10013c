"""Without the scorer's extra only the test that says so is collected."""

import importlib.util

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_scorer_[!i]*.py"]
else:
    from scorer_fixtures import cache, clip, clip_name, config, data, run

    __all__ = ["cache", "clip", "clip_name", "config", "data", "run"]
