"""CREPE: hard negatives of Visual Genome's regions, by how long a caption is, and whether its compounds were seen."""

from pathlib import Path

from scorer.benchmarks.base import (
    Benchmark,
    Box,
    Example,
    Loaded,
    Part,
    Picture,
    Source,
    defects,
    list_of_texts,
    read_table,
)
from scorer.benchmarks.kinds import Choice
from scorer.benchmarks.places import VISUAL_GENOME, visual_genome_image
from scorer.errors import DataError

ORIGIN = "https://github.com/RAIVNLab/CREPE (crepe.zip)"
PRODUCTIVITY = Source(
    "CREPE productivity", ORIGIN, "unknown", ("crepe/prod_hard_negatives", "CREPE/crepe/prod_hard_negatives")
)
SYSTEMATICITY = Source(
    "CREPE systematicity", ORIGIN, "unknown", ("crepe/syst_hard_negatives", "CREPE/crepe/syst_hard_negatives")
)
KIND = Choice(recall_at=(3, 5), name="recall@1")
BOX = ("x", "y", "width", "height")
TYPES = ("atom", "swap", "negate")
COMPLEXITIES = range(4, 13)
SEEN = ("seen", "unseen")
CORPORA = ("cc12m", "yfcc", "laion")
NEGATIVES = ("atom", "comp", "combined")


def load(root: Path, part: Part) -> Loaded:
    """image_id, caption, a column of hard negatives (the text of a Python list), and the box that is shown."""
    path, folder = part.annotations.under(root), part.images.under(root)
    column = "hard_negs" if part.name.startswith("prod") else f"valid_hard_negs_{part.name.split('_')[-1]}"
    examples, rows = [], read_table(path, ("image_id", "caption", column, *BOX))
    for number, row in enumerate(rows, start=1):
        where = f"{path}: row {number}"
        negatives = list_of_texts(row[column], f"{where}: {column}")
        if negatives:
            picture = Picture(visual_genome_image(folder, row["image_id"]), _box(row, where))
            examples.append(Example(str(number), (picture,), (row["caption"], *negatives)))
    excluded = {"no hard negative of this kind": len(rows) - len(examples)} if len(examples) < len(rows) else {}
    return Loaded(examples, excluded=excluded, notes=defects(examples))


def _box(row: dict[str, str], where: str) -> Box:
    try:
        x, y, width, height = (float(row[name]) for name in BOX)
    except ValueError as error:
        raise DataError(f"{where}: expected numbers under {', '.join(BOX)}") from error
    if not (width > 0 and height > 0):
        raise DataError(f"{where}: its box is empty")
    return x, y, x + width, y + height


def _parts() -> tuple[Part, ...]:
    found = [
        Part(
            f"prod_{kind}_{n}",
            KIND,
            PRODUCTIVITY.file(f"{kind}/prod_vg_hard_negs_{kind}_complexity_{n}.csv"),
            VISUAL_GENOME,
        )
        for kind in TYPES
        for n in COMPLEXITIES
    ]
    found += [
        Part(
            f"syst_{seen}_{corpus}_{negatives}",
            KIND,
            SYSTEMATICITY.file(f"syst_vg_hard_negs_{seen}_compounds_in_{corpus}.csv"),
            VISUAL_GENOME,
        )
        for corpus in CORPORA
        for negatives in NEGATIVES
        for seen in SEEN
    ]
    return tuple(found)


BENCHMARK = Benchmark(
    name="crepe",
    title="CREPE",
    paper="Ma et al., CVPR 2023",
    protocol=(
        "the region's caption is ranked among its hard negatives, on the image cropped to the region; R@1, R@3, R@5 "
        "and mean rank for each complexity or set of compounds (the official order of ties is left to the sort)"
    ),
    parts=_parts(),
    load=load,
    averages={f"productivity {kind}": tuple(f"prod_{kind}_{n}" for n in COMPLEXITIES) for kind in TYPES},
)
