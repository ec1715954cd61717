"""A model of your own: one linear head over five words with unequal weights, from data to trajectory to network."""

from fractions import Fraction

import numpy as np

from odesys import (
    AttentionModel,
    Dictionary,
    Distribution,
    Head,
    Sample,
    gradient_flow,
    integrate,
    simulate_network,
)


def main() -> dict[str, float]:
    words = Dictionary(["topic", "good", "bad", "the", "of"])
    data = Distribution(
        [
            Sample(["topic", "good", "the"], label=+1, weight=Fraction(3, 10)),
            Sample(["topic", "good", "of"], label=+1, weight=Fraction(1, 5)),
            Sample(["topic", "bad", "the"], label=-1, weight=Fraction(3, 10)),
            Sample(["topic", "bad", "of"], label=-1, weight=Fraction(1, 5)),
        ]
    )
    model = AttentionModel(words, heads=[Head()])
    flow = gradient_flow(model, data, train=("w", "W_K", "W_Q"))
    print(f"closed system: {flow.system.dimension} states")

    group = flow.symmetries()
    quotient = flow.quotient()
    print(f"symmetry group of order {group.order}: {'; '.join(group.describe(flow))}")
    print(f"quotient: {quotient.system.dimension} states")

    run = integrate(quotient.system, quotient.initial_state(omega=0.3), (0.0, 40.0))
    score = quotient.variable("KQ_good_topic")[0]
    print(f"loss {run.final['loss']:.4f}, score of 'good' for 'topic' {run.final[score]:.4f}")

    # the same flow in the weights of a finite network, from the network's own start: no infinite width anywhere
    net = flow.network(width=30, omega=0.3, seed=0)
    exact = integrate(flow.system, net.paths(), (0.0, 40.0), rtol=1e-10)
    gap = float(np.abs(exact.end_state - simulate_network(net, 40.0).end_state).max())
    print(f"closed system against the network of width 30 (seed 0): largest difference {gap:.1e}")
    return {
        "states": flow.system.dimension,
        "order": group.order,
        "quotient": quotient.system.dimension,
        "loss": run.final["loss"],
        "gap": gap,
    }


if __name__ == "__main__":
    main()
