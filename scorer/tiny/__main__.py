"""The recipe of the bundled tiny CLIP: `python -m scorer.tiny`, under an hour on two cores.

Renders the sprites (Blender), then trains and writes scorer/tiny/model/. Interrupted, it goes on where it stopped.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from scorer.errors import UserError


@dataclass(frozen=True)
class Recipe:
    """Make the bundled tiny CLIP.

    Attributes:
        sprites: Where the renders are kept between runs.
        out: The open_clip local directory to write.
        seed: Seed of everything.
        blender_python: An interpreter that has Blender (bpy), where this one has not.
        threads: Threads of the training; one is the most efficient.
    """

    sprites: Path = Path("runs/tiny-sprites")
    out: Path = Path(__file__).parent / "model"
    seed: int = 0
    blender_python: str = sys.executable
    threads: int = 1


def main() -> int:
    """Run the recipe; the exit code."""
    recipe = tyro.cli(Recipe, prog="python -m scorer.tiny")
    import torch

    from scorer.tiny.scenes import Painter
    from scorer.tiny.sprites import make_sprites
    from scorer.tiny.train import SIZE_PX, train, write_folder

    torch.set_num_threads(recipe.threads)
    try:
        make_sprites(recipe.sprites, recipe.seed, recipe.blender_python)
        painter = Painter(recipe.sprites, SIZE_PX)
        write_folder(recipe.out, painter)
        train(recipe.out, painter, recipe.seed)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
