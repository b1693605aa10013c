"""Captions: two true ones for each side, from a template, nouns and the one fact that differs (paper, B.2)."""

from dataclasses import dataclass

from generator.vocabulary import Negator, Nouns, Relation, Template

Captions = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CaptionPair:
    """captions_0 = (P1, P2), true of image 0 only; captions_1 = (N1, N2), true of image 1 only; words used."""

    captions_0: Captions
    captions_1: Captions
    words: tuple[str, str]


def noun_phrase(nouns: Nouns, noun: str, adjective: str = "", article: bool = True) -> str:
    """ "an apple", "a red apple", "red scissors", or, without article, "apple"."""
    phrase = f"{adjective} {noun}" if adjective else noun
    return (nouns.article(phrase, noun) if article else "") + phrase


def spatial(nouns: Nouns, template: Template, relation: Relation, a: str, b: str, a_is_first: bool) -> CaptionPair:
    """P1 "A rel B", P2 "B rel_opp A"; N1 "A rel_opp B", N2 "B rel A". a_is_first: A is up or left in image 0."""
    rel, opposite = (relation.first, relation.second) if a_is_first else (relation.second, relation.first)
    phrase_a, phrase_b = noun_phrase(nouns, a), noun_phrase(nouns, b)

    def say(left: str, word: str, right: str) -> str:
        return _fill(template, A=left, relation=word, B=right)

    return CaptionPair(
        (say(phrase_a, rel, phrase_b), say(phrase_b, opposite, phrase_a)),
        (say(phrase_a, opposite, phrase_b), say(phrase_b, rel, phrase_a)),
        (rel, opposite),
    )


def attribute(nouns: Nouns, template: Template, a: str, b: str, value_a: str, value_b: str) -> CaptionPair:
    """P1 "a1 A and a2 B", P2 "a2 B and a1 A"; N1 "a1 B and a2 A", N2 "a2 A and a1 B"."""

    def say(first: tuple[str, str], second: tuple[str, str]) -> str:
        return _fill(template, A=noun_phrase(nouns, first[1], first[0]), B=noun_phrase(nouns, second[1], second[0]))

    return CaptionPair(
        (say((value_a, a), (value_b, b)), say((value_b, b), (value_a, a))),
        (say((value_a, b), (value_b, a)), say((value_b, a), (value_a, b))),
        (value_a, value_b),
    )


def negation_paper(
    nouns: Nouns, template: Template, negator: Negator, first: tuple[str, str], second: tuple[str, str]
) -> CaptionPair:
    """P1 "A1 neg B1", P2 "A2 neg B2"; N1 "B1 neg A1", N2 "B2 neg A2"; first = (A1, A2), second = (B1, B2)."""

    def say(present: str, absent: str) -> str:
        return _negated(nouns, template, negator, present, absent)

    (a1, a2), (b1, b2) = first, second
    return CaptionPair((say(a1, b1), say(a2, b2)), (say(b1, a1), say(b2, a2)), (negator.word, negator.word))


def negation_shared(nouns: Nouns, template: Template, negator: Negator, a1: str, a2: str, b1: str) -> CaptionPair:
    """Image 0 shows A1 and A2, image 1 A1 and B1, so that only the negated noun decides.

    captions_0 "A1 neg B1", "A1 and A2"; captions_1 "A1 neg A2", "A1 and B1".
    """

    def both(other: str) -> str:
        return _fill(template, A=noun_phrase(nouns, a1), negation="and", B=noun_phrase(nouns, other))

    return CaptionPair(
        (_negated(nouns, template, negator, a1, b1), both(a2)),
        (_negated(nouns, template, negator, a1, a2), both(b1)),
        (negator.word, "and"),
    )


def _negated(nouns: Nouns, template: Template, negator: Negator, present: str, absent: str) -> str:
    return _fill(
        template,
        A=noun_phrase(nouns, present),
        negation=negator.word,
        B=noun_phrase(nouns, absent, article=negator.article),
    )


def _fill(template: Template, **slots: str) -> str:
    text = template.text.format(**slots)
    return text[0].upper() + text[1:]
