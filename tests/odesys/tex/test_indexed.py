"""Equations with indices and sums in print."""

from __future__ import annotations

from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.indexed import IndexedSystem, Member, every_member
from odesys.tex.indexed import indexed_latex, indexed_lines, indexed_mathml, indexed_text


def system() -> IndexedSystem:
    def member(n: int) -> Member:
        mean = graph.add([sym(f"c{i}") * (sym(f"x{i}") - sym("b")) for i in range(1, n + 1)])
        sign = graph.step(sym("h")) - graph.step(-sym("h"))
        rows = {f"x{i}": sym(f"x{i}") - sym("eta") * sym("sgn_h") for i in range(1, n + 1)}
        return Member({"i": n}, rows, {"h": mean - sym("b"), "sgn_h": sign})

    tex = {"x": "x_{{{i}}}", "c": "c_{{{i}}}"}
    return every_member([member(2), member(3)], {"i": "n"}, {"x": "x{i}", "c": "c{i}"}, "map", ["eta", "c"], tex)


def test_sums_and_signs_as_text() -> None:
    assert indexed_text(system()).splitlines() == [
        "# i = 1, ..., n",
        "# sgn(h) = 1, 0, -1 for h > 0, h = 0, h < 0",
        "h = sum(i=1..n) c[i]*(x[i] - b) - b",
        "x[i]+ = x[i] - eta*sgn(h)",
    ]


def test_sums_and_signs_as_tex() -> None:
    lines = indexed_lines(system())
    assert lines["x[i]"] == r"x_{i}^{+} = x_{i} - \eta\,\mathrm{sgn}(h)" and "sgn_h" not in lines
    assert r"\sum_{i=1}^{n} c_{i}\,(x_{i} - b)" in lines["h"]
    whole = indexed_latex(system(), document=True)
    assert r"A map with $n$ states and the parameters $\eta$, $c_{i}$." in whole


def test_mathml_has_the_sum_and_where_once() -> None:
    found = indexed_mathml(system())
    assert found.count("<mtext>where</mtext>") == 1 and "&#x02211;" in found
