"""What a paper offers to the command line: parameters, systems, protocols, a comparison and figures.

A paper is a package with a `PAPER` of this type, found by name through the entry point group ``odesys.papers`` or as a
folder. The engine knows the shape, never the content.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import ParameterError
from ..shortening import shortened, some
from ..terminal import Progress, progress_bar

if TYPE_CHECKING:
    from ..derive.flow import Flow
    from ..derive.motion import Rule
    from ..expr.system import System
    from ..program.data import Data
    from .claims import ClaimBook
    from .explorer import Explorer


def load_later(module: str, name: str) -> Callable[..., Any]:
    """A function that imports `module` only when it is called: loading a paper stays cheap.

    Parameters
    ----------
    module : str
        Full name of the module.
    name : str
        Of the function in it.

    Returns
    -------
    Callable[..., Any]
        A function of the same arguments.

    Examples
    --------
    >>> root = load_later("math", "sqrt")
    >>> root(16)
    4.0
    """

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*args, **options)

    return call


MOST_LETTERS = 100
_FILE_NAME = re.compile(r"\w[\w.-]*")
LARGEST = 1e60  # of a parameter: its fifth power is still a floating-point number
SMALLEST = 1e-60  # of one that is not zero, for the same reason
LARGEST_WHOLE = 10**15  # of a parameter that is a whole number


@dataclass(frozen=True)
class Parameter:
    """A named number a user can set: default, meaning, type and allowed range.

    Parameters
    ----------
    name : str
        As in ``--set NAME=VALUE``.
    default : Any
        Its value where none is given.
    help : str
        What it is, in a few words.
    kind : type, optional
        ``float``, ``int`` or ``str``.
    low : float, optional
        Least value.
    high : float, optional
        Largest value.
    open_low : bool, optional
        The least value itself is not allowed.
    words : tuple[str, ...], optional
        What may stand in place of a number, such as ``symbol``; or all there is to choose from.

    Examples
    --------
    >>> Parameter("omega", 0.1, "initial scale", low=0, open_low=True).read("0.05")
    0.05
    """

    name: str
    default: Any
    help: str
    kind: type = float
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    words: tuple[str, ...] = ()  # what a derivation can have in place of a number: NAME=symbol leaves it open; or,
    # where the kind is str, all there is to choose from

    def read(self, text: Any, symbols: bool = False) -> Any:
        """The value of a text such as ``0.05``; what is out of range gets a sentence, and symbols unless asked for."""
        if self.kind is str and text not in self.words:
            raise ParameterError(
                f"{self.name} = {_short(repr(text))} can not be used: choose {' or '.join(self.words)}"
            )
        if text in self.words and (symbols or self.kind is str):
            return text
        try:
            value = self.kind(text)
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            hint = f"it must be {self._wanted()}"
            if text in self.words:
                hint = f"a number is needed here, {hint}"
            elif text == "symbol":
                hint = "a symbol is not available for it"
            raise ParameterError(f"{self.name} = {_short(repr(text))} can not be used: {hint}") from None
        inside = self.low < number <= self.high or (number == self.low and not self.open_low)
        if not math.isfinite(number) or not inside:
            raise ParameterError(f"{self.name} = {_short(text)} is out of range: it must be {self._wanted()}")
        if abs(number) > (LARGEST_WHOLE if self.kind is int else LARGEST):
            most = (
                f"{LARGEST_WHOLE:,}"
                if self.kind is int
                else f"{LARGEST:g}, so that its powers are floating-point numbers"
            )
            raise ParameterError(f"{self.name} = {_short(text)} is too large: it can be at most {most}")
        if 0 < abs(number) < SMALLEST:
            raise ParameterError(
                f"{self.name} = {_short(text)} is too small: it can be at least {SMALLEST:g}, so that its powers are "
                f"floating-point numbers"
            )
        return value

    def _wanted(self) -> str:
        text = "a whole number" if self.kind is int else "a number"
        if self.low > -math.inf:
            text += f" {'above' if self.open_low else 'of at least'} {self.low:g}"
        return text + (f" and at most {self.high:g}" if self.high < math.inf else "")


def _short(text: Any) -> str:
    """A value as it was written, cut where it is very long."""
    whole = str(text)
    return whole if len(whole) <= 60 else f"{whole[:40]}... ({len(whole)} characters)"


@dataclass(frozen=True)
class Simulation:
    """One run: final observables, events, cost, drift of the conserved quantities, and tables to save and plot.

    Parameters
    ----------
    protocol : str
        Its name.
    parameters : Mapping[str, Any]
        What was run.
    final : Mapping[str, float]
        Observables at the end.
    events : tuple[Mapping[str, Any], ...]
        Switches, slides, stages: each with name, kind and time; kept in the order of their times.
    cost : Mapping[str, float]
        Evaluations, steps, seconds.
    invariant_drift : float | None
        How far conserved numbers moved; None where nothing is conserved.
    columns : Mapping[str, Any]
        What is saved, by name.
    note : str, optional
        Where the run ended otherwise than asked.
    plot : Callable[[Path], list[Path]], optional
        Draws into a folder.
    descent : Mapping[str, Any], optional
        The same training in steps: rate, steps, final observables.
    meanings : Mapping[str, str], optional
        What the observables are, by name.

    Examples
    --------
    >>> run = Simulation("flow", {"omega": 0.1}, {"loss": 0.02}, (), {"steps": 40}, None, {"t": [0.0, 1.0]})
    >>> run.as_json("toy")["final"]
    {'loss': 0.02}
    """

    protocol: str
    parameters: Mapping[str, Any]
    final: Mapping[str, float]
    events: tuple[Mapping[str, Any], ...]
    cost: Mapping[str, float]
    invariant_drift: float | None
    columns: Mapping[str, Any]
    note: str = ""  # where the run ended otherwise than asked, or training in steps may end elsewhere
    plot: Callable[[Path], list[Path]] | None = field(default=None, repr=False)
    descent: Mapping[str, Any] | None = None  # the same training in steps beside it: rate, steps, final observables
    meanings: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # what the observables are, in the paper's words

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(sorted(self.events, key=lambda event: float(event["time"]))))

    def as_json(self, paper: str) -> dict[str, Any]:
        """The documented result of ``odesys simulate``."""
        return {
            "paper": paper,
            "protocol": self.protocol,
            "parameters": dict(self.parameters),
            "final": dict(self.final),
            "cost": dict(self.cost),
            "events": [dict(e) for e in self.events],
            "invariant_drift": self.invariant_drift,
            "note": self.note,
            "descent": self.descent and dict(self.descent),
        }


@dataclass(frozen=True)
class FigureSpec:
    """A figure of a paper: what it shows, and a function (folder, progress) that draws it and returns the files.

    `level` is that of the reports that show it: ``quick``, ``full`` for what takes long, ``never`` for what a report
    has in another form, such as the proof graph.

    >>> from pathlib import Path
    >>> spec = FigureSpec("nothing at all", draw=lambda folder, progress: [])
    >>> spec.draw(Path("."), lambda step, fraction: None), spec.level
    ([], 'quick')
    """

    title: str
    draw: Callable[..., list[Path]]
    level: str = "quick"
    own_data: bool = False  # draw takes data=PATH, files of the user's own


@dataclass(frozen=True)
class Setting:
    """Where a paper starts: the model, the data, the maps that are trained and the loss; a report writes it out.

    The model is a program, a function of the tokens.

    Parameters
    ----------
    model : Callable[[Any], Any]
        A program.
    data : Data
        Its samples.
    train : str | tuple[str, ...], optional
        The maps that move; nothing stands for all.
    loss : Any, optional
        As in `gradient_flow`.
    step : bool, optional
        Trained in steps, not along the flow.
    rule : Rule, optional
        How the maps move, where that is not the plain gradient.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_flow, maps, squared
    >>> words = Words("a b")
    >>> w = maps("w", 1, words)
    >>> start = Setting(lambda X: w @ X[0], Data(words, [("a", 1), ("b", 2)]), loss=squared)
    >>> start.train, start.step
    ((), False)
    >>> Setting.of(gradient_flow(start.model, start.data, start.loss)).train
    ('w',)
    """

    model: Callable[[Any], Any]
    data: Data
    train: str | tuple[str, ...] = ()  # nothing stands for every map
    loss: Any = "logistic"
    step: bool = False  # trained in steps, not along the gradient flow
    rule: Rule | None = None  # how the maps move, where that is not the plain gradient

    @classmethod
    def of(cls, flow: Flow) -> Setting:
        """The setting of a derived program, with its rule of training."""
        program = flow.program
        return cls(program.function, program.data, flow.train, program.criterion, flow.rule.step, flow.rule)


@dataclass(frozen=True)
class Formula:
    """A formula in TeX and what it is, in words.

    Parameters
    ----------
    what : str
        In words.
    tex : str
        The formula.

    Examples
    --------
    >>> Formula("the attention of two tokens", "p + q = 1").tex
    'p + q = 1'
    """

    what: str
    tex: str


class CompareFunction(Protocol):
    """Theory against finite width: widths, number of seeds, parameters, progress -> the documented result."""

    def __call__(self, widths: list[int], seeds: int, parameters: Mapping[str, Any], progress: Progress) -> Any: ...


@dataclass(frozen=True, repr=False)
class Paper:
    """Everything the command line needs to know about a paper.

    Systems and protocols take the parameters that are given and fill in the defaults of the others. `default` is the
    system that ``odesys derive`` takes where none is named: the quotient unless a paper says another.

    Parameters
    ----------
    name : str
        What the command line calls it.
    title : str
        In one line.
    reference : str
        Where it is printed.
    parameters : tuple[Parameter, ...]
        What a user can set.
    systems : Mapping[str, Callable[..., System]]
        Functions of the parameters, by name.
    protocols : Mapping[str, Callable[..., Simulation]]
        Functions of parameters and progress, by name.
    figures : Mapping[str, FigureSpec]
        By id.
    compare : CompareFunction, optional
        Theory against finite width.
    book : Callable[[], ClaimBook], optional
        Gives the claims.
    setting : Callable[[Mapping[str, Any]], Setting], optional
        Gives model, data and loss.
    formulas : Callable[[Mapping[str, Any]], Sequence[Formula]], optional
        What a setting does not say.
    explorer : Callable[[Mapping[str, Any]], Explorer], optional
        What a reader of the page can try.
    widths : tuple[int, ...], optional
        Of networks, where none are asked for.
    seeds : int, optional
        Networks per width, where none are asked for.
    main_figure : str, optional
        The figure that its page opens with; the first one where none is named.
    default : str, optional
        The system that is derived where none is named.
    meanings : Mapping[str, str], optional
        What each system is, in a few words.

    Examples
    --------
    >>> toy = Paper("toy", "A toy", "nobody, never", (Parameter("omega", 0.1, "initial scale"),), {}, {}, {})
    >>> toy.read_parameters({"omega": "0.5"}), toy.claims()
    ({'omega': 0.5}, [])
    """

    name: str
    title: str
    reference: str
    parameters: tuple[Parameter, ...]
    systems: Mapping[str, Callable[..., System]]
    protocols: Mapping[str, Callable[..., Simulation]]
    figures: Mapping[str, FigureSpec]
    compare: CompareFunction | None = None
    book: Callable[[], ClaimBook] | None = None
    setting: Callable[[Mapping[str, Any]], Setting] | None = None
    formulas: Callable[[Mapping[str, Any]], Sequence[Formula]] | None = None  # what a setting does not say
    explorer: Callable[[Mapping[str, Any]], Explorer] | None = None  # what a reader of the page can try
    widths: tuple[int, ...] = (64, 256, 1024)  # of the networks in a comparison, where none are asked for
    seeds: int = 8
    main_figure: str = ""  # id of the figure that its page opens with; the first one where none is named
    default: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)  # what each system is, in a few words

    def __repr__(self) -> str:
        return shortened(f"<Paper {self.name}: {self.title}; systems {some(self.systems)}>")

    def __post_init__(self) -> None:
        for what, names in {"a paper": (self.name,), "a system": self.systems, "a figure": self.figures}.items():
            for name in names:  # they become names of files
                if not _FILE_NAME.fullmatch(name) or len(name) > MOST_LETTERS:
                    raise ParameterError(
                        f"{_short(repr(name))} can not name {what}: use at most {MOST_LETTERS} letters, digits, dots, "
                        f"hyphens and underscores, and a letter or digit first"
                    )
        first = "quotient" if "quotient" in self.systems else next(iter(self.systems), "")
        filled = {
            "default": self.default or first,
            "systems": {name: self._filling(build) for name, build in self.systems.items()},
            "protocols": {name: self._filling(run, f"{self.name}, {name}") for name, run in self.protocols.items()},
        }
        for name, value in filled.items():
            object.__setattr__(self, name, value)

    def _filling(self, function: Callable[..., Any], title: str = "") -> Callable[..., Any]:
        """The same function, given some parameters or none; with a title it shows progress unless told how."""

        @wraps(function, assigned=("__doc__",))
        def call(given: Mapping[str, Any] | None = None, *rest: Any) -> Any:
            self._known(given or {})
            defaults = {p.name: p.default for p in self.parameters}
            if rest or not title:
                return function({**defaults, **(given or {})}, *rest)
            with progress_bar(title) as progress:
                return function({**defaults, **(given or {})}, progress)

        function = getattr(function, "filled", function)  # of a copy of a paper
        call.filled = function  # type: ignore[attr-defined]
        return call

    def _known(self, given: Mapping[str, Any]) -> None:
        known = [p.name for p in self.parameters]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise ParameterError(f"{self.name} has no parameter {unknown[0]!r}; it has {', '.join(known)}")

    @classmethod
    def of_package(
        cls,
        package: str,
        systems: Sequence[str] | Mapping[str, str],
        protocols: Sequence[str],
        figures: Mapping[str, str],
        long: Collection[str] = (),
        proof: Callable[..., list[Path]] | None = None,
        own_data: Collection[str] = (),
        **fields: Any,
    ) -> Paper:
        """The paper of a package of the usual shape; nothing of it is imported before it is used.

        A system ``full`` is ``dynamics.named_system("full", ...)``, a protocol ``mean-field`` is
        ``protocol.mean_field``, a figure ``law`` is ``figures.figure_law``; the comparison is ``compare.compare``, the
        book ``claims.book``.

        Parameters
        ----------
        package : str
            Its full name, which ends in the name of the paper.
        systems : Sequence[str] | Mapping[str, str]
            Names of its systems; with what each is, in a few words.
        protocols : Sequence[str]
            Names of its protocols.
        figures : Mapping[str, str]
            Titles by id.
        long : Collection[str], optional
            Ids of figures that only reports of level ``full`` show.
        proof : Callable[..., list[Path]], optional
            Draws the proof graph of a book; with it the paper has a figure ``proof``.
        own_data : Collection[str], optional
            Ids of figures that can be drawn from files of the user's own.
        **fields : Any
            The other fields of a paper.

        Returns
        -------
        Paper
            The paper.
        """

        def book() -> ClaimBook:
            found: ClaimBook = import_module(f"{package}.claims").book
            return found

        drawn = {
            key: FigureSpec(
                title,
                load_later(f"{package}.figures", f"figure_{key}"),
                "full" if key in long else "quick",
                key in own_data,
            )
            for key, title in figures.items()
        }
        if proof is not None:
            drawn["proof"] = FigureSpec(
                "the proof graph, coloured by verdict",
                lambda folder, progress: proof(book(), folder, progress),
                "never",
            )
        return cls(
            name=package.rpartition(".")[2],
            systems={name: partial(load_later(f"{package}.dynamics", "named_system"), name) for name in systems},
            protocols={name: load_later(f"{package}.protocol", name.replace("-", "_")) for name in protocols},
            figures=drawn,
            compare=load_later(f"{package}.compare", "compare"),
            book=book,
            meanings=dict(systems) if isinstance(systems, Mapping) else {},
            **fields,
        )

    def claims(self) -> list[str]:
        """Ids of the registered claims.

        Returns
        -------
        list[str]
            In the order of the book.
        """
        return [] if self.book is None else [claim.id for claim in self.book()]

    def read_parameters(self, settings: Mapping[str, str], symbols: bool = False) -> dict[str, Any]:
        """All parameters: defaults, overridden by texts such as {"omega": "0.05"}; unknown names are refused.

        With `symbols` a parameter that can stay open may be given as ``symbol``.

        Parameters
        ----------
        settings : Mapping[str, str]
            Texts by name.
        symbols : bool, optional
            Let parameters stay open where they can.

        Returns
        -------
        dict[str, Any]
            A value for every parameter.
        """
        self._known(settings)
        return {p.name: p.read(settings[p.name], symbols) if p.name in settings else p.default for p in self.parameters}
