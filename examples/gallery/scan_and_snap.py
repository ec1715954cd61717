r"""Scan and Snap (Tian, Wang, Chen and Du, 2023): which token wins the attention of a decoder with K classes.

Class y_k has a token d_k of its own; the token c is common to all. f(X) = Y X softmax(X^T Z q). The query's score of
the distinct token grows and that of the common token falls. By symmetry seven variables remain for every K; with K left
open they are one system, which runs at K = 1000.
"""

import numpy as np

from odesys import Data, System, Units, Words, cross_entropy, gradient_flow, integrate, interpolate_count, maps, softmax


def decoder(K: int):
    words, classes = Words(["q", *(f"d{k + 1}" for k in range(K)), "c"]), Units("y", K)
    Y, Z = maps("Y", classes, words), maps("Z", words, words)

    def f(X):
        keys, query = X[:-1], X[-1]
        return Y @ keys @ softmax(keys.T @ Z @ query)

    return gradient_flow(f, Data(words, [((f"d{k + 1}", "c", "q"), k) for k in range(K)]), cross_entropy)


def member(K: int) -> System:
    """The quotient of K classes with the loss as its only observable."""
    system = decoder(K).quotient().system
    return System.from_equations(system.equations, observables={"loss": system.observables["loss"]})


def main() -> dict[str, object]:
    flow = decoder(3)
    net = flow.network(seed=0, scales={"Y": 0.1, "Z": 0.1})
    full = integrate(flow.system, net.paths(), (0.0, 100.0)).end_state
    error = float(np.abs(full - net.flow_run(100.0)[1][-1].paths()).max())
    every = interpolate_count("K", {K: member(K) for K in (3, 4, 5, 6)})
    seven, known = (integrate(s, np.zeros(7), (0.0, 50.0), p) for s, p in ((every, {"K": 7}), (member(7), {})))
    run = integrate(every, np.zeros(7), (0.0, 3e5), {"K": 1000})
    gap = run.state("Z_d1_q") - run.state("Z_c_q")
    result = {
        "states": flow.system.dimension,
        "quotient": every.dimension,
        "growing": bool((np.diff(gap) > -1e-12).all()),
        "attention": float(1 / (1 + np.exp(-gap[-1]))),
        "seven": float(np.abs(seven.end_state - known.end_state).max()),
        "loss": run.final["loss"],
        "network": error,
    }
    print(
        f"{result['states']} states -> {every.dimension} for every K; at K = 1000 attention to the distinct token is "
        f"{result['attention']:.3f}, loss {np.log(1000):.2f} -> {result['loss']:.3f}; network within {error:.1e}"
    )
    return result


if __name__ == "__main__":
    main()
