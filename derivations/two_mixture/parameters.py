"""What a user can set: names, defaults, meanings, ranges. `odesys list` loads this, so nothing heavy is imported."""

from __future__ import annotations

from odesys import Parameter

PARAMETERS = (
    Parameter("K", 2, "number of mixtures (groups)", int, low=2, high=10**6, words=("symbol", "infinity")),
    Parameter("L", 3, "tokens per sample", int, low=3, high=24),
    Parameter("omega", 0.1, "initial scale of keys and queries", float, low=0, open_low=True),
    Parameter("b", 0.5, "bias of both heads", float, low=0, open_low=True),
    Parameter("T1", 20.0, "end of stage 1", float, low=0, high=1e12, open_low=True),
    Parameter("x_star", 1.0, "stage 2 ends when the score of c1 for v1 reaches this", float, low=0, open_low=True),
    Parameter("eps", 0.01, "stage 3 ends when the population loss reaches this", float, low=0, open_low=True),
    Parameter("t_end", 2000.0, "last time of any run", float, low=0, high=1e12, open_low=True),
)
