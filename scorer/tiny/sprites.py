"""Stage one of the recipe: every bundled asset as cut-out renders in its own and eleven other colours; empty stages.

Blender runs as child processes (`python -m renderers.blender.prepare`, then `python -m renderers.blender`) that read
their requests from a file and answer in lines of JSON. Each view is rendered three times: as it is, painted white and
painted black. Light adds up linearly, so the last two give the part of every pixel that takes the paint and the part
that does not, and with them every other colour.

One .npz per asset: `sprites` (views, looks, S, S, 4) uint8, straight alpha, the longer side filling S, and `looks`, ""
for the asset's own colour. stages.npz: `stages` (n, H, W, 3) uint8.
"""

import csv
import json
import math
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from scorer.errors import DataError
from scorer.seeding import seed_of

REPO = Path(__file__).resolve().parents[2]
LIBRARY = REPO / "generator" / "assets" / "library"
COLOURS = REPO / "templates" / "colours.toml"
RENDER_PX, SPRITE_PX, STAGE_PX = 128, 80, 96
VIEWS, STAGES = 6, 160
MAX_TRIANGLES = 60_000
FRAME_M, FOCAL_MM, SENSOR_MM = 1.55, 70.0, 36.0
DISTANCE_M = FRAME_M * FOCAL_MM / SENSOR_MM
OWN = ""  # the look of an asset in its own colours
PAINTS = ("own", "white", "black")


def colour_values() -> dict[str, list[int]]:
    """The colour words and their sRGB, in the order of templates/colours.toml."""
    values: dict[str, list[int]] = tomllib.loads(COLOURS.read_text("utf-8"))["colours"]
    return values


def looks() -> list[str]:
    """The asset's own colour, then every colour word; the order of the looks in the files."""
    return [OWN, *colour_values()]


def bundled_nouns() -> dict[str, Path]:
    """Noun -> file of the bundled library."""
    with (LIBRARY / "manifest.csv").open(encoding="utf-8", newline="") as file:
        return {row["noun"]: LIBRARY / row["file"] for row in csv.DictReader(file)}


def make_sprites(out: Path, seed: int, python: str) -> None:
    """Render what is missing below `out`: one .npz per asset, and stages.npz.

    python: an interpreter that has Blender (bpy). Raises DataError when an asset cannot be prepared or rendered.
    """
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    nouns = {noun: path for noun, path in bundled_nouns().items() if not sprite_path(out, noun).exists()}
    requests = [
        {"source": str(path), "out": str(work / f"{path.stem}.model.npz"), "max_triangles": MAX_TRIANGLES}
        for path in nouns.values()
    ]
    plans: dict[str, bool] = {}
    jobs: list[dict[str, Any]] = []
    for (noun, path), answer in zip(
        nouns.items(), _ask(python, "renderers.blender.prepare", requests, work), strict=True
    ):
        if not answer["ok"]:
            raise DataError(f"{path}: cannot be prepared ({answer['reason']}: {answer['detail']})")
        plans[noun] = answer["facts"]["paint_plan"] is not None
        jobs += _asset_jobs(noun, path, answer["facts"], work, seed)
    last = {job["job"]["job_id"]: job["job"]["scene"]["objects"][0]["noun"] for job in jobs}
    ends = {noun: job_id for job_id, noun in last.items()}
    for answer in _render(jobs, RENDER_PX, work, python):
        noun = last[answer["job_id"]]
        if ends[noun] == answer["job_id"]:
            _save(out, noun, nouns[noun], plans[noun])
            print(f"sprites of {noun}", flush=True)
    if not (out / "stages.npz").exists():
        _render_stages(out, seed, python)


def sprite_path(out: Path, noun: str) -> Path:
    """Where an asset's sprites are."""
    return out / f"{noun.replace(' ', '_')}.npz"


def _asset_jobs(noun: str, source: Path, facts: dict[str, Any], work: Path, seed: int) -> list[dict[str, Any]]:
    jobs = []
    for view in range(VIEWS):
        rng = np.random.Generator(np.random.PCG64(seed_of(seed, "sprite", noun, view)))
        scene = _scene(rng, str(work / f"{source.stem}.model.npz"), noun, facts)
        for paint in PAINTS if facts["paint_plan"] is not None else PAINTS[:1]:
            jobs.append(_job(work / f"{source.stem}-{view}-{paint}", _painted(scene, paint, facts["paint_plan"]), view))
    return jobs


def _save(out: Path, noun: str, source: Path, paintable: bool) -> None:
    """Cut out the finished renders of one asset, colour them, and remove them."""
    names = looks() if paintable else [OWN]
    sprites = []
    for view in range(VIEWS):
        base = out / "work" / f"{source.stem}-{view}"
        own, alpha = _cut_out(Path(f"{base}-own"))
        pictures = [own]
        if paintable:
            white, black = (_cut_out(Path(f"{base}-{paint}"))[0] for paint in PAINTS[1:])
            pictures += _recoloured(white, black)
        sprites.append([_finish(picture, alpha) for picture in pictures])
        for file in base.parent.glob(f"{base.name}-*"):
            file.unlink()
    temporary = out / f".{source.stem}.npz"
    np.savez_compressed(temporary, sprites=np.array(sprites), looks=np.array(names))
    temporary.replace(sprite_path(out, noun))


def _recoloured(white: NDArray[np.float32], black: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The same view in every colour word, linear light: unpainted part + painted part x colour."""
    values = {name: _linear(np.array(rgb, np.float32) / 255) for name, rgb in colour_values().items()}
    painted = (white - black) / (values["white"] - values["black"])
    plain = black - painted * values["black"]
    return [(plain + painted * rgb).clip(0, 1) for rgb in values.values()]


def _linear(srgb: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _srgb(linear: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055).astype(np.float32)


def _scene(rng: np.random.Generator, model: str, noun: str, facts: dict[str, Any]) -> dict[str, Any]:
    """One asset alone on a plain floor, seen from about the front, as the twin scenes show it."""
    height = float(facts["extent"][2])
    item = {
        "role": "A",
        "uid": noun,
        "noun": noun,
        "model": model,
        "position_m": [0.0, 0.0, 0.0],
        "yaw_deg": float(rng.uniform(-45, 45)),
        "pitch_deg": 0.0,
        "scale_m": 1.0,
    }
    grey = float(rng.uniform(0.35, 0.8))
    floor = _slab("floor", (0, 0, -0.05), (12, 12, 0.1), (grey, grey, grey))
    camera = _camera(float(rng.uniform(2, 28)), (0.0, 0.0, height / 2))
    return _stage([item], [floor], camera, _light(rng))


def _painted(scene: dict[str, Any], paint: str, plan: dict[str, Any] | None) -> dict[str, Any]:
    if paint == "own":
        return scene
    rgb = [value / 255 for value in colour_values()[paint]]
    return {**scene, "objects": [{**scene["objects"][0], "colour": paint, "paint": rgb, "paint_plan": plan}]}


def _render_stages(out: Path, seed: int, python: str) -> None:
    """Empty floors, walls, boards and tops, for the backs of the training pictures."""
    work = out / "work"
    model = next(iter(sorted(work.glob("*.model.npz"))))
    jobs, names = [], []
    for number in range(STAGES):
        rng = np.random.Generator(np.random.PCG64(seed_of(seed, "stage", number)))
        walls, floor, boards = (_tone(rng) for _ in range(3))
        far = float(rng.uniform(0.4, 3.0))
        slabs = [_slab("wall", (0, far, 2), (16, 0.1, 8), walls)]
        if rng.uniform() < 0.5:
            slabs.append(_slab("floor", (0, 0, -0.05), (16, 2 * far, 0.1), floor))
        else:
            rise = float(rng.uniform(0.35, 0.8))
            slabs += [_slab(f"board {i}", (0, far - 0.3, i * rise), (6, 0.6, 0.04), boards) for i in range(-3, 5)]
        camera = _camera(float(rng.uniform(1, 60)), (0.0, 0.0, float(rng.uniform(0.1, 0.6))))
        # The renderer wants an object: one behind the camera.
        hidden = {
            "role": "A",
            "uid": "hidden",
            "noun": "hidden",
            "model": str(model),
            "position_m": [0.0, -60.0, 0.0],
            "yaw_deg": 0.0,
            "pitch_deg": 0.0,
            "scale_m": 0.1,
        }
        names.append(work / f"stage-{number}")
        jobs.append(_job(names[-1], _stage([hidden], slabs, camera, _light(rng)), number))
    for _ in _render(jobs, STAGE_PX, work, python):
        pass  # the pictures are the answer
    pictures = [np.asarray(Image.open(f"{name}.png").convert("RGB")) for name in names]
    np.savez_compressed(out / "stages.npz", stages=np.stack(pictures))


def _tone(rng: np.random.Generator) -> tuple[float, float, float]:
    """A colour as walls and furniture have it: any hue, mostly pale or dull."""
    import colorsys

    return colorsys.hsv_to_rgb(rng.uniform(), rng.beta(1.2, 3.0), rng.uniform(0.25, 0.95))


def _slab(
    name: str, centre: tuple[float, float, float], size: tuple[float, float, float], rgb: tuple[float, float, float]
) -> dict[str, Any]:
    surface = {"rgb": list(rgb), "roughness": 0.8}
    return {"name": name, "centre_m": list(centre), "size_m": list(size), "surface": surface}


def _camera(elevation_deg: float, target: tuple[float, float, float]) -> dict[str, Any]:
    up = math.radians(elevation_deg)
    position = [target[0], target[1] - DISTANCE_M * math.cos(up), target[2] + DISTANCE_M * math.sin(up)]
    return {"position_m": position, "look_at_m": list(target), "focal_length_mm": FOCAL_MM}


def _light(rng: np.random.Generator) -> dict[str, Any]:
    share = float(rng.uniform(0.45, 0.7))
    return {
        "azimuth_deg": float(rng.uniform(-65, 65)),
        "elevation_deg": float(rng.uniform(25, 70)),
        "angle_deg": float(rng.uniform(4, 18)),
        "key_strength": math.pi * share / 0.75,
        "key_rgb": [1.0, 0.97, 0.94],
        "fill_strength": 1.0 - share,
        "fill_rgb": [1.0, 1.0, 1.0],
    }


def _stage(
    objects: list[dict[str, Any]], slabs: list[dict[str, Any]], camera: dict[str, Any], light: dict[str, Any]
) -> dict[str, Any]:
    return {
        "stage": "tiny",
        "background": "plain",
        "objects": objects,
        "slabs": slabs,
        "camera": camera,
        "light": light,
    }


def _job(name: Path, scene: dict[str, Any], seed: int) -> dict[str, Any]:
    return {"job": {"job_id": name.name, "scene": scene, "seed": seed, "out": str(name)}}


def _render(jobs: Sequence[dict[str, Any]], size_px: int, work: Path, python: str) -> Iterator[dict[str, Any]]:
    """The renderer's answers, each as soon as its pictures are there."""
    if not jobs:
        return
    settings = {"engine": "cycles", "size_px": size_px, "samples_per_pixel": 4, "device": "cpu", "threads": 1}
    answers = _ask(python, "renderers.blender", [{"settings": settings}, *jobs], work)
    for answer in answers:
        if answer["error"]:
            raise DataError(f"the renderer failed: {answer['error']}")
        if "job_id" in answer:
            yield answer


def _ask(python: str, module: str, requests: Sequence[dict[str, Any]], work: Path) -> Iterator[dict[str, Any]]:
    """Run a worker over all requests; its answers in order, as they come. DataError when it ends early."""
    lines, log = work / f"{module}.jsonl", work / f"{module}.log"
    lines.write_text("".join(json.dumps(request) + "\n" for request in requests), "utf-8")
    command = [python or sys.executable, "-m", module, "--log", str(log)]
    count = 0
    with lines.open("rb") as file, subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, cwd=REPO) as child:
        assert child.stdout is not None
        for line in child.stdout:
            count += 1
            yield json.loads(line)
    if count != len(requests):
        tail = log.read_text(errors="replace")[-300:] if log.exists() else ""
        raise DataError(f"{' '.join(command)} ended after {count} of {len(requests)} answers; {log}: {tail}")


def _cut_out(name: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The visible object of one render, its longer side filling the sprite: linear rgb, coverage (S, S, 3 and 1)."""
    picture = _linear(np.asarray(Image.open(f"{name}.png").convert("RGB"), np.float32) / 255)
    with np.load(f"{name}.npz") as masks:
        seen = masks["visible"] == 1
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    if len(rows) == 0:
        raise DataError(f"{name}: the object is not to be seen")
    box = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    alpha = seen[box].astype(np.float32)[..., None]
    side = max(alpha.shape)
    padded = np.zeros((side, side, 4), np.float32)
    top, left = (side - alpha.shape[0]) // 2, (side - alpha.shape[1]) // 2
    # Colours are averaged where the object is, so that no background bleeds into the edge.
    padded[top : top + alpha.shape[0], left : left + alpha.shape[1]] = np.dstack([picture[box] * alpha, alpha])
    size = (SPRITE_PX, SPRITE_PX)
    planes = [np.asarray(Image.fromarray(padded[..., c]).resize(size, Image.Resampling.BOX)) for c in range(4)]
    scaled = np.dstack(planes).astype(np.float32)
    return scaled[..., :3] / np.maximum(scaled[..., 3:], 1e-6), scaled[..., 3:]


def _finish(linear: NDArray[np.float32], alpha: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Linear rgb and coverage -> sRGB with straight alpha, 8 bit."""
    return np.asarray(np.rint(np.dstack([_srgb(linear), alpha]).clip(0, 1) * 255), np.uint8)
