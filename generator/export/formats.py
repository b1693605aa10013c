"""The formats by name."""

from collections.abc import Mapping

from generator.export import (
    clip_csv,
    coco,
    dcsm_reference,
    hf,
    imagefolder,
    mosaic,
    parquet,
    sugarcrepe,
    whatsup,
    winoground,
)
from generator.export.source import Format

FORMATS: Mapping[str, Format] = {
    "imagefolder": imagefolder.FORMAT,
    "hf": hf.FORMAT,
    "parquet": parquet.FORMAT,
    "coco": coco.FORMAT,
    "clip-csv": clip_csv.FORMAT,
    "winoground": winoground.FORMAT,
    "sugarcrepe": sugarcrepe.FORMAT,
    "whatsup": whatsup.FORMAT,
    "dcsm-reference": dcsm_reference.FORMAT,
    "mosaic": mosaic.FORMAT,
}
