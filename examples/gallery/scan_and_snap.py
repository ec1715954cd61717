r"""Scan and Snap (Tian, Wang, Chen and Du, 2023): which token wins the attention of a decoder with K classes.

Class y_k has a token d_k of its own; the token c is common to all. f(X) = Y X softmax(X^T Z q). The query's score of
the distinct token grows and that of the common token falls. The K groups (d_k, y_k) are alike, so the system is derived
with K a symbol and runs at K = 1000; that it is the system of K classes is proved for K = 3, 4, 5.
"""

import numpy as np

from odesys import (
    Data,
    Family,
    SampleTemplate,
    Units,
    Words,
    cross_entropy,
    family_flow,
    gradient_flow,
    integrate,
    maps,
    softmax,
    theory_on_network,
)


def program(words, classes):
    Y, Z = maps("Y", classes, words), maps("Z", words, words)
    return lambda X: Y @ X @ softmax(X.T @ Z @ words["q"])


def three_classes():
    words = Words("d1 d2 d3 q c")
    data = Data(words, [(f"d{k} c", k - 1) for k in (1, 2, 3)])
    return gradient_flow(program(words, Units("y", 3)), data, cross_entropy)


def main() -> dict[str, object]:
    family = Family(["d"], [SampleTemplate(["d", "c"], label="d")], shared=["q", "c"])
    flow = family_flow(family, lambda words: program(words, Units("y", words)), loss=cross_entropy)
    laws = [flow.bind(K=K).law() for K in (3, 4, 5)]
    run = integrate(flow, np.zeros(flow.system.dimension), (0.0, 3e5), {"K": 1000})
    gap = run.state("Z_d_q") - run.state("Z_c_q")
    # three classes with all their weights, and a network from a random start
    three = three_classes()
    net = three.network(seed=0, scales={"Y": 0.1, "Z": 0.1})
    full = integrate(three, net.paths(), (0.0, 100.0)).end_state
    result = {
        "states": three.system.dimension,
        "family": flow.system.dimension,
        "proved": all(law.as_stated == "holds" and str(law.evidence) == "proof" for law in laws),
        "growing": bool((np.diff(gap) > -1e-12).all()),
        "attention": float(1 / (1 + np.exp(-gap[-1]))),
        "loss": run.final["loss"],
        "network": float(np.abs(full - net.flow_run(100.0)[1][-1].paths()).max()),
    }
    print(
        f"{result['states']} states of three classes -> {result['family']} for every K; at K = 1000 attention to the "
        f"distinct token is {result['attention']:.3f}, loss {np.log(1000):.2f} -> {result['loss']:.3f}; network within "
        f"{result['network']:.1e}"
    )
    return result


def picture():
    """Scores of the query: the distinct tokens rise, the common one falls."""
    net = three_classes().network(seed=0, scales={"Y": 0.1, "Z": 0.1})
    return theory_on_network(net, 100.0, ["loss", *(f"Z_{token}_q" for token in ("d1", "d2", "d3", "c"))])


if __name__ == "__main__":
    main()
