r"""Attention selects tokens with maximal margin (Tarzanagh, Li, Zhang and Oymak, 2023).

f(X) = v X softmax(X^T p) with the read-out v frozen and the query p trained. In every sample one token has the best
value; p grows without bound, and its direction turns to that of the support vector machine which separates these tokens
from the others: the shortest p with <x_best - x, p> >= 1.
"""

from fractions import Fraction

import numpy as np
from scipy.optimize import minimize

from odesys import Data, Words, gradient_flow, integrate, logistic, maps, softmax, theory_on_network

words = Words("e1 e2 e3")  # coordinates; e3 carries the value
v, p = maps("v", 1, words), maps("p", words, 1)
BEST, OTHER = ((1, 0), (0, 1)), ((0, Fraction(-1, 2)), (-1, 0))


def derive():
    samples = []
    for best, other in zip(BEST, OTHER, strict=True):
        samples.append(([{"e1": best[0], "e2": best[1], "e3": 1}, {"e1": other[0], "e2": other[1], "e3": 0}], 1))
    return gradient_flow(lambda X: v @ X @ softmax(X.T @ p), Data(words, samples), logistic, train="p")


def separating():
    """The shortest p with <x_best - x, p> >= 1."""
    differences = np.array([[*(np.subtract(b, o).astype(float)), 1.0] for b, o in zip(BEST, OTHER, strict=True)])
    rules = [{"type": "ineq", "fun": lambda q, d=d: d @ q - 1} for d in differences]
    return minimize(lambda q: q @ q, np.ones(3), constraints=rules, tol=1e-12).x


def main() -> dict[str, float]:
    flow, best = derive(), separating()
    x0 = flow.initial_state(values={"v": [[0, 0, 1]]})
    run = integrate(flow.system, x0, (0.0, 1e9), method="LSODA")

    rows = [flow.system.names.index(f"p_{word}") for word in words.words]

    def angle(t: float) -> float:
        now = run.at(t)[rows]
        return float(1 - now @ best / np.linalg.norm(now) / np.linalg.norm(best))

    angles = [angle(t) for t in (1e3, 1e6, 1e9)]
    net = flow.network(seed=0, values={"v": [[0, 0, 1]], "p": [[0.1], [-0.2], [0.0]]})
    gap = float(
        np.abs(integrate(flow.system, net.paths(), (0.0, 20.0)).end_state - net.flow_run(20.0)[1][-1].paths()).max()
    )
    print(f"1 - cosine to the max-margin direction: {[f'{a:.1e}' for a in angles]}; network within {gap:.1e}")
    return {"first": angles[0], "last": angles[-1], "network": gap}


def picture():
    """The direction of p turns to that of the support vector machine."""
    best = separating() / np.linalg.norm(separating())
    net = derive().network(seed=0, values={"v": [[0, 0, 1]], "p": [[0.1], [-0.2], [0.0]]})

    def direction(k):
        return lambda x: x[f"p_e{k}"] / np.sqrt(sum(x[f"p_e{j}"] ** 2 for j in (1, 2, 3)))

    figure = theory_on_network(net, 60.0, {f"direction e{k}": direction(k) for k in (1, 2, 3)})
    for k, value in enumerate(best):
        figure.axes[0].axhline(value, color=f"C{k}", linestyle=":")
    return figure


if __name__ == "__main__":
    main()
