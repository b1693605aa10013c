"""Score captions against one picture: what a person tries first."""

from dataclasses import dataclass

import torch

from scorer import checkpoint
from scorer.bank import first_alike
from scorer.configs import ScoreConfig
from scorer.data import read_picture
from scorer.errors import ConfigError, DataError
from scorer.evaluate import towers_of
from scorer.functional import Marker
from scorer.models import ImageTokens, TextTokens
from scorer.openvocab import rewriter


@dataclass(frozen=True, slots=True)
class Scored:
    """A caption, what was read of it (the same, or its simplification), and its score.

    cut: the tokens it was cut to, 0 when it was read whole. alike: the first caption given that reads the same: itself,
    unless what tells the two apart was cut off or simplified away.
    """

    caption: str
    read: str
    score: float
    cut: int
    alike: str


@torch.inference_mode()
def score(config: ScoreConfig) -> list[Scored]:
    """The captions in the order given, with their scores; higher fits better. Draws the maps when asked to.

    Raises a UserError for an unusable run, picture or caption.
    """
    if not config.captions or not all(caption.strip() for caption in config.captions):
        raise ConfigError("give the picture and at least one caption that is not empty")
    path = checkpoint.checkpoint_path(config.run)
    meta, _ = checkpoint.read(path)
    picture = read_picture(config.image)
    clip = towers_of(meta, path, config.device)
    simplify = config.simplify or meta.model.simplify
    marker = Marker(meta.lexicon, clip, meta.model.placement, rewriter(simplify, config.llm))
    read = marker.read(config.captions)
    scorer, _ = checkpoint.load(path, clip.device)
    ids, eos, _ = clip.tokenize(read)
    marks = marker.mark(read, ids, eos)
    images = ImageTokens(clip.image_tokens(clip.preprocess(picture)[None]))
    texts = TextTokens(clip.text_tokens(ids), eos.to(clip.device), marks)
    first = first_alike(ids, marks)
    scores = scorer(images, texts)[0].float().cpu()[first]
    if not bool(torch.isfinite(scores).all()):
        raise DataError(f"{path}: the scores are not numbers")
    if config.figure is not None:
        from scorer.figures import map_figure

        map_figure(scorer, clip, picture, images, texts, read, config.figure)
    cut = [clip.shape.text_tokens * clip.tokenize([text])[2] for text in read]
    alike = [config.captions[place] for place in first.tolist()]
    return [Scored(*item) for item in zip(config.captions, read, scores.tolist(), cut, alike, strict=True)]
