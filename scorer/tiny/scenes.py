"""Stage two's pictures and captions: sprites composited on the fly, one or two to a picture, and what is said of them.

Shapes: B pictures, H = W pixels.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from scorer.seeding import seed_of
from scorer.tiny.sprites import OWN, REPO, bundled_nouns, colour_values, looks, sprite_path

# Said between two things that both are there, true or not: the encoder shall not read them, the maps' rows do.
IDLE_WORDS = ("above", "below", "to the left of", "to the right of", "over", "under", "but not", "and no", "without")
IDLE_SHARE = 0.12
SIZE_WORDS = ("big", "small", "large", "little", "tiny")


@dataclass(frozen=True, slots=True)
class Thing:
    """One sprite in a picture: which noun, which look, its longer side and its centre in pixels."""

    noun: int
    look: int
    side_px: int
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Mix:
    """What the pictures of a training stage are like.

    crop_px: side of the pictures; smaller than the tower's own in the crops stage. two: share with two things.
    say_colour: share of single things whose colour is said; bind: share of pairs with both colours said. sides: least
    and most longer side of a thing in pixels. bare: share of captions without opening, and of nouns without article.
    texture: share of backs that look tiled, planked or rough instead of smooth.
    """

    crop_px: int
    two: float
    say_colour: float
    bind: float
    sides: tuple[int, int]
    bare: float
    texture: float = 0.0


class Grammar:
    """Noun phrases and sentences in the words of the project's templates."""

    def __init__(self) -> None:
        nouns = tomllib.loads((REPO / "templates" / "nouns.toml").read_text("utf-8"))
        self._no_article = set(nouns["plural"]) | set(nouns["mass"])
        self._an, self._a = set(nouns["an"]), set(nouns["a"])
        captions = tomllib.loads((REPO / "templates" / "captions.toml").read_text("utf-8"))
        self.openings = sorted({item["text"].partition("{A}")[0] for kind in captions.values() for item in kind})

    def phrase(self, words: str, noun: str) -> str:
        """`words` (attributes and the noun) with the article that it takes."""
        if noun in self._no_article:
            return words
        vowel = (words[0] in "aeiou" and words not in self._a) or words in self._an
        return f"{'an' if vowel else 'a'} {words}"


class Painter:
    """Draws pictures and says captions; all choices come from the generator given to `batch`."""

    def __init__(self, folder: Path, size_px: int) -> None:
        self.nouns = list(bundled_nouns())
        self.colours = list(colour_values())
        self.grammar = Grammar()
        self._size = size_px
        self._sprites: list[NDArray[np.uint8]] = []
        self._looks: list[list[int]] = []
        order = looks()
        for noun in self.nouns:
            with np.load(sprite_path(folder, noun)) as data:
                self._sprites.append(data["sprites"])
                self._looks.append([order.index(str(look)) for look in data["looks"]])
        with np.load(folder / "stages.npz") as data:
            self._stages: NDArray[np.uint8] = data["stages"]
        self._textures = _textures()
        assert order[0] == OWN

    def vocabulary(self) -> list[str]:
        """Every word that a caption may hold."""
        return [*self.nouns, *self.colours, *SIZE_WORDS, *IDLE_WORDS, *self.grammar.openings, "a an and next to ,"]

    def batch(
        self, rng: np.random.Generator, mix: Mix, size: int
    ) -> tuple[NDArray[np.uint8], list[str], NDArray[np.int64], NDArray[np.int64]]:
        """Pictures (B, H, W, 3), captions, and as bags of words: what is shown and what is said, each (B, 2, 2).

        The bags hold (noun, look) of each thing: look is -1 where no colour is said, noun -1 where there is no second.
        """
        pictures = np.empty((size, mix.crop_px, mix.crop_px, 3), np.uint8)
        shown, said = np.full((size, 2, 2), -1), np.full((size, 2, 2), -1)
        captions = []
        for i in range(size):
            things = self._things(rng, mix)
            pictures[i] = self._draw(rng, things, mix)
            text, bag = self._say(rng, things, mix)
            captions.append(text)
            for j, thing in enumerate(things):
                shown[i, j] = thing.noun, thing.look
            for j, item in enumerate(bag):
                said[i, j] = item
        return pictures, captions, shown, said

    def _things(self, rng: np.random.Generator, mix: Mix) -> list[Thing]:
        count = 2 if rng.random() < mix.two else 1
        nouns = rng.choice(len(self.nouns), size=count, replace=False)
        things: list[Thing] = []
        for noun in nouns:
            # A quarter in its own colour: the noun must not need the paint, nor the colour the noun.
            known = self._looks[noun]
            look = 0 if len(known) == 1 or rng.random() < 0.25 else int(known[int(rng.integers(1, len(known)))])
            side = int(rng.integers(mix.sides[0], mix.sides[1] + 1))
            things.append(Thing(int(noun), look, side, 0, 0))
        places = _places(rng, [thing.side_px for thing in things], mix.crop_px)
        return [Thing(t.noun, t.look, t.side_px, x, y) for t, (x, y) in zip(things, places, strict=True)]

    def _draw(self, rng: np.random.Generator, things: Sequence[Thing], mix: Mix) -> NDArray[np.uint8]:
        size = mix.crop_px
        canvas = self._backdrop(rng, size, mix.texture)
        for thing in things:
            at = self._looks[thing.noun].index(thing.look)
            sprites = self._sprites[thing.noun]
            sprite = Image.fromarray(sprites[int(rng.integers(len(sprites))), at])
            if rng.random() < 0.5:
                sprite = sprite.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            sprite = sprite.resize((thing.side_px, thing.side_px), Image.Resampling.BOX, reducing_gap=1.0)
            corner = (thing.x - thing.side_px // 2, thing.y - thing.side_px // 2)
            alpha = sprite.getchannel("A")
            shade = alpha.resize((thing.side_px, max(2, thing.side_px // 5))).filter(ImageFilter.BoxBlur(2))
            foot = (corner[0] + int(rng.integers(-3, 4)), corner[1] + thing.side_px - shade.height)
            canvas.paste((25, 22, 20), foot, shade.point(lambda value: value * 2 // 5))
            canvas.paste(sprite, corner, alpha)
        gain, lift = rng.uniform(0.85, 1.15), rng.uniform(-12, 12)
        return np.clip(np.asarray(canvas, np.float32) * gain + lift, 0, 255).astype(np.uint8)

    def _backdrop(self, rng: np.random.Generator, size: int, texture: float) -> Image.Image:
        """A cut of an empty stage, or a soft random gradient; textured or smooth."""
        plain = self._plain_backdrop(rng, size)
        # A stage without texture draws no number for it.
        if texture == 0 or rng.random() >= texture:
            return plain
        pattern = self._textures[int(rng.integers(len(self._textures)))]
        pattern = np.roll(pattern, [int(rng.integers(96)), int(rng.integers(96))], axis=(0, 1))[:size, :size, None]
        return Image.fromarray((np.asarray(plain, np.float32) * pattern).clip(0, 255).astype(np.uint8))

    def _plain_backdrop(self, rng: np.random.Generator, size: int) -> Image.Image:
        if rng.random() < 0.7:
            stage = Image.fromarray(self._stages[int(rng.integers(len(self._stages)))])
            side = int(rng.integers(stage.width // 2, stage.width + 1))
            x, y = (int(rng.integers(0, stage.width - side + 1)) for _ in range(2))
            return stage.resize((size, size), Image.Resampling.BILINEAR, (x, y, x + side, y + side))
        cells = int(rng.integers(2, 7))
        noise = (rng.random((cells, cells, 3)) * rng.uniform(20, 160) + rng.uniform(20, 120)).clip(0, 255)
        return Image.fromarray(noise.astype(np.uint8)).resize((size, size), Image.Resampling.BICUBIC)

    def _say(self, rng: np.random.Generator, things: Sequence[Thing], mix: Mix) -> tuple[str, list[tuple[int, int]]]:
        coloured = rng.random() < (mix.bind if len(things) == 2 else mix.say_colour)
        order = rng.permutation(len(things))
        phrases, bag = [], []
        for i in order:
            thing, noun = things[i], self.nouns[things[i].noun]
            speak = coloured and thing.look > 0
            size = f"{SIZE_WORDS[int(rng.integers(len(SIZE_WORDS)))]} " if rng.random() < 0.08 else ""
            words = size + (f"{self.colours[thing.look - 1]} " if speak else "") + noun
            phrases.append(words if rng.random() < mix.bare else self.grammar.phrase(words, noun))
            bag.append((thing.noun, thing.look if speak else -1))
        between = " and " if rng.random() < 0.8 else (" next to " if rng.random() < 0.5 else ", ")
        if rng.random() < IDLE_SHARE:
            between = f" {IDLE_WORDS[int(rng.integers(len(IDLE_WORDS)))]} "
        opening = (
            self.grammar.openings[int(rng.integers(len(self.grammar.openings)))] if rng.random() >= mix.bare else ""
        )
        return opening + between.join(phrases), bag


def _textures(count: int = 240, size: int = 96) -> list[NDArray[np.float32]]:
    """Brightness patterns (H, W) around 1: joints of tiles, planks or bricks, rough at several scales."""
    patterns = []
    for number in range(count):
        rng = np.random.Generator(np.random.PCG64(seed_of(0, "texture", number)))
        pattern = np.ones((size, size), np.float32)
        for cells in (4, 12, 32, 96):
            noise = Image.fromarray(rng.standard_normal((cells, cells)).astype(np.float32))
            pattern += rng.uniform(0, 0.09) * np.asarray(noise.resize((size, size), Image.Resampling.BICUBIC))
        if number % 3:
            height, width = (int(size / rng.integers(2, 14)) for _ in range(2))
            joint = rng.uniform(0.5, 0.9)
            for row, top in enumerate(range(0, size, height)):
                pattern[top] *= joint
                shift = (row % 2) * width // 2 if number % 3 == 1 else int(rng.integers(width))
                pattern[top : top + height, shift::width] *= joint
                pattern[top : top + height] *= rng.uniform(0.9, 1.1)
        patterns.append(pattern.T.copy() if rng.random() < 0.3 else pattern)
    return patterns


def _places(rng: np.random.Generator, sides: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Centres that keep things in the picture; of 12 draws the one where two overlap least."""
    best: list[tuple[int, int]] = []
    least = np.inf
    for _ in range(12):
        places = []
        for side in sides:
            low, high = min(side // 2, size // 2), max(size - side // 2, size // 2) + 1
            places.append((int(rng.integers(low, high)), int(rng.integers(low, high))))
        if len(places) == 1:
            return places
        reach = (sides[0] + sides[1]) / 2
        dx, dy = abs(places[0][0] - places[1][0]), abs(places[0][1] - places[1][1])
        overlap = max(0.0, reach - dx) * max(0.0, reach - dy)
        if overlap < least:
            best, least = places, overlap
        if overlap == 0:
            break
    return best
