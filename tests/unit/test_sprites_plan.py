"""Plans of the sprite engine: everything dear to render is drawn from a closed set, all else as freely as ever.

Layers are counted by the renderer's own keys.
"""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_stages import boxes, check_solid, corners, held, middle
from worlds import catalog_of, context_of, places

from generator.backgrounds import Background
from generator.errors import ConfigError
from generator.specs import PairSpec, SceneSpec, SurfaceSpec, bearing_deg, project
from generator.sprites.needs import LOOK_AHEAD, parts, planned, whole_bank
from generator.tasks import TASKS, Context
from generator.tasks.plates import PATTERN, least_plates, make_plates, suited
from generator.tasks.rigs import RigSet
from generator.tasks.stages import FRAME_MARGIN, SPATIAL_STAGES, STAGES
from renderers.sprites import keys

VIEWS, PLATES, SIZE_PX = 12, 80, 224
ASSETS = len(catalog_of().assets)


def pictures(count: int, kind: str = "photo") -> tuple[Background, ...]:
    """Places whose walls are pictures that the camera projects."""
    rest = places()[0]
    return tuple(
        Background(
            f"{kind}_{number:03d}",
            kind,  # type: ignore[arg-type]
            SurfaceSpec((1.0, 1.0, 1.0), 1.0, f"/nowhere/{number}.jpg", projection="camera", lit=False),
            rest.floor,
            rest.furniture,
            (1.0, 1.0, 1.0),
        )
        for number in range(count)
    )


def sprites(seed: int = 5, views: int = VIEWS, plates: int = PLATES, shown: tuple[Background, ...] = ()) -> Context:
    """A context that plans on rigs and plates."""
    context = context_of(seed)
    shown = shown or context.backgrounds
    return replace(context, backgrounds=shown, plates=make_plates(RigSet(views), plates, shown))


def sampled(task: str, count: int, context: Context | None = None, attempt: int = 0) -> list[PairSpec]:
    context = context or sprites()
    return [TASKS[task].sample(context, index, attempt, "train") for index in range(count)]


@pytest.fixture(scope="module")
def two_thousand() -> dict[str, list[PairSpec]]:
    return {task: sampled(task, 667) for task in TASKS}


def layers(scene: SceneSpec) -> tuple[keys.Key, ...]:
    return keys.scene_keys(scene, SIZE_PX)


def test_two_thousand_pairs_need_no_more_layers_than_the_bank_has(two_thousand: dict[str, list[PairSpec]]) -> None:
    needed = {
        key for specs in two_thousand.values() for spec in specs for scene in spec.scenes for key in layers(scene)
    }
    count = Counter(map(keys.kind_of, needed))
    assert 0.9 * PLATES <= count["plate"] <= PLATES
    assert 0.5 * ASSETS * VIEWS <= count["own"] <= 1.005 * ASSETS * VIEWS
    assert count["paint"] <= ASSETS * VIEWS
    assert count["cast"] <= ASSETS * VIEWS
    plates = sprites().plates
    assert plates is not None
    bank = {key for scene in whole_bank(catalog_of(), plates) for key in layers(scene)}
    # A very large object asks for sharper layers, once in some hundred pairs.
    assert len(needed - bank) < 0.005 * len(needed)


def test_retries_need_no_other_layers() -> None:
    plates = sprites().plates
    assert plates is not None
    bank = {key for scene in whole_bank(catalog_of(), plates) for key in layers(scene)}
    needed = {
        key
        for task in TASKS
        for spec in sampled(task, 100, attempt=3)
        for scene in spec.scenes
        for key in layers(scene)
    }
    # Objects grow from attempt to attempt; a very large one may ask for a sharper layer.
    assert len(needed - bank) < 0.03 * len(needed)


def test_photographs_need_no_more_plates() -> None:
    context = sprites(shown=pictures(300))
    specs = sampled("attribute", 600, context)
    assert len({spec.scenes[0].background for spec in specs}) > 200
    assert len({keys.plate_key(scene, SIZE_PX) for spec in specs for scene in spec.scenes}) <= PLATES


def test_every_place_is_used() -> None:
    shown = (*places(), *pictures(60, "indoor"))
    context = sprites(shown=shown)
    seen = {spec.scenes[0].background for spec in sampled("negation", 700, context)}
    assert seen == {place.id for place in shown}


@given(seed=st.integers(0, 2**32), index=st.integers(0, 10**6), task=st.sampled_from(list(TASKS)))
def test_the_camera_sees_a_view_of_the_bank(seed: int, index: int, task: str) -> None:
    """An object's turn, seen from the camera, is one of its views to a thousandth of the step it is rounded to."""
    context = sprites(seed)
    spec = TASKS[task].sample(context, index, 0, "train")
    assert context.plates is not None
    for scene in spec.scenes:
        height = keys.elevation_deg(scene.camera)
        rigs = suited(context.plates.rigs, scene.stage)
        rig = min(rigs, key=lambda rig: abs(rig.elevation_deg - height))
        assert height == pytest.approx(rig.elevation_deg, abs=1e-9)
        around = scene.light.azimuth_deg - keys.azimuth_deg(scene.camera)
        assert around == pytest.approx(rig.light.azimuth_deg, abs=1e-6)
        for item in scene.objects:
            seen = item.yaw_deg + bearing_deg(scene.camera, item.position_m)
            assert seen == pytest.approx(round(seen, 1), abs=1e-4)


def test_a_plan_is_its_own_prefix_and_banks_are_too() -> None:
    context = sprites()
    forwards = sampled("spatial", 12, context)
    assert [TASKS["spatial"].sample(sprites(), index, 0, "train") for index in (11, 3)] == [forwards[11], forwards[3]]
    small, large = (make_plates(RigSet(VIEWS), count, places()).plates for count in (80, 200))
    assert large[:80] == small
    for kind in ("standing", "lying"):
        few, many = (getattr(RigSet(views), kind) for views in (12, 24))
        assert many[: len(few)] == few


def test_the_plan_of_other_engines_knows_nothing_of_plates() -> None:
    spec = TASKS["spatial"].sample(context_of(), 0, 0, "train")
    assert spec.scenes[0].camera.shift == (0.0, 0.0)


@pytest.mark.parametrize("task", list(TASKS))
def test_crops_stay_within_the_plate_and_hold_the_objects(task: str, two_thousand: dict[str, list[PairSpec]]) -> None:
    for spec in two_thousand[task]:
        camera = spec.scenes[0].camera
        tangent = camera.sensor_width_mm / camera.focal_length_mm
        assert (max(map(abs, camera.shift)) + 0.5) * tangent <= keys.PLATE_TANGENT + 1e-9, spec.key
        assert camera.focal_length_mm <= 36.0 * keys.PLATE_PX, spec.key
        for scene in spec.scenes:
            for left, top, right, bottom in boxes(scene):
                assert min(left, top) > 0.9 * FRAME_MARGIN, spec.key
                assert max(right, bottom) < 1 - 0.9 * FRAME_MARGIN, spec.key
                assert max(right - left, bottom - top) > 0.12, spec.key


def test_a_crop_is_a_window_of_the_wide_picture() -> None:
    """Each object's foot falls in the crop where it falls in the plate, cut and enlarged."""
    for spec in sampled("attribute", 50):
        camera = spec.scenes[0].camera
        wide = replace(camera, focal_length_mm=36.0 / (2 * keys.PLATE_TANGENT), shift=(0.0, 0.0))
        width = wide.focal_length_mm / camera.focal_length_mm
        left, top = 0.5 + camera.shift[0] * width - width / 2, 0.5 - camera.shift[1] * width - width / 2
        for item in spec.scenes[0].objects:
            (u, v), (x, y) = project(camera, item.position_m), project(wide, item.position_m)
            assert ((x - left) / width, (y - top) / width) == pytest.approx((u, v), abs=1e-9)


def test_the_planned_relation_holds_in_the_picture(two_thousand: dict[str, list[PairSpec]]) -> None:
    clear = []
    for spec in two_thousand["spatial"]:
        for scene, relation in zip(spec.scenes, (spec.fact.value_0, spec.fact.value_1), strict=True):
            a, b = boxes(scene)
            opposite = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}[relation]
            assert not held(opposite, a, b, 0.0), spec.key
            clear.append(held(relation, a, b, 0.02))
    assert np.mean(clear) > 0.93


def test_the_set_up_does_not_tell_the_relation(two_thousand: dict[str, list[PairSpec]]) -> None:
    """All relations on the same stages, rigs and plates, and anywhere in the frame."""
    groups: dict[str, list[PairSpec]] = {}
    for spec in two_thousand["spatial"]:
        groups.setdefault(spec.fact.value_0, []).append(spec)
    assert len(groups) == 4
    for relation, group in groups.items():
        stages = Counter(spec.scenes[0].stage for spec in group)
        assert set(stages) == set(SPATIAL_STAGES), relation
        assert all(abs(count / len(group) - 1 / 3) < 4 * math.sqrt(2 / 9 / len(group)) for count in stages.values())
    plates = {
        relation: {keys.plate_key(spec.scenes[0], SIZE_PX) for spec in group} for relation, group in groups.items()
    }
    assert len(set.intersection(*plates.values())) > 0.5 * len(set.union(*plates.values()))
    for one, other in (("above", "below"), ("left of", "right of")):
        a, b = (np.array([middle(spec.scenes[0]) for spec in groups[name]]) for name in (one, other))
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error).all(), (one, other)
        assert (a.std(axis=0) > 0.03).all(), one


@pytest.mark.parametrize("task", list(TASKS))
def test_objects_stand_on_something_and_run_into_nothing(task: str, two_thousand: dict[str, list[PairSpec]]) -> None:
    for spec in two_thousand[task][:150]:
        for scene in spec.scenes:
            check_solid(spec, scene)


def test_no_board_stands_before_an_object() -> None:
    """Seen from the camera, the top of each object on a shelf is clear of the front edge of the board above it."""
    for spec in sampled("negation", 300):
        for scene in spec.scenes:
            if scene.stage != "shelf":
                continue
            boards = [slab for slab in scene.slabs if slab.name.startswith("board")]
            for item in scene.objects:
                points = [(float(x), float(y), float(z)) for x, y, z in corners(item)]
                top = min(project(scene.camera, point)[1] for point in points)
                above = min(
                    (slab for slab in boards if slab.centre_m[2] > item.position_m[2] + 0.01),
                    key=lambda slab: slab.centre_m[2],
                )
                edge = (
                    item.position_m[0],
                    above.centre_m[1] - above.size_m[1] / 2,
                    above.centre_m[2] - above.size_m[2] / 2,
                )
                assert project(scene.camera, edge)[1] < top + 0.01, spec.key


def test_too_few_plates_say_so() -> None:
    least = least_plates(RigSet(VIEWS))
    with pytest.raises(ConfigError, match=f"--plates must be at least {least} with --views 12, not {least - 1}"):
        make_plates(RigSet(VIEWS), least - 1, places())
    found = make_plates(RigSet(VIEWS), least, places())
    assert {(stage, rig.number) for stage in STAGES for rig in found.rigs_of(stage)} == {key[:2] for key in found.cells}
    assert set(PATTERN) == set(STAGES)


@given(st.integers(2, 60))
def test_every_stage_has_a_rig_whatever_the_number_of_views(views: int) -> None:
    rigs = RigSet(views)
    assert len(rigs.standing) + len(rigs.lying) == views
    assert all(suited(rigs, stage) for stage in STAGES)
    assert len(make_plates(rigs, least_plates(rigs), places()).plates) == least_plates(rigs)


def test_what_is_rendered_beforehand() -> None:
    """Each part once, and all that the pairs need."""
    contexts = {"train": sprites()}
    scenes = planned("spatial", contexts, [("train", index) for index in range(300)])
    assert all(len(scene.objects) <= 1 for scene in scenes)
    ready = {key for scene in scenes for key in layers(scene)}
    assert len(scenes) == len({layers(scene)[0] for scene in scenes if not scene.objects}) + len(
        {layers(scene)[1] for scene in scenes if scene.objects}
    )
    assert {key for spec in sampled("spatial", 300) for scene in spec.scenes for key in layers(scene)} == ready
    many = [("train", index) for index in range(LOOK_AHEAD)]
    assert len(planned("spatial", contexts, many)) <= PLATES + ASSETS * VIEWS


def test_parts_are_empty_stages_and_single_objects() -> None:
    (spec,) = sampled("negation", 1)
    assert [len(scene.objects) for scene in parts(spec.scenes)] == [0, 1, 1, 1, 1]
