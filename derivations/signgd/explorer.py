"""What a reader can try: the sign flow of two samples and two neurons from one drawn start, event by event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from odesys import Explorer, LiveProtocol, LiveStage, Node, Panel, Slider, System, num, sym

from . import dynamics
from .setting import DISJOINT, PARAMETERS, Case
from .special.recursion import Start, draw

SIZE = 2  # samples and neurons
END = 0.5  # of theta: all flips are before it


def explorer(parameters: Mapping[str, Any]) -> Explorer:
    """The protocol ``flow`` for a small case with the paper's other values."""
    case = Case.of({**parameters, "supports": DISJOINT, "n": SIZE, "m_k": SIZE})
    table = {p.name: p for p in PARAMETERS}
    sigma_p = replace(table["sigma_p"], default=case.sigma_p, help="noise per coordinate")
    sigma_0 = replace(table["sigma_0"], default=case.sigma_0, help="weights at the start")
    sliders = (
        Slider.of(sigma_p, 0.02, 4, r"\sigma_p", log=True),
        Slider.of(sigma_0, 1e-5, 0.3, r"\sigma_0", log=True),
        Slider.of(replace(table["mu"], default=case.mu), 0.1, 10, r"\mu", log=True),
        Slider("theta", END, 0.05, 5, "end of the run, η t", r"\theta", log=True),
    )
    note = f"n = {SIZE} samples and m_k = {SIZE} neurons, start drawn with seed {parameters['seed']}, s = {case.s}."
    return Explorer("Train it", sliders, (flow(draw(case, parameters["seed"])),), note=note)


def flow(start: Start) -> LiveProtocol:
    """The sign flow from a start; speeds and start values move with the sliders."""
    case = start.case
    system = dynamics.reduced(case.n, case.m_k, "flow")
    lengths = {"mu": sym("mu")} | {
        dynamics.word(i + 1): num(float(start.l2[i] / case.sigma_p)) * sym("sigma_p") for i in range(case.n)
    }
    speeds = {"m": sym("mu")} | {
        f"l{i + 1}": num(float(start.l1[i] / case.sigma_p)) * sym("sigma_p") for i in range(case.n)
    }
    numbers = {"mu": case.mu} | {dynamics.word(i + 1): float(start.l2[i]) for i in range(case.n)}
    first: dict[str, Node] = {}
    for name, value in zip(system.names, start.state.pack().tolist(), strict=True):
        word = name.rpartition("_")[2]
        first[name] = num(value / (case.sigma_0 * numbers[word])) * sym("sigma_0") * lengths[word]
    seen = system.observables
    pairs = [(r, i) for r in range(1, case.m_k + 1) for i in range(1, case.n + 1)]
    panels = (
        Panel("training loss", {"loss": seen["loss"]}, log=True),
        Panel(
            "queries and keys of noise, neuron 1",
            {f"{x}₁{'₁₂₃₄'[i - 1]}": sym(f"{x}_1_{dynamics.word(i)}") for x in "qk" for r, i in pairs if r == 1},
        ),
        Panel(
            "attention on the signal",
            {f"{s}, sample {i}": seen[f"s{s}_{i}"] for s in ("11", "21") for i in range(1, case.n + 1)},
        ),
        Panel(
            "values",
            {"v_μ": sym("v_mu")} | {f"v{'₁₂₃₄'[i - 1]}": sym(f"v_{dynamics.word(i)}") for i in range(1, case.n + 1)},
        ),
    )
    return LiveProtocol(
        "flow",
        "sign flow",
        (LiveStage("", system, speeds, gates=gate_labels(system)),),
        first,
        sym("theta"),
        panels,
        rtol=1e-10,
        letter="θ",
    )


def gate_labels(system: System) -> dict[str, str]:
    """What the drivers are called on the page: w₁, A₁₂, and G_q1, G_k1 for the signals."""
    small = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    found = {}
    for name in system.observables:
        letter, *numbers = name.split("_")
        index = "".join(numbers)
        found[name] = f"G_{letter[1]}{index}" if letter[0] == "G" else f"{letter}{index.translate(small)}"
    return found
