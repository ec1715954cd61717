r"""Hypotheses as predicates with a margin, the natural domains of symbols, and paths into a regime.

A witness or a run counts only where every hypothesis holds, :math:`\text{margin}(p) \ge 0`. A box is admitted if the
margin is nonnegative over all of it, in balls. Where a hypothesis is asymptotic no single point satisfies it: then a
check follows a path along which every margin grows. The numbered conditions of a paper are hypotheses too, made from
the ratio of what is there to what is needed, so that a violated one says by what factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from numbers import Rational
from typing import Any

from ..errors import OdesysError
from ..exact.balls import ball_around
from ..reduce.natural_points import natural_margin
from ..sentences import say_number, say_point, say_shortfall
from ..verdicts import Point, Shortfall

Margin = Callable[[Mapping[str, Any]], Any]
DOMAINS = ("real", "positive", "nonnegative", "unit", "whole")
ROUNDING = 1e-9  # relative: a ratio so close to 1 is 1


class OutsideHypotheses(OdesysError):
    """A point or box at which a hypothesis does not hold was offered as a witness or as a run; `.name`, `.margin`.

    Parameters
    ----------
    message : str
        The sentence that a person reads.
    **objects : Any
        Become attributes of the error.

    Examples
    --------
    >>> try:
    ...     admit({"m": 1.75}, [Symbol("m", "m", "width", "whole").hypothesis])
    ... except OutsideHypotheses as error:
    ...     print(error.name)
    m is whole
    """


@dataclass(frozen=True)
class Hypothesis:
    r"""A condition under which a statement is claimed: a name, how it is printed, and a margin >= 0 where it holds.

    The margin is arithmetic in the entries of a point, so that it can be evaluated at numbers and over balls. With
    `asymptotic` the printed condition says "sufficiently": the margin is relative to the constant 1. A condition that
    the paper numbers, and whose two sides have a ratio, is made by `Hypothesis.from_ratio`.

    Parameters
    ----------
    name : str
        In a few words.
    tex : str
        As it is printed.
    margin : Margin
        A function of a point, not negative where the condition holds.
    strict : bool, optional
        The margin must be positive.
    asymptotic : bool, optional
        The condition says "sufficiently large".
    number : str, optional
        Of the condition in the paper.
    ratio : Margin, optional
        Of its two sides, if it has two.

    Examples
    --------
    >>> from fractions import Fraction
    >>> small = Hypothesis("small start", r"\\omega < 1", lambda p: 1 - p["omega"], strict=True)
    >>> small.holds({"omega": 0.1}), small.holds({"omega": ("1/2", 2)})
    (True, False)
    """

    name: str
    tex: str
    margin: Margin
    strict: bool = False
    asymptotic: bool = False
    number: str = ""
    ratio: Margin | None = None

    @classmethod
    def from_ratio(
        cls, number: str, name: str, tex: str, ratio: Margin, *, strict: bool = False, asymptotic: bool = False
    ) -> Hypothesis:
        """An inequality with its number in the paper; `ratio` is what is there over what is needed, at numbers.

        The margin is ratio - 1, and 0 where both sides are equal up to rounding. Unnamed constants are read as 1.

        >>> wide = Hypothesis.from_ratio("7", "m >= M^2", r"m \\ge M^2", lambda p: p["m"] / p["M"] ** 2)
        >>> wide.say({"m": 8, "M": 4})
        '(7) m >= M^2: violated by a factor 2'
        """

        def margin(point: Mapping[str, Any]) -> Any:
            excess = ratio(point) - 1
            return 0.0 if abs(excess) <= ROUNDING else excess

        return cls(name, tex, margin, strict, asymptotic, number, ratio)

    def at(self, point: Point) -> Any:
        """The margin at a point, or over a box as a ball."""
        return self._evaluated(self.margin, point)

    def ratio_at(self, point: Point) -> float:
        """What is there over what is needed, for a hypothesis that has a ratio; with 1 or more it holds."""
        if self.ratio is None:
            raise OdesysError(f"the hypothesis '{self.name}' has a margin but no ratio; ask for its margin")
        return float(self._evaluated(self.ratio, point))

    def _evaluated(self, function: Margin, point: Point) -> Any:
        entries = {name: _entry(value) for name, value in point.items()}
        try:
            return function(entries)
        except KeyError as missing:
            raise OutsideHypotheses(
                f"the point {say_point(point)} does not say {missing.args[0]}, which the hypothesis "
                f"'{self.name}' is about; add it to the point",
                name=self.name,
                margin=None,
            ) from None

    def holds(self, point: Point) -> bool:
        """True if the margin is certainly nonnegative (positive if the hypothesis is strict)."""
        margin = self.at(point)
        return bool(margin > 0 if self.strict else margin >= 0)

    def say(self, point: Point) -> str:
        """Whether it holds at a point, and by how much, in words."""
        what = f"({self.number}) {self.name}" if self.number else self.name
        holds = self.holds(point)
        if not holds:
            return f"{what}: violated {say_shortfall(self.shortfall(point))}"
        if self.ratio is None:
            return f"{what}: holds with a margin of {say_number(self.at(point))}"
        return f"{what}: holds with a factor {self.ratio_at(point):.3g} to spare"

    def shortfall(self, point: Point) -> Shortfall:
        """How far it is from holding at a point; infinite where no constant would help."""
        margin = -self.at(point)
        if self.ratio is None:
            return Shortfall(margin)
        ratio = self.ratio_at(point)
        return Shortfall(margin, 1 / ratio if ratio > 0 else math.inf)

    def as_json(self) -> dict[str, str]:
        """The documented fields."""
        return {"name": self.name, "tex": self.tex}


@dataclass(frozen=True)
class Symbol:
    """A symbol of a paper: its name in data and code, how it is printed, what it is, and its natural domain.

    Domains are ``real``, ``positive``, ``nonnegative``, ``unit`` (between 0 and 1, ends excluded) and ``whole``
    (1, 2, 3, ...); `low` raises the lower end.

    Parameters
    ----------
    name : str
        In data and code.
    tex : str
        As it is printed.
    about : str
        What it is.
    domain : str, optional
        ``real``, ``positive``, ``nonnegative``, ``unit`` or ``whole``.
    low : Any, optional
        Lower end of the domain.

    Examples
    --------
    >>> Symbol("K", "K", "number of groups", "whole", low=2).hypothesis.holds({"K": 3.5})
    False
    """

    name: str
    tex: str
    about: str
    domain: str = "real"
    low: Any = None

    def __post_init__(self) -> None:
        if self.domain not in DOMAINS:
            raise ValueError(f"the domain of {self.name} is one of {', '.join(DOMAINS)}, not {self.domain!r}")

    @property
    def hypothesis(self) -> Hypothesis:
        """The natural domain as a hypothesis."""
        what = {"unit": f"0 < {self.tex} < 1", "whole": rf"{self.tex} \in \mathbb{{N}}"}
        sign = {"positive": ">", "nonnegative": r"\ge"}.get(self.domain, r"\ge")
        end = self.low if self.low is not None else {"whole": 1}.get(self.domain, 0)
        tex = what.get(self.domain, rf"{self.tex} {sign} {end}")
        strict = self.domain in ("positive", "unit") and self.low is None
        return Hypothesis(f"{self.name} is {self.domain}", tex, self._margin, strict)

    def _margin(self, point: Mapping[str, Any]) -> Any:
        value = point[self.name]
        if self.domain == "real":
            return 1 if self.low is None else value - self.low
        if self.domain == "unit":
            return value * (1 - value)
        if self.domain == "whole":
            low = 1 if self.low is None else self.low
            return value - low if isinstance(value, (float, Rational)) and value % 1 == 0 else -1
        return value - (self.low or 0)


def natural_hypotheses(symbols: Iterable[Symbol], names: Collection[str]) -> list[Hypothesis]:
    """The natural domains of those symbols that a point has.

    >>> [h.name for h in natural_hypotheses([Symbol("g", "g", "loss derivative", "unit")], ["g", "x"])]
    ['g is unit']
    """
    return [symbol.hypothesis for symbol in symbols if symbol.name in names and symbol.domain != "real"]


def natural_domain(*sources: Callable[[], Any]) -> Callable[[Collection[str]], list[Hypothesis]]:
    """For ``ClaimBook(natural=...)``: points that say states of these flows are path values of some network.

    A source is a function, so that a flow or a reduction is derived only when a point has to be judged.

    Parameters
    ----------
    *sources : Callable[[], Any]
        Functions that give a flow or a reduction.

    Returns
    -------
    Callable[[Collection[str]], list[Hypothesis]]
        Hypotheses for a set of names, as `ClaimBook` wants them.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], 1)]))
    >>> (inside,) = natural_domain(lambda: flow)(["KK_a_a", "t"])
    >>> inside.holds({"KK_a_a": 1, "t": 0}), inside.holds({"KK_a_a": -1})
    (True, False)
    """

    def margin(source: Any, point: Mapping[str, Any]) -> float:
        names = set(source.system.names)
        return natural_margin(source, {name: value for name, value in point.items() if name in names})

    def domain(names: Collection[str]) -> list[Hypothesis]:
        found = [source for source in (made() for made in sources) if not set(names).isdisjoint(source.system.names)]
        tex = r"\begin{pmatrix}A&M\\M^\top&B\end{pmatrix}\succeq0"
        return [Hypothesis("scores are inner products", tex, partial(margin, source)) for source in found]

    return domain


def admit(point: Point, hypotheses: Iterable[Hypothesis]) -> Point:
    r"""The point itself, if every hypothesis holds there; otherwise a sentence that says which does not.

    Parameters
    ----------
    point : Point
        A number, or a pair for a box, per symbol.
    hypotheses : Iterable[Hypothesis]
        All must hold there.

    Returns
    -------
    Point
        The same point.

    Examples
    --------
    >>> positive = Hypothesis("omega is positive", r"\\omega > 0", lambda p: p["omega"], strict=True)
    >>> admit({"omega": -1}, [positive])
    Traceback (most recent call last):
        ...
    odesys.papers.hypotheses.OutsideHypotheses: omega = -1 is outside the hypothesis 'omega is positive' ...
    """
    for name, value in point.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise OutsideHypotheses(f"the point has {name} = {value}, which is no number", name=name, margin=None)
    for hypothesis in hypotheses:
        if not hypothesis.holds(point):
            margin = hypothesis.at(point)
            raise OutsideHypotheses(
                f"{say_point(point)} is outside the hypothesis '{hypothesis.name}' ({hypothesis.tex}): its margin is "
                f"{say_number(margin)}; choose a point where all hypotheses hold, or call the statement untested",
                name=hypothesis.name,
                margin=margin,
            )
    return point


def violated(hypotheses: Iterable[Hypothesis], point: Point) -> list[str]:
    r"""A sentence for each hypothesis that does not hold at a point.

    Parameters
    ----------
    hypotheses : Iterable[Hypothesis]
        To look at.
    point : Point
        A number, or a pair for a box, per symbol.

    Returns
    -------
    list[str]
        One sentence each; none where all hold.

    Examples
    --------
    >>> violated([Hypothesis("small start", r"\\omega < 1", lambda p: 1 - p["omega"], strict=True)], {"omega": 3})
    ['small start: violated by 2']
    """
    return [hypothesis.say(point) for hypothesis in hypotheses if not hypothesis.holds(point)]


def approach(path: Sequence[Point], hypotheses: Sequence[Hypothesis]) -> dict[str, Shortfall]:
    r"""What is still violated at the end of a path into a regime, and by how much.

    Along the path every margin of an asymptotic hypothesis must grow; all other hypotheses must hold at every point.

    Parameters
    ----------
    path : Sequence[Point]
        Points, each further in the regime.
    hypotheses : Sequence[Hypothesis]
        Of the claim.

    Returns
    -------
    dict[str, Shortfall]
        By name, how far a hypothesis is from holding at the end: its slack, and the factor where it has a ratio.

    Examples
    --------
    >>> wide = Hypothesis.from_ratio(
    ...     "2", "m is large", r"m \\gtrsim n^2", lambda p: p["m"] / p["n"] ** 2, asymptotic=True
    ... )
    >>> approach([{"m": 10, "n": 10}, {"m": 25, "n": 10}], [wide])
    {'m is large': Shortfall(by=0.75, factor=4.0)}
    """
    if len(path) < 2:
        raise OutsideHypotheses("a path into a regime has at least two points", name="", margin=None)
    for point in path:
        admit(point, [hypothesis for hypothesis in hypotheses if not hypothesis.asymptotic])
    left: dict[str, Shortfall] = {}
    for hypothesis in hypotheses:
        if not hypothesis.asymptotic:
            continue
        margins = [float(hypothesis.at(point)) for point in path]
        if any(after <= before for before, after in pairwise(margins)):
            raise OutsideHypotheses(
                f"the path does not lead into the regime: the margin of '{hypothesis.name}' goes "
                f"{', '.join(map(say_number, margins))}; it must grow at every point",
                name=hypothesis.name,
                margin=margins,
            )
        if margins[-1] < 0:
            left[hypothesis.name] = hypothesis.shortfall(path[-1])
    return left


def _entry(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        low, high = (Fraction(end) for end in value)
        return ball_around(low, high)
    if isinstance(value, str):
        try:
            return Fraction(value)
        except ValueError:
            return value
    return value
