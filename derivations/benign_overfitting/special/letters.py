"""The legend of printed systems, by the table of symbols; here because its letters have types of tokens as indices."""

from __future__ import annotations

from odesys import System, with_legend

LENGTHS = {
    "m_s": ("m_s", "|mu|^2, squared length of a signal", "m_s", r"\|\mu\|_2^2"),
    "m_2": (
        "m_2",
        "sigma~_p^2 d = C_p^2 sigma_p^2 d, squared length of the first noise token",
        "m_2",
        r"\tilde\sigma_p^2d",
    ),
    "m_w": ("m_w", "sigma_p^2 d, squared length of a weak noise token", "m_w", r"\sigma_p^2d"),
    "w2": ("w2", "|w_O|^2, squared length of the frozen output vector", "w2", r"\|w_O\|_2^2"),
    "kappa": ("kappa", "sigma_h^2 d_h: queries and keys start at kappa times the length", r"\kappa", r"\sigma_h^2 d_h"),
    "p": ("p", "N_+ / N, the share of the class +", "p", "N_+ / N"),
}
TYPES = {
    "v_.*": (
        "s, 2, w",
        "types of tokens: signal, first noise token, weak noise token",
        r"s, 2, w",
        r"\text{types of tokens: signal, first noise token, weak noise token}",
    ),
    "v_[^_]*": (
        "v_a",
        "y x_a' W_V w_O, the value of a token x_a of type a times the label of its sample",
        "v_{a}",
        r"y\, x_a^\top W_V w_O",
    ),
    "v_._[pm]": (
        "v_a_p, v_a_m",
        "x_a' W_V w_O, the value of a token x_a of type a in a sample of the class +, of the class -",
        r"v_{a}^{\pm}",
        r"x_a^\top W_V w_O\ \text{in a sample of the class}\ \pm",
    ),
    "S_.*": (
        "S_ab",
        "x_a' W_Q W_K' x_b, the score of query type a for key type b of one sample",
        "S_{ab}",
        r"x_a^\top W_Q W_K^\top x_b",
    ),
    "Q_.*": ("Q_a", "|W_Q' x_a|^2", "Q_{a}", r"\|W_Q^\top x_a\|^2"),
    "K_.*": ("K_a", "|W_K' x_a|^2", "K_{a}", r"\|W_K^\top x_a\|^2"),
}
#: TeX writes these out as products
LISTED = {
    "wOV_.*": ("wOV_x", "x' W_V w_O, the value of the token x"),
    "KQ_.*": ("KQ_x_z", "the score of key x for query z, z' W_Q W_K' x"),
    "KK_.*": ("KK_x_z", "x' W_K W_K' z"),
    "QQ_.*": ("QQ_x_z", "x' W_Q W_Q' z"),
    "": ("mup, mum, xi1t2", "the signals mu_+ and mu_-, and the noise token 2 of sample 1"),
}
PAPER = {
    "gamma_V_p": ("gamma_V_p", "the change of V_+ = mu_+' W_V w_O over |w_O|^2"),
    "rho_V_.*": ("rho_V_ni", "the change of V_n,i = xi_n,i' W_V w_O over |w_O|^2"),
    "V_.*_0": ("V_p_0, V_ni_0", "these values at the start"),
    "qk_.*": ("qk_a_b", "q_a k_b', with q = x' W_Q and k = x' W_K for each token x"),
    "qq_.*": ("qq_a_b", "q_a q_b'"),
    "kk_.*": ("kk_a_b", "k_a k_b'"),
    "": ("p, m, ni, oi, xi", "mu_+, mu_-, noise token i of a sample n of class +, of another one, of one of class -"),
}


def explained(system: System, name: str) -> System:
    """A system by its name with what its letters stand for."""
    table = PAPER if name == "paper" else TYPES if name in ("mean_field", "frozen", "unbalanced") else LISTED
    return with_legend(with_legend(system, table), LENGTHS)
