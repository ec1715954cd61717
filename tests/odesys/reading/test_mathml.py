"""MathML into expressions and back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from odesys import graph, sym
from odesys.errors import EquationError
from odesys.exact.zero import zero_test
from odesys.expr.tape import ARRAYS, Tape
from odesys.reading.grammar import Grammar
from odesys.reading.mathml import FUNCTIONS, RECIPROCALS, WRITTEN, MathReader, math_element, parse_xml
from tests.random_nodes import expressions, value

X = "<ci>x</ci>"
X_, Y_ = sym("x"), sym("y")


def read(text: str) -> graph.Node:
    return MathReader().read(parse_xml(text))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (f"<apply><root/><degree><cn>3</cn></degree>{X}</apply>", "x^(1/3)"),
        (f"<apply><log/>{X}</apply>", "log10(x)"),
        (f"<apply><log/><logbase><cn>2</cn></logbase>{X}</apply>", "log(x)/log(2)"),
        (f"<apply><minus/>{X}</apply>", "-x"),
        (f"<apply><coth/>{X}</apply>", "1/tanh(x)"),
        ('<cn type="e-notation">1.5<sep/>-3</cn>', "0.0015"),
        ('<cn type="rational">2<sep/>3</cn>', "2/3"),
        (f"<apply><max/>{X}<cn>1</cn></apply>", "max(x, 1)"),
        (f"<apply><abs/>{X}</apply>", "abs(x)"),
        (
            f"<piecewise><piece><cn>1</cn><apply><and/><apply><lt/>{X}<cn>0</cn></apply><apply><gt/>{X}<cn>-1</cn>"
            f"</apply></apply></piece><otherwise>{X}</otherwise></piecewise>",
            "if (x < 0 & x > -1) then (1) else (x)",
        ),
    ],
)
def test_what_elements_mean(text: str, meaning: str) -> None:
    gap = read(text) - Grammar().read(meaning)
    assert gap is graph.ZERO or zero_test(gap).answer == "zero"


@pytest.mark.parametrize(
    "text", ["y*exp(-x)/(1 + y^2) - 3/7*abs(x) + t", "x^(1/2) + tanh(x)^3/y", "sigmoid(x)*log(1 + x^2)", "-7/3"]
)
def test_what_is_written_is_read(text: str) -> None:
    node = Grammar().read(text)
    gap = read(math_element(node)) - node
    assert gap is graph.ZERO or zero_test(gap).answer == "zero"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"<apply><floor/>{X}</apply>", "floor"),
        (f"<piecewise><piece>{X}<true/></piece></piecewise>", "otherwise"),
        ("<infinity/>", "infinity"),
        ("<cn>big</cn>", "not a finite number"),
        ("<cn>1e999999999</cn>", "999999999 digits"),
        ('<cn type="e-notation">1<sep/>999999999</cn>', "999999999 digits"),
        ('<cn type="rational">1<sep/>0</cn>', "not a finite number"),
        (f'<cn type="rational">{"9" * 5000}<sep/>1</cn>', "5000 digits"),
        (f"<apply><ci>f</ci>{X}</apply>", "f is not defined"),
        (f"<apply><eq/>{X}<cn>1</cn></apply>", "eq"),
        (f"<apply><divide/>{X}<cn>0</cn></apply>", "divide by zero"),
    ],
)
def test_what_is_not_read_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(EquationError, match=said):
        read(text)


def test_functions_of_a_file_do_not_call_themselves() -> None:
    body = parse_xml("<apply><times/><ci>a</ci><ci>a</ci></apply>")
    square = MathReader(sym, {"f": (("a",), body)})
    assert square.read(parse_xml(f"<apply><ci>f</ci>{X}</apply>")) is sym("x") ** 2
    endless = MathReader(sym, {"f": (("a",), parse_xml("<apply><ci>f</ci><ci>a</ci></apply>"))})
    with pytest.raises(EquationError, match="f is not defined"):
        endless.read(parse_xml(f"<apply><ci>f</ci>{X}</apply>"))


def test_erf_has_no_element() -> None:
    with pytest.raises(EquationError, match="erf has no element"):
        math_element(graph.call("erf", sym("x")))


CELSIUS = {
    "arcsec": lambda z: math.acos(1 / z),
    "arccsc": lambda z: math.asin(1 / z),
    "arccot": lambda z: math.atan(1 / z),
}
PYTHON = {
    "exp": math.exp, "ln": math.log, "abs": abs, "sin": math.sin, "cos": math.cos, "tan": math.tan, "sinh": math.sinh,
    "cosh": math.cosh, "tanh": math.tanh, "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan,
    "arcsinh": math.asinh, "arccosh": math.acosh, "arctanh": math.atanh,
    "sec": lambda z: 1 / math.cos(z), "csc": lambda z: 1 / math.sin(z), "cot": lambda z: 1 / math.tan(z),
    "sech": lambda z: 1 / math.cosh(z), "csch": lambda z: 1 / math.sinh(z), "coth": lambda z: 1 / math.tanh(z),
}  # fmt: skip


def number(node: graph.Node, **point: float) -> float:
    return float(graph.evaluate([node], point, graph.FLOAT_FUNCTIONS, float)[0])


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *RECIPROCALS} & set(PYTHON)))
def test_functions_are_those_of_python(name: str) -> None:
    node = read(f"<apply><{name}/>{X}</apply>")
    for point in (1.3, 2.1) if name == "arccosh" else (0.3, 0.7):
        assert number(node, x=point) == pytest.approx(PYTHON[name](point), rel=1e-14)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"<apply><log/>{X}</apply>", math.log10(0.3)),
        (f"<apply><root/>{X}</apply>", math.sqrt(0.3)),
        (f"<apply><root/><degree><cn>5</cn></degree>{X}</apply>", 0.3**0.2),
        (f"<apply><minus/><cn>2</cn>{X}</apply>", 1.7),
        (f"<apply><power/>{X}<cn>-2</cn></apply>", 0.3**-2),
        (f"<apply><times/>{X}{X}<cn>3</cn></apply>", 0.27),
        (f"<apply><plus/>{X}{X}<cn>3</cn></apply>", 3.6),
        (f"<apply><divide/>{X}<cn>4</cn></apply>", 0.075),
        (f"<apply><min/>{X}<cn>0.2</cn><cn>1</cn></apply>", 0.2),
        (f"<apply><max/>{X}<cn>0.2</cn><cn>-1</cn></apply>", 0.3),
        (f"<math><semantics>{X}</semantics></math>", 0.3),
        ("<pi/>", math.pi),
        ("<exponentiale/>", math.e),
        ('<csymbol definitionURL="http://www.sbml.org/sbml/symbols/avogadro"/>', 6.02214179e23),
        ('<csymbol definitionURL="http://www.sbml.org/sbml/symbols/time"/>', 2.5),
        (f"<apply><lt/><cn>0</cn>{X}<cn>1</cn></apply>", 1),
        (f"<apply><lt/><cn>0</cn>{X}<cn>0.2</cn></apply>", 0),
        (f"<apply><leq/>{X}<cn>0.3</cn></apply>", 1),
        (f"<apply><geq/>{X}<cn>0.4</cn></apply>", 0),
        (f"<apply><or/><apply><gt/>{X}<cn>1</cn></apply><true/></apply>", 1),
        (f"<apply><or/><apply><gt/>{X}<cn>1</cn></apply><false/></apply>", 0),
        (f"<apply><not/><apply><gt/>{X}<cn>1</cn></apply></apply>", 1),
        (f"<apply><and/><true/><apply><gt/>{X}<cn>1</cn></apply></apply>", 0),
    ],
)
def test_numbers_that_elements_give(text: str, wanted: float) -> None:
    assert number(read(text), x=0.3, t=2.5) == pytest.approx(wanted, rel=1e-14)


def test_the_first_piece_that_holds_counts() -> None:
    pieces = "".join(f"<piece><cn>{k}</cn><apply><lt/>{X}<cn>{k}</cn></apply></piece>" for k in (1, 2, 3))
    node = read(f"<piecewise>{pieces}<otherwise><cn>9</cn></otherwise></piecewise>")
    assert [round(number(node, x=x), 9) for x in (0.5, 1.0, 1.5, 2.5, 3.0, 7.0)] == [1, 2, 2, 3, 9, 9]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"<apply><minus/>{X}{X}{X}</apply>", "<minus> of MathML has 3 arguments and takes 1 or 2"),
        (f"<apply><divide/>{X}{X}{X}</apply>", "<divide> of MathML has 3 arguments and takes 2"),
        (f"<apply><power/>{X}</apply>", "<power> of MathML has 1 arguments and takes 2"),
        (f"<apply><sin/>{X}{X}</apply>", "<sin> of MathML has 2 arguments and takes 1"),
        ("<apply><log/></apply>", "<log> of MathML has 0 arguments and takes 1"),
        ("<apply><max/></apply>", "<max> of MathML has 0 arguments and takes 1 or more"),
        (f"<apply><lt/>{X}</apply>", "<lt> of MathML has 1 arguments and takes 2 or more"),
        ("<apply><not/><true/><true/></apply>", "<not> of MathML has 2 arguments and takes 1"),
        ("<apply/>", "<apply> of MathML has fewer parts"),
        ("<math/>", "<math> of MathML has fewer parts"),
        (f"<piecewise><piece>{X}</piece><otherwise>{X}</otherwise></piecewise>", "<piece> of MathML has fewer parts"),
        ("<piecewise><otherwise/></piecewise>", "<otherwise> of MathML has fewer parts"),
        (f"<apply><root/><degree/>{X}</apply>", "<degree> of MathML has fewer parts"),
    ],
)
def test_elements_take_as_many_arguments_as_they_say(text: str, said: str) -> None:
    """None is left out without a word, and none is missed by a traceback."""
    with pytest.raises(EquationError, match=said):
        read(text)


def test_functions_that_double_at_each_step_are_refused() -> None:
    def call(name: str, of: str) -> str:
        return f"<apply><ci>{name}</ci><apply><{of}/><ci>a</ci></apply></apply>"

    bodies = {
        f"f{k}": f"<apply><plus/>{call(f'f{k - 1}', 'sin')}{call(f'f{k - 1}', 'cos')}</apply>" for k in range(1, 60)
    }
    bodies["f0"] = "<ci>a</ci>"
    reader = MathReader(sym, {name: (("a",), parse_xml(text)) for name, text in bodies.items()})
    assert len(reader.read(parse_xml("<apply><ci>f3</ci><ci>x</ci></apply>")).args) == 8
    with pytest.raises(EquationError, match="call each other so often"):
        reader.read(parse_xml("<apply><ci>f59</ci><ci>x</ci></apply>"))


def test_functions_of_a_file_have_their_arguments() -> None:
    body = parse_xml("<apply><minus/><ci>a</ci><apply><ci>g</ci><ci>b</ci></apply></apply>")
    double = parse_xml("<apply><times/><cn>2</cn><ci>a</ci></apply>")
    reader = MathReader(sym, {"f": (("a", "b"), body), "g": (("a",), double)})
    assert reader.read(parse_xml(f"<apply><ci>f</ci>{X}<ci>y</ci></apply>")) is sym("x") - 2 * sym("y")
    for text, said in (
        (f"<apply><ci>f</ci>{X}</apply>", "f takes 2 arguments, not 1"),
        ('<apply><csymbol definitionURL="http://www.sbml.org/sbml/symbols/delay"/><ci>x</ci></apply>', "delays"),
        ('<csymbol definitionURL="http://www.sbml.org/sbml/symbols/rateOf"/>', "rateOf of MathML is not read"),
        ("<apply><not/><apply><xor/><true/><true/></apply></apply>", "condition <xor>"),
        (f"<piecewise><piece>{X}<ci>y</ci></piece><otherwise>{X}</otherwise></piecewise>", "no condition"),
    ):
        with pytest.raises(EquationError, match=said):
            reader.read(parse_xml(text))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(expressions())
def test_random_expressions_are_read_as_they_were_written(node: graph.Node) -> None:
    back = read(math_element(node))
    for x, y in ((0.37, -1.21), (-0.64, 0.83)):
        assert number(back, x=x, y=y) == pytest.approx(value(node, x, y), rel=1e-9, abs=1e-10)


@pytest.mark.parametrize(
    "node",
    [
        graph.call("softplus", X_ - 2 * Y_),
        graph.call("sigmoid", X_ - 2 * Y_),
        graph.step(X_ - Y_) + graph.step(Y_ - X_) * 3,
        graph.relu(X_ - Y_),
        graph.sqrt(X_) * Y_**-2 / graph.call("cbrt", X_ + Y_),
        *(graph.call(name, X_ / 9 if name != "arccosh" else X_ + 1) for name in WRITTEN),
    ],
)
def test_functions_are_written_by_what_they_are(node: graph.Node) -> None:
    """Also those that MathML has no element for: read again, they have the same values."""
    again = read(math_element(node))
    for x, y in ((0.7, 1.9), (2.5, 0.3), (1.0, 0.25)):
        values = Tape.of([node, again]).over(ARRAYS)({"x": x, "y": y})
        assert values[0] == pytest.approx(float(values[1]), rel=1e-12)
