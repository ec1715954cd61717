"""What a user can set: names, defaults, meanings, ranges. `odesys list` loads this, so nothing heavy is imported."""

from __future__ import annotations

from odesys import Parameter

READOUTS = ("shared", "per_position")
FILLINGS = ("balanced", "random", "one")

PARAMETERS = (
    Parameter("M", 5, "patterns: two discriminative, M - 2 nuisance", int, low=3, high=64, words=("symbol",)),
    Parameter("alpha_s", 0.5, "alpha_*, fraction of label-relevant tokens", float, low=0, high=1, open_low=True),
    Parameter("alpha_c", 0.05, "alpha_#, fraction of confusion tokens", float, low=0, high=1),
    Parameter("L", 50, "tokens per sample", int, low=2, high=10**5),
    Parameter("N", 40, "training samples", int, low=2, high=10**6),
    Parameter("d", 10, "dimension of the tokens", int, low=3, high=10**5),
    Parameter("m_a", 10, "dimension of the values", int, low=3, high=10**5),
    Parameter("m_b", 10, "dimension of keys and queries", int, low=3, high=10**5),
    Parameter("m", 200, "hidden neurons", int, low=2, high=10**6),
    Parameter("sigma", 0.0, "error of the value features", float, low=0, high=1),
    Parameter("delta", 0.0, "error of the key and query features", float, low=0, high=1),
    Parameter("noise", 0.0, "standard deviation c_0 of the token noise, each coordinate", float, low=0),
    Parameter("tau", 0.0, "tokens beyond this distance from their pattern are drawn anew; 0 for none", float, low=0),
    Parameter("unit", 0, "1 rescales noisy tokens to unit length", int, low=0, high=1),
    Parameter(
        "overlap",
        0.0,
        "lambda, inner product of two patterns; kappa^2 = 2 - 2 lambda",
        float,
        low=0,
        high=0.99,
    ),
    Parameter("flips", 0.0, "fraction of training labels that are flipped", float, low=0, high=0.5),
    Parameter("xi", 0.0, "standard deviation of W_O at the start; 0 stands for 1/sqrt(m)", float, low=0),
    Parameter("eta", 0.1, "step size", float, low=0, open_low=True),
    Parameter("B", 0, "mini-batch size; 0 stands for all samples", int, low=0),
    Parameter("margin", 1.0, "Gamma of the hinge loss max(Gamma - y F, 0)", float, low=0, high=1e6, open_low=True),
    Parameter("readout", "shared", "output weights: shared by all positions, or drawn for each", str, words=READOUTS),
    Parameter("filling", "balanced", "how nuisance tokens are split", str, words=FILLINGS),
    Parameter("jitter", 0.0, "standard deviation of the fraction of label-relevant tokens", float, low=0, high=0.5),
    Parameter("frozen", 0, "1 freezes W_K and W_Q", int, low=0, high=1),
    Parameter("gates", "auto", "gates of the symmetric system", str, words=("auto", "fixed", "paper")),
    Parameter("neurons", 2, "hidden neurons of the systems that are written out", int, low=2, high=8),
    Parameter("steps", 3000, "largest number of steps", int, low=1, high=10**9),
    Parameter("tests", 400, "fresh samples for the test loss", int, low=2, high=10**6),
    Parameter("seed", 0, "of data and start", int, low=0),
)
