"""What a reader can try: three-stage training for any number of groups, and training all weights at once.

The family of all K is run, with K, b and omega as sliders; samples with two distractors (L = 4) slide along kinks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odesys import Explorer, LiveEvent, LiveProtocol, LiveStage, Node, Panel, Slider, num, sym

from . import dynamics
from .protocol import RTOL
from .setting import PARAMETERS

GATES = {f"H_{letter}_{k}": f"H{sign}({k})" for letter, sign in (("p", "₊"), ("m", "₋")) for k in range(1, 100)}
LABELS = {
    "M_cv_same": "c₁→v₁",
    "M_cv_other": "c₁→v₂",
    "M_vc_same": "v₁→c₁",
    "M_vv_same": "v₁→v₁",
    "M_cc_same": "c₁→c₁",
}


def explorer(parameters: Mapping[str, Any]) -> Explorer:
    """Both protocols, from the paper's values."""
    table = {p.name: p for p in PARAMETERS}
    sliders = (
        Slider.of(table["omega"], 0.001, 0.5, r"\omega", log=True, words="scale of keys and queries"),
        Slider.of(table["b"], 0.05, 2, "b", log=True),
        Slider.of(table["K"], 2, 1000, "K", log=True, words="groups"),
        Slider.of(table["T1"], 1, 200, "T_1", log=True),
        Slider.of(table["x_star"], 0.1, 4, r"x^\star", log=True, words="score that ends stage 2"),
        Slider.of(table["eps"], 0.001, 0.2, r"\varepsilon", log=True, words="loss that ends stage 3"),
        Slider.of(table["t_end"], 100, 20_000, "t", log=True),
    )
    return Explorer("Train it", sliders, (three_stage(), simultaneous(3), simultaneous(4)))


def start() -> dict[str, Node]:
    """The infinite-width start: every score and self-score is omega^2 times what it is for omega = 1."""
    flow = dynamics.family()
    return {
        name: num(value) * sym("omega") ** 2
        for name, value in zip(flow.system.names, flow.initial_state(1).tolist(), strict=True)
        if value
    }


def panels(loss: Node) -> tuple[Panel, ...]:
    """Loss, neurons and scores."""
    return (
        Panel("population loss", {"loss": loss}, log=True),
        Panel("neurons", {"w₊·c": sym("n_c"), "w₊·v": sym("n_v")}),
        Panel("attention scores (key → query)", {label: sym(name) for name, label in LABELS.items()}),
    )


def three_stage() -> LiveProtocol:
    """Algorithm 1: T1 is given, T2 and T3 are found."""
    systems = {name: dynamics.family(name).system for name in ("stage1", "stage2", "stage3")}
    loss = dynamics.family().system.observables["loss"]
    learned = LiveEvent("T₂", sym("M_cv_same") - sym("x_star"), direction=1)
    fitted = LiveEvent("T₃", loss - sym("eps"), direction=-1)
    stages = (
        LiveStage("T₁", systems["stage1"], end=sym("T1"), gates=GATES),
        LiveStage("", systems["stage2"], events=(learned,), gates=GATES),
        LiveStage("", systems["stage3"], events=(fitted,), gates=GATES),
    )
    return LiveProtocol(
        "three-stage", "three stages (Algorithm 1)", stages, start(), sym("t_end"), panels(loss), rtol=RTOL
    )


def simultaneous(L: int) -> LiveProtocol:
    """All weights at once, with L tokens per sample."""
    system = dynamics.family("simultaneous", L).system
    stage = LiveStage("", system, gates=GATES)
    seen = panels(system.observables["loss"])
    title = f"all weights at once, L = {L}"
    return LiveProtocol(f"simultaneous-{L}", title, (stage,), start(), sym("t_end"), seen, rtol=RTOL)
