"""What a reader can try: the mean-field flow for every N, until the training loss is eps.

T1 and T2 are those of the protocol: one token dominates all others by 3 M, and then has the attention of every row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from odesys import Explorer, LiveEvent, LiveProtocol, LiveStage, Node, Panel, Slider, graph, num, sym

from . import dynamics
from .protocol import THETA
from .setting import PARAMETERS, Case

NAMES = {"s": "signal", "2": "first noise", "w": "weak noise"}
LAST = 1000  # of tau; a loss that is not reached by then is not


def explorer(parameters: Mapping[str, Any]) -> Explorer:
    """The protocol ``mean-field``, from the values of a case."""
    table = {p.name: replace(p, default=parameters[p.name]) for p in PARAMETERS}
    kappa = replace(table["kappa"], default=Case.of(parameters).kappa, help="= σ_h² d_h, mobility of attention")
    sliders = (
        Slider.of(table["N"], 2, 1000, "N", log=True),
        Slider.of(table["mu"], 1, 200, r"\mu", log=True),
        Slider.of(table["noise"], 1, 400, r"\sigma_p^2 d", log=True, words="squared length of weak noise"),
        Slider.of(table["C_p"], 1, 20, "C_p", log=True, words="strength of the first noise"),
        Slider.of(kappa, 1e-4, 1, r"\kappa", log=True),
        Slider.of(table["eps"], 0.005, 0.4, r"\varepsilon", log=True),
    )
    note = "T₁ is missing where one token dominates from the start, or none does before the end."
    return Explorer("Overfit it", sliders, (mean_field(parameters["M"], parameters["w2"]),), note=note)


def mean_field(M: int, w2: float) -> LiveProtocol:
    """The flow with all norms moving; time is tau."""
    system = dynamics.mean_field(M)
    rows = [a for a in NAMES if f"v_{a}" in system.names]
    lengths = {"m_s": sym("mu") ** 2, "m_2": sym("C_p") ** 2 * sym("noise"), "m_w": sym("noise")}
    events = [event for key in ("s", "2") for event in domination(M, rows, key)]
    fitted = LiveEvent("T₃", system.observables["loss"] - sym("eps"), direction=-1)
    used = {name: node for name, node in {**lengths, "w2": num(w2)}.items() if name in system.parameters}
    stage = LiveStage("", system, used, events=(*events, fitted))
    seen = system.observables
    panels = (
        Panel("losses", {"training": seen["loss"], "test": seen["test_loss"]}, log=True),
        Panel("values", {NAMES[a]: sym(f"v_{a}") for a in rows}),
        Panel("attention on the signal, of", {NAMES[a]: attention(M, rows, a, "s") for a in rows}),
    )
    norms: Any = {**lengths, "kappa": sym("kappa")}
    start = dynamics.start(M, norms)
    return LiveProtocol("mean-field", "mean field", (stage,), start, LAST, panels, letter="τ")


def domination(M: int, rows: list[str], key: str) -> tuple[LiveEvent, LiveEvent]:
    """One token dominates the values of all others by 3 M; every row has 1 - theta of its attention there."""
    rest = [largest([sym(f"v_{a}"), -sym(f"v_{a}")]) for a in rows if a != key]
    least = [attention(M, rows, a, key) for a in rows]
    ahead = sym(f"v_{key}") - 3 * M * largest(rest)
    seen = -largest([-node for node in least]) - num(1 - Fraction(str(THETA)))
    by = f" ({NAMES[key]})"
    return (
        LiveEvent(f"T₁{by}", ahead, direction=1, stops=False),
        LiveEvent(f"T₂{by}", seen, direction=1, stops=False),
    )


def largest(nodes: list[Node]) -> Node:
    """The largest of some expressions."""
    first, *others = nodes
    for node in others:
        first = first + graph.relu(node - first)
    return first


def attention(M: int, rows: list[str], row: str, key: str) -> Node:
    """Attention of a row on one token of a type, as `protocol.attention` has it in numbers."""
    count = {"s": 1, "2": 1, "w": M - 2}
    total = graph.add([count[b] * graph.exp(sym(f"S_{row}{b}")) for b in rows])
    return graph.exp(sym(f"S_{row}{key}")) / total
