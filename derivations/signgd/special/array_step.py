r"""The derived step over arrays of neurons and samples; here because its signs need logarithms where weights underflow.

All of the step is in the derived system of one sample and one neuron (`dynamics.derived(1, 1)`): the loss is the mean
over samples, so the gradient by an inner product with the signal is the mean of what the samples have, and a logit is
the sum over neurons. Here that system becomes functions of arrays; `tests` compare them with larger derived systems.

A gradient is a product of positive factors and of factors that can change sign (w, B, A of the package). Such a factor
is a sum of terms: a monomial in the atoms (softmax weights and loss slopes, all sigmoids) times an expression in the
states. Positive factors never change a sign, so monomials are kept as logarithms and rescaled by the largest before
they are added: no driver vanishes because a weight underflows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import add, itemgetter, mul
from typing import Any

import numpy as np
import sympy as sp
from scipy.special import log_expit

from odesys import Node, graph, sym, to_sympy

from .. import dynamics

Arrays = Mapping[str, Any]  # by symbol: (..., neurons, samples), with 1 where a symbol has no neuron or no sample
OWN = {"w": "v_z1", "B": "k_1_z1", "A": "q_1_z1"}  # what each driver grows with


@dataclass(frozen=True, eq=False)
class Compiled:
    """Expressions as one function of arrays by name, and as texts."""

    function: Callable[..., Any]
    known: Callable[[Arrays], Any]
    count: int
    texts: tuple[str, ...]

    def __call__(self, values: Arrays) -> Any:
        return self.function(self.known(values)) if self.count == 1 else self.function(*self.known(values))


def compiled(*expressions: sp.Expr) -> Compiled:
    """Expressions as one function of arrays by name: the door from exact to floats."""
    symbols = sorted({s for expression in expressions for s in expression.free_symbols}, key=str)
    made = expressions[0] if len(expressions) == 1 else list(expressions)
    function = sp.lambdify(symbols, made, modules="numpy", cse=True)
    return Compiled(function, itemgetter(*map(str, symbols)), len(symbols), tuple(map(sp.pycode, expressions)))


@dataclass(frozen=True, eq=False)
class Monomial:
    """A product of atoms, as the sum of their logarithms."""

    exponents: Mapping[str, int]

    @classmethod
    def of(cls, expression: sp.Expr) -> tuple[Monomial, int]:
        """The monomial of an expression, and the sign in front."""
        number, powers = expression.as_coeff_mul()
        found = {str(base): int(exponent) for base, exponent in (p.as_base_exp() for p in powers)}
        return cls(found), int(sp.sign(number))

    def log(self, logs: Arrays) -> Any:
        """Its logarithm."""
        return reduce(add, (logs[name] if e == 1 else e * logs[name] for name, e in self.exponents.items()))


@dataclass(frozen=True, eq=False)
class Driver:
    """A factor of gradients that can change sign: monomials in atoms, each times an expression in the states."""

    terms: tuple[tuple[Monomial, Compiled], ...]

    def __call__(self, states: Arrays, logs: Arrays) -> tuple[Any, Any]:
        """The factor over its largest monomial, and the logarithm of that one."""
        if self.plain:
            return self.terms[0][1](states), 0.0
        weights, top = self.weights(logs)
        return sum(weight * value(states) for weight, (_, value) in zip(weights, self.terms, strict=True)), top

    @property
    def plain(self) -> bool:
        """True without atoms."""
        return len(self.terms) == 1 and not self.terms[0][0].exponents

    def weights(self, logs: Arrays) -> tuple[list[Any], Any]:
        """Every monomial over the largest one, and the logarithm of that one."""
        sizes = [monomial.log(logs) for monomial, _ in self.terms]
        top = reduce(np.maximum, sizes)
        return [np.exp(size - top) for size in sizes], top


@dataclass(frozen=True, eq=False)
class Direction:
    """Minus the sign of a gradient: a sign in front, a positive monomial, and drivers by name."""

    front: int
    weight: Monomial
    drivers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lifted:
    """The system of one sample and one neuron as functions of arrays.

    `names` are the atoms of the rows and of the loss slope, `logits` what is added up over neurons in the arguments of
    s11 and s21; `margin` gives the margin and what the loss slope is the sigmoid of, `values` the directions that never
    change, `moved` all states after a step from their directions.
    """

    names: Mapping[str, str]
    logits: Mapping[str, Compiled]
    margin: Compiled
    drivers: Mapping[str, Driver]
    directions: Mapping[str, Direction]
    values: Mapping[str, int]
    moved: Compiled


@cache
def lifted() -> Lifted:
    """The derived system of one sample and one neuron, taken apart."""
    made, opaque, form = dynamics.derived(1, 1), dynamics.atoms(1, 1), dynamics.sign_form(1, 1)
    states = [sp.Symbol(name, real=True) for table in made.names.values() for name in table.ravel()]
    weights = {atom: meaning for atom, meaning in opaque.meaning.items() if atom not in opaque.slopes}
    bars = {1 - sym(name.replace("bar", "")): sym(name) for name in map(_name, weights) if "bar" in name}
    names, logits = dict[str, str](), dict[str, Compiled]()
    for shown, wanted in dynamics.attention(1, 1).items():
        (atom,) = [a for a, meaning in weights.items() if _same_direction(meaning.args[0], wanted.args[0])]
        other = _name(atom).replace("bar", "") if "bar" in _name(atom) else _name(atom).replace("p", "pbar")
        row = shown.split("_")[0]
        names |= {row: _name(atom), f"not {row}": other}
        logits[row] = compiled(sp.factor(to_sympy(weights[atom].args[0])))
    (slope,) = opaque.slopes
    names["g"] = _name(slope)
    both = graph.substitute([opaque(made.observables["margin_1"]), opaque.meaning[slope].args[0]], bars)
    drivers, directions, values = dict[str, Driver](), dict[str, Direction](), dict[str, int]()
    for name, gradient in dynamics.in_atoms(1, 1).items():
        front, kept = form.factors(gradient)
        if not kept:
            values[name] = -front
            continue
        used = []
        for factor, exponent in kept:
            assert exponent == 1
            letter = next(x for x, own in OWN.items() if factor.has(sp.Symbol(own, real=True)))
            own = sp.Symbol(OWN[letter], real=True)
            grows = Monomial.of(form.write(sp.diff(factor, own)))[1]
            drivers[letter] = _driver(form.write(grows * factor), states)
            front *= grows
            used.append(letter)
        rest = sp.factor(sp.cancel(to_sympy(gradient) / sp.Mul(*(factor for factor, _ in kept))))
        directions[name] = Direction(-front, Monomial.of(form.write(rest))[0], tuple(used))
    return Lifted(names, logits, compiled(*map(to_sympy, both)), drivers, directions, values, _moved(states))


@cache
def pairs_are_saddles() -> bool:
    """Whether queries move by the sign of w B and keys by that of w A: both of a pair shrink where w A B < 0."""
    found = {name: (each.front, {*each.drivers}) for name, each in lifted().directions.items()}
    return found["q_1_z1"] == (1, {"w", "B"}) and found["k_1_z1"] == (1, {"w", "A"})


def _name(atom: Node) -> str:
    return str(atom.args[0])


def _same_direction(logit: Node, other: Node) -> bool:
    """True if one logit is a positive number times the other."""
    ratio = sp.cancel(to_sympy(logit) / to_sympy(other))
    return bool(ratio.is_positive)


def _driver(expression: sp.Expr, states: list[sp.Symbol]) -> Driver:
    """The terms of a factor by their monomials in atoms."""
    terms: dict[sp.Expr, list[sp.Expr]] = {}
    for term in sp.Add.make_args(expression):
        inner, atoms = term.as_independent(*(term.free_symbols - set(states)), as_Add=False)
        terms.setdefault(atoms, []).append(inner)
    return Driver(tuple((Monomial.of(a)[0], compiled(sp.Add(*inner))) for a, inner in terms.items()))


def _moved(states: list[sp.Symbol]) -> Compiled:
    """All states after a step, from them, their directions ``to_...``, eta, m and l1."""
    made = dynamics.derived(1, 1)
    owner = {node: name for leaf, table in made.names.items() for name, node in _pairs(table, made.gradients[leaf])}
    system = made.system(lambda gradient: -sym(f"to_{owner[gradient]}"))
    new = [to_sympy(system.equations[str(s)]) for s in states]
    return compiled(*new)


def _pairs(names: np.ndarray, gradients: np.ndarray) -> list[tuple[str, Node]]:
    return list(zip(names.ravel(), gradients.ravel(), strict=True))


# ---- on arrays -------------------------------------------------------------------------------------------------------


def logarithms(
    states: Arrays, frozen: bool = False, logits: Arrays | None = None
) -> tuple[Arrays, dict[str, Any], Any]:
    """Logits of s11 and s21, logarithms of all atoms, and the margins; `frozen`: softmax slopes at zero logits."""
    parts, logs = lifted(), dict[str, Any]()
    if logits is None:
        logits = {row: np.sum(term(states), axis=-2, keepdims=True) for row, term in parts.logits.items()}
    for row, z in logits.items():
        logs[parts.names[row]], logs[parts.names[f"not {row}"]] = log_expit(z), log_expit(-z)
    known = {**states, **{name: np.exp(log) for name, log in logs.items()}}
    margin, inner = parts.margin(known)
    if frozen:
        logs = dict.fromkeys(logs, np.full_like(margin, -np.log(2.0)))
    return logits, logs | {parts.names["g"]: log_expit(inner)}, margin


def arguments(states: Arrays, logs: Arrays) -> tuple[dict[str, tuple[Any, Any]], dict[str, Any]]:
    """Drivers by letter with their scales, and what the direction of every query and key is the sign of."""
    parts = lifted()
    found = {letter: driver(states, logs) for letter, driver in parts.drivers.items()}
    out = {}
    for name, direction in parts.directions.items():
        product = reduce(mul, (found[x][0] for x in direction.drivers), direction.front)
        if name.endswith("_mu"):  # the mean over samples
            product = product @ sample_weights(direction, logs, [found[x][1] for x in direction.drivers]).mT
        out[name] = product
    return found, out


def sample_weights(direction: Direction, logs: Arrays, scales: Sequence[Any]) -> Any:
    """What samples count in a mean, over the largest; `scales` are logarithms of what drivers are divided by."""
    scale = direction.weight.log(logs) + sum(scales)
    return np.exp(scale - np.max(scale, axis=-1, keepdims=True))
