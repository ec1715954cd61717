r"""TeX, MathML and plain text: compared with stored files, read back as numbers, measured, and compiled.

The stored files are written by ``python -m tests.odesys.tex.test_latex``; look at the difference before committing it.
"""

from __future__ import annotations

import functools
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy as sp

from derivations.two_mixture import setting
from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, gradient_descent, gradient_flow
from odesys.errors import OdesysError
from odesys.expr import graph
from odesys.expr.system import System, WrittenEquations
from odesys.tex.latex import (
    LINE,
    EquationLine,
    align,
    distinct_tex,
    mathml_table,
    name_tex,
    next_value,
    node_latex,
    rate,
    system_latex,
    system_mathml,
    system_text,
)
from odesys.tex.writing import BREAK, fold, width
from tests import toy_models

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
SEED = 20240711
x, y, z, t = sp.symbols("x y z t")


# ---- systems -------------------------------------------------------------------------------------------------------


def oscillator() -> System:
    omega = sp.Symbol("omega")
    return System.from_equations({x: y, y: -(omega**2) * x}, [omega])


def growth() -> System:
    """The comparison system of score growth: x' = b A x with the three-by-three matrix of the critical block."""
    b, x1, x2, x3 = sp.symbols("b x1 x2 x3")
    return System.from_equations({x1: b * (x2 + x3), x2: b * x1, x3: b * x1}, [b])


def attention_toy(turned: bool = False) -> System:
    """One linear head over three words, two samples; `turned` builds the same in another order."""
    model = AttentionModel(Dictionary(["a", "b", "c"]), heads=[Head(+1)])
    samples = [Sample(["a", "b"], +1, Fraction(1, 2)), Sample(["a", "-c"], -1, Fraction(1, 2))]
    return gradient_flow(model, Distribution(samples[::-1] if turned else samples)).system


def two_mixture() -> System:
    """The 80 states of the two-mixture task with K = 2, L = 3."""
    return gradient_flow(setting.model(), setting.data()).system


def many_functions() -> System:
    """Many functions, powers, roots, floats, gates of both signs, time, shared parts, a quotient too wide to stack."""
    k = sp.Symbol("k")
    shared = x**2 + sp.sin(y) * z - k * x
    wide = sum((j * x**j * sp.cos(j * y + z) for j in range(1, 12)), start=sp.Integer(1))
    return System.from_equations(
        {
            x: sp.exp(-x) * y / 2 + sp.sqrt(x**2 + 1) - sp.Rational(3, 2) * x * y**2 + sp.sqrt(2) * shared**2,
            y: sp.Max(0, x - y) + sp.Abs(y) + sp.tanh(x) * sp.asinh(y) / sp.atan(2 + z**2) + shared,
            z: sp.log(2 + x**2) / (1 - k) - 1 / (x - 2 * y - 9) + 0.125 * t + 1e-7 * sp.sinh(z) + wide / (wide**2 + 1),
        },
        [k],
        tex={"x": r"u^\top x", "k": r"\kappa"},
    )


def weighted_softmax() -> System:
    """A row in which weights stand before the exponentials, and its normaliser alone."""
    k = sp.Symbol("K")
    total = sp.exp(x) + (k - 1) * sp.exp(y) + 2 * sp.exp(-z)
    return System.from_equations(
        {x: sp.exp(x) / total * (x - y), y: sp.exp(y) * x / total - 1 / total, z: sp.exp(x - z) / total**2}, [k]
    )


def taken_letters() -> System:
    """States and parameters that already use the letters parts would get."""
    g, s, p1, h = sp.symbols("g S p1 H")
    shared = p1 + x * y + s**2 - h * g
    soft = sp.exp(x) / (sp.exp(x) + sp.exp(y))
    return System.from_equations({s: g * s, p1: shared**2, x: shared**3 * soft, y: soft, h: 1 / (1 + sp.exp(x))}, [g])


SMALL: dict[str, Callable[[], System]] = {"oscillator": oscillator, "growth": growth, "attention_toy": attention_toy}
BY_HAND: dict[str, Callable[[], System]] = {
    **SMALL,
    "many_functions": many_functions,
    "weighted_softmax": weighted_softmax,
    "taken_letters": taken_letters,
}
TOYS = {f"{i}-{toy.name}": toy for i, toy in enumerate(toy_models.all_toys())}


def systems() -> Iterator[tuple[str, Callable[[], System]]]:
    yield from BY_HAND.items()
    yield "two_mixture_80", two_mixture
    for name, toy in TOYS.items():
        yield f"flow-{name}", lambda toy=toy: gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss).system
    toy = TOYS["0-two_mixture"]
    yield "step-two_mixture", lambda: gradient_descent(toy.model, toy.data, train=toy.train, loss=toy.loss).system


EVERY = {name: functools.cache(build) for name, build in systems()}


@functools.cache
def tex_of(name: str) -> str:
    return system_latex(EVERY[name]())


# ---- what was printed, read back as numbers ------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[float], float]] = {r.tex: r.floats for r in graph.FUNCTIONS.values() if r.tex}
TOKEN = re.compile(
    r"@\d+@|\d+\.\d+|\d+|\\operatorname\{\w+\}|\\mathbb\{1\}|\\mathrm\{softmax\}|[A-Za-z]_\{[\d,]+\}|\\[A-Za-z]+|\S"
)


class TexReader:
    """Value of printed TeX: the grammar a mathematician would use, written without a look at the writer."""

    def __init__(self, values: dict[str, float], slope: str) -> None:
        self.values, self.slope = values, slope
        self.tokens: list[str] = []

    def read(self, tex: str) -> float | list[float]:
        self.tokens = TOKEN.findall(re.sub(r"\\[Bb]ig|\\,|\\quad|\\cdot", " ", tex))[::-1]
        if self.tokens[-1] == r"\mathrm{softmax}":
            self.tokens.pop()
            return self.softmax()
        value = self.sum()
        assert not self.tokens, f"left over: {self.tokens[::-1]}"
        return value

    def softmax(self) -> list[float]:
        assert self.tokens.pop() == "("
        arguments = [self.sum()]
        while self.tokens[-1] == ",":
            self.tokens.pop()
            arguments.append(self.sum())
        assert self.tokens == [")"]
        return [math.exp(a) / sum(map(math.exp, arguments)) for a in arguments]

    def sum(self) -> float:
        total, sign = 0.0, 1
        if self.tokens[-1] == "-":
            sign = -1
            self.tokens.pop()
        while True:
            total += sign * self.product()
            if not self.tokens or self.tokens[-1] not in "+-":
                return total
            sign = 1 if self.tokens.pop() == "+" else -1

    def product(self) -> float:
        value = self.factor()
        while self.tokens and self.tokens[-1] not in ("+", "-", ")", "]", "}", ",", ">", "<"):
            value *= self.factor()
        return value

    def factor(self) -> float:
        token = self.tokens.pop()
        if token == "e" and self.tokens[-1] == "^":
            self.tokens.pop()
            value = math.exp(self.bracket("{", "}"))
        elif token == "(":
            value = self.until(")")
        elif token == r"\frac":
            value = self.bracket("{", "}") / self.bracket("{", "}")
        elif token == r"\sqrt":
            value = math.sqrt(self.bracket("{", "}"))
        elif token == r"\mathbb{1}":
            assert self.tokens.pop() == "["
            inner, relation = self.sum(), self.tokens.pop()
            assert [self.tokens.pop(), self.tokens.pop()] == ["0", "]"]
            value = float(inner > 0 if relation == ">" else inner < 0)
        elif token == self.slope and self.tokens and self.tokens[-1] == "(":
            value = 1 / (1 + math.exp(self.bracket("(", ")")))
        elif token in FUNCTIONS:
            value = FUNCTIONS[token](self.bracket("(", ")"))
        else:
            value = self.values[token] if token in self.values else float(token)
        if self.tokens and self.tokens[-1] == "^":
            self.tokens.pop()
            assert self.tokens.pop() == "{"
            if self.tokens[-2] == "/":  # a fraction on one line
                self.tokens[-3:] = [str(Fraction(f"{self.tokens[-1]}/{self.tokens[-3]}").__float__())]
            value **= self.until("}")
        return value

    def bracket(self, opening: str, closing: str) -> float:
        assert self.tokens.pop() == opening
        return self.until(closing)

    def until(self, closing: str) -> float:
        value = self.sum()
        assert self.tokens.pop() == closing
        return value


def equations_of(tex: str, environment: str) -> list[tuple[str, str]]:
    """The equations of an environment, with broken lines joined."""
    found = re.search(rf"\\begin\{{{environment}\}}\n(.*?)\n\\end", tex, re.DOTALL)
    rows: list[str] = []
    for line in found.group(1).split("\n") if found else []:
        line = line.removesuffix(r" \\").removesuffix(r" \notag")
        if line.startswith("&"):
            rows[-1] += line[1:]
        else:
            rows.append(line)
    return [tuple(row.split(" &= ", 1)) for row in rows]  # type: ignore[misc]


def values_of(system: System, seed: int = SEED) -> tuple[np.ndarray, dict[str, float], np.ndarray]:
    """A random state, values of the parameters, and the compiled field there, at time 0.7."""
    rng = np.random.default_rng(seed)
    state = rng.uniform(0.2, 0.9, system.dimension) * rng.choice([-1, 1], system.dimension)
    parameters = {name: float(rng.uniform(1.2, 1.9)) for name in system.parameters}
    return state, parameters, system.compile(parameters)(0.7, state)


def read_tex(system: System, tex: str) -> list[float]:
    """The field as the printed TeX gives it."""
    state, parameters, _ = values_of(system)
    given = {system.tex.get(n) or name_tex(n): v for n, v in zip(system.names, state.tolist(), strict=True)}
    given |= {system.tex.get(n) or name_tex(n): v for n, v in parameters.items()}
    marks = {symbol: f"@{i}@" for i, symbol in enumerate(sorted({*given, "t"}, key=len, reverse=True))}
    pattern = re.compile("|".join(rf"(?<![\\A-Za-z]){re.escape(s)}(?![A-Za-z_])" for s in marks))
    slope = re.search(r"\$([a-zA-Z])\([a-z]\) = \\frac\{1\}\{1 \+ e", tex)
    reader = TexReader({marks[s]: v for s, v in given.items()} | {marks["t"]: 0.7}, slope.group(1) if slope else "g")

    def read(text: str) -> float | list[float]:
        return reader.read(pattern.sub(lambda m: marks[m.group()], text))

    for left, right in equations_of(tex, r"align\*"):
        value = read(right)
        if isinstance(value, list):
            reader.values |= {f"{left[:-1]},{j}}}": v for j, v in enumerate(value, start=1)}
        else:
            reader.values[left] = value
    return [read(right) for _, right in equations_of(tex, "align")]  # type: ignore[misc]


def read_text(system: System, text: str) -> list[float]:
    """The field as the plain text gives it, taken as a program after a few changes of spelling."""
    state, parameters, _ = values_of(system)
    namespace = dict(zip(system.names, state.tolist(), strict=True)) | parameters | {"t": 0.7}
    namespace |= {name: record.floats for name, record in graph.FUNCTIONS.items()} | {"sqrt": math.sqrt}
    namespace["softmax"] = lambda *a: [0.0, *(math.exp(v) / sum(map(math.exp, a)) for v in a)]
    field = []
    for line in text.splitlines():
        slope = re.fullmatch(r"# (\w)\(\w\) = 1/\(1 \+ exp\(\w\)\)", line)
        if slope:
            namespace[slope.group(1)] = lambda v: 1 / (1 + math.exp(v))
        if line.startswith("#"):
            continue
        left, right = line.split(" = ", 1)
        code, gate = right.replace("^", "**"), re.compile(r"\[([^\[\]]*(?:\[\d+\][^\[\]]*)*) ([<>]) 0\]")
        while gate.search(code):
            code = gate.sub(r"float((\1) \2 0)", code)
        exec(f"_value = {code}", namespace)
        value = namespace["_value"]
        if left.startswith("d/dt ") or left.endswith("+"):
            field.append(value)
        elif "[" in left:
            namespace.setdefault(left.split("[")[0], [0.0] * 9)[int(left[:-1].split("[")[1])] = value
        else:
            namespace[left] = value
    return field


# ---- tests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_tex_is_as_stored(name: str) -> None:
    assert system_latex(SMALL[name]()) + "\n" == (GOLDEN / f"{name}.tex").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EVERY)
def test_tex_means_the_compiled_field(name: str) -> None:
    system = EVERY[name]()
    expected = values_of(system)[2]
    np.testing.assert_allclose(read_tex(system, tex_of(name)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_text_means_the_compiled_field(name: str) -> None:
    system = EVERY[name]()
    expected = values_of(system)[2]
    np.testing.assert_allclose(read_text(system, system_text(system)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["growth", "attention_toy", "two_mixture_80"])
def test_the_readers_see_a_wrong_sign(name: str) -> None:
    system = EVERY[name]()
    expected = values_of(system)[2]
    for text, read in ((tex_of(name), read_tex), (system_text(system), read_text)):
        broken = re.sub(r"^([^#]*?) \+ ", r"\1 - ", text, count=1, flags=re.MULTILINE)
        assert broken != text
        assert not np.allclose(read(system, broken), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_no_line_is_wider_than_the_page(name: str) -> None:
    for environment in re.findall(r"\\begin\{align\*?\}\n(.*?)\n\\end", tex_of(name), re.DOTALL):
        lines = [re.sub(r"( \\notag)?( \\\\)?$", "", line).partition("&") for line in environment.split("\n")]
        left = max(width(side) for side, _, _ in lines)
        for _, _, body in lines:
            assert left + width(body if body.startswith("=") else "=" + body) <= LINE, body


def test_a_sum_is_broken_at_outer_places_first() -> None:
    text = "(aaaa\x01 + bbbb)\x01 + (cccc\x01 + dddd)"
    assert [line for _, line in fold(text, 20)] == ["(aaaa + bbbb)", " + (cccc + dddd)"]
    assert [line for _, line in fold(text, 12)] == ["(aaaa", " + bbbb)", " + (cccc", " + dddd)"]
    assert [line for _, line in fold(text, 99)] == ["(aaaa + bbbb) + (cccc + dddd)"]


def test_left_sides_follow_the_papers() -> None:
    tex = tex_of("two_mixture_80")
    assert r"\frac{d}{dt}\big(c_{1}^\top W_{K+}^\top W_{Q+} v_{1}\big) &= \frac{1}{8}(G_{4}\," in tex
    assert r"p_{1} &= \mathrm{softmax}(" in tex
    assert r"$g(z) = \frac{1}{1 + e^{z}}$" in tex
    system = System.from_equations({"n_c": graph.sym("n_v"), "n_v": graph.ONE})
    assert system_latex(system).splitlines()[1:3] == [r"\dot{n}_{c} &= n_{v} \\", r"\dot{n}_{v} &= 1"]
    step = System.from_equations({x: y / 2, y: x}, kind="map", tex={"x": r"u^\top v"})
    assert system_latex(step).splitlines()[1:3] == [r"\big(u^\top v\big)^{+} &= \frac{y}{2} \\", r"y^{+} &= u^\top v"]
    assert r"\dot{\psi} &= y" in system_latex(System.from_equations({x: y, y: x}), names={"x": r"\psi"})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (x / 3 - y, r"\frac{x}{3} - y"),
        (-x + y, r"y - x"),
        (sp.exp(-x / 2), r"e^{-\frac{x}{2}}"),
        (2 * x * y**2 / (x - y), r"\frac{2x\,y^{2}}{x - y}"),
        (sp.sqrt(x**2 + 1) / 2, r"\frac{1}{2}\sqrt{1 + x^{2}}"),
        (sp.Max(0, x - y), r"\mathbb{1}[x - y>0]\,(x - y)"),
        (-x * (1 - y), r"x\,(y - 1)"),
        (x**-2, r"\frac{1}{x^{2}}"),
        (sp.Symbol("omega") * sp.Symbol("x1") - sp.Rational(1, 3), r"\omega\,x_{1} - \frac{1}{3}"),
        (2.5e-9 * x + 0.5, r"0.5 + 2.5\cdot 10^{-9}x"),
    ],
)
def test_expressions(expression: sp.Expr, expected: str) -> None:
    assert node_latex(graph.as_node(expression), {}) == expected


def test_the_slope_of_the_loss() -> None:
    margin = graph.sym("z")
    assert node_latex(graph.call("sigmoid", -2 * margin), {"z": "y f(X)"}) == "g\\big(2y f(X)\\big)"


def test_names_by_rule() -> None:
    assert [name_tex(n) for n in ("eta", "x12", "n_c", "M_cv_2", "T1", "_")] == [
        r"\eta",
        "x_{12}",
        "n_{c}",
        r"M_{\mathrm{cv},2}",
        "T_{1}",
        r"\_",
    ]


def test_a_large_system_is_refused_and_points_to_its_quotient() -> None:
    words = [f"u{i}" for i in range(12)]
    data = Distribution([Sample(words[:3], +1, Fraction(1, 2)), Sample(words[3:6], -1, Fraction(1, 2))])
    system = gradient_flow(AttentionModel(Dictionary(words), heads=[Head(+1)]), data).system
    assert system.dimension > 200
    for write in (system_latex, system_text, system_mathml):
        with pytest.raises(OdesysError, match="--quotient"):
            write(system)


def test_an_expression_that_doubles_is_refused_and_one_that_is_deep_is_not() -> None:
    node = graph.sym("x")
    for _ in range(60):
        node = graph.call("sin", node) * graph.call("cos", node)
    with pytest.raises(OdesysError, match="too large"):
        node_latex(node, {})
    assert "P_{" in system_latex(System.from_equations({"x": node}))
    deep = graph.sym("x")
    for _ in range(1100):
        deep = graph.call("sin", deep * graph.sym("x"))
    assert node_latex(deep, {}).count(r"\sin") == 1100


def test_the_text_does_not_depend_on_what_was_built_before() -> None:
    program = (
        "from tests.odesys.tex.test_latex import attention_toy, graph, growth, system_latex\n"
        "{}\n"
        "print(system_latex(attention_toy())); print(system_latex(growth()))"
    )
    names = ["x3", "x2", "x1", "b", "KQ_c_c", "KQ_c_a", "KQ_a_a", "KQ_b_b", "KQ_b_a", "KK_a_b", "w_c", "w_b", "w_a"]
    histories = (
        "",
        "held = attention_toy(turned=True).nodes",
        f"held = [graph.sym(n) for n in {names}]\n"
        "held += [graph.exp(s) for s in held]\n"
        "held += [v for a in held for b in held for v in (a + b, a * b, a - b, b / a)]",
    )
    root = Path(__file__).resolve().parents[3]
    commands = [[sys.executable, "-c", program.format(lines)] for lines in histories]
    runs = [subprocess.check_output(command, cwd=root, text=True) for command in commands]
    assert runs[0] == "".join((GOLDEN / f"{name}.tex").read_text("utf-8") for name in ("attention_toy", "growth"))
    assert runs[1] == runs[0]
    assert runs[2] == runs[0]


def test_mathml_is_well_formed_and_complete() -> None:
    space = "{http://www.w3.org/1998/Math/MathML}"
    for name in ("oscillator", "many_functions", "attention_toy", "two_mixture_80"):
        system, tex = EVERY[name](), tex_of(name)
        root = ElementTree.fromstring(system_mathml(system))
        assert root.tag == space + "math"
        rows = root.findall(f"{space}mtable/{space}mtr")
        labelled = [row for row in rows if len(row) == 2 and len(row[0])]
        notes = tex.count("$") // 2
        assert len(labelled) == system.dimension + len(equations_of(tex, r"align\*")) + notes
        assert not list(root.iter(space + "mtext")) or "where" in [e.text for e in root.iter(space + "mtext")]


def test_mathml_shows_tex_it_can_not_read() -> None:
    system = System.from_equations({x: y, y: x}, tex={"x": r"a & <b>", "y": r"\frac{1"})
    root = ElementTree.fromstring(system_mathml(system))
    assert "a & <b>" in "".join(root.itertext())


TEX_PROGRAMS = [p for p in ("pdflatex", "xelatex", "tectonic") if shutil.which(p)]


@pytest.mark.skipif(not TEX_PROGRAMS, reason="no TeX on this machine: pdflatex, xelatex or tectonic")
@pytest.mark.parametrize("name", ["many_functions", "weighted_softmax", "two_mixture_80"])
def test_the_document_compiles_and_fits_the_page(name: str, tmp_path: Path) -> None:
    (tmp_path / "system.tex").write_text(system_latex(EVERY[name](), document=True), encoding="utf-8")
    program = TEX_PROGRAMS[0]
    options = ["--print"] if program == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    run = subprocess.run([program, *options, "system.tex"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "system.pdf").stat().st_size > 1000
    assert "Overfull" not in run.stdout + run.stderr


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, build in SMALL.items():
        (GOLDEN / f"{name}.tex").write_text(system_latex(build()) + "\n", encoding="utf-8")


def test_erf_and_floats_are_written_for_reading() -> None:
    x = graph.sym("x")
    tex = system_latex(System.from_equations({"x": graph.gradient(graph.call("erf", x), [x])[0]}))
    assert r"\frac{2e^{-x^{2}}}{\sqrt{\pi}}" in tex and "arctan" not in tex
    assert "arctan" in system_latex(
        System.from_equations({"pi": graph.call("erf", graph.sym("pi")), "x": 1 / graph.call("arctan", x / x)})
    )
    assert "x - 6 + 0.25y" in system_latex(System.from_equations({"x": 1.0 * x + 0.25 * graph.sym("y") - 6.0, "y": x}))


def test_equations_are_written_with_the_names_that_a_system_brings() -> None:
    """Definitions in states come before the parts, those with parts after them; another field forgets the names."""
    x, y, a, b = (graph.sym(name) for name in "xyab")
    mean = graph.exp(x) / (graph.exp(x) + graph.exp(y))
    definitions = {"n": graph.num(3), "b": 2 * x, "a": mean / graph.sym("n")}
    made = System.from_equations({"x": 2 * x * mean / 3, "y": -y}, kind="map")
    written = WrittenEquations(made.field, definitions, (a * b, -y))
    system = replace(made, written=written, tex={"a": r"\alpha"})
    assert written.expanded() == made.nodes
    lines = [line for line in system_text(system).splitlines() if not line.startswith("#")]
    assert lines == ["n = 3", "b = 2*x", "p1 = softmax(x, y)", "a = p1[1]/n", "x+ = b*a", "y+ = -y"]
    assert r"\alpha &= \frac{p_{1,1}}{n}" in system_latex(system) and "&#x003B1;" in system_mathml(system)
    other = replace(system, field=System.from_equations({"x": y, "y": x}).field)
    assert "b" not in system_text(other) and "x+ = y" in system_text(other)


def test_one_block_for_math_mode_has_the_same_equations() -> None:
    for make in (oscillator, many_functions, weighted_softmax):
        system = make()
        block, text = system_latex(system, environment="aligned"), system_latex(system)
        assert block.startswith("\\begin{aligned}\n") and block.endswith("\n\\end{aligned}")
        assert block.count("aligned") == 2 and "\n\n" not in block
        lines = [line.strip().removesuffix("\\\\").strip() for line in block.split("\n")[1:-1]]
        for row in text.split("\n"):
            row = row.replace(r"\notag", "").strip().removesuffix("\\\\").strip()
            if " &= " in row:
                assert row in lines
        assert (r"\text{where}\quad &" in block) is ("where" in text)
    with pytest.raises(OdesysError, match="align or aligned"):
        system_latex(oscillator(), environment="gather")


@pytest.mark.parametrize(
    ("tex", "flow", "map_"),
    [
        ("x", r"\dot{x}", "x^{+}"),
        ("x_{12}", r"\dot{x}_{12}", "x_{12}^{+}"),
        (r"\alpha_1", r"\dot{\alpha}_1", r"\alpha_1^{+}"),
        ("x^2", r"\dot{x}^2", r"\big(x^2\big)^{+}"),  # two superscripts are an error of TeX
        ("x_1^{(a)}", r"\dot{x}_1^{(a)}", r"\big(x_1^{(a)}\big)^{+}"),
        (r"u^\top x", r"\frac{d}{dt}\big(u^\top x\big)", r"\big(u^\top x\big)^{+}"),
        (r"u\, x", r"\frac{d}{dt}\big(u\, x\big)", r"\big(u\, x\big)^{+}"),  # of both, not of x alone
    ],
)
def test_left_sides_are_of_the_whole_name(tex: str, flow: str, map_: str) -> None:
    assert (rate(tex), next_value(tex)) == (flow, map_)


def test_a_row_with_weights_and_its_normaliser_are_defined_one_after_the_other() -> None:
    assert system_text(weighted_softmax()).splitlines() == [
        "Z1 = exp(x) + exp(y)*(K - 1) + 2*exp(-z)",
        "p1[1] = exp(x)/Z1",
        "p1[2] = exp(y)/Z1",
        "p1[3] = exp(-z)/Z1",
        "d/dt x = p1[1]*(x - y)",
        "d/dt y = p1[2]*x - 1/Z1",
        "d/dt z = exp(x - z)/Z1^2",
    ]
    assert system_latex(weighted_softmax()).splitlines() == [
        r"\begin{align}",
        r"\dot{x} &= p_{1,1}\,(x - y) \\",
        r"\dot{y} &= p_{1,2}\,x - \frac{1}{Z_{1}} \\",
        r"\dot{z} &= \frac{e^{x - z}}{Z_{1}^{2}}",
        r"\end{align}",
        "where",
        r"\begin{align*}",
        r"Z_{1} &= e^{x} + e^{y}\,(K - 1) + 2e^{-z} \\",
        r"p_{1,1} &= \frac{e^{x}}{Z_{1}} \\",
        r"p_{1,2} &= \frac{e^{y}}{Z_{1}} \\",
        r"p_{1,3} &= \frac{e^{-z}}{Z_{1}}",
        r"\end{align*}",
    ]


def test_letters_that_are_taken_are_left_to_the_system_and_notes_have_letters_of_their_own() -> None:
    """Also where every letter of a kind is a state; what is bound in a note is no state and no parameter."""
    assert system_text(taken_letters()).splitlines() == [
        "# softmax(u)[j] = exp(u[j])/sum_k exp(u[k])",
        "U1 = S^2 + p1 + x*y - g*H",
        "q1 = softmax(x, y)",
        "d/dt S = g*S",
        "d/dt p1 = U1^2",
        "d/dt x = U1^3*q1[1]",
        "d/dt y = q1[1]",
        "d/dt H = 1/(1 + exp(x))",
    ]
    tex = system_latex(taken_letters())
    assert tex.endswith(
        "Here $\\mathrm{softmax}(u)_{j} = \\frac{e^{u_{j}}}{\\sum_{k} e^{u_{k}}}$; $q_{i,j} = (q_{i})_{j}$."
    )
    block = system_latex(taken_letters(), environment="aligned")
    assert block.splitlines()[-3:] == [
        r"\mathrm{softmax}(u)_{j} &= \frac{e^{u_{j}}}{\sum_{k} e^{u_{k}}} \\",
        r"q_{i,j} &= (q_{i})_{j}",
        r"\end{aligned}",
    ]
    shared = graph.sym("S") * graph.sym("U") + graph.sym("V") ** 2 + 1
    full = System.from_equations({"S": shared**2, "U": shared**3, "V": shared})
    assert system_text(full).splitlines()[0] == "S_1 = 1 + S*U + V^2"
    assert r"\tilde{S}_{1} &= 1 + S\,U + V^{2}" in system_latex(full)
    gate = graph.step(graph.sym("x")) * graph.call("sigmoid", graph.sym("x"))
    noted = System.from_equations({"x": gate, "h": graph.sym("z")}, ["z"])
    assert system_text(noted).splitlines()[:2] == ["# g(u) = 1/(1 + exp(u))", "# [u > 0] = 1 if u > 0, else 0"]


def test_rows_under_each_other_are_broken_and_numbered_once() -> None:
    rows = [EquationLine("x", f"aaaa{BREAK} + bbbb{BREAK} + cccc"), EquationLine("yy", "1")]
    assert align("align", rows, 20.0).splitlines() == [
        r"\begin{align}",
        r"x &= aaaa + bbbb \notag \\",
        r"&\quad + cccc \\",
        "yy &= 1",
        r"\end{align}",
    ]
    assert align("align*", rows[:1], 99.0) == "\\begin{align*}\nx &= aaaa + bbbb + cccc\n\\end{align*}\n"
    deep = [EquationLine("x", f"aaaa{BREAK} + (bbbb{BREAK} + [cccc{BREAK} + dddd])")]
    assert [line.count(r"\quad") for line in align("align*", deep, 9.0).splitlines()[1:-1]] == [0, 1, 1, 2]
    room = width("aaaa + bbbb") + 2.0 + width("x=") + 0.05
    assert (
        len(align("align*", rows[:1], room).splitlines()) == 4
        and len(align("align*", rows[:1], room - 0.1).splitlines()) == 5
    )


def test_where_stands_once_after_the_first_block_that_has_something_below() -> None:
    row = [EquationLine("x", "y")]
    for blocks, places in (
        ([row], []),
        ([row, row], [1]),
        ([row, [], row], [1]),
        ([row, row, row], [1]),
        ([row, [], []], []),
    ):
        table = ElementTree.fromstring(mathml_table(blocks))[0]
        assert [k for k, line in enumerate(table) if "where" in "".join(line.itertext())] == places
        assert len(table) == sum(map(len, blocks)) + len(places)


def test_names_that_would_look_the_same_are_told_apart() -> None:
    assert distinct_tex(["x1", "x_1", "y"], {}) == {"x1": r"\mathit{x1}", "x_1": "x_{1}", "y": "y"}
    assert distinct_tex(["x1", "x_1"], {"x1": "x_{1}"}) == {"x1": "x_{1}", "x_1": r"\mathit{x\_1}"}
    assert distinct_tex(["a", "bb"], {"a": "q", "bb": "q"}) == {"a": "q", "bb": r"\mathit{bb}"}
