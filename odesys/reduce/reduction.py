r"""A reduction: a smaller system, the way back, and the law that both tell the same story.

.. math::  c\,F(\mathrm{lift}\,z) = D\,\mathrm{lift}(z)\,F_{\text{small}}(z), \qquad
           \mathrm{project}(\mathrm{lift}\,z) = z ,

where c is 1 unless the smaller system has another unit of time; for maps :math:`F(\mathrm{lift}\,z) =
\mathrm{lift}(F_{\text{small}}(z))`. A reduction describes only those states of its source that are lifts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from ..errors import EquationError, NothingMovesWarning, ParameterError
from ..exact.balls import ball_number, ball_program
from ..exact.evidence import identity, six_digits
from ..exact.zero import rational_points
from ..expr import graph
from ..expr.field import BlockField
from ..expr.graph import ZERO, Node, sym
from ..expr.system import System, state_vector
from ..expr.tape import ARRAYS, Tape
from ..shortening import shortened
from ..verdicts import UNDECIDED, Evidence, Verdict, measured, refuted, undecided

EXACT_LIMIT = 2000  # nodes in all residuals together up to which a proof is tried
BITS, LARGEST_ZERO_BALL = 128, 1e-15  # precision of the balls, and how large one around zero may be to count
STEP, TOLERANCE = 1e-5, 1e-7  # of the difference quotient where a lift has no expressions


class Reduction:
    """What every reduction has; the classes of this room are its instances.

    Attributes
    ----------
    system : System
        The smaller system.
    source : System
        The larger system.
    starts : str
        Which states of the source it describes; from any other state only the source is right.
    bound : Mapping[str, Any]
        Values that the lift needs besides the state, by name; `bind` adds them.

    Examples
    --------
    >>> x, y = sym("x"), sym("y")
    >>> swap = System.from_equations({"x": y * x, "y": x * y}).quotient([{"x": "y", "y": "x"}])
    >>> swap
    <SystemQuotient: 2 -> 1 states, only for starts in the subspace that its symmetries leave alone>
    >>> swap.lift([3.0]).tolist(), swap.law().as_stated
    ([3.0, 3.0], 'holds')
    """

    system: System
    source: System
    starts: str = "that are lifts"
    bound: Mapping[str, Any] = MappingProxyType({})

    def __post_init__(self) -> None:
        if not self.bound and stands_still(self.system):  # with values bound it was said before
            text = f"nothing moves in this reduction, so it only says that its states are at rest: {self!r}"
            warnings.warn(text, NothingMovesWarning, stacklevel=4)

    def __repr__(self) -> str:
        return shortened(f"<{type(self).__name__}: {self._sizes()} states, only for starts {self.starts}>")

    def _repr_html_(self) -> str:
        from ..report.cards import reduction_card

        return reduction_card(self)

    def _repr_latex_(self) -> str | None:
        return self.system._repr_latex_()

    def _sizes(self) -> str:
        return f"{self._source_said()} -> {self.system.dimension}"

    def _source_said(self) -> str:
        return str(self._source_size)

    @property
    def _source_size(self) -> int:
        return self.source.dimension

    # ---- the way to the source and back ------------------------------------------------------------------------------

    @property
    def lifted(self) -> Mapping[str, Node] | None:
        """Every state of the source as an expression in the states of `system`; None where there is no such form."""
        raise NotImplementedError

    @property
    def speed(self) -> int:
        """Time of the source that passes in one unit of time of `system`."""
        return 1

    def lift(self, z: Any) -> np.ndarray:
        """States of the source from states of `system`: floats along the last axis, or one state by name.

        Parameters
        ----------
        z : Any
            States of `system`: an array, or one state by name.

        Returns
        -------
        np.ndarray
            States of the source, along the last axis.
        """
        return self._lift(self._vectors("lifts", self.system, self.system.dimension, z))

    def project(self, x: Any) -> np.ndarray:
        """States of `system` from states of the source: floats along the last axis, or one state by name.

        Parameters
        ----------
        x : Any
            States of the source: an array, or one state by name.

        Returns
        -------
        np.ndarray
            States of `system`, along the last axis.
        """
        return self._project(self._vectors("projects", self.source, self._source_size, x))

    def _vectors(self, does: str, system: System, size: int, values: Any) -> np.ndarray:
        array = np.asarray(state_vector(system, values) if isinstance(values, Mapping) else values, dtype=float)
        if array.shape[-1:] != (size,):
            raise EquationError(
                f"{self!r} {does} {size} numbers along the last axis, not an array of shape {array.shape}"
            )
        return array

    def _lift(self, values: np.ndarray) -> np.ndarray:
        lifted = self.lifted
        assert lifted is not None
        given = {name: self.given(name) for name in self.needs}
        return columns_at(list(lifted.values()), self.system.names, values, given)

    def _project(self, values: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    # ---- what the lift needs -----------------------------------------------------------------------------------------

    @property
    def needs(self) -> tuple[str, ...]:
        """Names that the lift takes besides the state."""
        return ()

    def bind(self, **values: Any) -> Self:
        """The same reduction with what its lift needs.

        Parameters
        ----------
        **values : Any
            By name, what the lift needs, such as ``omega=0.1``.

        Returns
        -------
        Self
            The same reduction.
        """
        return replace(self, bound={**self.bound, **self.checked(values)}) if values else self  # type: ignore[type-var]

    def checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values that can be bound; refuses names that the lift does not take."""
        unknown = [name for name in values if name not in self.needs]
        if unknown:
            wanted = f"it needs {' and '.join(self.needs)}" if self.needs else "it needs nothing but the state"
            raise ParameterError(f"{unknown[0]} is not what the lift of {self!r} needs: {wanted}", name=unknown[0])
        return dict(values)

    def given(self, name: str) -> Any:
        """A bound value; says how to give it if it is missing."""
        if name not in self.bound:
            raise ParameterError(f"the lift of {self!r} needs {name}; bind it first, .bind({name}=...)", name=name)
        return self.bound[name]

    # ---- the law -----------------------------------------------------------------------------------------------------

    def defects(self) -> dict[str, Node] | None:
        """What both sides of the law differ by, one expression per state of the source, with exact values bound."""
        lifted = self.lifted
        if lifted is None:
            return None
        names, nodes = list(lifted), list(lifted.values())
        right = rates_at(self.source, lifted)
        if self.system.kind == "map":
            moved = graph.substitute(nodes, {sym(n): node for n, node in self.system.equations.items()})
        else:
            rows = graph.jacobian(nodes, [sym(name) for name in self.system.names])
            moved = [graph.add(slope * self.system.nodes[j] for j, slope in row.items()) for row in rows]
        exact = {sym(n): graph.as_node(v) for n, v in self.bound.items() if isinstance(v, (int, Fraction))}
        gaps = graph.substitute([self.speed * r - m for r, m in zip(right, moved, strict=True)], exact)
        return dict(zip(names, gaps, strict=True))

    def law(self, seed: int = 0) -> Verdict:
        """Whether the source moves lifts to lifts as `system` says, with a witness where it does not.

        Small residuals are decided exactly. Large ones are enclosed at random rational points, and a lift without
        expressions is compared in floats: both are measurements, never a proof.

        Parameters
        ----------
        seed : int, optional
            Of the random points.

        Returns
        -------
        Verdict
            Holds, or fails with a witness.
        """
        gaps = self.defects()
        if gaps is None:
            return self._law_in_floats(seed)
        if _small(list(gaps.values())):
            verdict = identity(gaps, self.needs)
            if verdict.as_stated != UNDECIDED:
                return verdict
        return self._law_at_points(gaps, seed)

    def _law_at_points(self, gaps: Mapping[str, Node], seed: int) -> Verdict:
        nodes, points, radius = list(gaps.values()), 0, 0.0
        program = ball_program(nodes, BITS)
        for point in rational_points(sorted(graph.symbols(nodes)), self.needs, seed):
            try:
                balls = program({name: ball_number(value) for name, value in point.items()})
            except ZeroDivisionError:
                continue
            for where, ball in zip(gaps, balls, strict=True):
                if ball.is_finite() and not ball.contains(0):
                    at = {name: str(value) for name, value in point.items()}
                    witness = {"where": where, "at": at, "residual": six_digits(str(ball))}
                    return refuted(witness, Evidence.CERTIFICATE, checked=len(gaps))
            size = max(float(ball.abs_upper()) if ball.is_finite() else math.inf for ball in balls)
            if size < LARGEST_ZERO_BALL:
                points, radius = points + 1, max(radius, size)
        if not points:
            return undecided("at no random rational point both sides are defined and known sharply", seed=seed)
        return measured(True, rational_points=points, seed=seed, bits=BITS, largest_residual=radius)

    def _law_in_floats(self, seed: int) -> Verdict:
        rng = np.random.default_rng(seed)
        names = sorted({*self.source.parameters, *self.system.parameters})
        values = {name: float(self.bound.get(name, rng.uniform(0.5, 1.5))) for name in names}
        small, large = (s.compile({n: values[n] for n in s.parameters}) for s in (self.system, self.source))
        worst, points = 0.0, rng.uniform(-0.5, 0.5, (3, self.system.dimension))
        for z in points:
            rate, full = small(0.0, z), self.speed * large(0.0, self.lift(z))
            moved = (self.lift(z + STEP * rate) - self.lift(z - STEP * rate)) / (2 * STEP)
            worst = max(worst, float(np.abs(full - moved).max() / max(1.0, np.abs(full).max())))
        return measured(worst < TOLERANCE, gap=worst, tolerance=TOLERANCE, points=len(points), seed=seed)

    def then(self, second: Reduction) -> Composed:
        """This reduction followed by one of its system: lifts and projections one after the other."""
        if (second.source.names, second.source.kind) != (self.system.names, self.system.kind):
            raise EquationError(f"{second!r} does not start from the states that {self!r} ends with")
        for name in {*self.bound} & {*second.bound}:
            if self.bound[name] != second.bound[name]:
                values = f"{self.bound[name]} and {second.bound[name]}"
                raise ParameterError(f"two values of {name} are bound, {values}; both lifts need the same", name=name)
        both = {**self.bound, **second.bound}
        parts = [p.bind(**{n: v for n, v in both.items() if n in p.needs and n not in p.bound}) for p in (self, second)]
        return Composed(*parts)


@dataclass(frozen=True, eq=False, repr=False)
class Composed(Reduction):
    """Two reductions, one after the other; describes the starts that both describe."""

    first: Reduction
    second: Reduction

    def __post_init__(self) -> None:
        """Whether anything moves was said when the second part was made."""

    @property
    def system(self) -> System:  # type: ignore[override]
        """The smallest of the three systems."""
        return self.second.system

    @property
    def source(self) -> System:  # type: ignore[override]
        """The largest of the three systems."""
        return self.first.source

    @property
    def starts(self) -> str:  # type: ignore[override]
        """Both conditions."""
        return f"{self.first.starts}, and then {self.second.starts}"

    @property
    def bound(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What both have."""
        return {**self.first.bound, **self.second.bound}

    @property
    def needs(self) -> tuple[str, ...]:
        """What either lift takes."""
        return tuple(dict.fromkeys((*self.first.needs, *self.second.needs)))

    def bind(self, **values: Any) -> Composed:
        """Both with what their lifts need."""
        self.checked(values)
        parts = [p.bind(**{n: v for n, v in values.items() if n in p.needs}) for p in (self.first, self.second)]
        return Composed(*parts)

    @property
    def speed(self) -> int:
        """Of both together."""
        return self.first.speed * self.second.speed

    @property
    def lifted(self) -> Mapping[str, Node] | None:
        """The second inserted into the first."""
        outer, inner = self.first.lifted, self.second.lifted
        if outer is None or inner is None:
            return None
        nodes = graph.substitute(list(outer.values()), {sym(name): node for name, node in inner.items()})
        return dict(zip(outer, nodes, strict=True))

    def _lift(self, values: np.ndarray) -> np.ndarray:
        return self.first.lift(self.second.lift(values))

    def _project(self, values: np.ndarray) -> np.ndarray:
        return self.second.project(self.first.project(values))

    def _source_said(self) -> str:
        return self.first._source_said()

    @property
    def _source_size(self) -> int:
        return self.first._source_size


def rates_at(system: System, states: Mapping[str, Node]) -> Sequence[Node]:
    """The right-hand sides with an expression put in for every state; `states` is in the order of the system."""
    if isinstance(system.field, BlockField):
        return system.field.at(list(states.values()))
    return graph.substitute(system.nodes, {sym(name): node for name, node in states.items()})


def columns_at(nodes: list[Node], names: Sequence[str], values: np.ndarray, given: Mapping[str, Any]) -> np.ndarray:
    """Expressions in floats, along the last axis like the values of `names`."""
    columns = dict(zip(names, np.moveaxis(values, -1, 0), strict=True))
    found = Tape.of(nodes).over(ARRAYS)({**columns, **given})
    return np.stack([np.broadcast_to(v, values.shape[:-1]) for v in found], axis=-1).astype(float)


def _small(nodes: list[Node]) -> bool:
    """True if a proof is worth trying: few nodes and no roots, whose relations make expansions large."""
    found = list(graph.topological(nodes))
    roots = (e for node in found if node.op == "mul" for _, e in node.args if Fraction(e).denominator > 1)
    return len(found) <= EXACT_LIMIT and not any(roots)


def stands_still(system: System) -> bool:
    """True if no state moves; blocks are looked at in floats first, and expanded only if nothing moved there."""
    if isinstance(system.field, BlockField):
        rng = np.random.default_rng(0)
        field = system.compile({name: float(rng.uniform(1, 2)) for name in system.parameters}, backend="block")
        for low in (0.1, -1.0):
            x = rng.uniform(low, 1.0, system.dimension)
            if not np.abs(field(0.0, x) - (x if system.kind == "map" else 0)).max() < 1e-9:
                return False
        if system.field.block_only:
            return True
    return all(node is (sym(n) if system.kind == "map" else ZERO) for n, node in system.equations.items())
