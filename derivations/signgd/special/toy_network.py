r"""Two samples and two neurons as symbols; here because directions are signs, decided for all values at once.

The signal is :math:`\mu = m e_0`; the noise of sample 1 (label +1) lives on coordinates 1, 2, that of sample 2 (label
-1) on coordinates 3, 4. From the model alone the program derives the gradient of the loss and from it, per weight, the
*argument* whose sign is the direction of a sign step. On a section of the projection to inner products (one coordinate
of each support carries the inner product) the arguments become functions of the reduced state; with softmax weights and
loss slopes as opaque positive symbols they are rational, and their signs can be decided for all values at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from odesys import ZERO, Node, graph, num, sym

LABELS = (1, -1)
NEURONS, ROWS, SIZE = 2, 2, 5
SUPPORTS = ((1, 2), (3, 4))
POSITIVE = ("m", "x1_1", "x1_2", "x2_1", "x2_2")  # the sign of an entry of the noise is absorbed in the weight it meets


@dataclass(frozen=True)
class Model:
    """What is trained and how: the defaults are the paper's model and optimiser."""

    descent: int = 1  # -1: up the gradient
    temperature: int = 1  # factor of the logits
    query: int = 1  # factor of the direction of query moves
    key: int = 1
    values: int = 1  # factor of the direction of value moves
    noise: Fraction = Fraction(1)  # length of the moves on the noise coordinates, over that of the others
    frozen_softmax: bool = False  # derivatives of the softmax taken at zero logits
    exponential: bool = False  # exponential instead of logistic loss
    shared: bool = False  # both samples on the support of the first


def weight(kind: str, row: int, coordinate: int) -> Node:
    """An entry of W_Q (``Q``), W_K (``K``), W_{V,1} (``P``) or W_{V,-1} (``N``)."""
    return sym(f"{kind}{row}_{coordinate}")


def dot(left: list[Node], right: list[Node]) -> Node:
    """Inner product."""
    return graph.add(a * b for a, b in zip(left, right, strict=True) if a is not ZERO and b is not ZERO)


@dataclass(frozen=True)
class Toy:
    """Signal, noise, and the network's parts as expressions of the weights."""

    model: Model
    mu: list[Node]
    xi: list[list[Node]]
    weights: dict[str, list[list[Node]]]

    def tokens(self, i: int) -> tuple[list[Node], list[Node]]:
        """Signal patch and noise patch of a sample."""
        return [LABELS[i] * x for x in self.mu], self.xi[i]

    def logit(self, i: int, query: int, key: int) -> Node:
        """z = temperature sum_r <w_Q,r, x_query> <w_K,r, x_key>."""
        x = self.tokens(i)
        rows = zip(self.weights["Q"], self.weights["K"], strict=True)
        return self.model.temperature * graph.add(dot(q, x[query]) * dot(k, x[key]) for q, k in rows)

    def attention(self, i: int) -> list[list[Node]]:
        """s_{la}: softmax over two keys as a logistic function of the difference of logits."""
        rows = []
        for query in range(2):
            gap = self.logit(i, query, 0) - self.logit(i, query, 1)
            rows.append([graph.call("sigmoid", gap), graph.call("sigmoid", -gap)])
        return rows

    def head(self, i: int, kind: str, attention: list[list[Node]] | None = None) -> Node:
        """F_j = (1/m_v) sum_{l,a,r} s_{la} <w_{V,j,r}, x_a>."""
        s, x = attention or self.attention(i), self.tokens(i)
        return graph.add(s[l][a] * dot(v, x[a]) for l in range(2) for a in range(2) for v in self.weights[kind]) / ROWS

    def output(self, i: int) -> Node:
        """f = F_1 - F_{-1}."""
        return self.head(i, "P") - self.head(i, "N")

    def loss(self) -> Node:
        """Mean of log(1 + exp(-y f))."""
        kind = "exp" if self.model.exponential else "softplus"
        return graph.add(graph.call(kind, -LABELS[i] * self.output(i)) for i in range(2)) / len(LABELS)

    def all_weights(self) -> dict[str, Node]:
        """Every trained entry by name."""
        return {w.args[0]: w for rows in self.weights.values() for row in rows for w in row}

    def slopes(self) -> dict[str, Node]:
        """Derivative of the loss by every weight: loss by output, output by logits and values, chain rule."""
        total: dict[str, list[Node]] = {name: [] for name in self.all_weights()}
        for i in range(len(LABELS)):
            outer = graph.gradient(self.loss_of(i, sym("f")), [sym("f")])[0]
            outer = graph.substitute([outer], {sym("f"): self.output(i)})[0]
            z = [[sym(f"z{l}{a}") for a in range(2)] for l in range(2)]
            gates = [[graph.call("sigmoid", row[0] - row[1]), graph.call("sigmoid", row[1] - row[0])] for row in z]
            f = self.head(i, "P", gates) - self.head(i, "N", gates)
            flat = [node for row in z for node in row]
            at = {z[l][a]: self.logit(i, l, a) for l in range(2) for a in range(2)}
            by_logit = graph.gradient(f, flat)
            here = dict.fromkeys(flat, ZERO) if self.model.frozen_softmax else at
            by_logit = graph.substitute(by_logit, here)
            (f_here,) = graph.substitute([f], at)
            names = list(total)
            nodes = [self.all_weights()[name] for name in names]
            rows = [graph.gradient(f_here if node.args[0][0] in "PN" else ZERO, [node])[0] for node in nodes]
            for slope, place in zip(by_logit, flat, strict=True):
                for k, part in enumerate(graph.gradient(at[place], nodes)):
                    if part is not ZERO and names[k][0] in "QK":
                        rows[k] = rows[k] + slope * part
            for name, row in zip(names, rows, strict=True):
                total[name].append(outer * row)
        return {name: graph.add(parts) for name, parts in total.items()}

    def loss_of(self, i: int, f: Node) -> Node:
        """The share of one sample in the loss as a function of its output."""
        kind = "exp" if self.model.exponential else "softplus"
        return graph.call(kind, -LABELS[i] * f) / len(LABELS)

    def lengths(self) -> dict[str, Node]:
        """Step of each weight over eta: 1, but for those on the noise coordinates where that is broken."""
        return {name: num(1 if name.endswith("_0") else self.model.noise) for name in self.all_weights()}

    def arguments(self) -> dict[str, Node]:
        """For every weight the expression whose sign, times eta, is added in a step."""
        rates = {"Q": self.model.query, "K": self.model.key, "P": self.model.values, "N": self.model.values}
        return {name: -self.model.descent * rates[name[0]] * slope for name, slope in self.slopes().items()}


AS_PRINTED = Model()


@cache
def toy(model: Model = AS_PRINTED) -> Toy:
    """The toy network of a model."""
    mu = [sym("m"), *[ZERO] * (SIZE - 1)]
    xi = []
    for i in range(2):
        places = SUPPORTS[0 if model.shared else i]
        row = [ZERO] * SIZE
        for number, place in enumerate(places, 1):
            row[place] = sym(f"x{i + 1}_{number}")
        xi.append(row)
    sizes = {"Q": NEURONS, "K": NEURONS, "P": ROWS, "N": ROWS}
    weights = {
        kind: [[weight(kind, r, c) for c in range(SIZE)] for r in range(1, rows + 1)] for kind, rows in sizes.items()
    }
    return Toy(model, mu, xi, weights)


# ---- reduced state ---------------------------------------------------------------------------------------------------


def section() -> dict[Node, Node]:
    """Weights with given inner products: the first coordinate of each support carries it, the second is zero.

    Reduced symbols: ``q1_mu``, ``q1_1`` (neuron 1, sample 1), ``k1_mu``, ..., ``v_mu``, ``v_1``, ``v_2``.
    """
    out: dict[Node, Node] = {}
    for kind, letter, rows in (("Q", "q", NEURONS), ("K", "k", NEURONS), ("P", "v", ROWS), ("N", "", ROWS)):
        for r in range(1, rows + 1):
            name = f"{letter}{r}" if letter in ("q", "k") else letter
            carries = letter in ("q", "k") or (kind == "P" and r == 1)
            factor = ROWS if kind == "P" else 1
            for c in range(SIZE):
                out[weight(kind, r, c)] = ZERO
            if carries:
                out[weight(kind, r, 0)] = factor * sym(f"{name}_mu") / sym("m")
                for i, (first, _) in enumerate(SUPPORTS):
                    out[weight(kind, r, first)] = factor * LABELS[i] * sym(f"{name}_{i + 1}") / sym(f"x{i + 1}_1")
    return out


def on_section(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Expressions of the weights as expressions of the reduced state."""
    found = graph.substitute(list(nodes.values()), section())
    return dict(zip(nodes, found, strict=True))


def reduced_arguments(model: Model, opaque: bool = False) -> dict[str, Node]:
    r"""Sign arguments of the reduced state: a query moves by eta |xi_i|_1 sgn(...), and so on.

    The argument of a weight on the support of sample i is :math:`y_i\xi_i[k]` times the reduced one, of a weight on the
    signal coordinate :math:`m` times it. Value rows: ``P1_1`` is the argument of row 1 of W_{V,+1} on sample 1,
    ``N1_mu`` of W_{V,-1} on the signal. With `opaque` the softmax weights are :math:`s_{i,11} = 1/(1+X_{i1})`,
    :math:`s_{i,21} = 1/(1+X_{i2})` and the slopes :math:`g_i`, positive symbols.
    """
    made = toy(model)
    raw = on_section(made.arguments())
    letters = {"Q": "q", "K": "k", "P": "P", "N": "N"}
    out: dict[str, Node] = {}
    for kind, rows in made.weights.items():
        for r in range(1, len(rows) + 1):
            out[f"{letters[kind]}{r}_mu"] = raw[weight(kind, r, 0).args[0]] / sym("m")
            for i, (first, _) in enumerate(SUPPORTS):
                name = weight(kind, r, first).args[0]
                out[f"{letters[kind]}{r}_{i + 1}"] = raw[name] * LABELS[i] / sym(f"x{i + 1}_1")
    if not opaque:
        return out
    hidden: dict[Node, Node] = {}
    for i, y in enumerate(LABELS):
        s = on_section({f"{l}{a}": made.attention(i)[l][a] for l in range(2) for a in range(2)})
        for l in range(2):
            X = sym(f"X{i + 1}{l + 1}")
            hidden[s[f"{l}0"]], hidden[s[f"{l}1"]] = 1 / (1 + X), X / (1 + X)
        slope = -y * len(LABELS) * graph.gradient(made.loss_of(i, sym("f")), [sym("f")])[0]
        (f,) = on_section({"f": made.output(i)}).values()
        hidden[graph.substitute([slope], {sym("f"): f})[0]] = sym(f"g{i + 1}")
    nodes = _replaced(list(out.values()), hidden)
    return dict(zip(out, nodes, strict=True))


def _replaced(nodes: list[Node], hidden: Mapping[Node, Node]) -> list[Node]:
    """Loss slopes first (they contain the softmax weights), then the softmax weights."""
    slopes = {node: new for node, new in hidden.items() if new.op == "sym"}
    rest = {node: new for node, new in hidden.items() if new.op != "sym"}
    return graph.substitute(graph.substitute(nodes, slopes), rest)


def opaque_symbols() -> tuple[str, ...]:
    """Names that are positive in the opaque arguments."""
    return (*(f"X{i}{l}" for i in (1, 2) for l in (1, 2)), "g1", "g2", "m")
