"""What every export has in common: whole or not at all, the same bytes again, credits carried along, clear refusals."""

import csv
import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from export_runs import export, export_runs, samples

from generator.cli import Export
from generator.errors import ConfigError, DataError, OutputError
from generator.export import run_export
from generator.export.formats import FORMATS
from generator.records import read_shard
from generator.shards import read_json

ROOT = Path(__file__).resolve().parents[2]
# MDS needs a package of its own: see test_export_mosaic.py.
WRITABLE = sorted(set(FORMATS) - {"mosaic"})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return export_runs(tmp_path_factory)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_command_line_and_the_registry_name_the_same_formats() -> None:
    assert set(typing.get_args(typing.get_type_hints(Export)["to"])) == set(FORMATS)


@pytest.mark.parametrize("to", WRITABLE)
def test_the_same_runs_give_the_same_bytes_and_leave_nothing_beside(
    to: str, runs: dict[str, Path], tmp_path: Path
) -> None:
    parts = [runs[name] for name in ("spatial", "attribute", "negation")]
    first = contents(export(tmp_path / "a" / "it", to, *parts))
    assert contents(export(tmp_path / "b" / "it", to, *parts)) == first
    assert {"README.md", "credits.csv", "export.json"} <= set(first)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["it"]
    assert not any(name.endswith(".part") for name in first)


@pytest.mark.parametrize("to", WRITABLE)
def test_credits_and_licences_are_carried_along(to: str, runs: dict[str, Path], tmp_path: Path) -> None:
    out = export(tmp_path / "it", to, runs["spatial"], split="val")
    shown = {item.uid for sample in samples(runs["spatial"], "val") for item in sample.record.objects_0}
    with (out / "credits.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["uid"] for row in rows} == shown, "exactly the models that are seen in what was exported"
    assert all(row["licence"] == "CC0-1.0" and row["author"] == "nobody" for row in rows)
    card = (out / "README.md").read_text()
    assert "license:\n- cc0-1.0\n" in card
    assert "## Licences and credits" in card
    about = read_json(out / "export.json")
    assert about["pairs"] == {"val": len(samples(runs["spatial"], "val"))}
    assert about["runs"][0]["fingerprint"] == "f0"


def test_photographs_keep_their_names_and_licences(runs: dict[str, Path], tmp_path: Path) -> None:
    out = export(tmp_path / "it", "hf", runs["photos"], split="val,test")
    wanted = {name for sample in samples(runs["photos"]) if sample.record.split != "train"
              for name in sample.record.image_ids}  # fmt: skip
    with (out / "photo_credits.csv").open() as stream:
        assert {row["image_id"] for row in csv.DictReader(stream)} == wanted
    card = (out / "README.md").read_text()
    assert "- other\n" in card
    assert "license_link: photo_credits.csv" in card
    assert "| [Attribution-NonCommercial License](http://by-nc) |" in card
    assert "forbid commercial use" in card


@pytest.mark.parametrize("to", ["imagefolder", "hf", "parquet", "coco", "clip-csv", "sugarcrepe"])
def test_a_merged_run_of_renderings_and_photographs(to: str, runs: dict[str, Path], tmp_path: Path) -> None:
    out = export(tmp_path / "it", to, runs["merged"])
    about = read_json(out / "export.json")
    left = sum(about["left_out"].values())
    assert sum(about["pairs"].values()) + left == len(samples(runs["merged"]))
    assert (out / "photo_credits.csv").exists()


@pytest.mark.parametrize("to", ["winoground", "dcsm-reference"])
def test_pairs_that_a_format_cannot_hold_are_counted(
    to: str, runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = export(tmp_path / "it", to, runs["spatial"], runs["photos"])
    assert read_json(out / "export.json")["left_out"] == {"no second image": 20}
    assert "left out: 20 (no second image)" in capsys.readouterr().out
    assert "no second image (20)" in (out / "README.md").read_text()


def test_nothing_to_hold_is_an_error_and_leaves_nothing(runs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"winoground can hold none of these 20 pairs: 20 \(no second image\)"):
        export(tmp_path / "it", "winoground", runs["photos"])
    assert not list(tmp_path.iterdir())


def test_one_split_or_all(runs: dict[str, Path], tmp_path: Path) -> None:
    counts = {split: len(samples(runs["spatial"], split)) for split in ("train", "val")}
    assert read_json(export(tmp_path / "a", "hf", runs["spatial"]) / "export.json")["pairs"] == counts
    out = export(tmp_path / "b", "hf", runs["spatial"], split="val")
    assert [path.name for path in (out / "data").iterdir()] == ["validation-00000.parquet"]
    with pytest.raises(ConfigError, match="unknown split 'dev'; known: train, val, test"):
        export(tmp_path / "c", "hf", runs["spatial"], split="dev")
    with pytest.raises(DataError, match=r"no accepted pair in .* in the split test"):
        export(tmp_path / "c", "hf", runs["spatial"], split="test")


def test_what_is_there_is_never_touched(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = export(tmp_path / "it", "parquet", runs["spatial"])
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    export(out, "parquet", runs["spatial"])
    assert "holds this export already" in capsys.readouterr().out
    for to, parts in (("parquet", [runs["negation"]]), ("hf", [runs["spatial"]])):
        with pytest.raises(OutputError, match="exists and is not this export; give another --out"):
            export(out, to, *parts)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="exists and is not this export"):
        export(tmp_path / "file", "hf", runs["spatial"])


def test_an_empty_folder_and_a_killed_export_are_no_hindrance(runs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    left = tmp_path / ".it.export"
    (left / "data").mkdir(parents=True)
    (left / "data" / "half.parquet").write_text("cut")
    out = export(tmp_path / "it", "hf", runs["spatial"])
    assert sorted(path.name for path in (out / "data").iterdir()) == ["train-00000.parquet", "validation-00000.parquet"]
    assert not left.exists()


def test_two_exports_at_once_do_not_mix(runs: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / ".it.export"
    folder.mkdir()
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(OutputError, match="is being written by another process"):
        export(tmp_path / "it", "hf", runs["spatial"])
    os.close(handle)
    assert export(tmp_path / "it", "hf", runs["spatial"]).is_dir()


def test_a_run_that_lacks_a_shard_is_not_exported(runs: dict[str, Path], tmp_path: Path) -> None:
    run = shutil.copytree(runs["spatial"], tmp_path / "run")
    next(run.glob("*/*.json")).unlink()
    with pytest.raises(DataError, match="planned pairs are in complete shards"):
        run_export(Export((run,), to="parquet", out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_damaged_shard_stops_it_and_leaves_nothing(runs: dict[str, Path], tmp_path: Path) -> None:
    run = shutil.copytree(runs["spatial"], tmp_path / "run")
    tar = run / "train" / "00001.tar"
    tar.write_bytes(tar.read_bytes()[: tar.stat().st_size // 2])
    with pytest.raises(DataError, match=r"00001\.tar: damaged or cut short|00001\.tar: not a readable tar"):
        export(tmp_path / "it", "coco", run)
    shutil.copyfile(run / "train" / "00000.tar", tar)
    (run / "val" / "00000.tar").write_bytes(bytes(10240))
    with pytest.raises(DataError, match=r"val/00000\.tar holds 0 pairs, its json says \d"):
        export(tmp_path / "it", "coco", run)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_full_disk_is_one_line(runs: dict[str, Path], tmp_path: Path) -> None:
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900)); "
        "from generator.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ["export", str(runs["spatial"]), "--to", "sugarcrepe", "--out", str(tmp_path / "it")]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.search(r"^error: cannot write .*/it: File too large$", done.stderr, re.MULTILINE)
    assert not list(tmp_path.iterdir())


def test_runs_in_a_store_are_read_shard_by_shard(runs: dict[str, Path], tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for name in ("spatial", "photos"):
        store.put(f"{runs[name]}/", f"/exported/{name}/", recursive=True)
    urls = [Path(f"memory://exported/{name}") for name in ("spatial", "photos")]
    for to in ("coco", "hf"):
        local = export(tmp_path / "local" / to, to, runs["spatial"], runs["photos"])
        assert contents(export(tmp_path / "store" / to, to, *urls)) == contents(local)
    with pytest.raises(DataError, match=r"memory://exported/none: no run is there"):
        export(tmp_path / "none", "hf", Path("memory://exported/none"))
    store.rm("/exported", recursive=True)


def test_no_run_no_export(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a run directory"):
        run_export(Export(dirs=(tmp_path,), to="hf", out=tmp_path / "it"))
    with pytest.raises(ConfigError, match="s3://bucket/it: an export is written to a directory"):
        run_export(Export(dirs=(tmp_path,), to="hf", out=Path("s3://bucket/it")))
    with pytest.raises(ConfigError, match="name one or more run directories"):
        run_export(Export(dirs=(), to="hf", out=tmp_path / "it"))


def test_pairs_are_read_one_at_a_time(runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run may be larger than memory: no more than a handful of pairs may be alive at once."""
    import gc

    import generator.export.source as source
    from generator.records import Sample

    most = 0

    def watched(path: Path):  # type: ignore[no-untyped-def]
        nonlocal most
        for sample in read_shard(path):
            most = max(most, sum(type(item) is Sample for item in gc.get_objects()))
            yield sample

    before = sum(type(item) is Sample for item in gc.get_objects())
    monkeypatch.setattr(source, "read_shard", watched)
    for to in ("imagefolder", "coco"):
        export(tmp_path / to, to, runs["spatial"])
    assert most - before <= 3


def test_the_commands_of_the_guide_run(runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from generator.dispatch import run

    text = (ROOT / "docs" / "export.md").read_text().replace("\\\n", " ")
    commands = [shlex.split(line) for line in text.splitlines() if line.startswith("python -m generator export ")]
    assert len(commands) >= 5
    (tmp_path / "datasets_out").mkdir()
    for name in ("spatial", "attribute", "negation"):
        (tmp_path / "datasets_out" / name).symlink_to(runs[name])
    monkeypatch.chdir(tmp_path)
    for words in commands:
        if "--push" not in words:  # That needs a Hub: test_export_push.py.
            # The small runs have no test split.
            assert run(["val" if word == "test" else word for word in words[3:]]) == 0


@pytest.mark.parametrize("to", ["imagefolder", "hf", "parquet", "coco", "winoground", "sugarcrepe"])
def test_the_example_in_the_card_runs(to: str, runs: dict[str, Path], tmp_path: Path) -> None:
    """As a stranger would: the code of README.md, in the folder, with the reader's own library."""
    pytest.importorskip({"coco": "pycocotools", "parquet": "pandas"}.get(to, "datasets"))
    out = export(tmp_path / "it", to, runs["spatial"])
    found = re.search(r"```python\n(.*?)```", (out / "README.md").read_text(), re.DOTALL)
    assert found
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", found[1]], cwd=out, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first = samples(runs["spatial"])[0].record
    assert (first.captions_0[0] in done.stdout) or to == "sugarcrepe"
    assert done.stdout
