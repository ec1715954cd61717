"""Text to expressions: the meaning of every construct, and a sentence for everything else."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable

import pytest
import sympy as sp

from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import Node, sym
from odesys.reading import grammar
from odesys.reading.grammar import Definition, Grammar

x, y = sym("x"), sym("y")


def value(node: Node, **env: float) -> float:
    return float(graph.evaluate([node], env, graph.FLOAT_FUNCTIONS, float)[0])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-x^2", -(x**2)),
        ("2^3^2", graph.num(512)),
        ("x**-1", 1 / x),
        ("1 - 2 - 3", graph.num(-4)),
        ("8/4/2", graph.ONE),
        ("0.1*x", x / 10),
        ("1.5e-3", graph.num(3) / 2000),
        (".5", graph.num(1) / 2),
        ("ln(x)", graph.call("log", x)),
        ("atan(x)", graph.call("arctan", x)),
        ("heav(x)", graph.step(x)),
        ("max(x, y)", graph.as_node(sp.Max(*sp.symbols("x y")))),
        ("sqrt(x)*sqrt(x)", x),
        ("µ + μ", 2 * sym("mu")),
    ],
)
def test_expressions(text: str, wanted: Node) -> None:
    assert Grammar().read(text) is wanted or value(Grammar().read(text), x=1.7, y=0.4) == value(wanted, x=1.7, y=0.4)


@pytest.mark.parametrize("seed", range(20))
def test_random_expressions_agree_with_python(seed: int) -> None:
    rng = random.Random(seed)

    def draw(depth: int, level: int = 0) -> tuple[str, float]:
        """A text with its value; brackets only where the level, 0 for sums and 1 for factors, asks for them."""
        if not depth:
            return rng.choice([("x", 0.7), ("y", -1.3), ("2", 2.0), ("0.25", 0.25), ("3.5e0", 3.5)])
        kind = rng.randrange(4)
        if kind == 0:
            inner, number = draw(depth - 1)
            return f"sin({inner})", math.sin(number)
        if kind == 1:
            (a, p), (b, q) = draw(depth - 1, 1), draw(depth - 1, 1)
            return f"{a}*{b}", p * q
        (a, p), (b, q) = draw(depth - 1), draw(depth - 1, 1)
        text, number = (f"{a} + {b}", p + q) if kind == 2 else (f"{a} - {b}", p - q)
        return (f"({text})" if level else text), number

    text, expected = draw(5)
    assert value(Grammar().read(text), x=0.7, y=-1.3) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_choices_are_gates() -> None:
    node = Grammar().read("if(x > 1 & y <= 2)then(x)else(if(not(x < 0))then(5)else(y))")
    for a, b, wanted in ((2, 1, 2), (2, 2, 2), (2, 3, 5), (0.5, 1, 5), (0, 1, 5), (-1, 7, 7)):
        assert value(node, x=a, y=b) == pytest.approx(wanted)


def test_functions_of_a_file() -> None:
    both = Grammar(functions={"f": Definition(("a", "b"), "a^2 + g(b)"), "g": Definition(("a",), "3*a")})
    assert both.read("f(x, y+1)") is x**2 + 3 * y + 3
    with pytest.raises(EquationError, match="f"):
        Grammar(functions={"f": Definition(("a",), "f(a)")}).read("f(x)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2x", r"write 2\*x"),
        ("x y", r"write x\*y"),
        ("(x)(y)", "opening bracket"),
        ("x +", "ends too early"),
        ("(x", "is missing"),
        ("x)", "too much"),
        ("foo(x)", "foo is not known"),
        ("sin(x, y)", "2 arguments"),
        ("x $ 1", "no meaning"),
        ("1/0", "divides by zero"),
        ("0^-1", "divides by zero"),
        ("__import__('os')", "no meaning"),
        ("", "ends too early"),
        ("if(x)then(1)else(2)", "comparison"),
        ("x.real", "no meaning"),
        ("nan*x", "nan is no number that equations can have"),
        ("-Inf", "Inf is no number"),
        ("infinity + x", "infinity is no number"),
        ("x - oo", "oo is no number"),
    ],
)
def test_everything_else_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(EquationError, match=said):
        Grammar().read(text)


def test_an_exponential_is_not_read_as_a_power_of_a_parameter() -> None:
    """It was one silently; e, E and I alone are parameters, as in models of enzymes or of infections."""
    for text in ("e^(-x)", "1 - E**(2*x + k)", "e^-t"):
        with pytest.raises(EquationError, match=r"[eE] would be a parameter; write exp\(...\)"):
            Grammar(states=["x"]).read(text)
    for text in ("e*x", "E^n/(1 + E^n)", "I*x", "x^e"):
        assert Grammar(states=["x"]).read(text) == Grammar(states=["x"], parameters=["e", "E"]).read(text)


def test_names_that_were_said_stay_what_they_are() -> None:
    x, inf, e = sym("x"), sym("inf"), sym("e")
    assert Grammar(states=["x", "inf"]).read("x*inf") == Grammar(parameters=["inf"]).read("x*inf") == x * inf
    assert Grammar(states=["x"], parameters=["e"]).read("e^x") == graph.symbolic_power(e, x)


def test_a_long_text_is_shown_by_its_ends() -> None:
    with pytest.raises(EquationError) as caught:
        Grammar().read("x + y * " * 500 + "$")
    assert len(str(caught.value)) < 200 and "the sign $ has no meaning" in str(caught.value)


def test_pieces_are_written_in_two_ways_and_end_with_one_for_all_other_cases() -> None:
    read = Grammar().read
    size = read("Piecewise((x, x > 0), (-x, True))")
    assert size is read("piecewise(x, x > 0, -x)")
    assert (value(size, x=2.0), value(size, x=-3.0)) == (2.0, 3.0)
    with pytest.raises(EquationError, match="the last piece has a condition"):
        read("Piecewise((x, x > 0), (-x, x < 0))")


FUNCTIONS = {
    "sign": lambda a: math.copysign(1.0, a),
    "sgn": lambda a: math.copysign(1.0, a),
    "log10": lambda a: math.log10(abs(a) + 1),
    "sech": lambda a: 1 / math.cosh(a),
    "sec": lambda a: 1 / math.cos(a),
    "csc": lambda a: 1 / math.sin(a),
    "cot": lambda a: 1 / math.tan(a),
    "abs": abs,
    "relu": lambda a: max(a, 0.0),
    "heaviside": lambda a: float(a > 0),
    "asinh": math.asinh,
    "atan": math.atan,
    "arctan": math.atan,
    "cbrt": lambda a: math.copysign(abs(a) ** (1 / 3), a),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_argument(name: str) -> None:
    given = "abs(x) + 1" if name in ("log10",) else "x"
    points = (0.6, 1.3) if name == "cbrt" else (0.6, -1.3)
    for point in points:
        assert value(Grammar().read(f"{name}({given})"), x=point) == pytest.approx(FUNCTIONS[name](point), abs=1e-14)


def test_functions_of_several_arguments() -> None:
    for a, b in ((0.7, -1.2), (2.0, 3.0), (3.0, 2.0)):
        both = {"x": a, "y": b}
        assert value(Grammar().read("max(x, y, 0.5, -9)"), **both) == pytest.approx(max(a, b, 0.5))
        assert value(Grammar().read("min(x, y, 0.5, 9)"), **both) == pytest.approx(min(a, b, 0.5))
        assert value(Grammar().read("hypot(x, y)"), **both) == pytest.approx(math.hypot(a, b))
        assert value(Grammar().read("pow(x, y)"), **both) == pytest.approx(a**b)


SIDES: dict[str, Callable[[int, int], int]] = {
    "x": lambda x, y: x,
    "y": lambda x, y: y,
    "abs(x)": lambda x, y: abs(x),
    "(x + y)": lambda x, y: x + y,
    "2": lambda x, y: 2,
    "abs(y) - x": lambda x, y: abs(y) - x,
    "(y)": lambda x, y: y,
}
ORDERS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


@pytest.mark.parametrize("seed", range(8))
def test_random_conditions_agree_with_python(seed: int) -> None:
    """& and | are joined from the left; sides begin with brackets and functions too, and may be equal."""
    rng = random.Random(seed)

    def comparison(x: int, y: int) -> tuple[str, bool]:
        one, sign, other = rng.choice([*SIDES]), rng.choice([*ORDERS]), rng.choice([*SIDES])
        text, answer = f"{one} {sign} {other}", ORDERS[sign](SIDES[one](x, y), SIDES[other](x, y))
        return (f"not({text})", not answer) if rng.random() < 0.3 else (text, answer)

    for x, y in ((-1, 1), (0, 0), (2, 2), (1, -1), (2, 0), (-2, -2)) * 10:
        text, answer = comparison(x, y)
        for _ in range(rng.randrange(3)):
            (more, same), sign = comparison(x, y), rng.choice("&|")
            text, answer = f"{text} {sign} {more}", (answer and same) if sign == "&" else (answer or same)
        node = Grammar().read(f"if({text})then(3)else(5)")
        assert value(node, x=x, y=y) == (3 if answer else 5), (text, x, y)


SENTENCES = {
    "2x": 'in "2x" the name x follows a number; write 2*x',
    "x y": 'in "x y" the name y follows x; write x*y',
    "x 3": 'in "x 3" the number 3 follows x; write x*3',
    "2 (x)": 'in "2 (x)" an opening bracket follows a number; write 2*(...)',
    "x)": 'in "x)" there is ) too much',
    "y, x": 'in "y, x" there is , too much',
    "x +": '"x +" ends too early',
    "(x": '"(x" ends too early: ) is missing',
    "(x y": 'in "(x y" there should be ) where y is',
    "x $ 1": 'in "x $ 1" the sign $ has no meaning; use + - * / ^ ( ) and names',
    "1/(x - x)": '"1/(x - x)" divides by zero',
    "0^-1": '"0^-1" divides by zero',
    "f(x)": 'in "f(x)" f takes 2 arguments',
    "pow(x)": 'in "pow(x)" pow has 1 arguments',
    "hypot(x, y, 2)": 'in "hypot(x, y, 2)" hypot has 3 arguments',
    "sin(x, y)": 'in "sin(x, y)" sin has 2 arguments instead of one',
    "exp()": 'in "exp()" an expression should stand where ) is',
    "* x": 'in "* x" an expression should stand where * is',
    "x(s)": 'in "x(s)" x is a state, so only x or x(t) can be read',
    "x(t, t)": 'in "x(t, t)" x is a state, so only x or x(t) can be read',
    "x(t": 'in "x(t" x is a state, so only x or x(t) can be read',
    "if(x == 1)then(1)else(2)": 'in "if(x == 1)then(1)else(2)" a comparison by < > <= >= should stand where == is',
    "if(x<1)else(2)": 'in "if(x<1)else(2)" there should be then where else is',
    "Piecewise((x, x>0), (y, x<0))": 'in "Piecewise((x, x>0), (y, x<0))" the last piece has a condition; end with one '
    "for all other cases",
    "Piecewise((x, True), (y, True))": 'in "Piecewise((x, True), (y, True))" there should be ) where , is',
}


@pytest.mark.parametrize("text", SENTENCES)
def test_the_sentence_names_the_place_and_what_is_wrong_there(text: str) -> None:
    with pytest.raises(EquationError) as caught:
        Grammar(states=["x", "y"], functions={"f": Definition(("a", "b"), "a + b")}).read(text)
    assert str(caught.value) == SENTENCES[text]


def test_a_function_that_is_not_known_is_named_in_the_error_itself() -> None:
    with pytest.raises(
        EquationError, match=r"the function foo is not known; known are abs, .*, hypot, .*, tanh"
    ) as caught:
        Grammar().read("foo(x)")
    assert caught.value.function == "foo"


def test_states_may_be_followed_by_the_time_and_functions_be_written_in_capitals() -> None:
    read = Grammar(states=["x"]).read
    assert read("x(t)^2 - x(t)*y") is x**2 - x * y
    for text, wanted in {"SIN(x)": "sin(x)", "Ln(x)": "log(x)", "Atan(x)": "arctan(x)", "ABS(x)": "abs(x)"}.items():
        assert read(text) is read(wanted), text
    assert Grammar(fold=True).read("X + Sin(Y)") is read("x + sin(y)") and read("X") is sym("X")


def test_signs_bind_less_than_powers_and_powers_from_the_right() -> None:
    for text, wanted in {
        "--x": "x",
        "+x": "x",
        "-+-x": "x",
        "2*-x": "-(2*x)",
        "x^2^3": "x^8",
        "-x^2*3": "-(3*x^2)",
    }.items():
        assert Grammar().read(text) is Grammar().read(wanted), text
    assert value(Grammar().read("2^x^2"), x=3.0) == pytest.approx(512) and Grammar().read("(2^3)^2") is graph.num(64)


def test_names_stand_for_what_they_were_given() -> None:
    """Also letters that are written in another way; pi is the number unless it is a state."""
    given = Grammar(values={"q": x + 1, "lambda_": 3 * x})
    assert given.read("q*y") is (x + 1) * y and given.read("λ + lambda") is 6 * x
    assert value(Grammar().read("pi*x"), x=2.0) == 2 * math.pi
    assert Grammar(states=["pi"]).read("pi*x") is sym("pi") * x and Grammar(values={"pi": x}).read("pi") is x


def test_pieces_may_begin_with_brackets_of_their_own() -> None:
    """Pairs are told from values in brackets by a comma that no inner bracket holds."""
    read = Grammar().read
    for text, low, high in (
        ("piecewise((x + 1)*2, x > 0, 3)", 3, 6),
        ("piecewise((max(x, y)), x > 0, 5)", 5, 2),
        ("Piecewise(((x + 1)*2, x > 0), (3, TRUE))", 3, 6),
        ("Piecewise((max(x, y), x > 0), (x, x < -1), (y, true))", -2, 2),
        ("piecewise(7)", 7, 7),
    ):
        assert (value(read(text), x=-2.0, y=1.0), value(read(text), x=2.0, y=1.0)) == (low, high), text


def test_not_is_a_name_where_no_bracket_follows() -> None:
    node = Grammar().read("if(not < 3)then(1)else(2)")
    assert [value(node, not_=number) for number in (2.0, 3.0, 4.0)] == [1, 2, 2]


def test_calls_may_stand_for_so_many_letters_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call counts the letters of its function, and those in it count as well."""
    functions = {"f": Definition(("a",), "g(a) + g(2*a)"), "g": Definition(("a",), "3*a")}
    monkeypatch.setattr(grammar, "MOST_EXPANDED", 13 + 2 * 3)
    allowed = Grammar(functions=functions)
    assert allowed.read("f(x)") is 9 * x and allowed.expanded == [19]
    with pytest.raises(EquationError, match="so often that g stands for more than 19 letters; write fixed quantities"):
        allowed.read("g(x)")
    monkeypatch.setattr(grammar, "MOST_EXPANDED", 18)
    with pytest.raises(EquationError, match="stands for more than 18 letters"):
        Grammar(functions=functions).read("f(x)")


def test_brackets_without_end_are_refused_in_a_sentence() -> None:
    with pytest.raises(EquationError, match="has too many brackets in each other; name parts of it"):
        Grammar().read("(" * 5000 + "x" + ")" * 5000)


def test_raised_digits_next_to_each_other_are_one_number() -> None:
    assert Grammar().read("x²³ + x²") is Grammar().read("x^23 + x^2")
