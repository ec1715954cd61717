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
)
