"""Texts that stay short keep both ends."""

from __future__ import annotations

import pytest

from odesys.shortening import shortened, some


@pytest.mark.parametrize("most", range(3, 30))
def test_a_text_is_never_longer_than_asked(most: int) -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    short = shortened(text, most)
    assert len(short) <= max(most, 3) and (short == text) == (most >= 26)
    assert most < 5 or (short[0] == "a" and short[-1] == "z")


def test_some_names() -> None:
    assert some(["a", "b"]) == "a, b" and some(str(k) for k in range(9)) == "0, 1, 2, 3, 4, 5 and 3 more"
