"""TwinScene's scorer: dense cosine similarity maps over frozen CLIP towers, trained and judged on twin scenes."""
