"""Of claims that are measured along the path: what was tried towards a proof, tolerances with reasons, what must shrink."""

from __future__ import annotations

from typing import Any

THETA_C = 0.25  # the small constant of stage IV
SMALLEST_THETA_C = 0.2  # at which E.36 is judged: on the path T_4^+/T_4^- is about 1.1

TRIED = {  # by the file of a claim: what is proved towards it, and what is missing
    "part_e_i_ii": (
        "the saddle of one pair is solved exactly and its one-step signs are certified (E.1, E.3, Beyond.saddle); a bound "
        "for all pairs at once would need the smallest of 2 m_k n starts against m_v^(-1/2), where C.10 and C.11 fail as "
        "printed"
    ),
    "part_e_iii": (
        "bounded moves give the sizes (E.7, E.12, E.13) and the worst weights of a vote are known (E.11-weights); that all "
        "weights g_i a_i w_i stay within 1/n of each other on [T_2, T_3^+] follows only from the sizes of all pairs, which "
        "are measured (E.4)"
    ),
    "part_e_iv_a": (
        "one step of the induction is certified (E.16-19) and Eq. (32) follows from A(t) and F(t); the induction also asks "
        "for votes with weights that are equal up to o(1), which is not enough (E.11-weights), and T_4^- is the first of 2 "
        "m_k n exits, for which no enclosure was found that does not follow all pairs"
    ),
    "part_e_iv_b_c": (
        "one-step implications are certified (E.31-38) and bounds given the state at T_4^- (E.29, E.39); between T_4^- and "
        "T_4^+ terms of both signs are of one size, and the implications do not say which pair turns first"
    ),
    "part_e_votes": (
        "exact binomials give the law of a vote (E.6), and Hoeffding the rest for independent neurons; that a pair ends "
        "Stage II with its vote for every neuron is measured (E.2, E.11)"
    ),
    "part_3_main": (
        "lengths of moves decide the values and the test loss (Thm.3.2(2), Thm.3.2(3)), the cone shows that the end is for "
        "ever (Beyond.cone); training loss and attention need the final signs of all pairs (E.40), which are measured"
    ),
}
TRIED_FOR = {  # by claim, where more is known than the file says
    "E.26": "that t* = T_4^- follows from E.25 by algebra; sizes of signals follow from E.23-24, which are measured",
    "App.E.1-times-IV": "T_4^- < T_4 follows from E.25 and T_4^+ < T_4 from E.36 and E.25 by algebra; both are measured",
    "E.41": "the test loss is proved in Thm.3.2(2) for every state whose moves have these lengths; the training loss needs "
    "softmax weights on the noise, that is the final signs of all pairs (E.40), which are measured",
    "E.42": "a logit is a sum over neurons of products whose sizes are known; its sign needs the final signs of all pairs "
    "(E.40) and the share of aligned neurons (E.27), which are measured",
    "Thm.3.2(4)": "as E.42: the sign of the logit needs the final signs of all pairs (E.40), which are measured",
}

PRINTED = ("none", "the printed bounds, or signs, themselves; a time is known to a step of the integrator, 2 percent")
LEVEL = "o(1): more than the o(1) of the path, sigma_0 sigma_p s m_k^1/2, which is (log d)^(-5/4), at most 0.004"
SMALL = LEVEL + "; its median at the last size also has to be below that at the first"
ATTENDS = (
    0.5,
    "-log s_11 over log^2(sigma_p s), to leading order (2/pi)^1/2 = 0.8, and -log s_21 over sigma_p s log^2(sigma_p s), 2/pi = 0.64",
)
EARLIER = ("runs at other sizes",)
THETA = (THETA_C, "theta_c, a small constant of the paper; smaller ones need a larger power of n in d", EARLIER)
TILDE = ("s^(-1/2) log d", "what a tilde hides, with the first power of log d")
TWO_STEPS = (0.05, "two steps of the integrator and the next order")
TOLERANCES: dict[str, tuple[Any, ...]] = {  # with reasons
    **dict.fromkeys(("IV.a-A", "IV.b"), TILDE),
    **{id: (0.05, SMALL) for id in ("E.20", "E.26", "E.28")},
    "4.5": (0.01, SMALL),
    **{id: (0.01, LEVEL) for id in ("Eq.37", "Thm.3.2-order")},
    **dict.fromkeys(("E.42", "Thm.3.2(4)", "Thm.3.2"), ATTENDS),
    "Beyond.stage-three": (
        "1/3 and 4/3 for signals, 1e-9 for sums",
        "E.12 has 1/2 and 4/3, and T_3 is known to 2 percent; rounding of sums of n numbers of the size t eta sigma_p s",
    ),
    "E.27": ("Hoeffding", "the constant of its proof, delta = 1/10"),
    "E.36": (SMALLEST_THETA_C, "theta_c, for which d ~ n^10 is a large enough power of n, see the hypotheses"),
    **dict.fromkeys(("4.6", "4.7", "IV.c", "E.40"), THETA),
    **dict.fromkeys(("Beyond.1-2-4", "Beyond.flip-time"), TWO_STEPS),
}
VANISHES: dict[str, str] = {  # which number of a check is printed as o(1): it has to fall along the path
    "E.20: ratio": "largest over smallest, minus 1",
    "E.20: (33)": "over (33), minus 1",
    **dict.fromkeys(("E.26: (40)", "E.26: (41)"), "signal over its law, minus 1"),
    "E.28: signals": "signals over their law, minus 1",
    **dict.fromkeys(("IV.b: G(t)", "IV.c: G(t)"), "query signal over its law, minus 1"),
    "4.5: (2)": "s11 - 1/2",
    "4.5: (1) at T_4^-": "s21",
}
