"""Filling the bank, and keeping house: real processes and files, layers that are empty."""

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_pipeline_fake import render, samples
from test_sprites_plan import sprites
from worlds import asset_of, catalog_of

from generator.assets.catalog import Catalog
from generator.cli import Render
from generator.errors import ConfigError, OutputError, RendererError
from generator.pipeline import bank_folder, make_settings
from generator.render import RENDERERS
from generator.shards import read_json
from generator.specs import RenderSettings, SceneSpec
from generator.sprites.commands import SpritesClean, SpritesList, run_clean, run_list
from generator.sprites.fill import Filling, describe, estimate, fill, survey
from generator.sprites.house import bank_bytes, stored
from generator.sprites.needs import whole_bank
from renderers.sprites.bank import Kept

NOUNS = ("apple", "mug", "dog")


@pytest.fixture(autouse=True)
def fake_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RENDERERS, "sprites", "tests.fake_layers")


def how(folder: Path, workers: int = 2, limit_gb: float = 10.0) -> Filling:
    settings = RenderSettings("sprites", 64, 24, "cpu", 1, bank=str(folder / "sprites"))
    return Filling(settings, workers, folder / "logs", timeout_s=30.0, memory_limit_bytes=0, limit_gb=limit_gb)


def scenes(catalog: Catalog | None = None) -> list[SceneSpec]:
    plates = sprites(plates=42).plates
    assert plates is not None
    return whole_bank(catalog or catalog_of(NOUNS, each=1), plates)


def layers(folder: Path) -> list[Path]:
    return [item.path for item in stored(folder / "sprites") if item.path.suffix == ".json"]


def test_a_bank_is_filled_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = scenes()
    made = fill(wanted, how(tmp_path))
    # 42 plates; three assets in twelve views: own, painted, cast.
    assert made == 42 + 3 * 12 * 3
    assert "sprite bank: 42 plates and 108 layers of sprites to render, about" in capsys.readouterr().err
    assert len(layers(tmp_path)) == made
    assert all(path.read_text() == "{}\n" for path in layers(tmp_path)), "a layer was made twice"
    assert fill(wanted, how(tmp_path)) == 0
    assert survey(wanted, how(tmp_path)) == []


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    fill(scenes()[:60], how(tmp_path))
    before = {path: path.stat().st_mtime_ns for path in layers(tmp_path)}
    fill(scenes(), how(tmp_path))
    assert len(layers(tmp_path)) == 42 + 108
    assert all(path.stat().st_mtime_ns == changed for path, changed in before.items())


def test_a_bank_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"would hold about .* MiB, 0 MiB of them now, and --bank-gb is 0\.001: give"):
        fill(scenes(), how(tmp_path, limit_gb=0.001))
    assert not layers(tmp_path)


def test_a_bank_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """Nobody's assets are to blame."""
    (tmp_path / "sprites").write_text("a file where the folder should be")
    with pytest.raises(OutputError, match="set TWINSCENE_CACHE"):
        fill(scenes(), how(tmp_path))


def test_links_out_of_the_bank_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWINSCENE_CACHE", str(tmp_path))
    fill(scenes()[:3], how(tmp_path))
    precious = tmp_path / "precious" / "plate-00"
    precious.mkdir(parents=True)
    (precious / "plate-0000.json").write_text("{}")
    version = tmp_path / "sprites" / "v0-test"
    (tmp_path / "sprites" / "v9-linked").symlink_to(tmp_path / "precious")
    (version / "plate-zz").symlink_to(precious)
    (version / "plate-yy").mkdir()
    (version / "plate-yy" / "plate-0000.json").symlink_to(precious / "plate-0000.json")
    (version / "plate-yy" / "notes.txt").write_text("mine")
    assert len(layers(tmp_path)) == 3
    assert run_clean(SpritesClean(days=0, yes=True)) == 0
    assert not layers(tmp_path)
    assert (precious / "plate-0000.json").read_text() == "{}"
    assert (version / "plate-yy" / "notes.txt").read_text() == "mine"


def test_a_relative_cache_is_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renderers work in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TWINSCENE_CACHE", "here")
    assert bank_folder() == tmp_path / "here" / "sprites"


def test_estimates_grow_with_the_picture() -> None:
    names = ["plate-00", "own-00", "cast-00", "paint-00"]
    assert estimate(names, 448) == 4 * estimate(names, 224)
    assert describe(names) == "1 plate and 3 layers of sprites"


@pytest.mark.parametrize("fault", ["broken", "deadly"])
def test_a_faulty_model_costs_only_its_own_layers(tmp_path: Path, fault: str) -> None:
    """Its pairs meet it again, under supervision."""
    assets = catalog_of(NOUNS, each=1).assets
    bad = replace(asset_of("car"), model=f"/nowhere/{fault}.npz", paint_plan=None)
    fill(scenes(Catalog((*assets, bad), ())), how(tmp_path))
    assert len(layers(tmp_path)) == 42 + 108


def test_a_bank_of_faults_stops(tmp_path: Path) -> None:
    bad = replace(asset_of("car"), model="/nowhere/broken.npz")
    wanted = [scene for scene in scenes(Catalog((bad,), ())) if scene.objects]
    with pytest.raises(RendererError, match=r"of .* layers failed, e\.g\. this model is broken; logs: "):
        fill(wanted, how(tmp_path))


def test_a_renderer_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RENDERERS, "sprites", "tests.no_such_module")
    with pytest.raises(RendererError, match="the sprite renderer does not start"):
        fill(scenes(), how(tmp_path))


def test_keeping_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TWINSCENE_CACHE", str(tmp_path))
    fill(scenes(), how(tmp_path))
    assert run_list(SpritesList()) == 0
    said = capsys.readouterr().out
    assert "v0-test  plate        42 layers" in said
    assert "150 layers" in said
    old = time.time() - 40 * 86400
    for path in (tmp_path / "sprites").glob("v*/plate-*/*"):
        os.utime(path, (old, old))
    size = bank_bytes(tmp_path / "sprites")
    assert run_clean(SpritesClean()) == 0
    assert "84 files" in capsys.readouterr().out
    assert bank_bytes(tmp_path / "sprites") == size
    assert run_clean(SpritesClean(yes=True)) == 0
    assert len(layers(tmp_path)) == 108
    assert run_clean(SpritesClean(days=0, yes=True)) == 0
    assert not layers(tmp_path)
    with pytest.raises(ConfigError, match="--days"):
        run_clean(SpritesClean(days=-1))


def test_a_run_is_what_views_and_plates_make_it(tmp_path: Path) -> None:
    """They are in its fingerprint, the bank's limit is not; a run of boxes needs no bank."""
    base = ("--task", "spatial", "--n", "12", "--size", "64", "--renderer", "fake", "--split", "train=1")
    flags = ("--engine", "sprites", "--views", "4", "--plates", "20")
    out = tmp_path / "run"
    render(out, *flags, base=base)
    run = read_json(out / "run.json")
    assert (run["config"]["views"], run["config"]["plates"]) == (4, 20)
    shifts = {sample.record.scene_0.split('"shift":')[1][:30] for sample in samples(out).values()}
    assert len(shifts) == len(samples(out)) >= 10
    assert "4 views, every one in a light of its own" in (out / "README.md").read_text(encoding="utf-8")
    render(out, *flags, "--bank-gb", "1", base=base)
    refused = render(out, "--engine", "sprites", "--views", "6", "--plates", "20", base=base, code=2)
    assert "views: 4 there, 6 asked" in refused.stderr
    plain = render(tmp_path / "plain", "--views", "4", base=base, code=2)
    assert "add --engine sprites" in plain.stderr


def test_what_a_renderer_keeps_is_bounded_by_the_flag() -> None:
    def kept(**given: Any) -> int:
        config = Render(task="spatial", n=1, engine="sprites", **given).resolved()
        return make_settings(config, 2).layer_cache_bytes

    assert kept(memory_gb=1.0) == 2**29
    assert kept(memory_gb=0.0) == kept(memory_gb=64.0) == 2**31


def test_what_was_used_least_lately_goes_first() -> None:
    kept, made = Kept(30), list[str]()

    def get(name: str) -> str:
        return kept.get(name, lambda: made.append(name) or name, lambda _: 10)

    for name in ("a", "b", "c", "a", "d", "a", "b"):
        assert get(name) == name
    assert made == ["a", "b", "c", "d", "b"]
