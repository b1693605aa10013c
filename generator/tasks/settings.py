"""Two ways to set a scene: everything drawn anew, or what is dear to render taken from the sprite bank's closed set.

`compose` asks a setting step by step and need not know which one it has.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from generator.assets.catalog import Asset
from generator.backgrounds import Background
from generator.rng import choice
from generator.specs import CameraSpec, LightSpec, Vec3, bearing_deg
from generator.tasks.plates import LONGEST_M, PlateSet, crop, hung, level_for, slots_on
from generator.tasks.pose import Pose, pose
from generator.tasks.stages import STAGES, Axis, Footprint, Stage, frame, light

Poses = Sequence[Sequence[Pose]]  # of the two sides, by part


class Setting(Protocol):
    """What one pair is set with: called in the order in which the methods stand here.

    place: what is seen behind the objects. fit: the factor on the objects with which they suit the stage.
    """

    place: Background
    fit: float

    def pose(self, asset: Asset, fraction: float, growth: float) -> Pose:
        """How the asset stands or lies: see `pose.pose`."""

    def furnish(self, axis: Axis, poses: Poses) -> Stage:
        """A stage for the objects."""

    def seen(self, item: Pose, slot: Vec3, /) -> Pose:
        """The pose in the world of an object in a slot."""

    def aim(self, corners: list[Vec3]) -> CameraSpec:
        """The camera that has all corners in its frame."""

    def light(self) -> LightSpec:
        """The light."""


class Open:
    """Furniture, camera, light and turns of this one pair alone."""

    fit = 1.0

    def __init__(self, rng: np.random.Generator, name: str, places: Sequence[Background]) -> None:
        self._rng = rng
        self._name = name
        self.place = choice(rng, places)

    def pose(self, asset: Asset, fraction: float, growth: float) -> Pose:
        """Turned anyhow."""
        turn = float(self._rng.uniform(-1.0, 1.0))
        return pose(asset, turn, float(fraction * self._rng.uniform(0.9, 1.1)), growth, is_lying(self._name))

    def furnish(self, axis: Axis, poses: Poses) -> Stage:
        """Made to measure."""
        size = footprint(poses, is_lying(self._name))
        self._stage = STAGES[self._name](self._rng, axis, size, self.place)
        return self._stage

    def seen(self, item: Pose, _slot: Vec3, /) -> Pose:
        """As it is."""
        return item

    def aim(self, corners: list[Vec3]) -> CameraSpec:
        """Moved sideways."""
        return frame(self._stage.camera, self._rng, corners)

    def light(self) -> LightSpec:
        """Any, tinted by the place."""
        return light(self._rng, self.place.fill_rgb, self._name)


class Banked:
    """Views, furniture, camera positions and lights of the sprite bank; sizes, slots and crop of this pair alone."""

    def __init__(self, rng: np.random.Generator, name: str, places: Sequence[Background], plates: PlateSet) -> None:
        self._rng = rng
        self._name = name
        self._places = places
        self._plates = plates
        self._rig = choice(rng, plates.rigs_of(name))

    def pose(self, asset: Asset, fraction: float, growth: float) -> Pose:
        """The asset's one view in the rig. Its yaw is meant as seen: `seen` makes it the world's."""
        length = float(fraction * self._rng.uniform(0.9, 1.1))
        return pose(asset, self._rig.turn(asset.uid), length, growth, is_lying(self._name), digits=1)

    def furnish(self, axis: Axis, poses: Poses) -> Stage:
        """One of the plates that the objects fit."""
        # Before the plate is known, and with it how far the camera went round, sizes are as seen: near enough to choose
        # the level by.
        level = level_for(self._rng, self._name, self._rig, footprint(poses, self._rig.lying))
        plate = choice(self._rng, self._plates.cells[self._name, self._rig.number, level])
        turned = [[item.turned(plate.azimuth_deg) for item in side] for side in poses]
        size = footprint(turned, self._rig.lying)
        largest = max(item.scale for side in turned for item in side)
        self._plate, self.fit = plate, min(plate.fit(self._rng, size), LONGEST_M / largest)
        self.place, slabs = hung(self._rng, plate, self._places)
        slots = slots_on(self._rng, plate, axis, size.times(self.fit))
        return Stage(self._name, slots, self._rig.lying, slabs, plate.camera)

    def seen(self, item: Pose, slot: Vec3, /) -> Pose:
        """Turned so that the camera, which sees a slot beside its axis from another side, sees the asset's view."""
        return item.turned(-bearing_deg(self._plate.camera, slot))

    def aim(self, corners: list[Vec3]) -> CameraSpec:
        """A crop of the plate."""
        return crop(self._plate.camera, self._rng, corners, self.fit)

    def light(self) -> LightSpec:
        """The rig's."""
        return self._plate.light


def is_lying(stage: str) -> bool:
    """Whether things lie on a stage and are seen from above."""
    return stage == "flatlay"


def footprint(poses: Poses, lying: bool) -> Footprint:
    """What both sides' objects need together."""
    every = [item.box for side in poses for item in side]
    return Footprint(
        width=max(0.5 * (one.box[0] + other.box[0]) for one, other in poses),
        depth=max(box[2] if lying else box[1] for box in every),
        height=max(box[1] if lying else box[2] for box in every),
    )
