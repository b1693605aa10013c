"""Classification: pictures that have a class each, and prompts that name the classes."""

from collections.abc import Sequence

from scorer.benchmarks.base import Example, Picture

# CLIP's own prompt stands alone; the ensemble says the same in ways that both plain CLIP and our captions know.
ENSEMBLE = (
    "a photo of a {}.",
    "a picture of a {}.",
    "an image of a {}.",
    "a close-up photo of a {}.",
    "a photo of one {}.",
    "a photo of the {}.",
)

Classified = tuple[str, Picture, int]  # key, picture, place of its class


def rows(pictures: Sequence[Classified], names: Sequence[str], prompts: Sequence[str]) -> list[Example]:
    """Rows of Choice(prompts=len(prompts)) that all share one tuple of captions: a class's prompts stand together."""
    captions = tuple(prompt.format(name) for name in names for prompt in prompts)
    return [Example(key, (picture,), captions, place, names[place]) for key, picture, place in pictures]
