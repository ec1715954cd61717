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


def test_the_middle_is_left_out_and_the_first_part_is_no_shorter_than_the_last() -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    assert [shortened(text, most) for most in (5, 6, 7, 8, 25)] == [
        *("a...z", "ab...z", "ab...yz", "abc...yz", "abcdefghijk...pqrstuvwxyz"),
    ]
    for most in range(3, 26):
        first, last = shortened(text, most).split("...")
        assert len(first) + len(last) + 3 == most and 0 <= len(first) - len(last) <= 1
        assert text.startswith(first) and text.endswith(last)
    assert some("abcdef") == "a, b, c, d, e, f" and some("abcdefg") == "a, b, c, d, e, f and 1 more"
    assert some([]) == "none" and some("ab", 1) == "a and 1 more"
