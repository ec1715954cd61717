r"""How far gradient steps can go: bounds for every batch, width and start, and what they leave of printed powers of eta.

Tokens have unit length and the output weights of a position unit norm. With o, v, k, q the operator norms of W_O, W_V,
W_K, W_Q, each a mean over samples and queries of products in which softmax and gates are weights at most 1, a step of
size eta moves them by at most

.. math:: \eta v,\quad \eta o,\quad \eta\,o\,v\,q,\quad \eta\,o\,v\,k,\qquad\text{one neuron by}\ \eta v/\sqrt m.

So o + v grows by the factor 1 + eta per step at most, and while eta t <= 1 every weight has moved by O(eta t), whatever
else. At T = c eta^{-3/5}/alpha_* that is O(eta^{2/5}).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from odesys import (
    FAILS,
    HOLDS,
    Node,
    Verdict,
    Witness,
    computed_once,
    graph,
    identity,
    leading_orders,
    refuted,
    say_witness,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import COQ, Tables, tables
from .common_gradients import POSITIVE, as_printed

#: a point of Theorem 1, exactly
EXACT: dict[str, Any] = {
    "M": 5,
    "alpha_s": Fraction(1, 2),
    "alpha_c": Fraction(1, 20),
    "N": 200,
    "m_a": 10,
    "m_b": 10,
    "m": 1000,
    "sigma": Fraction(0),
    "delta": Fraction(0),
    "tau": Fraction(0),
}
n, scale = sym("n"), sym("c")  # n = 1/eta, c the hidden constant of (10)
STEPS = scale * n ** Fraction(3, 5) / sym("alpha_s")  # T of (10)


def order(node: Node) -> Fraction:
    """The power of 1/eta in an expression, as eta tends to 0."""
    ((exponent, _),) = leading_orders([node], "n")
    return exponent


def weights_at_most_one(t: Tables) -> dict[str, Node]:
    """Attention over keys and shares of queries add up to 1, so a mean over both is no longer than its longest term."""
    rows = {f"attention {k}": graph.add(t.softmax(0, j, k) for j in range(3)) - 1 for k in range(3)}
    return {**rows, "shares": graph.add(t.fraction(0, k) for k in range(3)) - 1}


@computed_once
def bounded_motion(lab: Laboratory) -> Verdict:
    """The gradients whose factors are counted, weights that add up to 1, the recursion of o + v, and the covariance behind k, q."""
    t = tables(lab.toy())
    o, v, eta = sym("o"), sym("v"), sym("eta")
    p, x, y = ([sym(f"{name}{i}") for i in range(2)] for name in "pxy")
    mean = [graph.add(a * b for a, b in zip(p, z, strict=True)) for z in (x, y)]
    left = graph.add(a * b * c for a, b, c in zip(p, x, y, strict=True)) - mean[0] * mean[1]
    pulled = graph.add(a * (b - mean[0]) * (c - mean[1]) for a, b, c in zip(p, x, y, strict=True))
    (rest,) = graph.substitute([left - pulled], {p[1]: 1 - p[0]})
    found = (
        as_printed(lab, "O")
        & as_printed(lab, "V")
        & as_printed(lab, "K")
        & as_printed(lab, "Q")
        & identity(weights_at_most_one(t), positive=POSITIVE)
        & identity({"o + v": (o + eta * v) + (v + eta * o) - (1 + eta) * (o + v), "covariance": rest})
    )
    return found.proving(
        "each summand of (83), (189) has a factor a_(l) of norm 1, gates in {0, 1}, and means over softmax and queries",
        "so a step moves W_O by at most eta |W_V|, W_V by eta |W_O|, and one neuron by eta |W_V|/sqrt(m)",
        "o + v is at most (1 + eta)^t <= e^{eta t} times its start; a covariance is at most the product of the largest sizes",
        "so the steps of W_K and W_Q in (125), (161) are at most eta o v q and eta o v k",
    )


def by_printed_steps(lab: Laboratory, found: Callable[[], Verdict]) -> Verdict:
    """What runs show, where the derived steps are the printed gradients; of other steps they say nothing about the paper."""
    same = all(as_printed(lab, leaf).as_stated == HOLDS for leaf in ("O", "V", "K", "Q"))
    return found() if same else undecided("the runs do not take steps of the printed gradients")


def drift_of_step() -> Verdict:
    """What a step x + eta r, y + eta p changes of x^2 - y^2: eta times its rate along the flow, and eta^2 (r^2 - p^2)."""
    x, y, r, p, eta = (sym(name) for name in ("x", "y", "r", "p", "eta"))
    after = (x + eta * r) ** 2 - (y + eta * p) ** 2
    return identity({"a step": after - (x**2 - y**2) - 2 * eta * (x * r - y * p) - eta**2 * (r**2 - p**2)})


def first_order(lab: Laboratory, conserved: Verdict, missed: Mapping[str, Node]) -> Verdict:
    """The drift at fixed eta T of matrices that the flow conserves is O(eta), and for small eta T no less from some starts.

    `missed` has an entry of r r' - p p' for each matrix, with the rates r, p of the two maps; none of them is zero everywhere.
    """
    bound = bounded_motion(lab)
    steps = bound.proof.steps if bound.proof is not None else ()
    seen = {name: identity({name: node}, positive=POSITIVE) for name, node in missed.items()}
    for name, verdict in seen.items():
        if verdict.as_stated != FAILS:
            return undecided(f"steps conserve {name} as far as was seen")
    told = {f"{name}_is_missed_by": say_witness(verdict.witness) for name, verdict in seen.items()}
    return (
        (conserved & drift_of_step() & bound)
        .proving(
            *steps,
            "the flow conserves the matrix, so the part of a step that is linear in eta is zero: what is left is eta^2 (r r' - p p') with the two rates r, p",
            "at fixed eta T all norms are bounded free of eta, hence the rates: T = s/eta steps change the matrix by at most s eta max |r r' - p p'|",
            "an entry of r r' - p p' is not zero at some start off the surfaces of the gates; weights move by O(s), so for small s it stays above half of that "
            "and keeps its sign: T = s/eta steps change the entry by at least a constant times s eta",
        )
        .adding(**told)
        .arguing(IN_WORDS)
    )


def too_slow(lab: Laboratory, left: Node, right: Node, sentence: str, *files: str) -> Verdict:
    """Refuted if the right side outgrows the left one as eta tends to 0, both as powers of 1/eta times constants.

    `files` have the theorem in Coq, from the forces of a layer to its weights after T steps and what is printed of them.
    """
    bound = bounded_motion(lab)
    if bound.as_stated != HOLDS:
        return undecided("the equations are not those whose factors were counted")
    if order(right) <= order(left):
        return undecided(f"the right side is of the order eta^{-order(right)}, the left one eta^{-order(left)}")
    found = refuted(Witness(sentence, EXACT)).stating(**_every_constant(left, right))
    found = after_steps(found, *files) if files else found.arguing(IN_WORDS)
    assert bound.proof is not None
    return found.proving(*bound.proof.steps, f"powers of 1/eta: {order(left)} on the left, {order(right)} on the right")


def after_steps(found: Verdict, *files: str, told: Mapping[str, tuple[Sequence[str], Node]] | None = None) -> Verdict:
    """The same verdict by theorems about weights after T steps, T of (10), with eta = x^-5."""
    x = sym("x")
    times = {
        "eta": (("x",), in_fifth_roots(1 / n, x)),
        "steps": (("c", "alpha_s", "x"), in_fifth_roots(STEPS, x)),
    }
    return found.by_theorems([COQ / name for name in ("time_of_training.v", *files)], times | dict(told or {}))


BATCH, CONSTANT = sym("B"), sym("C")
OVER_ROOT = CONSTANT * sym("least") / graph.sqrt(BATCH)  # right sides of (35), (39) and (42), with a hidden constant
OVER_BATCH = CONSTANT * sym("square") / BATCH  # of (44)


def unmoved(
    lab: Laboratory, at_start: Verdict, sentence: str, *steps: str, file: str, right: Mapping[str, tuple[str, Node]]
) -> Verdict:
    """Refuted at every t up to T of (10) by neurons of the start, if a strict inequality between them holds there.

    Weights move by O(eta^(2/5)) up to T, so that what is strict at the start stays strict for small eta. `file` has the
    theorem in Coq; `right` has what is printed on the right, by the name it has there, and what it is a bound of.
    """
    bound = bounded_motion(lab)
    if bound.as_stated != HOLDS or at_start.as_stated != HOLDS:
        return undecided("the equations are not those whose factors were counted, or the neurons are others")
    if order(TIME) >= 0:
        return undecided("eta T does not tend to 0 at T of (10)")
    assert bound.proof is not None
    told = {name: (("C", "B", of), node) for name, (of, node) in right.items()}
    found = after_steps(refuted(Witness(sentence, EXACT)), "neurons_of_the_start.v", file, told=told)
    return found.proving(
        *bound.proof.steps,
        f"at T of (10) eta T is of the order eta^({-order(TIME)}): up to there a neuron has moved by O(eta^({-order(TIME)}))/sqrt(m) only, for every batch; for "
        "given m and xi that is small against xi",
        *steps,
    )


def _every_constant(left: Node, right: Node) -> dict[str, Any]:
    """What "the right side outgrows the left one" says: for every C, at every eta = x^-5 small enough, C left < right.

    Small enough is x >= 1 + C a, where a is the ratio of both sides at eta = 1; r is what x has more.
    """
    x, most, more = sym("x"), sym("C"), sym("r")
    sides = [in_fifth_roots(node, x) for node in (left, right)]
    (ratio,) = graph.substitute([sides[0] / sides[1]], {x: graph.ONE})
    return {
        "relations": {"C times the left side is below the right side": (most * sides[0], "<", sides[1])},
        "positive": ("C", "c", "alpha_s"),
        "nonnegative": ("r",),
        "at": {x: 1 + most * ratio + more},
    }


def in_fifth_roots(node: Node, x: Node) -> Node:
    """An expression of n = 1/eta with n = x^5: all powers are whole."""
    memo: dict[Node, Node] = {}
    for each in graph.topological([node]):
        if each is n:
            memo[each] = x**5
        elif each.op == "mul":
            powers = (graph.power(x, 5 * e) if base is n else graph.power(memo[base], e) for base, e in each.args)
            memo[each] = graph.multiply(*powers)
        else:
            memo[each] = graph.rebuild(each, memo.__getitem__)
    return memo[node]


TIME = STEPS / n  # eta T
RIGHT_SIDES = "printed_growth.v"  # p_n and phi_n of Definition 1, and right sides with eta t^2
IN_WORDS = "argues in words: from bounds on single steps to the size of weights after all of them"
