"""MathML into expressions and back."""

from __future__ import annotations

import pytest

from odesys import graph, sym
from odesys.errors import EquationError
from odesys.exact.zero import zero_test
from odesys.reading.grammar import Grammar
from odesys.reading.mathml import MathReader, math_element, parse_xml

X = "<ci>x</ci>"


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
