"""Rows of members as one row with indices and sums: found, written out again, and refused where they differ."""

from __future__ import annotations

from itertools import product

import pytest

from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import Node, sym
from odesys.expr.indexed import Member, every_member

SPELLING = {"x": "x{i}", "a": "a{r}", "c": "c{r}_{i}"}
SIZES = {"i": "n", "r": "m"}


def member(n: int, m: int) -> Member:
    """A double sum inside a function, a sum that a row reads, and terms beside it."""
    places = list(product(range(1, m + 1), range(1, n + 1)))
    whole = graph.call("tanh", graph.add([sym(f"a{r}") * sym(f"c{r}_{i}") * sym(f"x{i}") for r, i in places]))
    rows: dict[str, Node] = {"y": whole - sym("y")}
    for i in range(1, n + 1):
        rows[f"x{i}"] = graph.add([sym(f"c{r}_{i}") * (sym(f"a{r}") - sym(f"x{i}")) for r in range(1, m + 1)])
    return Member({"i": n, "r": m}, rows, {"size": graph.exp(-sym("k"))})


def test_double_sums_are_found_and_written_out_again() -> None:
    found = every_member([member(2, 2), member(3, 2)], SIZES, SPELLING, "flow")
    assert list(found.rows) == ["y", "x[i]"] and found.dimension == "1 + n"
    assert {total.index for total in found.sums.values()} == {"i", "r"}
    for n, m in ((2, 2), (3, 2), (4, 5), (1, 1)):
        again = found.member({"i": n, "r": m})
        assert dict(again.rows) == dict(member(n, m).rows) and again.definitions == member(n, m).definitions


def test_a_sum_that_leaves_a_value_out_is_refused() -> None:
    rows = {"y": sym("x1") + sym("x2")}
    with pytest.raises(EquationError, match=r"y reads x\[1\], which is in no sum over all values"):
        every_member([Member({"i": 3}, rows)], {"i": "n"}, {"x": "x{i}"}, "flow")


def test_another_value_of_a_rows_own_index_is_refused() -> None:
    rows = {"x1": sym("x2"), "x2": sym("x1")}
    with pytest.raises(EquationError, match="x1 reads x2, of another value of its own index i"):
        every_member([Member({"i": 2}, rows)], {"i": "n"}, {"x": "x{i}"}, "flow")


def test_rows_that_differ_are_refused_by_name() -> None:
    one = Member({"i": 2}, {"x1": -sym("x1"), "x2": -sym("x2")})
    other = Member({"i": 2}, {"x1": -sym("x1"), "x2": -2 * sym("x2")})
    assert every_member([one], {"i": "n"}, {"x": "x{i}"}, "flow").rows["x[i]"] is -sym("x[i]")
    with pytest.raises(EquationError, match="x2 at i up to 2 is not of the form of x1"):
        every_member([one, other], {"i": "n"}, {"x": "x{i}"}, "flow")


@pytest.mark.parametrize("table", ["rows", "definitions"])
@pytest.mark.parametrize(("left_out", "there"), [(("x1", "x2"), "x1 at i up to 3"), (("x2",), "x1"), (("y",), "y at")])
@pytest.mark.parametrize("turned", [False, True])
def test_a_row_that_one_member_lacks_is_noticed(
    table: str, left_out: tuple[str, ...], there: str, turned: bool
) -> None:
    """All rows of a letter, one of them, or a row without indices; in rows and definitions, whichever comes first."""

    def member(n: int, without: tuple[str, ...] = ()) -> Member:
        names = ["y", *(f"x{i}" for i in range(1, n + 1))]
        nodes = {name: -sym(name) for name in names if name not in without}
        return Member({"i": n}, nodes) if table == "rows" else Member({"i": n}, {"z": sym("z")}, nodes)

    assert every_member([member(2), member(3)], {"i": "n"}, {"x": "x{i}"}, "flow")
    members = [member(2, left_out), member(3)]
    with pytest.raises(EquationError, match=rf"the member with i up to 2 has no {left_out[0]}, but there is {there}"):
        every_member(members[::-1] if turned else members, {"i": "n"}, {"x": "x{i}"}, "flow")


def test_a_sum_and_its_negative_are_one() -> None:
    total = sym("x1") + sym("x2")
    rows = {"y": graph.exp(total), "z": graph.exp(-total)}
    found = every_member([Member({"i": 2}, rows)], {"i": "n"}, {"x": "x{i}"}, "flow")
    assert len(found.sums) == 1 and found.rows["z"] is graph.exp(-sym("#1"))


def test_a_system_of_many_letters_is_told_in_its_sizes() -> None:
    """What is counted, what is left open, how it is printed: with indices; what is not indexed stays a plain name."""

    def made(n: int, m: int) -> Member:
        rows: dict[str, Node] = {"y": -sym("y"), "z": sym("k") * sym("y")}
        for i in range(1, n + 1):
            rows[f"x{i}"] = -sym(f"x{i}")
            rows[f"u{i}"] = sym(f"x{i}") - sym(f"u{i}") * sym("y")
            rows |= {f"c{r}_{i}": sym(f"a{r}") * sym(f"x{i}") * sym(f"c{r}_{i}") for r in range(1, m + 1)}
        return Member({"i": n, "r": m}, rows, {"total": graph.add(sym(f"x{i}") ** 2 for i in range(1, n + 1))})

    members = [made(2, 3), made(3, 2)]
    tex = {"x": "x_{i}"}
    found = every_member(members, SIZES, {"u": "u{i}", **SPELLING}, "map", ["a", "k", "c"], tex)
    assert found.names == ("y", "z", "x[i]", "u[i]", "c[r,i]") and found.kind == "map" and found.tex == tex
    assert found.dimension == "2 + 2*n + m*n" and found.parameters == ("a[r]", "k", "c[r,i]")
    assert found.seen == ({"i": 2, "r": 3}, {"i": 3, "r": 2}) and found.meanings == {} and found.remarks == ()
    assert found.rows["u[i]"] is sym("x[i]") - sym("u[i]") * sym("y")
    assert found.rows["c[r,i]"] is sym("a[r]") * sym("x[i]") * sym("c[r,i]") and found.rows["z"] is sym("k") * sym("y")
    ((name, total),) = found.sums.items()
    assert found.definitions == {"total": sym(name)} and (total.index, total.node) == ("i", sym("x[i]") ** 2)
    for n, m in ((1, 1), (2, 3), (4, 2)):
        again, wanted = found.member({"i": n, "r": m}), made(n, m)
        assert (again.sizes, again.rows, again.definitions) == (wanted.sizes, wanted.rows, wanted.definitions)
    one = every_member([Member({"i": 2}, {"y": -sym("y")})], {"i": "n"}, {"x": "x{i}"}, "flow")
    two = every_member([Member({"i": 2}, {"y": -sym("y"), "z": sym("y")})], {"i": "n"}, {"x": "x{i}"}, "flow")
    assert (one.dimension, two.dimension, one.tex, one.parameters) == ("1", "2", {}, ())


def test_coefficients_and_what_is_beside_a_sum_are_kept() -> None:
    """Terms alike but for their coefficient are in one sum where they are in all its terms, else nothing is summed."""
    x = [sym(f"x{i}") for i in range(1, 4)]

    def form(node: Node) -> tuple[Node, dict[str, Node]]:
        found = every_member([Member({"i": 3}, {"y": node})], {"i": "n"}, {"x": "x{i}"}, "flow")
        assert found.member({"i": 3}).rows["y"] is node
        return found.rows["y"], {name: total.node for name, total in found.sums.items()}

    total = graph.add(x)
    assert form(3 * total + sym("k")) == (sym("#1") + sym("k"), {"#1": 3 * sym("x[i]")})
    assert form(total * total) == (sym("#1") ** 2, {"#1": sym("x[i]")})
    assert form(graph.add(2 * each**2 - each for each in x)) == (sym("#1"), {"#1": 2 * sym("x[i]") ** 2 - sym("x[i]")})
    nested = graph.add(each * graph.exp(-total) for each in x)
    row, sums = form(nested)
    assert graph.symbols([row, *sums.values()]) <= {"x[i]", *sums} and len(sums) == 2
    with pytest.raises(EquationError, match=r"y reads x\[1\], which is in no sum"):
        form(total + x[0])


def test_a_negative_sum_is_minus_the_one_that_is_known() -> None:
    total = sym("x1") + sym("x2")
    rows = {"y": graph.call("tanh", total), "z": graph.call("tanh", -total) - 3 * total}
    found = every_member([Member({"i": 2}, rows)], {"i": "n"}, {"x": "x{i}"}, "flow")
    assert found.rows["z"].op == "add" and graph.call("tanh", -sym("#1")) in graph.topological([found.rows["z"]])
    assert found.sums["#1"].node is sym("x[i]") and dict(found.member({"i": 2}).rows) == rows
