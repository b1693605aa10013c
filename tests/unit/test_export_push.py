"""`--push`: the real client of the Hugging Face Hub against a Hub on loopback."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from export_runs import export_runs

from tests.hub_server import READ_ONLY, TOKEN, Hub, serve

ROOT = Path(__file__).resolve().parents[2]
NAME = "ada/twins"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_runs(tmp_path_factory)["spatial"]


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serve() as found:
        yield found


def push(hub: Hub, run: Path, out: Path, *flags: str, token: str = TOKEN, to: str = "hf", name: str = NAME) -> str:
    """Export and push; what was printed, or the error."""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("HF_")},
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(out.parent / "home"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    words = ["export", str(run), "--to", to, "--out", str(out), "--push", name, *flags]
    done = subprocess.run(
        [sys.executable, "-m", "generator", *words],
        cwd=ROOT,
        env=environment | ({"HF_TOKEN": token} if token else {}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == (2 if "error:" in done.stderr else 0), done.stderr
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if not line.startswith("pairs ")]
        assert len(errors) == 1, errors
        return errors[0]
    return done.stdout


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("to", "private"), [("hf", False), ("imagefolder", True)])
def test_the_hub_gets_the_folder_as_it_is(to: str, private: bool, hub: Hub, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "it"
    printed = push(hub, run, out, *(["--private"] if private else []), to=to)
    assert f"pushed:  {hub.url}/datasets/{NAME}" in printed
    there = files(out)
    assert hub.repos == {NAME: there}
    assert "README.md" in there
    assert hub.private == {NAME: private}


def test_the_same_command_goes_on_where_the_hub_failed(hub: Hub, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "it"
    hub.faults["/commit/"] = [400]
    assert push(hub, run, out).startswith(f"error: --push {NAME}: ")
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    assert "holds this export already" in push(hub, run, out)
    assert hub.repos == {NAME: files(out)}
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_a_token_that_is_missing_wrong_or_may_not_write_is_one_line(hub: Hub, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "it"
    assert "no token for the Hub; log in with `hf auth login`, or set HF_TOKEN" in push(hub, run, out, token="")
    assert not out.exists(), "said before any work"
    assert "the Hub refuses the token (401)" in push(hub, run, out, token="hf_wrong")
    assert "the Hub refuses the token (403)" in push(hub, run, out, token=READ_ONLY)
    assert "the Hub refuses the token (403)" in push(hub, run, out, name="bob/twins")
    assert not hub.repos


def test_names_and_hubs_that_are_not_there(hub: Hub, run: Path, tmp_path: Path) -> None:
    assert "give it as owner/name" in push(hub, run, tmp_path / "it", name="twins")
    hub.url = "http://127.0.0.1:9"
    assert "run the same command again" in push(hub, run, tmp_path / "it")
