r"""The 21 equations for every M as one writes them down by hand, with the gates as symbols; typed to be compared.

n = M - 2 nuisance patterns. In a + sample a query q (label-relevant s, confusion c, nuisance n) has the attention
:math:`W_q = (W_{q1}, W_{q2}, W_{qn})` on pattern 1, pattern 2 and all nuisance patterns, :math:`f_q` is its share of the
queries and :math:`\gamma_q^\pm` the gate of a + neuron in a + or - sample. With :math:`\mathrm{sw}` the exchange of the
first two coordinates, :math:`U = (u_{+1}, u_{+2}, u_{+n})`, :math:`g_q = \pi(\gamma_q^+U - \gamma_q^-\mathrm{sw}U)` and
:math:`E_q = \pi(\gamma_q^+D_+ - \gamma_q^-\mathrm{sw}D_+)` the rates are sums over queries while no margin is reached.
"""

from __future__ import annotations

from collections.abc import Sequence

from odesys import Node, graph, num, sym

from ..dynamics import STATES

QUERIES = ("s", "c", "n")
Triple = tuple[Node, Node, Node]


def gate(sign: str, query: str) -> Node:
    """The symbol of a gate, ``gate +s`` and so on."""
    return sym(f"gate {sign}{query}")


class WrittenOut:
    """Attention, pre-activations and rates over the 21 states, alpha_s, alpha_c, beta, pi, M and the six gates."""

    def __init__(self) -> None:
        self.n = sym("M") - 2
        self.x: dict[str, Node] = {name: sym(name) for name in STATES}
        counts = sym("alpha_s"), sym("alpha_c"), self.n * sym("beta")
        self.share = dict(zip(QUERIES, (c / graph.add(counts) for c in counts), strict=True))
        self.W, self.own = self._attention()

    def _attention(self) -> tuple[dict[str, Triple], tuple[Node, Node]]:
        """W_q, and the parts of W_nn on the query's own pattern and on the other nuisance patterns."""
        x, n, beta = self.x, self.n, sym("beta")
        e11 = graph.exp(x["ka"] * x["ra"] + x["kb"] * x["rb"] + n * x["kn"] * x["rn"])
        e21 = graph.exp(x["kb"] * x["ra"] + x["ka"] * x["rb"] + n * x["kn"] * x["rn"])
        en1 = graph.exp(x["kc"] * (x["ra"] + x["rb"]) + x["ko"] * x["rn"] + (n - 1) * x["kx"] * x["rn"])
        e1n = graph.exp(x["rc"] * (x["ka"] + x["kb"]) + x["kn"] * x["ro"] + (n - 1) * x["kn"] * x["rx"])
        both = 2 * x["kc"] * x["rc"]
        ekk = graph.exp(both + x["ko"] * x["ro"] + (n - 1) * x["kx"] * x["rx"])
        ekx = graph.exp(both + x["ko"] * x["rx"] + x["kx"] * x["ro"] + (n - 2) * x["kx"] * x["rx"])
        rest = beta * ekk, (n - 1) * beta * ekx
        rows = {
            "s": (sym("alpha_s") * e11, sym("alpha_c") * e21, n * beta * en1),
            "c": (sym("alpha_s") * e21, sym("alpha_c") * e11, n * beta * en1),
            "n": (sym("alpha_s") * e1n, sym("alpha_c") * e1n, graph.add(rest)),
        }
        W = {
            q: (a / graph.add(row), b / graph.add(row), c / graph.add(row))
            for q, row in rows.items()
            for a, b, c in (row,)
        }
        total = graph.add(rows["n"])
        return W, (rest[0] / total, rest[1] / total)

    @property
    def U(self) -> Triple:
        """u_{+1}, u_{+2}, u_{+n}."""
        x, n = self.x, self.n
        nuisance = n * x["dn"] * x["xn"]
        return (
            x["d1"] * x["x1"] + x["d2"] * x["x2"] + nuisance,
            x["d1"] * x["x2"] + x["d2"] * x["x1"] + nuisance,
            (x["d1"] + x["d2"]) * x["z1"] + x["dn"] * (x["zo"] + (n - 1) * x["zx"]),
        )

    def before(self, sign: str, query: str) -> Node:
        """Pre-activation of the + neuron, W_q . U or W_q . sw U; its sign sets the gate."""
        return dot(self.W[query], self.U if sign == "+" else swapped(self.U))

    def mirrored(self, query: str, vector: Triple) -> Triple:
        """gamma_q^+ vector - gamma_q^- sw vector."""
        a, b, c = (gate("+", query) * p - gate("-", query) * m for p, m in zip(vector, swapped(vector), strict=True))
        return a, b, c

    def pulled(self, query: str) -> tuple[Triple, Node]:
        """g_q and its mean under W_q."""
        a, b, c = (sym("pi") * u for u in self.mirrored(query, self.U))
        return (a, b, c), dot(self.W[query], (a, b, c))

    def rates(self) -> dict[str, Node]:
        """The 21 right-hand sides while no margin is reached."""
        return {**self._neurons_and_values(), **self._keys_and_queries()}

    def _neurons_and_values(self) -> dict[str, Node]:
        x, n, half = self.x, self.n, num(1) / 2
        out: dict[str, list[Node]] = {name: [] for name in ("d1", "d2", "dn", "x1", "x2", "xn", "z1", "zo")}
        D = x["d1"], x["d2"], x["dn"]
        mean = x["z1"], x["z1"], (x["zo"] + (n - 1) * x["zx"]) / n
        for q in QUERIES:
            w1, w2, wn = self.W[q]
            one, two = (x["x1"], x["x2"], x["xn"]), (x["x2"], x["x1"], x["xn"])
            a, b, c = (w1 * p + w2 * r + wn * s for p, r, s in zip(one, two, mean, strict=True))
            E = self.mirrored(q, D)
            back = swapped(E)
            parts = [
                *self.mirrored(q, (a, b, c)),
                *(sym("pi") * (w1 * e + w2 * f) for e, f in zip(E, back, strict=True)),
                sym("pi") * wn / n * (E[0] + back[0]),
                sym("pi") * wn / n * (E[2] + back[2]),
            ]
            for name, part in zip(out, parts, strict=True):
                out[name].append(half * self.share[q] * part)
        found = {name: graph.add(parts) for name, parts in out.items()}
        return {**found, "zx": found["zo"]}

    def forces(self) -> dict[str, Node]:
        """G_jk = -dLoss/dS_jk for the six types of pairs, key first."""
        n, half = self.n, num(1) / 2
        (gs, ms), (gc, mc), (gn, mn) = (self.pulled(q) for q in QUERIES)
        fs, fc, fn = (self.share[q] for q in QUERIES)
        W, (own, other) = self.W, self.own

        def pair(i: int, j: int) -> Node:
            return half * (fs * W["s"][i] * (gs[i] - ms) + fc * W["c"][j] * (gc[j] - mc))

        return {
            "11": pair(0, 1),
            "21": pair(1, 0),
            "n1": pair(2, 2) / n,
            "1n": half * fn / n * (W["n"][0] * (gn[0] - mn) + W["n"][1] * (gn[1] - mn)),
            "kk": fn / n * own * (gn[2] - mn),
            "kx": fn / n * other / (n - 1) * (gn[2] - mn),
        }

    def _keys_and_queries(self) -> dict[str, Node]:
        G = self.forces()
        return {**self._six("k", "r", G), **self._six("r", "k", {**G, "1n": G["n1"], "n1": G["1n"]})}

    def _six(self, mine: str, partner: str, G: dict[str, Node]) -> dict[str, Node]:
        a, b, m, c, o, x = (self.x[partner + kind] for kind in "abncox")
        n = self.n
        return {
            f"{mine}a": G["11"] * a + G["21"] * b + n * G["1n"] * c,
            f"{mine}b": G["11"] * b + G["21"] * a + n * G["1n"] * c,
            f"{mine}n": (G["11"] + G["21"]) * m + G["1n"] * (o + (n - 1) * x),
            f"{mine}c": G["n1"] * (a + b) + (G["kk"] + (n - 1) * G["kx"]) * c,
            f"{mine}o": 2 * G["n1"] * m + G["kk"] * o + (n - 1) * G["kx"] * x,
            f"{mine}x": 2 * G["n1"] * m + G["kk"] * x + G["kx"] * o + (n - 2) * G["kx"] * x,
        }


def swapped(vector: Triple) -> Triple:
    """The first two coordinates exchanged."""
    return vector[1], vector[0], vector[2]


def dot(left: Sequence[Node], right: Sequence[Node]) -> Node:
    """Sum of products."""
    return graph.add(a * b for a, b in zip(left, right, strict=True))
