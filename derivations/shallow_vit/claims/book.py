"""The claim book of the paper, and what several parts share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from odesys import ClaimBook, Evidence, Hypothesis, Node, Symbol, Verdict, Witness, graph, say_point, say_witness, sym

from ..laboratory import Laboratory
from ..setting import Case
from ..special import bounds
from .common_reasons import reasoned

SYMBOLS = (
    Symbol("M", "M", "number of patterns", "whole", low=3),
    Symbol("m", "m", "number of neurons", "whole"),
    Symbol("m_a", "m_a", "dimension of the values", "whole"),
    Symbol("m_b", "m_b", "dimension of keys and queries", "whole"),
    Symbol("N", "N", "number of training samples", "whole"),
    Symbol("B", "B", "batch size", "whole"),
    Symbol("alpha_s", r"\alpha_*", "fraction of label-relevant tokens", "unit"),
    Symbol("alpha_c", r"\alpha_\#", "fraction of confusion tokens", "nonnegative"),
    Symbol("gap", r"\alpha_*-\alpha_\#", "gap of the two fractions", "positive"),
    Symbol("eta", r"\eta", "step size", "positive"),
    Symbol("xi", r"\xi", "standard deviation of W_O at the start", "positive"),
    Symbol("sigma", r"\sigma", "error of the value features", "nonnegative"),
    Symbol("delta", r"\delta", "error of the key and query features", "nonnegative"),
    Symbol("tau", r"\tau", "token noise", "nonnegative"),
    Symbol("margin", r"\Gamma", "margin of the hinge loss, 1 in the paper", "positive"),
    Symbol("L", "L", "tokens per sample", "whole"),
    Symbol("jitter", r"\mathrm{sd}", "standard deviation of the fraction of label-relevant tokens", "nonnegative"),
)

COQ = Path(__file__).with_name("coq")  # arguments of proofs, for an export
LONGEST = {"longest": (("sigma", "tau"), sym("sigma") + sym("tau"))}  # of an error, in them

book = ClaimBook(
    "shallow_vit",
    Laboratory,
    reference="A theoretical understanding of shallow vision transformers: learning, generalization, and sample complexity",
    symbols=SYMBOLS,
    rule=True,
)
THEOREM_1 = bounds.CONDITIONS
#: (9) asks |S^n| and B, (7) m, (11) N to be above constants, and (10) has T in terms of eta: a constant that depended on one
#: of them would make its own condition empty. So orders are refuted along these with constants, and all else of the law, fixed.
#: That the constant of (10) is free of |S^n| is a choice: where it may grow with |S^n|, (12) and (14) fail as eta falls to 0.
CONSTANTS = Hypothesis(
    "hidden constants",
    r"\text{fixed before }\eta,N,m,B,|S^n|,\text{ which (7) and (9)-(11) bound by them; they may depend on all else}",
    lambda p: 0.0,
)
#: most runs have one output weight a_i for all positions, as the proofs have it; (1) draws a_(l) for each
ONE_A = Hypothesis(
    "output weights",
    r"a_{(l)}=a\ \text{for all positions }l,\text{ as }\mathcal K_+\text{ after (55) has it}",
    lambda p: 0.0,
)
SHARED = (*THEOREM_1, ONE_A)
#: that there are such K and Q is Eq.49-50, which is open
GROWTH = Hypothesis(
    "features grow",
    r"K(t),Q(t)>0\text{ as in (49), (50): a step makes the features }q_1,r_1\text{ longer}",
    lambda p: 0.0,
)
#: by (169), (172) other keys may gain Q_f |q_1|^2 with Q_f <~ Q, of which no constant is printed
APART = Hypothesis(
    "others fall behind",
    r"\text{the odds of pattern 1 against all other tokens together grow by }1+K/2\text{ or more at the step (ours)}",
    lambda p: 0.0,
)
#: delta < 1/2, and tau = O(1/M) is small for large M only; above 1/sqrt 2 tokens of one pattern can have a negative logit
HALF = Hypothesis("errors up to a half", r"\delta+\tau\le\tfrac12\text{ (ours)}", lambda p: 0.5 - p["delta"] - p["tau"])
#: tokens of one pattern have errors of their own, which K q_1 and K r_1 make larger: where few other tokens are left, one of them loses
ONE_ERROR = Hypothesis("no token noise", r"\tau=0,\text{ or the mean over }j\in S_*\text{ (ours)}", lambda p: -p["tau"])
TOY_NAME = re.compile("[OVKQ]_.*")
ROUNDING = "rounding of floats"


def point(case: Case, **more: Any) -> dict[str, Any]:
    """The numbers of a run, as the conditions of Theorem 1 ask for them."""
    return {**bounds.condition_point(case), "eta": case.eta, "xi": case.xi, **more}


def claim(
    id: str,
    title: str,
    *,
    fault: str = "",
    cause: str = "",
    at: Mapping[str, Any] | None = None,
    within: tuple[Any, str] | None = None,
    **options: Any,
) -> Callable[[Callable[[Laboratory], Any]], Callable[[Laboratory], Any]]:
    """`book.claim` with what is the same for every answer of a check, wherever the check has not said it itself.

    Parameters
    ----------
    fault, cause : of a failure.
    at, within : the point of a measurement, and its tolerance with the reason.
    """

    def dressed(verdict: Verdict) -> Verdict:
        if verdict.evidence == Evidence.MEASUREMENT:
            verdict = verdict.at(at) if at is not None and not verdict.points else verdict
            verdict = verdict.within(*within) if within is not None and verdict.tolerance is None else verdict
        if verdict.as_stated != "fails":
            return verdict
        if isinstance(verdict.witness, Witness) and any(map(TOY_NAME.fullmatch, verdict.witness.point)):
            # entries of weights (any real number) and positive counts of the toy: the sentence has them
            return blamed(replace(verdict.witnessed(verdict.witness.sentence, {}), points=()))
        if not isinstance(verdict.witness, Witness):
            seen = at if at is not None and verdict.evidence == Evidence.MEASUREMENT else {}
            where = f"at {say_point(seen)} (all hypotheses hold) " if seen else ""
            verdict = replace(verdict, witness=Witness(where + say_witness(verdict.witness), dict(seen)))
        return blamed(verdict)

    def blamed(verdict: Verdict) -> Verdict:
        return verdict if verdict.fault or not fault else verdict.blaming(fault, cause)

    def register(check: Callable[[Laboratory], Any]) -> Callable[[Laboratory], Any]:
        @wraps(check)
        def checked(lab: Laboratory) -> Any:
            found = check(lab)
            if isinstance(found, Verdict):
                return reasoned(id, dressed(found))
            return {name: reasoned(id, dressed(verdict)) for name, verdict in found.items()}

        book.claim(id, title, **options)(checked)
        return check

    return register


NUMBERS = "a statement about numbers or random vectors, not about the system"
PRINTED = "the printed formulas are compared with each other, not with the system"

#: the paper's scalars: u = Q^2 - eps Q enters as w = e^u; c = |S_1|, b = |S| - |S_1|
c, b, Q, eps, K = (sym(name) for name in ("c", "b", "Q", "eps", "K"))


def definition_1() -> dict[str, Node]:
    """phi_n, nu_n and p_n of Definition 1, with |S| - |S_1| in all denominators."""
    phi = 1 / (c * graph.exp(Q * Q + eps * Q) + b)
    nu = 1 / (c * graph.exp(Q * Q - eps * Q) + b)
    return {"phi": phi, "nu": nu, "p": c * graph.exp(Q * Q - eps * Q) * nu}


def at(node: Node, **values: Any) -> Node:
    """An expression with numbers or expressions in place of symbols."""
    (found,) = graph.substitute([node], {sym(name): graph.as_node(value) for name, value in values.items()})
    return found


def value(node: Node, **values: Any) -> float:
    """An expression at numbers, as a float for a sentence."""
    return float(graph.evaluate([node], {name: float(x) for name, x in values.items()}, graph.FLOAT_FUNCTIONS)[0])


# ---- the paper's formulas over the symbols of the toy: M = 3 patterns, two neurons a, -a, samples with counts c_j (+), e_j (-)

TOY = "M = 3 patterns, two neurons with weights a and -a, m_a = 2, m_b = 3, one sample of each class with any counts (the formulas are sums over samples, neurons and tokens)"
LABELS = (1, -1)
COUNTS = (("c1", "c2", "c3"), ("e1", "e2", "e3"))


@dataclass(frozen=True, eq=False)
class Tables:
    """Weights as symbols: O (neuron, axis), V, K, Q (axis, pattern); the paper's softmax, V_l, gates and sums of them."""

    O: np.ndarray
    V: np.ndarray
    K: np.ndarray
    Q: np.ndarray

    @property
    def signs(self) -> tuple[Node, Node]:
        """Output weights."""
        return sym("a"), -sym("a")

    def fraction(self, n: int, k: int) -> Node:
        """Queries of pattern k among all, |S_k| / |S|."""
        counts = [sym(name) for name in COUNTS[n]]
        return counts[k] / graph.add(counts)

    def softmax(self, n: int, j: int, k: int) -> Node:
        """Attention of a query of pattern k on all tokens of pattern j, sample n."""
        weights = [sym(name) * graph.exp(self.logit(i, k)) for i, name in enumerate(COUNTS[n])]
        return weights[j] / graph.add(weights)

    def logit(self, j: int, k: int) -> Node:
        """x_j' W_K' W_Q x_k."""
        return graph.add(self.K[:, j] * self.Q[:, k])

    def mixed(self, n: int, k: int) -> np.ndarray:
        """V_l = W_V X softmax for a query of pattern k."""
        return np.array(
            [graph.add(self.softmax(n, j, k) * self.V[x, j] for j in range(3)) for x in range(2)], dtype=object
        )

    def before(self, n: int, i: int, k: int) -> Node:
        """W_O(i) V_l."""
        return graph.add(self.O[i] * self.mixed(n, k))

    def gate(self, n: int, i: int, k: int) -> Node:
        """1[W_O(i) V_l > 0]."""
        return graph.step(self.before(n, i, k))

    def output(self, n: int) -> Node:
        """F(X^n), Eq. (1)."""
        return graph.add(
            self.fraction(n, k) * self.signs[i] * graph.relu(self.before(n, i, k)) for k in range(3) for i in range(2)
        )

    def active(self, n: int) -> Node:
        """1[y F < Gamma]."""
        return graph.step(sym("Gamma") - LABELS[n] * self.output(n))

    def weight(self, n: int, i: int, k: int, hinge: bool) -> Node:
        """(1/B) y (|S_k|/|S|) a_i 1[W_O(i) V_l > 0], with the hinge indicator or without it."""
        out = graph.num(LABELS[n]) / 2 * self.fraction(n, k) * self.signs[i] * self.gate(n, i, k)
        return out * self.active(n) if hinge else out


def tables(flow: Any) -> Tables:
    """The tables over the states of a toy."""
    made = flow.layout.symbols
    return Tables(made["O"], made["V"], made["K"], made["Q"])


def gates(nodes: Any, hinge: bool) -> list[Node]:
    """Gates that occur: those of the loss (they contain the margin Gamma) or those of the neurons."""
    found = [node for node in graph.topological(list(np.ravel(nodes))) if node.op == "step"]
    return [node for node in found if ("Gamma" in graph.symbols([node])) == hinge]


def put(nodes: Any, values: dict[Node, Node]) -> np.ndarray:
    """A table of expressions with nodes replaced."""
    return np.array(graph.substitute(list(np.ravel(nodes)), values), dtype=object).reshape(np.shape(nodes))


def before_margin(nodes: Any) -> np.ndarray:
    """Expressions of the toy while no margin is reached: the hinge indicators are 1."""
    return put(nodes, dict.fromkeys(gates(nodes, True), graph.ONE))
