"""Ray nodes that share the output and nothing else: each prepares models and textures in a cache of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generator.shards import sha256
from tests.glb import CORNERS, mesh

pytestmark = [pytest.mark.blender, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    *("--task", "spatial", "--n", "8", "--shard-size", "2", "--split", "train=1"),
    *("--size", "64", "--masks", "--image-format", "png", "--attempts", "6"),
)
SIDES = {"mug": (1, 1, 1), "phone": (1, 2, 0.4), "chair": (1, 2, 1), "lamp": (0.7, 1.6, 0.7)}


def write_models(folder: Path, taller: float = 1.0) -> Path:
    """A folder of four boxes under known nouns."""
    for noun, sides in SIDES.items():
        (folder / noun).mkdir(parents=True)
        stretched = (CORNERS * sides * (1, taller, 1)).astype("float32")
        (folder / noun / "a.glb").write_bytes(mesh(positions=stretched).data())
    return folder


# A mount that nobody else sees.
ALONE = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs "$TWINSCENE_CACHE" && exec "$@"', "sh")


def render(out: Path, cache: Path, home: Path, *flags: str, alone: bool) -> "subprocess.CompletedProcess[str]":
    """The command. alone: on a cache that no other process can look into, as if on another machine."""
    cache.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "generator", "render", *FLAGS, "--assets", "~/models", "--out", str(out), *flags]
    return subprocess.run(
        [*(ALONE if alone else ()), *command],
        cwd=ROOT, capture_output=True, text=True, timeout=400, check=False,
        env={**os.environ, "TWINSCENE_CACHE": str(cache), "HOME": str(home)},
    )  # fmt: skip


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head node without cores; the tests bring the nodes."""
    pytest.importorskip("ray", reason="Ray is not installed")
    may = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False
    )
    if may.returncode:
        pytest.skip(f"one cache cannot be hidden from another process here: {may.stderr.decode().strip()}")
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    yield found
    found.shutdown()


def add_node(cluster: Any, folder: Path, home: Path) -> Any:
    """A node with its own cache and home."""
    return cluster.add_node(num_cpus=2, env_vars={"TWINSCENE_CACHE": str(folder / "cache"), "HOME": str(home)})


def test_nodes_prepare_for_themselves_and_make_the_same(cluster: Any, tmp_path: Path) -> None:
    write_models(tmp_path / "home" / "models")
    local = render(tmp_path / "local", tmp_path / "here", tmp_path / "home", alone=False)
    assert local.returncode == 0, local.stderr
    nodes = [add_node(cluster, tmp_path / name, tmp_path / "home") for name in ("one", "two")]
    done = render(
        tmp_path / "ray", tmp_path / "driver", tmp_path / "home", "--executor", "ray", "--address", cluster.address,
        alone=True,
    )  # fmt: skip
    for node in nodes:
        cluster.remove_node(node)
    assert done.returncode == 0, done.stderr
    tars = list((tmp_path / "local").glob("*/*.tar"))
    assert len(tars) == 4
    for path in tars:
        assert sha256(tmp_path / "ray" / path.relative_to(tmp_path / "local")) == sha256(path)
    for name in ("one", "two"):
        assert len(list((tmp_path / name / "cache" / "assets").glob("*/model.npz"))) == len(SIDES)


def test_a_node_with_other_models_is_refused(cluster: Any, tmp_path: Path) -> None:
    write_models(tmp_path / "home" / "models")
    write_models(tmp_path / "elsewhere" / "models", taller=1.5)
    node = add_node(cluster, tmp_path / "one", tmp_path / "elsewhere")
    done = render(
        tmp_path / "ray", tmp_path / "driver", tmp_path / "home", "--executor", "ray", "--address", cluster.address,
        alone=True,
    )  # fmt: skip
    cluster.remove_node(node)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "a node has other assets" in done.stderr
    assert not list((tmp_path / "ray").glob("*/*.tar"))
