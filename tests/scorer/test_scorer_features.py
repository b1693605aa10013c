"""Token features against open_clip's own embeddings."""

import json
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from scorer_clips import CONFIG, write_clip
from torch.nn.functional import normalize

from scorer.dcsm import cosine_maps
from scorer.errors import ConfigError, TowerError
from scorer.features import Clip, load_clip

CAPTIONS = ["A dog above a cat.", "no red CUBE, but a blue sphere", "a " + "very " * 60 + "small dog"]


def small(name: str) -> Any:
    """The named architecture with two layers in each tower: everything else is as published."""
    config = open_clip.get_model_config(name)
    config["vision_cfg"]["layers"] = config["text_cfg"]["layers"] = 2
    torch.manual_seed(0)
    return open_clip.CLIP(**config).eval()


@pytest.mark.parametrize("name", ["ViT-B-32", "ViT-B-16", "ViT-L-14", "ViT-L-14-336"])
def test_cls_row_times_eos_row_is_clips_own_cosine(name: str) -> None:
    model = small(name)
    clip = Clip(model, lambda image: image, open_clip.get_tokenizer(name), name, 30, torch.device("cpu"))
    images = torch.randn(2, 3, *model.visual.image_size)
    ids, eos, cut = clip.tokenize(CAPTIONS)
    assert cut == 1
    maps = cosine_maps(clip.image_tokens(images), clip.text_tokens(ids))
    assert maps.shape == (2, 3, 30, 1 + clip.shape.grid[0] * clip.shape.grid[1])
    with torch.inference_mode():
        texts = open_clip.get_tokenizer(name)(CAPTIONS[:2])
        own = normalize(model.encode_image(images), dim=-1) @ normalize(model.encode_text(texts), dim=-1).t()
    # The third caption is longer than the map: its end token moves, so only the two whole ones can be compared.
    torch.testing.assert_close(maps[:, [0, 1], eos[:2], 0], own, atol=1e-5, rtol=0)


def test_siglip_pooled_rows_are_its_own_cosine() -> None:
    config = open_clip.get_model_config("ViT-B-16-SigLIP")
    config["text_cfg"]["layers"] = 2
    torch.manual_seed(0)
    config.pop("custom_text")
    model = open_clip.CustomTextCLIP(**config).eval()
    ids = torch.randint(2, 32000, (3, 64), generator=torch.Generator().manual_seed(1))
    clip = Clip(model, lambda image: image, lambda _: ids, "siglip", 30, torch.device("cpu"))
    images = torch.randn(2, 3, 224, 224)
    tokens, eos, _ = clip.tokenize(["", "", ""])
    maps = cosine_maps(clip.image_tokens(images), clip.text_tokens(tokens))
    with torch.inference_mode():
        own = normalize(model.encode_image(images), dim=-1) @ normalize(model.encode_text(ids), dim=-1).t()
    torch.testing.assert_close(maps[:, [0, 1, 2], eos, 0], own, atol=1e-5, rtol=0)
    assert clip.shape.text_tokens == 64, "a tower that sees its padding must keep it"


def test_tokens_are_unit_vectors(clip: Clip) -> None:
    tokens = clip.image_tokens(torch.randn(2, 3, 32, 32))
    torch.testing.assert_close(tokens.norm(dim=-1), torch.ones(2, 17))
    ids, _, _ = clip.tokenize(CAPTIONS)
    torch.testing.assert_close(clip.text_tokens(ids).norm(dim=-1), torch.ones(3, 16))


def test_rows_after_the_end_repeat_the_end_token_and_change_nothing_before(clip: Clip) -> None:
    ids, eos, _ = clip.tokenize(["a dog", "a dog and a cat and a bird"])
    end = int(ids[0, eos[0]])
    assert ids[0, int(eos[0]) :].tolist() == [end] * (16 - int(eos[0]))
    alone, _, _ = clip.tokenize(["a dog"])
    torch.testing.assert_close(
        clip.text_tokens(alone)[0, : int(eos[0]) + 1], clip.text_tokens(ids)[0, : int(eos[0]) + 1]
    )


@pytest.mark.parametrize("words", [13, 14, 15, 22, 23, 80])
def test_long_captions_are_cut_and_counted(clip: Clip, words: int) -> None:
    ids, eos, cut = clip.tokenize(["dog " * words])
    assert int(eos[0]) == min(words + 1, 15)
    assert cut == (words + 2 > 16)
    assert int(ids[0, int(eos[0])]) == int(clip.tokenize(["dog"])[0].max())


def test_untrained_towers_are_the_same_every_time_and_the_preprocess_is_in_the_fingerprint(
    clip: Clip, clip_name: str, tmp_path: Path
) -> None:
    assert load_clip(clip_name, "random", 16, "cpu").fingerprint == clip.fingerprint
    other = json.loads(json.dumps(CONFIG))
    other["preprocess_cfg"]["mean"] = [0.4, 0.5, 0.5]
    name = write_clip(tmp_path)
    (tmp_path / "open_clip_config.json").write_text(json.dumps(other))
    assert load_clip(name, "random", 16, "cpu").fingerprint != clip.fingerprint
    assert load_clip(clip_name, "random", 12, "cpu").fingerprint != clip.fingerprint


def test_loading_leaves_the_global_generator_alone(clip_name: str) -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    load_clip(clip_name, "random", 16, "cpu")
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize("name", ["RN50", "coca_ViT-B-32"])
def test_towers_without_tokens_are_refused(name: str) -> None:
    model = open_clip.create_model(name, pretrained=None)
    with pytest.raises(TowerError, match="no projectable patch tokens"):
        Clip(model, lambda image: image, open_clip.get_tokenizer("ViT-B-32"), name, 30, torch.device("cpu"))


def test_unknown_names_get_the_near_ones() -> None:
    with pytest.raises(TowerError, match=r"--clip: unknown model 'ViT-B16'; did you mean 'ViT-B-16'. known: tiny, "):
        load_clip("ViT-B16", "openai")
    with pytest.raises(TowerError, match="--clip: unknown model 'tyni'; did you mean 'tiny'"):
        load_clip("tyni", "openai")
    with pytest.raises(TowerError, match="--pretrained: unknown weights of ViT-B-32 'nonsense'; known: openai, "):
        load_clip("ViT-B-32", "nonsense")
    with pytest.raises(TowerError, match="'opena'; did you mean 'openai'"):
        load_clip("ViT-B-32", "opena")


def test_a_folder_without_weights_is_not_taken_for_trained(clip_name: str) -> None:
    with pytest.raises(TowerError, match="--pretrained random"):
        load_clip(clip_name, "openai")


def test_bad_device_and_too_few_rows(clip_name: str) -> None:
    with pytest.raises(ConfigError, match="--device"):
        load_clip(clip_name, "random", 16, "abacus")
    with pytest.raises(ConfigError, match="--text-tokens"):
        load_clip(clip_name, "random", 2, "cpu")
