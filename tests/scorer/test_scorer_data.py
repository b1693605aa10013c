"""Pairs out of shards, good and bad, and the blocks and plans made of them."""

import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scorer_shapes import make_pair, write_shard

from scorer.bank import Bank, EmptyError, build_bank
from scorer.batches import epoch_plan, make_block, steps_of_epoch
from scorer.data import ImageReader, Tally, decode, read_pairs, shards_of, sources_of
from scorer.errors import ConfigError, DataError
from scorer.features import Clip
from scorer.functional import Marker, load_lexicon
from scorer.report import alike_text
from scorer.splits import evaluation_shards, held_out, held_out_split, training_shards


def silent(done: int, total: int, what: str) -> None:
    pass


def bank_of(shard: Path, clip: Clip, cache: Path) -> Bank:
    return build_bank([shard], clip, Marker(load_lexicon(), clip), cache, silent)


def test_rows_point_at_the_features_of_their_image_and_caption(clip: Clip, tmp_path: Path) -> None:
    pairs = [make_pair("spatial", i) for i in range(3)] + [make_pair("attribute", 0, second_image=False)]
    bank = bank_of(write_shard(tmp_path / "00000.tar", pairs), clip, tmp_path / "cache")
    assert bank.image_rows[3].tolist()[1] == -1
    record, _, second = pairs[1]
    tokens = clip.image_tokens(clip.preprocess(decode(second, ""))[None])
    torch.testing.assert_close(bank.images.gather(bank.image_rows[1, 1:]), tokens, atol=2e-3, rtol=0)
    ids, eos, _ = clip.tokenize([record.captions_1[1]])
    texts = bank.text_tokens(bank.text_rows[1, 1, 1:])
    torch.testing.assert_close(texts.tokens, clip.text_tokens(ids), atol=2e-3, rtol=0)
    assert texts.eos.tolist() == eos.tolist()


def test_features_are_computed_once(clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = write_shard(tmp_path / "00000.tar", [make_pair("spatial", i) for i in range(3)])
    first = bank_of(shard, clip, tmp_path / "cache")
    monkeypatch.setattr(Clip, "image_tokens", lambda *_: pytest.fail("the image tower ran again"))
    monkeypatch.setattr(Clip, "text_tokens", lambda *_: pytest.fail("the text tower ran again"))
    second = bank_of(shard, clip, tmp_path / "cache")
    rows = first.image_rows.flatten()
    assert torch.equal(first.images.gather(rows), second.images.gather(rows))


def test_a_shard_cut_short_is_named(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "00000.tar", [make_pair("spatial", i) for i in range(3)])
    shard.write_bytes(shard.read_bytes()[:6000])
    with pytest.raises(DataError, match=r"00000\.tar"):
        list(read_pairs(shard, Tally()))


def test_a_shard_that_is_not_the_one_written_makes_no_features(clip: Clip, tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "00000.tar", [make_pair("spatial", i) for i in range(3)])
    data = shard.read_bytes()
    shard.with_suffix(".json").write_text(json.dumps({"sha256": {shard.name: hashlib.sha256(data).hexdigest()}}))
    assert len(bank_of(shard, clip, tmp_path / "cache").pairs) == 3
    assert b'"below"' in data
    shard.write_bytes(data.replace(b'"below"', b'"belew"'))
    with pytest.raises(DataError, match=r"00000\.tar: not the file that was written .sha256 differs from 00000\.json"):
        bank_of(shard, clip, tmp_path / "other")
    shard.with_suffix(".json").write_text("[")
    with pytest.raises(DataError, match=r"00000\.json: not readable"):
        bank_of(shard, clip, tmp_path / "other")


def test_captions_that_are_cut_before_they_differ_are_one_and_counted(clip: Clip, tmp_path: Path) -> None:
    pairs = [make_pair("spatial", i) for i in range(3)]
    long = "a picture that shows on its grey ground, as pictures of this kind so often do, "
    for i in range(2):
        record = pairs[i][0]
        captions = {side: tuple(long + text for text in getattr(record, side)) for side in ("captions_0", "captions_1")}
        pairs[i] = (replace(record, **captions), *pairs[i][1:])  # type: ignore[arg-type]
    bank = bank_of(write_shard(tmp_path / "00000.tar", pairs), clip, tmp_path / "cache")
    assert (bank.cut_texts, bank.alike) == (8, Counter(spatial=2))
    assert len(set(bank.text_rows[:2].flatten().tolist())) == 1
    assert len(set(bank.text_rows[2].flatten().tolist())) == 4
    assert alike_text(bank.alike, {"spatial": 3}) == "a caption reads the same as its twin in 2 of 3 spatial pairs"


def test_an_empty_second_image_is_unreadable_not_absent(clip: Clip, tmp_path: Path) -> None:
    pairs = [make_pair("spatial", i) for i in range(30)]
    pairs[3] = (*pairs[3][:2], b"")
    bank = bank_of(write_shard(tmp_path / "00000.tar", pairs), clip, tmp_path / "cache")
    assert len(bank.pairs) == 29
    assert (bank.image_rows >= 0).all()


def broken(index: int) -> tuple:  # type: ignore[type-arg]
    record, first, second = make_pair("spatial", index)
    return record, first[:40], second


def test_one_unreadable_image_costs_one_pair_and_is_counted(clip: Clip, tmp_path: Path) -> None:
    pairs = [make_pair("spatial", i) for i in range(40)]
    pairs[7] = broken(7)
    bank = bank_of(write_shard(tmp_path / "00000.tar", pairs), clip, tmp_path / "cache")
    assert len(bank.pairs) == 39
    assert bank.tally.bad == Counter({"an image is not readable": 1})


def test_many_unreadable_images_stop(clip: Clip, tmp_path: Path) -> None:
    pairs = [make_pair("spatial", i) for i in range(4)] + [broken(9)]
    with pytest.raises(DataError, match="1 of 5 pairs cannot be used"):
        bank_of(write_shard(tmp_path / "00000.tar", pairs), clip, tmp_path / "cache")


def test_nothing_to_read(clip: Clip, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no complete shard"):
        shards_of((tmp_path,), None)
    with pytest.raises(ConfigError, match="at least one"):
        sources_of(())
    with pytest.raises(DataError, match="no such file"):
        shards_of((tmp_path / "nowhere",), None)
    shard = write_shard(tmp_path / "00000.tar", [])
    with pytest.raises(EmptyError):
        bank_of(shard, clip, tmp_path / "cache")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Runs with some of the splits, and one without split folders."""
    for name in ("full/train", "full/val", "full/test", "trained/train", "tested/val", "tested/test", "flat"):
        write_shard(tmp_path / name / "00000.tar", [])
    write_shard(tmp_path / "begun" / "test" / "00000.tar", [])
    (tmp_path / "begun" / "train").mkdir()
    return tmp_path


def below(root: Path, shards: list[Path]) -> list[str]:
    return [str(shard.parent.relative_to(root)) for shard in shards]


@pytest.mark.parametrize(
    ("given", "split", "found", "name"),
    [
        (["full"], "test", ["full/test"], "test"),
        (["full", "tested"], "val", ["full/val", "tested/val"], "val"),
        (["full"], "all", ["full/test", "full/train", "full/val"], "all"),
        (["flat"], "test", ["flat"], "all"),
        (["full/val"], "test", ["full/val"], "val"),
        (["full/train/00000.tar", "tested"], "test", ["full/train", "tested/test"], "test, train"),
        (["full", "full"], "test", ["full/test"], "test"),
    ],
)
def test_what_is_judged(runs: Path, given: list[str], split: str, found: list[str], name: str) -> None:
    shards, called = evaluation_shards(tuple(runs / path for path in given), split)
    assert (below(runs, shards), called) == (found, name)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["trained"], r"no complete shard of the split test in \S*/trained .has train.; try --split train or"),
        (["full", "trained"], r"split test in \S*/trained .has train.; try --split train or --split all"),
        (["trained", "flat", "full/test"], r"split test in \S*/trained .has train.; try --split train or"),
    ],
)
def test_a_split_that_is_not_there_is_not_replaced(runs: Path, given: list[str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        evaluation_shards(tuple(runs / path for path in given), "test")


@pytest.mark.parametrize(
    ("given", "train", "val"),
    [
        (["full"], ["full/train"], ["full/val"]),
        (["full", "trained"], ["full/train", "trained/train"], ["full/val"]),
        (["flat"], ["flat"], []),
        (["flat", "trained"], ["flat", "trained/train"], []),
        (["full/train"], ["full/train"], []),
        (["full/train", "full/val"], ["full/train"], ["full/val"]),
        (["full/test"], ["full/test"], []),
        (["full/val/00000.tar"], ["full/val"], []),
    ],
)
def test_what_trains_and_what_validates(runs: Path, given: list[str], train: list[str], val: list[str]) -> None:
    found = training_shards(tuple(runs / path for path in given))
    assert (below(runs, found[0]), below(runs, found[1])) == (train, val)


@pytest.mark.parametrize("given", [["begun"], ["tested"], ["full", "tested"], ["full/train", "full/test"]])
def test_what_is_for_testing_does_not_train(runs: Path, given: list[str]) -> None:
    with pytest.raises(DataError, match=rf"no complete train shard in \S*/{given[-1]} .has (val, )?test.; finish"):
        training_shards(tuple(runs / path for path in given))


@pytest.mark.parametrize(
    ("given", "split"),
    [
        (["full"], "test"),
        (["full", "tested"], "test"),
        (["trained"], ""),
        (["full/train", "full/val"], ""),
        (["flat"], ""),
    ],
)
def test_what_a_run_is_judged_on_next(runs: Path, given: list[str], split: str) -> None:
    assert held_out_split(tuple(runs / path for path in given)) == split


def test_a_split_folder_may_be_where_one_stands(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runs / "full" / "val")
    assert evaluation_shards((Path(),), "test") == ([Path("00000.tar")], "val")
    monkeypatch.chdir(runs / "full" / "train")
    assert training_shards((Path(), Path("../val"))) == ([Path("00000.tar")], [Path("../val/00000.tar")])


def test_a_run_may_be_called_like_a_split(tmp_path: Path) -> None:
    write_shard(tmp_path / "test" / "train" / "00000.tar", [])
    with pytest.raises(DataError, match="no complete shard of the split test"):
        evaluation_shards((tmp_path / "test",), "test")


def test_images_can_be_read_at_random(tmp_path: Path) -> None:
    pairs = [make_pair("spatial", i) for i in range(3)]
    shard, reader = write_shard(tmp_path / "00000.tar", pairs), ImageReader()
    for record, first, second in reversed(pairs):
        assert reader.read(shard, record.key, 1) == second
        assert reader.read(shard, record.key, 0) == first


def test_a_block_holds_who_belongs_to_whom(clip: Clip, tmp_path: Path) -> None:
    pairs = [make_pair("attribute", 0), make_pair("attribute", 1, second_image=False), make_pair("attribute", 2)]
    bank = bank_of(write_shard(tmp_path / "00000.tar", pairs), clip, tmp_path / "cache")
    block = make_block(bank, [2, 1, 0])
    assert block.own_text.tolist() == [0, 1, 2, 4, 5]
    assert block.twin_text.tolist() == [1, 0, 3, 5, 4]
    assert block.own_image.tolist() == [0, 1, 2, -1, 3, 4]
    assert block.image_rows.tolist() == [
        *bank.image_rows[2].tolist(),
        int(bank.image_rows[1, 0]),
        *bank.image_rows[0].tolist(),
    ]
    assert bank.captions[int(block.text_rows[1, 3])] == pairs[1][0].captions_1[1]
    shuffled = make_block(bank, [2, 1, 0], [True, False, False])
    assert shuffled.own_text.tolist() == [1, 0, 2, 4, 5]
    assert shuffled.own_image.tolist() == [1, 0, 2, -1, 3, 4]


@settings(max_examples=60, deadline=None)
@given(
    small=st.integers(1, 20),
    large=st.integers(1, 50),
    batch=st.integers(1, 9),
    length=st.sampled_from(["smallest", "largest"]),
    epoch=st.integers(0, 3),
)
def test_a_plan_uses_every_family_evenly(small: int, large: int, batch: int, length: str, epoch: int) -> None:
    families = {"a": list(range(small)), "b": list(range(100, 100 + large))}
    plan = epoch_plan(families, batch, length, seed=0, epoch=epoch)
    size = (min if length == "smallest" else max)(small, large)
    assert len(plan) == steps_of_epoch(families, batch, length) == -(-size // batch)
    for name, members in families.items():
        seen = Counter(number for step in plan for number in step[name])
        assert all(step[name] and len(step[name]) <= batch for step in plan)
        assert set(seen) <= set(members)
        assert max(seen.values()) - min(seen.get(number, 0) for number in members) <= 1
    assert plan == epoch_plan(families, batch, length, seed=0, epoch=epoch)


def test_epochs_and_seeds_order_differently() -> None:
    families = {"a": list(range(50))}
    first = epoch_plan(families, 8, "smallest", 0, 0)
    assert first != epoch_plan(families, 8, "smallest", 0, 1)
    assert first != epoch_plan(families, 8, "smallest", 1, 0)


def test_the_held_out_share_is_about_what_was_asked() -> None:
    held = sum(held_out(f"spatial-{i:09d}", 0, 0.05) for i in range(4000))
    assert 140 < held < 260
    assert not held_out("x", 0, 0.0)
