"""A value map with a frozen output vector: f = a^T W_V X softmax(...), with W_V, W_K, W_Q trained."""

from fractions import Fraction

from odesys import (
    AttentionModel,
    Dictionary,
    Distribution,
    FixedVector,
    Sample,
    Value,
    gradient_descent,
    gradient_flow,
    integrate,
)


def main() -> dict[str, float]:
    data = Distribution(
        [
            Sample(["signal", "noise"], label=+1, weight=Fraction(1, 2)),
            Sample(["-signal", "other"], label=-1, weight=Fraction(1, 2)),
        ]
    )
    words = Dictionary(["signal", "noise", "other"])
    model = AttentionModel(words, value=Value(("W_V",), output=FixedVector("a", square=2)), pooling="mean")
    flow = gradient_flow(model, data, train=("W_V", "W_K", "W_Q"))
    name = flow.system.names[0]
    print(f"flow: {flow.system.dimension} states, e.g. {name} = {flow.system.tex[name]}")
    run = integrate(flow.system, flow.initial_state(omega=0.5), (0.0, 20.0))
    step = gradient_descent(model, data, train=("W_V", "W_K", "W_Q"))
    print(f"loss after t = 20: {run.final['loss']:.6f}")
    print(f"the exact gradient step is a {step.system.kind} with parameters {', '.join(step.system.parameters)}")
    return {"states": flow.system.dimension, "loss": run.final["loss"]}


if __name__ == "__main__":
    main()
