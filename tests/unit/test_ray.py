"""The Ray executor on a real cluster of two nodes on this machine, one of which is killed on the way."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_storage import bucket, digests, fetched, line
from test_validate import SHARDS, faults_of, render

from generator.cli import Render
from generator.errors import ConfigError, DependencyError, OutputError
from generator.executors.once import Once
from generator.plan import ShardPlan
from generator.shard_job import Recipe
from generator.shards import Row, sha256, write_json
from generator.specs import RenderSettings
from generator.storage import Place
from tests.worlds import context_of

__all__ = ["bucket", "line"]  # Fixtures.

# Of the store that tests have; nodes of a real cluster have their own.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}
CONFIG = Render(task="spatial", n=8, executor="ray").resolved()


def recipe_of(out: Path, **changes: Any) -> Recipe:
    given: dict[str, Any] = {
        "task": "spatial",
        "out": out,
        "contexts": dict.fromkeys(SHARDS, context_of()),
        "renderer": "fake",
        "settings": RenderSettings("cycles", 96, 4, "cpu", 1),
        "image_format": "png",
        "masks": True,
        "attempts": 9,
        "timeout_s": 60.0,
        "memory_limit_bytes": 0,
        "fingerprint": "f0",
        "round": 0,
        "store": "",
    }
    return Recipe(**{**given, **changes})


def plans(count: int, size: int) -> list[ShardPlan]:
    return [ShardPlan("train", n, tuple(range(n * size, (n + 1) * size))) for n in range(count)]


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("nodes")
    return [folder / "one", folder / "two"]


@pytest.fixture(scope="module")
def cluster(caches: list[Path]) -> Iterator[Any]:
    """A head node without cores and two nodes of two, each with processes and a cache of its own."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for cache in caches:
        found.add_node(num_cpus=2, env_vars={"TWINSCENE_CACHE": str(cache), **CREDENTIALS})
    ray.init(address=found.address, log_to_driver=False, logging_level="error")
    found.wait_for_nodes()
    yield found
    ray.shutdown()
    found.shutdown()


def test_no_cluster_at_the_address(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    assert not ray.is_initialized(), "this test comes before those with a cluster"
    from generator.executors import ray as executor

    config = Render(task="spatial", n=8, executor="ray", address="127.0.0.1:1").resolved()
    with pytest.raises(ConfigError, match=r"--address 127.0.0.1:1: no Ray cluster answers"):
        executor.run(config, recipe_of(tmp_path), iter(()), lambda *_: None)


@pytest.mark.slow
def test_the_cluster_makes_what_one_machine_makes(cluster: Any, tmp_path: Path) -> None:
    assert cluster is not None
    from generator.executors import ray as executor

    local = render(tmp_path / "local")
    out = tmp_path / "ray"
    write_json(out / "run.json", {})
    given = [ShardPlan(split, n, indices) for split, part in SHARDS.items() for n, indices in enumerate(part)]
    rows: list[tuple[int, bool]] = []
    executor.run(CONFIG, recipe_of(out), iter(given), lambda row, fresh: rows.append((row.index, fresh)))
    assert sorted(rows) == [(index, True) for index in range(8)]
    for path in local.glob("*/*.tar"):
        assert sha256(out / path.relative_to(local)) == sha256(path)


@pytest.mark.slow
def test_a_fault_of_the_users_comes_back_as_one(cluster: Any, tmp_path: Path) -> None:
    assert cluster is not None
    from generator.executors import ray as executor

    with pytest.raises(OutputError, match="is not on every node"):
        executor.run(CONFIG, recipe_of(tmp_path / "nowhere"), iter(plans(1, 2)), lambda *_: None)


@pytest.mark.slow
def test_a_node_killed_on_the_way_costs_no_pair(cluster: Any, tmp_path: Path) -> None:
    """Its shard is taken up by the other node where it stood; every pair is reported once."""
    from generator.executors import ray as executor

    size = 40
    calm, out = tmp_path / "calm", tmp_path / "run"
    for folder in (calm, out):
        write_json(folder / "run.json", {})
    executor.run(CONFIG, recipe_of(calm), iter(plans(3, size)), lambda *_: None)
    victim = cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    reported: list[int] = []
    killed: list[float] = []

    def report(row: Row, _: bool) -> None:
        reported.append(row.index)
        if not killed and len(reported) > 10:
            killed.append(time.monotonic())
            cluster.remove_node(victim, allow_graceful=False)

    executor.run(CONFIG, recipe_of(out), iter(plans(3, size)), report)
    assert killed
    assert sorted(reported) == list(range(3 * size))
    for path in calm.glob("*/*.tar"):
        assert sha256(out / path.relative_to(calm)) == sha256(path)


@pytest.mark.slow
def test_nodes_with_nothing_in_common_but_a_store(
    cluster: Any, caches: list[Path], bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each works in a folder of its own cache, hands its shards to the store and keeps none."""
    assert cluster is not None
    from generator.executors import ray as executor

    calm = tmp_path / "calm"
    write_json(calm / "run.json", {})
    executor.run(CONFIG, recipe_of(calm), iter(plans(6, 4)), lambda *_: None)
    monkeypatch.setenv("TWINSCENE_CACHE", str(tmp_path / "driver"))
    place = Place(Path(bucket), tmp_path / "driver")
    place.refresh()
    write_json(place.out / "run.json", {"fingerprint": "f0"})
    place.publish_run()
    rows: list[int] = []
    executor.run(CONFIG, recipe_of(place.out, store=bucket), iter(plans(6, 4)), lambda row, _: rows.append(row.index))
    assert sorted(rows) == list(range(24))
    run = fetched(bucket, tmp_path / "run")
    assert digests(run) == digests(calm)
    assert faults_of(run) == []
    for cache in caches:
        (work,) = (cache / "work").iterdir()
        assert list(work.glob("train/*.json")), "a node that made no shard proves nothing"
        assert not list(work.glob("train/*.tar"))


def test_without_ray_the_mend_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    from generator.executors import ray as executor

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(DependencyError, match=r"pip install -e '.\[ray\]'"):
        executor.run(CONFIG, recipe_of(tmp_path), iter(()), lambda *_: None)


def test_each_pair_is_reported_once(tmp_path: Path) -> None:
    """A shard that is taken up again tells of its earlier pairs again."""
    from preview_run import record_of

    from generator.shards import row_of

    assert tmp_path.exists()
    heard: list[tuple[int, bool]] = []
    once = Once(lambda row, fresh: heard.append((row.index, fresh)))
    (plan,) = plans(1, 3)
    rows = [row_of(record_of(index)) for index in range(3)]
    once.row(plan, rows[0], True)
    once.row(plan, rows[0], False)
    once.row(plan, rows[1], False)
    once.done(plan)
    once.row(plan, rows[0], True)
    assert heard == [(0, True), (1, False), (0, True)]


def test_rows_lost_with_their_node_are_read_from_the_sealed_shard(tmp_path: Path) -> None:
    from preview_run import record_of

    from generator.shards import ShardStage, row_of

    heard: list[tuple[int, bool]] = []
    once = Once(lambda row, fresh: heard.append((row.index, fresh)))
    (plan,) = plans(1, 3)
    stage = ShardStage(tmp_path, plan.split, plan.number)
    for index in range(3):
        stage.accept(record_of(index), {"image_0.png": b"0", "image_1.png": b"1"})
    once.row(plan, row_of(record_of(1)), True)
    once.done(plan, stage.base.with_suffix(".parquet"))
    assert heard == [(1, True)]
    stage.seal({})
    once.row(plan, row_of(record_of(1)), True)
    once.done(plan, stage.base.with_suffix(".parquet"))
    assert heard == [(1, True), (1, True), (0, False), (2, False)]
