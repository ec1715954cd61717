r"""Lax pairs: the spectrum that two adjacent trained maps conserve, whatever drives them.

Let a read path be :math:`\phi = P\,U V R` with pinned sets :math:`P, R` and both maps trained. With

.. math::
    S = \begin{pmatrix} P U U^\top P^\top & P U V R \\ \cdot & R^\top V^\top V R \end{pmatrix}, \quad
    \Gamma = \begin{pmatrix} P P^\top & 0 \\ 0 & R^\top R \end{pmatrix}, \quad
    C = \Gamma \begin{pmatrix} 0 & G \\ G^\top & 0 \end{pmatrix}, \quad J = \mathrm{diag}(I, -I),

the matrix :math:`L = J S\,\Gamma^{-1}` obeys :math:`\dot L = [L, C]` for every force :math:`G`, so each
:math:`\operatorname{tr} L^q` is a first integral (in weights: the spectrum of :math:`U^\top U - V V^\top`). For keys
and queries these are tr A - tr B, tr A^2 + tr B^2 - 2 tr M M', and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..derive.closure import Closure, Force
from ..errors import EquationError, ParameterError
from ..expr import graph
from ..expr.graph import ONE, ZERO, Node
from ..model.paths import Path

if TYPE_CHECKING:
    from ..derive.flow import Flow

Word = tuple[Path | Force, ...]  # a product of path matrices and forces, in the free algebra with transposes
Formal = list[list[Counter[Word]]]  # a 2 by 2 block matrix of formal sums of words


@dataclass(frozen=True, eq=False)
class ConservedSpectrum:
    """The conserved numbers tr L^q, q = 1 .. size, of one read path.

    Attributes
    ----------
    path : the read path P U V R; its two maps and pinned sets define L.
    size : order of L, the number of pinned vectors on both sides.
    """

    flow: Flow
    path: Path
    size: int

    def matrix(self, x: Any, parameters: Mapping[str, float] | None = None) -> np.ndarray:
        """L = J S Gamma^-1 at a state vector, or at each row of an array of them.

        `parameters` gives the square of the output vector a number where it is a parameter.
        """
        inverse = _floats(self._inverse_gram, parameters or {})
        result: np.ndarray = self._signs[:, None] * self.gram(np.asarray(x, dtype=float)) @ inverse
        return result

    def gram(self, x: np.ndarray) -> np.ndarray:
        """The matrix S at a state vector of numbers or nodes, or at each row of an array of them."""
        return x[..., self._places]

    def values(self, x: Any, q_max: int | None = None, parameters: Mapping[str, float] | None = None) -> np.ndarray:
        """tr L^q for q = 1 .. q_max (the size of L unless given), along the last axis."""
        return power_traces(self.matrix(x, parameters), q_max or self.size)

    def trace(self, q: int) -> Node:
        """tr L^q as an exact node."""
        states = np.array([graph.sym(name) for name in self.flow.system.names], dtype=object)
        lax = self._signs[:, None] * self.gram(states) @ self._inverse_gram
        product = lax
        for _ in range(q - 2):
            product = product @ lax
        return graph.add(np.diagonal(lax) if q == 1 else (product * lax.T).flat)

    @property
    def traces(self) -> tuple[Node, Node]:
        """tr L and tr L^2, the two that are short enough to be read."""
        return self.trace(1), self.trace(2)

    @cached_property
    def _signs(self) -> np.ndarray:
        left = len(self.flow.pin_gram(self.path.left))
        return np.array([1] * left + [-1] * (self.size - left))

    @cached_property
    def _inverse_gram(self) -> np.ndarray:
        return _block_diagonal(*(_inverse(self.flow, pin) for pin in (self.path.left, self.path.right)))

    @cached_property
    def _places(self) -> np.ndarray:
        """Which state holds each entry of S."""
        leaves = self.flow.layout.unpack(np.arange(self.flow.system.dimension))
        rows = []
        for row in _gram_paths(self.path):
            oriented = [self.flow.closure.canonical(path) for path in row]
            parts = [(leaves[self.flow.naming.leaf(stored)], turned) for stored, turned in oriented]
            rows.append([leaf.T if turned else leaf for leaf, turned in parts])
        return np.block(rows)


def lax_integrals(flow: Flow) -> list[ConservedSpectrum]:
    """All conserved spectra of a derived flow, each proved from the terms of its closure.

    Nothing is returned for a stepwise map (the numbers drift), where only one of the two maps is trained (they are not
    conserved) or none (they are constant for a trivial reason), or where a Gram matrix is singular.
    """
    spectra = []
    for path in flow.closure.read:
        maps = {letter.map for letter in path.letters}
        if flow.system.kind != "flow" or len(path.letters) != 2 or not maps <= set(flow.train):
            continue
        if not _obeys_lax_equation(flow.closure, path, set(flow.train)):
            continue
        try:
            for pin in (path.left, path.right):
                _inverse(flow, pin)
        except (ZeroDivisionError, np.linalg.LinAlgError):
            continue
        size = len(flow.pin_gram(path.left)) + len(flow.pin_gram(path.right))
        spectra.append(ConservedSpectrum(flow, path, size))
    return spectra


def invariant_drift(
    flow: Flow, states: Any, parameters: Mapping[str, float] | None = None, q_max: int | None = None
) -> float:
    r"""How far the conserved numbers moved along a trajectory: an error gauge of the integration.

    .. math::  \max_{t,\ \text{spectra},\ q}\ |I_q(t) - I_q(0)| \,/\, \|S(t)\|_F^q

    `states` has one state vector per row; q goes up to `q_max`, or to the size of L. Not a number without a spectrum.

    Parameters
    ----------
    flow : Flow
        The derived flow.
    states : Any
        One state vector per row.
    parameters : Mapping[str, float], optional
        Values of the parameters of the flow.
    q_max : int, optional
        Highest power that is followed.

    Returns
    -------
    float
        The largest relative change; not a number where nothing is known to be conserved.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow, integrate
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], +1)]))
    >>> run = integrate(flow.system, flow.initial_state(omega=0.5), (0.0, 5.0))
    >>> invariant_drift(flow, run.states) < 1e-8
    True
    """
    rows = np.atleast_2d(np.asarray(states, dtype=float))
    if rows.shape[1] != flow.system.dimension:
        raise EquationError(f"the states have {rows.shape[1]} entries but the flow has {flow.system.dimension}")
    worst = [float("nan")]
    for spectrum in lax_integrals(flow):
        norm = np.linalg.norm(spectrum.gram(rows), axis=(1, 2))[:, None, None]
        norm[norm == 0] = 1.0
        # scaled before the powers are taken: ||S||^q underflows long before the ratio loses its meaning
        now = power_traces(spectrum.matrix(rows, parameters) / norm, q_max or spectrum.size)
        then = power_traces(spectrum.matrix(rows[0], parameters) / norm, q_max or spectrum.size)
        worst.append(float(np.abs(now - then).max()))
    return float(np.fmax.reduce(worst))


def power_traces(matrices: np.ndarray, count: int) -> np.ndarray:
    """tr X^q for q = 1 ... count, along the last axis."""
    power, out = matrices, []
    for _ in range(count):
        out.append(np.trace(power, axis1=-2, axis2=-1))
        power = power @ matrices
    return np.stack(out, axis=-1)


# ---- the proof -----------------------------------------------------------------------------------------------------


def _gram_paths(path: Path) -> list[list[Path]]:
    first, second = path.letters
    keys = Path(path.left, (first, first.T), path.left)
    queries = Path(path.right, (second.T, second), path.right)
    return [[keys, path], [path.T, queries]]


def _obeys_lax_equation(closure: Closure, path: Path, train: set[str]) -> bool:
    r"""Compare the closure's own terms of dS with the Lax equation, word by word.

    Multiplied by Gamma from the right, :math:`\dot L = L C - C L` reads :math:`J\dot S = J S H \Gamma - \Gamma H J S`
    with :math:`H` the force block. Words are elements of the free algebra with transposes: equality there holds for all
    matrices of all sizes, which no check at one size would show (two skew 2 by 2 matrices commute, larger ones do not).
    """
    paths = _gram_paths(path)
    if not all(p in closure.terms or p.T in closure.terms for row in paths for p in row):
        return False
    read = closure.read.index(path)
    force: Formal = [[Counter(), _single(Force(read, False))], [_single(Force(read, True)), Counter()]]
    pins = [Path(pin, (), pin) for pin in (path.left, path.right)]
    gram: Formal = [[_single(pins[0]), Counter()], [Counter(), _single(pins[1])]]
    scores: Formal = [[_single(p) for p in row] for row in paths]
    change: Formal = [[_variation(closure, p, train) for p in row] for row in paths]
    if len(_rates(closure, paths, train)) != 1:  # at one common rate time runs faster, and that is all
        return False
    first = _flip(_product(_product(scores, force), gram))
    second = _product(_product(gram, force), _flip(scores))
    left = _flip(change)
    return all(
        left[i][j][word] == first[i][j][word] - second[i][j][word]
        for i in range(2)
        for j in range(2)
        for word in {*left[i][j], *first[i][j], *second[i][j]}
    )


def _variation(closure: Closure, path: Path, train: set[str]) -> Counter[Word]:
    """The terms of d(path)/dt that the trained maps contribute, in the orientation asked for."""
    stored, turned = closure.canonical(path)
    words = [term.factors for term in closure.terms[stored] if set(term.moved) <= train]
    return Counter(_transpose(word) for word in words) if turned else Counter(words)


def _rates(closure: Closure, paths: list[list[Path]], train: set[str]) -> set[Node]:
    """The factors of all terms that the trained maps contribute."""
    stored = {closure.canonical(path)[0] for row in paths for path in row}
    return {term.coefficient for path in stored for term in closure.terms[path] if set(term.moved) <= train}


def _transpose(word: Word) -> Word:
    return tuple(f.T if isinstance(f, Path) else Force(f.read, not f.transposed) for f in reversed(word))


def _single(factor: Path | Force) -> Counter[Word]:
    return Counter({(factor,): 1})


def _product(a: Formal, b: Formal) -> Formal:
    out: Formal = [[Counter(), Counter()], [Counter(), Counter()]]
    for i in range(2):
        for j in range(2):
            for k in range(2):
                for left, m in a[i][k].items():
                    for right, n in b[k][j].items():
                        out[i][j][left + right] += m * n
    return out


def _flip(a: Formal) -> Formal:
    """J times a block matrix."""
    return [a[0], [Counter({word: -n for word, n in entry.items()}) for entry in a[1]]]


# ---- Gram matrices of pinned sets ----------------------------------------------------------------------------------


def _inverse(flow: Flow, pin: str) -> np.ndarray:
    """Inverse Gram matrix of a pinned set as nodes: exact unless the Gram matrix has floats."""
    gram = flow.pin_gram(pin)
    size = len(gram)
    if all(entry is (ONE if i == j else ZERO) for (i, j), entry in np.ndenumerate(gram)):
        return gram
    if size == 1:
        return np.array([[graph.power(gram[0, 0], Fraction(-1))]], dtype=object)
    if any(entry.op != "num" for entry in gram.flat):
        if any(gram[i, j] is not ZERO for i in range(size) for j in range(size) if i != j):
            raise EquationError("a Gram matrix with parameters off the diagonal is not inverted; give it numbers")
        return np.array(
            [[graph.power(gram[i, i], Fraction(-1)) if i == j else ZERO for j in range(size)] for i in range(size)],
            dtype=object,
        )
    values = [[entry.args[0] for entry in row] for row in gram]
    if any(isinstance(v, float) for row in values for v in row):
        matrix = np.array(values, dtype=float)
        if np.linalg.cond(matrix) > 1e12:
            raise np.linalg.LinAlgError("singular to rounding")
        inverse: Sequence[Sequence[Any]] = np.linalg.inv(matrix).tolist()
    else:
        import flint

        entries = [flint.fmpq(v.numerator, v.denominator) for row in values for v in row]
        exact = flint.fmpq_mat(size, size, entries).inv().tolist()
        inverse = [[Fraction(int(v.p), int(v.q)) for v in row] for row in exact]
    return np.array([[graph.num(v) for v in row] for row in inverse], dtype=object)


def _block_diagonal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.full((len(a) + len(b), len(a) + len(b)), ZERO, dtype=object)
    out[: len(a), : len(a)], out[len(a) :, len(a) :] = a, b
    return out


def _floats(nodes: np.ndarray, parameters: Mapping[str, float]) -> np.ndarray:
    distinct = list(dict.fromkeys(nodes.flat))
    missing = sorted(graph.symbols(distinct) - set(parameters))
    if missing:
        name = missing[0]
        raise ParameterError(f"the square of the output vector is {name}; pass parameters={{'{name}': ...}}")
    values = dict(zip(distinct, graph.evaluate(distinct, dict(parameters), {}, float), strict=True))
    return np.array([values[node] for node in nodes.flat], dtype=float).reshape(nodes.shape)
