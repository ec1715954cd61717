"""The pieces that a correction changes: short, readable alone, and nothing where too much differs."""

from __future__ import annotations

import pytest

from odesys.report.mathml import mathml
from odesys.report.short_change import _TOKEN, _common, _readable, short_change


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


@pytest.mark.parametrize(
    ("printed", "instead", "pieces"),
    [
        ("a = b", "a = c", ("b", "c")),
        (" a = b ", "a = c", ("b", "c")),
        ("a = b", "a = b + c", ("b", "b + c")),
        ("a", "b", ("a", "b")),
        ("a < b", "a > b", ("< b", "> b")),
        ("x^2 = 1", "x^3 = 1", ("x^2", "x^3")),
        ("x_1 = 1", "x_2 = 1", ("x_1", "x_2")),
        ("x' = 1", "x = 1", ("x'", "x")),
        (r"\sqrt a", r"\sqrt b", (r"\sqrt a", r"\sqrt b")),
        (r"c \hat a", r"c \hat b", (r"\hat a", r"\hat b")),
        (r"\tfrac12 x", r"\tfrac13 x", (r"\tfrac12", r"\tfrac13")),
        (r"\frac{a}{b} x", r"\frac{a}{c} x", (r"\frac{a}{b}", r"\frac{a}{c}")),
        (r"f(a) + 1", r"f(b) + 1", ("a", "b")),
        ("f(a + b) + 1", "f(a) + b + 1", ("a + b)", "a) + b")),
        (r"\left(a\right)^2 + 1", r"\left(a\right)^3 + 1", (r"\left(a\right)^2", r"\left(a\right)^3")),
        (r"\left(a\right) + 1", r"\left(b\right) + 1", ("a", "b")),
        ("x_{a}", "x_{b}", ("x_{a}", "x_{b}")),
        ("{a} b", "{a} c", ("b", "c")),
    ],
)
def test_a_piece_can_be_read_alone_and_nothing_around_it_belongs_to_it(
    printed: str, instead: str, pieces: tuple[str, str] | None
) -> None:
    found = short_change(printed, instead)
    if found is not None:
        assert all(piece and "tex-only" not in mathml(piece) for piece in found)
        assert all(piece.count("(") == piece.count(")") and piece.count("{") == piece.count("}") for piece in found)
        old, new = (" ".join(side.split()) for side in (printed, instead))
        assert any(
            old[:k] + found[1] + old[k + len(found[0]) :] == new
            for k in range(len(old))
            if old[k:].startswith(found[0])
        ), "put in place of the first, the second gives the other formula"
    if pieces is None or all(piece.count("(") == piece.count(")") for piece in pieces):
        assert found == pieces


@pytest.mark.parametrize(("length", "short"), [(64, True), (65, False)])
def test_a_piece_has_up_to_sixty_four_characters(length: int, short: bool) -> None:
    """A group that differs inside is taken whole; here there is nothing smaller."""
    inner = "a" * (length - 4)
    found = short_change(f"x_{{{inner}}} = 1", f"x_{{{'b' * (length - 4)}}} = 1")
    assert found == ((f"x_{{{inner}}}", f"x_{{{'b' * (length - 4)}}}") if short else None)


def test_texts_that_differ_in_nothing_or_at_one_end_only() -> None:
    assert short_change("a = b", " a = b ") is None
    assert _common("abc", "abd") == 2 and _common("abc", "ab") == 2 and _common("", "a") == 0 == _common("b", "a")
    assert short_change("a + b = 1", "a = 1") in (("a + b", "a"), ("+ b", ""), None)


@pytest.mark.parametrize(
    ("piece", "before", "after", "fine"),
    [
        ("a", "", "", True),
        ("", "", "", False),
        ("_1", "", "", False),
        ("^2", "", "", False),
        ("'", "", "", False),
        (r"\left(a", "", "", False),
        ("a +", "", "", False),
        ("+", "", "", False),
        ("= <", "", "", False),
        ("+ a", "", "", True),
        (r"\pm", "", "", True),
        ("a", r"\hat ", "", False),
        ("a", "b ", "", True),
        ("1", r"\tfrac2", "", False),
        ("1", r"\tfrac 2 ", "", False),
        ("1", r"\binom2", "", False),
        ("1", r"\tfrac23", "", True),
        ("a", "{", "}", False),
        ("{a}", "{b}", "", False),
        ("a", "{b}", "", True),
        ("{a}", "b", "", True),
        ("a", "", "_1", False),
        ("a", "", " ^2", False),
        ("a", "", "'", False),
        ("a", "", "b", True),
        (r"\sqrt", "", "a", False),
        ("}a{", "", "", False),
        ("{a", "", "", False),
        ("(a", "", "", False),
        ("a]", "", "", False),
        ("(a)", "", "", True),
        (r"\left(a\right)", "", "", True),
    ],
)
def test_what_can_be_read_alone(piece: str, before: str, after: str, fine: bool) -> None:
    assert bool(_readable(piece, _TOKEN.findall(before), _TOKEN.findall(after))) is fine
