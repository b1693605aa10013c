"""Balance: every noun, option and word as often as every other, by construction and in every block."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from worlds import NOUNS, context_of, options

from generator.assets.bundled import read_bundled
from generator.errors import AssetError
from generator.specs import PairSpec
from generator.tasks import TASKS
from generator.tasks.balance import cast, turn
from generator.vocabulary import Nouns, load_vocabulary

WORDS = load_vocabulary()
SEEDS = st.integers(0, 2**32)


def grammar(*groups: str) -> Nouns:
    none: frozenset[str] = frozenset()
    return Nouns(none, none, none, none, tuple(frozenset(group) for group in groups))


@given(SEEDS, st.integers(1, 12), st.integers(0, 50))
def test_a_turn_comes_once_in_each_block(seed: int, count: int, block: int) -> None:
    options = list(range(count))
    indices = range(block * count, (block + 1) * count)
    assert sorted(turn(seed, "t", "w", options, index) for index in indices) == options


def test_turns_of_different_things_are_independent() -> None:
    def turns(seed: int, task: str, what: str) -> list[int]:
        return [turn(seed, task, what, range(4), index) for index in range(40)]

    base = turns(0, "t", "w")
    assert base != turns(0, "t", "v")
    assert base != turns(0, "u", "w")
    assert base != turns(1, "t", "w")
    assert base[:4] != base[4:8] or base[4:8] != base[8:12]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[tuple[str, ...], Nouns]:
    """Nouns of one letter each, and a few that clash: few enough that balanced casts are plenty."""
    count = draw(st.integers(18, 26))
    nouns = tuple("abcdefghijklmnopqrstuvwxyz"[:count])
    pairs = draw(st.lists(st.lists(st.sampled_from(nouns), min_size=2, max_size=2, unique=True), max_size=4))
    return nouns, grammar(*("".join(pair) for pair in pairs))


@given(SEEDS, worlds(), st.integers(2, 4), st.integers(0, 3))
def test_every_noun_plays_every_role_once_per_block(
    seed: int, world: tuple[tuple[str, ...], Nouns], roles: int, block: int
) -> None:
    nouns, words = world
    casts = [cast(seed, "t", nouns, words, roles, block * len(nouns) + place) for place in range(len(nouns))]
    for role in range(roles):
        assert sorted(chosen[role] for chosen in casts) == list(nouns)
    for chosen in casts:
        assert len(set(chosen)) == roles
        assert not any(words.clash(a, b) for a in chosen for b in chosen if a != b)


@settings(max_examples=40)
@given(SEEDS, st.integers(2, 4), st.lists(st.text("abcdef", min_size=2, max_size=5), max_size=4))
def test_never_a_clash_even_where_balance_is_impossible(seed: int, roles: int, groups: list[str]) -> None:
    nouns = tuple("abcdef")
    words = grammar(*groups)

    def possible(chosen: tuple[str, ...]) -> bool:
        if len(chosen) == roles:
            return True
        return any(possible((*chosen, n)) for n in nouns if not any(words.clash(n, other) for other in chosen))

    if not possible(()):
        with pytest.raises(AssetError, match=f"needs {roles} nouns .* no {roles} of the 6 nouns here are so"):
            cast(seed, "t", nouns, words, roles, 0)
        return
    for index in range(12):
        chosen = cast(seed, "t", nouns, words, roles, index)
        assert not any(words.clash(a, b) for i, a in enumerate(chosen) for b in chosen[:i])


@given(SEEDS, st.integers(0, 500))
def test_a_cast_belongs_to_its_index_alone(seed: int, index: int) -> None:
    assume(index > 0)
    alone = cast(seed, "t", NOUNS, WORDS.nouns, 2, index)
    for other in (0, index - 1, 3 * index):
        cast(seed, "t", NOUNS, WORDS.nouns, 2, other)
    assert cast(seed, "t", NOUNS, WORDS.nouns, 2, index) == alone


def test_balance_is_exact_over_the_bundled_nouns() -> None:
    nouns = tuple(sorted({source.noun for source in read_bundled()}))
    for roles in (2, 4):
        for block in range(3):
            casts = [cast(0, "t", nouns, WORDS.nouns, roles, block * len(nouns) + place) for place in range(len(nouns))]
            assert all(sorted(chosen[role] for chosen in casts) == list(nouns) for role in range(roles)), roles


# --- balance of whole runs -------------------------------------------------------------------------------------------


def spread(counts: Counter[str]) -> int:
    return max(counts.values()) - min(counts.values())


def count(specs: list[PairSpec], value: Callable[[PairSpec], str]) -> Counter[str]:
    return Counter(value(spec) for spec in specs)


def run(task: str, n: int, **changes: str) -> list[PairSpec]:
    context = context_of(3, options(**changes))  # type: ignore[arg-type]
    return [TASKS[task].sample(context, index, 0, "train") for index in range(n)]


def noun_of(role: str) -> Callable[[PairSpec], str]:
    def find(spec: PairSpec) -> str:
        return next(item.noun for scene in spec.scenes for item in scene.objects if item.role == role)

    return find


@pytest.mark.parametrize(
    ("task", "roles", "changes"),
    [
        ("spatial", ("A", "B"), {}),
        ("negation", ("A1", "A2", "B1", "B2"), {}),
        ("negation", ("A1", "A2", "B1"), {"negation": "shared"}),
    ],
)
def test_every_noun_is_as_often_in_every_role(task: str, roles: tuple[str, ...], changes: dict[str, str]) -> None:
    specs = run(task, 4 * len(NOUNS), **changes)
    for role in roles:
        counts = count(specs, noun_of(role))
        assert set(counts) == set(NOUNS)
        assert spread(counts) == 0, role


def test_every_noun_is_as_often_in_every_role_of_each_kind_of_attribute() -> None:
    """Colours and sizes take turns; were the nouns dealt over both together, each kind would get a random half."""
    specs = run("attribute", 8 * len(NOUNS))
    for kind in ("colour", "size"):
        own = [spec for spec in specs if spec.fact.kind == kind]
        assert len(own) == len(specs) // 2
        for role in ("A", "B"):
            counts = count(own, noun_of(role))
            assert set(counts) == set(NOUNS)
            assert spread(counts) == 0, (kind, role)


def test_relations_are_balanced() -> None:
    counts = count(run("spatial", 80), lambda spec: spec.fact.value_0)
    assert counts == {"above": 20, "below": 20, "left of": 20, "right of": 20}


def test_colours_are_balanced() -> None:
    pairs = WORDS.colour_pairs(WORDS.colours)
    specs = [spec for spec in run("attribute", 4 * len(pairs)) if spec.fact.kind == "colour"]
    assert spread(count(specs, lambda spec: " ".join(spec.words))) == 0
    assert {spec.words for spec in specs} == set(pairs)


def test_sizes_are_balanced() -> None:
    specs = [spec for spec in run("attribute", 80) if spec.fact.kind == "size"]
    assert count(specs, lambda spec: spec.words[0]) == {"big": 20, "small": 20}


def test_negators_are_balanced() -> None:
    assert spread(count(run("negation", 60), lambda spec: spec.words[0])) == 0


@pytest.mark.parametrize("task", ["attribute", "negation"])
def test_the_first_named_is_as_often_on_either_side(task: str) -> None:
    def side(spec: PairSpec) -> str:
        a, b = (item.position_m for item in spec.scenes[0].objects)
        # Slot 0 is left or upper: smaller x, or larger y or z where x hardly differs.
        return "first" if (a[0] - b[0], b[2] - a[2], b[1] - a[1])[_axis(a, b)] < 0 else "second"

    specs = run(task, 120)
    for kind in {spec.fact.kind for spec in specs}:
        counts = count([spec for spec in specs if spec.fact.kind == kind], side)
        assert spread(counts) == 0, kind


def _axis(a: tuple[float, float, float], b: tuple[float, float, float]) -> int:
    differences = [abs(a[0] - b[0]), abs(a[2] - b[2]), abs(a[1] - b[1])]
    return differences.index(max(differences))
