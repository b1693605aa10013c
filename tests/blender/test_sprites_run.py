"""The sprite engine through the whole command: every task, valid runs, the same bytes whatever the workers."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blender_jobs import render

from generator.assets.bundled import LIBRARY
from generator.assets.catalog import Catalog
from generator.backgrounds import bundled
from generator.cli import Validate
from generator.pipeline import cache_folder
from generator.records import Sample, find_shards, read_shard
from generator.shards import read_rows
from generator.sprites.house import stored
from generator.validate import run_validate

pytestmark = [pytest.mark.blender, pytest.mark.slow]
pytest.importorskip("bpy", reason="renders with Blender")

# A small bank: few assets in few views, small pictures.
NOUNS = ("apple", "bell", "car", "chair", "clock", "dog", "mug", "rocket")
FLAGS = ("--engine", "sprites", "--views", "2", "--plates", "8", "--size", "96", "--n", "8", "--split", "train=1")
TASKS = {
    "spatial": ("--task", "spatial"),
    "attribute": ("--task", "attribute"),
    "negation": ("--task", "negation"),
}


def cache_at(folder: Path) -> Path:
    """A cache with everything prepared and a bank of its own: other tests may be filling the common one."""
    folder.mkdir()
    for name in ("assets", "backgrounds"):
        (folder / name).symlink_to(cache_folder() / name)
    return folder


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory, bundled_catalog: Catalog) -> Iterator[Path]:
    """Some models of the library, prepared with it; while it is in use the cache is another one."""
    assert bundled_catalog.assets
    bundled(cache_folder() / "backgrounds")
    folder = tmp_path_factory.mktemp("assets")
    for noun in NOUNS:
        (folder / noun).mkdir()
        (folder / noun / f"{noun}.glb").symlink_to(LIBRARY / f"{noun}.glb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TWINSCENE_CACHE", str(cache_at(tmp_path_factory.mktemp("sprites") / "cache")))
        yield folder


@pytest.fixture(scope="module")
def run_of(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A run of eight pairs of a task, with masks, rendered when first asked for."""
    made: dict[str, Path] = {}

    def find(task: str) -> Path:
        if task not in made:
            out = tmp_path_factory.mktemp(task) / "run"
            render(out, *TASKS[task], *FLAGS, "--assets", str(assets), "--masks", "--workers", "1")
            made[task] = out
        return made[task]

    return find


def samples(out: Path) -> list[Sample]:
    return [sample for path in find_shards([out]) for sample in read_shard(path)]


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(out.glob("*/*")) if path.suffix in (".tar", ".parquet")}


@pytest.mark.parametrize("task", list(TASKS))
def test_runs_are_valid_and_keep_most_pairs(task: str, run_of: Callable[[str], Path]) -> None:
    out = run_of(task)
    rows = [row for path in out.glob("*/*.parquet") for row in read_rows(path)]
    assert len(rows) == 8
    assert sum(row.status == "accepted" for row in rows) >= 6, [(row.reason, row.detail) for row in rows]
    assert run_validate(Validate((out,), workers=1)) == 0
    assert any(sample.record.scene_0.find('"shift":[0.0,0.0]') < 0 for sample in samples(out))


def test_the_same_bytes_again_and_with_two_workers(assets: Path, run_of: Callable[[str], Path], tmp_path: Path) -> None:
    """The second time nothing is left to render; with two workers two renderers share the bank."""
    wanted = files(run_of("spatial"))
    before = {item.path for item in stored(cache_folder() / "sprites")}
    common = (*TASKS["spatial"], *FLAGS, "--assets", str(assets), "--masks")
    render(tmp_path / "again", *common, "--workers", "1")
    assert {item.path for item in stored(cache_folder() / "sprites")} == before
    assert files(tmp_path / "again") == wanted
    render(tmp_path / "two", *common, "--workers", "2", "--shard-size", "4")
    two = {sample.record.key: sample.files for sample in samples(tmp_path / "two")}
    assert two == {sample.record.key: sample.files for sample in samples(run_of("spatial"))}


def test_a_fresh_bank_has_the_same_layers(
    assets: Path, run_of: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No layer depends on what was rendered before it, nor on who renders it."""
    wanted = files(run_of("negation"))
    monkeypatch.setenv("TWINSCENE_CACHE", str(cache_at(tmp_path / "cache")))
    render(tmp_path / "run", *TASKS["negation"], *FLAGS, "--assets", str(assets), "--masks", "--workers", "1")
    assert files(tmp_path / "run") == wanted
