"""Open vocabulary: rules offline, and an OpenAI-compatible endpoint played by a local server."""

import importlib.util
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from scorer_shapes import make_pair, write_run

from scorer.cli import main
from scorer.configs import EvalConfig, LlmConfig, TrainConfig, WordsConfig
from scorer.errors import ConfigError, DataError
from scorer.evaluate import evaluate
from scorer.openvocab import new_words, read_captions
from scorer.openvocab.llm import Answers, LlmHelper, check_simplified, check_words
from scorer.train import train

needs_spacy = pytest.mark.skipif(importlib.util.find_spec("spacy") is None, reason="spaCy is not installed")


@needs_spacy
@pytest.mark.parametrize(
    ("caption", "words", "short"),
    [
        (
            "A dog is sitting on top of a table next to a blue vase.",
            ["on top of", "next to"],
            "dog on top of table next to blue vase",
        ),
        (
            "There is no cat in this picture, but a bird inside a cage.",
            ["no", "but", "inside"],
            "no cat but bird inside cage",
        ),
        ("a red circle but not a square", ["but", "not"], "red circle but not square"),
        (
            "A cake without candles beneath the old wooden chair",
            ["without", "beneath"],
            "cake without candles beneath old wooden chair",
        ),
        ("A woman between two parked cars", ["between"], "woman between two parked cars"),
    ],
)
def test_rules(caption: str, words: list[str], short: str) -> None:
    from scorer.openvocab.rules import RuleHelper

    helper = RuleHelper()
    assert helper.functional_words([caption]) == [words]
    assert helper.simplify([caption]) == [short]


@needs_spacy
def test_rules_never_answer_nothing() -> None:
    from scorer.openvocab.rules import RuleHelper

    assert RuleHelper().simplify(["and", "Look!"]) == ["and", "Look!"]


@needs_spacy
def test_new_words_are_counted_and_known_ones_left_out(tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_text(
        "a dog inside a box\na cat inside a bag\na cup beside a box\na cat above a dog\n\n", "utf-8"
    )
    assert new_words(WordsConfig((tmp_path / "captions.txt",), min_count=1)) == ["inside", "beside"]
    assert new_words(WordsConfig((tmp_path / "captions.txt",))) == ["inside"]


def test_captions_come_from_shards_and_text_files(tmp_path: Path) -> None:
    write_run(tmp_path / "data", {"spatial": 2})
    (tmp_path / "more.txt").write_text("a dog\n", "utf-8")
    found = read_captions(WordsConfig((tmp_path / "data", tmp_path / "more.txt")))
    assert len(found) == 9
    assert found[-1] == "a dog"
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match="not a text file"):
        read_captions(WordsConfig((tmp_path / "bad.txt",)))


class Endpoint(BaseHTTPRequestHandler):
    """Answers chat completions from a queue; the last answer repeats."""

    answers: ClassVar[list[Any]] = []
    requests: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, int):
            self.send_error(answer)
            return
        data = json.dumps({"choices": [{"message": {"content": answer}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def llm(tmp_path: Path) -> Iterator[LlmConfig]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Endpoint.answers, Endpoint.requests = [], []
    yield LlmConfig(url=f"http://127.0.0.1:{server.server_port}/v1", name="test", answers=tmp_path / "answers.jsonl")
    server.shutdown()
    server.server_close()


@needs_spacy
def test_a_run_reads_captions_as_it_was_trained_to(
    config: TrainConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simple = replace(config, out=tmp_path / "run", model=replace(config.model, simplify="rules"), epochs=1)
    train(simple)
    record, first, _ = make_pair("spatial", 3)
    (tmp_path / "photo.png").write_bytes(first)
    captions = [record.captions_0[0], record.captions_1[0]]
    assert main(["score", str(tmp_path / "run"), str(tmp_path / "photo.png"), *captions]) == 0
    assert capsys.readouterr().out.count("(read as: ") == 2
    report = evaluate(EvalConfig(tmp_path / "run", config.data, split="val", resamples=5, cache=config.cache))
    assert report.model.simplify == "rules"
    assert main(["score", str(tmp_path / "run"), str(tmp_path / "photo.png"), *captions, "--simplify", "none"]) == 0
    assert "read as" not in capsys.readouterr().out


def test_the_endpoint_is_asked_with_the_prompt_and_once(llm: LlmConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    Endpoint.answers[:] = ['Sure!\n```json\n{"words": ["inside", "not"]}\n```']
    caption = "a dog inside a box, not a cat"
    assert LlmHelper(llm).functional_words([caption]) == [["inside", "not"]]
    assert LlmHelper(llm).functional_words([caption]) == [["inside", "not"]]
    assert len(Endpoint.requests) == 1
    request = Endpoint.requests[0]
    assert (request["path"], request["model"], request["key"]) == ("/v1/chat/completions", "test", "Bearer secret")
    assert request["messages"][0]["content"].rstrip().endswith(caption)
    assert "secret" not in (llm.answers or Path()).read_text()


def test_an_answer_that_invents_is_asked_again_then_dropped(llm: LlmConfig) -> None:
    Endpoint.answers[:] = ['{"words": ["beneath"]}', '{"words": ["inside"]}']
    helper = LlmHelper(llm)
    assert helper.functional_words(["a dog inside a box"]) == [["inside"]]
    Endpoint.answers[:] = ['{"caption": "a red cat"}', "no json", '{"caption": "dog near box"}']
    assert helper.simplify(["a dog that is a dog", "dog near the box"]) == ["a dog that is a dog", "dog near box"]
    assert helper.unusable == 1


def test_only_unusable_answers_stop(llm: LlmConfig) -> None:
    Endpoint.answers[:] = ["nonsense"]
    with pytest.raises(DataError, match="none of the answers"):
        LlmHelper(llm).simplify(["a dog", "a cat"])


def test_an_endpoint_that_fails_is_named(llm: LlmConfig) -> None:
    Endpoint.answers[:] = [429]
    with pytest.raises(ConfigError, match="429"):
        LlmHelper(llm).simplify(["a dog"])
    with pytest.raises(ConfigError, match="no usable answer"):
        LlmHelper(LlmConfig(url="http://127.0.0.1:1/v1", answers=llm.answers)).simplify(["a dog"])


@pytest.mark.parametrize(
    "answer",
    [{"words": ["beside"]}, {"words": "in"}, {"words": [""]}, ["in"], {"words": ["a dog in a box"]}, {"words": ["o"]}],
)
def test_words_must_stand_in_the_caption(answer: Any) -> None:
    with pytest.raises(DataError):
        check_words("a dog in a box", answer)


@pytest.mark.parametrize("text", ["a cat", "a dog a box", "", "dog no cat in the box " * 9])
def test_a_simplification_keeps_words_and_negations(text: str) -> None:
    with pytest.raises(DataError):
        check_simplified("a dog but no cat in the box", {"caption": text})


def test_a_line_cut_short_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    Answers(path).put("a", "1")
    with path.open("a") as file:
        file.write('\n{"key": "b", "ans')
    again = Answers(path)
    assert (again.get("a"), again.get("b")) == ("1", None)
    again.put("c", "3")
    assert Answers(path).get("c") == "3"
