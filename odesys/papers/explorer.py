"""What a reader can try on a page: a system with sliders, run stage by stage in the browser.

All of it is data. Parameters of systems, starts, ends of stages and levels of events are expressions in the sliders,
curves are expressions in states and sliders; `odesys.report.explorer` writes them as JavaScript.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..shortening import shortened, some
from .paper import Parameter

if TYPE_CHECKING:
    from ..expr.system import System

LARGEST = 1e12  # a slider ends before this


@dataclass(frozen=True)
class Slider:
    """A number that a reader moves: its value at first, and from where to where.

    Parameters
    ----------
    name : str
        What expressions call it.
    value : float
        At first.
    low : float
        The least.
    high : float
        The largest.
    words : str, optional
        What it is.
    tex : str, optional
        Its letter.
    log : bool, optional
        The way is in proportion.
    whole : bool, optional
        Only whole numbers are there.

    Examples
    --------
    >>> Slider("omega", 0.1, 0.001, 0.5, "initial scale", log=True).value
    0.1
    """

    name: str
    value: float
    low: float
    high: float
    words: str = ""
    tex: str = ""
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        if not -LARGEST < self.low <= self.value <= self.high < LARGEST or not self.low < self.high:
            raise ParameterError(
                f"the slider {self.name} starts at {self.value:g}, which is not in its range {self.low:g} to "
                f"{self.high:g}"
            )
        if self.log and self.low <= 0:
            raise ParameterError(f"the slider {self.name} is logarithmic, so its low end {self.low:g} must be positive")

    @classmethod
    def of(
        cls, parameter: Parameter, low: float, high: float, tex: str = "", log: bool = False, words: str = ""
    ) -> Slider:
        """A slider for a parameter of a paper, from its default value."""
        value, whole = float(parameter.default), parameter.kind is int
        return cls(parameter.name, value, min(low, value), max(high, value), words or parameter.help, tex, log, whole)


@dataclass(frozen=True)
class LiveEvent:
    """Something that happens where `node`, in states and sliders, reaches zero: upwards (+1), downwards (-1), or both.

    Parameters
    ----------
    name : str
        What it is called.
    node : Any
        What reaches zero, in states and sliders.
    direction : int, optional
        Upwards (+1), downwards (-1), or both (0).
    stops : bool, optional
        Whether the stage ends there.

    Examples
    --------
    >>> from odesys import sym
    >>> LiveEvent("T2", sym("x") - sym("x_star"), direction=1).stops
    True
    """

    name: str
    node: Any
    direction: int = 0
    stops: bool = True  # the stage ends there


@dataclass(frozen=True)
class LiveStage:
    """A stage: its system, and when it ends (a time in sliders, or an event); the last one may go on to the end.

    Parameters
    ----------
    name : str
        What it is called.
    system : System
        Its equations.
    values : Mapping[str, Any], optional
        Parameters of the system in sliders; those not named are the slider of their name.
    end : Any, optional
        When it ends, in sliders; by default at an event, or at the end.
    events : Sequence[LiveEvent], optional
        What may happen.
    gates : Mapping[str, str], optional
        What gates are called on the page, by the names of `switching_surfaces`.

    Examples
    --------
    >>> from odesys import System, sym
    >>> decay = System.from_equations({"x": -sym("k") * sym("x")}, ["k"])
    >>> LiveStage("decay", decay, values={"k": 2 * sym("rate")}).events
    ()
    """

    name: str
    system: System
    values: Mapping[str, Any] = field(default_factory=dict)
    end: Any = None
    events: Sequence[LiveEvent] = ()
    gates: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """One picture: curves by what they are called, each in states and sliders.

    Parameters
    ----------
    title : str
        Above the picture.
    curves : Mapping[str, Any]
        By what they are called, each in states and sliders.
    log : bool, optional
        Whether the values are drawn in proportion.

    Examples
    --------
    >>> from odesys import sym
    >>> Panel("loss", {"L": sym("x") ** 2}, log=True).title
    'loss'
    """

    title: str
    curves: Mapping[str, Any]
    log: bool = False


@dataclass(frozen=True)
class LiveProtocol:
    """Stages one after the other from a start to an end, and what is drawn of them.

    Parameters
    ----------
    name : str
        What a link calls it.
    title : str
        What a reader calls it.
    stages : Sequence[LiveStage]
        One after the other.
    start : Mapping[str, Any]
        Values of states in sliders; those not named start at zero.
    end : Any
        The last time, in sliders.
    panels : Sequence[Panel]
        What is drawn.
    begin : Any, optional
        The first time, in sliders.
    rtol : float, optional
        Relative tolerance of a step.
    atol : Any, optional
        Absolute tolerance, in sliders; it follows from the start as in `integrate` if 0.
    log_time : bool, optional
        Whether time is drawn in proportion.
    letter : str, optional
        What time is called.

    Examples
    --------
    >>> from odesys import System, sym
    >>> x = sym("x")
    >>> stage = LiveStage("", System.from_equations({"x": -x}))
    >>> LiveProtocol("decay", "free decay", [stage], {"x": 1}, 5, [Panel("x", {"x": x})]).rtol
    1e-09
    """

    name: str
    title: str
    stages: Sequence[LiveStage]
    start: Mapping[str, Any]
    end: Any
    panels: Sequence[Panel]
    begin: Any = 0
    rtol: float = 1e-9
    atol: Any = 0
    log_time: bool = False
    letter: str = "t"


@dataclass(frozen=True, repr=False)
class Explorer:
    """Sliders, and protocols to choose from.

    Parameters
    ----------
    title : str
        Above the explorer.
    sliders : Sequence[Slider]
        What a reader moves.
    protocols : Sequence[LiveProtocol]
        What a reader chooses from.
    home : str, optional
        What the values at first are called.
    note : str, optional
        A sentence below.

    Examples
    --------
    >>> from odesys import System, sym
    >>> x = sym("x")
    >>> stage = LiveStage("", System.from_equations({"x": -sym("k") * x}, ["k"]))
    >>> free = LiveProtocol("decay", "free decay", [stage], {"x": 1}, 5, [Panel("x", {"x": x})])
    >>> len(Explorer("A decay", [Slider("k", 1, 0.1, 10, log=True)], [free]).protocols)
    1
    """

    title: str
    sliders: Sequence[Slider]
    protocols: Sequence[LiveProtocol]
    home: str = "paper’s values"  # the button that puts all sliders back
    note: str = ""

    def __repr__(self) -> str:
        given, runs = (some(each.name for each in part) for part in (self.sliders, self.protocols))
        return shortened(f"<Explorer: sliders {given}; protocols {runs}>")
