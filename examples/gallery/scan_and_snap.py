r"""Scan and Snap (Tian, Wang, Chen and Du, 2023): which token wins the attention of a decoder.

Classes y1, y2, y3, each with a token d_k of its own; the token c is common to all. f(X) = Y X softmax(X^T Z q). The
query's score of distinct tokens grows and that of the common token falls, from the first moment on.
"""

import numpy as np

from odesys import Data, Units, Words, cross_entropy, gradient_flow, integrate, maps, softmax

words, classes = Words("q d1 d2 d3 c"), Units("y", 3)
Y, Z = maps("Y", classes, words), maps("Z", words, words)


def f(X):
    keys, query = X[:-1], X[-1]
    return Y @ keys @ softmax(keys.T @ Z @ query)


def main() -> dict[str, object]:
    data = Data(words, [((f"d{k}", "c", "q"), k - 1) for k in (1, 2, 3)])
    flow = gradient_flow(f, data, cross_entropy)
    quotient = flow.quotient()
    start = quotient.project(flow.initial_state(values={"Y": np.zeros((3, 5)), "Z": np.zeros((5, 5))}))
    run = integrate(quotient.system, start, (0.0, 300.0))
    times = np.linspace(0.0, 300.0, 301)
    distinct, common = (quotient.system.names.index(quotient.variable(z)[0]) for z in ("Z_d1_q", "Z_c_q"))
    gap = run.at(times)[:, distinct] - run.at(times)[:, common]
    net = flow.network(seed=0)
    full = integrate(flow.system, net.paths(), (0.0, 100.0)).end_state
    error = float(np.abs(full - net.flow_run(100.0)[1][-1].paths()).max())
    attention = 1 / (1 + np.exp(-gap[-1]))
    print(
        f"{flow.system.dimension} states -> {quotient.system.dimension}; attention to the distinct token {attention:.3f}, "
        f"growing: {bool((np.diff(gap) > 0).all())}; network within {error:.1e}"
    )
    return {
        "states": flow.system.dimension,
        "quotient": quotient.system.dimension,
        "growing": bool((np.diff(gap) > 0).all()),
        "attention": float(attention),
        "network": error,
    }


if __name__ == "__main__":
    main()
