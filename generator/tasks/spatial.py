"""Spatial twins: A above, below, left of or right of B; image 1 has the two change places (paper, B.2)."""

from generator import captions
from generator.records import key_of
from generator.rng import choice, stream
from generator.specs import FactSpec, PairSpec
from generator.tasks.balance import cast, turn
from generator.tasks.compose import Context, Part, compose
from generator.tasks.stages import SPATIAL_STAGES, Axis

NAME = "spatial"
ROLES = 2
# Only where the pair leaves room in the frame can it stand so that A's place alone does not tell the relation.
SPANS = (0.24, 0.56)
# One of each in every four pairs: the axis, and whether A is up or left in image 0.
ARRANGEMENTS: tuple[tuple[Axis, bool], ...] = (
    ("horizontal", True),
    ("horizontal", False),
    ("vertical", True),
    ("vertical", False),
)


def sample(context: Context, index: int, attempt: int, split: str) -> PairSpec:
    """Plan pair `index`. Nouns and relation belong to the index; assets, stage, poses and words to the attempt."""
    seed, words = context.seed, context.vocabulary
    rng = stream(seed, NAME, index, attempt)
    axis, a_is_first = turn(seed, NAME, "arrangement", ARRANGEMENTS, index)
    noun_a, noun_b = cast(seed, NAME, tuple(context.catalog.by_noun), words.nouns, ROLES, index)
    a, b = (choice(rng, context.catalog.by_noun[noun]) for noun in (noun_a, noun_b))
    template = choice(rng, words.templates_for(NAME, context.options.phrasing))
    styles = ("paper", "synonym") if context.options.synonyms else ("paper",)
    relation = choice(rng, [item for item in words.relations if item.axis == axis and item.style in styles])
    text = captions.spatial(words.nouns, template, relation, noun_a, noun_b, a_is_first)
    slot = 0 if a_is_first else 1
    sides = (
        (Part("A", a, slot), Part("B", b, 1 - slot)),
        (Part("A", a, 1 - slot), Part("B", b, slot)),
    )
    return PairSpec(
        key=key_of(NAME, index),
        task=NAME,
        index=index,
        attempt=attempt,
        seed=seed,
        split=split,
        scenes=compose(rng, context, SPATIAL_STAGES, axis, sides, attempt, spans=SPANS),
        captions_0=text.captions_0,
        captions_1=text.captions_1,
        template=template.id,
        words=text.words,
        fact=FactSpec("relation", *_directions(axis, a_is_first)),
    )


def _directions(axis: Axis, a_is_first: bool) -> tuple[str, str]:
    """The relation of A to B on each side in the plainest words, whichever synonym the captions use."""
    first, second = ("left of", "right of") if axis == "horizontal" else ("above", "below")
    return (first, second) if a_is_first else (second, first)
