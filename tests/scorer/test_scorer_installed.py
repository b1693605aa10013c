"""Says why the scorer's tests are missing where its extra is not installed."""

import pytest


def test_the_scorers_extra_is_installed() -> None:
    pytest.importorskip("torch", reason="the scorer's extra is not installed: pip install 'twinscene[scorer]'")
