"""What all tests share: a cache of their own, the bundled catalog prepared for real, and optional real data."""

import importlib.util
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from generator.assets.catalog import Catalog
from generator.assets.load import load_catalog

ROOT = Path(__file__).resolve().parents[1]

# No test fails for being slow: machines are shared.
hypothesis.settings.register_profile("twinscene", deadline=None)
hypothesis.settings.load_profile("twinscene")


@pytest.fixture(scope="session", autouse=True)
def twinscene_cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """TWINSCENE_CACHE for this test run and its child processes, never the user's own.

    It lies in pytest's cache: its entries are named by content and code, so that those of an earlier run still hold.
    """
    kept = getattr(pytestconfig, "cache", None)
    folder = Path(kept.mkdir("twinscene")) if kept is not None else tmp_path_factory.mktemp("twinscene")
    before = os.environ.get("TWINSCENE_CACHE")
    os.environ["TWINSCENE_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["TWINSCENE_CACHE"]
    else:
        os.environ["TWINSCENE_CACHE"] = before


@pytest.fixture(scope="session")
def bundled_catalog(twinscene_cache: Path) -> Catalog:
    """The bundled library, prepared by Blender where it is not in the cache yet (some ten seconds)."""
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("bpy is not installed, and the bundled library is prepared with Blender")
    return load_catalog("bundled", cache=twinscene_cache / "assets", workers=2, report=lambda *_: None)


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """`shared("assets")`: a path of the optional real data; skips, saying why, where it is not there."""
    root = Path(os.environ.get("TWINSCENE_SHARED", ROOT.parent / "shared"))

    def find(name: str) -> Path:
        path = root / name
        if not path.exists():
            pytest.skip(f"real data is not here: {path} does not exist (set TWINSCENE_SHARED to its folder)")
        return path

    return find


def pytest_configure() -> None:
    """Runs started in the background inherit an ignored Ctrl-C, and their children would inherit it from us."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
