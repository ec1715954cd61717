"""The pieces that a correction changes: short, readable alone, and nothing where too much differs."""

from __future__ import annotations

import pytest

from odesys.report.mathml import mathml
from odesys.report.short_change import short_change


@pytest.mark.parametrize(
    ("printed", "instead", "pieces"),
    [
        (r"\dot n(0) = \frac{1}{2}", r"\dot n(0) = \frac{1}{4}", (r"\frac{1}{2}", r"\frac{1}{4}")),
        (r"x_{ab} = 1", r"x_{ac} = 1", (r"x_{ab}", r"x_{ac}")),
        (r"M_\pm = \pm 2C", r"M_\pm = \mp 2C", (r"\pm", r"\mp")),
        (r"\tfrac{b}{\sqrt m} A x", r"b A x", (r"\tfrac{b}{\sqrt m}", "b")),
        (r"R = \sum_i x", r"R = \frac1n \sum_i x", (r"\sum_i", r"\frac1n \sum_i")),  # a sign alone says nothing
    ],
)
def test_pieces(printed: str, instead: str, pieces: tuple[str, str]) -> None:
    assert short_change(printed, instead) == pieces


def test_pieces_can_be_read_or_there_are_none() -> None:
    assert short_change("a = b", "a = b") is None
    assert (
        short_change("a = " + "+".join(f"x_{k}" for k in range(40)), "a = " + "+".join(f"y_{k}" for k in range(40)))
        is None
    )
    for pair in (("f(x, y)", "f(x, z)"), (r"\left(a\right)^2", r"\left(b\right)^3"), (r"\hat a", r"\hat b")):
        found = short_change(*pair)
        assert found is None or all("tex-only" not in mathml(piece) for piece in found)
