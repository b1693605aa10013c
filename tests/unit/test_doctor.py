"""The doctor's verdicts, and the report as a user sees it."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from pathlib import Path

import pytest

from generator import doctor
from generator.cli import Doctor
from generator.doctor import Finding

needs_bpy = pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="bpy is not installed")


def bpy_library(name: str) -> Path:
    """A shared library that comes with bpy."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        pytest.skip("bpy is not installed")
    found = sorted((Path(spec.origin).parent / "lib").glob(f"{name}*"))
    if not found:
        pytest.skip(f"this bpy has no {name}")
    return found[0]


@pytest.mark.parametrize(("python", "bpy"), [((3, 11), "4.5.15"), ((3, 13), "5.2.0")])
def test_supported_pairs(python: tuple[int, int], bpy: str) -> None:
    assert doctor.check_pair(python, bpy).state == "ok"


@pytest.mark.parametrize(
    ("python", "bpy", "fatal", "part"),
    [
        ((3, 12), None, True, "has no Blender module"),
        ((3, 11), None, True, "without bpy"),
        ((3, 13), "5.1.0", False, "not a supported pair"),
        ((3, 11), "4.50.0", False, "not a supported pair"),
    ],
)
def test_other_pairs_name_both_supported_ones(python: tuple[int, int], bpy: str | None, fatal: bool, part: str) -> None:
    finding = doctor.check_pair(python, bpy)
    assert finding.fatal == fatal
    assert part in finding.text
    assert "Python 3.11 with bpy 4.5 LTS" in finding.text
    assert "Python 3.13 with bpy 5.2 LTS" in finding.text
    assert finding.mend


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ldd is Linux's")
def test_a_missing_library_is_found(tmp_path: Path) -> None:
    """One of bpy's libraries, away from the ones beside it that it needs."""
    original = bpy_library("libOpenEXR.so")
    alone = tmp_path / original.name
    shutil.copy(original, alone)
    lost = doctor._unresolved(alone)
    assert any(name.startswith("libIex") for name in lost)
    assert doctor._unresolved(original) == []


@pytest.mark.parametrize(
    ("release", "line"),
    [
        ({"ID": "debian"}, "apt-get install libsm6 libxrender1"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "apt-get install libsm6 libxrender1"),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf install libSM libXrender"),
    ],
)
def test_packages_of_the_system(release: dict[str, str], line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release)
    assert doctor.install_line(["libXrender.so.1", "libSM.so.6"]) == line


def test_packages_of_an_unknown_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "arch"})
    line = doctor.install_line(["libEGL.so.1", "libnew.so.7"])
    assert "libegl1" in line
    assert "libglvnd-egl" in line
    assert "libnew.so.7" in line, "a library that the table lacks is still named"


def test_extras_tell_the_installed_from_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "EXTRAS", {"here": ("pytest", "numpy"), "gone": ("pytest", "no-such-package")})
    here, gone = doctor.check_extras()
    assert here.state == "ok"
    assert f"pytest {importlib.metadata.version('pytest')}" in here.text
    assert gone == Finding("extras", "note", "[gone] not installed: no-such-package", 'pip install -e ".[gone]"')


def test_extras_are_those_of_the_project() -> None:
    import tomllib

    project = tomllib.loads((Path(doctor.__file__).parent.parent / "pyproject.toml").read_text())["project"]
    declared = project["optional-dependencies"]
    for extra, names in doctor.EXTRAS.items():
        asked = " ".join(declared[extra]).lower()
        for name in names:
            assert name.lower() in asked, f"[{extra}] does not install {name}"


def test_supported_pairs_are_those_of_the_project() -> None:
    text = (Path(doctor.__file__).parent.parent / "pyproject.toml").read_text()
    for (major, minor), bpy in doctor.SUPPORTED.items():
        assert f"bpy>={bpy},<" in text
        assert f"python_version == '{major}.{minor}'" in text


def test_space_at_a_folder_yet_to_be_made(tmp_path: Path) -> None:
    disk, memory = doctor.check_space(tmp_path / "not" / "there" / "yet")
    assert str(tmp_path) in disk.text
    assert "cores" in memory.text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_place_is_fatal(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    disk, _ = doctor.check_space(tmp_path / "out")
    assert disk.fatal


def test_little_disk_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISK_BYTES", 10**18)
    disk, _ = doctor.check_space(tmp_path)
    assert disk.state == "note"
    assert not disk.fatal


def test_report_and_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    broken = Finding("libraries", "missing", "bpy cannot load: libSM.so.6", "apt-get install libsm6", fatal=True)
    monkeypatch.setattr(doctor, "examine", lambda _: iter([Finding("python", "ok", "fine"), broken]))
    assert doctor.run_doctor(Doctor()) == 1
    printed = capsys.readouterr().out
    assert "To mend it:\n  apt-get install libsm6" in printed
    monkeypatch.setattr(doctor, "examine", lambda _: iter([Finding("python", "ok", "fine")]))
    assert doctor.run_doctor(Doctor()) == 0


def test_equal_devices_are_counted() -> None:
    assert doctor._counted(["H200", "H200", "L4"]) == ["2 x H200", "L4"]


@needs_bpy
@pytest.mark.blender
def test_this_machine_renders(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run_doctor(Doctor()) == 0
    printed = capsys.readouterr().out
    assert "Cycles on CPU" in printed
    assert "Workbench" in printed


@needs_bpy
@pytest.mark.blender
def test_a_probe_that_dies_is_a_finding(tmp_path: Path) -> None:
    """An unknown question ends the probe as a crash would."""
    answer = doctor._ask(tmp_path / "log", {"nothing": "asked"}, 60)
    assert not answer["ok"]
    assert "renderer crashed (KeyError: 'ask')" in answer["error"]
