"""Runs that end in an object store: `--out s3://bucket/data`, gs://, or any other URL that fsspec knows.

Work is done in a local directory; each shard goes up when it is sealed: tar, parquet and, last, the json that marks it
complete. S3 and Google's store show an object when it is whole or not at all; elsewhere a half-written tar may be seen,
but never with its json. Two runs do not get one place (`claim_place`);
two commands of the same run may work at one place and make the same bytes, some of them twice.
"""

import contextlib
import functools
import hashlib
import json
import re
import tarfile
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from generator.errors import DataError, DependencyError, OutputError, no_run
from generator.records import SPLITS
from generator.shards import STAGING, read_json, replacing

T = TypeVar("T")

TRIES = 6
FIRST_WAIT_S = 0.2
CONNECTIONS = 16
# Begins the name of the object by which a run says that it is about to write run.json.
CLAIM = ".claim-"
# What pyarrow speaks itself; everything else goes through fsspec.
NATIVE = ("s3", "gs", "gcs", "hdfs", "abfs", "abfss")


def url_of(out: Path) -> str:
    """The URL that was given where a path was asked for (a Path makes one slash of two), "" for a plain path."""
    found = re.match(r"([a-z][a-z0-9+.-]+):/(?!/)(.+)", str(out))
    if not found or found[1] == "file":
        return ""
    return f"{found[1]}://{found[2]}"


def work_folder(url: str, cache: Path) -> Path:
    """Where this machine works for a URL: the same folder when the same command is run again."""
    return cache / "work" / hashlib.sha256(url.encode()).hexdigest()[:20]


class Store:
    """A folder of a store, by URL. Names are paths inside it. Every operation is tried again on errors that pass."""

    def __init__(self, url: str) -> None:
        import pyarrow.fs

        self.url = url
        try:
            if url.partition(":")[0] in NATIVE:
                self._files, path = pyarrow.fs.FileSystem.from_uri(url)
            else:
                import fsspec

                plain, path = fsspec.core.url_to_fs(url)
                self._files = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(plain))
        except ImportError as error:
            raise DependencyError(f"--out {url}: {error}; install it, or give a local directory") from error
        except (ValueError, OSError, pyarrow.ArrowException) as error:
            raise OutputError(f"--out {url}: {error}") from error
        self._root = path.rstrip("/")

    def sizes(self, folder: str = "") -> dict[str, int]:
        """Bytes of every object under a folder, by name."""
        import pyarrow.fs

        at = f"{self._root}/{folder}".rstrip("/")
        selector = pyarrow.fs.FileSelector(at, allow_not_found=True, recursive=True)
        found = self._again(f"list {folder}", lambda: self._files.get_file_info(selector))
        is_file = pyarrow.fs.FileType.File
        return {info.path.removeprefix(self._root).lstrip("/"): info.size for info in found if info.type == is_file}

    def put(self, local: Path, name: str) -> None:
        """Upload a file, and look that it arrived whole."""

        def upload() -> None:
            data = local.read_bytes()
            self._make_folder(name)
            with self._files.open_output_stream(f"{self._root}/{name}") as stream:
                stream.write(data)
            arrived = self._files.get_file_info(f"{self._root}/{name}").size
            if arrived != len(data):
                raise OSError(f"{arrived} of {len(data)} bytes arrived")

        self._again(f"write {name}", upload)

    def get(self, name: str, local: Path) -> None:
        """Download an object, whole or not at all."""

        def download() -> bytes:
            with self._files.open_input_stream(f"{self._root}/{name}") as stream:
                return bytes(stream.read())

        data = self._again(f"read {name}", download)
        with replacing(local) as temporary:
            temporary.write_bytes(data)

    def load(self, name: str) -> dict[str, Any]:
        """A JSON object. One that is not whole is looked at again: some stores show it while it is written."""

        def download() -> dict[str, Any]:
            with self._files.open_input_stream(f"{self._root}/{name}") as stream:
                try:
                    return dict(json.loads(bytes(stream.read())))
                except (ValueError, TypeError) as error:
                    raise OSError(f"not readable as JSON ({error})") from error

        return self._again(f"read {name}", download)

    def remove(self, name: str) -> None:
        """Delete an object; nothing when it is not there."""

        def delete() -> None:
            with contextlib.suppress(FileNotFoundError):
                self._files.delete_file(f"{self._root}/{name}")

        self._again(f"delete {name}", delete)

    def _make_folder(self, name: str) -> None:
        """Folders of stores that have such a thing; an object store has none."""
        if self._files.type_name not in ("s3", "gcs"):
            self._files.create_dir(f"{self._root}/{name}".rpartition("/")[0], recursive=True)

    def _again(self, what: str, act: Callable[[], T]) -> T:
        """Stores and networks fail now and then: try again, waiting longer each time. OutputError in the end."""
        import pyarrow

        for number in range(TRIES):
            try:
                return act()
            except (OSError, pyarrow.ArrowException) as error:
                if number == TRIES - 1:
                    raise OutputError(
                        f"cannot {what} at {self.url}: {error}; mend it and run the same command again"
                    ) from error
                time.sleep(FIRST_WAIT_S * 2**number)
        raise AssertionError


def begin(store: Store, work: Path) -> None:
    """Bring the work folder up to what the store says, and the store up to what this machine had finished."""
    there = store.sizes()
    if "run.json" not in there and (work / "run.json").exists():
        if any(work.glob(f"{STAGING}/*/*")) or any(is_stats(str(path.relative_to(work))) for path in work.glob("*/*")):
            # The store was emptied: what is left here belongs to a run that is gone.
            raise OutputError(f"{store.url} holds no run, but {work} does; delete that folder to start anew")
        (work / "run.json").unlink()  # Ended before it had the place: nothing was made.
    names = [name for name in there if name == "retry.json" or name == "run.json" or is_stats(name)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(lambda name: store.get(name, work / name), (name for name in names if _stale(work / name, name))))
    for path in sorted(work.glob("*/*.json")):
        name = str(path.relative_to(work))
        if is_stats(name) and name not in there and path.with_suffix(".tar").exists():
            push_shard(store, path.with_suffix(""), work)


def push_run(store: Store, work: Path) -> None:
    """Upload the small files that all machines share, where this one has changed them; check whose run it is."""
    if "run.json" not in store.sizes():
        claim_place(store, work)
    check_same_run(store, work)
    if (work / "retry.json").exists():
        store.put(work / "retry.json", "retry.json")


def claim_place(store: Store, work: Path) -> None:
    """Write run.json to a place that has none, unless another run is about to. Raises OutputError then.

    Each run writes a claim under a name of its own, then looks for others, and takes its claim back once run.json is
    there. Of two runs at least the later one sees the other's claim, or its run.json; when both see each other, both
    give up. That needs a store that lists what was just written, as S3, Google's and Azure's do, and no lock.
    """
    fingerprint = read_json(work / "run.json")["fingerprint"]
    own = f"{CLAIM}{fingerprint}.{uuid.uuid4().hex[:12]}"
    store.put(work / "run.json", own)
    there = store.sizes()
    others = [name for name in there if name.startswith(CLAIM) and not name.startswith(f"{CLAIM}{fingerprint}.")]
    if "run.json" not in there:
        if others:
            store.remove(own)
            raise OutputError(
                f"another run is being started at {store.url} ({others[0]}); give another --out, or, if that run is "
                "gone, delete that object and run the same command again"
            )
        store.put(work / "run.json", "run.json")
    store.remove(own)


def check_same_run(store: Store, work: Path) -> None:
    """Raises OutputError when the place is another run's."""
    if store.load("run.json")["fingerprint"] != read_json(work / "run.json")["fingerprint"]:
        raise OutputError(f"{store.url} holds another run; give another --out")


def push_shard(store: Store, base: Path, work: Path) -> None:
    """Upload a sealed shard, its json last, and free its tar here. base: WORK/train/00000."""
    check_same_run(store, work)
    name = str(base.relative_to(work))
    store.remove(f"{name}.json")  # A shard made anew by --retry-rejected is not complete until its last file is there.
    for suffix in (".tar", ".parquet", ".json"):
        store.put(base.with_suffix(suffix), name + suffix)
    base.with_suffix(".tar").unlink()


def pull_shard(store: Store, base: Path, work: Path) -> None:
    """Download the tar and parquet of a complete shard that are not here."""
    for suffix in (".tar", ".parquet"):
        path = base.with_suffix(suffix)
        if not path.exists():
            store.get(str(path.relative_to(work)), path)


@contextlib.contextmanager
def gathered(store: Store, work: Path, limit: int) -> Iterator[None]:
    """For card and gallery: all parquets here, the tars that the gallery shows, empty ones for the rest."""
    from generator.preview.choice import read_run, shards_to_open

    bases = [path.with_suffix("") for path in sorted(work.glob("*/*.json")) if is_stats(str(path.relative_to(work)))]
    parquets = [base.with_suffix(".parquet") for base in bases]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        missing = [path for path in parquets if not path.exists()]
        list(pool.map(lambda path: store.get(str(path.relative_to(work)), path), missing))
    borrowed = [base.with_suffix(".tar") for base in bases if not base.with_suffix(".tar").exists()]
    try:
        for path in borrowed:
            with tarfile.open(path, "w"):
                pass
        for path in shards_to_open(read_run(work), limit):
            if path in borrowed:
                path.unlink()
                pull_shard(store, path.with_suffix(""), work)
        yield
    finally:
        for path in borrowed:
            path.unlink(missing_ok=True)


def push_pages(store: Store, work: Path) -> None:
    """Upload what a person opens first."""
    for name in ("README.md", "credits.csv", "index.html"):
        store.put(work / name, name)


def is_stats(name: str) -> bool:
    """Whether an object is the json of a shard."""
    return re.fullmatch(r"(train|val|test)/\d{5,}\.json", name) is not None


def _stale(local: Path, name: str) -> bool:
    return not local.exists() or name == "retry.json"


class Place:
    """Where a run lives: a directory, or a store with a folder of this machine's to work in (`out` either way)."""

    def __init__(self, out: Path, cache: Path) -> None:
        self.url = url_of(out)
        self.out = work_folder(self.url, cache) if self.url else out
        self._store = Store(self.url) if self.url else None

    def refresh(self) -> None:
        """Take in what other machines have finished, and hand over what this one had."""
        if self._store:
            begin(self._store, self.out)

    def publish_run(self) -> None:
        """Hand over run.json and the state of --retry-rejected."""
        if self._store:
            push_run(self._store, self.out)

    @contextlib.contextmanager
    def finishing(self, limit: int) -> Iterator[None]:
        """While card and gallery, with `limit` pairs, are written; then they are handed over."""
        if not self._store:
            yield
            return
        with gathered(self._store, self.out, limit):
            yield
        push_run(self._store, self.out)
        push_pages(self._store, self.out)


def lacking(described: dict[str, Any], planned: int) -> str:
    """What is wrong where whole shards are missing, "" where none is: run.json of a rendered run says how many pairs
    it planned. planned: pairs in its complete shards."""
    config = described.get("config")
    wanted = config.get("n") if isinstance(config, dict) and "renderer" in config else None
    if wanted is None or planned == wanted:
        return ""
    return f"{planned} of {wanted} planned pairs are in complete shards; the same render command again goes on"


class Reading:
    """A run that is only read: a directory as it is, or a store, whose files come into a scratch folder as needed.

    Can be sent to other processes.
    """

    def __init__(self, where: Path) -> None:
        self.name = url_of(where) or str(where)
        self._url = url_of(where)
        self._folder = where

    def described(self, names: set[str]) -> dict[str, Any]:
        """run.json. Raises DataError where there is none."""
        if "run.json" not in names:
            raise DataError(f"{self.name}: no run is there (no run.json)" if self._url else no_run(self._folder))
        with self.at_hand(["run.json"]) as folder:
            return read_json(folder / "run.json")

    def names(self) -> set[str]:
        """What the run holds: run.json and such, and the files of the splits."""
        if self._url:
            return set(_store(self._url).sizes())
        found = [*self._folder.glob("*"), *(path for split in SPLITS for path in (self._folder / split).glob("*"))]
        return {str(path.relative_to(self._folder)) for path in found if path.is_file()}

    @contextlib.contextmanager
    def at_hand(self, names: Iterable[str]) -> Iterator[Path]:
        """A folder that holds these files, each by its name; what was fetched for it goes afterwards."""
        if not self._url:
            yield self._folder
            return
        with tempfile.TemporaryDirectory(prefix="twinscene-") as scratch, ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(lambda name: _store(self._url).get(name, Path(scratch, name)), names))
            yield Path(scratch)


@functools.lru_cache(maxsize=8)
def _store(url: str) -> Store:
    """One client for a URL in this process."""
    return Store(url)
