"""Attribute twins: two nouns with two values of one attribute; image 1 swaps the values (paper, B.2)."""

from generator import captions
from generator.records import key_of
from generator.rng import choice, stream
from generator.specs import FactSpec, PairSpec
from generator.tasks.balance import cast, turn
from generator.tasks.compose import FRACTIONS, Context, Part, compose
from generator.tasks.stages import STAGES, Axis

NAME = "attribute"
ROLES = 2
# How much longer an object is when it is big than when it is small, and the length of a big one in frames.
SIZE_RATIOS = (1.6, 1.85)
BIG_FRACTIONS = (0.38, 0.44)
SIDES: tuple[int, int] = (0, 1)


def sample(context: Context, index: int, attempt: int, split: str) -> PairSpec:
    """Plan pair `index`. Nouns, kind and values belong to the index; assets, stage, poses and words to the attempt."""
    seed, words, options = context.seed, context.vocabulary, context.options
    rng = stream(seed, NAME, index, attempt)
    kind = turn(seed, NAME, "kind", options.attributes, index)
    # Kinds take turns: each deals nouns, values and sides by its own count of pairs, or none would come out even.
    number = index // len(options.attributes)
    # Only recognisably paintable assets take part in colours, and thin ones cannot be small and still be seen.
    catalog = context.catalog.paintable if kind == "colour" else context.catalog.bulky
    nouns = tuple(noun for noun in catalog.by_noun if kind != "colour" or words.takes_colour(noun))
    noun_a, noun_b = cast(seed, f"{NAME} {kind}", nouns, words.nouns, ROLES, number)
    a, b = (choice(rng, catalog.by_noun[noun]) for noun in (noun_a, noun_b))
    slot = turn(seed, f"{NAME} {kind}", "slot", SIDES, number)
    stage = choice(rng, tuple(STAGES))
    axis: Axis = "horizontal" if stage == "ground" or rng.uniform() < 0.5 else "vertical"

    if kind == "colour":
        pairs = words.colour_pairs(options.colours)
        values = turn(seed, NAME, "colours", pairs, number)
        paints = [words.colours[value] for value in values]
        first, second = (
            tuple(
                Part(role, asset, place, colour=values[number], paint=paints[number])
                for role, asset, place, number in (("A", a, slot, side), ("B", b, 1 - slot, 1 - side))
            )
            for side in SIDES
        )
    else:
        sizes = choice(rng, words.sizes if options.synonyms else words.sizes[:1])
        big_first = turn(seed, NAME, "size", SIDES, number)
        values = sizes if big_first == 0 else (sizes[1], sizes[0])
        first, second = (
            tuple(
                Part(role, asset, place, small=values[number] == sizes[1], size=values[number])
                for role, asset, place, number in (("A", a, slot, side), ("B", b, 1 - slot, 1 - side))
            )
            for side in SIDES
        )
    template = choice(rng, words.templates_for(NAME, options.phrasing))
    text = captions.attribute(words.nouns, template, noun_a, noun_b, *values)
    return PairSpec(
        key=key_of(NAME, index),
        task=NAME,
        index=index,
        attempt=attempt,
        seed=seed,
        split=split,
        scenes=compose(
            rng,
            context,
            (stage,),
            axis,
            ((first[0], first[1]), (second[0], second[1])),
            attempt,
            FRACTIONS if kind == "colour" else BIG_FRACTIONS,
            ratios=None if kind == "colour" else SIZE_RATIOS,
        ),
        captions_0=text.captions_0,
        captions_1=text.captions_1,
        template=template.id,
        words=text.words,
        fact=FactSpec(
            "colour" if kind == "colour" else "size",
            f"{values[0]} {noun_a}, {values[1]} {noun_b}",
            f"{values[1]} {noun_a}, {values[0]} {noun_b}",
        ),
    )
