r"""Constant linear systems solved exactly: spectrum, closed-form solution, Metzler test, hitting times.

.. math::  \dot x = A x, \quad x(0) = x_0, \qquad
           e^{At} x_0 = \sum_i e^{\lambda_i t} \sum_{k < m_i} \tfrac{t^k}{k!} (A - \lambda_i)^k P_i\, x_0 ,

with the spectral projectors :math:`P_i`, polynomials in A that need nothing but its eigenvalues.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.eigen import dom_eigenvects, dom_eigenvects_to_sympy

from ..errors import EquationError
from .dependency import sign_of

SIZE_LIMIT = 6
STEP_LIMIT = 200_000
HALVINGS = 24  # of a step, where a crossing can not be told from a near miss
ROUNDING = 1e-14  # of the size of the state, within which a component is at a level


# ---- Metzler matrices -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MetzlerResult:
    """Answer ``yes``, ``no`` or ``undecided`` with the entry (row, column) that decides it and its value."""

    answer: str
    entry: tuple[int, int] | None = None
    value: sp.Expr | None = None


def check_metzler(matrix: sp.Matrix, diagonal: bool = False) -> MetzlerResult:
    """Whether all off-diagonal entries are nonnegative (with `diagonal`, all entries: the test for maps).

    Parameters
    ----------
    matrix : sp.Matrix
        A square matrix with exact entries.
    diagonal : bool, optional
        Ask for nonnegative diagonal entries too.

    Returns
    -------
    MetzlerResult
        Whether it holds, and an entry where it does not.

    Examples
    --------
    >>> import sympy as sp
    >>> check_metzler(sp.Matrix([[-1, 2], [0, -3]])).answer
    'yes'
    """
    open_entry: MetzlerResult | None = None
    for i, j in itertools.product(range(matrix.rows), range(matrix.cols)):
        entry = sp.sympify(matrix[i, j])
        if (i == j and not diagonal) or entry.is_nonnegative:
            continue
        sign = sign_of(entry)
        if sign == -1:
            return MetzlerResult("no", (i, j), entry)
        if sign is None and open_entry is None:
            open_entry = MetzlerResult("undecided", (i, j), entry)
    return open_entry or MetzlerResult("yes")


# ---- spectrum ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Eigenspace:
    """One exact eigenvalue with its algebraic multiplicity and a basis of its eigenvectors."""

    value: sp.Expr
    multiplicity: int
    vectors: tuple[sp.ImmutableMatrix, ...]


def charpoly(matrix: sp.Matrix, variable: sp.Symbol) -> sp.Expr:
    """Characteristic polynomial, factored over the rationals (and the symbols that occur)."""
    _check_size(matrix)
    return sp.factor(charpoly_of(matrix).as_expr(variable))


def charpoly_of(matrix: sp.Matrix) -> sp.Poly:
    """Characteristic polynomial as SymPy finds it; by its definition where SymPy can not order roots of symbols."""
    try:
        return matrix.charpoly()
    except TypeError:
        variable = sp.Dummy("lambda")
        return sp.Poly((variable * sp.eye(matrix.rows) - matrix).det(method="berkowitz"), variable)


def exact_spectrum(matrix: sp.Matrix) -> tuple[Eigenspace, ...]:
    """Exact eigenvalues and eigenvectors of a small matrix; a sentence where radicals can not give them.

    Parameters
    ----------
    matrix : sp.Matrix
        A square matrix with exact entries.

    Returns
    -------
    tuple[Eigenspace, ...]
        Each eigenvalue with its multiplicity and eigenvectors.

    Examples
    --------
    >>> import sympy as sp
    >>> [str(space.value) for space in exact_spectrum(sp.Matrix([[0, 1], [2, 0]]))]
    ['-sqrt(2)', 'sqrt(2)']
    """
    _check_size(matrix)
    factor, reduced = _common_factor(sp.Matrix(matrix))
    domain = DomainMatrix.from_Matrix(reduced, field=True, extension=True).to_dense()
    if reduced.has(sp.Float) or domain.domain.is_EX:
        raise EquationError(
            f"the spectrum of {_short(matrix)} is not a matter of exact algebra: its entries are "
            f"not rational in numbers and symbols; give exact numbers",
            matrix=matrix,
        )
    rational, algebraic = dom_eigenvects(domain)
    if any(minimal.degree() > 4 for _, minimal, *_ in algebraic):
        raise EquationError(
            f"the characteristic polynomial of {_short(matrix)} has an irreducible factor of degree "
            f"above 4, so its eigenvalues have no radicals; use floats",
            matrix=matrix,
        )
    try:  # roots of irreducible cubics and quartics stay roots: their radicals hide which of them are real
        found = dom_eigenvects_to_sympy(rational, algebraic, sp.Matrix, cubics=False, quartics=False)
    except NotImplementedError:  # symbolic coefficients leave no choice
        found = dom_eigenvects_to_sympy(rational, algebraic, sp.Matrix)
    spaces = []
    for value, multiplicity, basis in found:
        vectors = tuple(sp.ImmutableMatrix(vector.applyfunc(_tidy)) for vector in basis)
        spaces.append(Eigenspace(factor * _tidy(value), multiplicity, vectors))
    return tuple(sorted(spaces, key=lambda space: sp.default_sort_key(space.value)))


def _check_size(matrix: sp.Matrix) -> None:
    if matrix.rows != matrix.cols:
        raise EquationError(f"a linear system needs a square matrix, not {matrix.rows} by {matrix.cols}")
    if matrix.rows > SIZE_LIMIT:
        raise EquationError(
            f"a matrix of size {matrix.rows} is too large for an exact spectrum (the limit is "
            f"{SIZE_LIMIT}); reduce it to a block first, or use numbers in floats"
        )


def _common_factor(matrix: sp.Matrix) -> tuple[sp.Expr, sp.Matrix]:
    """Write the matrix as a symbol factor times numbers where possible, so that no square root of a symbol arises."""
    first = next((sp.sympify(entry) for entry in matrix if entry != 0), sp.S.One)
    if not first.free_symbols:
        return sp.S.One, matrix
    factor = first.as_independent(*first.free_symbols)[1] if first.is_Mul else first
    reduced = matrix.applyfunc(lambda entry: sp.cancel(entry / factor))
    return (sp.S.One, matrix) if reduced.free_symbols else (factor, reduced)


def _tidy(e: sp.Expr) -> sp.Expr:
    """Expanded, with plain square roots out of denominators; nested radicals are left as they are."""
    expanded = sp.expand(e)
    radicals = [p for p in expanded.atoms(sp.Pow) if p.exp.is_Rational and p.exp.q > 1]
    plain = all(p.exp.q == 2 and not p.base.atoms(sp.Pow) for p in radicals) and not expanded.has(sp.CRootOf)
    return sp.radsimp(expanded) if plain else expanded


def _has_high_roots(e: sp.Expr) -> bool:
    return bool(e.has(sp.CRootOf)) or any(p.exp.is_Rational and p.exp.q > 2 for p in e.atoms(sp.Pow))


def _short(matrix: sp.Matrix) -> str:
    return text if len(text := str(matrix.tolist())) < 90 else f"a {matrix.rows} by {matrix.cols} matrix"


# ---- solution and hitting times ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SolutionTerm:
    """One term of the solution: `vector` t^power e^(rate t)."""

    rate: sp.Expr
    power: int
    vector: sp.ImmutableMatrix


@dataclass(frozen=True)
class HittingTime:
    """First time a component reaches a level: exact (evidence ``proof``) or a root in floats (``measurement``).

    `value` is infinity where the level is proved never to be reached, None where a search in floats did not find it;
    `condition` is what symbols must satisfy for the formula to be a time at all.
    """

    value: Any
    evidence: str
    method: str
    condition: Any = True


@dataclass(frozen=True, eq=False)
class LinearSystem:
    r"""The system :math:`\dot x = A x` from :math:`x(0)`, with exact entries; symbols are allowed in both.

    Parameters
    ----------
    matrix : sp.Matrix
        The square matrix A.
    start : sp.Matrix
        The column x(0).
    names : Sequence[str], optional
        What the entries of x are called.

    Examples
    --------
    >>> import sympy as sp
    >>> saddle = LinearSystem(sp.Matrix([[0, 1], [1, 0]]), sp.Matrix([1, 0]))
    >>> [str(space.value) for space in saddle.spectrum]
    ['-1', '1']
    >>> saddle.solution()
    Matrix([
    [exp(t)/2 + exp(-t)/2],
    [exp(t)/2 - exp(-t)/2]])
    """

    matrix: sp.Matrix
    start: sp.Matrix
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        _check_size(sp.Matrix(self.matrix))
        size = self.matrix.rows
        object.__setattr__(self, "start", sp.ImmutableMatrix(size, 1, list(self.start)))
        object.__setattr__(self, "matrix", sp.ImmutableMatrix(self.matrix))
        object.__setattr__(self, "names", tuple(self.names) or tuple(f"x{k + 1}" for k in range(size)))
        if len(set(self.names)) != size or len(self.names) != size:
            raise EquationError(f"the system has {size} components but the names are {', '.join(self.names)}")

    @cached_property
    def spectrum(self) -> tuple[Eigenspace, ...]:
        """Exact eigenvalues with multiplicities and eigenvectors."""
        return exact_spectrum(self.matrix)

    @cached_property
    def modes(self) -> tuple[SolutionTerm, ...]:
        """The terms of the solution that do not vanish; a sentence where eigenvalues are more than square roots."""
        if any(_has_high_roots(space.value) for space in self.spectrum):
            raise EquationError(
                "the closed form needs roots of a cubic or quartic: the spectrum is exact, but the "
                "solution is a task for floats",
                matrix=self.matrix,
            )
        factor, reduced = _common_factor(sp.Matrix(self.matrix))
        spaces = [(_tidy(sp.cancel(s.value / factor)), s.multiplicity) for s in self.spectrum]
        identity, found = sp.eye(reduced.rows), []
        for i, (value, multiplicity) in enumerate(spaces):
            shift = reduced - value * identity
            part, series = sp.Matrix(self.start), [sp.S.One] + [sp.S.Zero] * (multiplicity - 1)
            for other, power in [space for j, space in enumerate(spaces) if j != i]:
                for _ in range(power):
                    part = ((reduced - other * identity) * part).applyfunc(_tidy)
                    series = _divide(series, value - other)
            projected, term = sp.zeros(reduced.rows, 1), part
            for coefficient in series:
                projected += coefficient * term
                term = (shift * term).applyfunc(_tidy)
            for k in range(multiplicity):
                vector = projected.applyfunc(lambda e, k=k: _tidy(e * factor**k / math.factorial(k)))
                if any(entry != 0 for entry in vector):
                    found.append(SolutionTerm(factor * value, k, sp.ImmutableMatrix(vector)))
                projected = (shift * projected).applyfunc(_tidy)
        return tuple(found)

    def solution(self, t: Any = "t") -> sp.Matrix:
        """The closed form of all components at time `t` (a symbol, or an exact number).

        >>> LinearSystem(sp.Matrix([[-2]]), sp.Matrix([3])).solution(sp.Symbol("t"))[0]
        3*exp(-2*t)
        """
        time = sp.Symbol(t, real=True) if isinstance(t, str) else sp.sympify(t)
        total = sp.zeros(self.matrix.rows, 1)
        for mode in self.modes:
            real, imaginary = sp.expand(mode.rate).as_real_imag()
            sign = sign_of(imaginary)
            if sign == -1 and self._is_real:
                continue  # the conjugate of a mode that is counted twice
            if sign == 1 and self._is_real:
                re, im = (mode.vector.applyfunc(lambda e, k=k: sp.expand(e).as_real_imag()[k]) for k in (0, 1))
                pair = 2 * sp.exp(real * time) * (re * sp.cos(imaginary * time) - im * sp.sin(imaginary * time))
                total += time**mode.power * pair
            else:
                total += time**mode.power * sp.exp(mode.rate * time) * mode.vector
        return sp.Matrix(total)

    @property
    def _is_real(self) -> bool:
        return all(bool(sp.sympify(entry).is_real) for entry in [*self.matrix, *self.start])

    def hitting_time(self, component: str | int, level: Any, horizon: float | None = None) -> HittingTime:
        r"""First time :math:`t \ge 0` with :math:`x_k(t) =` `level`.

        Exact where the component is linear in t, or quadratic in one exponential: :math:`c_+ e^{\lambda t} + c_0 +
        c_- e^{-\lambda t}` and its relatives. Otherwise a bracketed root in floats, up to `horizon`.
        """
        if isinstance(component, str) and component not in self.names:
            raise EquationError(f"{component} is not a component; the components are {', '.join(self.names)}")
        index = component if isinstance(component, int) else list(self.names).index(component)
        target = sp.sympify(level)
        gap = sign_of(target - self.start[index])
        if gap == 0:
            return HittingTime(sp.S.Zero, "proof", "the start is on the level")
        try:
            terms = [(m.rate, m.power, m.vector[index]) for m in self.modes if m.vector[index] != 0]
        except EquationError:
            return self._measured_time(index, target, horizon)
        if not terms or all(rate == 0 and power == 0 for rate, power, _ in terms):
            return HittingTime(sp.oo, "proof", "the component is constant and off the level")
        jordan = any(power for _, power, _ in terms)
        exact = _linear_time(terms, target) if jordan else _exponential_time(terms, target, gap)
        return exact if exact is not None else self._measured_time(index, target, horizon)

    def _measured_time(self, index: int, level: sp.Expr, horizon: float | None) -> HittingTime:
        loose = self.matrix.free_symbols | self.start.free_symbols | level.free_symbols
        if loose:
            raise EquationError(
                f"no closed form for the hitting time of {self.names[index]}: signs are not known for "
                f"symbols; declare {min(map(str, loose))} positive or give numbers"
            )
        matrix, x = (np.array(m.tolist(), dtype=float) for m in (self.matrix, self.start))
        rates = np.linalg.eigvals(matrix)
        fastest = float(np.abs(rates).max()) or 1.0
        slowest = min((abs(r) for r in rates.real if abs(r) > 1e-9 * fastest), default=fastest)
        step = 0.05 / fastest
        end = min(horizon if horizon is not None else 200.0 / slowest, step * STEP_LIMIT)
        found, reached = first_crossing(matrix, x[:, 0], index, float(level), step, end)
        if found is None:
            return HittingTime(None, "measurement", f"the level was not reached before t = {reached:.6g}, in floats")
        return HittingTime(found, "measurement", "steps in which a bound of the curvature leaves no room, in floats")


def _divide(series: list[sp.Expr], root: sp.Expr) -> list[sp.Expr]:
    """Taylor coefficients of series(u) / (root + u)."""
    out: list[sp.Expr] = []
    for coefficient in series:
        out.append(_tidy((coefficient - (out[-1] if out else 0)) / root))
    return out


def _linear_time(terms: list[Any], level: sp.Expr) -> HittingTime | None:
    if any(rate != 0 or power > 1 for rate, power, _ in terms):
        return None
    slope = sum(c for _, power, c in terms if power == 1)
    time = sp.cancel((level - sum(c for _, power, c in terms if power == 0)) / slope)
    if sign_of(time) == -1:
        return HittingTime(sp.oo, "proof", "linear in t, and moving away from the level")
    return HittingTime(time, "proof", "linear in t", True if sign_of(time) is not None else sp.Ge(time, 0))


def _exponential_time(terms: list[Any], level: sp.Expr, gap: int | None) -> HittingTime | None:
    """Solve c2 z^2 + c1 z + c0 = 0 for the smallest z = e^(l t) >= 1, l > 0; at z = 1 its value is minus the gap."""
    coefficient = {rate: c for rate, _, c in terms}
    signs = {rate: sign_of(rate) for rate in coefficient}
    moving = next(rate for rate in coefficient if rate != 0)
    ratios = {rate: sp.cancel(rate / moving) for rate in coefficient}
    if None in signs.values() or not all(ratio.is_Rational for ratio in ratios.values()):
        return None
    base = sp.gcd_list([ratio for ratio in ratios.values() if ratio]) * (signs[moving] or 1)
    unit = base * moving  # l > 0, and every rate is a whole multiple of it
    order = {int(ratio / base): coefficient[rate] for rate, ratio in ratios.items()}
    order[0] = sp.expand(order.get(0, sp.S.Zero) - level)
    order = {power: c for power, c in order.items() if c != 0}
    lowest, span = min(order), max(order) - min(order)
    if span > 2:
        return None
    c0, c1, c2 = (order.get(lowest + k, sp.S.Zero) for k in range(3))
    lead = sign_of(order[max(order)])
    if span == 0 or (gap is not None and lead == -gap and (span == 1 or sign_of(c0) == gap)):
        return HittingTime(sp.oo, "proof", "monotone and moving away from the level, so it is never reached")
    if span == 1:
        known = gap is not None and gap == lead
        root = sp.cancel(-c0 / c1)
        return HittingTime(sp.log(root) / unit, "proof", "one exponential", True if known else sp.Ge(root, 1))
    discriminant = sp.sqrt(sp.factor_terms(sp.expand(c1**2 - 4 * c0 * c2)))
    if gap is not None and gap == lead:  # opposite signs at z = 1 and at infinity: one crossing, at the larger root
        if _tidy(c0 + c2) == 0:
            return HittingTime(sp.asinh(sp.cancel(-c1 / (2 * c2))) / unit, "proof", "a hyperbolic sine")
        root = (-c1 + gap * discriminant) / (2 * c2)
        return HittingTime(sp.log(root) / unit, "proof", "quadratic in one exponential")
    return _earliest([(-c1 + s * discriminant) / (2 * c2) for s in (1, -1)], unit)


def _earliest(roots: list[sp.Expr], unit: sp.Expr) -> HittingTime | None:
    if any(root.free_symbols or sign_of(sp.im(root)) is None for root in roots):
        return None
    real = [root for root in roots if sign_of(sp.im(root)) == 0]
    if any(sign_of(root - 1) is None for root in real):  # too close to call
        return None
    later = [root for root in real if sign_of(root - 1) != -1]
    if not later:
        return HittingTime(sp.oo, "proof", "quadratic in one exponential: never on the level")
    first = later[0] if len(later) == 1 or sign_of(later[1] - later[0]) != -1 else later[1]
    return HittingTime(sp.log(first) / unit, "proof", "quadratic in one exponential")


def first_crossing(
    matrix: np.ndarray, x: np.ndarray, index: int, level: float, step: float, end: float
) -> tuple[float | None, float]:
    r"""First time a component of :math:`\dot x = Ax` is at a level, in floats, and how far was looked.

    On a stretch of length h the component stays within :math:`M h^2/8` of its chord, where M bounds its second
    derivative. So no crossing is stepped over: a stretch is left out where the chord is farther away than that, solved
    where the derivative keeps its sign, and halved otherwise.
    """
    from scipy.linalg import expm

    size, twice = float(np.linalg.norm(matrix, 2)), matrix @ matrix
    moves = [expm(step / 2**k * matrix) for k in range(HALVINGS + 1)]
    t = 0.0
    while t < end and np.isfinite(x).all():
        waiting = [(0, 0.0, x)]  # halvings, start within the step, state there; the earliest is last
        while waiting:
            k, offset, here = waiting.pop()
            h, there = step / 2**k, moves[k] @ here
            before, after = here[index] - level, there[index] - level
            speed = float(np.linalg.norm(here)) * math.exp(size * h)
            bend = float(np.linalg.norm(twice[index])) * speed
            if before * after > 0 and min(abs(before), abs(after)) > bend * h * h / 8:
                continue
            slope = float((matrix @ here)[index])
            if before == 0 or (before * after <= 0 and abs(slope) > bend * h):  # one root: the slope keeps its sign
                return t + offset + _bracketed(matrix, here, index, level, h), t
            if k == HALVINGS:
                if before * after <= 0 or min(abs(before), abs(after)) <= ROUNDING * speed:
                    return t + offset, t  # it touches the level within rounding
                continue
            waiting += [(k + 1, offset + h / 2, moves[k + 1] @ here), (k + 1, offset, here)]
        x, t = moves[0] @ x, t + step
    return None, t


def _bracketed(matrix: np.ndarray, x: np.ndarray, index: int, level: float, h: float) -> float:
    from scipy.linalg import expm
    from scipy.optimize import brentq

    def gap(s: float) -> float:
        return float((expm(s * matrix) @ x)[index] - level)

    return 0.0 if gap(0.0) == 0 else float(brentq(gap, 0.0, h, xtol=1e-15))
