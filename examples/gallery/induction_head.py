r"""An induction head made of associative memories (Bietti et al., 2023): a b ... a -> b.

Two attention layers; the map V1 between them is frozen at random. The first layer reads positions and writes the
previous token through V1, the second finds where the current token was written, and copies what stands there.
"""

from itertools import permutations

import numpy as np

from odesys import Data, Words, cross_entropy, gradient_flow, integrate, maps, softmax, theory_on_network

words = Words("a b c", positions=4)
A1, V1, A2, W2 = maps("A1 V1 A2 W2", words, words)


def f(X):
    P = X.positions
    H = X + V1 @ X @ softmax(P.T @ A1 @ P, mask=lambda key, query: key < query or query == 0)
    return words.all.T @ W2 @ X @ softmax(H.T @ A2 @ H[-1])


def derive():
    samples = [((x, y, z, x), words.words.index(y)) for x, y, z in permutations("abc")]
    samples += [((z, x, y, x), words.words.index(y)) for x, y, z in permutations("abc")]
    return gradient_flow(f, Data(words, samples), cross_entropy, train="A1 A2 W2")


def main() -> dict[str, object]:
    flow = derive()
    net = flow.network(seed=0, scales={"A1": 0.1, "A2": 0.1, "W2": 0.1, "V1": 1.0})
    early = integrate(flow.system, net.paths(), (0.0, 20.0)).end_state
    gap = float(np.abs(early - net.flow_run(20.0)[1][-1].paths()).max())
    run = integrate(flow.system, net.paths(), (0.0, 2000.0))
    print(f"{flow.system.dimension} states; loss {run.final['loss']:.3f} (guessing {np.log(3):.3f}), network {gap:.1e}")
    return {"states": flow.system.dimension, "loss": run.final["loss"], "network": gap}


def picture():
    """The third place learns to look at the second: the first layer finds the previous token."""
    net = derive().network(seed=0, scales={"A1": 0.1, "A2": 0.1, "W2": 0.1, "V1": 1.0})
    return theory_on_network(net, 100.0, ["loss", "A1_pos1_pos3", "A1_pos2_pos3", "A1_pos1_pos2"])


if __name__ == "__main__":
    main()
