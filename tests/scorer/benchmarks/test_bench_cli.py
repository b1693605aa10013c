"""The verbs as a person meets them."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from scorer.cli import main

REPO = Path(__file__).resolve().parents[3]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """SugarCrepe's layout with two rows in one part, one of them without its image."""
    rows = {
        str(i): {
            "filename": f"{i:012d}.jpg",
            "caption": f"a dog and {i} cats",
            "negative_caption": f"a cat and {i} dogs",
        }
        for i in range(2)
    }
    (tmp_path / "root/sugarcrepe/data").mkdir(parents=True)
    (tmp_path / "root/sugarcrepe/data/swap_obj.json").write_text(json.dumps(rows))
    (tmp_path / "root/coco/val2017").mkdir(parents=True)
    Image.new("RGB", (40, 30), (10, 200, 30)).save(tmp_path / "root/coco/val2017/000000000001.jpg")
    return tmp_path / "root"


def options(root: Path, *names: str) -> list[str]:
    cache = ["--cache", str(root.parent / "cache"), "--device", "cpu", "--resamples", "20"]
    return [item for name in names for item in ("--benchmark", name)] + ["--root", str(root), *cache]


def test_a_run_is_judged_beside_plain_clip_and_the_control(
    run: Path, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["eval", str(run), *options(root, "sugarcrepe"), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    data = json.loads((out / "sugarcrepe.json").read_text())
    assert data["judges"][0] == str(run)
    assert data["judges"][1].startswith("CLIP cosine (local-dir:")
    assert data["judges"][2] == "shorter caption"
    (part,) = [item for item in data["parts"] if item["found"]]
    assert (part["name"], part["examples"], part["scored"], part["missing_images"]) == ("swap_obj", 2, 1, 1)
    assert (out / "sugarcrepe.md").read_text() in text
    assert len(list((out / "scores/sugarcrepe/swap_obj").glob("*.npz"))) == 3


def test_all_passes_over_what_is_not_there(
    run: Path, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["eval", str(run), *options(root, "all"), "--out", str(out)]) == 0
    assert "What'sUp, COCO-spatial, VG-spatial: no annotations under" in capsys.readouterr().out
    assert [path.name for path in sorted(out.glob("*.json"))] == ["sugarcrepe.json"]


def test_all_passes_over_a_damaged_file_and_says_so_at_the_end(
    run: Path, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "whatsup/data").mkdir(parents=True)
    (root / "whatsup/data/controlled_images_dataset.json").write_text("{")
    assert main(["eval", str(run), *options(root, "all"), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    assert "whatsup is passed over: " in said.out
    assert f"reports: {tmp_path / 'out'}" in said.out
    assert [path.name for path in sorted((tmp_path / "out").glob("*.json"))] == ["sugarcrepe.json"]
    last = said.err.splitlines()[-1]
    assert last.startswith("error: passed over, as their files are damaged: whatsup (")
    assert "controlled_images_dataset.json" in last
    assert main(["eval", str(run), *options(root, "whatsup"), "--out", str(tmp_path / "out")]) == 2


def test_plain_clip_alone(clip_name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["eval", "--clip", clip_name, "--pretrained", "random", *options(root, "sugarcrepe")]) == 0
    (report,) = Path("runs/benchmarks").rglob("sugarcrepe.json")
    assert [name.split(" (")[0] for name in json.loads(report.read_text())["judges"]] == [
        "CLIP cosine",
        "shorter caption",
    ]


def test_the_run_s_own_towers_are_not_judged_twice(run: Path, clip_name: str, root: Path, tmp_path: Path) -> None:
    arguments = ["eval", str(run), "--clip", clip_name, "--pretrained", "random", *options(root, "sugarcrepe")]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert len(json.loads((tmp_path / "out/sugarcrepe.json").read_text())["judges"]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--benchmark", "sugarcrepe"], "give a run to judge, or --clip NAME"),
        (["RUN", "--benchmark", "sugarcrepe"], "--benchmark needs --root PATH"),
        (["RUN", "--benchmark", "nothing", "--root", "."], r"nothing.*known.*all, clevr_bind, "),
        (["RUN", "--benchmark", "sugarcrepe", "--root", "gone"], r"--root.*gone"),
        (["RUN", "DATA", "--benchmark", "sugarcrepe", "--root", "."], "DATA: --benchmark takes no data"),
        (["RUN", "--benchmark", "sugarcrepe", "--root", "."], r"no annotations under \."),
        (["RUN", "--benchmark", "all", "--root", "."], "no benchmark is found there"),
        (["RUN"], "give the run and its data, or --benchmark NAME --root PATH"),
        (["RUN", "DATA", "--root", "."], "--root and --clip are for --benchmark NAME"),
        (["none", "--benchmark", "sugarcrepe", "--root", "."], "no such run.*none|none: no such run"),
        (["RUN", "--benchmark", "all", "--root", ".", "--resamples", "-1"], "--resamples -1: must not be negative"),
    ],
)
def test_a_mistake_is_one_line_that_says_the_mend(
    arguments: list[str],
    message: str,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["eval", *(str(run) if item == "RUN" else item for item in arguments)]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error), error
    assert error.splitlines()[-1].startswith("error: ")


def test_the_list_says_source_licence_and_what_is_found(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmarks", "--root", str(root)]) == 0
    text = capsys.readouterr().out
    assert "sugarcrepe: SugarCrepe (Hsieh et al., NeurIPS 2023)" in text
    assert "https://github.com/RAIVNLab/sugar-crepe (MIT)" in text
    assert "found sugarcrepe/data/swap_obj.json: 2 rows, 1 of 2 images" in text
    assert "not found" in text
    assert main(["benchmarks", "whatsup"]) == 0
    text = capsys.readouterr().out
    assert "controlled_clevr" in text
    assert "SugarCrepe" not in text
    assert "found" not in text


def test_the_list_shows_a_damaged_file_and_goes_on(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "sugarcrepe/data/add_att.json").write_text("{")
    assert main(["benchmarks", "sugarcrepe", "--root", str(root)]) == 0
    text = capsys.readouterr().out
    assert "damaged: " in text
    assert "2 rows, 1 of 2 images" in text
    assert main(["benchmarks", "--root", str(root / "gone")]) == 2
    assert "no such directory" in capsys.readouterr().err


def test_the_list_needs_no_torch() -> None:
    code = "import sys; from scorer.cli import main; main(['benchmarks']); sys.exit('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr


def test_real_images_of_coco(shared: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rows of files on COCO and What'sUp whose photographs are here, by the bundled test encoder."""
    (tmp_path / "root/coco/val2014").mkdir(parents=True)
    for name in ("sugarcrepe", "negbench", "valse"):
        (tmp_path / "root" / name).symlink_to(shared(f"benchmarks/{name}"))
    (tmp_path / "root/coco/val2017").symlink_to(shared("coco/images"))
    for image in shared("coco/images").glob("*.jpg"):  # val2017's photographs are of 2014, where most were val, too
        (tmp_path / f"root/coco/val2014/COCO_val2014_{image.name}").symlink_to(image)
    (tmp_path / "root/whatsup/data/controlled_images").mkdir(parents=True)
    for file in shared("benchmarks/whatsup").glob("*.json"):
        (tmp_path / "root/whatsup/data" / file.name).symlink_to(file)
    photograph = shared("benchmarks/whatsup/notebooks/apple_left_of_armchair.jpeg")
    (tmp_path / "root/whatsup/data/controlled_images" / photograph.name).symlink_to(photograph)
    arguments = ["eval", "--clip", "tiny", *options(tmp_path / "root", "sugarcrepe", "whatsup", "negbench", "valse")]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    found = {}
    for path in sorted((tmp_path / "out").glob("*.json")):
        for part in json.loads(path.read_text())["parts"]:
            found[f"{path.stem} {part['name']}"] = part["scored"]
            if part["found"]:
                assert part["unreadable_images"] == 0
    assert found["sugarcrepe add_obj"] == 70
    assert found["sugarcrepe swap_att"] == 18
    assert found["whatsup controlled_images"] == 1
    assert found["whatsup controlled_clevr"] == 0
    assert found["negbench coco_mcq"] == 139
    assert (found["negbench voc_mcq"], found["negbench coco_retrieval"]) == (0, 100)
    assert (found["valse plurals"], found["valse relations"], found["valse foil-it"]) == (12, 7, 4)
    assert "CLIP cosine (tiny)" in capsys.readouterr().out
