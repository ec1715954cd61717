"""MathML into expressions and back."""

from __future__ import annotations

import math
import operator

import pytest
from hypothesis import given, settings

from odesys import graph, sym
from odesys.errors import EquationError
from odesys.exact.zero import zero_test
from odesys.expr.tape import ARRAYS, Tape
from odesys.reading import mathml
from odesys.reading.grammar import Grammar
from odesys.reading.mathml import (
    FUNCTIONS,
    RECIPROCALS,
    WRITTEN,
    MathReader,
    math_element,
    parse_xml,
    part,
    refuse_deep,
    tag,
)
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
    with pytest.raises(EquationError, match=f"{said}( than it needs)?$"):
        read(text)


def test_functions_that_double_at_each_step_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is lowered here, so that this is quick."""
    monkeypatch.setattr(mathml, "MOST_EXPANDED", 20_000)

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


def test_parts_are_counted_from_both_ends() -> None:
    """As in a list, but a place beyond the ends is an error that names the element."""
    for count in range(4):
        element = parse_xml(f"<a xmlns='http://somewhere'>{'<b/>' * count}</a>")
        for place in range(-4, 4):
            if -count <= place < count:
                assert part(element, place) is list(element)[place]
            else:
                with pytest.raises(EquationError, match="an element <a> of MathML has fewer parts than it needs"):
                    part(element, place)
        assert tag(element) == "a" and (not count or part(element) is element[0])


def test_elements_in_each_other_are_counted_and_those_beside_each_other_are_not() -> None:
    def nested(depth: int) -> str:
        return "<a>" * depth + "</a>" * depth

    refuse_deep(nested(300), "file")
    refuse_deep(f"<a>{nested(298) * 3}{'<b/>' * 900}</a>", "file")
    for text in (nested(301), f"<a>{nested(3)}{nested(300)}</a>", "<a>" * 301):
        with pytest.raises(EquationError, match="the equations of this odd file are nested more deeply than they can"):
            refuse_deep(text, "odd file")
    for text in ("<a><b></a>", "no XML", "", "x\0y"):
        refuse_deep(text, "file")  # left to the reader


@pytest.mark.parametrize("sign", ["lt", "gt", "leq", "geq"])
def test_comparisons_agree_with_python_also_where_sides_are_equal(sign: str) -> None:
    compare = {"lt": operator.lt, "gt": operator.gt, "leq": operator.le, "geq": operator.ge}[sign]
    two, three = (read(f"<apply><{sign}/>{inner}</apply>") for inner in (f"{X}<cn>1</cn>", f"{X}<cn>1</cn><ci>y</ci>"))
    for x in (0, 1, 2):
        assert number(two, x=x) == compare(x, 1)
        for y in (0, 1, 2):
            assert number(three, x=x, y=y) == (compare(x, 1) and compare(1, y))


def test_logic_agrees_with_python() -> None:
    answers = {"true": True, "false": False}
    for a in answers:
        for b in answers:
            both = f"<{a}/><{b}/>"
            assert number(read(f"<apply><and/>{both}<true/></apply>")) == (answers[a] and answers[b])
            assert number(read(f"<apply><or/>{both}<false/></apply>")) == (answers[a] or answers[b])
        assert number(read(f"<apply><not/><{a}/></apply>")) == (not answers[a])


def test_sums_and_products_may_be_empty_and_extremes_have_any_number() -> None:
    assert read("<apply><plus/></apply>") is graph.ZERO and read("<apply><times/></apply>") is graph.ONE
    for kind, best in (("max", max), ("min", min)):
        for numbers in ((3,), (2, 5), (5, 2), (-1, 4, 3), (4, -1, 7), (7, 7, -8)):
            found = read(f"<apply><{kind}/>{''.join(f'<cn>{n}</cn>' for n in numbers)}</apply>")
            assert found is graph.num(best(numbers))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<vector/>", "the element <vector> of MathML is not read as a number"),
        ("<piecewise/>", "a piecewise function must say what it is otherwise"),
        (
            '<csymbol definitionURL="http://www.sbml.org/sbml/symbols/rateOf"> r </csymbol>',
            "the symbol rateOf of MathML is not read (a delay, a rate)",
        ),
        ("<csymbol>odd</csymbol>", "the symbol odd of MathML is not read (a delay, a rate)"),
        (
            '<apply><csymbol definitionURL="http://a/symbols/delay"> d </csymbol><ci>x</ci></apply>',
            "delays are not read",
        ),
        ("<apply><csymbol> f </csymbol><ci>x</ci></apply>", "the function f is not defined in this file"),
        ("<apply><ci> f </ci><ci>x</ci></apply>", "the function f is not defined in this file"),
        (
            "<apply><and/><apply><xor/><true/></apply></apply>",
            "the condition <xor> of MathML is not read; < > <= >= and or not are",
        ),
        ("<apply><and/><ci>x</ci></apply>", "the element <ci> of MathML is no condition"),
        ("<apply><floor/><ci>x</ci></apply>", "the function <floor> of MathML is not read"),
        ("<cn> 1 <sep/> 2 </cn>", "<cn> of type 'real' in base 10 with 2 parts is not read"),
        ('<cn base="16"> 10 </cn>', "<cn> of type 'real' in base 16 with 1 parts is not read"),
        (
            '<cn type="complex-cartesian"> 1 <sep/> 2 </cn>',
            "<cn> of type 'complex-cartesian' in base 10 with 2 parts is not read",
        ),
        ('<cn type="rational"> 1 </cn>', "<cn> holds '1', which is not a finite number"),
        ('<cn type="e-notation"> 1 <sep/> x </cn>', "<cn> holds '1 x', which is not a finite number"),
        ("<apply><power/><cn>0</cn><cn>-1</cn></apply>", "the equations divide by zero"),
    ],
)
def test_what_is_refused_is_refused_in_a_whole_sentence(text: str, said: str) -> None:
    with pytest.raises(EquationError) as caught:
        read(text)
    assert str(caught.value) == said


def test_calls_may_stand_for_so_many_elements_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """f has 8 elements, of which two call g, which has 4."""
    inner = parse_xml("<apply><times/><cn>3</cn><ci>a</ci></apply>")
    call = "<apply><ci>g</ci><ci>a</ci></apply>"
    functions = {"f": (("a",), parse_xml(f"<apply><plus/>{call}{call}</apply>")), "g": (("a",), inner)}
    whole = parse_xml(f"<apply><ci>f</ci>{X}</apply>")
    monkeypatch.setattr(mathml, "MOST_EXPANDED", 16)
    reader = MathReader(sym, functions)
    assert reader.read(whole) is 6 * X_ and reader.expanded == [16]
    with pytest.raises(EquationError, match="so often that f stands for more than 16 elements; write formulas with"):
        reader.read(whole)
    monkeypatch.setattr(mathml, "MOST_EXPANDED", 15)
    with pytest.raises(EquationError, match="so often that g stands for more than 15 elements"):
        MathReader(sym, functions).read(whole)


def test_an_argument_hides_a_name_of_the_file_inside_of_its_function_alone() -> None:
    names = {"a": 5 * Y_, "b": Y_}
    reader = MathReader(names.__getitem__, {"f": (("a",), parse_xml("<apply><plus/><ci>a</ci><ci> b </ci></apply>"))})
    assert reader.read(parse_xml("<apply><plus/><apply><ci>f</ci><cn>2</cn></apply><ci>a</ci></apply>")) is 6 * Y_ + 2


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (X_, "<ci> x </ci>"),
        (2 * X_, '<apply><times/><cn type="integer"> 2 </cn><ci> x </ci></apply>'),
        (X_ / 3, '<apply><times/><cn type="rational"> 1 <sep/> 3 </cn><ci> x </ci></apply>'),
        (X_**3, '<apply><power/><ci> x </ci><cn type="integer"> 3 </cn></apply>'),
        (graph.sqrt(X_), '<apply><power/><ci> x </ci><cn type="rational"> 1 <sep/> 2 </cn></apply>'),
        (graph.call("log", X_), "<apply><ln/><ci> x </ci></apply>"),
        (
            sym("t"),
            '<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time"> t </csymbol>',
        ),
        (
            graph.step(X_),
            '<piecewise><piece><cn type="integer"> 1 </cn><apply><gt/><ci> x </ci><cn type="integer"> 0 </cn></apply>'
            '</piece><otherwise><cn type="integer"> 0 </cn></otherwise></piecewise>',
        ),
    ],
)
def test_elements_are_written_without_needless_ones_around_them(node: graph.Node, text: str) -> None:
    assert math_element(node) == text


def test_sums_and_products_have_one_element_for_each_part() -> None:
    total, product = (parse_xml(math_element(node)) for node in (X_ + Y_, X_ * Y_))
    assert [tag(child) for child in total] == ["plus", "ci", "ci"]
    assert [tag(child) for child in product] == ["times", "ci", "ci"]
