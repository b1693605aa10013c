"""Open vocabulary (method 5.3, F): find functional words the lexicon lacks, and shorten long captions.

Two helpers do the same work: spaCy rules, offline, and any OpenAI-compatible endpoint. What they answer is checked
before it is used.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from generator.records import read_shard
from scorer.configs import LlmConfig, Provider, Simplify, WordsConfig
from scorer.data import shards_of
from scorer.errors import ConfigError, DataError
from scorer.functional import Rewrite, load_lexicon


class Helper(Protocol):
    """Reads captions; answers in the order asked."""

    def functional_words(self, captions: Sequence[str]) -> list[list[str]]: ...

    def simplify(self, captions: Sequence[str]) -> list[str]: ...


def make_helper(provider: Provider, llm: LlmConfig) -> Helper:
    """The helper of that name."""
    if provider == "rules":
        from scorer.openvocab.rules import RuleHelper

        return RuleHelper()
    from scorer.openvocab.llm import LlmHelper

    return LlmHelper(llm)


def rewriter(simplify: Simplify, llm: LlmConfig) -> Rewrite | None:
    """What shortens captions before they are read; None for captions as they are."""
    return None if simplify == "none" else make_helper(simplify, llm).simplify


def new_words(config: WordsConfig) -> list[str]:
    """Functional words of the captions that the lexicon does not have, most frequent first.

    Raises a UserError when the captions cannot be read, or none of the helper's answers can be used.
    """
    captions = read_captions(config)
    helper = make_helper(config.by, config.llm)
    known = {word for row in load_lexicon().rows for word in row.words}
    counts = Counter(word for words in helper.functional_words(captions) for word in set(words) - known)
    return [
        word
        for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count >= config.min_count
    ]


def read_captions(config: WordsConfig) -> list[str]:
    """Distinct captions of shards (.tar or directories) and of text files with one caption a line."""
    captions: dict[str, None] = {}
    for path in config.data:
        if path.is_file() and path.suffix != ".tar":
            try:
                lines = path.read_text("utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise DataError(f"{path}: not a text file of captions ({error})") from error
            captions |= dict.fromkeys(line.strip() for line in lines if line.strip())
            continue
        for shard in shards_of((path,), None):
            for sample in read_shard(shard):
                captions |= dict.fromkeys((*sample.record.captions_0, *sample.record.captions_1))
    if not captions:
        raise ConfigError("there is no caption in what was given")
    return list(captions)
