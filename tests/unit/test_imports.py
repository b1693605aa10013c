"""Importing is cheap and free of side effects, and nobody reaches over a border."""

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("bpy", "torch", "torchvision", "open_clip", "spacy", "pycocotools", "pyarrow", "datasets", "webdataset", "ray",
         "matplotlib", "tensorboard", "trimesh", "objaverse", "scipy", "huggingface_hub", "requests")  # fmt: skip

# Watches all that the import opens, connects to or starts: reading code is importing, the rest is a side effect.
WATCH = """
import importlib, json, sys
seen = []
def watch(event, args):
    if event == "open" and isinstance(args[0], str):
        path, mode = args[0], args[1]
        # What reading code opens; psutil looks at /proc when it is imported.
        code = path.startswith("/proc/") or path.endswith((".py", ".pyc", ".so", ".pth", ".cfg")) or ".pyc." in path
        if not code:
            seen.append(f"open {path} {mode}")
    elif event.split(".")[0] in ("socket", "subprocess", "shutil", "tempfile") or event in ("os.mkdir", "os.system"):
        if not (event == "os.mkdir" and "__pycache__" in str(args[0])):
            seen.append(f"{event} {args[0] if args else ''}")
sys.addaudithook(watch)
before = set(sys.modules)
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps([sorted({name.split(".")[0] for name in set(sys.modules) - before}), seen]))
"""


def imported(*names: str) -> tuple[set[str], list[str]]:
    """Top-level modules that an import pulls in, and what it did besides."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *names], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    modules, seen = json.loads(done.stdout)
    return set(modules), seen


def light_modules(package: str) -> list[str]:
    """Every module of a package but __main__ ones, by dotted name."""
    paths = sorted((ROOT / package).rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


@pytest.mark.parametrize(
    "names",
    [
        ("generator",),
        ("generator.cli",),
        ("generator.__main__",),
        ("generator.dispatch",),
        ("generator.pipeline",),
        ("renderers",),
        ("renderers.fake",),
        ("renderers.blender",),
        ("renderers.blender.__main__",),
        ("scorer",),
        ("scorer.cli",),
        ("templates",),
    ],
)
def test_imports_pull_nothing_heavy_and_do_nothing(names: tuple[str, ...]) -> None:
    if names == ("templates",):
        assert not list((ROOT / "templates").rglob("*.py")), "templates/ is data, without code"
        return
    modules, seen = imported(*names)
    assert not modules & set(HEAVY)
    assert not seen


def test_every_module_of_the_generator_imports_without_blender() -> None:
    modules, seen = imported(*light_modules("generator"))
    assert not modules & {"bpy", "torch", "renderers", "scorer", "spacy", "pycocotools", "open_clip"}
    assert not seen


def test_the_packages_import_where_blender_is_not_installed() -> None:
    """The scorer, and the planning part of the generator, run on machines without bpy."""
    modules = "generator.pipeline, renderers.fake, renderers.repaint, scorer.cli"
    code = f"import sys; sys.modules['bpy'] = None; import {modules}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


@cache
def imports_of(path: Path) -> set[str]:
    """Dotted names of all imports in a file, wherever they stand."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {item.name for item in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{item.name}" for item in node.names}
    return found


def users_of(module: str, *packages: str) -> set[str]:
    """Files that import a module, relative to the root."""
    return {
        str(path.relative_to(ROOT))
        for package in packages
        for path in (ROOT / package).rglob("*.py")
        if any(name == module or name.startswith(f"{module}.") for name in imports_of(path))
    }


ALL = ("generator", "renderers", "scorer")


@pytest.mark.parametrize(
    ("module", "packages", "allowed"),
    [
        ("bpy", ALL, "renderers/blender/"),
        ("bmesh", ALL, "renderers/blender/"),
        ("mathutils", ALL, "renderers/blender/"),
        ("spacy", ALL, ("generator/coco/", "scorer/openvocab/")),
        ("pycocotools", ALL, "generator/coco/"),
        ("open_clip", ALL, "scorer/features.py"),
        ("torch", ALL, "scorer/"),
        ("renderers", ("generator", "scorer"), "nobody"),
        ("scorer", ("generator", "renderers"), "nobody"),
        ("urllib.request", ALL, ("generator/assets/", "scorer/openvocab/llm.py")),
        ("requests", ALL, "generator/assets/"),
        ("http.client", ALL, "generator/assets/"),
        ("objaverse", ALL, "generator/assets/"),
    ],
)
def test_borders(module: str, packages: tuple[str, ...], allowed: str | tuple[str, ...]) -> None:
    strangers = {path for path in users_of(module, *packages) if not path.startswith(allowed)}
    assert not strangers


def test_renderers_know_the_specs_alone_and_the_scorer_the_records_alone() -> None:
    for package, allowed in (("renderers", "generator.specs"), ("scorer", "generator.records")):
        for path in (ROOT / package).rglob("*.py"):
            names = {name for name in imports_of(path) if name.split(".")[0] == "generator"}
            strangers = {name for name in names if not name.startswith(allowed)}
            # Errors that a user can cause are named by one module for all; both command lines say theirs alike.
            shared = ("generator.errors", "generator.command_line") if package == "scorer" else "generator.errors"
            strangers -= {name for name in strangers if name.startswith(shared)}
            assert not strangers, path
