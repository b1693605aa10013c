"""The tasks: each plans a PairSpec from a context and an index. Add one by adding a module and a line here."""

from collections.abc import Callable

from generator.specs import PairSpec
from generator.tasks import attribute, negation, spatial
from generator.tasks.compose import Context, TaskOptions

__all__ = ["TASKS", "Context", "TaskOptions"]

Sampler = Callable[[Context, int, int, str], PairSpec]

TASKS: dict[str, Sampler] = {
    spatial.NAME: spatial.sample,
    attribute.NAME: attribute.sample,
    negation.NAME: negation.sample,
}
