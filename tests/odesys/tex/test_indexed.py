"""Equations with indices and sums in print."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.indexed import IndexedSystem, Member, every_member
from odesys.tex.indexed import _product, indexed_latex, indexed_lines, indexed_mathml, indexed_text


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


def test_what_is_said_beside_the_equations_is_in_every_form() -> None:
    """How far indices run, what letters stand for, and remarks with symbols between dollar signs."""
    said = replace(system(), remarks=(r"any $\omega$ & b",), meanings={"c[i]": ("<u, i>", r"\langle u, i\rangle")})
    text, tex, page = indexed_text(said), indexed_latex(said), indexed_mathml(said)
    assert text.splitlines()[:3] == ["# i = 1, ..., n", r"# any \omega & b", "# c[i] = <u, i>"]
    assert r"Here $i = 1, \dots, n$; $c_{i} = \langle u, i\rangle$;" in tex and tex.endswith(r"any $\omega$ & b.")
    ElementTree.fromstring(page)
    assert "<mtext>any </mtext><mrow><mi>&#x003C9;</mi></mrow><mtext> &amp; b</mtext>" in page
    assert "&#x027E8;" in page and "&#x02026;" in page


def test_numbers_and_names_in_the_number_of_states() -> None:
    assert _product("2*m_k + n") == r"2\,m_{k} + n"


def flow_with_slopes() -> IndexedSystem:
    """A sum of several terms, one inside another, a slope, two sizes, and a definition that is no sign."""

    def member(n: int, m: int) -> Member:
        slopes = [graph.call("sigmoid", sym(f"x{i}") * sym("k")) for i in range(1, n + 1)]
        inner = [graph.add([sym(f"B{i}_{j}") * sym(f"y{j}") for j in range(1, m + 1)]) for i in range(1, n + 1)]
        rows = {f"x{i}": -slopes[i - 1] * sym("q") + inner[i - 1] for i in range(1, n + 1)}
        rows |= {f"y{j}": -sym(f"y{j}") for j in range(1, m + 1)}
        total = graph.add([(sym(f"x{i}") - 1) ** 2 + 2 * sym(f"x{i}") for i in range(1, n + 1)])
        return Member({"i": n, "j": m}, rows, {"q": total})

    members = [member(n, m) for n, m in ((2, 3), (3, 2), (3, 4))]
    spelled = {"x": "x{i}", "y": "y{j}", "B": "B{i}_{j}"}
    return every_member(members, {"i": "n_a", "j": "m"}, spelled, "flow", ["k", "B"])


def test_a_flow_with_slopes_and_sums_inside_rows() -> None:
    made = flow_with_slopes()
    lines = indexed_text(made).splitlines()
    assert lines[0] == "# i = 1, ..., n_a; j = 1, ..., m" and "# phi(z) = 1/(1 + exp(z))" in lines
    assert [line for line in lines if line.startswith("d/dt")] == [
        "d/dt x[i] = sum(j=1..m) B[i,j]*y[j] - q*phi(-k*x[i])",
        "d/dt y[j] = -y[j]",
    ]
    (told,) = [line for line in lines if line.startswith("q = ")]
    assert told.startswith("q = sum(i=1..n_a) (") and told.endswith(")")
    tex = indexed_lines(made)
    assert tex["x[i]"] == r"\dot{x} = \sum_{j=1}^{m} B\,y - q\,\varphi(-k\,x)" and tex["y[j]"] == r"\dot{y} = -y"
    assert tex["q"] == r"q = \sum_{i=1}^{n_{a}} \big(2x + (1 - x)^{2}\big)"
    whole = indexed_latex(made)
    assert whole.startswith("\\begin{align}\n") and "where\n\\begin{align*}" in whole
    assert r"$\varphi(z) = \frac{1}{1 + e^{z}}$" in whole and whole.endswith(".")
    document = indexed_latex(made, document=True)
    assert r"A flow with" in document and document.startswith("\\documentclass")
    root = ElementTree.fromstring(indexed_mathml(made))
    assert root.tag.endswith("math") and len(root[0]) == 2 + 1 + 1 + 3


def test_products_of_sizes_have_thin_spaces_and_sums_plus_signs() -> None:
    assert _product("n") == "n" and _product("2") == "2" and _product("m*n*4 + 1") == r"m\,n\,4 + 1"
