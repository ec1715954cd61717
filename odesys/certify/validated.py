r"""Validated enclosures of trajectories: an interval Taylor method in ball arithmetic.

Every step carries two boxes. The rough one, :math:`B`, holds the solution during the whole step, because it passes
Picard's test :math:`X + [0, h]\,F(B) \subseteq B`; the tight one, :math:`X`, holds it at the beginning. With
:math:`x_k(\cdot)` the k-th Taylor coefficient of the solution as a function of where it starts,

.. math::  x(t_0 + \tau) \in \sum_{k<N} x_k(X)\,\tau^k + x_N(B)\,\tau^N, \qquad 0 \le \tau \le h .

The next tight box is this at the middle of X, widened by :math:`e^{hM} r` where r are the radii of X and the Metzler
matrix M bounds the Jacobian over B, so boxes widen faster than the flow spreads. In `frames` the set is carried along
axes that turn with the flow (`odesys.certify.frames`); a run from a point goes on in frames where its box has widened
far beyond what the steps themselves add. `Enclosure.width` is the width that was reached. Gates count as constants, so
a step has to stay on one side of every switching surface, and inside the domain of every function. Rounding is outward;
what can not be decided stays undecided.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint

from ..errors import EquationError, IntegrationError, ParameterError
from ..exact.balls import (
    Interval,
    as_ball,
    ball_around,
    ball_context,
    ball_endpoints,
    coefficient,
    dyadic,
    exact,
    exact_tape,
    series_program,
    solution_series,
    state_series,
)
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import ONE, Node
from ..expr.letters import plain_name
from ..expr.system import TIME, System, state_vector
from ..files import write_text
from ..verdicts import Evidence, Verdict, certified, refuted, undecided
from .frames import ORDER, Frame, Variation, turned
from .validated_step import domain_guards, horner, outside_domain, picard, polynomial_range, spread, widen

FORMAT, VERSION = "odesys-enclosure", 1
VANISHING_LIMIT = 6  # Taylor coefficients at the start that are tried for an exact proof of being zero
MOST_FRAMED = 8  # states of a run in frames by default; the derivative of the flow has the square of them
SMALLEST_STEP = Fraction(1, 2**30)
WIDENED = 2**20  # times the remainder of a step: from this radius on a run from a point goes on in frames

Window = tuple[Fraction | None, Fraction | None]  # since, until; None: the whole run on that side
CertificateClaim = (
    tuple[str, Any, str] | tuple[str, Any, str, Window]
)  # text, expression, relation to zero, times it is about


@dataclass(frozen=True, eq=False)
class EnclosedStep:
    """One step: from `t` to `t + h`, boxes with rational endpoints, Taylor coefficients over the rough one."""

    t: Fraction
    h: Fraction
    tight: tuple[Interval, ...]
    rough: tuple[Interval, ...]
    at_rough: tuple[list[Any], ...]  # per state the balls x_0(B) .. x_N(B)
    frame: Frame | None = None  # the set that was carried, at the beginning of the step


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Boxes that provably hold the solution of `system` from `start_time` to `end_time`; see the module's head.

    Parameters
    ----------
    system : System
        What was enclosed.
    parameters : Mapping[str, Any]
        Values of its parameters.
    exact : Mapping[str, Fraction]
        Those of them that are exact.
    steps : tuple[EnclosedStep, ...]
        The steps, each with its time and boxes.
    final : tuple[Interval, ...]
        The box at the end, by state.
    order : int
        Of the Taylor method.
    precision : int
        In bits.
    frames : bool, optional
        Whether the set was carried in a turning frame, at least at the end.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from odesys import sym
    >>> run = enclose(System.from_equations({"x": -sym("x")}), {"x": 1}, 1)
    >>> (low, high), = run.final
    >>> round(float(low), 12), run.width < Fraction(1, 10**20)
    (0.367879441171, True)
    >>> run.certify("x", ">0").as_stated
    'holds'
    """

    system: System
    parameters: Mapping[str, Any]
    exact: Mapping[str, Fraction]  # the parameters and start values that are single rational numbers
    steps: tuple[EnclosedStep, ...]
    final: tuple[Interval, ...]
    order: int
    precision: int
    frames: bool = False
    _series: dict[EnclosedStep, tuple[list[Any], ...]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def start_time(self) -> Fraction:
        """Where the run begins."""
        return self.steps[0].t

    @property
    def end_time(self) -> Fraction:
        """Where the run ends."""
        return self.steps[-1].t + self.steps[-1].h

    @property
    def width(self) -> Fraction:
        """The largest width of a tight box, the final one included."""
        boxes = [*(step.tight for step in self.steps), self.final]
        return max(high - low for box in boxes for low, high in box)

    def certify(
        self,
        node: Any,
        relation: str = ">0",
        until: Fraction | None = None,
        depth: int = 24,
        since: Fraction | None = None,
    ) -> Verdict:
        r"""Decide the sign of an expression of the states along the run (`since`, `until`), its first moment excepted.

        An expression that vanishes at the start is divided by the power of time that its leading Taylor coefficients,
        proved zero exactly, allow; a piece of time is halved at most `depth` times.

        >>> x = graph.sym("x")
        >>> run = enclose(System.from_equations({"x": 1 - x}), {"x": 0}, 2)
        >>> run.certify(x, ">0").as_stated, run.certify(x - 2, ">0").as_stated
        ('holds', 'fails')
        """
        return self.certify_all({"": node}, relation, until, depth, since)[""]

    def certify_all(
        self,
        nodes: Mapping[str, Any],
        relation: str = ">0",
        until: Fraction | None = None,
        depth: int = 24,
        since: Fraction | None = None,
    ) -> dict[str, Verdict]:
        """`certify` for several expressions at once, which costs little more than for one if they share terms."""
        if relation not in (">0", ">=0"):
            raise EquationError(f"the relation {relation!r} is not one of '>0', '>=0'")
        begin, stop_at = self.start_time if since is None else since, self.end_time if until is None else until
        if not self.start_time <= begin < stop_at <= self.end_time:
            raise ParameterError(
                f"from {begin} to {stop_at} is not a piece of the run from {self.start_time} to {self.end_time}"
            )
        going = {name: graph.as_node(node) for name, node in nodes.items()}
        done: dict[str, Verdict] = {}
        pieces, vanishing = dict.fromkeys(going, 0), dict.fromkeys(going, 0)
        with ball_context(self.precision, self.order + 1):
            for step in self.steps:
                first, last = max(begin - step.t, Fraction(0)), min(stop_at - step.t, step.h)
                if first >= step.h:
                    continue
                going = {name: node for name, node in going.items() if name not in done}
                if last <= 0 or not going:
                    break
                try:
                    models = self._models(list(going.values()), step)
                    if step is self.steps[0]:
                        vanishing |= {
                            name: self._vanishing(node, step)
                            for (name, node), model in zip(going.items(), models, strict=True)
                            if model[0].contains(0)
                        }
                except IntegrationError as stop:
                    done |= {name: undecided(str(stop), Evidence.CERTIFICATE, time=str(step.t)) for name in going}
                    break
                for name, model in zip(going, models, strict=True):
                    skip = vanishing[name] if step is self.steps[0] else 0
                    against, count = _sign(model[skip:], step.t, (first, last), relation, depth)
                    pieces[name] += count
                    if against is not None:
                        done[name] = against
        held = {name: certified(pieces=pieces[name], vanishing=vanishing[name], until=str(stop_at)) for name in nodes}
        return held | done

    def crossing(self, node: Any, tolerance: Fraction = Fraction(1, 10**9)) -> tuple[Fraction, Fraction] | None:
        """Rational times around the first zero of an expression: one sign up to the first, the other at the second.

        None if the sign provably never changes; an IntegrationError if it can not be told.
        """
        node = graph.as_node(node)
        with ball_context(self.precision, self.order + 1):
            first = self._models([node], self.steps[0])[0][0]
            if first.contains(0):
                raise IntegrationError(f"the sign at the start is not known: {_text(first)}", time=self.start_time)
            for step in self.steps:
                model = [c if first > 0 else -c for c in self._models([node], step)[0]]
                todo = [(Fraction(0), step.h)]
                while todo:
                    a, b = todo.pop()
                    if polynomial_range(model, a, b) > 0:
                        continue
                    if b - a > tolerance:
                        todo += [((a + b) / 2, b), (a, (a + b) / 2)]
                        continue
                    ends = (min(a + (b - a) * 2**k, step.h) for k in range(12))
                    after = next((end for end in ends if polynomial_range(model, end, end) < 0), None)
                    if after is None:
                        raise IntegrationError(
                            f"near t = {float(step.t + a):.12g} the sign is not known; use more "
                            f"precision or a larger tolerance",
                            time=step.t + a,
                        )
                    return step.t + a, step.t + after
        return None

    def value(self, node: Any, time: Fraction) -> Interval:
        """Rational ends around an expression at one moment of the run."""
        if not self.start_time <= time <= self.end_time:
            raise ParameterError(f"t = {time} is not in the enclosed run from {self.start_time} to {self.end_time}")
        step = max((s for s in self.steps if s.t <= time), key=lambda s: s.t)
        with ball_context(self.precision, self.order + 1):
            model, after = self._models([graph.as_node(node)], step)[0], time - step.t
            return ball_endpoints(polynomial_range(model, after, after))

    def to_file(self, path: Path | str, claims: Iterable[CertificateClaim] = ()) -> None:
        """Write the run and the claims `certify` holds as a certificate for `tools/check_enclosure.py`."""
        full = [
            (text, graph.as_node(node), relation, window[0] if window else (None, None))
            for text, node, relation, *window in claims
        ]
        tape = exact_tape([*self.system.nodes, *(node for _, node, _, _ in full)])
        stated = []
        verdicts: dict[str, Verdict] = {}
        for kind, times in dict.fromkeys((relation, window) for _, _, relation, window in full):
            wanted = {text: node for text, node, relation, window in full if (relation, window) == (kind, times)}
            verdicts |= self.certify_all(wanted, kind, times[1], since=times[0])
        for text, node, relation, window in full:
            verdict = verdicts[text]
            if verdict.as_stated != "holds":
                raise EquationError(f"the claim {text} is not certified: {verdict.as_stated}", verdict=verdict)
            ends = zip(("from", "until"), window, strict=True)
            stated.append(
                {
                    "text": text,
                    "node": tape.index[node],
                    "relation": relation,
                    "vanishing": verdict.details["vanishing"],
                    **{key: str(time) for key, time in ends if time is not None},
                }
            )
        points = {name: (value, value) for name, value in self.exact.items()}  # a ball around 1/10 is not 1/10
        boxes = [[points.get(name, i) for name, i in zip(self.system.names, self.steps[0].tight, strict=True)]]
        boxes += [list(step.tight) for step in self.steps[1:]]
        data = {
            "format": FORMAT,
            "version": VERSION,
            "order": self.order,
            "precision": self.precision,
            "states": list(self.system.names),
            "nodes": tape.rows,
            "equations": [tape.index[n] for n in self.system.nodes],
            "parameters": {p: _spell(points.get(p, ball_endpoints(value))) for p, value in self.parameters.items()},
            "steps": [
                {
                    "t": str(s.t),
                    "h": str(s.h),
                    "tight": [_spell(i) for i in tight],
                    "rough": [_spell(i) for i in s.rough],
                    **({} if s.frame is None else {"frame": _spell_frame(s.frame)}),
                }
                for s, tight in zip(self.steps, boxes, strict=True)
            ],
            "end": {"t": str(self.end_time), "tight": [_spell(i) for i in self.final]},
            "claims": stated,
        }
        write_text(path, json.dumps(data, indent=1, default=str) + "\n")

    def _models(self, nodes: Sequence[Node], step: EnclosedStep) -> list[list[Any]]:
        """Per node balls c_0 .. c_N with node(t + tau) in the sum of c_k tau^k for all tau in [0, h]."""
        unknown = graph.symbols(nodes) - {*self.system.names, *self.parameters, TIME}
        if unknown:
            raise EquationError(f"{min(unknown)} is neither a state nor a parameter of the enclosed system")
        program, values = series_program(tuple(nodes), self.precision), []
        for columns, time, length in (
            (self._at_tight(step), as_ball(step.t), self.order),
            (step.at_rough, ball_around(step.t, step.t + step.h), self.order + 1),
        ):
            env = {**self.parameters, **state_series(self.system.names, columns, time, length)}
            values.append(program(env))
        return [
            [coefficient(tight, k) for k in range(self.order)] + [coefficient(rough, self.order)]
            for tight, rough in zip(*values, strict=True)
        ]

    def _at_tight(self, step: EnclosedStep) -> tuple[list[Any], ...]:
        if step not in self._series:
            program = series_program(self.system.nodes, self.precision)
            box = [ball_around(*ends) for ends in step.tight]
            self._series[step] = solution_series(
                program, self.system.names, self.parameters, box, as_ball(step.t), self.order
            )
        return self._series[step]

    def _vanishing(self, node: Node, step: EnclosedStep) -> int:
        """How many Taylor coefficients of an expression at the start are zero, proved by exact rewriting."""
        names = self.system.names
        gates = [n for n in graph.topological([node, *self.system.nodes]) if n.op == "step"]
        env = {**self.parameters, **state_series(names, step.at_rough, ball_around(step.t, step.t + step.h), 1)}
        values = series_program(tuple(gates), self.precision)(env)
        on = {gate: graph.as_node(int(coefficient(v, 0) > 0)) for gate, v in zip(gates, values, strict=True)}
        current, *field = graph.substitute([node, *self.system.nodes], on)
        start = {graph.sym(name): graph.num(value) for name, value in {**self.exact, TIME: step.t}.items()}
        positive = {name for name, value in self.parameters.items() if value > 0}
        moving = [graph.sym(name) for name in (*names, TIME)]
        for k in range(VANISHING_LIMIT):
            if zero_test(graph.substitute([current], start)[0], positive).answer != "zero":
                return k
            slopes = graph.gradient(current, moving)
            current = graph.add([graph.multiply(s, f) for s, f in zip(slopes, [*field, ONE], strict=True)])
        return VANISHING_LIMIT


def _ball_of(value: Any) -> Any:
    """A pair of exact numbers as a ball around them; all else as it is."""
    return ball_around(*value) if isinstance(value, tuple | list) and len(value) == 2 else value


def enclose(
    system: System,
    start: Mapping[str, Any] | Sequence[Any],
    t_end: Any,
    parameters: Mapping[str, Any] | None = None,
    *,
    t_start: Any = 0,
    order: int = 30,
    precision: int = 320,
    tolerance: Fraction | None = None,
    first_step: Any = Fraction(1, 4),
    frames: bool | None = None,
) -> Enclosure:
    r"""Enclose the solution of :math:`\dot x = F(x; p)` from `t_start` to `t_end`.

    A run to an earlier time is that of :math:`\dot x = -F` in the time :math:`-t`, and its steps count that time.

    Parameters
    ----------
    system : System
        A flow on scalar nodes.
    start : Mapping[str, Any] | Sequence[Any]
        Exact rationals; pairs (low, high) of them or balls (`flint.arb`) for values known up to an error; no floats.
    t_end : Any
        Last time, exact.
    parameters : Mapping[str, Any], optional
        As `start`.
    t_start : Any, optional
        First time, exact.
    order : int, optional
        N of the Taylor method.
    precision : int, optional
        Bits of the arithmetic.
    tolerance : Fraction, optional
        The remainder a step may add to a state, by default 2**(-precision / 2); sets the step size.
    first_step : Any, optional
        Length of the first step that is tried.
    frames : bool, optional
        Carry the set in a frame that turns with the flow: much narrower for wide starts and long runs; parameters must
        be exact. By default where parameters are exact and there are at most 8 states: from the start on if a start
        value is a ball, else from the moment on when the box is a million times wider than what a step adds.

    Returns
    -------
    Enclosure
        Boxes that provably hold the solution at all times of the run.

    Examples
    --------
    >>> from fractions import Fraction
    >>> x = graph.sym("x")
    >>> run = enclose(System.from_equations({"x": -x}), {"x": 1}, 1)
    >>> (low, high), = run.final
    >>> round(float(low), 12), high - low < Fraction(1, 10**20)
    (0.367879441171, True)
    """
    if system.kind != "flow" or not isinstance(system.field, ScalarField):
        raise EquationError("only a flow written in scalar nodes can be enclosed; a map needs no enclosure of time")
    given = {plain_name(str(name)): value for name, value in (parameters or {}).items()}
    missing = [name for name in system.parameters if name not in given]
    if missing or set(given) - set(system.parameters):
        name = missing[0] if missing else min(set(given) - set(system.parameters))
        raise ParameterError(f"{name} {'has no value' if missing else 'is not a parameter of the system'}")
    begin = {name: _ball_of(value) for name, value in zip(system.names, state_vector(system, start), strict=True)}
    given = {name: _ball_of(value) for name, value in given.items()}
    time, end, h = (exact(value) for value in (t_start, t_end, first_step))
    if end < time:
        backwards = _backwards(system)
        options: dict[str, Any] = {"order": order, "precision": precision, "tolerance": tolerance, "frames": frames}
        return enclose(backwards, begin, -end, given, t_start=-time, first_step=h, **options)
    if end <= time or h <= 0:
        raise ParameterError(f"the run from {time} to {end} with steps of {h} is empty")
    limit = tolerance if tolerance is not None else Fraction(1, 2 ** (precision // 2))
    known = {k: exact(v) for k, v in {**given, **begin}.items() if not isinstance(v, flint.arb)}
    program = series_program(system.nodes, precision)
    loose = [name for name in given if name not in known]
    slopes = graph.jacobian(system.nodes, [graph.sym(name) for name in (*system.names, *loose)])
    may_frame = frames is None and not loose and system.dimension <= MOST_FRAMED
    if may_frame:
        frames = any(isinstance(value, flint.arb) and not value.is_exact() for value in begin.values())
    if frames and loose:
        raise ParameterError(f"{loose[0]} is a ball; frames need exact parameters: make it a state that does not move")
    steps: list[EnclosedStep] = []
    guards = domain_guards(system.nodes)
    with ball_context(precision, max(order, ORDER) + 1):  # frames have a series of their own
        fixed = {name: as_ball(value) for name, value in given.items()}
        middle = {name: flint.arb(value.mid()) if name in loose else value for name, value in fixed.items()}
        tight = [as_ball(value) for value in begin.values()]
        variation = Variation(system, precision) if frames else None
        frame = Frame.of(tight)

        def series(box: Sequence[Any], h: Fraction, length: int) -> tuple[list[Any], ...]:
            return solution_series(program, system.names, fixed, box, ball_around(time, time + h), length)

        while time < end:
            centre = list(frame.centre) if variation else [x.mid() for x in tight]
            at_centre = solution_series(program, system.names, middle, centre, as_ball(time), order)
            h, reason = min(h, end - time), "the solution may blow up, or its box is too wide"
            while True:
                if h < SMALLEST_STEP:
                    raise IntegrationError(f"no step from t = {float(time):.12g} can be validated: {reason}", time=time)
                try:
                    rough = picard(tight, h, lambda box, h=h: series(box, h, 2))
                except IntegrationError as stop:
                    rough, reason = None, str(stop)
                outside = outside_domain(guards, fixed, system.names, rough, time, h) if rough is not None else ""
                if rough is None or outside:
                    h, reason = dyadic(h / 2), outside or reason
                    continue
                at_rough = series(rough, h, order + 1)
                rest = max((abs(c[order]) * as_ball(h) ** order).upper() for c in at_rough)
                good = float((as_ball(limit) / rest).root(order).mid()) if rest.is_finite() and rest > 0 else 2.0
                if rest <= as_ball(limit):
                    break
                h = dyadic(h * Fraction(min(max(0.95 * good, 0.25), 0.9) if rest.is_finite() else 0.5))
            steps.append(
                EnclosedStep(
                    time,
                    h,
                    tuple(map(ball_endpoints, tight)),
                    tuple(map(ball_endpoints, rough)),
                    at_rough,
                    frame if variation is not None else None,
                )
            )
            if variation is not None:
                image = [horner([*c, r[order]], as_ball(h)) for c, r in zip(at_centre, at_rough, strict=True)]
                frame, tight = turned(frame, image, variation.over(fixed, tight, rough, time, h))
                time += h
                if not all(x.is_finite() for x in tight):
                    raise IntegrationError(f"the enclosure is lost at t = {float(time):.12g}", time=time)
                h = dyadic(h * Fraction(min(max(0.95 * good, 0.5), 1.5)))
                continue
            env = {**fixed, **state_series(system.names, at_rough, ball_around(time, time + h), 1)}
            wider = spread(slopes, env, h, [*(x.rad() for x in tight), *(fixed[name].rad() for name in loose)])
            most = max(wider)
            tight = [
                widen(horner([*c, r[order]], as_ball(h)) + flint.arb(0, 1) * w, r[order] * as_ball(h) ** order, most)
                for c, r, w in zip(at_centre, at_rough, wider, strict=True)
            ]
            time += h
            if not all(x.is_finite() for x in tight):
                raise IntegrationError(f"the enclosure is lost at t = {float(time):.12g}", time=time)
            h = dyadic(h * Fraction(min(max(0.95 * good, 0.5), 1.5)))
            if may_frame and max(x.rad() for x in tight) > as_ball(WIDENED * limit):
                variation, frame = Variation(system, precision), Frame.of(tight)
        final = tuple(map(ball_endpoints, tight))
        return Enclosure(system, fixed, known, tuple(steps), final, order, precision, variation is not None)


def _backwards(system: System) -> System:
    """The system in the time -t."""
    turned_time = {graph.sym(TIME): -graph.sym(TIME)}
    nodes = tuple(-node for node in graph.substitute(system.nodes, turned_time))
    return replace(system, field=ScalarField(nodes, system.observables))


def _sign(
    model: Sequence[Any], start: Fraction, span: Interval, relation: str, depth: int
) -> tuple[Verdict | None, int]:
    """What speaks against a sign on start + span (None: nothing, it is certified), and the pieces used."""
    todo, pieces = [(*span, 0)], 0
    while todo:
        a, b, level = todo.pop()
        value = polynomial_range(model, a, b)
        pieces += 1
        if value > 0 or (relation == ">=0" and value >= 0):
            continue
        if value < 0 or (relation == ">0" and value <= 0):
            return refuted({"t": str(start + b), "at most": _text(value.upper())}, Evidence.CERTIFICATE), pieces
        middle = (a + b) / 2
        if polynomial_range(model, middle, middle) < 0:
            return refuted({"t": str(start + middle)}, Evidence.CERTIFICATE), pieces
        if level == depth or not value.is_finite():
            where = f"{float(start + a):.17g} <= t <= {float(start + b):.17g}"
            return undecided(f"for {where} the enclosure {_text(value)} contains zero", Evidence.CERTIFICATE), pieces
        todo += [(middle, b, level + 1), (a, middle, level + 1)]
    return None, pieces


def _spell(box: Interval) -> list[str]:
    return [str(end) for end in box]


def _spell_frame(frame: Frame) -> dict[str, Any]:
    """A frame in exact numbers."""
    size = len(frame.centre)
    return {
        "centre": [str(ball_endpoints(c)[0]) for c in frame.centre],
        "matrix": [[str(ball_endpoints(frame.matrix[i, j])[0]) for j in range(size)] for i in range(size)],
        "radii": [str(max(abs(end) for end in ball_endpoints(r))) for r in frame.radii],
    }


def _text(value: Any) -> str:
    return str(value.str(8))
