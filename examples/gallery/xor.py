r"""A two-layer ReLU network learns XOR (Glasgow, 2024, among others), and stays balanced on the way.

f(x) = V relu(W x) on the four points (+-1, +-1) with label x1 x2. The flow conserves |W_r|^2 - V_r^2 for every neuron
(Du, Hu and Lee, 2018), kinks included.
"""

import numpy as np

from odesys import (
    Data,
    Units,
    Words,
    gradient_descent,
    gradient_flow,
    graph,
    identity,
    integrate,
    iterate,
    lie_derivative,
    logistic,
    maps,
    relu,
    sym,
    theory_on_network,
)

words, hidden = Words("x1 x2"), Units("r", 4)
W, V = maps("W", hidden, words), maps("V", 1, hidden)


def derive(rule):
    points = [(({"x1": a, "x2": b},), a * b) for a in (1, -1) for b in (1, -1)]
    return rule(lambda X: V @ relu(W @ X[0]), Data(words, points), logistic)


def main() -> dict[str, object]:
    made = derive(gradient_flow)
    balance = {}
    for r in range(hidden.size):
        own = graph.add([sym(n) ** 2 for n in made.matrices["W"][r]]) - sym(made.matrices["V"][0, r]) ** 2
        balance[f"neuron {r + 1}"] = lie_derivative(made.system, own)
    law = identity(balance)
    theory = integrate(made.system, made.network(seed=3, scales={"W": 0.5, "V": 0.5}).paths(), (0.0, 200.0))
    step = derive(gradient_descent)  # neurons slide along their kinks, so networks are compared step by step
    net = step.network(seed=3, scales={"W": 0.5, "V": 0.5})
    walk = iterate(step.system, net.paths(), 300, {"eta": 0.1})
    gap = float(np.abs(walk.end_state - net.descend(0.1, 300).paths()).max())
    margins = [theory.final[f"margin_{i}"] for i in range(1, 5)]
    print(
        f"|W_r|^2 - V_r^2 is conserved: {law.as_stated} ({law.evidence}); margins {np.round(margins, 2)}, "
        f"network within {gap:.1e}"
    )
    return {"law": law.as_stated, "evidence": law.evidence, "margin": min(margins), "network": gap}


def picture():
    """Margins of the four points along gradient descent."""
    net = derive(gradient_descent).network(seed=3, scales={"W": 0.5, "V": 0.5})
    return theory_on_network(net, 300, [f"margin_{i}" for i in (1, 2, 3, 4)], step=0.1)


if __name__ == "__main__":
    main()
