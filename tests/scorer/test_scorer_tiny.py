"""The recipe of the bundled tiny CLIP, on made-up sprites and a few steps; and the bundled model itself."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import load_file

from scorer.dcsm import cosine_maps
from scorer.features import TINY, cut_merges, load_clip
from scorer.functional import load_lexicon
from scorer.tiny import scenes
from scorer.tiny.scenes import Grammar, Mix, Painter
from scorer.tiny.sprites import SPRITE_PX, bundled_nouns, colour_values, looks, sprite_path
from scorer.tiny.train import SIZE_PX, STAGES, WEIGHTS_FILE, contrastive, maybe_true, token_wise, train, write_folder

NOUNS = ("mug", "apple", "dog", "cheese")
needs_model = pytest.mark.skipif(
    not (TINY / WEIGHTS_FILE).exists(), reason="the tiny CLIP is not built: python -m scorer.tiny"
)


@pytest.fixture
def painter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Painter:
    """Sprites that are discs in the colour words' own colours, on plain stages."""
    monkeypatch.setattr(scenes, "bundled_nouns", lambda: dict.fromkeys(NOUNS, Path()))
    grid = np.mgrid[:SPRITE_PX, :SPRITE_PX] - SPRITE_PX / 2
    disc = ((grid**2).sum(axis=0) < (SPRITE_PX / 2) ** 2) * 255
    colours = [(90, 90, 90), *colour_values().values()]
    for number, noun in enumerate(NOUNS):
        known = looks()[:1] if number == 3 else looks()
        sprites = np.stack([np.dstack([np.full((*disc.shape, 3), rgb), disc]) for rgb in colours[: len(known)]])
        np.savez(sprite_path(tmp_path, noun), sprites=sprites[None].astype(np.uint8), looks=np.array(known))
    np.savez(tmp_path / "stages.npz", stages=np.full((2, 96, 96, 3), 140, np.uint8))
    return Painter(tmp_path, SIZE_PX)


def test_the_cut_tokenizer_encodes_our_words_as_the_full_one(painter: Painter, tmp_path: Path) -> None:
    words = [*painter.vocabulary(), *(word for row in load_lexicon().rows for word in row.words)]
    (tmp_path / "m.txt.gz").write_bytes(gzip.compress(cut_merges(words, 500).encode()))
    cut, full = open_clip.SimpleTokenizer(str(tmp_path / "m.txt.gz")), open_clip.SimpleTokenizer()
    for word in [*words, "A picture of an apple, not a dog."]:
        assert [cut.decoder[i] for i in cut.encode(word)] == [full.decoder[i] for i in full.encode(word)], word
    assert len(cut.encoder) < 2000


def test_a_batch_shows_what_its_bags_say(painter: Painter) -> None:
    mix = Mix(96, 0.5, 1.0, 1.0, (24, 40), 0.0)
    pictures, captions, shown, said = painter.batch(np.random.default_rng(0), mix, 64)
    assert pictures.shape == (64, 96, 96, 3)
    for i, caption in enumerate(captions):
        for noun, look in said[i]:
            if noun >= 0:
                assert painter.nouns[noun] in caption
                assert look <= 0 or painter.colours[look - 1] in caption
        assert {n for n, _ in said[i]} == {n for n, _ in shown[i]}
    again = painter.batch(np.random.default_rng(0), mix, 64)
    np.testing.assert_array_equal(pictures, again[0])
    assert captions == again[1]


def test_grammar() -> None:
    grammar = Grammar()
    assert grammar.phrase("apple", "apple") == "an apple"
    assert grammar.phrase("red apple", "apple") == "a red apple"
    assert grammar.phrase("cheese", "cheese") == "cheese"
    assert grammar.phrase("umbrella", "umbrella") == "an umbrella"


def bag(*things: tuple[int, int]) -> list[tuple[int, int]]:
    return [*things, (-1, -1)][:2]


def test_pairs_true_as_bags_of_words_are_left_out() -> None:
    shown = torch.tensor([bag((1, 3), (2, 4)), bag((1, 4), (2, 3)), bag((1, 3)), bag((5, 0))])
    said = torch.tensor([bag((1, 3), (2, 4)), bag((1, 4), (2, 3)), bag((1, -1)), bag((5, -1))])
    found = maybe_true(shown, said).int().tolist()
    # Binding is not for this encoder to learn: swapped colours count as the same bag.
    assert found == [[0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_token_wise_takes_the_best_patch_and_words_alone() -> None:
    patches = torch.eye(3)[None, [0, 1]].float()
    tokens = torch.stack([torch.eye(3)[[2, 0, 1, 2]]])
    words = torch.tensor([[False, True, True, False]])
    assert token_wise(patches, tokens, words).tolist() == [[1.0]]
    assert float(token_wise(patches, tokens, ~words)) == 0.0


def test_excluded_pairs_cost_nothing() -> None:
    logits = torch.tensor([[1.0, 50.0], [0.0, 1.0]])
    excluded = torch.tensor([[False, True], [False, False]])
    assert float(contrastive(logits, excluded)) < 1.0 < float(contrastive(logits, torch.zeros_like(excluded)))


def test_a_few_steps_resume_to_the_same_weights_and_load(
    painter: Painter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scorer.tiny.train.SAVE_EVERY", 2)
    short = tuple(replace(stage, steps=2, stop=2, batch=6) for stage in (STAGES[0], STAGES[3]))
    folders = [tmp_path / "whole", tmp_path / "parts"]
    for folder in folders:
        write_folder(folder, painter)
    train(folders[0], painter, 0, short)
    with monkeypatch.context() as patch:
        patch.setattr("scorer.tiny.train.save_file", _fail_on_final(folders[1]))
        with pytest.raises(KeyboardInterrupt):
            train(folders[1], painter, 0, short)
    assert (folders[1] / ".training").exists()
    train(folders[1], painter, 0, short)
    one, other = (load_file(str(folder / WEIGHTS_FILE)) for folder in folders)
    assert all(torch.equal(one[name], other[name]) for name in one)
    clip = load_clip(f"local-dir:{folders[0]}", "", 24, "cpu")
    ids, _, _ = clip.tokenize(["a red mug"])
    maps = cosine_maps(clip.image_tokens(torch.randn(1, 3, 96, 96)), clip.text_tokens(ids))
    assert maps.shape == (1, 1, 24, 65)
    assert bool(torch.isfinite(maps).all())
    assert json.loads((folders[0] / "open_clip_config.json").read_text())["model_cfg"]["vision_cfg"]["patch_size"] == 12


def _fail_on_final(folder: Path):  # type: ignore[no-untyped-def]
    """save_file, until the finished weights of the folder are to be written: then an interruption."""
    from safetensors.torch import save_file

    def save(tensors: dict[str, torch.Tensor], path: str) -> None:
        if path == str(folder / WEIGHTS_FILE):
            raise KeyboardInterrupt
        save_file(tensors, path)

    return save


@needs_model
class TestBundled:
    def test_it_is_small_and_half_precision(self) -> None:
        files = [path for path in TINY.iterdir() if path.is_file()]
        assert sum(path.stat().st_size for path in files) < 20e6
        assert {value.dtype for value in load_file(str(TINY / WEIGHTS_FILE)).values()} == {torch.float16}

    def test_its_tokenizer_encodes_the_words_it_was_trained_on_as_the_full_one(self) -> None:
        clip, full = load_clip("tiny", "", device="cpu"), open_clip.SimpleTokenizer()
        for word in (*bundled_nouns(), *colour_values(), *scenes.SIZE_WORDS, *scenes.IDLE_WORDS, "a picture shows"):
            pieces = [full.decoder[i].replace("</w>", "") for i in full.encode(word)]
            assert clip.pieces(torch.tensor(clip.encode_words(word))) == pieces, word
