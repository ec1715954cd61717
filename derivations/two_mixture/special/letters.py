"""The legend of printed systems, by the table of symbols; here because its letters have groups as indices.

TeX writes the states out as products.
"""

from __future__ import annotations

from odesys import System, with_legend

LETTERS = {
    "n_.*": ("n_c, n_v", "w_+' c_k and w_+' v_k, neuron of the head + on group and classification signals"),
    "M_.*": ("M_ab", "a' W_K' W_Q b, the score of key a for query b in the head +"),
    "A_.*": ("A_ab", "a' W_K' W_K b"),
    "B_.*": ("B_ab", "a' W_Q' W_Q b"),
    "[MAB]_.*_same": ("_same", "a and b of one group"),
    "[MAB]_.*_other": ("_other", "a and b of two groups"),
    "[MAB]_.*_others": ("_others", "the sum over all groups of b other than that of a"),
    "w_[pm]_.*": ("w_p_x, w_m_x", "w_+' x and w_-' x for a word x"),
    "KQ_.*": ("KQ_p_x_z", "x' W_K' W_Q z in the head +, the score of key x for query z; m the head -"),
    "KK_.*": ("KK_p_x_z", "x' W_K' W_K z"),
    "QQ_.*": ("QQ_p_x_z", "x' W_Q' W_Q z"),
    "b": ("b", "the bias of both heads", "b", r"\text{the bias of both heads}"),
    "omega": ("omega", "the start scale of keys and queries", r"\omega", r"\text{the start scale of keys and queries}"),
}


def explained(system: System) -> System:
    """A system with what its letters stand for."""
    return with_legend(system, LETTERS)
