"""What a corpus says of its nouns: which attributes each can have, and which are counted ("a bus", not "a grass")."""

from collections import defaultdict
from collections.abc import Iterable

from generator.coco.mentions import Mention
from generator.coco.nouns import singular_name
from generator.coco.vocabulary import attributes, nouns

MIN_COUNTABLE = 0.4  # of a noun's singular mentions, the share after "a", "an" or another counting word


class Statistics:
    """Counts over all mentions of a corpus. A fact counts once per photo, however many of its captions repeat it."""

    def __init__(self) -> None:
        self._photos: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._singular: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, photo_id: int, mentions: Iterable[Mention]) -> None:
        """Count the mentions of one caption of the photo."""
        for mention in mentions:
            noun = singular_name(mention.noun)
            meaning = attributes().kinds[mention.kind].meaning
            for word in mention.words:
                self._photos[noun, meaning[word]].add(photo_id)
            if not mention.plural:
                self._singular[noun][mention.countable] += 1

    def sensible(self, mention: Mention, noun: str, min_photos: int) -> bool:
        """Is the mention's attribute said of `noun` in at least `min_photos` photos? (No "wooden dog".)

        Colours of made things need no witness: which of them a corpus mentions is chance.
        """
        meaning = attributes().kinds[mention.kind].meaning
        name = singular_name(noun)
        if mention.kind == "colour" and name in nouns().any_colour:
            return True
        return all(len(self._photos.get((name, meaning[word]), ())) >= min_photos for word in mention.words)

    def countable(self, noun: str) -> bool:
        """Does the corpus put a counting word before the singular noun often enough to say "a ..."?"""
        without, with_article = self._singular.get(noun, (0, 0))
        return with_article > 0 and with_article >= MIN_COUNTABLE * (with_article + without)
