r"""LoRA (Hu et al., 2022): a frozen map W0 and a trained product B A of rank one.

f(x) = (W0 + B A) x. Whatever the start, the update keeps its rank, so the loss can not fall below what the best update
of rank one leaves: with singular values 2 and 1 of the needed change, 1/2 for the sample of the smaller mode.
(Rounding leaves the surface of rank one like e^t, so the run is short.)
"""

import numpy as np

from odesys import Data, Space, Units, Words, gradient_flow, integrate, maps, new_figure, squared, theory_on_network

words, outputs, rank = Words("x1 x2"), Units("y", 2), Space("r")
W0, B, A = maps("W0", outputs, words), maps("B", outputs, rank), maps("A", rank, words)


def derive():
    data = Data(words, [("x1", [2, 0]), ("x2", [0, 1])])
    return gradient_flow(lambda X: (W0 + B @ A) @ X[0], data, squared, train="A B")


def main() -> dict[str, float]:
    flow = derive()
    net = flow.network(width=1, seed=0, scales={"A": 0.1, "B": 0.1})
    theory = integrate(flow.system, net.paths(), (0.0, 12.0))
    measured = net.flow_run(12.0)[1][-1]
    update = np.array([[theory.final[name] for name in row] for row in flow.matrices["BA"]])
    wide = integrate(flow.system, flow.network(width=2, seed=0, scales={"A": 0.1, "B": 0.1}).paths(), (0.0, 40.0))
    result = {
        "floor": abs(theory.final["loss"] - 0.25),  # 1/2 times 1^2, on half of the data
        "second singular value": float(np.linalg.svd(update)[1][1]),
        "network": float(np.abs(theory.end_state - measured.paths()).max()),
        "rank two": wide.final["loss"],
    }
    print(
        f"loss {theory.final['loss']:.6f} (best rank one: 0.25), with rank two {wide.final['loss']:.1e}; "
        f"second singular value {result['second singular value']:.1e}, network within {result['network']:.1e}"
    )
    return result


def picture():
    """An update of rank one stops at the loss 1/4, one of rank two does not."""
    figure, panels = new_figure(1, 2, size=(9, 3.5), sharey=True)
    for rank_, ax in zip((1, 2), panels, strict=True):
        net = derive().network(width=rank_, seed=0, scales={"A": 0.1, "B": 0.1})
        theory_on_network(net, 15.0, {f"loss, rank {rank_}": "loss"}, ax=ax)
    return figure


if __name__ == "__main__":
    main()
