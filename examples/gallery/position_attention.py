r"""Attention by position alone learns which places belong together (Jelassi, Sander and Li, 2022).

Four places in two pairs; the label is the sign carried by one pair, the other pair is noise. Tokens are signs, scores
depend on positions only: the flow raises the scores inside the pair that matters.
"""

from itertools import product

import numpy as np

from odesys import Data, Words, gradient_flow, integrate, logistic, maps, softmax, theory_on_network

words = Words("x", positions=4)
v, A = maps("v", 1, words), maps("A", words, words)


def f(X):
    places = X.positions
    return v @ X @ softmax(places.T @ A @ places[0])  # the query is the first place; its partner is the second


def derive():
    samples = []
    for label, noise in product((1, -1), repeat=2):
        tokens = [{"x": s} for s in (label, label, noise, -noise)]
        samples.append((tokens, label))
    return gradient_flow(f, Data(words, samples), logistic)


def main() -> dict[str, object]:
    flow = derive()
    net = flow.network(seed=0, scales={"v": 0.1, "A": 0.1})
    start, end = net.paths(), 200.0
    run = integrate(flow.system, start, (0.0, end))
    scores = np.array([run.final[f"A_pos{i}_pos1"] for i in (1, 2, 3, 4)])
    weights = np.exp(scores) / np.exp(scores).sum()
    measured = net.flow_run(end)[1][-1].paths()
    gap = float(np.abs(run.end_state - measured).max())
    print(f"attention of place 1: {weights.round(3)}; loss {run.final['loss']:.2e}, network within {gap:.1e}")
    return {"pair": float(weights[0] + weights[1]), "order": flow.symmetries().order, "network": gap}


def picture():
    """Attention of the first place: its own pair wins."""
    net = derive().network(seed=0, scales={"v": 0.1, "A": 0.1})

    def share(i):
        return lambda x: np.exp(x[f"A_pos{i}_pos1"]) / sum(np.exp(x[f"A_pos{j}_pos1"]) for j in (1, 2, 3, 4))

    return theory_on_network(net, 100.0, {f"attention to place {i}": share(i) for i in (1, 2, 3, 4)})


if __name__ == "__main__":
    main()
