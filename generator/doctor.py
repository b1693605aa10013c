"""`python -m generator doctor`: what this machine can do, what is missing, and the line that mends it.

Nothing is taken on trust: Blender is started in a child process and renders a tiny picture with every engine and
device it offers. A machine that renders exits with 0, any other with 1.
"""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil

from generator.child import Child, ChildFailure
from generator.cli import Doctor

# Blender's own Python version decides: bpy is built for exactly one. Both are long-term releases.
SUPPORTED = {(3, 11): "4.5", (3, 13): "5.2"}

EXTRAS = {
    "coco": ("spacy", "pycocotools"),
    "scorer": ("torch", "torchvision", "open_clip_torch", "safetensors"),
    "ray": ("ray",),
    "dev": ("pytest", "hypothesis", "ruff", "mypy", "import-linter", "webdataset", "datasets"),
}

# Shared library -> packages (Debian and Ubuntu, Fedora and its kin). What bpy links against, and EGL, which its
# EEVEE and Workbench engines open at run time.
PACKAGES = {
    "libX11.so.6": ("libx11-6", "libX11"),
    "libXext.so.6": ("libxext6", "libXext"),
    "libXrender.so.1": ("libxrender1", "libXrender"),
    "libXfixes.so.3": ("libxfixes3", "libXfixes"),
    "libXi.so.6": ("libxi6", "libXi"),
    "libXxf86vm.so.1": ("libxxf86vm1", "libXxf86vm"),
    "libXt.so.6": ("libxt6", "libXt"),
    "libXau.so.6": ("libxau6", "libXau"),
    "libXdmcp.so.6": ("libxdmcp6", "libXdmcp"),
    "libxcb.so.1": ("libxcb1", "libxcb"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libSM.so.6": ("libsm6", "libSM"),
    "libICE.so.6": ("libice6", "libICE"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libGLX.so.0": ("libglx0", "libglvnd-glx"),
    "libGLdispatch.so.0": ("libglvnd0", "libglvnd"),
    "libOpenGL.so.0": ("libopengl0", "libglvnd-opengl"),
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libgomp.so.1": ("libgomp1", "libgomp"),
    "libuuid.so.1": ("libuuid1", "libuuid"),
    "libbsd.so.0": ("libbsd0", "libbsd"),
    "libstdc++.so.6": ("libstdc++6", "libstdc++"),
    "libgcc_s.so.1": ("libgcc-s1", "libgcc"),
}

DISK_BYTES = 5 * 10**9
MEMORY_BYTES = 3 * 10**9
START_S = 180.0
RENDER_S = 300.0  # The first picture on a GPU compiles its kernels.


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. mend: what to do about it, "" when nothing; fatal: `render` cannot run as things are."""

    topic: str
    state: Literal["ok", "note", "missing"]
    text: str
    mend: str = ""
    fatal: bool = False


def run_doctor(_: Doctor) -> int:
    """Print the report; 0 when pairs can be rendered here, else 1."""
    findings: list[Finding] = []
    for finding in examine(Path("datasets_out")):
        findings.append(finding)
        _print(finding)
    fatal = [finding for finding in findings if finding.fatal]
    print()
    if fatal:
        print("Rendering cannot run here yet. To mend it:")
        for mend in dict.fromkeys(finding.mend for finding in fatal if finding.mend):
            print(f"  {mend}")
        return 1
    print("Rendering can run here:  python -m generator render --task spatial --n 32")
    return 0


def examine(out: Path) -> Iterator[Finding]:
    """All findings, in the order of the report, each as soon as it is known."""
    pair = check_pair(sys.version_info[:2], _version("bpy"))
    yield pair
    libraries = list(check_libraries())
    yield from libraries
    if not pair.fatal:
        yield from check_blender(any(finding.fatal for finding in libraries))
    yield from check_extras()
    yield from check_space(out)
    yield check_bank()


def check_pair(python: tuple[int, int], bpy: str | None) -> Finding:
    """Whether this Python and this bpy are one of the supported pairs."""
    here = f"Python {python[0]}.{python[1]}"
    pairs = " or ".join(f"Python {major}.{minor} with bpy {b} LTS" for (major, minor), b in SUPPORTED.items())
    if python not in SUPPORTED:
        text = f"{here} has no Blender module; supported: {pairs}"
        return Finding("python", "missing", text, "make a virtual environment with Python 3.11 and install there", True)
    wanted = SUPPORTED[python]
    mend = f'pip install "bpy=={wanted}.*"'
    if bpy is None:
        return Finding("python", "missing", f"{here} without bpy; supported: {pairs}", mend, True)
    if bpy.split(".")[:2] != wanted.split("."):
        text = f"{here} with bpy {bpy} is not a supported pair ({pairs}); it may work"
        return Finding("python", "note", text, mend)
    return Finding("python", "ok", f"{here} with bpy {bpy} LTS (supported: {pairs})")


def check_libraries() -> Iterator[Finding]:
    """Shared libraries that bpy links against or opens, and that this system lacks."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        return
    if not sys.platform.startswith("linux") or shutil.which("ldd") is None:
        yield Finding("libraries", "note", f"not checked on {platform.system()}: only where ldd is")
        return
    lost = _unresolved(Path(spec.origin))
    if lost:
        text = f"bpy cannot load: {', '.join(lost)} not found"
        yield Finding("libraries", "missing", text, install_line(lost), fatal=True)
    if find_library("EGL") is None:
        text = "libEGL.so.1 not found: no EEVEE or Workbench without a display (Cycles does not need it)"
        yield Finding("libraries", "note", text, install_line(["libEGL.so.1"]))
    elif not lost:
        yield Finding("libraries", "ok", "all that bpy needs are there")


def install_line(libraries: list[str]) -> str:
    """The command that installs the packages of these libraries on this system."""
    debian = " ".join(sorted({PACKAGES[name][0] if name in PACKAGES else name for name in libraries}))
    fedora = " ".join(sorted({PACKAGES[name][1] if name in PACKAGES else name for name in libraries}))
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    family = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    if family & {"fedora", "rhel", "centos"}:
        return f"dnf install {fedora}"
    if family & {"debian", "ubuntu"}:
        return f"apt-get install {debian}"
    return f"install the packages {debian} (Debian's names) or {fedora} (Fedora's)"


def check_blender(libraries_missing: bool) -> Iterator[Finding]:
    """Start Blender and let every engine and device render a picture of 16 pixels."""
    with tempfile.TemporaryDirectory(prefix="twinscene-doctor-") as folder:
        log = Path(folder, "blender.log")
        answer = _ask(log, {"ask": "blender"}, START_S)
        if "version" not in answer:
            mend = "" if libraries_missing else "pip install --force-reinstall bpy"
            yield Finding("blender", "missing", f"does not start: {answer['error']}", mend, fatal=True)
            return
        yield Finding("blender", "ok", f"{answer['version']} starts")
        for backend, names in answer["devices"].items():
            yield _try(log, "cycles", backend.lower(), f"Cycles on {backend} ({', '.join(_counted(names))})")
        yield _try(log, "eevee", "auto", "EEVEE")
        yield _try(log, "workbench", "auto", "Workbench")


def check_extras() -> Iterator[Finding]:
    """Which optional parts are installed."""
    for extra, distributions in EXTRAS.items():
        versions = {name: _version(name) for name in distributions}
        absent = [name for name, version in versions.items() if version is None]
        if absent:
            text = f"[{extra}] not installed: {', '.join(absent)}"
            yield Finding("extras", "note", text, f'pip install -e ".[{extra}]"')
        else:
            yield Finding("extras", "ok", f"[{extra}] " + ", ".join(f"{name} {v}" for name, v in versions.items()))


def check_space(out: Path) -> Iterator[Finding]:
    """Free disk at `out`, free memory, cores."""
    place = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    text = f"{_gigabytes(free)} free at {place}"
    if not os.access(place, os.W_OK):
        yield Finding("disk", "missing", f"{place} cannot be written", "choose another folder with --out", fatal=True)
    elif free < DISK_BYTES:
        yield Finding("disk", "note", f"{text}: little for a large run", "free some, or choose another --out")
    else:
        yield Finding("disk", "ok", text)
    memory = psutil.virtual_memory().available
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    text = f"{_gigabytes(memory)} free, {cores} cores"
    if memory < MEMORY_BYTES:
        yield Finding("memory", "note", f"{text}: Blender may run out", "render with --workers 1")
    else:
        yield Finding("memory", "ok", text)


def check_bank() -> Finding:
    """What the sprite engine has to begin with."""
    from generator.pipeline import bank_folder
    from generator.sprites.house import GIB, stored

    bank = bank_folder()
    found = list(stored(bank))
    if not found:
        text = f"no layers at {bank} yet: the first run of --engine sprites renders them"
        return Finding("sprites", "note", text, "python -m generator sprites build")
    layers = sum(item.path.suffix == ".json" for item in found)
    return Finding("sprites", "ok", f"{layers:,} layers at {bank}, {sum(item.size for item in found) / GIB:.2f} GiB")


def _try(log: Path, engine: str, device: str, what: str) -> Finding:
    answer = _ask(log, {"ask": "render", "engine": engine, "device": device}, RENDER_S)
    if answer["ok"]:
        return Finding("engine", "ok", f"{what} renders ({answer['seconds']:.1f} s for the first picture)")
    needed = engine == "cycles" and device == "cpu"
    mend = "use another --device" if engine == "cycles" else "use --engine cycles"
    if needed:
        mend = "pip install --force-reinstall bpy"
    return Finding("engine", "missing" if needed else "note", f"{what}: {answer['error']}", mend, fatal=needed)


def _ask(log: Path, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """One question to a Blender of its own: a driver that takes it down must not take the next answer along."""
    child = Child("renderers.blender.probe", log)
    try:
        child.send(request)
        return child.receive(timeout_s)
    except ChildFailure as failure:
        lines = [line for line in failure.log_tail.splitlines() if line.strip()]
        return {"ok": False, "error": f"{failure}" + (f" ({lines[-1].strip()})" if lines else "")}
    finally:
        child.close()
        log.unlink(missing_ok=True)


def _unresolved(library: Path) -> list[str]:
    """Names that the dynamic linker cannot find for `library`, sorted."""
    answer = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=False)
    lines = (line.split("=>") for line in answer.stdout.splitlines())
    return sorted({parts[0].strip() for parts in lines if len(parts) == 2 and parts[1].strip() == "not found"})


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _counted(names: list[str]) -> list[str]:
    """Equal names once, with their number: eight GPUs of a kind are one entry."""
    return [f"{names.count(name)} x {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)]


def _gigabytes(size: int) -> str:
    return f"{size / 10**9:.1f} GB"


def _print(finding: Finding) -> None:
    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    lead = f"{finding.state:8}{finding.topic:10} "
    print(textwrap.fill(finding.text, width, initial_indent=lead, subsequent_indent=" " * len(lead)))
    if finding.mend:
        print(" " * len(lead) + "-> " + finding.mend)  # On a line of its own, to be copied.
    sys.stdout.flush()  # The next finding may take a while.
