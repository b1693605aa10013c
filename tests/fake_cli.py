"""`python tests/fake_cli.py render ...`: the real command line, over a world that needs neither Blender nor a cache.

Everything but the sources of assets and backgrounds is the project's own. Worker processes, which import this file
anew, are patched too.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

from worlds import NOUNS, catalog_of, places  # noqa: E402 - found through the line above

from generator import pipeline  # noqa: E402
from generator.__main__ import main  # noqa: E402
from generator.assets.catalog import Catalog  # noqa: E402
from generator.backgrounds import Background  # noqa: E402
from generator.errors import AssetError  # noqa: E402


def load_catalog(source: str, **_: object) -> Catalog:
    """ "bundled": the whole world; "few": three nouns; anything else is not there."""
    if source not in ("bundled", "few"):
        raise AssetError(f"{source}: no such directory")
    return catalog_of() if source == "bundled" else catalog_of(NOUNS[:3])


def bundled(cache: Path) -> tuple[Background, ...]:
    """Plain places, without textures."""
    assert cache
    return places()


# Only in processes of its own, workers included: a test that imports this file must not patch its neighbours.
if __name__ in ("__main__", "__mp_main__"):
    vars(pipeline).update(load_catalog=load_catalog, bundled=bundled)

if __name__ == "__main__":
    sys.exit(main())
