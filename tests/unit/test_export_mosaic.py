"""MosaicML streaming, read by its own StreamingDataset."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from export_runs import export, export_runs, samples

from generator.errors import DependencyError

ROOT = Path(__file__).resolve().parents[2]
READ = """
import hashlib, io, json, sys
from streaming import StreamingDataset
rows = []
for row in StreamingDataset(local=sys.argv[1], batch_size=1, shuffle=False):
    row["image_0"].load(), row["image_1"].load(), row["mask_0"].load()
    rows.append([row["key"], hashlib.sha256(row["image_0"].tobytes()).hexdigest(), row["record"]["captions_0"]])
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
    out = tmp_path / "it"
    words = [
        "-m",
        "generator",
        "export",
        str(runs["spatial"]),
        str(runs["photos"]),
        "--to",
        "mosaic",
        "--out",
        str(out),
    ]
    subprocess.run([python, *words], cwd=ROOT, check=True, timeout=180)
    # Photographs come without masks and without twins here.
    assert json.loads((out / "export.json").read_text())["left_out"] == {"no second image": 20}
    assert json.loads((out / "train" / "index.json").read_text())["shards"]
    assert samples(runs["spatial"])
