"""Build the bundled library: `python -m renderers.blender.recipes.build --out generator/assets/library`.

Writes one GLB per recipe and a manifest of all that the folder holds. The same recipes give the same bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import bpy

from renderers.blender.recipes import Recipe, recipes
from renderers.blender.recipes.assemble import assemble

LIBRARY = Path("generator/assets/library")
MANIFEST = "manifest.csv"
MANIFEST_COLUMNS = ("noun", "file", "source", "author", "licence", "notes")


def build(recipe: Recipe, folder: Path) -> Path:
    """Model `recipe` in an empty scene and export it to `folder`; returns the path of the GLB."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assemble(recipe.noun, recipe.model())
    path = folder / recipe.file
    folder.mkdir(parents=True, exist_ok=True)
    # The exporter reports its progress on stdout and through logging, many lines for each file.
    logging.getLogger("io_scene_gltf2").setLevel(logging.WARNING)
    with contextlib.redirect_stdout(io.StringIO()):
        bpy.ops.export_scene.gltf(
            filepath=str(path),
            export_format="GLB",
            export_yup=True,
            export_apply=True,
            export_texcoords=False,
            export_normals=True,
            export_materials="EXPORT",
            export_cameras=False,
            export_lights=False,
            export_animations=False,
            export_skins=False,
            export_morph=False,
        )
    return path


def write_manifest(folder: Path) -> Path:
    """Write `manifest.csv` anew from the registry and the files that exist; returns its path."""
    path = folder / MANIFEST
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(MANIFEST_COLUMNS)
        for recipe in recipes().values():
            if (folder / recipe.file).exists():
                source = f"renderers/blender/recipes/{recipe.theme}.py"
                writer.writerow((recipe.noun, recipe.file, source, "TwinScene", "CC0-1.0", ""))
    temporary.replace(path)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m renderers.blender.recipes.build", description=__doc__)
    parser.add_argument("--out", type=Path, default=LIBRARY, help="folder of the library (default: %(default)s)")
    parser.add_argument("--only", nargs="+", metavar="NOUN", help="build these nouns alone")
    parser.add_argument("--sheet", type=Path, metavar="PNG", help="also render a contact sheet of what was built")
    parser.add_argument("--paint", metavar="HEX", help="colour of `paint` on the sheet, such as #2060c0")
    options = parser.parse_args(arguments)

    known = recipes()
    unknown = sorted(set(options.only or ()) - set(known))
    if unknown:
        parser.error(f"no recipe for {', '.join(unknown)}; known: {', '.join(known)}")
    chosen = [known[noun] for noun in options.only or known]
    for recipe in chosen:
        path = build(recipe, options.out)
        triangles = sum(len(p.vertices) - 2 for mesh in bpy.data.meshes for p in mesh.polygons)
        print(f"{recipe.noun:16} {path.stat().st_size / 1024:5.1f} KiB {triangles:5} triangles")
    write_manifest(options.out)
    if options.sheet:
        from renderers.blender.recipes.sheet import contact_sheet

        contact_sheet([(r.noun, options.out / r.file) for r in chosen], options.sheet, paint=options.paint)
        print(options.sheet)
    return 0


if __name__ == "__main__":
    sys.exit(main())
