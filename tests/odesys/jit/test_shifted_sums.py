"""Sums of exponentials in code: no overflow where a wrong class leads, no zero where a network is sure."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import exp, log, mp, mpf

from odesys import Data, System, Units, Words, cross_entropy, gradient_flow, graph, maps, sym
from odesys.jit import llvm
from odesys.jit.serialise import system_to_python
from odesys.jit.shifted_sums import shifted

BACKENDS = ("scalar", "native", "block") if llvm.available() else ("scalar", "block")


def classes(targets):
    words = Words("a b")
    Y = maps("Y", Units("y", 3), words)
    data = Data(words, list(zip("ab", targets, strict=True)))
    return gradient_flow(lambda X: Y @ X[0], data, cross_entropy).system


def exact(state, targets):
    """Field and loss with 4,000 digits, so that nothing cancels."""
    with mp.workdps(4000):
        table, field, loss = [[mpf(v) for v in row] for row in state.reshape(3, 2)], np.zeros((3, 2)), mpf(0)
        for s, target in enumerate(targets):
            column = [table[k][s] for k in range(3)]
            total = sum(exp(v) for v in column)
            for k in range(3):
                field[k, s] = float((mpf(float(target[k])) - exp(column[k]) / total) / 2)
            loss += (log(total) - sum(float(y) * v for y, v in zip(target, column, strict=True))) / 2
        return field.reshape(-1), float(loss)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("soft", (False, True))
def test_cross_entropy_neither_overflows_nor_underflows(backend, soft):
    given = [[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], 1] if soft else [0, 1]
    table = [[0.5, 0.25, 0.25] if soft else [1, 0, 0], [0, 1, 0]]
    compiled, rng = classes(given).compile(backend=backend), np.random.default_rng(5)
    for size in (1.0, 50.0, 3000.0):
        state = size * rng.normal(size=6)
        field, loss = exact(state, table)
        assert compiled(0.0, state) == pytest.approx(field, rel=1e-11, abs=1e-300)
        assert compiled.observables(0.0, state)["loss"] == pytest.approx(loss, rel=1e-12, abs=0)
        assert compiled.observed([0.0], [state])["loss"][0] == pytest.approx(loss, rel=1e-12, abs=0)
        assert np.isfinite(compiled.jacobian(0.0, state)).all()


def test_a_small_loss_keeps_its_digits():
    state = np.array([60.0, 0.0, 0.0, 60.0, -5.0, -5.0])
    for backend in BACKENDS:
        loss = classes([0, 1]).compile(backend=backend).observables(0.0, state)["loss"]
        assert loss == pytest.approx(float(np.exp(-60.0) + np.exp(-65.0)), rel=1e-12)


def test_exported_code_is_shifted_too():
    namespace = {}
    exec(system_to_python(classes([0, 1])), namespace)
    assert namespace["field"](0.0, [0.0, 0.0, 2000.0, 0.0, 0.0, 3000.0]) == pytest.approx([0.5, 0, -0.5, 0.5, 0, -0.5])


def test_the_value_is_the_same_where_nothing_overflows():
    x, y, z = map(sym, "xyz")
    total = 1 + 2 * graph.exp(x) + y * graph.exp(x - z)
    forms = [
        graph.exp(x) ** 2 / total**3,
        (graph.exp(x) - y * graph.exp(x - z)) * graph.exp(x) / total**2,
        (graph.exp(x) / total + y) * graph.exp(x - z) / total,
        graph.call("log", total),
        graph.call("log", graph.exp(x) + graph.exp(y)),
        1 / total,
        graph.power(total, Fraction(-1, 2)) * graph.exp(x),
    ]
    new = shifted(forms)
    assert new[0] is not forms[0] and new[3] is not forms[3]
    rng = np.random.default_rng(1)
    for _ in range(5):
        at = dict(zip("xyz", rng.uniform(0.1, 3.0, 3), strict=True))
        values = [graph.evaluate(roots, at, graph.FLOAT_FUNCTIONS, float, pow) for roots in (forms, new)]
        assert np.array(values[1], float) == pytest.approx(np.array(values[0], float), rel=1e-13)


def test_other_sums_are_left_alone():
    x, y = sym("x"), sym("y")
    alone = [
        graph.exp(x) / (graph.exp(x) + graph.exp(y)),  # no constant
        1 / (1 + graph.exp(x)),  # infinity below, which is right
        graph.exp(y) / (1 + graph.exp(x)),  # an exponential of another sum
        graph.exp(x) / (graph.exp(x) - 1),  # may vanish
    ]
    assert shifted(alone) == alone


def test_a_gate_that_is_held_stays_a_gate():
    x = sym("x")
    share = graph.exp(x) / (1 + graph.exp(x) + graph.exp(2 * x))
    system = System.from_equations({"x": graph.relu(share - Fraction(1, 10))})
    for backend in BACKENDS[:-1]:
        compiled = system.compile(backend=backend)
        assert compiled.field(0.0, [1000.0], [1.0]) == pytest.approx([-0.1])
        assert compiled.field(0.0, [0.0], [0.0]) == pytest.approx([0.0])


def test_probabilities_of_two_equal_classes_do_not_overflow():
    """The exponents are differences to a mean of the outputs; shares are those of shifted NumPy."""
    words = Words("a")
    W = maps("W", Units("y", 3), words)
    for target in ([Fraction(1, 2), Fraction(1, 2), 0], [Fraction(1, 3)] * 3):
        system = gradient_flow(lambda X: W @ X[0], Data(words, [("a", target)]), cross_entropy).system
        for x in ([0.0, 0.0, 2000.0], [2000.0, -2000.0, 0.0], [0.3, -0.2, 0.1]):
            shares = np.exp(np.array(x) - max(x))
            expected = np.array(target, dtype=float) - shares / shares.sum()
            for backend in BACKENDS:
                assert np.abs(system.compile(backend=backend)(0.0, x) - expected).max() < 1e-14


X, Y, Z = map(sym, "xyz")
ONE_MORE = 1 + 2 * graph.exp(X) + Y * graph.exp(X - Z)
SQUARES = 3 + graph.exp(2 * X) + graph.exp(Y)
MEAN = (X + Y + Z) / 3
CENTRED = graph.exp(X - MEAN) + graph.exp(Y - MEAN) + graph.exp(Z - MEAN)
FORMS = [
    graph.exp(X) / ONE_MORE,
    graph.exp(X) ** 2 / ONE_MORE**3,
    graph.exp(X) ** 2 / ONE_MORE**2,
    graph.exp(X) * graph.exp(X - Z) / ONE_MORE**2,
    graph.exp(X) * Z / ONE_MORE + Y,
    (graph.exp(X) - Y * graph.exp(X - Z)) * graph.exp(X) / ONE_MORE**2,
    (graph.exp(X) - Y * graph.exp(X - Z)) ** 2 * graph.exp(X) / ONE_MORE**3,
    (graph.exp(X) - graph.exp(X - Z) / (1 + Y)) * graph.exp(X) / ONE_MORE**2,
    graph.exp(2 * X) / SQUARES,
    graph.exp(2 * X) * graph.exp(Y) / SQUARES**2,
    graph.exp(Y) * graph.exp(X) / (SQUARES * ONE_MORE),
    graph.exp(Y) ** 2 / SQUARES**2 * (1 + Z) ** 3,
    graph.call("log", ONE_MORE),
    graph.call("log", SQUARES),
    graph.call("log", graph.exp(X) + graph.exp(Y)),
    graph.call("log", 2 + graph.exp(X) + graph.exp(Y)),
    graph.call("log", 1 + graph.exp(X) * Z + graph.exp(Y)),
    graph.call("log", 1 + Y + graph.exp(X)),
    graph.exp(X) / ONE_MORE * (graph.exp(X) / ONE_MORE + graph.exp(X - Z) / ONE_MORE),
    graph.exp(X) / ONE_MORE * (Y - graph.exp(X) / ONE_MORE),
    graph.exp(X - MEAN) / CENTRED,
    graph.exp(X - MEAN) * graph.exp(Y - MEAN) / CENTRED**2,
    graph.exp(Z - MEAN) * X / CENTRED**3 * graph.exp(Y - MEAN) ** 2,
]


def exactly(root, at):
    """The value by many digits, in which nothing overflows and nothing is lost."""
    with mp.workdps(3000):
        functions = {"exp": exp, "log": log}
        number = lambda value: mpf(value.numerator) / value.denominator  # noqa: E731
        power = lambda base, e: base ** (mpf(e.numerator) / e.denominator)  # noqa: E731
        return float(graph.evaluate([root], {k: mpf(v) for k, v in at.items()}, functions, number, power)[0])


@pytest.mark.parametrize("number", range(len(FORMS)))
def test_what_is_shifted_has_its_value_at_any_size_of_exponents(number):
    """Also where an exponential alone is infinite, or all of them are zero."""
    (new,) = shifted([FORMS[number]])
    assert new is not FORMS[number]
    least = (
        1e-14 if FORMS[number].op == "log" else 1e-250
    )  # near one with a symbol in it a logarithm has no more digits
    rng = np.random.default_rng(number)
    for size in (1.0, 1.0, 30.0, 500.0, 500.0, 500.0):
        at = dict(zip("xyz", rng.normal(size=3) * size, strict=True))
        at |= {"y": abs(at["y"]), "z": abs(at["z"])}
        values = {name: np.float64(v) for name, v in at.items()}
        with np.errstate(all="ignore"):
            found = graph.evaluate([new], values, graph.FLOAT_FUNCTIONS, float, pow)[0]
        assert found == pytest.approx(exactly(FORMS[number], at), rel=1e-11, abs=least), at


@pytest.mark.parametrize(
    "form",
    [
        graph.exp(X) / (graph.exp(X) + graph.exp(Y)),  # no constant
        graph.exp(X) / (1 - graph.exp(X)),  # may vanish
        graph.exp(X) / (graph.exp(X) - 1),
        graph.exp(X) / (0 - 2 + 3 * graph.exp(X)),
        graph.exp(X) / (1 + Y),  # no exponential
        graph.exp(Z) / (1 + graph.exp(X)),
        graph.power(ONE_MORE, Fraction(-1, 2)) * graph.exp(X),  # no whole power
        ONE_MORE * graph.exp(X),  # above
        1 / ONE_MORE,
        graph.call("log", 1 + X + Y),
        graph.call("log", graph.exp(X)),
        graph.call("log", graph.exp(X) - 1),
        graph.call("log", X * graph.exp(Y)),
        graph.call("sin", ONE_MORE),
        graph.exp(X - Y) / (graph.exp(X - Y) + graph.exp(Y - X)),  # no fractions: these are no means
        graph.exp(X / 2 + Y) / (graph.exp(X / 2 + Y) + graph.exp(X - Y / 2)),  # nor these, of one sign
        graph.exp(X / 2 - Y) / (graph.exp(X / 2 - Y) + graph.exp(Y)),
        graph.exp(X / 3 - Y) / (graph.exp(X / 3 - Y) + graph.exp(X / 2 - Z) * graph.exp(Y)),
    ],
)
def test_other_expressions_stay_as_they_are(form):
    assert shifted([form, X])[0] is form


def test_what_is_below_a_leaf_is_left_alone_and_what_is_beside_it_is_not():
    share, other = graph.exp(X) / ONE_MORE, graph.exp(Y) / (1 + graph.exp(Y))
    gate = graph.step(share - Fraction(1, 3))
    new = shifted([gate * other, share], {gate})
    assert gate in graph.topological(new) and new[1] is not share and new[0] is not gate * other
    assert gate not in graph.topological(shifted([gate * other]))


def test_numbers_in_front_of_exponentials_may_be_symbols_and_small():
    """Whose signs are not known here; a negative number may let a sum vanish, unless a symbol stands with it."""
    for c, kept in ((Fraction(1, 1000), False), (Fraction(-1, 1000), True)):
        form = graph.exp(X) / (1 + c * graph.exp(X))
        assert (shifted([form])[0] is form) is kept
        form = graph.exp(X) / (1 + c * Y * graph.exp(X))
        assert shifted([form])[0] is not form
