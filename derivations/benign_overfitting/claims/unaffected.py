"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all. What is called computed is an identity in the tests of the book.
"""

from __future__ import annotations

#: mutations, claims, and why these keep their verdict under those
REASONS = (
    # data and output
    ("weight", "Def.3.1 Def.5.1 D.1", "the weight of a sample enters neither its tokens nor its output"),
    (
        "sign scale pool repeat weight",
        "Beyond.invariants",
        "for every output, loss and data dQ and dK contain the same product of force and scores, so the traces stay",
    ),
    (
        "sign",
        "Beyond.MF.stage2 Thm.4.1 Thm.4.2 Thm.4.1-4.2-hypotheses 5.4-time D.10 Eq.116-130",
        "in the variables -v the broken system is the paper's (computed): losses, margins, times and products of two values stay",
    ),
    (
        "sign scale pool repeat weight values noise",
        "F.12-norm",
        "a key keeps its length within 25 percent whatever drives the scores, and alpha its bound by the largest value",
    ),
    # scores that count or move otherwise, where attention is uniform or any attention will do
    (
        "scale flip keys start",
        "D.3 E.1",
        "weights of attention and -l' are at most 1 whatever the scores are, and the first steps have uniform attention",
    ),
    (
        "scale flip",
        "D.6 E.4 D.5 5.2 E.3",
        "stage 1 has uniform attention, whatever scores count and wherever they go next",
    ),
    (
        "keys start",
        "D.5 5.2 E.3",
        "lengths of keys act on the values through the scores alone, and stage 1 ends before these have grown",
    ),
    (
        "scale",
        "Beyond.MF.stage1 Beyond.MF.lazy Eq.28 Eq.147",
        "it reads the rates of the values at zero scores, where their scale cancels",
    ),
    (
        "scale repeat weight keys start pool values",
        "E.1-intro",
        "which value leads is decided in stage 1 at uniform attention by a balance of 0.06, far from 1; attention then moves towards it, faster or slower",
    ),
    (
        "scale pool repeat values",
        "E.6 Eq.177",
        "the value of the signal stays below r times that of the noise wherever the noise token has more attention, for any speed",
    ),
    (
        "scale repeat values",
        "Thm.4.1-4.2-hypotheses",
        "at N SNR^2 = 1 the noise wins by a factor 32 and at the corrected constants the signal by 270: factors of two do not matter",
    ),
    (
        "scale pool repeat",
        "Eq.83",
        "the exponent of the mobility at a given attention does not depend on constants of scores and rows",
    ),
    # factors of values and rows
    (
        "values",
        "Eq.38-N Eq.73-76 Eq.46-54 Eq.83",
        "values twice as fast are |w_O|^2 doubled (computed), which the statement leaves open",
    ),
    (
        "pool",
        "Eq.38-N Eq.62-71 Eq.55-59",
        "summed rows move values and scores three times as fast at the same output (computed): scores at a given small value stay",
    ),
    (
        "repeat",
        "Beyond.MF.stage3 Thm.4.1 Thm.4.2 D.7 5.4-time D.10 5.5 Eq.73-76 Prop.F-I Prop.N-Q",
        "with all attention on the signal, or none, it does not matter whether it stands in a sample once or twice",
    ),
    (
        "repeat",
        "Eq.38-N Eq.55-59",
        "a second copy of the signal changes the constant in front of e^Lambda, not its powers, and its logarithm by 2 percent at most",
    ),
    # noise that learns nothing
    (
        "noise",
        "D.6 5.4 Eq.73-76 Eq.38-N Eq.62-71 Eq.55-59 Eq.102-105 Eq.46-54 Thm.4.1 D.7 5.4-time D.10 5.5 Eq.83",
        "at r = 125 the noise values are below a hundredth of the signal's, and the statement is about the signal",
    ),
    ("noise", "Eq.116-130", "at r = 12 the scores of noise keys are a small part of the sum over pairs"),
    ("noise", "Eq.28", "it reads the rate of the signal's value alone"),
    # bounds and signs at a state, however it was reached
    ("keys values noise start", "F.3", "the bound is by the largest value at the same time, at every state"),
    (
        "keys values noise start",
        "F.4-signs",
        "signs and size follow from dominance at the same state, which none of these ends",
    ),
    (
        "start",
        "F.12",
        "the step is that of B.2 and B.3 at every state, and longer keys leave the off-diagonal terms as small",
    ),
    (
        "keys start",
        "5.1",
        "the corrected bound is about a step at every state, and noise of 23 other samples exceeds the printed one for keys of any length",
    ),
)
