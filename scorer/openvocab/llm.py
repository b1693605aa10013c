"""Functional words and short captions from an OpenAI-compatible endpoint, checked and kept.

The prompts are templates/prompts/*.md. An answer is used only if it keeps to the caption: words that stand in it, a
simplification made of its own words. What cannot be used is asked once more, then left out (words) or replaced
by the caption itself (simplification), and counted.
"""

import hashlib
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from scorer.cache import default_root
from scorer.configs import LlmConfig
from scorer.errors import ConfigError, DataError

PROMPTS = Path(__file__).parent.parent.parent / "templates" / "prompts"
LIMIT_WORDS = 20  # a simplified caption fits a map of 30 tokens
TRIES = 2
ADDED = {"a", "an", "and", "the"}
T = TypeVar("T")


class LlmHelper:
    """Open-vocabulary helper that asks a language model."""

    def __init__(self, config: LlmConfig) -> None:
        self._config = config
        self._answers = Answers(config.answers or default_root() / "answers.jsonl")
        self.unusable = 0

    def functional_words(self, captions: Sequence[str]) -> list[list[str]]:
        """The functional words of each caption; none where no answer could be used."""
        return self._all("extract_functional_words", captions, check_words, lambda _: [])

    def simplify(self, captions: Sequence[str]) -> list[str]:
        """Each caption shortened; the caption itself where no answer could be used."""
        return self._all("simplify_caption", captions, check_simplified, str)

    def _all(
        self, prompt: str, captions: Sequence[str], check: Callable[[str, Any], T], otherwise: Callable[[str], T]
    ) -> list[T]:
        template = (PROMPTS / f"{prompt}.md").read_text("utf-8").replace("{limit}", str(LIMIT_WORDS))
        out: list[T] = []
        for caption in captions:
            answer: T | None = None
            for attempt in range(TRIES):
                try:
                    answer = check(caption, self._ask(template, caption, attempt))
                    break
                except DataError:
                    continue
            self.unusable += answer is None
            out.append(otherwise(caption) if answer is None else answer)
        if captions and self.unusable == len(captions):
            raise DataError(f"{self._config.url}: none of the answers of {self._config.name} could be used")
        return out

    def _ask(self, template: str, caption: str, attempt: int) -> Any:
        """The JSON object that the model answers; DataError when it is none."""
        config = self._config
        question = template.replace("{caption}", caption)
        key = hashlib.sha256(
            json.dumps([config.url, config.name, config.temperature, question, attempt]).encode()
        ).hexdigest()
        text = self._answers.get(key)
        if text is None:
            text = self._request(question)
            self._answers.put(key, text)
        found = re.search(r"\{.*\}", text, re.DOTALL)
        try:
            return json.loads(found.group() if found else "")
        except ValueError as error:
            raise DataError(f"not JSON: {text[:80]!r}") from error

    def _request(self, question: str) -> str:
        config = self._config
        key = os.environ.get(config.key_env, "")
        body = {
            "model": config.name,
            "temperature": config.temperature,
            "messages": [{"role": "user", "content": question}],
        }
        request = urllib.request.Request(
            f"{config.url.rstrip('/')}/chat/completions",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})},
        )
        try:
            with urllib.request.urlopen(request, timeout=config.timeout_s) as response:
                answer: Any = json.load(response)
            return str(answer["choices"][0]["message"]["content"])
        except urllib.error.HTTPError as error:
            raise ConfigError(f"{config.url}: answered {error.code} {error.reason} (model {config.name})") from error
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise ConfigError(f"{config.url}: no usable answer ({error})") from error


def check_words(caption: str, answer: Any) -> list[str]:
    """The words of an answer; DataError unless each stands in the caption and is short."""
    words = answer.get("words") if isinstance(answer, dict) else None
    if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
        raise DataError(f"no list of words: {answer!r}")
    clean = list(dict.fromkeys(" ".join(word.lower().split()) for word in words))
    for word in clean:
        if len(word.split()) > 4 or not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", caption.lower()):
            raise DataError(f"{word!r} does not stand in {caption!r}")
    return clean


def check_simplified(caption: str, answer: Any) -> str:
    """The shortened caption; DataError unless it is made of the caption's own words and keeps its negations."""
    text = answer.get("caption") if isinstance(answer, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"no caption: {answer!r}")
    before, after = re.findall(r"[\w'-]+", caption.lower()), re.findall(r"[\w'-]+", text.lower())
    strange = set(after) - set(before) - ADDED
    if strange or not after or len(after) > max(LIMIT_WORDS, len(before)):
        raise DataError(f"not a shorter form of {caption!r}: {text!r}")
    lost = {word for word in ("not", "no", "without", "never") if before.count(word) != after.count(word)}
    if lost:
        raise DataError(f"a negation was lost or added: {text!r}")
    return " ".join(text.split())


class Answers:
    """Answers by question, one JSON line each; a line cut short by an interruption is asked again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] = {}
        if path.exists():
            for line in path.read_text("utf-8", errors="replace").splitlines():
                try:
                    entry = json.loads(line)
                    self._known[entry["key"]] = entry["answer"]
                except (ValueError, KeyError, TypeError):
                    continue

    def get(self, key: str) -> str | None:
        return self._known.get(key)

    def put(self, key: str, answer: str) -> None:
        self._known[key] = answer
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            # On a line of its own, whatever an interruption has left at the end of the file.
            file.write("\n" * (file.tell() > 0) + json.dumps({"key": key, "answer": answer}))
