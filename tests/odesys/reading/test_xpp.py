"""Files of XPPAUT: what is read, and what is refused by name."""

from __future__ import annotations

from fractions import Fraction

import pytest

from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.reading.xpp import REFUSED, system_from_ode

#: Morris and Lecar, Biophys. J. 35 (1981), 193-213, typed from the paper's equations
MORRIS_LECAR = """
# Morris-Lecar
dV/dt = (I - gca*minf(V)*(V-Vca) - gk*w*(V-VK) - gl*(V-Vl))/c
dw/dt = phi*(winf(V)-w)/tauw(V)
minf(v) = .5*(1+tanh((v-v1)/v2))
winf(v) = .5*(1+tanh((v-v3)/v4))
tauw(v) = 1/cosh((v-v3)/(2*v4))
par I=0, gca=4.4, gk=8 gl=2
param vca=120 vk=-84 vl=-60, c=20
p v1=-1.2,v2=18,v3=2,v4=30,phi=.04
init v=-60.9, w=.0149
aux ica = gca*minf(V)*(V-Vca)
@ total=150, dt=.25, xlo=-75
done
this is not read
"""


def test_morris_lecar_rests_where_it_should() -> None:
    reading = system_from_ode(MORRIS_LECAR)
    system = reading.with_values
    assert system.names == ("v", "w") and list(system.observables) == ["ica"]
    assert reading.start == {"v": Fraction("-60.9"), "w": Fraction("0.0149")} and reading.values["phi"] == Fraction(
        1, 25
    )
    assert reading.t_end == 150 and reading.notes == (
        "dt=.25 is not used: steps are chosen by their error",
        "left out, it is about the program and not the system: @ xlo=-75",
    )
    (rest,) = system.equilibria()
    assert rest.point["v"] == pytest.approx(-60.8554, abs=1e-4)


def test_fixed_quantities_and_maps() -> None:
    reading = system_from_ode("r2 = x^2 + y^2\nx' = x*(1-r2)\ny'=-y*r2\ny(0)=2\n")
    x, y = sym("x"), sym("y")
    assert reading.system.nodes == (x * (1 - x**2 - y**2), -y * (x**2 + y**2)) and reading.start["y"] == 2
    assert system_from_ode("x(t+1) = a*x*(1-x)\npar a=3.5").system.kind == "map"


@pytest.mark.parametrize("word", REFUSED)
def test_what_is_no_system_is_refused_by_name(word: str) -> None:
    with pytest.raises(EquationError, match=word):
        system_from_ode(f"{word} z\nx'=-x\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x[1..3]' = -x[j]", "arrays"),
        ("x' = delay(x, 2)", "a delay"),
        ("u(t)=int{exp(-t)#u}\nx'=-x", "an integral over the past"),
        ("x' = -x + ran(1)", "noise"),
        ("x' = v\nv'=-1\nglobal -1 x {v=-v*.9}", "a jump of the state"),
        ("x' = -x\n0=x+y-1\nsolv y=1", "algebraic equation"),
        ("x' = k*x", "k has neither"),
        ("par a=1", "no equation"),
        ("x' = -x\ny(t+1) = y", "mixes"),
        ("x' = -x\ndx/dt = x", "x has a second equation"),
        ("x' = -x\n???", "not understood"),
        ("par a=b\nx'=a", "a number should stand"),
    ],
)
def test_other_refusals(text: str, said: str) -> None:
    with pytest.raises(EquationError, match=said):
        system_from_ode(text)


def test_functions_that_double_at_each_step_are_refused() -> None:
    lines = ["f0(x)=sin(x)", *(f"f{k}(x)=f{k - 1}(x+1)*f{k - 1}(x-1)" for k in range(1, 60))]
    assert system_from_ode("\n".join([*lines, "x'=f3(x)"])).system.dimension == 1
    with pytest.raises(EquationError, match="call each other so often that f"):
        system_from_ode("\n".join([*lines, "x'=f59(x)"]))


@pytest.mark.parametrize(
    ("text", "end", "said"),
    [
        ("x' = -x\n@ total=40, t0=0", 40, ""),
        ("x' = -x\n@total = 1e3,bounds=10\n@ meth=cvode, toler=1e-9", 1000, "bounds=10 is not used"),
        ("x' = -x\n@ t0=2", None, "t0=2 is not used: runs begin at t = 0"),
        ("x' = -x*t\n@ total=4 t0=2", 4, "write t + (2) in place of t"),
        ("x(t+1) = x/2\n@ total=40", None, "total=40 is not used: no run of a map"),
        ("x' = -x\n@ total=-4", None, "total=-4 is not used: the length of a run is positive"),
        ("x' = -x\nset fast {total=3}", None, "left out"),
    ],
)
def test_the_length_of_a_run_is_read_and_other_options_are_said_to_be_idle(
    text: str, end: int | None, said: str
) -> None:
    reading = system_from_ode(text)
    assert reading.t_end == end and said in "; ".join(reading.notes) and bool(said) == bool(reading.notes)


def test_a_length_that_is_no_number_is_refused() -> None:
    with pytest.raises(EquationError, match="total=long"):
        system_from_ode("x' = -x\n@ total=long")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x'=-x\npar", "'par' gives no name a number"),
        ("x'=y\nx' = 2", 'x has a second equation: "x\' = 2"'),
        ("init x=k\nx'=1", "in 'init x=k' a number should stand where k is"),
        ("x'=1\ny(0) = z", "in 'y(0) = z' a number should stand where z is"),
        ("x' = a*b", "a has neither an equation nor a value; add par a=..."),
        ("wiener w\nx'=w", "wiener stands for noise, which is no part of a System: 'wiener w'"),
        (
            "x' = shift(x, 1)",
            'shift stands for a neighbour in an array, which is no part of a System: "x\' = shift(x, 1)"',
        ),
        ("x' = z{1}", 'arrays of equations are not read: "x\' = z{1}"; write each one out'),
        ("x' = z[1]", 'arrays of equations are not read: "x\' = z[1]"; write each one out'),
        (
            "0=X+1",
            "'0=X+1' is an algebraic equation, which is no part of a System; solve it for its unknown and write that "
            "as a fixed quantity, y = ...",
        ),
        ("what is this", "the line 'what is this' is not understood"),
        ("par k=1", "the file has no equation x' = ... or dx/dt = ..."),
        ("x'=1\ny(t+1)=2", "the file mixes a flow (x' = ...) and a map (x(t+1) = ...)"),
    ],
)
def test_the_sentence_shows_the_line_as_it_stands(text: str, said: str) -> None:
    with pytest.raises(EquationError) as caught:
        system_from_ode(text)
    assert str(caught.value) == said


@pytest.mark.parametrize("word", ["par", "param", "parameter", "params", "p", "number", "num"])
def test_every_word_for_parameters(word: str) -> None:
    reading = system_from_ode(f"{word} k=1/2, J=-3\nx' = k*x")
    assert reading.values == {"k": Fraction(1, 2)} and reading.notes == ("the parameter j is not used",)
    assert reading.system.parameters == ("k",) and reading.start == {"x": 0} and reading.t_end is None


@pytest.mark.parametrize("line", ["init x=2", "i X=2", "x(0)=2", "INIT x = 2"])
def test_every_way_to_give_a_start(line: str) -> None:
    reading = system_from_ode(f"x' = y\ny' = -x\n{line}")
    assert reading.start == {"x": 2, "y": 0} and reading.values == {} and reading.notes == ()


@pytest.mark.parametrize("last", ["done", "d", "DONE"])
def test_nothing_is_read_after_the_end_and_no_comment_before_it(last: str) -> None:
    text = f"# a\n% y' = 1\n\" z' = 1\n\ndx/dt = 1 - \\\n  x^2\n{last}\ny' = 2"
    reading = system_from_ode(text)
    assert reading.system.equations == {"x": 1 - sym("x") ** 2} and reading.notes == ()


def test_what_is_about_the_program_is_noted_line_by_line() -> None:
    lines = ["set a {b=1}", "only x", "options o", "@ nothing"]
    notes = system_from_ode("\n".join([*lines, "x'=1"])).notes
    assert notes == tuple(f"left out, it is about the program and not the system: {line}" for line in lines)
    told = system_from_ode("x(t+1)=x/2\n@ total=4,xlo=1\n@ dt=3, ylo=2").notes
    assert told == (
        "dt=3 is not used: steps are chosen by their error",
        "left out, it is about the program and not the system: @ xlo=1, ylo=2",
        "@ total=4 is not used: no run of a map is made here",
    )


def test_quantities_may_use_those_before_them_and_are_seen_where_asked() -> None:
    reading = system_from_ode("!y = 2*x\ny2 = y + k\nx' = y*sin(y2)\naux z=y2^2\na w = t\npar k=1, unused=2")
    x, k = sym("x"), sym("k")
    assert reading.system.nodes == (2 * x * graph.call("sin", 2 * x + k),)
    assert dict(reading.system.observables) == {"z": (2 * x + k) ** 2, "w": sym("t")}
    assert reading.system.parameters == ("k",) and reading.notes == ("the parameter unused is not used",)


def test_runs_from_zero_of_equations_with_time_need_no_word() -> None:
    assert system_from_ode("x' = t\n@ t0=-0.00, total=1/2").notes == ()
    assert system_from_ode("x' = t\n@ total=1/2").t_end == Fraction(1, 2)
    assert system_from_ode("x' = -x\n@ t0=3").notes == ("t0=3 is not used: runs begin at t = 0",)
    assert system_from_ode("x' = t\n@ t0=3").notes == (
        "t0=3 is not used: runs begin at t = 0",
        "the equations depend on t: for a start at t0 write t + (3) in place of t",
    )
    assert system_from_ode("x' = t\n@ total=0").notes == ("@ total=0 is not used: the length of a run is positive",)


@pytest.mark.parametrize("name", ["d", "p", "i", "a", "set", "only", "init", "done"])
def test_a_word_of_the_program_may_be_a_name(name: str) -> None:
    reading = system_from_ode(f"x'=-x\n{name} = 3\ny'=x-{name}*y")
    assert reading.system.equations == {"x": -sym("x"), "y": sym("x") - 3 * sym("y")} and reading.notes == ()


def test_a_number_is_read_to_its_end() -> None:
    reading = system_from_ode("x'=a+b+c\npar a = 2 * 3, b=1 + 1 c = 4,\ninit x = 1 / 2\n@ total=40 * 2")
    assert reading.values == {"a": 6, "b": 2, "c": 4} and reading.start == {"x": Fraction(1, 2)}
    assert reading.t_end == 80


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x'=lambda*x-lambda_*x\npar lambda=1\npar lambda_=2", "the names lambda and lambda_ would both be lambda_"),
        ("f(lambda_)=lambda_*lambda\nx'=f(x)\npar lambda=1", "the names lambda_ and lambda would both be"),
        ("x'=t*x\npar t=2", "t is time"),
        ("x'=t*x\nt=2", "t is time"),
        ("x'=pi*x\npar pi=2", "pi is a number"),
        ("x'=-x\nx=3", "x has two meanings"),
        ("x'=a*x\npar a=2\na = 3", "a has two meanings"),
        ("x'=a*x\npar a=2\npar a=3", "a is given twice, and differently in 'par a=3'"),
        ("x'=-x\ninit x=2\nx(0)=3", "x is given twice"),
        ("x'=a\na=t\naux q=3\naux q=4", "q is given twice"),
        ("x'=a\na=1\na=2", "a is given twice"),
        ("f(x)=x\nf(x)=2*x\nx'=f(x)", "f is given twice"),
        ("#include f.ode\nx'=-x", "takes in another file"),
        ("%[1..3]\nx'=-x", "arrays of equations"),
        ("x'=-x\npar a 3, b=2", "gives no name a number"),
        ("x'=x^2^3", "a power is raised again"),
    ],
)
def test_what_has_two_meanings_is_refused(text: str, said: str) -> None:
    with pytest.raises(EquationError, match=said):
        system_from_ode(text)


def test_a_start_without_an_equation_is_said() -> None:
    assert system_from_ode("x'=-x\ninit z=2").notes == ("the start of z is not used: it has no equation",)
