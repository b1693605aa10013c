"""What differs between Blender versions and between machines; everything else is written once.

Supported pairs: Python 3.11 with bpy 4.5 LTS, Python 3.13 with bpy 5.2 LTS.
"""

import bpy

from generator.specs import Device, Engine

BACKENDS = ("OPTIX", "CUDA", "HIP", "ONEAPI", "METAL")


class DeviceError(Exception):
    """The asked-for device is not there."""


def eevee_id() -> str:
    """EEVEE's identifier: "BLENDER_EEVEE_NEXT" in 4.2 to 4.5, "BLENDER_EEVEE" from 5.0 on."""
    return "BLENDER_EEVEE_NEXT" if bpy.app.version < (5, 0, 0) else "BLENDER_EEVEE"


def engine_id(engine: Engine) -> str:
    """Blender's identifier of a render engine."""
    return {"cycles": "CYCLES", "eevee": eevee_id(), "workbench": "BLENDER_WORKBENCH"}[engine]


def set_file_format(settings: "bpy.types.ImageFormatSettings", file_format: str, mode: str, depth: str) -> None:
    """Choose an image format; from 5.0 on the media type comes first and limits the formats."""
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format = file_format
    settings.color_mode = mode
    settings.color_depth = depth


def cycles_devices() -> dict[str, list[str]]:
    """Names of the usable Cycles devices by backend, the CPU included."""
    preferences = bpy.context.preferences.addons["cycles"].preferences
    found: dict[str, list[str]] = {}
    for backend in BACKENDS:
        try:
            devices = preferences.get_devices_for_type(backend)
        except (TypeError, ValueError):
            continue  # This build has no such backend.
        names = [device.name for device in devices or () if device.type == backend]
        if names:
            found[backend] = names
    found["CPU"] = [device.name for device in preferences.get_devices_for_type("CPU") if device.type == "CPU"]
    return found


def choose_device(device: Device) -> str:
    """Set up Cycles for the device and return "CPU" or "GPU"; "auto" takes the first GPU backend that has one."""
    if device == "cpu":
        return "CPU"
    found = cycles_devices()
    wanted = [backend for backend in BACKENDS if device in ("auto", backend.lower()) and backend in found]
    if not wanted:
        if device == "auto":
            return "CPU"
        raise DeviceError(f"no {device} device; found: {', '.join(found)}")
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.compute_device_type = wanted[0]
    for item in preferences.get_devices_for_type(wanted[0]):
        item.use = item.type == wanted[0]
    return "GPU"
