"""Randomness: every stream belongs to its path alone, and nothing else in the project draws numbers."""

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.rng import choice, digest, stream, unit

ROOT = Path(__file__).resolve().parents[2]
PARTS = st.lists(st.one_of(st.integers(-(2**40), 2**40), st.text(max_size=6)), max_size=4)


def draws(seed: int, *path: str | int) -> list[int]:
    return [int(value) for value in stream(seed, *path).integers(0, 2**62, 4)]


@given(PARTS, PARTS)
def test_different_paths_have_different_digests(one: list[str | int], other: list[str | int]) -> None:
    # A list comparison alone would call 1 and True, or 0 and False, equal; the strategy draws neither bool.
    assert (digest(0, *one) == digest(0, *other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b"), ("ab",)),
        (("ab", "c"), ("a", "bc")),
        ((1,), ("1",)),
        ((1, 2), (12,)),
        (("a",), ("a", "")),
        ((), (0,)),
        (("i1:1",), (1,)),
    ],
)
def test_types_and_lengths_keep_paths_apart(one: tuple[str | int, ...], other: tuple[str | int, ...]) -> None:
    assert draws(0, *one) != draws(0, *other)
    assert unit(0, *one) != unit(0, *other)


def test_seed_zero_is_a_seed_like_any_other() -> None:
    assert draws(0, "x") == draws(0, "x")
    assert draws(0, "x") != draws(1, "x") != draws(-1, "x")
    # Were 0 read as "unset", two generators would be seeded by the operating system.
    assert draws(0) == draws(0)


def test_streams_do_not_share_state() -> None:
    alone = draws(5, "pair", 7)
    other = stream(5, "pair", 6)
    other.normal(size=1000)
    np.random.seed(1)  # noqa: NPY002 - the global generator must not matter
    assert draws(5, "pair", 7) == alone


def test_golden_draws() -> None:
    """Streams are part of the format: a change here changes every data set that was ever made."""
    assert stream(0, "spatial", 0, 0).integers(0, 1000, 5).tolist() == [795, 379, 556, 164, 387]
    assert digest(0, "spatial", 0).hex()[:16] == "8fa09ed795f40309"


def test_numbers_of_numpy_are_a_programmers_mistake() -> None:
    """Hashed as text, np.int64(1) would be another path than 1, and a pair would depend on who asked for it."""
    with pytest.raises(AssertionError):
        digest(0, "pair", np.int64(1))  # type: ignore[arg-type]


@given(st.integers(0, 2**30), st.integers(1, 30))
def test_choice_and_unit_stay_in_range(seed: int, count: int) -> None:
    assert choice(stream(seed, "choice"), range(count)) in range(count)
    assert 0.0 <= unit(seed, "unit") < 1.0


def test_unit_is_uniform() -> None:
    values = np.array([unit(0, "uniform", number) for number in range(4000)])
    counts, _ = np.histogram(values, bins=10, range=(0, 1))
    assert abs(counts - 400).max() < 5 * 20


def _draws_numbers(tree: ast.AST) -> list[int]:
    """Lines that import `random` or `secrets`, or name numpy's `random` for more than its types."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(
            item.name.split(".")[0] in ("random", "secrets") for item in node.names
        ):
            lines.append(node.lineno)
        if isinstance(node, ast.ImportFrom) and node.module in ("random", "secrets", "numpy.random", "uuid"):
            lines.append(node.lineno)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Attribute)
            and node.func.value.attr == "random"
            and isinstance(node.func.value.value, ast.Name)
            and node.func.value.value.id in ("np", "numpy")
            # The scorer may not import generator.rng; its own seeds come from scorer.seeding, by path too.
            and "seed_of(" not in ast.unparse(node)
        ):
            lines.append(node.lineno)
    return lines


def test_the_scan_sees_what_it_should() -> None:
    for code in ("import random", "from numpy.random import default_rng", "x = np.random.default_rng(0)"):
        assert _draws_numbers(ast.parse(code)) == [1], code
    assert not _draws_numbers(ast.parse("def f(rng: np.random.Generator) -> None: rng.random()"))


def test_no_other_module_draws_numbers() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in ("generator", "renderers", "scorer", "templates")
        for path in sorted((ROOT / package).rglob("*.py"))
        if path != ROOT / "generator" / "rng.py"
        for line in _draws_numbers(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found
