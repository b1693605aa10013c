"""A folder of models: one folder per noun (GLB, glTF, OBJ, PLY, STL, OFF), and a manifest.csv for the credits.

    DIR/mug/blue_mug.glb        noun from the folder's name, underscores are spaces
    DIR/manifest.csv            noun,file,source,author,licence,notes (source_repo_or_package and source_path also do)

Without a manifest, everything under a noun's folder takes part and the credits are unknown.
"""

import csv
import re
from pathlib import Path
from urllib.parse import quote

from generator.assets.sources import Source
from generator.assets.vet import SUFFIXES
from generator.errors import AssetError, missing

AUTHOR = re.compile(r"\(author ([^()]+)\)")
LAST_NOTE = re.compile(r"\(([^();]+)[^()]*\)\s*$")


def read_folder(folder: Path, prefix: str) -> list[Source]:
    """All models of a folder, sorted by uid (`prefix/noun/stem`). Raises AssetError."""
    if not folder.is_dir():
        hint = "--assets takes bundled, objaverse or a folder of models by noun"
        raise AssetError(f"{missing(folder, 'directory', ('bundled', 'objaverse'))}; {hint}")
    manifest = folder / "manifest.csv"
    sources = _from_manifest(folder, manifest, prefix) if manifest.is_file() else _from_layout(folder, prefix)
    if not sources:
        raise AssetError(
            f"no models in {folder}; put {', '.join(SUFFIXES)} files into one folder per noun, e.g. mug/a.glb"
        )
    by_uid: dict[str, Source] = {}
    for source in sources:
        if source.uid in by_uid:
            raise AssetError(f"{source.path} and {by_uid[source.uid].path} have the same name; rename one")
        by_uid[source.uid] = source
    return [by_uid[uid] for uid in sorted(by_uid)]


def _from_layout(folder: Path, prefix: str) -> list[Source]:
    found = (path for path in folder.glob("*/**/*") if path.suffix.lower() in SUFFIXES and path.is_file())
    relative = [path.relative_to(folder) for path in found]
    return [Source(_uid(prefix, path), _noun(path.parts[0]), folder / path, path.stem, "", "", "") for path in relative]


def _from_manifest(folder: Path, manifest: Path, prefix: str) -> list[Source]:
    with manifest.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        missing = {"noun", "file"} - set(reader.fieldnames or ())
        if missing:
            raise AssetError(f"{manifest} has no column {' and '.join(sorted(missing))}")
        return [_from_row(folder, row, prefix) for row in reader]


def _from_row(folder: Path, row: dict[str, str], prefix: str) -> Source:
    relative = Path(row["file"])
    stated = row.get("licence") or row.get("license") or ""
    # "CC0-1.0 (author kenney)", "CC0-1.0 (Kenney)", "CC-BY-4.0 (YCB object & model set; repo MIT)"
    credited = AUTHOR.search(stated) or LAST_NOTE.search(stated)
    author = row.get("author") or (credited[1].strip() if credited else "")
    licence = stated.split("(")[0].strip()
    url = row.get("source") or _url(row.get("source_repo_or_package") or "", row.get("source_path") or "")
    return Source(_uid(prefix, relative), _noun(row["noun"]), folder / relative, relative.stem, author, licence, url)


def _url(repository: str, path: str) -> str:
    """Where a file comes from: an address for GitHub, else both parts as they are."""
    if repository.startswith("github:"):
        return f"https://github.com/{repository.removeprefix('github:')}/blob/HEAD/{quote(path)}"
    return " ".join(filter(None, [repository, path]))


def _uid(prefix: str, relative: Path) -> str:
    return f"{prefix}/{relative.with_suffix('').as_posix()}"


def _noun(name: str) -> str:
    return name.replace("_", " ").strip()
