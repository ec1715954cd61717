"""A chain of three trained maps does not close: the error shows the path that escapes, and what would work."""

from fractions import Fraction

from odesys import AttentionModel, ClosureError, Dictionary, Distribution, FixedVector, Sample, Value, gradient_flow


def main() -> ClosureError:
    data = Distribution(
        [
            Sample(["x", "y"], label=+1, weight=Fraction(1, 2)),
            Sample(["x", "z"], label=-1, weight=Fraction(1, 2)),
        ]
    )
    model = AttentionModel(Dictionary(["x", "y", "z"]), value=Value(("U", "W", "V"), output=FixedVector("a")))
    try:
        gradient_flow(model, data, train=("U", "W", "V"))
    except ClosureError as error:
        print(error)
        print("first path that escapes:", error.path)
        closed = gradient_flow(model, data, train=("W", "V"))
        print(f"with U frozen it closes with {closed.system.dimension} states")
        return error
    raise AssertionError("three trained maps should not close")


if __name__ == "__main__":
    main()
