"""The layers of a plan as the smallest scenes that need them: an empty stage, or one object on it.

What to render before the pairs come to it follows from these; what their layers are is the renderer's to say.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from generator.assets.catalog import Catalog
from generator.specs import ObjectSpec, Rgb, SceneSpec, SlabSpec, bearing_deg, camera_axes
from generator.tasks import TASKS, Context
from generator.tasks.plates import Plate, PlateSet
from generator.tasks.pose import pose

# The layers of up to so many pairs are rendered as the pairs come to them: few are needed twice, and the first pair is
# there at once. Of longer runs, the layers of the first pairs are rendered beforehand: nearly all there are.
SHORT_RUN, LOOK_AHEAD = 200, 2000
# As what sprites of the whole bank are shown: at any length and in any colour they are the same layers.
LENGTH_M = 0.3
PAINT: Rgb = (0.5, 0.5, 0.5)


def planned(task: str, contexts: Mapping[str, Context], pairs: Iterable[tuple[str, int]]) -> list[SceneSpec]:
    """What the first attempts at pairs (split, index) need."""
    sample = TASKS[task].sample
    return parts(scene for split, index in pairs for scene in sample(contexts[split], index, 0, split).scenes)


def whole_bank(catalog: Catalog, plates: PlateSet) -> list[SceneSpec]:
    """Each plate, and each asset in each rig, in its own colours and painted."""
    plate_of = {(plate.rig.lying, plate.rig.number): plate for plate in reversed(plates.plates)}
    scenes = [_scene(plate) for plate in plates.plates]
    for asset in catalog.assets:
        for _, plate in sorted(plate_of.items(), key=lambda item: item[0]):
            item = pose(asset, plate.rig.turn(asset.uid), LENGTH_M, 1.0, plate.rig.lying, digits=1)
            position = plate.camera.look_at_m
            own = ObjectSpec(
                role="A",
                uid=asset.uid,
                noun=asset.noun,
                model=asset.model,
                position_m=position,
                yaw_deg=item.yaw_deg - bearing_deg(plate.camera, position),
                pitch_deg=item.pitch_deg,
                scale_m=LENGTH_M,
                spin_deg=item.spin_deg,
            )
            scenes.append(_scene(plate, own))
            if asset.paint_plan:
                scenes.append(_scene(plate, replace(own, paint=PAINT, paint_plan=asset.paint_plan)))
    return parts(scenes)


def parts(scenes: Iterable[SceneSpec]) -> list[SceneSpec]:
    """Empty stages first, then single objects by model: each once, as far as a plan on plates tells them apart."""
    plates: dict[object, SceneSpec] = {}
    sprites: dict[object, SceneSpec] = {}
    for scene in scenes:
        plates.setdefault(_plate_id(scene), replace(scene, objects=()))
        for item, found in _sprite_ids(scene):
            sprites.setdefault(found, replace(scene, objects=(item,)))
    # Blender keeps a model loaded between its views.
    return [*plates.values(), *sorted(sprites.values(), key=lambda scene: scene.objects[0].model)]


def _plate_id(scene: SceneSpec) -> object:
    return tuple(map(_bare, scene.slabs)), scene.camera.position_m, scene.camera.look_at_m, scene.light


def _bare(slab: SlabSpec) -> SlabSpec:
    """A slab without the picture that the camera projects onto it: it is put in later."""
    if slab.surface.projection != "camera":
        return slab
    return replace(slab, surface=replace(slab.surface, rgb=(0.0, 0.0, 0.0), texture=None))


def _sprite_ids(scene: SceneSpec) -> Iterator[tuple[ObjectSpec, object]]:
    forward = camera_axes(scene.camera)[2]
    around, height = math.degrees(math.atan2(forward[0], forward[1])), math.degrees(math.asin(-forward[2]))
    light = scene.light
    rig = (round(height, 1), round(light.azimuth_deg + around, 1), light.elevation_deg, light.angle_deg)
    for item in scene.objects:
        seen_deg = round(item.yaw_deg + bearing_deg(scene.camera, item.position_m), 1)
        yield item, (item.model, item.spin_deg, item.pitch_deg, seen_deg, rig, item.paint is not None)


def _scene(plate: Plate, *objects: ObjectSpec) -> SceneSpec:
    return SceneSpec(plate.stage, plate.place.id, objects, plate.slabs, plate.camera, plate.light)
