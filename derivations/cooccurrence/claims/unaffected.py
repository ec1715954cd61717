"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it."""

from __future__ import annotations

#: mutations, claims, and why these keep their verdict under those
REASONS: tuple[tuple[str, str, str], ...] = (
    (
        "scale unscaled",
        "4.1 E.4 E.4-use E.4-proof E.6 4.2 E.16",
        "at the infinite-width start all scores are zero, so the rates of G there do not know what they are multiplied by",
    ),
    ("G", "4.2 E.16", "labels cancel on the common word: the rate is zero at the start, and twice zero is zero"),
    ("beta wide", "Beyond.rigid", "a multiple of zero is zero, and the second part does not read these equations"),
    (
        "labels",
        "F.6-proof/c",
        "a label is a factor of the force and of the margin: only its square counts in the quadratic",
    ),
    (
        "labels",
        "F.16-signs",
        "A_21 has no force from I2, and with the other label the term of I2 in A_31 is negative as well",
    ),
    ("weight", "F.16-signs", "no sample of I4 has a target word, so none enters the scores with one as query"),
    (
        "scale G",
        "F.16-signs",
        "positive factors of scores or of the speed of G leave the signs, which are proved again",
    ),
    (
        "weight",
        "Beyond.finite_n-run Beyond.scores-log",
        "I4 is not at the margin: constants of late times, and what is corrected, do not depend on how much it counts",
    ),
    (
        "weight",
        "E.19-proof/d",
        "mu1 rises at the start whether I4 counts once or twice, and with it the outputs of I2 over those of I4",
    ),
    ("weight", "E.24", "that the first display falls with n and the rate does not is so however much I4 counts"),
)
