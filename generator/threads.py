"""How many threads numpy's linear algebra may use in each of our processes: one.

There are as many processes at work as there are cores. Helper threads that wait for one another's share of small
matrices would only take the cores from them: two workers compositing sprites lost half of all processor time to it.
"""

from collections.abc import MutableMapping

VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread(environment: MutableMapping[str, str]) -> None:
    """Ask for it where the user has not asked for another number. Before numpy is imported, or it is not heard."""
    for name in VARIABLES:
        environment.setdefault(name, "1")
