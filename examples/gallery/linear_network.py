r"""Two-layer linear networks learn one mode after the other (Saxe, McClelland and Ganguli, 2014).

f(x) = W2 W1 x. From a balanced start every mode follows a' = 2 p a (s - a), with s its strength and p the weight of its
sample, so a(t) = s / (1 + (s/a0 - 1) exp(-2 p s t)): strong modes first, each with a sigmoid of its own.
"""

import numpy as np

from odesys import (
    Data,
    Space,
    Units,
    Words,
    gradient_flow,
    graph,
    identity,
    integrate,
    maps,
    squared,
    sym,
    theory_on_network,
)

STRENGTHS, START = (3, 2, 1), 0.001
words, outputs, hidden = Words("x1 x2 x3"), Units("y", 3), Space("h")
W1, W2 = maps("W1", hidden, words), maps("W2", outputs, hidden)


def flow():
    targets = [[s * (i == j) for j in range(3)] for i, s in enumerate(STRENGTHS)]
    return gradient_flow(
        lambda X: W2 @ W1 @ X[0], Data(words, list(zip(["x1", "x2", "x3"], targets, strict=True))), squared
    )


def main() -> dict[str, float]:
    made = flow()
    # proof: at balanced diagonal matrices the equations are those of the modes
    place: dict = {}
    for table in made.matrices.values():
        place |= {sym(table[i, j]): sym(f"a{i}") if i == j else graph.num(0) for i in range(3) for j in range(3)}
    rates = dict(zip(made.system.names, graph.substitute(made.system.nodes, place), strict=True))
    modes = [sym(f"a{i}") for i in range(3)]
    law = identity(
        {
            table[i, j]: rates[table[i, j]] - (modes[i] * (s - modes[i]) * graph.num(2) / 3 if i == j else 0)
            for table in made.matrices.values()
            for i, s in enumerate(STRENGTHS)
            for j in range(3)
        }
    )
    # the closed form lies on the run
    start = np.eye(3) * START
    run = integrate(made.system, made.initial_state(values=dict.fromkeys(made.matrices, start)), (0.0, 20.0))
    times = np.linspace(0.0, 20.0, 41)
    known = [s / (1 + (s / START - 1) * np.exp(-2 * s * times / 3)) for s in STRENGTHS]
    rows = [made.system.names.index(f"W2W1_y{i}_x{i}") for i in (1, 2, 3)]
    found = run.at(times)[:, rows].T
    # and a network of any width obeys the same equations
    net = made.network(width=20, seed=0, scales={"W1": 0.1, "W2": 0.1})
    theory = integrate(made.system, net.paths(), (0.0, 5.0)).end_state
    gap = float(np.abs(theory - net.flow_run(5.0)[1][-1].paths()).max())
    result = {"proof": law.evidence, "closed form": float(np.abs(np.array(found) - known).max()), "network": gap}
    print(
        f"modes a' = 2/3 a (s - a): {law.as_stated} ({law.evidence}); closed form within {result['closed form']:.1e}, "
        f"network within {gap:.1e}"
    )
    return result


def picture():
    """Three modes of a network with small weights, one sigmoid after the other."""
    net = flow().network(width=20, seed=0, scales={"W1": 0.02, "W2": 0.02})
    return theory_on_network(net, 12.0, {f"mode {i}": f"W2W1_y{i}_x{i}" for i in (1, 2, 3)})


if __name__ == "__main__":
    main()
