"""What a reader can try: the 21-variable flow for every number of patterns M, with three choices of the gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from odesys import (
    Explorer,
    LiveEvent,
    LiveProtocol,
    LiveStage,
    Node,
    Panel,
    Slider,
    Switching,
    System,
    graph,
    interpolate_count,
    num,
    sym,
)

from . import dynamics
from .setting import PARAMETERS, Case
from .special import symmetric_runs as reduced

TITLES = {
    "auto": "gates as the ReLUs set them",
    "fixed": "gates fixed: own class, confusion tokens of the other",
    "paper": "gates of the paper: own class only",
}
LAST = 10_000  # of s; a margin that is not reached by then is not


def explorer(parameters: Mapping[str, Any]) -> Explorer:
    """The protocol ``symmetric`` with each choice of gates, from the values of a case."""
    table = {p.name: replace(p, default=parameters[p.name]) for p in PARAMETERS}
    alive = Slider("pi", reduced.living(Case.of(parameters)), 0.01, 0.5, "living neurons per sign class", r"\pi")
    sliders = (
        Slider.of(table["alpha_s"], 0.1, 0.7, r"\alpha_*", words="label-relevant tokens"),
        Slider.of(table["alpha_c"], 0.0, 0.3, r"\alpha_\#", words="confusion tokens"),
        Slider.of(table["M"], 4, 64, "M", words="patterns"),
        Slider.of(table["margin"], 0.1, 20, r"\Gamma", log=True, words="margin of the hinge loss"),
        alive,
    )
    note = "The fraction of living neurons follows from the other values; here it stays where you put it."
    return Explorer("Train it", sliders, tuple(symmetric(gates) for gates in TITLES), note=note)


@cache
def running(gates: str) -> System:
    """The flow while the margin is not reached, with M a parameter."""
    return interpolate_count("M", {M: reduced.running(M, gates) for M in dynamics.MEMBERS})


def symmetric(gates: str) -> LiveProtocol:
    """The flow until F reaches the margin; time is s."""
    system, M = running(gates), sym("M")
    start: dict[str, Any] = {name: num(value) for name, value in reduced.start(5).items()}
    beta = (1 - sym("alpha_s") - sym("alpha_c")) / (M - 2)
    if gates == "auto":  # at D = 0 every gate is at its kink: begin a small way along the field of fixed gates
        smooth = running("fixed")
        at = {sym(name): value for name, value in start.items()} | {sym("beta"): beta, sym("Gamma"): sym("margin")}
        slopes = graph.substitute([smooth.equations[name] for name in ("d1", "d2", "dn")], at)
        first = num(Fraction(str(reduced.FIRST)))
        start |= dict(zip(("d1", "d2", "dn"), (first * slope for slope in slopes), strict=True))
    output = system.observables["F"]
    reached = LiveEvent("T", output - sym("margin"), direction=1)
    values = {name: node for name, node in {"beta": beta, "Gamma": sym("margin")}.items() if name in system.parameters}
    stage = LiveStage("", system, values, events=(reached,), gates=gate_labels() if gates == "auto" else {})
    panels = (
        Panel("output", {"F": output}),
        Panel("prototype of living neurons", {"D₁": sym("d1"), "D₂": sym("d2"), "Dₙ": sym("dn")}),
        Panel("attention on relevant tokens, of", {name: node for name, node in attention(beta).items()}),
    )
    begin = num(Fraction(str(reduced.FIRST))) if gates == "auto" else 0
    return LiveProtocol(gates, TITLES[gates], (stage,), start, LAST, panels, begin=begin, letter="s")


def gate_labels() -> dict[str, str]:
    """The gates of the ReLUs by class of the sample and type of the query: their surfaces are those at one M."""
    known = {"M": 5.0, "alpha_s": 0.4, "alpha_c": 0.1, "beta": 0.5 / 3, "Gamma": 1.0, "pi": 0.3}
    compiled, whole = (
        Switching(made.compile({p: known[p] for p in made.parameters}))
        for made in (running("auto"), dynamics.mirrored(5))
    )
    points = np.random.default_rng(0).uniform(-1, 1, (4, len(compiled.compiled.system.names)))
    here, there = (np.array([each.compiled.surfaces(0.0, x) for x in points]).T for each in (compiled, whole))
    words = {"+": "own class", "-": "other class", "s": "relevant", "c": "confusion", "n": "nuisance"}
    return {
        name: f"{words[gate[0]]}, {words[gate[1]]}"
        for name, row in zip(compiled.names, here, strict=True)
        for gate, number in reduced.gate_numbers(5).items()
        if np.ptp(ratio := row / there[number]) < 1e-9 * abs(ratio[0]) and ratio[0] > 0
    }


def attention(beta: Node) -> dict[str, Node]:
    """Attention on label-relevant tokens by type of query, in the symmetric variables."""
    M, a_s, a_c = sym("M"), sym("alpha_s"), sym("alpha_c")
    k, r = ({kind: sym(f"{x}{kind}") for kind in "abncox"} for x in "kr")
    rest = (M - 2) * k["n"] * r["n"]
    same, other = k["a"] * r["a"] + k["b"] * r["b"] + rest, k["b"] * r["a"] + k["a"] * r["b"] + rest
    from_nuisance = k["c"] * (r["a"] + r["b"]) + r["n"] * (k["o"] + (M - 3) * k["x"])
    to_nuisance = r["c"] * (k["a"] + k["b"]) + k["n"] * (r["o"] + (M - 3) * r["x"])
    own = 2 * k["c"] * r["c"] + k["o"] * r["o"] + (M - 3) * k["x"] * r["x"]
    cross = 2 * k["c"] * r["c"] + k["x"] * r["o"] + k["o"] * r["x"] + (M - 4) * k["x"] * r["x"]
    e = graph.exp
    nuisance = (M - 2) * beta * e(from_nuisance)
    return {
        "relevant": a_s * e(same) / (a_s * e(same) + a_c * e(other) + nuisance),
        "confusion": a_s * e(other) / (a_s * e(other) + a_c * e(same) + nuisance),
        "nuisance": a_s * e(to_nuisance) / ((a_s + a_c) * e(to_nuisance) + beta * (e(own) + (M - 3) * e(cross))),
    }
