"""The samplers: what belongs to the index, what to the attempt, and that twins differ in one fact alone."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import catalog_of, context_of, options

from generator.assets.catalog import Catalog
from generator.specs import ObjectSpec, PairSpec
from generator.tasks import TASKS, Context
from generator.verify import is_big
from generator.vocabulary import load_vocabulary

WORDS = load_vocabulary()
INDICES = st.integers(0, 10**7)
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("spatial", {}),
    ("attribute", {}),
    ("negation", {}),
    ("negation", {"negation": "shared"}),
]


def sample(task: str, index: int, attempt: int = 0, context: Context | None = None, **changes: Any) -> PairSpec:
    return TASKS[task].sample(context or context_of(0, options(**changes)), index, attempt, "train")


def nouns(spec: PairSpec) -> list[list[str]]:
    return [[item.noun for item in scene.objects] for scene in spec.scenes]


def look(item: ObjectSpec) -> ObjectSpec:
    """All of an object but where it stands."""
    return replace(item, position_m=(0.0, 0.0, 0.0))


@pytest.mark.parametrize(("task", "changes"), VARIANTS)
@given(index=INDICES)
def test_a_pair_says_what_it_is(task: str, changes: dict[str, Any], index: int) -> None:
    spec = sample(task, index, 2, **changes)
    assert (spec.task, spec.index, spec.attempt, spec.seed, spec.split) == (task, index, 2, 0, "train")
    assert spec.key == f"{task}-{index:09d}"
    assert [len(scene.objects) for scene in spec.scenes] == [2, 2]
    roles = [[item.role for item in scene.objects] for scene in spec.scenes]
    assert (
        roles
        == {
            "spatial": [["A", "B"]] * 2,
            "attribute": [["A", "B"]] * 2,
            "negation": [["A1", "A2"], ["A1", "B1"] if changes else ["B1", "B2"]],
        }[task]
    )


@pytest.mark.parametrize(("task", "changes"), VARIANTS)
@given(index=INDICES)
def test_what_a_retry_keeps(task: str, changes: dict[str, Any], index: int) -> None:
    """Nouns, values and relation stay, or retries would spoil the balance; the scene is drawn anew."""
    first, again = (sample(task, index, attempt, **changes) for attempt in (0, 1))
    assert nouns(first) == nouns(again)
    assert first.fact == again.fact
    assert (first.captions_0, first.captions_1) == (again.captions_0, again.captions_1)
    assert first.scenes[0].camera != again.scenes[0].camera


@pytest.mark.parametrize(("task", "changes"), VARIANTS)
def test_pairs_do_not_depend_on_each_other(task: str, changes: dict[str, Any]) -> None:
    context = context_of(0, options(**changes))
    forwards = [sample(task, index, 0, context) for index in range(12)]
    backwards = [sample(task, index, 0, context) for index in reversed(range(12))][::-1]
    assert forwards == backwards
    assert [sample(task, index, 0, context_of(0, options(**changes))) for index in (11, 3)] == [
        forwards[11],
        forwards[3],
    ]


@pytest.mark.parametrize(("task", "changes"), VARIANTS)
def test_the_seed_decides_everything(task: str, changes: dict[str, Any]) -> None:
    chosen = options(**changes)
    runs = [[nouns(sample(task, i, 0, context_of(seed, chosen))) for i in range(20)] for seed in (0, 1)]
    assert runs[0] != runs[1]


@pytest.mark.parametrize(("task", "changes"), VARIANTS)
@given(index=INDICES)
def test_nouns_of_a_pair_never_clash(task: str, changes: dict[str, Any], index: int) -> None:
    chosen = sorted({noun for side in nouns(sample(task, index, **changes)) for noun in side})
    assert len(chosen) == {"spatial": 2, "attribute": 2, "negation": 3 if changes else 4}[task]
    assert not any(WORDS.nouns.clash(one, other) for i, one in enumerate(chosen) for other in chosen[:i])


@given(INDICES)
def test_spatial_twins_change_places_and_nothing_else(index: int) -> None:
    spec = sample("spatial", index)
    (a0, b0), (a1, b1) = (scene.objects for scene in spec.scenes)
    assert (look(a0), look(b0)) == (look(a1), look(b1))
    assert (a0.position_m, b0.position_m) == (b1.position_m, a1.position_m)
    assert a0.position_m != b0.position_m
    opposite = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}
    assert opposite[spec.fact.value_0] == spec.fact.value_1


@given(INDICES)
def test_colour_twins_swap_paint_and_nothing_else(index: int) -> None:
    context = context_of(0, options(attributes=("colour",)))
    spec = sample("attribute", index, 0, context)
    (a0, b0), (a1, b1) = (scene.objects for scene in spec.scenes)
    plain = [replace(item, colour=None, paint=None) for item in (a0, b0, a1, b1)]
    assert plain[:2] == plain[2:]
    assert (a0.colour, b0.colour) == (b1.colour, a1.colour)
    assert a0.colour is not None
    assert b0.colour is not None
    assert (a0.colour, b0.colour) in WORDS.colour_pairs(WORDS.colours)
    for item in (a0, b0, a1, b1):
        assert item.paint == WORDS.colours[str(item.colour)]
        assert item.paint_plan is not None
        assert item.size is None


@given(INDICES)
def test_size_twins_swap_sizes_and_nothing_else(index: int) -> None:
    context = context_of(0, options(attributes=("size",)))
    spec = sample("attribute", index, 0, context)
    (a0, b0), (a1, b1) = (scene.objects for scene in spec.scenes)
    plain = [replace(item, size=None, scale_m=0.0) for item in (a0, b0, a1, b1)]
    assert plain[:2] == plain[2:]
    assert (a0.size, b0.size) == (b1.size, a1.size)
    big, small = (a0, a1) if is_big(str(a0.size)) else (a1, a0)
    assert 1.3 < big.scale_m / small.scale_m < 3
    big, small = (b0, b1) if is_big(str(b0.size)) else (b1, b0)
    assert 1.3 < big.scale_m / small.scale_m < 3
    assert all(item.paint is None and item.paint_plan is None for item in (a0, b0, a1, b1))


@given(INDICES)
def test_negation_twins_show_other_things_in_the_same_slots(index: int) -> None:
    spec = sample("negation", index)
    first, second = (scene.objects for scene in spec.scenes)
    assert {item.position_m for item in first} == {item.position_m for item in second}
    assert spec.fact.value_0 == ", ".join(item.noun for item in first)
    assert spec.fact.value_1 == ", ".join(item.noun for item in second)


@given(INDICES)
def test_shared_negation_twins_keep_the_first_object(index: int) -> None:
    spec = sample("negation", index, negation="shared")
    (a0, other0), (a1, other1) = (scene.objects for scene in spec.scenes)
    assert a0 == a1
    assert other0.noun != other1.noun
    assert other0.position_m == other1.position_m


def test_only_paintable_assets_take_part_in_colours() -> None:
    assets = tuple(
        replace(asset, paint_plan=None) if asset.uid.endswith("/0") or asset.noun in ("dog", "piano") else asset
        for asset in catalog_of().assets
    )
    context = context_of(0, options(), Catalog(assets, ()))
    seen: dict[str, set[str]] = {"colour": set(), "size": set()}
    for index in range(160):
        spec = sample("attribute", index, 0, context)
        seen[spec.fact.kind] |= {item.uid for item in spec.scenes[0].objects}
    assert seen["colour"] == {asset.uid for asset in assets if asset.paint_plan is not None}
    assert {uid.split("/")[1] for uid in seen["size"]} >= {"dog", "piano"}


def test_only_asked_colours_are_used() -> None:
    asked = replace(options(attributes=("colour",)), colours=("red", "green", "blue"))
    specs = [sample("attribute", index, 0, context_of(0, asked)) for index in range(30)]
    assert {str(item.colour) for spec in specs for item in spec.scenes[0].objects} == {"red", "green", "blue"}


def test_synonyms_are_used_only_when_asked() -> None:
    def words(task: str, synonyms: bool) -> set[str]:
        context = context_of(0, options(synonyms=synonyms, attributes=("size",)))
        return {word for index in range(80) for word in sample(task, index, 0, context).words}

    assert words("spatial", False) == {"above", "below", "to the left of", "to the right of"}
    assert words("spatial", True) == {word for item in WORDS.relations for word in (item.first, item.second)}
    assert words("attribute", False) == {"big", "small"}
    assert words("attribute", True) == {word for pair in WORDS.sizes for word in pair}


def test_all_assets_of_a_noun_take_part() -> None:
    used = Counter(item.uid for index in range(150) for item in sample("spatial", index).scenes[0].objects)
    assert set(used) == {asset.uid for asset in catalog_of().assets}


def test_every_task_states_how_many_nouns_it_needs() -> None:
    for task, entry in TASKS.items():
        chosen = {noun for side in nouns(sample(task, 0)) for noun in side}
        assert len(chosen) == entry.roles
