"""Maps, rows, z-scores and the loss as tensor functions."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy, normalize

from scorer.dcsm import cosine_maps, insert_rows, z_score
from scorer.losses import symmetric_cross_entropy, twin_accuracy


def tokens(*shape: int, seed: int = 0) -> torch.Tensor:
    return normalize(torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.integers(1, 6))
def test_maps_hold_every_cosine(images: int, texts: int, rows: int, columns: int) -> None:
    image, text = tokens(images, columns, 8), tokens(texts, rows, 8, seed=1)
    maps = cosine_maps(image, text)
    assert maps.shape == (images, texts, rows, columns)
    torch.testing.assert_close(maps, torch.einsum("bid,ltd->blti", image, text))


def test_rows_replace_their_tokens_row_in_every_image_and_nothing_else() -> None:
    maps, table = torch.zeros(2, 3, 4, 5), torch.arange(10.0).view(2, 5) + 1
    out = insert_rows(maps, table, torch.tensor([0, 2]), torch.tensor([1, 3]), torch.tensor([1, 0]))
    assert torch.equal(out[:, 0, 1], table[1].expand(2, 5))
    assert torch.equal(out[:, 2, 3], table[0].expand(2, 5))
    assert int((out != 0).sum()) == 2 * 2 * 5


def test_z_score_per_map_does_not_depend_on_company_and_per_batch_does() -> None:
    maps = torch.randn(2, 2, 3, 4) * torch.tensor([1.0, 5.0]).view(2, 1, 1, 1)
    alone, together = z_score(maps[:1].clone(), "map"), z_score(maps.clone(), "map")
    torch.testing.assert_close(alone, together[:1])
    torch.testing.assert_close(together.mean(dim=(2, 3)), torch.zeros(2, 2), atol=1e-5, rtol=0)
    torch.testing.assert_close(together.var(dim=(2, 3), correction=0), torch.ones(2, 2))
    assert not torch.allclose(z_score(maps[:1], "batch"), z_score(maps, "batch")[:1])
    assert torch.equal(z_score(maps, "none"), maps)


def test_a_constant_map_stays_finite() -> None:
    assert torch.equal(z_score(torch.ones(1, 1, 2, 2), "map"), torch.zeros(1, 1, 2, 2))


def no_mask(rows: int, columns: int) -> torch.Tensor:
    return torch.zeros(rows, columns, dtype=torch.bool)


def test_the_loss_is_symmetric_cross_entropy_against_the_identity() -> None:
    scores, diagonal = torch.randn(6, 6), torch.arange(6)
    expected = (cross_entropy(scores, diagonal) + cross_entropy(scores.t(), diagonal)) / 2
    torch.testing.assert_close(symmetric_cross_entropy(scores, diagonal, diagonal, no_mask(6, 6)), expected)


def test_a_text_that_may_be_true_gets_no_gradient() -> None:
    scores = torch.randn(4, 4, requires_grad=True)
    mask = no_mask(4, 4)
    mask[0, 2] = True
    diagonal = torch.arange(4)
    symmetric_cross_entropy(scores, diagonal, diagonal, mask).backward()
    assert scores.grad is not None
    assert float(scores.grad[0, 2]) == 0.0
    assert float(scores.grad[0, 1]) != 0.0


def test_a_text_without_an_image_is_a_negative_only() -> None:
    scores = torch.tensor([[2.0, 0.0]], requires_grad=True)
    loss = symmetric_cross_entropy(scores, torch.tensor([0]), torch.tensor([0, -1]), no_mask(1, 2))
    # One image: the text-to-image side has a single candidate and costs nothing.
    assert math.isclose(float(loss.detach()), math.log(1 + math.exp(-2)) / 2, rel_tol=1e-5)
    loss.backward()
    assert scores.grad is not None
    assert float(scores.grad[0, 1]) > 0


def test_one_pair_makes_a_finite_loss() -> None:
    loss = symmetric_cross_entropy(torch.zeros(2, 2), torch.arange(2), torch.arange(2), no_mask(2, 2))
    assert math.isclose(float(loss), math.log(2), rel_tol=1e-6)


@pytest.mark.parametrize(("gap", "expected"), [(1.0, 1.0), (0.0, 0.0), (-1.0, 0.0)])
def test_a_tie_is_wrong(gap: float, expected: float) -> None:
    scores = torch.tensor([[gap, 0.0], [0.0, gap]])
    assert float(twin_accuracy(scores, torch.tensor([0, 1]), torch.tensor([1, 0]))) == expected
