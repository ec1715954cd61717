"""Symbols of the paper with their natural domains, and the hypotheses that several lemmas share."""

from __future__ import annotations

from math import exp
from typing import Any

from odesys import Hypothesis, Symbol, natural_domain

from .. import dynamics

SYMBOLS = (
    Symbol("omega", r"\omega", "initial scale of keys and queries", "positive"),
    Symbol("b", "b", "bias of both heads", "positive"),
    Symbol("T1", "T_1", "end of stage 1", "positive"),
    Symbol("x_star", "x^*", "score that ends stage 2", "positive"),
    Symbol("eps", r"\epsilon", "loss that ends stage 3", "positive"),
    Symbol("t", "t", "time", "nonnegative"),
    Symbol("C", "C", "bound of all scores; in Lemma 6.1 the scale of the constructed scores", "positive"),
    Symbol("m", "m", "attention width", "whole"),
    Symbol("K", "K", "number of groups", "whole", low=2),
    Symbol("L", "L", "tokens per sample", "whole", low=3),
    Symbol("n_c", "n_c", "neuron alignment of the + head with c_k"),
    Symbol("g", "g", "minus the slope of the loss", "unit"),
    Symbol("delta", r"\delta", "failure probability", "unit"),
    Symbol("n", "n", "number of variables in Lemma H.1", "whole"),
    Symbol("M", "M", "bound of these variables", "positive"),
    Symbol("V", r"\sum_j\mathbb E[Z_j^2]", "sum of their variances", "nonnegative"),
)


def half_time(b: Any) -> float:
    """T_0.5 = (2b + e^{2b} - 1)/2, when a unit switches off in stage 1; D.3 derives it."""
    return b + (exp(2 * float(b)) - 1) / 2


SMALL_START = Hypothesis("small start", r"\omega<C<1", lambda p: 1 - p["omega"], strict=True)
BIASED = Hypothesis("positive bias", "b>0", lambda p: p["b"], strict=True)
AFTER_SWITCH = Hypothesis(
    "stage 1 ends after the switch", r"T_1>T_{0.5}", lambda p: p["T1"] - half_time(p["b"]), strict=True
)


inner_products = natural_domain(dynamics.reduced, dynamics.full_flow)
STAGE_TWO = (SMALL_START, BIASED, AFTER_SWITCH)  # of stages 2 and 3, at infinite width
