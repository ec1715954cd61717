"""Long statements in lines: nothing is lost, and every line of every paper can be read."""

from __future__ import annotations

import re

import pytest

from odesys.papers import registry
from odesys.report.formula_lines import WIDTH, formula_lines, signs
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


@pytest.mark.parametrize(
    ("tex", "width", "lines"),
    [
        (r"a + b + c \\ d + e + f", 3, [r"a + b + c \\ d + e + f"]),
        (r"\begin{pmatrix} a = b = c \end{pmatrix}", 2, [r"\begin{pmatrix} a = b = c \end{pmatrix}"]),
        ("a + b = c", 5, ["a + b = c"]),
        ("a + b = c", 4, ["a + b", "= c"]),
        ("= a + b + c", 3, ["= a + b + c"]),
        ("a + b = = c + d", 4, ["a + b", "= = c + d"]),
        ("abc, def", 5, ["abc, def"]),
        ("abcdef, gh", 5, ["abcdef,", "gh"]),
        ("abcdefg; hijk", 8, ["abcdefg;", "hijk"]),
        ("abcdefg: hijk", 8, ["abcdefg:", "hijk"]),
        (r"f(abcdefg, h) = ijk", 9, ["f(abcdefg, h)", "= ijk"]),
        (r"\{abcdefg, h\} = ijk", 9, [r"\{abcdefg, h\}", "= ijk"]),
        (r"abcd \quad efgh", 5, ["abcd", "efgh"]),
        (r"abcd \qquad efgh", 5, ["abcd", "efgh"]),
        (r"ab \quad cd", 6, [r"ab \quad cd"]),
        (r"a = b \text{ for all } c", 4, ["a = b", r"\text{ for all } c"]),
        (r"\text{ for all } abc = d", 4, [r"\text{ for all } abc", "= d"]),
    ],
)
def test_where_lines_end(tex: str, width: int, lines: list[str]) -> None:
    assert formula_lines(tex, width) == lines


@pytest.mark.parametrize(
    ("tex", "count"),
    [
        ("", 0),
        ("a + b", 3),
        ("a_1^2", 3),
        (r"\frac{a}{b}", 2),
        (r"\alpha \le \beta", 3),
        (r"\left( a \right)", 3),
        (r"\mathrm{ReLU}", 4),
        (r"a \, b \; c \! d", 4),
        (r"\text{ab c}", 3),
        ("a & b", 2),
    ],
)
def test_signs_are_counted_as_they_are_seen(tex: str, count: int) -> None:
    assert signs(tex) == count


def test_words_that_fill_half_a_line_are_broken_between_words() -> None:
    words = "for every one of the many starting points that there are"
    whole = rf"a = b \text{{{words}}}"
    lines = formula_lines(whole, 20)
    inside = [piece for line in lines for piece in re.findall(r"\\text\{([^}]*)\}", line)]
    assert " ".join("".join(inside).split()) == words and len(inside) > 2
    assert all(len(piece.strip()) <= WIDTH // 2 for piece in inside)
    short = r"a = b \text{ for every one start}"  # 19 letters
    assert [line for line in formula_lines(short, 4) if "every" in line] == [r"\text{ for every one start}"]
    edge = "x" * 10 + " " + "y" * 11  # 22 letters are half a line
    (line,) = [line for line in formula_lines(rf"a = b \text{{{edge} {'z' * 3}}}", 4) if "xxx" in line]
    assert line == rf"\text{{{edge} }}"


def test_a_long_statement_has_lines_of_forty_four_signs_where_nothing_is_said() -> None:
    tex = " = ".join(["a" * 20] * 3)
    assert formula_lines(tex) == ["a" * 20 + " = " + "a" * 20, "= " + "a" * 20] and WIDTH == 44
    assert formula_lines("a" * 22 + " = " + "a" * 21) == ["a" * 22 + " = " + "a" * 21]
    assert formula_lines("a" * 22 + " = " + "a" * 22) == ["a" * 22, "= " + "a" * 22]
