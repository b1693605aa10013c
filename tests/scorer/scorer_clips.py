"""A small untrained CLIP as an open_clip local directory: real towers and the real tokenizer, no download."""

import json
from pathlib import Path

CONFIG = {
    "model_cfg": {
        "embed_dim": 32,
        "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
        "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
    },
    "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]},
}


def write_clip(folder: Path) -> str:
    """The --clip value of a model written into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "open_clip_config.json").write_text(json.dumps(CONFIG))
    return f"local-dir:{folder}"
