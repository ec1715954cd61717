"""The legend of printed systems, by the table of symbols; here because its letters have words as indices.

TeX writes the states out as products.
"""

from __future__ import annotations

from odesys import System, with_legend

WORDS = {
    "[GAVKQ]_.*": (
        "1, 2, 3",
        "the target words mu1, mu2 and the common word mu3; a name stands for all that are equal, G_1 for G_2",
    ),
    ".*_r.*": ("r1, ..., r4", "an irrelevant word of a sample of the class I1, ..., I4; r3 as r2"),
    ".*_(same|sample|class)": (
        "_same, _sample, _class",
        "two irrelevant words of one class: one word, two of one sample, two of two samples",
    ),
}
LETTERS = {
    "beta": ("beta", "|W' a|^2"),
    "G_.*": ("G_i", "a' W W_V mu_i, the sub-network"),
    "A_.*": ("A_ij", "mu_i' W_K' W_Q mu_j, the score of key i for query j"),
    "V_.*": ("V_ij", "mu_i' W_V' W_V mu_j"),
    "K_.*": ("K_ij", "mu_i' W_K' W_K mu_j"),
    "Q_.*": ("Q_ij", "mu_i' W_Q' W_Q mu_j"),
    "m": ("m", "the width of keys, queries and values", "m", r"\text{the width of keys, queries and values}"),
    "m1": ("m1", "the number of neurons", "m1", r"\text{the number of neurons}"),
}
SCALES = "B = sigma_1^2 m m1, k0 = sigma_0^2 m"
UNITS = {
    "eps2": (
        "eps2",
        f"m1 k0 / B with {SCALES}",
        "eps2",
        r"m_1 k_0 / B\ \text{with}\ B = \sigma_1^2 m m_1,\ k_0 = \sigma_0^2 m",
    ),
    "eps3": ("eps3", "1 / (k0 B)", "eps3", "1 / (k_0 B)"),
    "eps4": ("eps4", "k0 / (m B)", "eps4", "k_0 / (m B)"),
    "beta": ("units", "B of beta, k0 of V, K and Q, sqrt(m) of A"),
}
TIME = {"": ("t", "tau, B = sigma_1^2 m m1 times the time", "t", r"\tau = \sigma_1^2 m m_1 \times \text{time}")}
PLANAR = {
    "x": ("x", "G(mu1) = G(mu2), with G(mu) = a' W W_V mu", "x", r"G(\mu_1) = G(\mu_2),\ G(\mu) = a^\top W W_V \mu"),
    "z": ("z", "-G(mu3), of the common word", "z", r"-G(\mu_3)"),
}


def explained(system: System, name: str) -> System:
    """A system by its name with what its letters stand for."""
    made = with_legend(system, PLANAR if name == "planar" else LETTERS)
    made = with_legend(made, WORDS) if name != "planar" else made
    made = with_legend(made, UNITS) if name == "mean_field" else made
    return with_legend(made, TIME) if name in ("mean_field", "kernel", "planar") else made
