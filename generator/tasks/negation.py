"""Negation twins: what one image shows is absent from the other (paper, B.2), and the variant that needs the "not"."""

from generator import captions
from generator.records import key_of
from generator.rng import choice, stream
from generator.specs import FactSpec, PairSpec
from generator.tasks.balance import cast, turn
from generator.tasks.compose import Context, Part, compose
from generator.tasks.stages import STAGES, Axis

NAME = "negation"
ROLES = 4
SLOTS: tuple[int, int] = (0, 1)


def sample(context: Context, index: int, attempt: int, split: str) -> PairSpec:
    """Plan pair `index`. Nouns and the negator belong to the index; assets, stage and poses to the attempt.

    "paper": image 0 shows A1 and A2, image 1 B1 and B2. "shared": image 0 shows A1 and A2, image 1 A1 and B1.
    """
    seed, words, options = context.seed, context.vocabulary, context.options
    rng = stream(seed, NAME, index, attempt)
    roles = ("A1", "A2", "B1", "B2") if options.negation == "paper" else ("A1", "A2", "B1")
    chosen = cast(seed, NAME, tuple(context.catalog.by_noun), words.nouns, len(roles), index)
    nouns = dict(zip(roles, chosen, strict=True))
    assets = {role: choice(rng, context.catalog.by_noun[noun]) for role, noun in nouns.items()}
    negator = turn(seed, NAME, "negator", words.negators, index)
    slot = turn(seed, NAME, "slot", SLOTS, index)
    stage = choice(rng, tuple(STAGES))
    axis: Axis = "horizontal" if stage == "ground" or rng.uniform() < 0.5 else "vertical"
    template = choice(rng, words.templates_for(NAME, options.phrasing))
    if options.negation == "paper":
        shown = (("A1", "A2"), ("B1", "B2"))
        text = captions.negation_paper(
            words.nouns, template, negator, (nouns["A1"], nouns["A2"]), (nouns["B1"], nouns["B2"])
        )
    else:
        shown = (("A1", "A2"), ("A1", "B1"))
        text = captions.negation_shared(words.nouns, template, negator, nouns["A1"], nouns["A2"], nouns["B1"])
    first, second = ((Part(one, assets[one], slot), Part(other, assets[other], 1 - slot)) for one, other in shown)
    return PairSpec(
        key=key_of(NAME, index),
        task=NAME,
        index=index,
        attempt=attempt,
        seed=seed,
        split=split,
        scenes=compose(rng, context, (stage,), axis, (first, second), attempt),
        captions_0=text.captions_0,
        captions_1=text.captions_1,
        template=template.id,
        words=text.words,
        fact=FactSpec("presence", *(", ".join(nouns[role] for role in side) for side in shown)),
    )
