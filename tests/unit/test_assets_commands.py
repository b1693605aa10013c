"""The verbs under `assets`, from their command line to what they print."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from generator.__main__ import main
from generator.assets import prepare
from generator.assets.catalog import Asset
from generator.assets.commands import AssetsFetch, run_fetch
from generator.assets.sheet import contact_sheet, portrait
from generator.errors import AssetError, ConfigError
from generator.specs import from_json, project, to_json
from tests.glb import mesh
from tests.objaverse_server import Item, Site, layout, serve
from tests.worlds import catalog_of

CUBE = mesh().data()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    items = [Item(f"mug{i}", "mug", CUBE, shard="000-000") for i in range(3)] + [Item("cat0", "cat", CUBE)]
    with serve(layout(items)) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield running


@pytest.mark.usefixtures("site")
def test_fetch_says_what_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["assets", "fetch", "--categories", "mug,cat", "--per-category", "2", "--root", str(tmp_path)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "fewer than 2 under these licences in 1 categories: cat" in out
    assert f"3 objects in {tmp_path}, 3 of them new, 0 failed" in out
    assert main(arguments) == 0
    assert "0 of them new" in capsys.readouterr().out


def test_fetch_names_what_failed(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site.files["glbs/000-000/cat0.glb"] = b"<html>"
    assert main(["assets", "fetch", "--categories", "mug,cat", "--per-category", "3", "--root", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "failed: glbs/000-000/cat0.glb: cat0.glb: a web page" in out
    assert "3 objects in" in out


def test_fetch_gives_up_when_most_fails(site: Site, tmp_path: Path) -> None:
    site.files["glbs/000-000/cat0.glb"] = b"<html>"
    with pytest.raises(AssetError, match="1 files failed and 0 are there; run the same command again"):
        run_fetch(AssetsFetch(categories="cat", root=tmp_path))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fetch", "--per-category", "0"], "--per-category and --workers must be at least 1"),
        (["fetch", "--licences", "mit"], "unknown licence 'mit'; known: cc0, by,"),
        (["vet", "--time-limit-s", "0"], "--time-limit-s must be above 0"),
        (["vet", "--assets", "/nowhere"], "no such directory /nowhere; --assets takes bundled, objaverse or a folder"),
        (["vet", "--assets", "objavers"], "no such directory objavers; did you mean objaverse?"),
        (["list", "--workers", "0"], "--workers must be at least 1, not 0"),
        (["show", "--size", "9"], "--size between 32 and 1024"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assets", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_show_says_which_noun_was_meant(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("generator.assets.commands._catalog", lambda *_: catalog_of())
    assert main(["assets", "show", "--nouns", "mug,cra"]) == 2
    assert "--nouns: unknown noun 'cra'; did you mean 'car'? known: apple, backpack, " in capsys.readouterr().err


def test_vet_and_list_give_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "MODULE", "tests.crashing_child")
    monkeypatch.setenv("TWINSCENE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "models" / "mug").mkdir(parents=True)
    (tmp_path / "models" / "mug" / "page.glb").write_bytes(b"<html>")
    (tmp_path / "models" / "mug" / "cube.glb").write_bytes(CUBE)
    assert main(["assets", "vet", "--assets", str(tmp_path / "models")]) == 1
    out = capsys.readouterr().out
    assert f"rejected: {tmp_path}/models/mug/page.glb: not_a_model: a web page, saved instead of the file" in out
    assert "import_failed: prepared by the stand-in" in out
    assert "0 accepted (0 can be recoloured), 2 rejected" in out
    assert main(["assets", "list", "--assets", str(tmp_path / "models")]) == 1
    assert "0 nouns, 0 models, 2 rejected" in capsys.readouterr().out
    assert main(["assets", "show", "--assets", str(tmp_path / "models")]) == 2
    assert "nothing to show: all 2 models" in capsys.readouterr().err


@pytest.mark.parametrize("extent", [(1.0, 1.0, 1.0), (1.0, 0.05, 0.05), (0.05, 1.0, 0.05), (0.05, 0.05, 1.0)])
def test_portraits_keep_the_model_in_the_frame(extent: tuple[float, float, float]) -> None:
    asset = Asset(
        "u", "n", "folder", "", "", "m.npz", extent, (1, 1, 1), 12, None, title="", author="", licence="", url=""
    )
    scene = portrait(asset)
    assert from_json(type(scene), to_json(scene)) == scene
    half = sum(side * side for side in extent[:2]) ** 0.5 / 2
    for z in (0.0, extent[2]):
        for x, y in ((half, 0), (-half, 0), (0, half), (0, -half)):
            u, v = project(scene.camera, (x, y, z))
            assert 0.02 < u < 0.98
            assert 0.02 < v < 0.98


def test_contact_sheet_places_and_labels() -> None:
    pictures = [Image.new("RGB", (40, 40), colour) for colour in ("red", "green", "blue")]
    sheet = contact_sheet(pictures, ["mug", "a name that is far too long for it", "cat"], columns=2)
    assert sheet.size == (80, 2 * 58)
    assert [sheet.getpixel(spot) for spot in ((5, 5), (45, 5), (5, 63))] == [(255, 0, 0), (0, 128, 0), (0, 0, 255)]
    labels = [sheet.crop((x, y, x + 40, y + 18)).convert("L").getextrema()[0] for x, y in ((0, 40), (40, 40), (0, 98))]
    assert max(labels) < 128, "every label is drawn"
    assert sheet.crop((40, 58, 80, 116)).convert("L").getextrema() == (255, 255)


def test_command_line_needs_no_blender() -> None:
    heavy = "bpy", "PIL", "huggingface_hub", "objaverse"
    code = f"import generator.assets.commands, sys; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_config_errors_are_named() -> None:
    with pytest.raises(ConfigError):
        run_fetch(AssetsFetch(workers=0))
