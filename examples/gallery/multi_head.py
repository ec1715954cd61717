r"""Two attention heads with their own W_V and W_O into one layer of ReLU neurons.

f(X) = a relu(sum_h W_O^h W_V^h X softmax(X^T W_K^h' W_Q^h x_last)). Heads that start alike stay alike: exchanging them
is a symmetry that the program finds, and the quotient by it has half the head variables.
"""

import numpy as np

from odesys import (
    Data,
    Space,
    Units,
    Words,
    gradient_descent,
    gradient_flow,
    integrate,
    logistic,
    maps,
    relu,
    softmax,
    theory_on_network,
)

words, neurons, value, key = Words("good bad the"), Units("n", 2), Space("v"), Space("m")


def head(name: str):
    W_O, W_V = maps("W_O", neurons, value, of=name), maps("W_V", value, words, of=name)
    W_K, W_Q = maps("W_K W_Q", key, words, of=name)
    return lambda X: W_O @ W_V @ X @ softmax(X.T @ W_K.T @ W_Q @ X[-1])


one, two = head("h1"), head("h2")


def derive(rule=gradient_flow):
    data = Data(words, [("good the", +1), ("bad the", -1)])
    return rule(lambda X: [[1, -1]] @ relu(one(X) + two(X)), data, logistic)


def main() -> dict[str, object]:
    flow = derive()
    net = flow.network(width=8, seed=0, omega=0.5, scales=dict.fromkeys(("W_O.h1", "W_V.h1", "W_O.h2", "W_V.h2"), 0.3))
    run = integrate(flow.system, net.paths(), (0.0, 20.0))
    gap = float(np.abs(run.end_state - net.flow_run(20.0)[1][-1].paths()).max())
    swap = [g for g in flow.symmetries().generators if "h1" in g.describe(flow)]
    quotient = flow.quotient()
    print(
        f"{flow.system.dimension} states, group of order {flow.symmetries().order} -> {quotient.system.dimension}; "
        f"heads exchanged by {len(swap)} generator(s); loss {run.final['loss']:.4f}, network within {gap:.1e}"
    )
    return {"states": flow.system.dimension, "quotient": quotient.system.dimension, "swap": len(swap), "network": gap}


def picture():
    """Scores of the two heads, which start apart, along gradient descent."""
    net = derive(gradient_descent).network(width=8, seed=2, omega=0.5, scales={"W_O": 0.5, "W_V": 0.5})
    return theory_on_network(net, 300, ["loss", "KQ_h1_good_the", "KQ_h1_bad_the", "KQ_h2_good_the"], step=0.1)


if __name__ == "__main__":
    main()
