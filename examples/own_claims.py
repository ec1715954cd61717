"""From nothing to verdicts: two kinds of samples, the closed system, and three claims about it with their evidence."""

from fractions import Fraction

from odesys import (
    AttentionModel,
    ClaimBook,
    Dictionary,
    Distribution,
    Head,
    Outcome,
    Sample,
    Verdict,
    gradient_flow,
    graph,
    identity,
    integrate,
    measured,
)

WORDS = ("good", "bad", "the")
good, bad = Sample(["good", "the"], +1, Fraction(1, 2)), Sample(["bad", "the"], -1, Fraction(1, 2))
flow = gradient_flow(
    AttentionModel(Dictionary(WORDS), heads=[Head()]), Distribution([good, bad]), train=("w", "W_K", "W_Q")
)

# a laboratory hands the system to the checks; here it is the flow itself
book = ClaimBook("own", laboratory=lambda: flow)


@book.claim(
    "1",
    "Keys and queries stay balanced",
    kind="identity",
    statement=r"\mathrm{tr}\,W_K^\top W_K - \mathrm{tr}\,W_Q^\top W_Q = \text{const}",
    reading="its derivative is zero, exactly, at every width",
)
def balanced(lab) -> Verdict:
    rhs = lab.system.equations
    return identity({"derivative": graph.add([rhs[f"KK_{w}_{w}"] - rhs[f"QQ_{w}_{w}"] for w in WORDS])})


@book.claim(
    "2",
    "The common word learns nothing",
    kind="identity",
    statement=r"\frac{d}{dt}\,w^\top \mathrm{the} = 0",
    reading="for all weights",
    expect="fails",
)
def common_word(lab) -> Verdict:
    verdict = identity({"derivative": lab.system.equations["w_the"]})
    name, sign = lab.quotient().variable("w_the")  # sign 0: it vanishes on symmetric states
    corrected = r"w^\top \mathrm{the} = 0 \text{ from a symmetric start}"
    reason = "exchanging good and bad with the label flipped maps it to minus itself"
    return verdict.correcting(corrected, identity({"variable": sign * graph.sym(name)}), reason)


@book.claim("3", "Training succeeds", kind="order", statement=r"\mathcal{L}(40) < 0.02", reading="at omega = 1/2")
def trained(lab) -> Verdict:
    run = integrate(lab.system, lab.initial_state(omega=0.5), (0.0, 40.0))
    return measured(run.final["loss"] < 0.02, loss=run.final["loss"])


def main() -> list[Outcome]:
    outcomes = [book.run(claim) for claim in book]
    for done in outcomes:
        print(f"{done.claim.id} {done.claim.title}: {done.verdict.as_stated} ({done.verdict.evidence})")
        if done.verdict.corrected is not None:
            print(f"    instead, by {done.verdict.corrected.evidence}: {done.verdict.corrected.statement}")
    return outcomes


if __name__ == "__main__":
    main()
