"""The tasks: each plans a PairSpec from a context and an index. Add one by adding a module and a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from generator.specs import PairSpec
from generator.tasks import attribute, negation, spatial
from generator.tasks.compose import Context, TaskOptions

__all__ = ["TASKS", "Context", "Task", "TaskOptions"]


@dataclass(frozen=True, slots=True)
class Task:
    """How a task is planned. sample(context, index, attempt, split); roles: different nouns that one pair needs."""

    sample: Callable[[Context, int, int, str], PairSpec]
    roles: int


TASKS: dict[str, Task] = {
    spatial.NAME: Task(spatial.sample, spatial.ROLES),
    attribute.NAME: Task(attribute.sample, attribute.ROLES),
    negation.NAME: Task(negation.sample, negation.ROLES),
}
