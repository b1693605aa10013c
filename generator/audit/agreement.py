"""Label agreement: how many pairs say what their masks and pixels say (see `labels`, which compares them)."""

from generator.audit.figures import Finding, Table, share
from generator.audit.sampling import Group

SHOWN = 5
# Near the border between two colour words, recompression can tip a pixel count; so few pairs are no fault.
COLOURS_TOLERATED = 0.02


def labels(group: Group, seed: int) -> Finding:
    """Captions, boxes, relations and sizes: all must agree."""
    del seed
    return _agreeing(group, "label", 0.0)


def colours(group: Group, seed: int) -> Finding | None:
    """Named colours against the pixels within the masks. None without masks or colours."""
    del seed
    if not any(pair.masked and pair.record.fact.kind == "colour" for pair in group.pairs):
        return None
    return _agreeing(group, "colour", COLOURS_TOLERATED)


def _agreeing(group: Group, kind: str, tolerated: float) -> Finding:
    found = [(pair.record.key, text) for pair in group.pairs for name, text in pair.faults if name == kind]
    keys = {key for key, _ in found}
    n = len(group.pairs)
    detail = f"{len(keys)} pairs disagree, such as {found[0][0]}: {found[0][1]}" if found else ""
    table = Table(("pair", "what disagrees"), tuple(found[:SHOWN])) if found else None
    return share(n - len(keys), n, detail, len(keys) > tolerated * n, table)
