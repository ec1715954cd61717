r"""One sample of any number; here because its share of the gradient has the same form whatever the sizes are.

The loss is a mean over samples, so the argument of a sign step is a sum of shares, one for each sample. A share is
written with one neuron, one row of values of each class and one coordinate; what all others of each kind add is a
symbol: `Q1` is the rest of the inner product of the query with patch 1 (all other coordinates), `P1` that of the sum
of all rows, `Z12` what the other neurons add to a logit. The symbols are free, so an identity in them is one for every
number of samples n, neurons m_k, rows m_v and coordinates d.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from odesys import ZERO, Node, graph, num, sym

from .toy_network import Model

BOTH = (1, -1)
ENTRIES = {kind: sym(kind) for kind in "QKPN"}  # at the coordinate that is written out
SIGNAL, NOISE = "mu", "1"
INNER = ("q1_mu", "q1_1", "k1_mu", "k1_1", "v_mu", "v_1")
POSITIVE = ("m", "x", "n", "m_v")  # the sign of an entry of the noise is absorbed in the weight it meets


@dataclass(frozen=True)
class OneSample:
    """The network on one sample: its label, and the entries of its two patches at the written coordinate."""

    model: Model
    label: int
    entries: tuple[Node, Node]

    def inner(self, kind: str) -> tuple[Node, Node]:
        """Inner products of the query or key with both patches; for values those of the mean row of a class."""
        both = [ENTRIES[kind] * x + sym(f"{kind}{a}") for a, x in enumerate(self.entries, 1)]
        first, second = both if kind in "QK" else [node / sym("m_v") for node in both]
        return first, second

    def logit(self, query: int, key: int) -> Node:
        """z_la: the neuron and the sum over all others, times the temperature."""
        one = self.inner("Q")[query] * self.inner("K")[key]
        return self.model.temperature * (one + sym(f"Z{query + 1}{key + 1}"))

    def attention(self) -> list[list[Node]]:
        """s_la: softmax over two keys as a logistic function of the difference of logits."""
        return gates([[self.logit(l, a) for a in range(2)] for l in range(2)])

    def head(self, kind: str, s: list[list[Node]] | None = None) -> Node:
        """F_j, with the given attention or its own."""
        s, mean = s or self.attention(), self.inner(kind)
        return graph.add(s[l][a] * mean[a] for l in range(2) for a in range(2))

    def output(self, s: list[list[Node]] | None = None) -> Node:
        """f = F_1 - F_{-1}."""
        return self.head("P", s) - self.head("N", s)

    def loss(self, f: Node) -> Node:
        """The share in the loss as a function of the output."""
        return graph.call("exp" if self.model.exponential else "softplus", -self.label * f) / sym("n")

    def slope(self) -> Node:
        """g = -n y times the derivative of the share in the loss by the output f, as a function of the symbol f."""
        return -self.label * sym("n") * graph.gradient(self.loss(sym("f")), [sym("f")])[0]

    def arguments(self, slope: Node | None = None) -> dict[str, Node]:
        """For the entry of each kind what the sample adds to the expression whose sign, times eta, is a step.

        `slope` is put in the place of g, which is that of the output else.
        """
        g = graph.substitute([self.slope()], {sym("f"): self.output()})[0] if slope is None else slope
        outer = -self.label * g / sym("n")
        z = [[sym(f"z{l}{a}") for a in range(2)] for l in range(2)]
        flat = [node for row in z for node in row]
        at = {z[l][a]: self.logit(l, a) for l in range(2) for a in range(2)}
        by_logit = graph.gradient(self.output(gates(z)), flat)
        by_logit = graph.substitute(by_logit, dict.fromkeys(flat, ZERO) if self.model.frozen_softmax else at)
        rates = {"Q": self.model.query, "K": self.model.key, "P": self.model.values, "N": self.model.values}
        out = {}
        for kind, w in ENTRIES.items():
            if kind in "QK":
                slope = graph.add(
                    part * graph.gradient(at[place], [w])[0] for part, place in zip(by_logit, flat, strict=True)
                )
            else:
                slope = graph.gradient(self.output(), [w])[0]
            out[kind] = -self.model.descent * rates[kind] * outer * slope
        return out

    def inner_products(self) -> dict[Node, Node]:
        """The reduced symbols as inner products of general weights, with the label: q1_1 is <w_Q, y xi>."""
        q, k, p, n = (self.inner(kind) for kind in "QKPN")
        v = [a - b for a, b in zip(p, n, strict=True)]
        both = (*q, *k, *v)
        return {sym(name): self.label * node for name, node in zip(INNER, both, strict=True)}

    def on_section(self, nodes: list[Node]) -> list[Node]:
        """Expressions of the weights as expressions of inner products: the written entry is 0, the rest has all."""
        values = {w: ZERO for w in ENTRIES.values()}
        for kind, name in (("Q", "q1"), ("K", "k1")):
            values |= {sym(f"{kind}{a}"): self.label * sym(f"{name}_{x}") for a, x in ((1, SIGNAL), (2, NOISE))}
        values |= {sym(f"P{a}"): self.label * sym("m_v") * sym(f"v_{x}") for a, x in ((1, SIGNAL), (2, NOISE))}
        return graph.substitute(nodes, values | {sym(f"N{a}"): ZERO for a in (1, 2)})


def gates(z: list[list[Node]]) -> list[list[Node]]:
    """Softmax over two keys, of two rows of logits."""
    return [[graph.call("sigmoid", row[0] - row[1]), graph.call("sigmoid", row[1] - row[0])] for row in z]


def sample(model: Model, label: int, place: str = "") -> OneSample:
    """A sample at a coordinate: that of the signal, one of its own noise (`NOISE`), or any, with entries x1 and x2."""
    entries = {
        SIGNAL: (label * sym("m"), ZERO),
        NOISE: (ZERO, sym("x")),
        "other": (ZERO, sym("x2") if model.shared else ZERO),  # a coordinate of the noise of another sample
        "": (sym("x1"), sym("x2")),
    }
    return OneSample(model, label, entries[place])


def factor(label: int, place: str) -> Node:
    """What an argument at a coordinate has beside the inner products: the entry of mu, or of y xi."""
    return sym("m") if place == SIGNAL else label * sym("x")


@cache
def shares(model: Model, opaque: bool = False) -> Mapping[int, Mapping[str, Node]]:
    """By label, the reduced shares: ``q1_mu`` is what the sample adds to the move of the query signal, and so on.

    A query moves by eta |xi_i|_1 sgn(...). With `opaque` the softmax outputs are :math:`s_{11} = 1/(1+X_{11})`,
    :math:`s_{21} = 1/(1+X_{12})` and the slope is :math:`g_1`, positive symbols.
    """
    out: dict[int, dict[str, Node]] = {}
    for label in BOTH:
        found: dict[str, Node] = {}
        for place in (SIGNAL, NOISE):
            made = sample(model, label, place)
            raw = made.arguments(sym("g1") if opaque else None)
            nodes = made.on_section([raw[kind] for kind in "QKPN"])
            nodes = graph.substitute(nodes, _hidden(made)) if opaque else nodes
            for letter, node in zip(("q1", "k1", "P1", "N1"), nodes, strict=True):
                found[f"{letter}_{place}"] = node / factor(label, place)
        out[label] = found
    return out


def _hidden(made: OneSample) -> dict[Node, Node]:
    """The softmax outputs over positive symbols."""
    s = made.attention()
    flat, out = made.on_section([*s[0], *s[1]]), dict[Node, Node]()
    for l in range(2):
        X = sym(f"X1{l + 1}")
        out |= {flat[2 * l]: 1 / (1 + X), flat[2 * l + 1]: X / (1 + X)}
    return out


def step_lengths(model: Model) -> dict[str, Node]:
    """Step of a weight over eta on the signal coordinate and on a noise coordinate: 1, unless that is broken."""
    return {SIGNAL: num(1), NOISE: num(model.noise)}


OPAQUE = ("X11", "X12", "g1", *POSITIVE)  # positive in the opaque shares
