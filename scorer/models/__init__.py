"""All scorers by name. To add one: a file with a subclass of Scorer, and a line here."""

from torch import Tensor

from scorer.configs import ModelConfig
from scorer.errors import ConfigError, unknown
from scorer.features import TowerShape
from scorer.models.base import ImageTokens, MapScorer, Scorer, TextTokens
from scorer.models.dcsm_cnn import DcsmCnn
from scorer.models.dcsm_vit import DcsmVit
from scorer.models.pooled import Cosine, PooledMlp, Projections

__all__ = ["MODELS", "ImageTokens", "MapScorer", "Scorer", "TextTokens", "build_model"]

MODELS: dict[str, type[Scorer]] = {
    "dcsm-cnn": DcsmCnn,
    "dcsm-vit": DcsmVit,
    "pooled-mlp": PooledMlp,
    "cosine": Cosine,
    "projections": Projections,
}


def build_model(config: ModelConfig, shape: TowerShape, table: Tensor, logit_scale: float) -> Scorer:
    """A fresh scorer; its initial weights come from torch's global generator. ConfigError for an unknown name."""
    if config.model not in MODELS:
        raise ConfigError(f"--model: {unknown('scorer', config.model, MODELS)}")
    return MODELS[config.model](shape, config, table, logit_scale)
