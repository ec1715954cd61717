"""Long statements in lines: nothing is lost, and every line of every paper can be read."""

from __future__ import annotations

import re

import pytest

from odesys.papers import registry
from odesys.report.formula_lines import formula_lines
from odesys.report.mathml import mathml


def test_every_line_of_every_paper_can_be_read_and_nothing_is_lost() -> None:
    broken = 0
    for paper in registry.all_papers():
        for claim in paper.book() if paper.book else ():
            lines = formula_lines(claim.statement)
            assert all(line and "tex-only" not in mathml(line, True) for line in lines), (paper.name, claim.id, lines)
            plain = [re.sub(r"\s|\\q?quad|\\[ ,;]", "", text) for text in ("".join(lines), claim.statement)]
            plain = [text.replace(r"}\text{", "") for text in plain]  # words may be cut in pieces
            assert plain[0] == plain[1]
            broken += len(lines) > 1
    assert broken > 100


def test_arguments_are_not_broken() -> None:
    whole = r"\big(a + b, \quad c + d\big) \le \frac{x_1 + x_2 + x_3, y}{z_1 + z_2 + z_3}"
    assert formula_lines(whole, width=5) == whole.replace(r" \le", "\n\\le").split("\n")


def test_a_line_breaks_in_front_of_a_relation_and_not_inside_an_index() -> None:
    assert formula_lines(r"a_{i = 1} + b \ge c + d", width=4) == [r"a_{i = 1} + b", r"\ge c + d"]
    assert formula_lines(r"x_= + y_> + z", width=4) == [r"x_= + y_> + z"]
    assert formula_lines(r"a + b \not= c + d", width=4) == [r"a + b \not= c + d"]


def test_no_line_begins_with_a_comma() -> None:
    assert formula_lines(r"a + b \text{, for every } t", width=5) == [r"a + b \text{, for every } t"]


@pytest.mark.parametrize("width", range(4, 40))
def test_a_line_is_filled_as_far_as_its_width_goes(width: int) -> None:
    """A piece has three letters and a comma; a space between two pieces counts as two signs."""
    lines = formula_lines(r" \quad ".join(["a + b,"] * 12), width)
    fits = max(1, (width + 2) // 6)
    assert [line.count(",") for line in lines] == [fits] * (12 // fits) + [12 % fits] * (12 % fits > 0)
