"""Stages: everything in the frame, relations that hold, and a set-up that gives none of them away.

Boxes are worked out here from the specs alone: turned corners of each asset's box, through the camera.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray
from worlds import EXTENTS, NOUNS, catalog_of, context_of, options

from generator.specs import ObjectSpec, PairSpec, SceneSpec, project
from generator.tasks import TASKS
from generator.tasks.stages import FRAME_MARGIN, SPATIAL_STAGES, STAGES, _spans

Box = tuple[float, float, float, float]
EXTENT_OF = {asset.uid: asset.extent for asset in catalog_of().assets}
COUNT = 400


def corners(item: ObjectSpec) -> NDArray[np.float64]:
    """(8, 3) corners of the asset's box in the world: spun about its z, pitched about x, turned about z, set down."""
    x, y, z = EXTENT_OF[item.uid]
    box = np.array(list(itertools.product((-x / 2, x / 2), (-y / 2, y / 2), (0, z)))) * item.scale_m
    p, t, u = (math.radians(angle) for angle in (item.pitch_deg, item.yaw_deg, item.spin_deg))
    pitch = np.array([[1, 0, 0], [0, math.cos(p), -math.sin(p)], [0, math.sin(p), math.cos(p)]])
    yaw = np.array([[math.cos(t), -math.sin(t), 0], [math.sin(t), math.cos(t), 0], [0, 0, 1]])
    spin = np.array([[math.cos(u), -math.sin(u), 0], [math.sin(u), math.cos(u), 0], [0, 0, 1]])
    turned = box @ (yaw @ pitch @ spin).T
    low, high = turned.min(axis=0), turned.max(axis=0)
    moved: NDArray[np.float64] = turned - [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]] + item.position_m
    return moved


def box_in_frame(scene: SceneSpec, item: ObjectSpec) -> Box:
    points = [project(scene.camera, (float(x), float(y), float(z))) for x, y, z in corners(item)]
    us, vs = [u for u, _ in points], [v for _, v in points]
    return min(us), min(vs), max(us), max(vs)


def boxes(scene: SceneSpec) -> list[Box]:
    return [box_in_frame(scene, item) for item in scene.objects]


def middle(scene: SceneSpec) -> tuple[float, float]:
    """Of the box around both objects."""
    (a, b, c, d), (e, f, g, h) = boxes(scene)
    return (min(a, e) + max(c, g)) / 2, (min(b, f) + max(d, h)) / 2


def planned(task: str, count: int = COUNT, **changes: str) -> list[PairSpec]:
    context = context_of(5, options(**changes))  # type: ignore[arg-type]
    return [TASKS[task].sample(context, index, 0, "train") for index in range(count)]


@pytest.fixture(scope="module")
def spatial() -> list[PairSpec]:
    return planned("spatial")


def test_the_catalog_has_flat_and_tall_things() -> None:
    assert len({EXTENTS[len(noun) % len(EXTENTS)] for noun in NOUNS}) == len(EXTENTS)


@pytest.mark.parametrize("task", list(TASKS))
def test_every_object_is_whole_in_the_frame_and_large_enough(task: str) -> None:
    for spec in planned(task, 150):
        for scene in spec.scenes:
            for left, top, right, bottom in boxes(scene):
                assert min(left, top) > 0.8 * FRAME_MARGIN, spec.key
                assert max(right, bottom) < 1 - 0.8 * FRAME_MARGIN, spec.key
                assert max(right - left, bottom - top) > 0.12, spec.key


def held(relation: str, a: Box, b: Box, gap: float) -> bool:
    return {
        "left of": b[0] - a[2] >= gap,
        "right of": a[0] - b[2] >= gap,
        "above": b[1] - a[3] >= gap,
        "below": a[1] - b[3] >= gap,
    }[relation]


def test_the_planned_relation_holds_in_the_picture(spatial: list[PairSpec]) -> None:
    """By the boxes' corners, which reach further than what is in them: with a gap nearly always, never the opposite."""
    clear = []
    for spec in spatial:
        for scene, relation in zip(spec.scenes, (spec.fact.value_0, spec.fact.value_1), strict=True):
            a, b = boxes(scene)
            opposite = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}[relation]
            assert not held(opposite, a, b, 0.0), spec.key
            clear.append(held(relation, a, b, 0.02))
    assert np.mean(clear) > 0.93


@pytest.mark.parametrize("task", list(TASKS))
def test_twins_share_all_but_the_objects(task: str) -> None:
    for spec in planned(task, 100):
        first, second = spec.scenes
        for name in ("stage", "background", "slabs", "camera", "light"):
            assert getattr(first, name) == getattr(second, name), (spec.key, name)


def test_all_relations_use_the_same_stages_places_and_lights(spatial: list[PairSpec]) -> None:
    """A shelf in every "above" and never elsewhere would give the answer; so would shadows."""
    groups: dict[str, list[PairSpec]] = defaultdict(list)
    for spec in spatial:
        groups[spec.fact.value_0].append(spec)
    assert {relation: len(group) for relation, group in groups.items()} == dict.fromkeys(groups, COUNT // 4)

    def shares(values: Iterable[str]) -> dict[str, float]:
        counts = Counter(values)
        return {name: counts[name] / (COUNT // 4) for name in sorted(counts)}

    for group in groups.values():
        stages = shares(spec.scenes[0].stage for spec in group)
        assert set(stages) == set(SPATIAL_STAGES)
        # Four standard deviations of a share of a third among a hundred.
        assert all(abs(share - 1 / 3) < 0.19 for share in stages.values()), stages
        for value, spread in (("azimuth_deg", 130.0), ("key_strength", 1.5)):
            lights = [getattr(spec.scenes[0].light, value) for spec in group]
            everywhere = [getattr(spec.scenes[0].light, value) for spec in spatial]
            assert abs(np.mean(lights) - np.mean(everywhere)) < 0.15 * spread


def test_furniture_is_the_same_whatever_the_relation(spatial: list[PairSpec]) -> None:
    for stage in SPATIAL_STAGES:
        slabs: dict[str, set[frozenset[str]]] = defaultdict(set)
        for spec in spatial:
            if spec.scenes[0].stage == stage:
                slabs[spec.fact.value_0].add(frozenset(slab.name for slab in spec.scenes[0].slabs))
        assert len(slabs) == 4
        assert len({frozenset(names) for names in slabs.values()}) == 1, stage


def test_the_place_in_the_frame_does_not_tell_the_relation(spatial: list[PairSpec]) -> None:
    """Where the pair stands is drawn apart from how it stands: opposite relations have the same middles."""
    middles: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for spec in spatial:
        middles[spec.fact.value_0].append(middle(spec.scenes[0]))
        middles[spec.fact.value_1].append(middle(spec.scenes[1]))
    for one, other in (("above", "below"), ("left of", "right of")):
        a, b = np.array(middles[one]), np.array(middles[other])
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error).all(), (one, other)
        # A real jitter along both axes, or there would be nothing to hide behind.
        assert (a.std(axis=0) > 0.03).all(), one


def test_an_object_alone_does_not_tell_the_relation(spatial: list[PairSpec]) -> None:
    """Across the axis: A is as often in the upper half in "left of" as in "right of"."""
    places: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for spec in spatial:
        for scene, relation in zip(spec.scenes, (spec.fact.value_0, spec.fact.value_1), strict=True):
            left, top, right, bottom = box_in_frame(scene, scene.objects[0])
            places[relation].append(((left + right) / 2, (top + bottom) / 2))
    for one, other, across in (("above", "below", 0), ("left of", "right of", 1)):
        a, b = (np.array(places[name])[:, across] for name in (one, other))
        assert abs(a.mean() - b.mean()) < 4 * math.sqrt(a.var() / len(a) + b.var() / len(b)), (one, other)


def test_cameras_and_poses_vary(spatial: list[PairSpec]) -> None:
    cameras = [spec.scenes[0].camera for spec in spatial]
    assert np.std([camera.focal_length_mm for camera in cameras]) > 5
    assert np.std([camera.roll_deg for camera in cameras]) > 0.3
    assert np.std([item.yaw_deg for spec in spatial for item in spec.scenes[0].objects]) > 8
    assert len({spec.scenes[0].background for spec in spatial}) == 2
    assert len(set(cameras)) == len(cameras)


def test_open_ground_is_left_to_tasks_without_an_above() -> None:
    stages = Counter(spec.scenes[0].stage for spec in planned("attribute", 200))
    assert set(stages) == set(STAGES)
    assert "ground" not in SPATIAL_STAGES


def check_solid(spec: PairSpec, scene: SceneSpec) -> None:
    """None floats: right under each object's footprint is the top of a slab. None runs into a board or another."""
    solids = [(corners(item).min(axis=0), corners(item).max(axis=0)) for item in scene.objects]
    for item in scene.objects:
        x, y, z = item.position_m
        assert any(
            abs(slab.centre_m[0] - x) <= slab.size_m[0] / 2
            and abs(slab.centre_m[1] - y) <= slab.size_m[1] / 2
            and math.isclose(slab.centre_m[2] + slab.size_m[2] / 2, z, abs_tol=1e-9)
            for slab in scene.slabs
        ), (spec.key, scene.stage, item.role)
    for slab in scene.slabs:
        centre, half = np.array(slab.centre_m), np.array(slab.size_m) / 2
        solids.append((centre - half, centre + half))
    for number in range(len(scene.objects)):
        low, high = solids[number]
        for other, (other_low, other_high) in enumerate(solids):
            if other != number:
                overlap = np.minimum(high, other_high) - np.maximum(low, other_low)
                assert overlap.min() < 1e-6, (spec.key, scene.stage, number, other, overlap)


@pytest.mark.parametrize("task", list(TASKS))
def test_objects_stand_on_something_and_run_into_nothing(task: str) -> None:
    for spec in planned(task, 100):
        for scene in spec.scenes:
            check_solid(spec, scene)


@pytest.mark.parametrize("task", list(TASKS))
def test_many_points_are_projected_as_each_alone(task: str) -> None:
    """Bit by bit: plans made point by point must not change."""
    for spec in planned(task, 40):
        for scene in spec.scenes:
            points = [tuple(map(float, point)) for item in scene.objects for point in corners(item)]
            us, vs = zip(*(project(scene.camera, (x, y, z)) for x, y, z in points), strict=True)
            assert _spans(scene.camera, np.array(points).T) == ((min(us), max(us)), (min(vs), max(vs)))
