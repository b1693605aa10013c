"""What the Blender tests share: a small finished run of each task, made by the real command line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from blender_jobs import render

from generator.assets.catalog import Catalog

RUNS = {
    "spatial": ("--task", "spatial"),
    "colour": ("--task", "attribute", "--attributes", "colour"),
    "size": ("--task", "attribute", "--attributes", "size"),
    "negation": ("--task", "negation"),
}
# Of the optional real models, every so many nouns take part.
EVERY = 8


def some_of(assets: Path, folder: Path) -> Path:
    """A folder of some nouns of a real one, with the rows of the manifest that are theirs."""
    nouns = sorted(path.name for path in assets.iterdir() if path.is_dir())[::EVERY]
    folder.mkdir()
    for noun in nouns:
        (folder / noun).symlink_to(assets / noun)
    head, *rows = (assets / "manifest.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    own = [row for row in rows if row.split(",")[1].split("/")[0] in nouns]
    (folder / "manifest.csv").write_text(head + "".join(own), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def run_of(
    bundled_catalog: Catalog, tmp_path_factory: pytest.TempPathFactory, shared: Callable[[str], Path]
) -> Callable[[str], Path]:
    """`run_of("spatial")`: a run directory of six pairs with masks, rendered when first asked for.

    `run_of("real spatial")` is the same from third-party models, and skips where there are none.
    """
    assert bundled_catalog.assets
    made: dict[str, Path] = {}

    def find(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
            assets = str(some_of(shared("assets"), folder / "assets")) if name.startswith("real ") else "bundled"
            out = folder / "run"
            flags = (*RUNS[name.removeprefix("real ")], "--assets", assets)
            render(out, *flags, "--n", "6", "--size", "128", "--masks", "--workers", "1", "--image-format", "png")
            made[name] = out
        return made[name]

    return find
