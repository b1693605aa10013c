"""Runs that end in an object store: against moto's S3 server, with a line that drops and fails on order."""

import contextlib
import json
import os
import random
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_validate import faults_of, flip
from test_validate import render as render_here

from generator import storage
from generator.cli import Status
from generator.errors import DataError, DependencyError, OutputError
from generator.journal import Journal
from generator.shards import sha256, write_json
from generator.status import run_status
from generator.storage import Store, url_of, work_folder

ROOT = Path(__file__).resolve().parents[2]
FAKE_CLI = ROOT / "tests" / "fake_cli.py"
FLAGS = ("--task", "spatial", "--n", "24", "--shard-size", "8", "--size", "64", "--renderer", "fake", "--workers", "2")


BUSY = b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Line(socketserver.ThreadingTCPServer):
    """A line to the store that breaks. rate: share of what is sent at which it does; dead: a name it never lets by."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.behind = port
        self.rate = 0.0
        self.failed = 0
        self.dead = ""
        self.rng = random.Random(4)
        self.lock = threading.Lock()

    def fate(self, sent: bytes) -> str:
        with self.lock:
            if self.dead and self.dead.encode() in sent:
                return "refuse"
            if self.rng.random() >= self.rate:
                return ""
            self.failed += 1
            return self.rng.choice(("refuse", "drop"))


class _Passing(socketserver.BaseRequestHandler):
    server: Line

    def handle(self) -> None:
        with socket.create_connection(("127.0.0.1", self.server.behind)) as behind:
            back = threading.Thread(target=self._pump_back, args=(behind,), daemon=True)
            back.start()
            while data := self.request.recv(1 << 16):
                fate = self.server.fate(data)
                if fate == "refuse":
                    self.request.sendall(BUSY)
                if fate:
                    break
                behind.sendall(data)
        with contextlib.suppress(OSError):
            self.request.shutdown(socket.SHUT_RDWR)

    def _pump_back(self, behind: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := behind.recv(1 << 16):
                self.request.sendall(data)
            self.request.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    """moto_server runs from an environment of its own: its pins must not weigh on ours. TWINSCENE_MOTO names it."""
    program = os.environ.get("TWINSCENE_MOTO") or shutil.which("moto_server")
    if not program:
        pytest.skip("moto_server is neither on PATH nor named by TWINSCENE_MOTO")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("moto") / "log"
    with log.open("wb") as stream:
        server = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port)], stdout=stream, stderr=stream)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.1)
    proxy = Line(port)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        if not takes_uploads(port):
            pytest.skip(f"{program} does not take what Arrow sends; it must be of moto 5")
        yield proxy
    finally:
        proxy.shutdown()
        server.terminate()
        server.wait()


def takes_uploads(port: int) -> bool:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    store = S3FileSystem(
        access_key="test", secret_key="test", endpoint_override=f"127.0.0.1:{port}", scheme="http", region="us-east-1",
        allow_bucket_creation=True, retry_strategy=AwsStandardS3RetryStrategy(max_attempts=1),
    )  # fmt: skip
    try:
        store.create_dir("probe")
        with store.open_output_stream("probe/x") as stream:
            stream.write(b"x")
    except OSError:
        return False
    return True


@pytest.fixture
def bucket(line: Line, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty folder in a bucket; the line is good again afterwards."""
    from pyarrow.fs import S3FileSystem

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(storage, "FIRST_WAIT_S", 0.02)
    endpoint = f"127.0.0.1:{line.behind}"
    S3FileSystem(endpoint_override=endpoint, scheme="http", region="us-east-1", allow_bucket_creation=True).create_dir(
        "data"
    )
    folder = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    yield f"s3://data/{folder}?endpoint_override=127.0.0.1:{line.server_address[1]}&scheme=http&region=us-east-1"
    line.rate, line.dead = 0.0, ""


def render(url: str, cache: Path, *flags: str, code: int = 0) -> str:
    """The command, on a machine of its own: `cache` is what it keeps. What it printed to both streams."""
    done = subprocess.run(
        [sys.executable, str(FAKE_CLI), "render", *FLAGS, "--out", url, *flags],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "TWINSCENE_CACHE": str(cache)},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def fetched(url: str, folder: Path) -> Path:
    """The whole run, downloaded."""
    store = Store(url)
    for name in store.sizes():
        store.get(name, folder / name)
    return folder


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Digests of the same run made in a directory."""
    folder = tmp_path_factory.mktemp("local")
    render(str(folder / "run"), folder / "cache")
    return digests(folder / "run")


def digests(run: Path) -> dict[str, str]:
    return {str(path.relative_to(run)): sha256(path) for kind in ("*/*.tar", "*/*.parquet") for path in run.glob(kind)}


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("s3://bucket/a/b", "s3://bucket/a/b"),
        ("gs://bucket/a?x=1", "gs://bucket/a?x=1"),
        ("memory://x", "memory://x"),
        ("/plain/path", ""),
        ("relative", ""),
        ("c/d:/e", ""),
        ("file:///tmp/x", ""),
    ],
)
def test_urls_are_told_from_paths(given: str, url: str) -> None:
    assert url_of(Path(given)) == url


def test_each_url_has_one_work_folder(tmp_path: Path) -> None:
    assert work_folder("s3://a", tmp_path) == work_folder("s3://a", tmp_path) != work_folder("s3://b", tmp_path)


def test_a_store_that_nobody_speaks_to() -> None:
    with pytest.raises((OutputError, DependencyError), match="--out"):
        Store("nosuch://bucket/x")


@pytest.mark.slow
def test_the_store_ends_up_with_the_same_run(bucket: str, tmp_path: Path, local: dict[str, str]) -> None:
    printed = render(bucket, tmp_path / "cache")
    assert "24 of 24 pairs accepted" in printed
    assert faults_of(Path(bucket)) == []
    assert run_status(Status(Path(bucket))) == 0
    run = fetched(bucket, tmp_path / "run")
    assert digests(run) == local
    assert faults_of(run) == []
    assert (run / "README.md").exists()
    assert "spatial" in (run / "index.html").read_text()
    work = next((tmp_path / "cache" / "work").iterdir())
    assert not list(work.glob("*/*.tar"))  # This machine keeps no shard.
    assert "nothing was missing" in render(bucket, tmp_path / "cache")
    assert "nothing was missing" in render(bucket, tmp_path / "another machine")


@pytest.mark.slow
def test_machines_share_the_work(bucket: str, tmp_path: Path, local: dict[str, str]) -> None:
    assert "other slices are not done" in render(bucket, tmp_path / "one", "--slice", "1/2")
    assert "README.md" not in Store(bucket).sizes()
    render(bucket, tmp_path / "two", "--slice", "2/2")
    run = fetched(bucket, tmp_path / "run")
    assert digests(run) == local
    assert "24" in (run / "README.md").read_text()


@pytest.mark.slow
def test_a_bad_line(bucket: str, line: Line, tmp_path: Path, local: dict[str, str]) -> None:
    """One request in four fails or is dropped: tried again, and the same in the end."""
    line.rate = 0.25
    render(bucket, tmp_path / "cache")
    line.rate = 0.0
    assert line.failed > 5
    run = fetched(bucket, tmp_path / "run")
    assert digests(run) == local
    assert faults_of(run) == []


@pytest.mark.slow
def test_a_store_that_dies_in_between(bucket: str, line: Line, tmp_path: Path, local: dict[str, str]) -> None:
    """No shard is complete without its last file; the same command goes on, and only uploads what was made."""
    line.dead = "00001.parquet"
    printed = render(bucket, tmp_path / "cache", code=2)
    assert "cannot write train/00001.parquet" in printed
    assert "Traceback" not in printed
    line.dead = ""
    there = Store(bucket).sizes()
    assert "train/00001.tar" in there
    assert "train/00001.json" not in there
    render(bucket, tmp_path / "cache")
    assert digests(fetched(bucket, tmp_path / "run")) == local


@pytest.mark.slow
def test_another_run_is_refused(bucket: str, tmp_path: Path) -> None:
    render(bucket, tmp_path / "one")
    printed = render(bucket, tmp_path / "two", "--seed", "1", code=2)
    assert "holds another run" in printed
    assert "seed" in printed


@pytest.mark.slow
def test_a_run_that_was_deleted_is_not_taken_for_done(bucket: str, tmp_path: Path) -> None:
    render(bucket, tmp_path / "cache")
    store = Store(bucket)
    for name in store.sizes():
        store.remove(name)
    assert "holds no run, but" in render(bucket, tmp_path / "cache", code=2)
    shutil.rmtree(tmp_path / "cache" / "work")
    render(bucket, tmp_path / "cache")
    assert "run.json" in store.sizes()


@pytest.mark.slow
def test_retrying_opens_shards_that_only_the_store_has(bucket: str, tmp_path: Path) -> None:
    """Pairs rejected for want of attempts are made by another machine; accepted ones keep their bytes."""
    flags = ("--task", "attribute", "--attributes", "colour", "--attempts", "1", "--seed", "3")
    render(bucket, tmp_path / "one", *flags)
    before = fetched(bucket, tmp_path / "before")
    counts = [json.loads(path.read_text()) for path in before.glob("*/0*.json")]
    if not any(item["rejected"] for item in counts):
        pytest.skip("no pair was rejected in this small run")
    render(bucket, tmp_path / "two", *flags, "--retry-rejected")
    after = fetched(bucket, tmp_path / "after")
    assert faults_of(after) == []
    again = [json.loads(path.read_text()) for path in after.glob("*/0*.json")]
    assert sum(item["rejected"] for item in again) < sum(item["rejected"] for item in counts)


def work_of(folder: Path, fingerprint: str) -> Path:
    write_json(folder / "run.json", {"fingerprint": fingerprint})
    return folder


def test_of_runs_that_start_at_once_one_at_most_gets_the_place(tmp_path: Path) -> None:
    """Several tries, several runs each: never do two of them go on."""
    for number in range(8):
        store = Store(f"local://{tmp_path / f'place-{number}'}")
        works = [work_of(tmp_path / f"work-{number}-{run}", str(run)) for run in range(4)]
        start = threading.Barrier(len(works))

        def begin(work: Path, store: Store = store, start: threading.Barrier = start) -> bool:
            start.wait()
            with contextlib.suppress(OutputError):
                storage.push_run(store, work)
                return True
            return False

        with ThreadPoolExecutor(len(works)) as pool:
            won = list(pool.map(begin, works))
        names = store.sizes()
        assert not [name for name in names if name.startswith(storage.CLAIM)]
        assert sum(won) == ("run.json" in names)
        if "run.json" in names:
            store.get("run.json", tmp_path / "there")
            assert json.loads((tmp_path / "there").read_text())["fingerprint"] == str(won.index(True))


def test_a_place_that_another_run_is_about_to_take(tmp_path: Path) -> None:
    store = Store(f"local://{tmp_path / 'place'}")
    work = work_of(tmp_path / "work", "mine")
    store.put(work / "run.json", f"{storage.CLAIM}theirs.1")
    with pytest.raises(OutputError, match=r"another run is being started at .*claim-theirs\.1"):
        storage.push_run(store, work)
    assert set(store.sizes()) == {f"{storage.CLAIM}theirs.1"}
    store.remove(f"{storage.CLAIM}theirs.1")
    storage.begin(store, work)  # Nothing was made: what was left here does not stand in the way.
    assert not (work / "run.json").exists()
    storage.push_run(store, work_of(tmp_path / "work", "mine"))
    # The same run from a second machine, which has a claim of its own by now.
    store.put(work / "run.json", f"{storage.CLAIM}mine.2")
    storage.push_run(store, work_of(tmp_path / "work 2", "mine"))


def test_workers_that_finish_at_once_do_not_trip_over_each_other(tmp_path: Path) -> None:
    store = Store(f"local://{tmp_path / 'place'}")
    work = work_of(tmp_path / "work", "mine")
    storage.push_run(store, work)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: storage.check_same_run(store, work), range(200)))


def test_what_fsspec_knows_will_do(tmp_path: Path) -> None:
    """A file system that pyarrow does not speak itself."""
    store = Store(f"local://{tmp_path / 'there'}")
    assert store.sizes() == {}
    source = tmp_path / "x"
    source.write_bytes(b"abc")
    store.put(source, "a/b/x")
    assert (tmp_path / "there" / "a" / "b" / "x").read_bytes() == b"abc"
    assert store.sizes() == {"a/b/x": 3}
    store.get("a/b/x", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"abc"
    store.remove("a/b/x")
    store.remove("a/b/x")
    assert store.sizes() == {}


@pytest.mark.parametrize("workers", [1, 2])
def test_validate_reads_a_store_shard_by_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    run = render_here(tmp_path / f"run-{workers}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    assert faults_of(Path(f"local://run-{workers}"), workers) == []
    flip(run / "train" / "00000.tar")
    (run / "train" / "00001.parquet").unlink()
    (run / "val" / "00000.json").unlink()
    found = "\n".join(faults_of(Path(f"local://run-{workers}"), workers))
    assert "train/00000: 00000.tar is not the file that was written" in found
    assert "train/00001: 00001.parquet is missing" in found
    assert "val/00000: not complete (no json)" in found
    assert not list((tmp_path / "scratch").iterdir())  # What was fetched is gone.


def test_status_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run = render_here(tmp_path / "status")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TWINSCENE_CACHE", str(tmp_path / "cache"))
    assert run_status(Status(Path("local://status"))) == 0
    assert "8 of 8 pairs planned are final" in capsys.readouterr().out
    staged = work_folder("local://status", tmp_path / "cache") / ".staging" / "val-00000"
    Journal(staged).append(6, b"{}", b"")
    (run / "val" / "00000.json").unlink()
    assert run_status(Status(Path("local://status"))) == 1
    shown = capsys.readouterr().out
    assert "unfinished shards on this machine: 1, 1 pairs done in them" in shown
    assert "7 of 8 pairs planned are final" in shown
    with pytest.raises(DataError, match="local://nothing: no run is there"):
        run_status(Status(Path("local://nothing")))
