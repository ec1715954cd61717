"""From nothing to verdicts: two kinds of samples, the closed system, and three claims under the verdict rule."""

from fractions import Fraction

from odesys import (
    AttentionModel,
    BaseLaboratory,
    ClaimBook,
    Dictionary,
    Distribution,
    Head,
    Hypothesis,
    Sample,
    Symbol,
    gradient_flow,
    graph,
    identity,
    integrate,
    laboratory_part,
    measure,
    natural_domain,
    natural_points,
)

WORDS = ("good", "bad", "the")
good, bad = Sample(["good", "the"], +1, Fraction(1, 2)), Sample(["bad", "the"], -1, Fraction(1, 2))


class Laboratory(BaseLaboratory):  # hands the flow to the checks, and notes that they read it
    @laboratory_part
    def flow(self):
        model = AttentionModel(Dictionary(WORDS), heads=[Head()])
        return gradient_flow(model, Distribution([good, bad]), train=("w", "W_K", "W_Q"))


symbols = [Symbol("omega", r"\omega", "initial scale", "positive")]
natural = natural_domain(Laboratory().flow)  # scores and self-scores are inner products
book = ClaimBook("own", Laboratory, rule=True, symbols=symbols, natural=natural)
large = Hypothesis("start is not small", r"\omega \ge 1/2", lambda p: p["omega"] - 0.5)


@book.claim("1", "Keys and queries stay balanced", kind="identity", where="Lemma 1", parts=["the law"], hypotheses=[],
            statement=r"\mathrm{tr}\,W_K^\top W_K - \mathrm{tr}\,W_Q^\top W_Q = \text{const}",
            reading="traces over the pinned words, at every width")  # fmt: skip
def balanced(lab):
    rhs = lab.flow().system.equations
    return identity({"derivative": graph.add([rhs[f"KK_{w}_{w}"] - rhs[f"QQ_{w}_{w}"] for w in WORDS])})


@book.claim("2", "The common word learns nothing", kind="identity", where="Lemma 2", parts=["the rate"], hypotheses=[],
            statement=r"\frac{d}{dt}\,w^\top \mathrm{the} = 0", reading="for all weights", expect="fails")  # fmt: skip
def common_word(lab):
    name, sign = lab.flow().quotient().variable("w_the")  # sign 0: it vanishes on symmetric states
    corrected = r"w^\top \mathrm{the} = 0 \text{ from a symmetric start}"
    reason = "exchanging good and bad with the label flipped maps it to minus itself"
    verdict = identity({"the rate": lab.flow().system.equations["w_the"]}, points=natural_points(lab.flow()))
    return verdict.correcting(corrected, identity({"w the": sign * graph.sym(name)}), reason).blaming("false", "start")


@book.claim("3", "Training succeeds", kind="inequality", where="Theorem 3", parts=["the loss"], hypotheses=[large],
            statement=r"\mathcal{L}(40) < \tfrac{1}{50}", reading="at t = 40, infinite width", main=True)  # fmt: skip
def trained(lab):
    starts = lab.draw.points("starts", [{"omega": 0.5}, {"omega": 0.8}], {"omega": (0.5, 1.0)}, [large])
    run = lambda p: integrate(lab.flow().system, lab.flow().initial_state(p["omega"]), (0.0, 40.0))  # noqa: E731
    return measure("the loss", starts, lambda p: run(p).final["loss"]).between(0, 0.02, "the printed bound")


def main():
    for done in (outcomes := [book.run(claim) for claim in book]):
        print(f"{done.claim.id} {done.claim.title}: {done.verdict.as_stated} ({done.verdict.evidence})")
        if done.verdict.corrected is not None:
            print(f"    instead, by {done.verdict.corrected.evidence}: {done.verdict.corrected.statement}")
    return outcomes


if __name__ == "__main__":
    main()
