"""Objaverse over a loopback server that fails in the ways that networks fail."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.assets import fetch, objaverse
from generator.assets.fetch import FetchError, Repository
from generator.assets.objaverse import Selection, local_sources
from generator.errors import AssetError, ConfigError
from tests.glb import mesh
from tests.objaverse_server import Item, Site, layout, serve

CUBE = mesh().data()


def quiet(_done: int, _total: int) -> None:
    pass


def items() -> list[Item]:
    return [
        *(Item(f"mug{i}", "mug", CUBE, shard=f"000-00{i}") for i in range(4)),
        Item("mugnc", "mug", CUBE, licence="by-nc", shard="000-000"),
        Item("phone0", "cellular_telephone", CUBE, licence="cc0", author="Grace"),
        Item("crab0", "crab_(animal)", CUBE),
        Item("pet0", "pet", CUBE),
    ]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with serve(layout(items())) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield running


def repository(root: Path) -> Repository:
    return Repository(root, wait=lambda _seconds: None)


def run(root: Path, **choice: object) -> objaverse.Fetched:
    return objaverse.fetch(repository(root), Selection(**choice), workers=4, report=quiet)  # type: ignore[arg-type]


@pytest.mark.usefixtures("site")
def test_fetch_and_read_back(tmp_path: Path) -> None:
    outcome = run(tmp_path, categories=("mug", "phone"), per_category=2)
    assert (outcome.total, outcome.new, outcome.failures, outcome.short) == (3, 3, (), ("cellular_telephone",))
    sources, rejects = local_sources(tmp_path, Selection())
    assert rejects == []
    assert [source.noun for source in sources].count("mug") == 2
    phone = next(source for source in sources if source.noun == "phone")
    assert (phone.author, phone.licence, phone.title) == ("Grace", "CC0-1.0", "A thing")
    assert phone.url == "https://sketchfab.com/3d-models/phone0"
    assert phone.path.read_bytes() == CUBE


@pytest.mark.usefixtures("site")
def test_the_objaverse_package_reads_what_was_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import objaverse as package

    run(tmp_path, categories=("mug",), per_category=1)
    uid = local_sources(tmp_path, Selection())[0][0].uid
    monkeypatch.setattr(package, "_VERSIONED_PATH", str(tmp_path))
    assert uid in package.load_lvis_annotations()["mug"]
    assert package.load_annotations([uid])[uid]["license"] == "by"
    assert package.load_objects([uid]) == {uid: str(tmp_path / f"glbs/000-00{uid[-1]}/{uid}.glb")}


def test_more_per_category_keeps_the_ones_before(site: Site, tmp_path: Path) -> None:
    run(tmp_path, categories=("mug",), per_category=1)
    before = {source.uid for source in local_sources(tmp_path, Selection())[0]}
    outcome = run(tmp_path, categories=("mug",), per_category=3)
    after = {source.uid for source in local_sources(tmp_path, Selection())[0]}
    assert before < after
    assert (outcome.total, outcome.new) == (3, 2)
    assert all(site.gets(f"glbs/000-00{uid[-1]}/{uid}.glb") == 1 for uid in after)


@pytest.mark.usefixtures("site")
def test_licences_are_kept_to(tmp_path: Path) -> None:
    run(tmp_path, categories=("mug",), per_category=9)
    assert not (tmp_path / "glbs/000-000/mugnc.glb").exists()
    run(tmp_path, categories=("mug",), per_category=9, licences=("by-nc",))
    assert (tmp_path / "glbs/000-000/mugnc.glb").is_file()
    assert "mugnc" not in {source.uid for source in local_sources(tmp_path, Selection())[0]}
    assert [s.uid for s in local_sources(tmp_path, Selection(licences=("by-nc",)))[0]] == ["mugnc"]


@pytest.mark.parametrize("faults", [[429, 429], [500], [503, 500, 429], ["cut"], ["cut", 500], ["html"], ["short"]])
def test_what_passes_is_mended(site: Site, tmp_path: Path, faults: list[int | str]) -> None:
    site.faults["glbs/000-000/crab0.glb"] = list(faults)
    outcome = run(tmp_path, categories=("crab",), per_category=1)
    assert outcome.failures == ()
    assert (tmp_path / "glbs/000-000/crab0.glb").read_bytes() == CUBE


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([404] * 9, "404"),
        ([500] * 40, "500"),
        (["html"] * 9, "Consistency check"),
        (["short"] * 9, "Consistency check"),
    ],
)
def test_what_does_not_pass_is_recorded_and_the_rest_goes_on(
    site: Site, tmp_path: Path, faults: list[int | str], said: str
) -> None:
    site.faults["glbs/000-000/crab0.glb"] = list(faults)
    outcome = run(tmp_path, categories=("crab", "mug"), per_category=1)
    assert [failure.name for failure in outcome.failures] == ["glbs/000-000/crab0.glb"]
    assert said in outcome.failures[0].detail
    assert outcome.total == 1
    assert not (tmp_path / "glbs/000-000/crab0.glb").exists()
    assert {source.noun for source in local_sources(tmp_path, Selection())[0]} == {"mug"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!DOCTYPE html><html>Sign in</html>", "a web page"),
        (CUBE[:200], "200 bytes, not as many as its header says"),
        (b"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer"),
    ],
)
def test_a_file_that_is_wrong_on_the_server(site: Site, tmp_path: Path, content: bytes, said: str) -> None:
    site.files["glbs/000-000/crab0.glb"] = content
    outcome = run(tmp_path, categories=("crab",), per_category=1)
    assert said in outcome.failures[0].detail
    assert not (tmp_path / "glbs/000-000/crab0.glb").exists()


def test_a_cut_transfer_is_resumed(site: Site, tmp_path: Path) -> None:
    site.files["glbs/000-000/crab0.glb"] = big = mesh(positions=_scattered(30_000), indices=None).data()
    site.faults["glbs/000-000/crab0.glb"] = ["cut"]
    repository(tmp_path).get("glbs/000-000/crab0.glb")
    assert (tmp_path / "glbs/000-000/crab0.glb").read_bytes() == big
    assert site.gets("glbs/000-000/crab0.glb") == 2


def test_truncated_annotations_are_fetched_again(site: Site, tmp_path: Path) -> None:
    (tmp_path / objaverse.LVIS).write_bytes(site.files[objaverse.LVIS][:-9])
    assert run(tmp_path, categories=("crab",), per_category=1).total == 1
    assert (tmp_path / objaverse.LVIS).read_bytes() == site.files[objaverse.LVIS]


@pytest.mark.usefixtures("site")
def test_a_truncated_object_is_fetched_again(tmp_path: Path) -> None:
    run(tmp_path, categories=("crab",), per_category=1)
    path = tmp_path / "glbs/000-000/crab0.glb"
    path.write_bytes(CUBE[:100])
    assert run(tmp_path, categories=("crab",), per_category=1).failures == ()
    assert path.read_bytes() == CUBE


def test_offline_with_a_filled_directory(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, categories=("mug",), per_category=2)
    asked = len(site.requests)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    sources, _ = objaverse.read_objaverse(tmp_path, Selection(), quiet)
    assert len(sources) == 2
    assert run(tmp_path, categories=("mug",), per_category=2).total == 2
    assert len(site.requests) == asked


def test_offline_with_an_empty_directory_is_one_line(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(AssetError, match="HF_HUB_OFFLINE is set; run `python -m generator assets fetch`") as caught:
        objaverse.read_objaverse(tmp_path, Selection(), quiet)
    assert "\n" not in str(caught.value)
    with pytest.raises(AssetError, match=r"cannot get Objaverse's lvis-annotations\.json\.gz"):
        run(tmp_path, categories=("mug",))
    assert site.requests == []


@pytest.mark.usefixtures("site")
def test_nothing_fetched_yet_fetches_the_everyday_ones(tmp_path: Path) -> None:
    sources, _ = objaverse.read_objaverse(tmp_path, Selection(), quiet)
    assert {source.noun for source in sources} == {"mug", "crab"}


def test_objects_put_there_by_other_tools(site: Site, tmp_path: Path) -> None:
    for item in items():
        path = tmp_path / item.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(item.content)
    del site.files["metadata/000-002.json.gz"]
    sources, rejects = local_sources(tmp_path, Selection())
    assert {source.uid for source in sources} == {"mug0", "mug1", "mug3", "phone0", "crab0"}
    assert [(reject.uid, reject.reason) for reject in rejects] == [("mug2", "no_credits")]


@pytest.mark.usefixtures("site")
def test_unknown_category_names_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--categories: Objaverse has no category 'mugg'; did you mean 'mug'"):
        run(tmp_path, categories=("mugg",))


def test_unknown_licence() -> None:
    with pytest.raises(ConfigError, match="--licences: unknown licence 'gpl'; known: cc0, by,"):
        Selection(licences=("gpl",))


def test_damaged_credits_say_the_mend(tmp_path: Path) -> None:
    (tmp_path / objaverse.CREDITS).write_text('{"a": {"category": 1')
    with pytest.raises(AssetError, match="is damaged; delete it"):
        objaverse.read_credits(tmp_path)


@pytest.mark.slow  # huggingface_hub asks again for 20 s before it gives up.
def test_no_server_is_a_final_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "ATTEMPTS", 2)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(FetchError) as caught:
        repository(tmp_path).get(objaverse.LVIS)
    assert caught.value.final


@pytest.mark.parametrize(
    ("category", "noun"),
    [
        ("bottle_cap", "bottle cap"),
        ("cellular_telephone", "phone"),
        ("crab_(animal)", "crab"),
        ("Ferris_wheel", "ferris wheel"),
        ("monitor_(computer_equipment) computer_monitor", "computer monitor"),
    ],
)
def test_plain_words(category: str, noun: str) -> None:
    assert objaverse.load_words().noun(category) == noun


def test_word_table_is_consistent() -> None:
    words = objaverse.load_words()
    assert not set(words.everyday) & words.left_out
    assert len(set(words.everyday)) == len(words.everyday)
    assert all(noun == noun.strip() and "_" not in noun and "(" not in noun for noun in words.words.values())


@pytest.mark.usefixtures("site")
def test_credits_hold_every_field(tmp_path: Path) -> None:
    run(tmp_path, categories=("crab",), per_category=1)
    entry = json.loads((tmp_path / objaverse.CREDITS).read_text())["crab0"]
    assert set(entry) == {"category", "path", "title", "author", "licence", "url"}
    assert all(entry.values())


def _scattered(count: int):  # type: ignore[no-untyped-def]
    import numpy as np

    return np.random.default_rng(1).normal(size=(count, 3)).astype(np.float32)
