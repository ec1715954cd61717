"""Texts that stay short: what an object says of itself at a prompt fits into a few lines, however large it is."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 300  # characters of a repr


def shortened(text: str, most: int = LONGEST) -> str:
    """A text of at most `most` characters; the middle of a longer one is left out.

    >>> shortened("x" * 400, 11)
    'xxxx...xxxx'
    """
    if len(text) <= most:
        return text
    left = (most - 3) // 2
    return f"{text[: most - 3 - left]}...{text[len(text) - left :]}"


def some(names: Iterable[str], most: int = 6) -> str:
    """The first names of a list, and how many there are more.

    >>> some("abcdefgh", 3), some([])
    ('a, b, c and 5 more', 'none')
    """
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more or "none"
