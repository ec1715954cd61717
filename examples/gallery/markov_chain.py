r"""A transformer reads a Markov chain in context (Makkuva et al., 2024): the loss falls to the entropy rate.

Three tokens of a stationary two-state chain, next-token prediction, attention by position alone. The best predictor
attends to the last token; its loss is the entropy of the next token given the last, a known number.
"""

from fractions import Fraction
from itertools import product
from math import log

import numpy as np

from odesys import Data, Units, Words, cross_entropy, gradient_flow, integrate, maps, softmax, theory_on_network

P = {"a": {"a": Fraction(1, 5), "b": Fraction(4, 5)}, "b": {"a": Fraction(1, 2), "b": Fraction(1, 2)}}
STATIONARY = {"a": Fraction(5, 13), "b": Fraction(8, 13)}  # p = p P
words, classes = Words("a b", positions=3), Units("y", 2)
Y, A = maps("Y", classes, words), maps("A", words, words)


def f(X):
    places = X.positions
    return Y @ X @ softmax(places.T @ A @ places[-1])


def chain() -> Data:
    samples = []
    for x, y, z, target in product("ab", repeat=4):
        samples.append(((x, y, z), "ab".index(target), STATIONARY[x] * P[x][y] * P[y][z] * P[z][target]))
    return Data(words, samples)


def main() -> dict[str, float]:
    flow = gradient_flow(f, chain(), cross_entropy)
    entropy = -sum(float(STATIONARY[x] * p) * log(p) for x, row in P.items() for p in row.values())
    net = flow.network(seed=0, scales={"Y": 0.1, "A": 0.1})
    run = integrate(flow.system, net.paths(), (0.0, 3000.0))
    late = run.final
    scores = np.array([late[f"A_pos{i}_pos3"] for i in (1, 2, 3)])
    attention = np.exp(scores) / np.exp(scores).sum()
    gap = float(
        np.abs(integrate(flow.system, net.paths(), (0.0, 50.0)).end_state - net.flow_run(50.0)[1][-1].paths()).max()
    )
    print(
        f"loss {late['loss']:.6f}, entropy rate {entropy:.6f}; attention {attention.round(3)}; network within {gap:.1e}"
    )
    return {"excess": late["loss"] - entropy, "attention": float(attention[2]), "network": gap}


def picture():
    """Attention of the last place moves to itself."""
    net = gradient_flow(f, chain(), cross_entropy).network(seed=0, scales={"Y": 0.1, "A": 0.1})

    def share(i):
        return lambda x: np.exp(x[f"A_pos{i}_pos3"]) / sum(np.exp(x[f"A_pos{j}_pos3"]) for j in (1, 2, 3))

    return theory_on_network(net, 300.0, {"loss": "loss"} | {f"attention to place {i}": share(i) for i in (1, 2, 3)})


if __name__ == "__main__":
    main()
