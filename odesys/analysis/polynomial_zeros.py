r"""All real zeros of a polynomial system, exactly: cases by factors, elimination, and one algebraic number per point.

1. An equation with several factors splits into cases, each of which assumes that the factors before it do not vanish.
2. A variable that an equation contains only linearly, :math:`c\,v + d = 0`, is eliminated where :math:`c \ne 0`; the
   case :math:`c = d = 0` is one of its own.
3. A sum of even monomials with coefficients of one sign vanishes only where each of them does.
4. What is left gets a Groebner basis. Finitely many zeros are written as :math:`x_j = g_j(\tau)/g_1(\tau)` with one
   root :math:`\tau` (rational univariate representation); otherwise there is a continuum, of the dimension of the
   ideal, if a real point of it is found at which the equations are independent.

The cases are disjoint and cover everything. A case that none of this settles is handed back as open.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial, prod
from typing import Any

import flint

from .multiplicity import multiplicity
from .number_field import AlgebraicPoint, evaluate, inverse, real_roots
from .polynomial_form import factored

CASES = 4000  # looked at before the rest is left open
LARGEST_DEGREE = 24  # of an equation after an elimination
LONGEST = 600  # terms of an equation after an elimination
BASIS_LIMITS = (80, 400, 4000)  # of a Groebner basis: polynomials, terms, bits
LARGEST_QUOTIENT = 120  # complex zeros, with multiplicity
SLICES = 24  # tried for a real point of a continuum

Polynomial = Any  # flint.fmpz_mpoly


@dataclass(frozen=True, eq=False)
class Solved:
    """The variable number `variable` where `slope` * variable + `rest` = 0 and `slope` is not zero."""

    variable: int
    slope: Polynomial
    rest: Polynomial


@dataclass(frozen=True, eq=False)
class ZeroFamily:
    """A continuum of zeros: `solved` gives some variables by the others, `equations` hold between those.

    `dimension` is that of its largest real part, proved by a real point where the equations are independent.
    """

    dimension: int
    free: tuple[int, ...]
    solved: tuple[Solved, ...]
    equations: tuple[Polynomial, ...]
    nonzero: tuple[Polynomial, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """Equations, what must not vanish, and the variables already eliminated."""

    equations: tuple[Polynomial, ...]
    nonzero: tuple[Polynomial, ...] = ()
    solved: tuple[Solved, ...] = ()


@dataclass(frozen=True)
class RealZeros:
    """Isolated points, continua, the cases that stayed open, and points that may belong to a continuum in one."""

    points: tuple[AlgebraicPoint, ...]
    families: tuple[ZeroFamily, ...]
    open: tuple[Case, ...]
    doubtful: tuple[AlgebraicPoint, ...] = ()


def real_zeros(
    equations: Sequence[Polynomial], context: Any, nonzero: Iterable[Polynomial] = (), seed: int = 0
) -> RealZeros:
    """All real zeros of polynomials over the variables of `context` where those of `nonzero` do not vanish.

    >>> context = flint.fmpz_mpoly_ctx.get(("x", "y"), "degrevlex")
    >>> x, y = context.gens()
    >>> [str(p.expressions()[0]) for p in real_zeros([x**2 - 300, y**2 + x * y], context).points]
    ['-10*sqrt(3)', '10*sqrt(3)', '-10*sqrt(3)', '10*sqrt(3)']
    """
    points: list[AlgebraicPoint] = []
    families: list[ZeroFamily] = []
    left: list[Case] = []
    stack, looked = [Case(tuple(equations), _distinct(f for p in nonzero for f in _factors(p)))], 0
    while stack:
        case = stack.pop()
        looked += 1
        if looked > CASES:
            left.append(case)
            continue
        cases = _split(case, context.nvars())
        if cases is not None:
            stack += reversed(cases)
            continue
        found = _leaf(case, context, seed)
        if found is None:
            left.append(case)
        elif isinstance(found, Case):
            stack.append(found)
        elif isinstance(found, ZeroFamily):
            families.append(found)
        else:
            points += found
    families = _largest(families)
    alone = [p for p in points if not any(_is_on(p, family) for family in families)]
    near = [p for p in alone if any(_in_closure(p, f) for f in families) and not _is_isolated(p, equations)]
    doubtful = [p for p in alone if p in near or any(_may_touch(p, case) for case in left)]
    isolated = [p for p in alone if p not in doubtful]
    return RealZeros(tuple(isolated), tuple(families), tuple(left), tuple(doubtful))


def parametric_zeros(equations: Sequence[Polynomial], size: int, nonzero: Iterable[Polynomial] = ()) -> list[Case]:
    """The cases of a system whose variables after the first `size` are parameters, as far as elimination goes.

    In each case `equations` without the first variables are conditions on the parameters. Together they cover
    everything; a case is solved if no other equation is left. The leading coefficient of an equation in one of the
    first variables does not vanish.
    """
    done: list[Case] = []
    stack, looked = [Case(tuple(equations), _distinct(f for p in nonzero for f in _factors(p)))], 0
    while stack:
        case = stack.pop()
        looked += 1
        cases = _split(case, size) if looked <= CASES else None
        if cases is None and looked <= CASES:
            cases = _without(case, size) or _led(case, size)
        if cases is None:
            left = (p for p in case.equations if not p.is_zero())
            done.append(replace(case, equations=_distinct(p if p.leading_coefficient() > 0 else -p for p in left)))
        else:
            stack += reversed(cases)
    return done


# ---- cases ---------------------------------------------------------------------------------------------------------


def _factors(polynomial: Polynomial) -> list[Polynomial]:
    """Irreducible factors, each once and with a positive leading coefficient."""
    return [f if f.leading_coefficient() > 0 else -f for f, _ in factored(polynomial)]


def _distinct(polynomials: Iterable[Polynomial]) -> tuple[Polynomial, ...]:
    found: list[Polynomial] = []
    for p in polynomials:
        if p not in found:
            found.append(p)
    return tuple(found)


def _split(case: Case, size: int) -> list[Case] | None:
    """The cases that a case splits into, one if it only becomes simpler; None if it does neither.

    Only the first `size` variables are eliminated.
    """
    equations: list[list[Polynomial]] = []
    for p in case.equations:
        if p.is_zero():
            continue
        parts = [] if p.is_constant() else [f for f in _factors(p) if f not in case.nonzero]
        if not parts:
            return []
        if parts not in equations:
            equations.append(parts)
    plain = [parts[0] for parts in equations if len(parts) == 1]
    for p in plain:
        squares = _sum_of_squares(p)
        if squares is not None:
            rest = [prod(parts) for parts in equations if parts != [p]]
            return [replace(case, equations=(*rest, *squares))] if squares else []
        if _univariate(p) is not None and not real_roots(_univariate(p)):
            return []
    found = _linear(plain, case, size, constant=True)
    if found is not None:
        return _eliminate(case, [prod(parts) for parts in equations], *found)
    several = min((parts for parts in equations if len(parts) > 1), key=len, default=None)
    if several is not None:
        rest = [prod(parts) for parts in equations if parts is not several]
        several = sorted(several, key=lambda f: (f.total_degree(), len(f)))
        return [
            replace(case, equations=(f, *rest), nonzero=(*case.nonzero, *several[:k])) for k, f in enumerate(several)
        ]
    found = _linear(plain, case, size, constant=False)
    return None if found is None else _eliminate(case, plain, *found)


def _without(case: Case, size: int) -> list[Case] | None:
    """The same case with parameters that are zero put into the other equations; None where this changes nothing."""
    for j, gen in list(enumerate(case.equations[0].context().gens()))[size:] if case.equations else ():
        if gen in case.equations and any(q.degrees()[j] for q in case.equations if q != gen):
            name = gen.context().name(j)
            others = [q.subs({name: 0}) if q.degrees()[j] else q for q in case.equations if q != gen]
            return [replace(case, equations=(gen, *others))]
    return None


def _led(case: Case, size: int) -> list[Case] | None:
    """The two cases of a leading coefficient in the parameters: it vanishes, or not; None where none is in doubt."""
    for p in case.equations:
        used = [j for j, n in enumerate(p.degrees()[:size]) if n]
        if len(used) != 1:
            continue
        (j,), n = used, int(p.degrees()[used[0]])
        lead = p
        for k in range(n):
            lead = lead.derivative(j) / (k + 1)
        apart = [] if lead.is_constant() else [f for f in _factors(lead) if f not in case.nonzero]
        if apart:
            others = [q for q in case.equations if q is not p]
            less = p - lead * p.context().gens()[j] ** n
            return [
                replace(case, nonzero=(*case.nonzero, *apart)),
                replace(case, equations=(prod(apart), less, *others)),
            ]
    return None


def _sum_of_squares(p: Polynomial) -> list[Polynomial] | None:
    """What vanishes with a sum of even monomials of one sign: a product of variables each; nothing if it never does."""
    terms = p.to_dict()
    even = all(all(n % 2 == 0 for n in exponents) for exponents in terms)
    if not even or len({c > 0 for c in terms.values()}) > 1:
        return None
    if any(not any(exponents) for exponents in terms):
        return []
    gens = p.context().gens()
    return [prod((g for g, n in zip(gens, exponents, strict=True) if n), start=gens[0] ** 0) for exponents in terms]


def _univariate(p: Polynomial) -> Any | None:
    """A polynomial in one variable as flint.fmpq_poly, else None."""
    used = [j for j, n in enumerate(p.degrees()) if n]
    if len(used) != 1:
        return None
    coefficients = [0] * (int(p.degrees()[used[0]]) + 1)
    for exponents, c in p.to_dict().items():
        coefficients[int(exponents[used[0]])] = int(c)
    return flint.fmpq_poly(coefficients)


def _coefficient(p: Polynomial, j: int) -> tuple[Polynomial, Polynomial]:
    """Slope and rest of a polynomial that is linear in the variable number j."""
    slope = p.derivative(j)
    return slope, p - slope * p.context().gens()[j]


def _linear(plain: Sequence[Polynomial], case: Case, size: int, constant: bool) -> tuple[int, Polynomial] | None:
    """A variable and an equation that is linear in it, the shortest first; with a constant slope if asked for."""
    best: tuple[tuple[int, ...], int, Polynomial] | None = None
    for p in plain:
        for j, n in enumerate(p.degrees()[:size]):
            if n != 1:
                continue
            slope, _ = _coefficient(p, j)
            known = slope.is_constant() or all(f in case.nonzero for f in _factors(slope))
            if constant and not known:
                continue
            others = [q for q in plain if q is not p and q.degrees()[j]]
            growth = max((int(q.degrees()[j]) * (p.total_degree() - 1) + q.total_degree() for q in others), default=0)
            if growth > LARGEST_DEGREE:
                continue
            key = (growth, len(p), len(others))
            if best is None or key < best[0]:
                best = (key, j, p)
    return None if best is None else best[1:]


def _eliminate(case: Case, equations: Sequence[Polynomial], j: int, p: Polynomial) -> list[Case] | None:
    slope, rest = _coefficient(p, j)

    def without(q: Polynomial) -> Polynomial:
        return q.resultant(p, j) if q.degrees()[j] else q

    apart = [f for f in ([] if slope.is_constant() else _factors(slope)) if f not in case.nonzero]
    new = tuple(without(q) for q in equations if q != p)
    if any(len(q) > LONGEST for q in new):
        return None
    images = [without(q) for q in (*case.nonzero, *apart)]
    cases = []
    if not any(q.is_zero() for q in images):
        ahead = _distinct(f for q in images for f in _factors(q))
        cases.append(Case(new, ahead, (*case.solved, Solved(j, slope, rest))))
    if apart:
        others = [q for q in equations if q != p]
        cases.append(replace(case, equations=(prod(apart), rest, *others)))
    return cases


# ---- what no elimination simplifies --------------------------------------------------------------------------------


def _leaf(case: Case, context: Any, seed: int) -> list[AlgebraicPoint] | ZeroFamily | Case | None:
    """Points, a continuum or a simpler case; None where nothing is decided."""
    gone = {s.variable for s in case.solved}
    case = replace(case, equations=_distinct(p for p in case.equations if not p.is_zero()))
    used = sorted({j for p in case.equations for j, n in enumerate(p.degrees()) if n})
    idle = [j for j in range(context.nvars()) if j not in gone and j not in used]
    if not case.equations:
        if idle:
            return ZeroFamily(len(idle), tuple(idle), case.solved, (), case.nonzero)
        return _completed([(flint.fmpq_poly([0, 1]), {})], case, context)
    small = flint.fmpz_mpoly_ctx.get(tuple(context.name(j) for j in used), "degrevlex")
    basis = _basis([p.project_to_context(small) for p in case.equations], small)
    if basis is None:
        return None
    if any(g.is_constant() for g in basis):
        return []
    simpler = [g for g in basis if len(_factors(g)) > 1 or any(n == 1 for n in g.degrees())]
    back = tuple(g.project_to_context(context) for g in basis)
    if simpler and any(g not in case.equations for g in back):
        return replace(case, equations=back)
    quotient = _Quotient.of(basis, small)
    if quotient is None:
        return _continuum(case, basis, small, used, idle, seed)
    fields = quotient.fields()
    if fields is None:
        return None
    parts = [(minimal, dict(zip(used, values, strict=True))) for minimal, values in fields]
    if not idle:
        return _completed(parts, case, context)
    rng = random.Random(0)
    for minimal, known in parts:
        generic = {**known, **{j: flint.fmpq_poly([rng.randint(-1000, 1000)]) for j in idle}}
        if not real_roots(minimal):
            continue
        if not all(evaluate(p, generic, minimal) for p in case.nonzero):
            return None
        return ZeroFamily(len(idle), tuple(idle), case.solved, case.equations, case.nonzero)
    return []


def _basis(polynomials: Sequence[Polynomial], context: Any) -> list[Polynomial] | None:
    """A reduced Groebner basis, or None where it grows beyond the limits."""
    generators: Any = flint.fmpz_mpoly_vec(polynomials, context)
    found, finished = generators.buchberger_naive(limits=BASIS_LIMITS)
    return list(found.autoreduction()) if finished else None


def _completed(parts: Sequence[tuple[Any, dict[int, Any]]], case: Case, context: Any) -> list[AlgebraicPoint]:
    """Real points with the eliminated variables put back, without those where something must not vanish and does."""
    points = []
    for minimal, known in parts:
        if minimal.degree() > 1 and not real_roots(minimal):
            continue
        values = dict(known)
        if any(not evaluate(p, values, minimal) for p in case.nonzero):
            continue
        for s in reversed(case.solved):
            slope = evaluate(s.slope, values, minimal)
            values[s.variable] = -evaluate(s.rest, values, minimal) * inverse(slope, minimal) % minimal
        coordinates = tuple(values[j] for j in range(context.nvars()))
        points += [AlgebraicPoint(minimal, k, coordinates) for k in range(len(real_roots(minimal)))]
    return points


# ---- finitely many zeros: the quotient algebra ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Quotient:
    """Polynomials modulo an ideal with finitely many zeros: monomials as a basis, multiplication as matrices."""

    monomials: tuple[tuple[int, ...], ...]
    matrices: tuple[Any, ...]  # flint.fmpq_mat, one per variable

    @classmethod
    def of(cls, basis: Sequence[Polynomial], context: Any) -> _Quotient | None:
        """The quotient of a reduced basis; None where there are infinitely many zeros, or too many."""
        size = context.nvars()
        lead = [tuple(map(int, g.monomial(0))) for g in basis]
        if any(not any(all(n == 0 for i, n in enumerate(m) if i != j) for m in lead) for j in range(size)):
            return None
        standard = [(0,) * size]
        for m in standard:
            for j in range(size):
                up = (*m[:j], m[j] + 1, *m[j + 1 :])
                if up not in standard and not any(all(a >= b for a, b in zip(up, l, strict=True)) for l in lead):
                    standard.append(up)
            if len(standard) > LARGEST_QUOTIENT:
                return None
        place = {m: k for k, m in enumerate(standard)}
        normal = {m: {k: flint.fmpq(1)} for m, k in place.items()}
        tails = {}
        for g, l in zip(basis, lead, strict=True):
            top = g.leading_coefficient()
            tails[l] = {
                place[tuple(map(int, e))]: flint.fmpq(-int(c), int(top))
                for e, c in g.to_dict().items()
                if tuple(map(int, e)) != l
            }
        border = {(*m[:j], m[j] + 1, *m[j + 1 :]) for m in standard for j in range(size)} - set(standard)
        for m in sorted(border, key=lambda m: (sum(m), [-n for n in reversed(m)])):  # degrevlex, from below
            if m in tails:
                normal[m] = tails[m]
                continue
            j = next(j for j in range(size) if m[j] and (*m[:j], m[j] - 1, *m[j + 1 :]) in border)
            total: dict[int, Any] = {}
            for k, c in normal[(*m[:j], m[j] - 1, *m[j + 1 :])].items():
                b = standard[k]
                for i, d in normal[(*b[:j], b[j] + 1, *b[j + 1 :])].items():
                    total[i] = total.get(i, 0) + c * d
            normal[m] = {i: c for i, c in total.items() if c}
        matrices = []
        for j in range(size):
            matrix = flint.fmpq_mat(len(standard), len(standard))
            for k, m in enumerate(standard):
                for i, c in normal[(*m[:j], m[j] + 1, *m[j + 1 :])].items():
                    matrix[i, k] = c
            matrices.append(matrix)
        return cls(tuple(standard), tuple(matrices))

    def fields(self) -> list[tuple[Any, list[Any]]] | None:
        """Each class of conjugate zeros: an irreducible polynomial, and the coordinates as polynomials in its root."""
        size = len(self.monomials)
        identity = flint.fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
        products = {(0,) * len(self.matrices): identity}
        for m in self.monomials[1:]:
            j = next(j for j, n in enumerate(m) if n)
            products[m] = self.matrices[j] * products[(*m[:j], m[j] - 1, *m[j + 1 :])]
        trace = [sum((products[m][k, k] for k in range(size)), flint.fmpq(0)) for m in self.monomials]
        form = flint.fmpq_mat(
            size,
            size,
            [
                sum((products[m][k, j] * trace[k] for k in range(size)), flint.fmpq(0))
                for m in self.monomials
                for j in range(size)
            ],
        )
        distinct, rng = form.rank(), random.Random(0)
        axes = [[int(i == j) for i in range(len(self.matrices))] for j in range(len(self.matrices))]
        for weights in [*axes, *([rng.randint(-k, k) for _ in axes] for k in range(2, 30))]:
            separating = sum((w * m for w, m in zip(weights, self.matrices, strict=True)), 0 * identity)
            factors = [f for f, _ in separating.charpoly().factor()[1]]
            if sum(f.degree() for f in factors) == distinct:
                return self._coordinates(separating, factors, trace)
        return None

    def _coordinates(
        self, separating: Any, factors: Sequence[Any], trace: Sequence[Any]
    ) -> list[tuple[Any, list[Any]]]:
        squarefree = flint.fmpq_poly([1])
        for f in factors:
            squarefree *= f / f.leading_coefficient()
        n, size = squarefree.degree(), len(self.monomials)
        horner = [flint.fmpq_poly([1])]
        for k in range(1, n):
            horner.append(horner[-1] * flint.fmpq_poly([0, 1]) + squarefree[n - k])
        power = flint.fmpq_mat(size, 1, [1] + [0] * (size - 1))
        above = [flint.fmpq_poly([]) for _ in self.matrices]
        below = flint.fmpq_poly([])
        for k in range(n):
            weight = horner[n - 1 - k]
            below += _dot(trace, power) * weight
            for j, matrix in enumerate(self.matrices):
                above[j] += _dot(trace, matrix * power) * weight
            power = separating * power
        return [(f, [g * inverse(below % f, f) % f for g in above]) for f in factors]


def _dot(row: Sequence[Any], column: Any) -> Any:
    return sum((c * column[k, 0] for k, c in enumerate(row)), flint.fmpq(0))


# ---- infinitely many zeros -----------------------------------------------------------------------------------------


def _continuum(
    case: Case, basis: Sequence[Polynomial], small: Any, used: Sequence[int], idle: Sequence[int], seed: int
) -> ZeroFamily | None:
    """A continuum with its dimension, proved by a real point of a slice at which the equations are independent."""
    lead = [tuple(map(int, g.monomial(0))) for g in basis]
    size = small.nvars()
    subsets = (s for k in range(size, 0, -1) for s in combinations(range(size), k))
    across = next((s for s in subsets if not any(all(j in s for j, n in enumerate(m) if n) for m in lead)), None)
    if across is None:  # finitely many, but too many
        return None
    others = [j for j in range(size) if j not in across]
    gens, rng = small.gens(), random.Random(seed)
    for k in range(SLICES):
        values, below = [rng.randint(-1 - k, 1 + k) for _ in across], 1 + 2 * (k % 4)  # 1, 3, 5, 7: not at 0, 1 alone
        slices = [below * gens[j] - v for j, v in zip(across, values, strict=True)]
        zeros = real_zeros([*basis, *slices], small, [p.project_to_context(small) for p in _within(case.nonzero, used)])
        for point in zeros.points:
            with flint.ctx.workprec(256):
                rows = [[point.ball(point.value(g.derivative(j)), 256) for j in others] for g in basis]
                if _full_rank(rows, len(others)):
                    free = tuple(sorted([*idle, *(used[j] for j in across)]))
                    return ZeroFamily(len(free), free, case.solved, case.equations, case.nonzero)
    return None


def _within(polynomials: Iterable[Polynomial], used: Sequence[int]) -> list[Polynomial]:
    return [p for p in polynomials if all(j in used for j, n in enumerate(p.degrees()) if n)]


def _full_rank(rows: Sequence[Sequence[Any]], rank: int) -> bool:
    """Whether a matrix of balls certainly has this rank: some minor excludes zero."""
    return any(
        not flint.arb_mat([list(rows[i]) for i in chosen]).det().contains(0)
        for chosen in combinations(range(len(rows)), rank)
    )


def _line(s: Solved) -> Polynomial:
    return s.slope * s.slope.context().gens()[s.variable] + s.rest


def _held(family: ZeroFamily) -> list[Polynomial]:
    return [*family.equations, *map(_line, family.solved)]


def _in_closure(point: AlgebraicPoint, family: ZeroFamily) -> bool:
    """Whether the equations of a family hold at a point, also where a slope vanishes: it may be a limit of the family.

    Where slope and rest both vanish, slope * variable + rest = 0 says nothing about the variable.
    """
    return all(not point.value(p) for p in _held(family))


def _is_on(point: AlgebraicPoint, family: ZeroFamily) -> bool:
    """Whether a point is given by a family: its equations hold and no slope vanishes."""
    return _in_closure(point, family) and all(point.value(s.slope) for s in family.solved)


def _is_isolated(point: AlgebraicPoint, equations: Sequence[Polynomial]) -> bool:
    """Whether a zero is proved to be isolated among the real zeros.

    Either its local algebra is finite, or the lowest terms of the equations around it have no real zero but the
    point: along zeros that tend to it in a direction, the lowest terms would vanish in that direction.
    """
    size = len(point.coordinates)
    if multiplicity([p for p in equations if not p.is_zero()], point) is not None:
        return True
    forms = [form for p in equations if (form := _lowest_terms(p, point))]
    gone: set[int] = set()
    while True:
        before = len(gone)
        for form in forms:
            terms = {e: c for e, c in form.items() if not any(e[j] for j in gone)}
            one_sign = len({point.sign(c) for c in terms.values()}) == 1
            if len(terms) == 1 or (one_sign and all(n % 2 == 0 for e in terms for n in e)):
                gone |= {j for e in terms for j in range(size) if e[j] and e[j] == sum(e)}
        if len(gone) in (before, size):
            return len(gone) == size


def _lowest_terms(p: Polynomial, point: AlgebraicPoint) -> dict[tuple[int, ...], Any]:
    """The terms of lowest degree of a polynomial around a point, with coefficients in the field of the point."""
    current = {(0,) * len(point.coordinates): p}
    while current and not p.is_zero():
        values = {e: point.value(q) / prod(map(factorial, e)) for e, q in current.items()}
        found = {e: c for e, c in values.items() if c}
        if found:
            return found
        current = {
            (*e[:j], e[j] + 1, *e[j + 1 :]): d
            for e, q in current.items()
            for j in range(len(e))
            if not (d := q.derivative(j)).is_zero()
        }
    return {}


def _may_touch(point: AlgebraicPoint, case: Case) -> bool:
    """Whether the equations of an open case hold at a point, which its inequalities may keep out."""
    return all(not point.value(p) for p in (*case.equations, *map(_line, case.solved)))


def _largest(families: Sequence[ZeroFamily]) -> list[ZeroFamily]:
    """Families without those that only add linear conditions to a larger one, which itself stays."""

    def on(p: Polynomial, family: ZeroFamily) -> Polynomial:
        for s in family.solved:
            p = p.resultant(_line(s), s.variable) if p.degrees()[s.variable] else p
        return p

    def inside(small: ZeroFamily, large: ZeroFamily) -> bool:
        if small.equations or small.dimension >= large.dimension:
            return False
        if any(not on(p, small).is_zero() for p in _held(large)):
            return False
        # what gives the larger family has a value on all of the smaller one
        slopes = [on(s.slope, small) for s in large.solved]
        if any(p.is_zero() for p in slopes):
            return False
        return all(f in small.nonzero or _sum_of_squares(f) == [] for p in slopes for f in _factors(p))

    kept: list[ZeroFamily] = []
    for family in sorted(families, key=lambda f: -f.dimension):
        if not any(inside(family, large) for large in kept):
            kept.append(family)
    return [f for f in families if f in kept]
