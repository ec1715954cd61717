"""What a reader can try: the infinite-width flow on 113 variables, and its limit of small scores for every n."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from odesys import Explorer, LiveEvent, LiveProtocol, LiveStage, Node, Panel, Slider, System, graph, num, sym

from . import dynamics, protocol, setting
from .setting import PARAMETERS, Scales


def explorer(parameters: Mapping[str, Any]) -> Explorer:
    """The protocols ``mean-field`` and ``kernel``, from the values of a case."""
    table = {p.name: replace(p, default=parameters[p.name]) for p in PARAMETERS}
    sliders = (
        Slider.of(table["m"], 64, 1_000_000, "m", log=True, words="width"),
        Slider.of(table["m1"], 2, 4096, "m_1", log=True, words="neurons"),
        Slider.of(table["c0"], 0.01, 3, "c_0", log=True, words="scale of the start"),
        Slider.of(table["n"], 6, 6000, "n", log=True, words="training samples"),
        Slider.of(table["C_T1"], 1, 200, "C_{T_1}", log=True, words="end of phase 1"),
        Slider.of(table["tau_end"], 20, 100_000, r"\tau", log=True, words="end of the run"),
    )
    n, L = parameters["n"], parameters["L"]
    return Explorer("Train it", sliders, (kernel(L), mean_field(n, L)))


def mean_field(n: int, L: int) -> LiveProtocol:
    """The infinite-width flow at one n, in units of its start."""
    system = dynamics.mean_field(n, L)
    m, m1 = sym("m"), sym("m1")
    scale = Scales(m, m1, sym("c0") / graph.sqrt(L * m), 1 / graph.sqrt(m1))  # type: ignore[arg-type]
    stage = LiveStage("", system, scale.epsilon, events=events(system))
    words = {"μ₁→μ₁": "A_ss_same", "μ₂→μ₁": "A_ss_other", "μ₃→μ₁": "A_cs", "μ₁→μ₃": "A_sc"}
    scores = {label: sym(name) * graph.sqrt(m) for label, name in words.items() if name in system.names}
    seen = (*panels(system), Panel("scores (key → query)", scores))
    tiny = num(1e-9) * scale.epsilon["eps4"]
    title = f"infinite width, n = {n}, L = {L}"
    start = dynamics.unit_start(dynamics.symmetric(n, L))
    return LiveProtocol(
        "mean-field", title, (stage,), start, sym("tau_end"), seen, atol=tiny, log_time=True, letter="τ"
    )


def kernel(L: int) -> LiveProtocol:
    """The limit in which attention stays uniform, for every n."""
    system = dynamics.every_n(L)
    stage, title = LiveStage("", system, events=events(system)), f"limit of uniform attention, L = {L}"
    return LiveProtocol(
        "kernel",
        title,
        (stage,),
        {},
        sym("tau_end"),
        panels(system),
        rtol=1e-11,
        atol=num(1e-13),
        log_time=True,
        letter="τ",
    )


def events(system: System) -> tuple[LiveEvent, ...]:
    """The events of the protocol: R = 1, T_0.5, T_cls and T_1."""
    names = {"R=1": "R = 1 at τ", "T_0.5": "T₀.₅", "T_cls": "all right at τ", "T_1": "T₁"}
    levels: dict[str, Node] = {"T_1": sym("C_T1")}
    found = protocol.events(system, {"C_T1": 0.0})
    return tuple(
        LiveEvent(names[e.name], e.expression - levels.get(e.name, num(0)), e.direction, stops=False) for e in found
    )


def panels(system: System) -> tuple[Panel, ...]:
    """Loss, sub-network and margins."""
    seen = system.observables
    margins = {f"I{'₁₂₃₄'[c - 1]}": seen[f"margin_I{c}"] for c in setting.CLASSES if c != 3}
    return (
        Panel("training loss", {"loss": seen["loss"]}, log=True),
        Panel("sub-network", {"G(μ₁)": sym("G_1"), "G(μ₃)": sym("G_3")}),
        Panel("margins of the classes", margins),
    )
