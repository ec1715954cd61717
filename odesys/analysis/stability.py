r"""Linear part, type and stability of an equilibrium, each with its evidence.

.. math::  \lambda \in \operatorname{spec} DF(p) .

At a hyperbolic point the type of the linear part is the type of the flow (Hartman-Grobman). A linear centre decides
nothing: it becomes a centre of the flow when a first integral is supplied that is proved to be conserved and has a
definite Hessian at the point. Where exact algebra does not reach, eigenvalues are enclosed in balls, and an eigenvalue
whose ball meets the boundary of stability decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import flint
import sympy as sp

from ..errors import EquationError
from ..exact.balls import as_ball, ball_endpoints, ball_number, ball_program, has_endpoints
from ..exact.rewriting import has_floats
from ..expr import graph
from ..expr.sympy_bridge import to_sympy
from ..expr.system import System
from .dependency import checked_values, linear_part, sign_of, values_at
from .equilibria import Equilibrium, residuals
from .linear import SIZE_LIMIT, charpoly_of, exact_spectrum
from .number_field import inverse
from .polynomial_form import is_rational, polynomial_context, quotients
from .rest_words import rest_words

ACCURACY = 1e-6  # of a point given in floats
NEAR = 40  # digits of an eigenvalue that is not on the boundary of stability
LONGEST = 150  # operations of an eigenvalue in symbols whose sign is looked for
PRECISION = 256  # bits of the balls around eigenvalues


# ---- linear part ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Linearisation:
    """Jacobian at a point and its eigenvalues with multiplicities.

    Attributes
    ----------
    matrix : exact entries, or floats where the point has no exact name.
    eigenvalues : pairs (value, multiplicity), exact or the midpoints of `enclosures`.
    enclosures : balls (`flint.acb`) that hold the eigenvalues; empty where these are exact.
    evidence : ``proof``, ``certificate`` for enclosed eigenvalues, ``measurement`` where floats came in.
    """

    matrix: sp.Matrix
    eigenvalues: tuple[tuple[Any, int], ...]
    evidence: str
    enclosures: tuple[Any, ...] = ()


def linearise(
    system: System, point: Mapping[str, Any] | Equilibrium, parameters: Mapping[str, Any] | None = None
) -> Linearisation:
    """Jacobian at a point and its eigenvalues (of a map: its multipliers), exact or enclosed.

    >>> x, y = sp.symbols("x y")
    >>> [str(v) for v, _ in linearise(System.from_equations({x: y, y: 2 * x}), {"x": 0, "y": 0}).eigenvalues]
    ['-sqrt(2)', 'sqrt(2)']
    """
    place = point.point if isinstance(point, Equilibrium) else point
    matrix = linear_part(system, place, parameters)
    try:
        if not matrix.has(sp.Float) and not matrix.has(sp.CRootOf) and matrix.rows <= SIZE_LIMIT:
            matrix = matrix.applyfunc(sp.cancel)
            return Linearisation(matrix, tuple((s.value, s.multiplicity) for s in exact_spectrum(matrix)), "proof")
    except EquationError:
        pass
    if matrix.free_symbols:
        first = sorted(symbol.name for symbol in matrix.free_symbols)[0]
        raise EquationError(
            f"{rest_words(system).mark} at this point has no closed form; give {first} a number", matrix=matrix
        )
    balls = _jacobian_balls(system, point, place, parameters or {})
    enclosures = enclosed_spectrum(balls)
    floats = any(isinstance(v, float) or sp.sympify(v).has(sp.Float) for v in (parameters or {}).values())
    if not isinstance(point, Equilibrium):
        floats = floats or any(sp.sympify(v).has(sp.Float) for v in place.values())
    evidence = "measurement" if floats or has_floats(system.nodes) else "certificate"
    values = tuple((sp.sympify(complex(v.mid())), 1) for v in enclosures)
    return Linearisation(matrix, values, evidence, enclosures)


def _jacobian_balls(
    system: System, point: Mapping[str, Any] | Equilibrium, place: Mapping[str, Any], parameters: Mapping[str, Any]
) -> Any:
    """The Jacobian over balls that hold the point and the parameters; a float stands for what rounds to it."""
    rows = graph.jacobian(system.nodes, [graph.sym(name) for name in system.names])
    entries = [(i, j, node) for i, row in enumerate(rows) for j, node in row.items()]
    with flint.ctx.workprec(PRECISION):
        env: dict[str, Any] = {}
        if isinstance(point, Equilibrium) and point.algebraic is not None:
            env |= dict(zip(system.names, point.algebraic.balls(PRECISION), strict=True))
        elif isinstance(point, Equilibrium):
            env |= {name: as_ball(low).union(as_ball(high)) for name, (low, high) in point.enclosure.items()}
        # a root of a polynomial takes long to evaluate, so only what is not enclosed yet
        env |= {str(n): _ball(v) for n, v in {**place, **parameters}.items() if str(n) not in env}
        values = ball_program([node for *_, node in entries], PRECISION)(env)
        matrix = flint.arb_mat(system.dimension, system.dimension)
        for (i, j, _), value in zip(entries, values, strict=True):
            matrix[i, j] = value
    return matrix


def _ball(value: Any) -> Any:
    number = sp.sympify(value)
    if number.has(sp.Float):
        return ball_number(float(number))
    if number.is_Rational:
        return as_ball(Fraction(int(number.p), int(number.q)))
    digits = sp.N(number, PRECISION // 3)
    return flint.arb(str(digits)) + flint.arb(0, abs(float(digits)) * 2.0 ** -(PRECISION - 16) + 2.0**-PRECISION)


def enclosed_spectrum(matrix: Any) -> tuple[Any, ...]:
    """Balls around all eigenvalues of a matrix of balls (`flint.arb_mat`), each as often as it counts.

    Where eigenvalues can not be told apart they share the disc of Gershgorin around all of them.
    """
    size = matrix.nrows()
    with flint.ctx.workprec(PRECISION):
        complex_matrix = flint.acb_mat(matrix)
        try:
            found: tuple[Any, ...] = tuple(complex_matrix.eig(multiple=True))
            if all(value.is_finite() and float(value.rad()) < 1e-3 for value in found):
                return found
        except (ValueError, ArithmeticError):
            pass
        rough = _clusters(matrix)
        if rough is not None:
            return rough
        bound = max(
            (sum((abs(matrix[i, j]) for j in range(size)), flint.arb(0)).upper() for i in range(size)), key=float
        )
        disc: Any = flint.acb(flint.arb(0, bound), flint.arb(0, bound))
        return tuple(disc for _ in range(size))


def _clusters(matrix: Any) -> tuple[Any, ...] | None:
    r"""Eigenvalues through the characteristic polynomial, for matrices such as Jordan blocks.

    Ostrowski: the roots of two monic polynomials of degree n pair up within :math:`(2n-1)\varepsilon`, where
    :math:`\varepsilon^n = \sum_k |a_k - b_k| \gamma^{n-k}` and :math:`\gamma` is twice a bound of all roots.
    """
    size = matrix.nrows()
    polynomial = matrix.charpoly()
    if not all(has_endpoints(c) for c in polynomial.coeffs()):
        return None
    exact = [ball_endpoints(c.mid())[0] for c in (polynomial[k] for k in range(size + 1))]
    error = max((polynomial[k].rad() for k in range(size + 1)), key=float)
    middle = flint.fmpq_poly([flint.fmpq(c.numerator, c.denominator) for c in exact])
    gamma = 2 * (1 + max((abs(polynomial[k]).upper() for k in range(size)), key=float))
    spread = (size * error * gamma ** (size - 1)).root(size) if float(error) > 0 else flint.arb(0)
    radius = ((2 * size - 1) * spread).upper()
    found = []
    for factor, times in middle.factor()[1]:
        roots: Any = factor.complex_roots() if factor.degree() > 0 else ()
        for root, _ in roots:
            wide = flint.arb(0, 1) * radius
            found += [flint.acb(root.real + wide, root.imag + wide)] * times
    return tuple(found) if len(found) == size else None


# ---- classification ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Classification:
    """What an equilibrium is.

    Attributes
    ----------
    linear_type : node, focus, saddle, centre, not hyperbolic (simple pairs of eigenvalues on the boundary of stability
        beside others), degenerate (a zero eigenvalue, +-1 for a map, or a repeated one there) or undecided.
    stability : ``asymptotically stable``, ``stable``, ``unstable`` or ``undecided``, of the full system.
    nonlinear_type : the type for the full system, or ``undecided``.
    reason : the sentence behind the answer.
    """

    linear_type: str
    stability: str
    nonlinear_type: str
    eigenvalues: tuple[tuple[Any, int], ...]
    evidence: str
    reason: str


def classify(
    system: System,
    point: Mapping[str, Any] | Equilibrium,
    integral: Any = None,
    parameters: Mapping[str, Any] | None = None,
) -> Classification:
    """Type and stability of an equilibrium; `integral` is a conserved quantity that may settle a linear centre.

    Parameters
    ----------
    system : System
        A flow.
    point : Mapping[str, Any] | Equilibrium
        The equilibrium: exact values by state, or one of `System.equilibria`.
    integral : Any, optional
        A conserved quantity that may settle a linear centre.
    parameters : Mapping[str, Any], optional
        Values of the parameters.

    Returns
    -------
    Classification
        Type and stability, eigenvalues, and how it is known.

    Examples
    --------
    >>> import sympy as sp
    >>> x, y = sp.symbols("x y")
    >>> oscillator = System.from_equations({x: y, y: -x})
    >>> classify(oscillator, {"x": 0, "y": 0}).nonlinear_type
    'undecided'
    >>> classify(oscillator, {"x": 0, "y": 0}, integral=x**2 + y**2).nonlinear_type
    'centre'
    """
    place = point.point if isinstance(point, Equilibrium) else {str(name): value for name, value in point.items()}
    if not isinstance(point, Equilibrium):
        _check_equilibrium(system, place, parameters or {})
    linear = linearise(system, point if isinstance(point, Equilibrium) else place, parameters)
    if any(sp.sympify(value).has(sp.Float) for value in (*place.values(), *(parameters or {}).values())):
        # a float that is the midpoint of a certified enclosure is not a measured one
        certified = isinstance(point, Equilibrium) and point.evidence == "certificate" and bool(linear.enclosures)
        linear = linear if certified else replace(linear, evidence="measurement")
    if isinstance(point, Equilibrium) and point.evidence == "measurement":
        linear = replace(linear, evidence="measurement")
    if linear.enclosures:
        kind, stability = _enclosed_type(linear, system, point)
    elif linear.matrix.shape == (2, 2) and system.kind == "flow":
        kind, stability = _planar(linear.matrix)
    else:
        kind, stability = _general(linear, system.kind)
    if kind in ("node", "focus", "saddle", "node or focus"):
        return Classification(kind, stability, kind, linear.eigenvalues, linear.evidence, "hyperbolic: Hartman-Grobman")
    words = rest_words(system)
    marks = f"{words.mark.split(maxsplit=1)[1]}s on {words.edge}"
    reason = {
        "not hyperbolic": f"beside others there are {marks}, which decide nothing",
        "centre": f"{marks} decide nothing; a first integral may",
        "degenerate": f"{words.degenerate}, which decides nothing",
    }.get(kind, f"on which side of {words.edge} {words.mark} lies is not decided; give numbers or assumptions")
    if linear.enclosures:
        reason = f"non-hyperbolic as far as balls can tell: {words.mark} is not separated from {words.edge}"
    if stability == "unstable":
        reason = f"{words.mark} {words.outside}"
    answer = Classification(kind, stability, "undecided", linear.eigenvalues, linear.evidence, reason)
    if kind not in ("centre", "degenerate") or integral is None:
        return answer
    conserved, reason = _definite_integral(system, place, integral, parameters or {})
    closed = conserved and kind == "centre" and system.dimension == 2 and system.kind == "flow"
    return replace(
        answer,
        stability="stable" if conserved else stability,
        nonlinear_type="centre" if closed else "undecided",
        reason=reason,
    )


def _is_zero(expression: sp.Expr) -> bool:
    return bool(sp.expand(expression) == 0 or sign_of(sp.cancel(sp.expand(expression))) == 0)


def _check_equilibrium(system: System, place: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    missing = [name for name in system.names if name not in place]
    if missing:
        raise EquationError(f"the point has no value for {missing[0]}")
    left = values_at(residuals(system), checked_values(system, place, parameters))
    for name, value in zip(system.names, left, strict=True):
        measured = value.has(sp.Float) and not value.free_symbols
        if abs(complex(value)) > ACCURACY if measured else not _is_zero(value):
            what = "its equation gives" if system.kind == "flow" else "one step moves it by"
            raise EquationError(
                f"the point is no {rest_words(system).one}: {name} does not rest, {what} {value}", residual=value
            )


def _enclosed_type(linear: Linearisation, system: System, point: Any) -> tuple[str, str]:
    """Type and stability from balls around the eigenvalues; a zero eigenvalue is proved at an algebraic point."""
    sides: list[int | None] = []
    turning = []
    for value in linear.enclosures:
        size = value.real if system.kind == "flow" else value.real * value.real + value.imag * value.imag - 1
        sides.append(1 if size > 0 else -1 if size < 0 else None)
        turning.append(not value.imag.contains(0))
    if None not in sides:
        if len(set(sides)) > 1:
            return "saddle", "unstable"
        # an eigenvalue alone in a ball that meets the real axis is real, for the others come in pairs
        alone = all(not a.overlaps(b) for a, b in combinations(linear.enclosures, 2))
        shape = "focus" if any(turning) else "node" if alone else "node or focus"
        return shape, "asymptotically stable" if sides[0] == -1 else "unstable"
    certain = "unstable" if 1 in sides else "undecided"
    zeros = _zero_eigenvalues(system, point) if system.kind == "flow" else 0
    return ("degenerate" if zeros == sides.count(None) and zeros else "undecided"), certain


def _zero_eigenvalues(system: System, point: Any) -> int:
    """How often zero is an eigenvalue, exactly, at a point with algebraic coordinates of a polynomial field; else 0."""
    if not isinstance(point, Equilibrium) or point.algebraic is None or not is_rational(system.nodes):
        return 0
    where, names = point.algebraic, system.names
    if graph.symbols(system.nodes) - set(names):
        return 0
    rows = graph.jacobian(system.nodes, [graph.sym(name) for name in names])
    entries = [rows[i].get(j, graph.ZERO) for i in range(len(names)) for j in range(len(names))]
    fractions = quotients(entries, polynomial_context(names))
    if fractions is None:
        return 0
    field = where.minimal
    flat = [where.value(top) * inverse(where.value(bottom), field) % field for top, bottom in fractions[0]]
    size = len(names)
    matrix = [flat[i * size : (i + 1) * size] for i in range(size)]
    # Faddeev and LeVerrier: coefficients of the characteristic polynomial in the field
    nothing = flint.fmpq_poly([])
    current = [[flint.fmpq_poly([int(i == j)]) for j in range(size)] for i in range(size)]
    coefficients = []
    for k in range(1, size + 1):
        image = [
            [sum((matrix[i][m] * current[m][j] % field for m in range(size)), nothing) for j in range(size)]
            for i in range(size)
        ]
        c = sum((image[i][i] for i in range(size)), nothing) * flint.fmpq(-1, k)
        coefficients.append(c)
        current = [[image[i][j] + (c if i == j else nothing) for j in range(size)] for i in range(size)]
    return next((k for k, c in enumerate(reversed(coefficients)) if c), size)


def stability_conditions(
    system: System, point: Mapping[str, Any] | Equilibrium, parameters: Mapping[str, Any] | None = None
) -> tuple[sp.Expr, ...]:
    """Expressions in the parameters that are all positive exactly where an equilibrium is linearly stable.

    Routh and Hurwitz: the coefficients of the characteristic polynomial and the leading minors of Hurwitz' matrix.

    Parameters
    ----------
    system : System
        A flow.
    point : Mapping[str, Any] | Equilibrium
        The equilibrium: exact values by state, or one of `System.equilibria`.
    parameters : Mapping[str, Any], optional
        Values of parameters that are not to stay symbols.

    Returns
    -------
    tuple[sp.Expr, ...]
        All positive exactly where the equilibrium is linearly stable.

    Examples
    --------
    >>> import sympy as sp
    >>> x, y, mu = sp.symbols("x y mu")
    >>> oscillator = System.from_equations({x: y, y: -x + mu * (1 - x**2) * y}, parameters=[mu])
    >>> stability_conditions(oscillator, {"x": 0, "y": 0})
    (-mu, 1)
    """
    if system.kind != "flow":
        raise EquationError(
            "the criterion of Routh and Hurwitz is for flows; the multipliers of a map are in linearise"
        )
    matrix = linear_part(system, point.point if isinstance(point, Equilibrium) else point, parameters)
    _check_length(matrix)
    raw = charpoly_of(matrix).all_coeffs()
    _check_length(sp.Matrix(raw))
    coefficients = [sp.factor(sp.cancel(c)) for c in raw]
    size = matrix.rows
    hurwitz = sp.Matrix(size, size, lambda i, j: coefficients[2 * j - i + 1] if 0 <= 2 * j - i + 1 <= size else 0)
    minors = []
    for k in range(2, size):
        minor = hurwitz[:k, :k].det()
        _check_length(sp.Matrix([minor]))
        minors.append(sp.factor(sp.cancel(minor)))
    return tuple(dict.fromkeys([*coefficients[1:], *minors]))


def _check_length(matrix: sp.Matrix) -> None:
    """Refuse expressions with roots of symbols that are too long to be brought to a simple form: it takes minutes."""
    roots = any(not power.exp.is_Integer and power.free_symbols for power in matrix.atoms(sp.Pow))
    if roots and sum(sp.count_ops(value) for value in matrix) > LONGEST:
        first = sorted(symbol.name for symbol in matrix.free_symbols)[0]
        raise EquationError(
            f"the conditions of Routh and Hurwitz have roots and are too long; give {first} a number", matrix=matrix
        )


def _planar(matrix: sp.Matrix) -> tuple[str, str]:
    """Trace and determinant need no radicals, so they also decide symbolic matrices."""
    trace, determinant = sp.cancel(matrix.trace()), sp.cancel(matrix.det())
    area, drift = sign_of(determinant), sign_of(trace)
    if area == -1:
        return "saddle", "unstable"
    if area is None or drift is None:
        return "undecided", "unstable" if drift == 1 else "undecided"
    if area == 0:
        return "degenerate", "unstable" if drift == 1 else "undecided"
    if drift == 0:
        return "centre", "undecided"
    turn = sign_of(sp.cancel(trace**2 - 4 * determinant))
    shape = "node or focus" if turn is None else "focus" if turn == -1 else "node"
    return shape, "asymptotically stable" if drift == -1 else "unstable"


def _general(linear: Linearisation, kind: str) -> tuple[str, str]:
    sides: list[int | None] = []
    turning: list[bool] = []
    for value, multiplicity in linear.eigenvalues:
        number = sp.sympify(value)
        if not number.free_symbols:
            number = sp.N(number, NEAR)
            size = sp.re(number) if kind == "flow" else sp.Abs(number) - 1
            if abs(size) > 10.0 ** (10 - NEAR):  # far from the boundary: no need to take roots apart
                sides.append(1 if size > 0 else -1)
                turning.append(bool(abs(sp.im(number)) > 10.0 ** (10 - NEAR)))
                continue
        elif number.count_ops() > LONGEST:  # Cardano's roots in symbols: no sign is read off, and trying takes minutes
            sides.append(None)
            turning.append(False)
            continue
        real, imaginary = sp.expand(value).as_real_imag()
        size = real if kind == "flow" else sp.expand(real**2 + imaginary**2) - 1
        sides.append(sign_of(size))
        # a repeated eigenvalue on the boundary may hide a Jordan block
        turning.append(sign_of(imaginary) in (1, -1) and (sides[-1] != 0 or multiplicity == 1))
    if None in sides:
        return "undecided", "unstable" if 1 in sides else "undecided"
    if 0 in sides:
        turns = all(t for t, side in zip(turning, sides, strict=True) if side == 0)  # simple pairs on the boundary
        shape = "degenerate" if not turns else "centre" if not any(sides) else "not hyperbolic"
        return shape, "unstable" if 1 in sides else "undecided"
    if len(set(sides)) > 1:
        return "saddle", "unstable"
    return "focus" if any(turning) else "node", "asymptotically stable" if sides[0] == -1 else "unstable"


def _definite_integral(
    system: System, place: Mapping[str, Any], integral: Any, parameters: Mapping[str, Any]
) -> tuple[bool, str]:
    """Whether a quantity is proved to be conserved and to have a strict extremum at the point."""
    from .conserved import check_integral

    node = graph.as_node(integral)
    numbers = {name: value for name, value in parameters.items() if not isinstance(value, sp.Symbol)}
    bound = system.substitute(numbers) if numbers else system
    inserted = graph.substitute([node], {graph.sym(name): graph.as_node(value) for name, value in numbers.items()})[0]
    answer = check_integral(bound, inserted).answer
    if answer != "zero":
        return False, f"the quantity is not proved to be conserved (zero test: {answer})"
    symbols = [graph.sym(name) for name in system.names]
    slopes = graph.gradient(node, symbols)
    rows = graph.jacobian(slopes, symbols)
    values = checked_values(system, place, parameters)
    if not all(_is_zero(value) for value in values_at(slopes, values)):
        return False, "the quantity is conserved but has no extremum at the point: its gradient is not zero"
    size = range(system.dimension)
    flat = values_at([rows[i].get(j, graph.ZERO) for i in size for j in size], values)
    hessian = sp.Matrix(system.dimension, system.dimension, flat)
    minors = [sign_of(sp.cancel(hessian[:k, :k].det())) for k in range(1, system.dimension + 1)]
    if all(sign == 1 for sign in minors) or all(sign == (-1) ** k for k, sign in enumerate(minors, start=1)):
        sense = "minimum" if minors[0] == 1 else "maximum"
        return True, f"a conserved quantity has a strict {sense} at the point (definite Hessian): orbits stay near"
    if _even_powers(inserted, system.names, values):
        return True, "a conserved quantity is a sum of even powers around the point, all of one sign: orbits stay near"
    return False, "the quantity is conserved, but its Hessian is not shown to be definite at the point"


def _even_powers(node: graph.Node, names: tuple[str, ...], values: Mapping[str, Any]) -> bool:
    """Whether a polynomial is, around a point and up to a constant, a sum of even powers of one sign, of each state."""
    if not is_rational([node]):
        return False
    expression = to_sympy(node)
    given = {symbol.name: symbol for symbol in expression.free_symbols}
    moved = {given[n]: sp.Symbol(n) + sp.sympify(values[n]) for n in names if n in given}
    rest = expression.xreplace(moved)
    if len(moved) < len(names) or not rest.is_polynomial(*map(sp.Symbol, names)):
        return False
    terms = [(powers, c) for powers, c in sp.Poly(rest, *map(sp.Symbol, names)).terms() if any(powers)]
    signs = {sign_of(sp.cancel(c)) for _, c in terms}
    even = all(power % 2 == 0 for powers, _ in terms for power in powers)
    alone = {k for powers, _ in terms for k in range(len(names)) if powers[k] and sum(powers) == powers[k]}
    return even and signs in ({1}, {-1}) and len(alone) == len(names)
