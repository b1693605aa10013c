"""MosaicML streaming, read by its own StreamingDataset."""

import hashlib
import io
import json
import os
import subprocess
from pathlib import Path

import pytest
from export_runs import export, export_runs, samples
from PIL import Image

from generator.errors import DependencyError

ROOT = Path(__file__).resolve().parents[2]
READ = """
import hashlib, json, sys
from streaming import StreamingDataset
rows = []
for row in StreamingDataset(local=sys.argv[1], batch_size=1, shuffle=False):
    names = ("image_0", "image_1", "mask_0", "mask_1")
    digests = [hashlib.sha256(row[name].tobytes()).hexdigest() for name in names]
    rows.append([row["key"], digests, row["record"]["captions_0"]])
print(json.dumps(rows))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return export_runs(tmp_path_factory)


def test_without_the_package_the_mend_is_said(runs: dict[str, Path], tmp_path: Path) -> None:
    try:
        import streaming  # noqa: F401
    except ImportError:
        with pytest.raises(DependencyError, match="install it with: pip install mosaicml-streaming"):
            export(tmp_path / "it", "mosaic", runs["spatial"])
        assert not list(tmp_path.iterdir())
    else:
        pytest.skip("the package is installed here")


def test_its_own_data_set_reads_every_pair(runs: dict[str, Path], tmp_path: Path) -> None:
    """It runs from an environment of its own, like moto_server: its pins must not weigh on ours.

    That environment needs mosaicml-streaming, and tyro, rich and pyarrow for the generator.
    """
    python = os.environ.get("TWINSCENE_MOSAIC")
    if not python:
        pytest.skip("TWINSCENE_MOSAIC names no Python with mosaicml-streaming")
    out, mixed = tmp_path / "it", tmp_path / "mixed"

    def run(*words: str) -> str:
        return subprocess.run(
            [python, *words], cwd=ROOT, check=True, capture_output=True, text=True, timeout=180
        ).stdout

    def make(folder: Path, *names: str) -> None:
        run("-m", "generator", "export", *(str(runs[name]) for name in names), "--to", "mosaic", "--out", str(folder))

    make(out, "spatial")
    rows = json.loads(run("-c", READ, str(out / "train")))
    wanted = samples(runs["spatial"], "train")
    assert [row[0] for row in rows] == [sample.record.key for sample in wanted]
    for (_, digests, captions), sample in zip(rows, wanted, strict=True):
        files = (sample.image(0), sample.image(1), sample.mask(0), sample.mask(1))
        assert digests == [pixels(data) for data in files]
        assert tuple(captions) == sample.record.captions_0
    again = tmp_path / "again"
    make(again, "spatial")
    for path in (out / "train").iterdir():
        assert path.read_bytes() == (again / "train" / path.name).read_bytes()
    make(mixed, "spatial", "photos")
    assert json.loads((mixed / "export.json").read_text())["left_out"] == {"no second image": 20}


def pixels(data: bytes | None) -> str:
    assert data is not None
    with Image.open(io.BytesIO(data)) as image:
        return hashlib.sha256(image.tobytes()).hexdigest()
