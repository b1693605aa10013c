"""The gallery and the contact sheet: what is chosen, what is marked, and the page as a browser shows it."""

import base64
import dataclasses
import html
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from preview_run import SIZE_PX, finished_run, pictures, record_of

from generator.cli import Preview
from generator.errors import ConfigError, DataError, OutputError
from generator.preview import contact_sheet, run_preview, write_preview
from generator.preview.choice import MAX_SHARDS, choose_rejected, choose_samples, evenly, read_run, share_out
from generator.preview.wording import fact_words, mark_captions
from generator.shards import ShardStage, encode_image

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian: apt-get install chromium)")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = finished_run(tmp_path_factory.mktemp("preview") / "run")
    write_preview(folder)
    return folder


def marked(runs: list[tuple[str, bool]]) -> list[str]:
    return [text for text, differs in runs if differs]


# --- wording ---------------------------------------------------------------------------------------------------------


def test_relations_are_marked() -> None:
    first, second = mark_captions(
        ("a mug to the left of an owl", "an owl to the right of a mug"),
        ("a mug to the right of an owl", "an owl to the left of a mug"),
        fact_words("relation", "left of", "right of"),
    )
    assert [marked(runs) for runs in first + second] == [["left"], ["right"], ["right"], ["left"]]


def test_values_are_marked_and_not_the_nouns() -> None:
    record = record_of(0)
    words = fact_words("colour", record.fact.value_0, record.fact.value_1)
    assert words == {"red", "green"}
    first, second = mark_captions(record.captions_0, record.captions_1, words)
    assert [marked(runs) for runs in first] == [["red", "green"], ["green", "red"]]
    assert all(set(marked(runs)) == {"red", "green"} for runs in second)


def test_articles_are_never_marked() -> None:
    first, second = mark_captions(
        ("an orange bottle and a blue owl",), ("a blue bottle and an orange owl",), {"orange", "blue"}
    )
    assert [marked(runs) for runs in first + second] == [["orange", "blue"], ["blue", "orange"]]


def test_neighbouring_words_are_one_mark() -> None:
    first, _ = mark_captions(("a fire truck but no owl",), ("a big bell but no owl",), ())
    assert marked(first[0]) == ["fire truck"]


def test_no_caption_to_compare_with() -> None:
    assert mark_captions(("a mug",), (), ()) == ([[("a mug", False)]], [])


texts = st.text(st.characters(codec="utf-8"), max_size=40)


@given(st.lists(texts, min_size=1, max_size=2), st.lists(texts, max_size=2), texts)
def test_marking_keeps_the_text(captions: list[str], others: list[str], fact: str) -> None:
    first, second = mark_captions(captions, others, [fact])
    assert ["".join(text for text, _ in runs) for runs in first] == captions
    assert ["".join(text for text, _ in runs) for runs in second] == others


def test_absent_and_present_nouns_are_marked() -> None:
    words = fact_words("presence", "stool, eggplant", "teddy bear, elephant")
    first, second = mark_captions(
        ("a stool and no teddy bear", "an eggplant and no elephant"),
        ("a teddy bear and no stool", "an elephant and no eggplant"),
        words,
    )
    assert [marked(runs) for runs in first] == [["stool", "teddy bear"], ["eggplant", "elephant"]]
    assert [marked(runs) for runs in second] == [["teddy bear", "stool"], ["elephant", "eggplant"]]


def test_a_shared_noun_is_not_marked() -> None:
    words = fact_words("presence", "mug, owl", "mug, tent")
    first, second = mark_captions(
        ("a mug but not a tent", "a mug and an owl"), ("a mug but not an owl", "a mug and a tent"), words
    )
    ends = [marked(runs)[-1].split()[-1] for runs in first + second]
    assert ends == ["tent", "owl", "owl", "tent"]
    assert not any("mug" in part for runs in first + second for part in marked(runs))


@given(texts)
def test_equal_captions_have_no_marks(caption: str) -> None:
    first, _ = mark_captions([caption], [caption], [])
    assert marked(first[0]) == []


# --- choice ----------------------------------------------------------------------------------------------------------


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 50), max_size=6), st.integers(0, 100))
def test_shares_are_fair(sizes: dict[str, int], limit: int) -> None:
    shares = share_out(sizes, limit)
    assert sum(shares.values()) == min(limit, sum(sizes.values()))
    for name, share in shares.items():
        assert share <= sizes[name]
        if share < sizes[name]:
            assert all(other <= share + 1 for other in shares.values())


@given(st.lists(st.integers(), unique=True), st.integers(1, 30))
def test_evenly_keeps_order_and_repeats_nothing(items: list[int], count: int) -> None:
    chosen = evenly(items, count)
    assert len(chosen) == min(count, len(items))
    assert chosen == [item for item in items if item in set(chosen)]


def test_all_splits_are_seen(run_folder: Path) -> None:
    samples = choose_samples(read_run(run_folder), 9)
    splits = [sample.record.split for sample in samples]
    assert splits == ["train"] * 3 + ["val"] * 3 + ["test"] * 3


def test_reasons_are_all_seen(run_folder: Path) -> None:
    rows = choose_rejected(read_run(run_folder), 2)
    assert [row.reason for row in rows] == ["occluded", "too_small"]
    assert len(choose_rejected(read_run(run_folder), 99)) == 4


def test_a_large_run_is_read_through_few_shards(tmp_path: Path) -> None:
    finished_run(tmp_path / "run", pairs=1, rejected=0)
    for number in range(2, 4 * MAX_SHARDS):
        stage = ShardStage(tmp_path / "run", "train", number)
        for index in range(10 * number, 10 * number + 2):
            image = encode_image(pictures(("red", "blue"))[0], "jpg")
            stage.accept(record_of(index), {"image_0.jpg": image, "image_1.jpg": image})
        stage.seal({})
    samples = choose_samples(read_run(tmp_path / "run"), 1000)
    assert len({sample.record.index // 10 for sample in samples}) == MAX_SHARDS
    assert samples[-1].record.index > 30 * MAX_SHARDS, "spread over the run, not its beginning"


def test_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a run directory"):
        write_preview(tmp_path)


@pytest.mark.parametrize("limit", [0, -3])
def test_limit_below_one(limit: int, run_folder: Path) -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        write_preview(run_folder, limit)


# --- the file --------------------------------------------------------------------------------------------------------


def data_of(page: Path) -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    text = page.read_text(encoding="utf-8")
    head = re.search(r'<script type="application/json" id="head">(.*?)</script>', text)
    assert head is not None
    chunks = re.findall(r'<script type="application/json" id="chunk-\d+">(.*?)</script>', text)
    return json.loads(head[1]), [json.loads(chunk) for chunk in chunks]


def test_every_shown_pair_has_its_pictures(run_folder: Path) -> None:
    head, chunks = data_of(run_folder / "index.html")
    accepted = [pair for pair in head["pairs"] if pair["status"] == "accepted"]
    assert head["summary"] == {
        "planned": 40, "accepted": 36, "rejected": 4, "shown": 36, "staged": 0, "shards": 4
    }  # fmt: skip
    assert len(accepted) == 36
    assert sum(len(chunk) for chunk in chunks) == 36
    assert all(len(chunk) == head["chunk"] for chunk in chunks[:-1])
    assert head["pairs"][: len(accepted)] == accepted, "pictures belong to pairs by their place"


def test_nothing_comes_from_elsewhere(run_folder: Path) -> None:
    text = (run_folder / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text
    assert not re.search(r"<(?:link|script|img)[^>]+(?:src|href)=", text)


def test_masks_become_translucent_colours(run_folder: Path) -> None:
    _, chunks = data_of(run_folder / "index.html")
    url = chunks[0][0]["masks"][0]
    overlay = np.asarray(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))).convert("RGBA"))
    expected = pictures(("red", "green"))[1]
    assert overlay.shape == (SIZE_PX, SIZE_PX, 4)
    assert ((overlay[..., 3] > 0) == (expected > 0)).all()
    assert len({tuple(colour) for colour in overlay[expected > 0]}) == 2


def test_large_images_become_thumbnails(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", pairs=1, rejected=0)
    stage = ShardStage(run, "train", 7)
    big = encode_image(np.full((1000, 2000, 3), 90, np.uint8), "png")
    stage.accept(record_of(10), {"image_0.png": big, "image_1.png": big})
    stage.seal({})
    _, chunks = data_of(write_preview(run))
    data = base64.b64decode(chunks[0][1]["images"][0].split(",")[1])
    assert max(Image.open(io.BytesIO(data)).size) <= 256


def test_an_unfinished_run_says_so(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", pairs=1, rejected=0)
    image = encode_image(pictures(("red", "blue"))[0], "jpg")
    ShardStage(run, "train", 7).accept(record_of(10), {"image_0.jpg": image, "image_1.jpg": image})
    head, _ = data_of(write_preview(run))
    assert head["summary"]["staged"] == 1
    assert head["summary"]["shards"] == 1


def test_run_preview_says_where(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "deep" / "sheet.png"
    assert run_preview(Preview(run_folder, contact_sheet=sheet)) == 0
    assert capsys.readouterr().out.splitlines() == [str(run_folder / "index.html"), str(sheet)]


# --- the contact sheet -----------------------------------------------------------------------------------------------


def test_contact_sheet_shows_the_images(run_folder: Path, tmp_path: Path) -> None:
    sheet = np.asarray(Image.open(contact_sheet(run_folder, tmp_path / "sheet.png", 4)).convert("RGB")).astype(int)
    first = choose_samples(read_run(run_folder), 4)[0]
    image = Image.open(io.BytesIO(first.image(0) or b"")).convert("RGB").resize((224, 224), Image.Resampling.LANCZOS)
    assert np.abs(sheet[20:244, 20:244] - np.asarray(image).astype(int)).max() <= 1
    assert sheet.shape[1] == 3 * (2 * 224 + 6 + 20) + 20
    below = sheet[250:330, 20:244]
    assert (below.min(axis=2) < 100).any(), "captions are written below"
    assert ((below[..., 0] - below[..., 1]) > 80).any(), "what differs is coloured"


def test_contact_sheet_without_second_image(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", pairs=2, rejected=0, second_image=False)
    assert Image.open(contact_sheet(run, tmp_path / "sheet.png", 1)).width == 2 * 224 + 6 + 40


def test_contact_sheet_errors(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        contact_sheet(run_folder, tmp_path / "sheet.png", 0)
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write"):
        contact_sheet(run_folder, tmp_path / "file" / "sheet.png", 1)
    empty = finished_run(tmp_path / "run", pairs=2, rejected=2)
    with pytest.raises(DataError, match="no accepted pair"):
        contact_sheet(empty, tmp_path / "sheet.png", 1)


# --- in a browser ----------------------------------------------------------------------------------------------------


def browse(page: Path, tmp_path: Path, script: str = "", fragment: str = "", width: int = 1200) -> Any:
    """Open a copy of the page, run `script` in it, and return what it passed to `report`."""
    assert CHROMIUM is not None
    extra = """<script>
      const report = (value) => { const pre = document.createElement("pre"); pre.id = "report";
        pre.textContent = JSON.stringify(value); document.body.append(pre); };
      const all = (selector) => [...document.querySelectorAll(selector)];
      window.errors = []; addEventListener("error", (event) => errors.push(String(event.message)));
      addEventListener("load", async () => { %s });
    </script>"""
    copy = tmp_path / "page.html"
    text = page.read_text(encoding="utf-8").replace("<main>", extra % script + "<main>")
    copy.write_text(text, encoding="utf-8")
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},1000"]
    command += ["--virtual-time-budget=20000", "--dump-dom"]
    # On a busy machine the virtual clock can run out before the page has loaded: then it says nothing, not wrong.
    for number in range(4):
        profile = f"--user-data-dir={tmp_path / f'profile-{number}'}"
        done = subprocess.run(
            [*command, profile, f"{copy.as_uri()}{fragment}"], capture_output=True, text=True, timeout=120, check=True
        )
        answer = re.search(r'<pre id="report">(.*?)</pre>', done.stdout, re.DOTALL)
        if answer is not None:
            break
    assert answer is not None, done.stdout[-2000:]
    return json.loads(html.unescape(answer[1]))


@needs_browser
def test_page_shows_pairs_filters_and_marks(run_folder: Path, tmp_path: Path) -> None:
    answer = browse(
        run_folder / "index.html",
        tmp_path,
        """
        const seen = { pairs: all(".pair").length, found: document.getElementById("found").textContent };
        await Promise.all(all(".view img:not(.mask)").map((image) => image.decode()));
        seen.drawn = all(".view img:not(.mask)").every((image) => image.naturalWidth === 96);
        seen.marks = all(".pair:first-child mark").map((mark) => mark.textContent);
        seen.alts = all(".view img:not(.mask)").every((image) => image.alt.length > 10);
        seen.labels = all("select, input").every((control) => control.labels.length === 1);
        const pick = (id, value) => { const control = document.getElementById(id); control.value = value;
          control.dispatchEvent(new Event("change")); };
        pick("filter-noun", "owl");
        seen.owls = all(".pair .side:first-child ul").every((list) => list.textContent.includes("owl"));
        pick("filter-status", "too_small");
        seen.rejected = all(".pair").length;
        seen.hash = location.hash;
        all("#filters button").find((button) => button.textContent === "Clear").click();
        seen.cleared = all(".pair").length;
        all("#pages button").find((button) => button.textContent === "Next").click();
        seen.current = document.querySelector("[aria-current=page]").textContent;
        seen.focus = document.activeElement.id;
        seen.errors = errors;
        report(seen);
        """,
    )
    assert answer["pairs"] == answer["cleared"] == 12
    assert answer["found"].startswith("40 of 40 pairs")
    assert answer["drawn"]
    assert answer["alts"]
    assert answer["labels"]
    assert set(answer["marks"]) == {"red", "green"}
    assert answer["owls"]
    assert answer["hash"] == "#status=too_small&noun=owl"
    assert answer["rejected"] <= 2
    assert answer["current"] == "2"
    assert answer["focus"] == "gallery"
    assert answer["errors"] == []


@needs_browser
def test_boxes_show_on_focus_and_on_demand(run_folder: Path, tmp_path: Path) -> None:
    answer = browse(
        run_folder / "index.html",
        tmp_path,
        """
        const style = document.createElement("style"); style.textContent = "* { transition: none !important }";
        document.head.append(style);
        const view = document.querySelector(".view");
        const shown = () => [getComputedStyle(view.querySelector("svg")).opacity,
          getComputedStyle(view.querySelector(".mask")).opacity];
        const seen = { before: shown() };
        view.click();
        seen.pressed = [view.getAttribute("aria-pressed"), ...shown()];
        view.click();
        seen.released = shown();
        const [x, y, width, height] = ["x", "y", "width", "height"].map((name) =>
          Number(view.querySelector("rect").getAttribute(name)));
        seen.box = [x, y, x + width, y + height];
        const picture = view.getBoundingClientRect(), box = view.querySelector("rect").getBoundingClientRect();
        seen.left = (box.left - picture.left) / picture.width;
        report(seen);
        """,
    )
    assert answer["before"] == answer["released"] == ["0", "0"]
    assert answer["pressed"] == ["true", "1", "1"]
    assert answer["box"] == [12, 40, 42, 70]
    assert answer["left"] == pytest.approx(12 / SIZE_PX, abs=0.02)


@needs_browser
@pytest.mark.parametrize("width", [500, 800, 1600])
def test_nothing_is_wider_than_the_window(width: int, run_folder: Path, tmp_path: Path) -> None:
    script = "report([document.documentElement.scrollWidth, innerWidth])"
    needed, available = browse(run_folder / "index.html", tmp_path, script, width=width)
    assert needed <= available


@needs_browser
def test_a_link_keeps_the_view(run_folder: Path, tmp_path: Path) -> None:
    script = 'report([document.getElementById("found").textContent, document.getElementById("filter-split").value])'
    found, split = browse(run_folder / "index.html", tmp_path, script, fragment="#split=val&find=tent%20red")
    assert split == "val"
    assert re.match(r"\d of 40 pairs", found)


@needs_browser
def test_captions_cannot_break_out(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", pairs=1, rejected=0)
    evil = "</script><img src=x onerror=\"document.title='broken'\"> {{DATA}} <!-- <b>bold</b>"
    record = dataclasses.replace(record_of(10), captions_0=(evil, evil))
    image = encode_image(pictures(("red", "blue"))[0], "jpg")
    stage = ShardStage(run, "train", 7)
    stage.accept(record, {"image_0.jpg": image, "image_1.jpg": image})
    stage.seal({})
    script = 'report([all(".pair").length, document.title, all(".pair:last-child li")[0].textContent, all("b").length])'
    count, title, caption, bold = browse(write_preview(run), tmp_path, script)
    assert count == 2
    assert title == "run · twin scenes"
    assert caption == evil
    assert bold == 0


@needs_browser
def test_an_empty_run_is_a_page_too(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    (text,) = browse(write_preview(run), tmp_path, 'report(all(".empty").map((node) => node.textContent).slice(-1))')
    assert text.startswith("No finished pair yet")
