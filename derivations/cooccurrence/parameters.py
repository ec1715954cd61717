"""What a user can set: names, defaults, meanings, ranges. `odesys list` loads this, so nothing heavy is imported."""

from __future__ import annotations

from odesys import Parameter

PARAMETERS = (
    Parameter("n", 60, "training samples, a multiple of 6", int, low=6, high=600),
    Parameter("L", 5, "tokens per sample", int, low=4, high=1000),
    Parameter("m", 2048, "width of keys, queries and values", int, low=1, high=10**8),
    Parameter("m1", 32, "neurons of the linear layer", int, low=1, high=10**8),
    Parameter("c0", 0.1, "start scale: sigma_0 = c0 / sqrt(L m), sigma_1 = 1 / sqrt(m1)", float, low=0, open_low=True),
    Parameter("C_T1", 40.0, "end of phase 1 in units of 1 / (sigma_1^2 m m1)", float, low=0, high=1e12, open_low=True),
    Parameter("tau_end", 1000.0, "end of the run in the same units", float, low=0, high=1e12, open_low=True),
    Parameter("seed", 5, "seed of the network, for the protocol network", int, low=0),
)
