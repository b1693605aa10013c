"""`python -m generator audit DIR...`: could a model be right without reading the captions or looking at the objects?"""

from generator.audit.figures import BAD
from generator.cli import Audit
from generator.errors import ConfigError

__all__ = ["run_audit"]


def run_audit(config: Audit) -> int:
    """The `audit` verb: 0, or with --strict 1 where a shortcut or a fault was found."""
    from generator.audit import learn

    learn.require()
    from generator.audit.checks import run_checks
    from generator.audit.report import lines, write
    from generator.audit.sampling import read

    if not config.dirs:
        raise ConfigError("nothing to audit; name one or more run directories")
    found = read(config.dirs, config.limit, config.seed)
    results = run_checks(found, config.seed)
    print("\n".join(lines(found, results)))
    for path in write(config, found, results):
        print(path)
    return int(config.strict and any(result.verdict in BAD for result in results))
