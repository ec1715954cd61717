"""What a user can set: names, defaults, meanings, ranges. `odesys list` loads this, so nothing heavy is imported."""

from __future__ import annotations

from odesys import Parameter

DISJOINT, RANDOM, EVERYWHERE = 0, 1, 2

PARAMETERS = (
    Parameter("n", 10, "training samples, classes balanced", int, low=1, high=10**6, words=("symbol",)),
    Parameter("s", 40, "sparsity: coordinates of a noise patch", int, low=1, high=10**8),
    Parameter("d", 1001, "dimension of the patches", int, low=2, high=10**12),
    Parameter("m_k", 24, "neurons of queries and keys", int, low=1, high=10**6, words=("symbol",)),
    Parameter("m_v", 10, "neurons of the values, for each of the two classes", int, low=1, high=10**6),
    Parameter("sigma_p", 0.0, "standard deviation of noise coordinates; 0 stands for 2 / sqrt(s)", float, low=0),
    Parameter(
        "sigma_0", 0.0, "standard deviation of the weights at the start; 0 stands for 0.1 / sqrt(d)", float, low=0
    ),
    Parameter("mu", 1.0, "length of the signal", float, low=0, open_low=True),
    Parameter(
        "supports", DISJOINT, "0 disjoint, 1 at random away from the signal, 2 at random everywhere", int, low=0, high=2
    ),
    Parameter("eta", 1e-4, "step size of sign descent and Adam", float, low=0, open_low=True),
    Parameter("eta_gd", 0.1, "step size of gradient descent", float, low=0, open_low=True),
    Parameter("beta1", 0.9, "decay of Adam's mean of gradients", float, low=0, high=0.999999),
    Parameter("beta2", 0.999, "decay of Adam's mean of squares", float, low=0, high=0.999999),
    Parameter("eps", 1e-15, "what Adam adds to the root of the mean of squares", float, low=0),
    Parameter("steps", 1800, "number of steps", int, low=1, high=10**9),
    Parameter("tests", 500, "fresh samples for the test loss", int, low=2, high=10**7),
    Parameter("seed", 0, "of data and start", int, low=0),
    Parameter(
        "written",
        2,
        "samples and neurons that derive writes out; equations have one form for all numbers",
        int,
        low=1,
        high=3,
    ),
)
