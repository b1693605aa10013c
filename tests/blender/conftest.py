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


@pytest.fixture(scope="session")
def run_of(bundled_catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`run_of("spatial")`: a run directory of six pairs with masks, rendered when first asked for."""
    assert bundled_catalog.assets
    made: dict[str, Path] = {}

    def find(name: str) -> Path:
        if name not in made:
            out = tmp_path_factory.mktemp(name) / "run"
            render(out, *RUNS[name], "--n", "6", "--size", "128", "--masks", "--workers", "1", "--image-format", "png")
            made[name] = out
        return made[name]

    return find
