"""The legend of printed systems, by the table of symbols; here because its letters have patterns as indices."""

from __future__ import annotations

from odesys import System, with_legend

SHARES = {
    "pi": (
        "pi",
        "the living neurons of each sign as a share of all m, at most 1/2 (a parameter, not 3.14...)",
        r"\pi",
        r"\text{the living neurons of each sign as a share of all}\ m\ \text{(not}\ 3.14\ldots\text{)}",
    ),
    "alpha_s": (
        "alpha_s",
        "alpha_*, the share of label-relevant tokens",
        r"\alpha_*",
        r"\text{the share of label-relevant tokens}",
    ),
    "alpha_c": (
        "alpha_c",
        "alpha_#, the share of confusion tokens",
        r"\alpha_\#",
        r"\text{the share of confusion tokens}",
    ),
    "beta": (
        "beta",
        "the share of the tokens of each nuisance pattern",
        r"\beta",
        r"\text{the share of the tokens of each nuisance pattern}",
    ),
    "lam": ("lam", "the inner product of two patterns", r"\lambda", r"\mu_i^\top \mu_j,\ i \ne j"),
    "Gamma": (
        "Gamma",
        "the margin of the loss max(Gamma - y F, 0)",
        r"\Gamma",
        r"\text{the margin of}\ \max(\Gamma - yF, 0)",
    ),
}
SYMMETRIC = {
    "[wpqrS]_.*": (
        "1, 2, n, k, l",
        "own and other discriminative pattern or feature, a nuisance one; k and l two nuisance patterns",
        "1, 2, n, k, l",
        r"\text{own and other discriminative one, a nuisance one;}\ k \ne l\ \text{nuisance patterns}",
    ),
    "w_.*": (
        "w_i",
        "sqrt(m) times the row of W_O of a living neuron with a > 0, along the value feature p_i",
        "w_{i}",
        r"\sqrt{m}\, (W_O)_{\cdot}\, p_i\ \text{of a living neuron with}\ a > 0",
    ),
    "p_.*": ("p_ji", "p_i' W_V mu_j, the value of pattern j along feature i", "p_{j,i}", r"p_i^\top W_V \mu_j"),
    "q_.*": ("q_ji", "q_i' W_K mu_j, the key of pattern j along feature i", "q_{j,i}", r"q_i^\top W_K \mu_j"),
    "r_.*": ("r_ji", "r_i' W_Q mu_j, the query of pattern j along feature i", "r_{j,i}", r"r_i^\top W_Q \mu_j"),
    "S_.*": (
        "S_ji",
        "mu_j' Z mu_i, the logit of key j for query i, with one matrix Z for W_K' W_Q",
        "S_{ji}",
        r"\mu_j^\top Z \mu_i",
    ),
}
#: TeX writes these out as products and entries
LISTED = {
    "OV_.*": ("OV_ni_muj", "w_i' W_V mu_j, with w_i the row of W_O of neuron i"),
    "KQ_.*": ("KQ_mui_muj", "mu_i' W_K' W_Q mu_j, the logit of key i for query j"),
    "KK_.*": ("KK_mui_muj", "mu_i' W_K' W_K mu_j"),
    "QQ_.*": ("QQ_mui_muj", "mu_i' W_Q' W_Q mu_j"),
    "VV_.*": ("VV_mui_muj", "mu_i' W_V' W_V mu_j"),
    "OO_.*": ("OO_ni_nj", "w_i' w_j"),
    "O_.*": ("O_ni_j", "entry j of w_i, the row of W_O of neuron i"),
    "V_.*": ("V_i_muj", "entry i of W_V mu_j"),
    "K_.*": ("K_i_muj", "entry i of W_K mu_j"),
    "Q_.*": ("Q_i_muj", "entry i of W_Q mu_j"),
}


def explained(system: System, name: str) -> System:
    """A system by its name with what its letters stand for."""
    listed = name in ("full", "descent", "coordinates")
    return with_legend(with_legend(system, LISTED if listed else SYMMETRIC), SHARES)
