"""Parts of a page that are folded at first, kept as one compressed text, which its script unfolds as the page opens."""

from __future__ import annotations

import base64
import zlib

BETWEEN = "\f"  # a sign that is in no page


class Packing:
    """Parts of a page, in the order in which they are met; without `wanted` they stay where they are."""

    def __init__(self, wanted: bool = False) -> None:
        self.wanted = wanted
        self._parts: list[str] = []

    def add(self, part: str) -> int:
        """The number of a part that is kept here."""
        self._parts.append(part)
        return len(self._parts) - 1

    @property
    def text(self) -> str:
        """All parts, compressed; empty where there are none."""
        return (
            base64.b64encode(zlib.compress(BETWEEN.join(self._parts).encode(), 9)).decode("ascii")
            if self._parts
            else ""
        )
