"""What a user can set: names, defaults, meanings, ranges. `odesys list` loads this, so nothing heavy is imported."""

from __future__ import annotations

from odesys import Parameter

PARAMETERS = (
    Parameter("N", 8, "training samples", int, low=2, high=10**5, words=("symbol",)),
    Parameter("M", 3, "tokens per sample: one signal, M - 1 noise", int, low=2, high=10**4),
    Parameter("d", 6000, "dimension of the tokens", int, low=1, high=10**9),
    Parameter("d_h", 3000, "width of keys and queries", int, low=1, high=10**9),
    Parameter("mu", 30.0, "length of the signals", float, low=0, open_low=True),
    Parameter("noise", 20.0, "sigma_p^2 d, squared length of a weak noise token", float, low=0, open_low=True),
    Parameter("C_p", 4.0, "strength of the first noise token, sigma~_p = C_p sigma_p", float, low=0, open_low=True),
    Parameter("w2", 1.0, "squared length of the frozen output vector w_O", float, low=0, open_low=True),
    Parameter("kappa", 0.0, "sigma_h^2 d_h; 0 stands for 20 / max(mu^2, C_p^2 noise)", float, low=0),
    Parameter("V_0", 1.0, "sigma_V over 1/|w_O| min(1/mu, 1/sqrt(noise)) d_h^-1/4, its largest by (7)", float, low=0),
    Parameter("share", 0.5, "share of the class +: N_+ / N", float, low=0, high=1, open_low=True),
    Parameter("rate", 0.02, "step size times max(mu^2, C_p^2 noise)", float, low=0, open_low=True),
    Parameter("eps", 0.05, "training loss at which a run stops", float, low=0, open_low=True),
    Parameter("steps", 20_000, "largest number of steps", int, low=1, high=10**9),
    Parameter("tests", 2000, "fresh samples for the test loss", int, low=2, high=10**7),
    Parameter("seed", 0, "of data and start", int, low=0),
)
