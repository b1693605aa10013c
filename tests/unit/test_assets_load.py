"""Folders, manifests, the cache, and what happens when the preparing process dies; no Blender."""

import json
import re
from pathlib import Path

import pytest

from generator.assets import prepare
from generator.assets.bundled import LIBRARY, read_bundled
from generator.assets.folder import read_folder
from generator.assets.load import load_catalog
from generator.assets.prepare import Limits, Prepared, Refused, prepare_all
from generator.assets.reasons import REASONS
from generator.assets.sources import Source
from generator.errors import AssetError
from tests.glb import mesh


def quiet(_done: int, _total: int) -> None:
    pass


def put(folder: Path, name: str, data: bytes = b"") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def named(word: str) -> bytes:
    """A sound cube whose mesh is called so."""
    glb = mesh()
    glb.json["meshes"][0]["name"] = word
    return glb.data()


def test_layout_of_folders(tmp_path: Path) -> None:
    for name in ("coffee_mug/b.glb", "coffee_mug/a/model.GLTF", "chair/c.obj", "chair/notes.txt", "loose.glb"):
        put(tmp_path, name)
    found = read_folder(tmp_path, "folder")
    assert [(source.uid, source.noun) for source in found] == [
        ("folder/chair/c", "chair"),
        ("folder/coffee_mug/a/model", "coffee mug"),
        ("folder/coffee_mug/b", "coffee mug"),
    ]
    assert all(source.licence == "" for source in found)


def test_own_manifest(tmp_path: Path) -> None:
    put(
        tmp_path,
        "manifest.csv",
        b"noun,file,source,author,licence,notes\ncoffee mug,m.glb,https://x.org/m,Ada,CC-BY-4.0,\n",
    )
    expected = Source("folder/m", "coffee mug", tmp_path / "m.glb", "m", "Ada", "CC-BY-4.0", "https://x.org/m")
    assert read_folder(tmp_path, "folder") == [expected]


@pytest.mark.parametrize(
    ("stated", "licence", "author"),
    [
        ("CC0-1.0 (author kenney)", "CC0-1.0", "kenney"),
        ("CC0-1.0 (market license id 1) (author Saltedsea)", "CC0-1.0", "Saltedsea"),
        ("CC0-1.0 (Poly Haven)", "CC0-1.0", "Poly Haven"),
        ("CC-BY-4.0 (YCB object & model set; repo MIT)", "CC-BY-4.0", "YCB object & model set"),
        ("BSD-3-Clause (TRI)", "BSD-3-Clause", "TRI"),
        ("CC-BY-4.0", "CC-BY-4.0", ""),
    ],
)
def test_collected_manifest(stated: str, licence: str, author: str, tmp_path: Path) -> None:
    head = "noun,file,source_repo_or_package,source_path,licence,bytes,tris,textured,notes\n"
    put(tmp_path, "manifest.csv", f'{head}axe,axe/a.glb,github:o/r,my files/a.blend,"{stated}",1,1,n,\n'.encode())
    (source,) = read_folder(tmp_path, "folder")
    assert (source.licence, source.author) == (licence, author)
    assert source.url == "https://github.com/o/r/blob/HEAD/my%20files/a.blend"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "no models in"),
        ({"mug/readme.txt": b""}, "no models in"),
        ({"manifest.csv": b"name,path\n"}, "has no column file and noun"),
        ({"mug/a.glb": b"", "mug/a.obj": b""}, "have the same name; rename one"),
    ],
)
def test_unusable_folders(files: dict[str, bytes], said: str, tmp_path: Path) -> None:
    for name, content in files.items():
        put(tmp_path, name, content)
    with pytest.raises(AssetError, match=said) as caught:
        read_folder(tmp_path, "folder")
    assert "\n" not in str(caught.value)


def test_no_folder() -> None:
    with pytest.raises(AssetError, match="--assets takes bundled, objaverse or a folder"):
        read_folder(Path("/nowhere/at/all"), "folder")


def test_mostly_rejects_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "models/mug/a.glb", b"<html>")
    with pytest.raises(AssetError, match=r"1 of 1 assets of .* not_a_model \(a web page.*assets vet --assets"):
        load_catalog(str(tmp_path / "models"), cache=tmp_path / "cache", workers=1, report=quiet)


def test_manifest_names_a_file_that_is_not_there(tmp_path: Path) -> None:
    (outcome,) = prepare_all([tmp_path / "lost.glb"], cache=tmp_path / "cache", workers=1, report=quiet)
    assert outcome == Refused("missing_file", "cannot read lost.glb: No such file or directory")


def test_cache_that_cannot_be_written(tmp_path: Path) -> None:
    put(tmp_path, "file")
    with pytest.raises(AssetError, match=r"cannot write the asset cache .*set TWINSCENE_CACHE"):
        prepare_all([], cache=tmp_path / "file" / "cache", workers=1, report=quiet)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "MODULE", "tests.crashing_child")


@pytest.mark.usefixtures("stand_in")
def test_a_death_costs_one_asset(tmp_path: Path) -> None:
    words = ["A", "CRASH", "B", "HANG", "C", "GROW", "D"]
    paths = [put(tmp_path, f"{number}.glb", named(word)) for number, word in enumerate(words)]
    seen: list[int] = []
    outcomes = prepare_all(
        paths,
        cache=tmp_path / "cache",
        workers=1,
        report=lambda done, _total: seen.append(done),
        limits=Limits(time_s=5, memory_bytes=300 << 20),
    )
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Refused)]
    polite = "import_failed"
    assert reasons == [polite, "crashed", polite, "timed_out", polite, "out_of_memory", polite]
    assert seen == list(range(1, 8))
    crash = outcomes[1]
    assert isinstance(crash, Refused)
    assert crash.detail == "Segmentation fault in the importer"


@pytest.mark.usefixtures("stand_in")
def test_outcomes_are_kept_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, copy = put(tmp_path, "a.glb", named("A")), put(tmp_path, "b.glb", named("A"))
    before = prepare_all([first], cache=tmp_path / "cache", workers=1, report=quiet)
    monkeypatch.setattr(prepare, "MODULE", "no.such.module")
    assert prepare_all([copy], cache=tmp_path / "cache", workers=1, report=quiet) == before
    (index,) = (tmp_path / "cache").glob("*/index.json")
    assert json.loads(index.read_text())["version"] == prepare.code_version()
    # Other code, or an index cut short, is no answer.
    for content in ('{"version": "old", "ok": false, "reason": "x", "detail": ""}', '{"versi'):
        index.write_text(content)
        (outcome,) = prepare_all([copy], cache=tmp_path / "cache", workers=1, report=quiet)
        assert isinstance(outcome, Refused)
        assert outcome.reason == "crashed"


@pytest.mark.usefixtures("stand_in")
def test_a_longer_limit_tries_again(tmp_path: Path) -> None:
    path = put(tmp_path, "a.glb", named("HANG"))

    def reason(time_s: float) -> str:
        (outcome,) = prepare_all([path], cache=tmp_path / "c", workers=1, report=quiet, limits=Limits(time_s=time_s))
        assert isinstance(outcome, Refused)
        return outcome.reason

    import time

    assert reason(1.0) == "timed_out"
    begin = time.monotonic()
    assert reason(0.5) == "timed_out"
    assert time.monotonic() - begin < 0.4, "known from before"
    begin = time.monotonic()
    assert reason(1.2) == "timed_out"
    assert time.monotonic() - begin > 1.0, "tried again"


def test_an_accepted_model_that_is_gone_is_prepared_again(tmp_path: Path) -> None:
    facts = {"extent": [1, 1, 1], "triangles": 12, "coverage": [1, 1, 1], "warnings": [], "paint_plan": None}
    index = {"version": prepare.code_version(), "ok": True, "facts": facts, "bytes": 0}
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert prepare._read_index(tmp_path, "s", Limits()) is None
    model = put(tmp_path, "model.npz", b"a model")
    assert prepare._read_index(tmp_path, "s", Limits()) is None, "of another length: cut short"
    index["bytes"] = model.stat().st_size
    (tmp_path / "index.json").write_text(json.dumps(index))
    known = prepare._read_index(tmp_path, "s", Limits())
    assert isinstance(known, Prepared)
    assert known.triangles == 12


def test_a_crash_is_tried_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "MODULE", "tests.crashing_child")
    path = put(tmp_path, "a.glb", named(f"CRASH-UNLESS {tmp_path / 'been'}"))
    (outcome,) = prepare_all([path], cache=tmp_path / "cache", workers=1, report=quiet)
    assert outcome == Refused("import_failed", "prepared by the stand-in")


def test_blender_side_knows_the_closed_list() -> None:
    root = Path(__file__).resolve().parents[2] / "renderers"
    sources = [root / "geometry.py", *sorted((root / "blender").glob("prepare*.py"))]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    used = set(re.findall(r'Unusable\(\s*"(\w+)"', text)) | set(re.findall(r'reason = "(\w+)" if', text))
    assert len(used) >= 8
    assert used <= set(REASONS)


def test_bundled_library_is_read_like_a_folder() -> None:
    found = read_bundled()
    assert len(found) >= 48
    assert len({source.noun for source in found}) >= 48
    assert all(source.uid.startswith("bundled/") and source.path.parent == LIBRARY for source in found)
    assert all(source.path.is_file() and source.licence and source.author for source in found)
