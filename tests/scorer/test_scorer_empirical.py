"""The paper's empirical figures: noise against Lemma 2, superposition on rendered objects, maps of any picture."""

import csv
import json
import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from scorer.cli import main
from scorer.configs import NoiseConfig, SuperpositionConfig
from scorer.empirical.maps import parts_of
from scorer.empirical.noise import noise, simulate
from scorer.empirical.scenes import Scene, cut_outs, made_scenes
from scorer.empirical.superposition import Level, joined, measure
from scorer.errors import ConfigError
from scorer.features import Clip, load_clip

# Seven pictures of two bundled objects each, rendered by `generator render --masks` and scaled down, with their masks.
RENDERED = Path(__file__).parent / "rendered"


# --- noise


@pytest.mark.parametrize("attribute", [0.0, 0.1, 0.5])
def test_without_noise_the_two_bindings_are_one_vector(attribute: float) -> None:
    """Lemma 2: i(x_a, y_b) = i(x_b, y_a), up to what normalising each half of a sum leaves (Eq. 9 has p and q)."""
    panel = simulate(NoiseConfig(trials=50), attribute, 0.0)
    assert panel.values["bindings"].min() > 0.99


def test_the_paper_s_observations_hold_for_small_noise() -> None:
    panel = simulate(NoiseConfig(dim=512, trials=400), 0.1, 0.002)
    spread = 1 / math.sqrt(512)
    for name in ("object_attribute", "unrelated"):
        assert abs(panel.values[name].mean()) < 4 * spread / math.sqrt(400)
        assert panel.values[name].std() == pytest.approx(spread, rel=0.15)
    assert panel.values["bindings"].mean() > 0.99


@settings(max_examples=12)
@given(st.floats(0.05, 0.6), st.floats(0.0, 0.1), st.sampled_from([256, 512, 1024]), st.booleans(), st.integers(0, 99))
def test_bindings_approach_their_limit(attribute: float, weight: float, dim: int, unit: bool, seed: int) -> None:
    """The shared part of both sums is o (x + y) + d (a + b), of squared length 2 (o^2 + d^2); the noise of each adds
    2 w^2 E|e|^2, independent between the two."""
    panel = simulate(NoiseConfig(dim=dim, trials=200, unit=unit, seed=seed), attribute, weight)
    shared = 2 * ((1 - attribute) ** 2 + attribute**2)
    own = 2 * weight**2 * (1 if unit else dim)
    assert panel.values["bindings"].mean() == pytest.approx(shared / (shared + own), abs=0.02)
    assert panel.limit == pytest.approx(shared / (shared + own))
    # i(x_a) . i(x) = o / |i(x_a)| and i(x_a) . t(a) = d / |i(x_a)| for orthogonal vectors.
    length = math.sqrt(shared / 2 + own / 2)
    assert panel.values["object"].mean() == pytest.approx((1 - attribute) / length, abs=0.02)
    assert panel.values["attribute"].mean() == pytest.approx(attribute / length, abs=0.02)


def test_noise_depends_on_its_seed_and_weights_alone(tmp_path: Path) -> None:
    config = NoiseConfig(dim=64, trials=20, attribute=(0.1, 0.3), noise=(0.0, 0.02), out=tmp_path / "a")
    line = noise(config)
    noise(replace(config, out=tmp_path / "b"))
    noise(replace(config, out=tmp_path / "c", attribute=(0.3,)))
    noise(replace(config, out=tmp_path / "d", seed=1))
    rows = {name: (tmp_path / name / "noise.csv").read_text().splitlines() for name in "abcd"}
    assert rows["a"] == rows["b"]
    assert rows["a"] != rows["d"]
    assert set(rows["c"]) < set(rows["a"])
    assert len(rows["a"]) == 1 + 4 * 5
    assert "20 trials in 64 dimensions, 4 choices of weights" in line
    assert "\n" not in line
    assert len(json.loads((tmp_path / "a/noise.json").read_text())["rows"]) == 20
    assert Image.open(tmp_path / "a/noise.png").width > 500


@pytest.mark.parametrize(
    "arguments",
    [["--dim", "1"], ["--trials", "0"], ["--attribute", "1.5"], ["--noise", "-1"], ["--noise", "nan"]],
)
def test_noise_says_what_is_wrong(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["noise", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert arguments[0] in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# --- superposition


@dataclass(frozen=True)
class Ideal:
    """Towers of Lemma 1: a picture is the normalised sum of its labels' unit vectors. Its width says how many."""

    name: str = "ideal"

    def preprocess(self, picture: Image.Image) -> torch.Tensor:
        return torch.tensor([picture.width])

    def image_tokens(self, batch: torch.Tensor) -> torch.Tensor:
        rows = (torch.arange(8)[None] < batch).float()
        return torch.nn.functional.normalize(rows, dim=1)[:, None]

    def tokenize(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor, int]:
        rows = torch.tensor([[float(str(i) in text) for i in range(8)] for text in texts])
        return rows, torch.zeros(len(texts), dtype=torch.long), 0

    def text_tokens(self, rows: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(rows, dim=1)[:, None]


def test_in_an_ideal_superposition_the_cosine_falls_as_one_over_the_root() -> None:
    """x . (x1 + ... + xk) / |...| = 1 / sqrt(k), and the text of all labels stays at 1."""
    scenes = [
        Scene(tuple(str(i) for i in range(k)), lambda k=k: Image.new("RGB", (k, 1)))  # type: ignore[misc]
        for k in (1, 2, 3, 5, 8)
    ]
    config = SuperpositionConfig(noise_images=2)
    ideal: Any = Ideal()
    levels = {(level.series, level.categories): level for level in measure(ideal, scenes, config)}
    for k in (1, 2, 3, 5, 8):
        assert levels["each", k].mean == pytest.approx(1 / math.sqrt(k))
        assert levels["all", k].mean == pytest.approx(1)
    assert levels["noise", 0].scenes == 2


def superposed(out: Path, *arguments: str) -> dict[tuple[str, int], Level]:
    options = ["--clip", "tiny", "--device", "cpu", "--out", str(out), *arguments]
    assert main(["superposition", *options]) == 0
    with (out / "superposition.csv").open() as file:
        rows = [
            Level(
                row["series"],
                int(row["categories"]),
                *(float(row[name]) for name in ("mean", "low", "high", "q25", "q75")),
                int(row["scenes"]),
            )
            for row in csv.DictReader(file)
        ]
    return {(row.series, row.categories): row for row in rows}


def test_more_objects_are_farther_from_each_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On objects that the tiny CLIP knows: each step falls, and the fall from 1 to 6 is far outside the intervals."""
    levels = superposed(tmp_path / "a", str(RENDERED), "--most", "6", "--count", "12")
    each = [levels["each", k] for k in range(1, 7)]
    assert all(after.mean < before.mean for before, after in pairwise(each))
    assert each[0].low > each[2].high > each[5].high
    assert each[0].low > levels["noise", 0].high
    assert each[5].scenes == 12
    assert levels["all", 1].mean == each[0].mean
    line = capsys.readouterr().out.strip()
    assert line.startswith("superposition in tiny, 12 series of pasted pictures")
    assert "\n" not in line
    assert superposed(tmp_path / "b", str(RENDERED), "--most", "6", "--count", "12") == levels
    assert superposed(tmp_path / "c", str(RENDERED), "--most", "6", "--count", "12", "--seed", "1") != levels
    assert (tmp_path / "a/superposition.png").read_bytes() == (tmp_path / "b/superposition.png").read_bytes()


def test_a_series_adds_one_object_and_leaves_the_rest_where_it_was() -> None:
    scenes = made_scenes([RENDERED], 5, 2, np.random.Generator(np.random.PCG64(0)))
    assert [len(scene.labels) for scene in scenes] == [1, 2, 3, 4, 5] * 2
    for before, after in pairwise(scenes[:5]):
        assert after.labels[:-1] == before.labels
        assert len(set(after.labels)) == len(after.labels)
        one, two = (np.asarray(scene.open(), dtype=int) for scene in (before, after))
        changed = (one != two).any(axis=2)
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        cell = 224 // 3
        assert changed.any()
        assert rows[0] // cell == rows[-1] // cell
        assert columns[0] // cell == columns[-1] // cell
        assert (one[changed] == 128).all(), "it was grey before"


def test_cut_outs_hold_the_object_alone() -> None:
    sprites = cut_outs([RENDERED])
    assert len(sprites) == 14
    for noun, pieces in sprites.items():
        alpha = np.asarray(pieces[0])[..., 3]
        assert set(np.unique(alpha)) <= {0, 255}, noun
        assert 0.2 < (alpha > 0).mean() < 1, noun


def test_photographs_with_annotations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """k is the number of distinct categories; photographs that are not there, or have too many, are counted."""
    names = ["circle", "square", "cross"]
    for i in range(4):
        Image.new("RGB", (50, 40), (60 * i, 90, 20)).save(tmp_path / f"{i}.jpg")
    held = {0: [1], 1: [1, 2, 2], 2: [3], 3: [1, 2, 3], 4: [1]}
    content = {
        "images": [{"id": i, "file_name": f"{i}.jpg"} for i in held],
        "annotations": [{"image_id": i, "category_id": c} for i, some in held.items() for c in some],
        "categories": [{"id": i, "name": name} for i, name in enumerate(names, start=1)],
    }
    (tmp_path / "instances.json").write_text(json.dumps(content))
    where = ["--coco", str(tmp_path / "instances.json"), "--images", str(tmp_path)]
    levels = superposed(tmp_path / "out", *where, "--most", "2")
    assert {key: level.scenes for key, level in levels.items()} == {
        ("each", 1): 2,
        ("all", 1): 2,
        ("each", 2): 1,
        ("all", 2): 1,
        ("noise", 0): 5,
    }
    assert "3 photographs (1 missing, 1 with more categories)" in (said := capsys.readouterr().out)
    assert "at 1 category, " in said


def test_labels_are_joined_as_a_sentence_has_them() -> None:
    assert [joined(labels) for labels in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give runs rendered with --masks, or --coco"),
        (["RENDERED", "--most", "99"], "--most 99: the data have cut-outs of 14 nouns"),
        (["RENDERED", "--prompt", "a photo"], r"--prompt 'a photo': must hold \{\}"),
        (["RENDERED", "--coco", "x.json"], "--coco FILE and --images FOLDER go together"),
        (["RENDERED", "--coco", "x.json", "--images", "."], "give runs rendered with --masks, or --coco"),
        (["RENDERED", "--count", "0"], "--count"),
        (["DATA"], "no masks there to cut objects out with; render with --masks"),
        (["--coco", "broken.json", "--images", "."], "broken.json: not an instances file in COCO's format"),
    ],
)
def test_superposition_says_what_is_wrong(
    arguments: list[str],
    message: str,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.json").write_text('{"images": []}')
    said = {"RENDERED": str(RENDERED), "DATA": str(data)}
    assert main(["superposition", *(said.get(item, item) for item in arguments), "--clip", "tiny"]) == 2
    assert re.search(message, capsys.readouterr().err)


# --- maps


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (48, 96, 3), dtype=np.uint8)).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def test_maps_hold_every_token_and_patch(
    photo: Path, clip: Clip, clip_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captions = ["a dog above a cat", "two birds"]
    options = ["--clip", clip_name, "--pretrained", "random", "--text-tokens", "16", "--out", str(tmp_path / "out")]
    assert main(["maps", str(photo), *captions, "--true", "2", *options, "--device", "cpu"]) == 0
    line = capsys.readouterr().out.strip()
    assert "2 captions" in line
    assert "\n" not in line
    said = json.loads((tmp_path / "out/maps.json").read_text())
    assert said["patches"][:6] == ["CLS", "(0,0)", "(0,1)", "(0,2)", "(0,3)", "(1,0)"]
    assert [item["true"] for item in said["captions"]] == [False, True]
    assert said["captions"][1]["tokens"] == ["[start]", "two", "birds", "[end]"]
    # The corner of a map is CLIP's own cosine, and every cell the cosine of its token and its patch.
    ids, eos, _ = clip.tokenize(captions)
    texts = clip.text_tokens(ids)
    image = clip.image_tokens(clip.preprocess(Image.open(photo).convert("RGB"))[None])[0]
    for place, item in enumerate(said["captions"]):
        wanted = texts[place, : int(eos[place]) + 1] @ image.t()
        assert item["cosine"] == pytest.approx(float(texts[place, eos[place]] @ image[0]), abs=1e-5)
        assert np.allclose(item["map"], wanted.numpy(), atol=1e-5)
    with (tmp_path / "out/maps.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(item["tokens"]) for item in said["captions"]) * len(said["patches"])
    assert Image.open(tmp_path / "out/maps.png").width > 1000


def test_regions_follow_the_tower_s_crop(clip: Clip) -> None:
    """A picture of 96 x 48 is cropped to its middle 48: its left half are columns 24 to 48 of the pixels."""
    picture = Image.new("RGB", (96, 48))
    parts = parts_of(clip, picture, {"left": (0, 0, 48, 48)})
    rows, columns = clip.shape.grid
    left = [1 + row * columns + column for row in range(rows) for column in range(columns // 2)]
    assert parts["CLS"] == [0]
    assert parts["left"] == left
    every = sorted(column for members in parts.values() for column in members)
    assert every == list(range(clip.shape.image_tokens))
    with pytest.raises(ConfigError, match="nothing of it is in what the towers see"):
        parts_of(clip, picture, {"edge": (0, 0, 10, 48)})


def test_a_region_smaller_than_a_patch_has_the_patch_it_lies_in() -> None:
    clip = load_clip("tiny", "random", 8, "cpu")
    parts = parts_of(clip, Image.new("RGB", (96, 96)), {"dot": (30, 54, 33, 57), "all": (0, 0, 96, 96)})
    rows, columns = clip.shape.grid
    assert parts["dot"] == [1 + (54 * rows // 96) * columns + 30 * columns // 96]
    assert "background" not in parts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["PHOTO", "a", " "], "caption that is not empty"),
        (["PHOTO", "a", "--true", "2"], "--true 2: captions are numbered from 1 to 1"),
        (["PHOTO", "a", "--region", "dog"], "--region dog: expected NAME=x0,y0,x1,y1"),
        (["PHOTO", "a", "--region", "dog=5,5,5,9"], "x0 < x1"),
        (["phot.png", "a"], "no such picture phot.png; did you mean"),
    ],
)
def test_maps_says_what_is_wrong(
    arguments: list[str],
    message: str,
    photo: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(photo.parent)
    assert main(["maps", *("photo.png" if item == "PHOTO" else item for item in arguments), "--clip", "tiny"]) == 2
    assert re.search(message, capsys.readouterr().err)
