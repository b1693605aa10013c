"""What the four splits share when they write a pair down: context, caption templates, object records."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from generator.captions import CaptionPair
from generator.coco.annotations import Instance, Photo
from generator.coco.plan import PlannedPair, Swap, split_of
from generator.records import SCHEMA_VERSION, FactRecord, ObjectRecord, PairRecord, key_of
from generator.rng import choice, stream
from generator.vocabulary import Nouns, Template, Vocabulary

SOURCE = "coco"
Objects = tuple[ObjectRecord, ...]


@dataclass(frozen=True)
class Context:
    """What a run knows when it plans. phrasing: "paper" or "varied"; synonyms: also "over", "right of", ..."""

    seed: int
    phrasing: str
    synonyms: bool
    shares: Mapping[str, float]
    vocabulary: Vocabulary
    photos: Mapping[int, Photo]

    def split(self, photo_id: int) -> str:
        """The split that the photo is in."""
        return split_of(photo_id, self.shares)

    def grammar_with(self, plurals: Iterable[str]) -> Nouns:
        """The grammar of nouns, with more of them that take no article."""
        grammar = self.vocabulary.nouns
        return dataclasses.replace(grammar, plural=grammar.plural | frozenset(plurals))


def template_for(task: str, context: Context, identity: tuple[str | int, ...]) -> Template:
    """The caption template of one pair, drawn from its identity alone."""
    rng = stream(context.seed, "coco", task, "template", *identity)
    return choice(rng, context.vocabulary.templates_for(task, context.phrasing))


def object_record(role: str, noun: str, instance: Instance | None, colour: str = "", size: str = "") -> ObjectRecord:
    """A named object. Without an instance its box is (0, 0, 0, 0), "not located".

    visible_fraction is 0: how much of a thing a photo hides is not annotated. Nothing is measured of photographs.
    """
    return ObjectRecord(
        role=role,
        uid=str(instance.id) if instance is not None else "",
        noun=noun,
        colour=colour,
        size=size,
        box=instance.box if instance is not None else (0, 0, 0, 0),
        visible_px=round(instance.area_px) if instance is not None else 0,
        visible_fraction=0.0,
        measured_colour="",
        measured_lab=(),
    )


def planned(
    context: Context,
    task: str,
    index: int,
    photo_ids: tuple[int, ...],
    text: CaptionPair,
    template: str,
    fact: FactRecord,
    objects: tuple[Objects, Objects],
    has_image_1: bool,
    swap: Swap | None = None,
) -> PlannedPair:
    """The pair with its whole record; width and height are those of image_0."""
    photos = tuple(context.photos[photo_id] for photo_id in photo_ids)
    record = PairRecord(
        schema_version=SCHEMA_VERSION,
        key=key_of(task, index),
        task=task,
        source=SOURCE,
        split=context.split(photo_ids[0]),
        index=index,
        attempt=0,
        seed=context.seed,
        captions_0=text.captions_0,
        captions_1=text.captions_1,
        template=template,
        words=text.words,
        fact=fact,
        has_image_1=has_image_1,
        width=photos[0].width,
        height=photos[0].height,
        objects_0=objects[0],
        objects_1=objects[1],
        stage="",
        background="",
        image_ids=tuple(str(photo_id) for photo_id in photo_ids),
        scene_0="",
        scene_1="",
    )
    return PlannedPair(record, photos, swap)
