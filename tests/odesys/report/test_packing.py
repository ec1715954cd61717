"""Folded parts of a page as one compressed text."""

from __future__ import annotations

import base64
import zlib

from odesys.report.packing import BETWEEN, Packing


def test_parts_come_back_in_their_order() -> None:
    packing = Packing(wanted=True)
    assert packing.text == "" and [packing.add(part) for part in ("<p>α</p>", "b")] == [0, 1]
    assert zlib.decompress(base64.b64decode(packing.text)).decode().split(BETWEEN) == ["<p>α</p>", "b"]
    assert not Packing().wanted
