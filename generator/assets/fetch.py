"""Files of the Objaverse repository into the layout of the `objaverse` package, over a network that fails.

That package downloads without retries, checks or atomic writes; here huggingface_hub does it (it resumes a cut
transfer, honours HF_ENDPOINT and HF_HUB_OFFLINE, and renames only what is complete), and what arrives is looked at
before it counts.
"""

import gzip
import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.assets import gltf
from generator.assets.reasons import Unfit
from generator.errors import AssetError

REPOSITORY = "allenai/objaverse"
ATTEMPTS = 4
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
# Raised by the HTTP libraries that huggingface_hub has used; their classes differ between its versions.
TRANSPORT_PACKAGES = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that did not arrive, and why, in one line."""

    name: str
    detail: str


class FetchError(Exception):
    """One file cannot be had; `final` when asking again will not help."""

    def __init__(self, detail: str, final: bool) -> None:
        super().__init__(detail)
        self.final = final


@dataclass(frozen=True, slots=True)
class Repository:
    """The remote repository and its local copy.

    root: ~/.objaverse/hf-objaverse-v1 or another directory of that layout. wait: sleeps between attempts.
    """

    root: Path
    wait: Callable[[float], None] = time.sleep

    def get(self, name: str) -> Path:
        """The local path of a file of the repository, downloaded unless it is there and whole.

        Raises FetchError when it is not to be had.
        """
        path = self.root / name
        problem = examine(path)
        if problem is None:
            return path
        if offline():
            raise FetchError(f"{problem}, and HF_HUB_OFFLINE is set", final=True)
        for attempt in range(ATTEMPTS):
            if attempt:
                self.wait(min(FIRST_WAIT_S * 2 ** (attempt - 1), LONGEST_WAIT_S))
            try:
                path.unlink(missing_ok=True)
                self._download(name)
                problem = examine(path)
                if problem is None:
                    return path
                path.unlink(missing_ok=True)
            except FetchError as error:
                problem = str(error)
                if error.final:
                    raise
        raise FetchError(f"{problem} ({ATTEMPTS} attempts)", final=True)

    def get_all(
        self, names: Sequence[str], workers: int, report: Callable[[int, int], None]
    ) -> tuple[dict[str, Path], list[Failure]]:
        """Many files at once: those that are there now, and those that failed. `report(done, total)` after each."""
        found: dict[str, Path] = {}
        failures: list[Failure] = []
        pool = ThreadPoolExecutor(max_workers=max(1, workers))
        try:
            waiting: dict[Future[Path], str] = {pool.submit(self.get, name): name for name in names}
            pending = set(waiting)
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    name = waiting[future]
                    try:
                        found[name] = future.result()
                    except FetchError as error:
                        failures.append(Failure(name, str(error)))
                    report(len(found) + len(failures), len(names))
        finally:
            # On Ctrl-C what is under way ends by itself; nothing new is begun.
            pool.shutdown(wait=True, cancel_futures=True)
        return found, sorted(failures, key=lambda failure: failure.name)

    def _download(self, name: str) -> None:
        """One attempt of huggingface_hub. Raises FetchError."""
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError
        from huggingface_hub.utils.tqdm import disable_progress_bars

        # One bar for all files is shown above, and failures are reported at the end.
        disable_progress_bars()
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        endpoint = os.environ.get("HF_ENDPOINT") or None
        try:
            hf_hub_download(
                REPOSITORY,
                name,
                repo_type="dataset",
                local_dir=self.root,
                endpoint=endpoint,
            )
        except LocalEntryNotFoundError as error:
            # huggingface_hub has backed off and asked again several times by now.
            raise FetchError(f"the server cannot be reached: {_cause(error)}", final=True) from error
        except EntryNotFoundError as error:
            raise FetchError("not in the repository (404)", final=True) from error
        except HfHubHTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            final = 400 <= status < 500 and status not in (408, 425, 429)
            raise FetchError(f"the server answered {status}", final=final) from error
        except OSError as error:
            raise FetchError(f"{type(error).__name__}: {_one_line(error)}", final=False) from error
        except Exception as error:
            if type(error).__module__.split(".")[0] not in TRANSPORT_PACKAGES:
                raise
            raise FetchError(f"{type(error).__name__}: {_one_line(error)}", final=False) from error


def offline() -> bool:
    """Whether the user forbade the network."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def examine(path: Path) -> str | None:
    """What is wrong with a local file, None if it is whole: a GLB's size and header, a gzip's content and checksum."""
    if not path.is_file():
        return f"{path.name} is not there"
    if path.suffix == ".glb":
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                head = file.read(512)
            if head[:4] != b"glTF":
                raise Unfit("not_a_model", gltf.describe(head) if head else "empty")
            if len(head) < 12 or int.from_bytes(head[8:12], "little") != size:
                raise Unfit("truncated", f"{size} bytes, not as many as its header says")
        except Unfit as problem:
            return f"{path.name}: {problem.detail}"
        return None
    try:
        read_json(path)
    except (OSError, EOFError, ValueError) as error:
        return f"{path.name} is damaged: {_one_line(error)}"
    return None


def read_json(path: Path) -> Any:
    """A gzipped JSON file."""
    with gzip.open(path, "rb") as file:
        return json.load(file)


def require(repository: Repository, name: str) -> Path:
    """A file without which nothing works. Raises AssetError."""
    try:
        return repository.get(name)
    except FetchError as error:
        raise AssetError(
            f"cannot get Objaverse's {name} into {repository.root}: {error}; run `python -m generator assets fetch`"
            " where there is a network (HF_ENDPOINT names a mirror), or set TWINSCENE_OBJAVERSE to a filled directory"
        ) from error


def _cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {_one_line(error)}"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]
