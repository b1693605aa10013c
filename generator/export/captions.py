"""Which captions of the two sides make the tightest contrast, in the words of SugarCrepe and Winoground."""

from dataclasses import dataclass

from generator.records import PairRecord


@dataclass(frozen=True)
class Edit:
    """How a false caption was made of a true one.

    name: SugarCrepe's, e.g. "swap_att". opposite: for each of the two captions of a side, which one of the other side
    is its negative. swapped: what Winoground calls the swapped thing, "Object" or "Relation".
    """

    name: str
    opposite: tuple[int, int]
    swapped: str


def replaced(record: PairRecord) -> Edit:
    """The edit that leaves every word but those of the fact in place: P1 "A left of B", N1 "A right of B"."""
    if record.task == "spatial":
        return Edit("replace_rel", (0, 1), "Relation")
    return swapped(record)


def swapped(record: PairRecord) -> Edit:
    """The edit that uses the same words where there is one: P1 "A left of B", N2 "B left of A".

    spatial and attribute: N2 and N1; negation and COCO's swapped nouns: N1 and N2. In shared negation one noun takes
    the place of another, so it is a replacement.
    """
    if record.task == "spatial":
        return Edit("swap_obj", (1, 0), "Object")
    if record.task == "attribute":
        return Edit("swap_att", (1, 0), "Relation")
    if record.task == "negation" and record.words[1] == "and":
        return Edit("replace_obj", (0, 1), "Object")
    if record.task in ("negation", "swap_noun"):
        return Edit("swap_obj", (0, 1), "Object")
    return Edit(f"replace_{record.fact.kind}", (0, 1), "Relation")


def captions_of(record: PairRecord, side: int) -> tuple[str, str]:
    """Both captions of a side."""
    return (record.captions_0, record.captions_1)[side]
