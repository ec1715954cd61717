r"""Heavy ball against gradient flow (Polyak, 1964): with strong friction they agree up to 1 / friction^2.

W'' + gamma W' = F run for the time gamma T lies within C / gamma^2 of W' = F run for the time T, once the velocity has
settled; doubling gamma divides the gap by four.
"""

from itertools import pairwise

import numpy as np

from odesys import Data, Words, gradient_flow, heavy_ball, integrate, logistic, maps, softmax, theory_on_network

words = Words("good bad the")
w, Z = maps("w", 1, words), maps("Z", words, words)


def f(X):
    return (w @ X @ softmax(X.T @ Z @ X)).sum()


data = Data(words, [("good the", +1), ("bad the", -1)])


def main() -> dict[str, object]:
    plain, heavy = gradient_flow(f, data, logistic), heavy_ball(f, data, logistic)
    start = {"w": [[0.3, -0.2, 0.1]]}
    slow = integrate(plain.system, plain.initial_state(values=start), (0.0, 4.0))
    gaps = []
    for gamma in (20.0, 40.0, 80.0):
        x0 = heavy.initial_state(values=start)
        run = integrate(heavy.system, x0, (0.0, 4.0 * gamma), {"gamma": gamma})
        gaps.append(max(abs(run.final[name] - slow.final[name]) for name in plain.system.names))
    net = heavy.network(seed=0, parameters={"gamma": 2.0}, scales={"w": 1.0, "Z": 1.0})
    theory = integrate(heavy.system, net.paths(), (0.0, 10.0), {"gamma": 2.0}).end_state
    gap = float(np.abs(theory - net.flow_run(10.0)[1][-1].paths()).max())
    exponents = [float(np.log2(a / b)) for a, b in pairwise(gaps)]
    print(f"gaps {[f'{g:.2e}' for g in gaps]}: exponents {np.round(exponents, 3)} (known 2); network within {gap:.1e}")
    return {"states": heavy.system.dimension, "exponent": exponents[-1], "network": gap}


def picture():
    """With little friction the weights overshoot."""
    net = heavy_ball(f, data, logistic).network(seed=0, parameters={"gamma": 0.3}, scales={"w": 1.0, "Z": 1.0})
    return theory_on_network(net, 10.0, ["loss", "w_good", "w_bad", "Z_good_the"])


if __name__ == "__main__":
    main()
