"""What the letters of systems stand for; here because the index of a sample or neuron is part of their names.

It is said for every index, or for the first ones of a system that is written out.
"""

from __future__ import annotations

import re
from dataclasses import replace

from odesys import System

LETTERS = {  # how the derived systems spell a letter with indices, and its TeX
    "v": ("v_z{i}", "v_{{{i}}}"),
    "q_mu": ("q_{r}_mu", r"q_{{{r}\mu}}"),
    "q": ("q_{r}_z{i}", "q_{{{r},{i}}}"),
    "k_mu": ("k_{r}_mu", r"k_{{{r}\mu}}"),
    "k": ("k_{r}_z{i}", "k_{{{r},{i}}}"),
    "l": ("l{i}", r"\|\xi_{{{i}}}\|_1"),
    **{f"s{ab}": (f"s{ab}_{{i}}", f"s_{{{{{{i}},{ab}}}}}") for ab in ("11", "12", "21", "22")},
    "g": ("g_{i}", "g_{{{i}}}"),
    "w": ("w_{i}", "w_{{{i}}}"),
    "B": ("B_{r}_{i}", "B_{{{r},{i}}}"),
    "A": ("A_{r}_{i}", "A_{{{r},{i}}}"),
    "Gq": ("Gq_{r}", "G^{{q}}_{{{r}}}"),
    "Gk": ("Gk_{r}", "G^{{k}}_{{{r}}}"),
}
SPELLING = {letter: text for letter, (text, _) in LETTERS.items()}
SPELLING |= {f"sgn_{letter}": f"sgn_{SPELLING[letter]}" for letter in ("w", "B", "A", "Gq", "Gk")}
TEX = {letter: tex for letter, (_, tex) in LETTERS.items()}
TEX |= {"v_mu": r"v_{\mu}", "m": r"\|\mu\|", "eta": r"\eta"}
INNER_PRODUCTS = {  # text and TeX
    "v_mu": ("<v, mu>", r"\langle v, \mu\rangle"),
    "v[i]": ("<v, y_i xi_i>", r"\langle v, y_{i}\xi_{i}\rangle"),
    "q_mu[r]": ("<w_Q,r, mu>", r"\langle w_{Q,r}, \mu\rangle"),
    "q[r,i]": ("<w_Q,r, y_i xi_i>", r"\langle w_{Q,r}, y_{i}\xi_{i}\rangle"),
    "k_mu[r]": ("<w_K,r, mu>", r"\langle w_{K,r}, \mu\rangle"),
    "k[r,i]": ("<w_K,r, y_i xi_i>", r"\langle w_{K,r}, y_{i}\xi_{i}\rangle"),
}
NORMS = {
    "m": ("|mu| = |mu|_1 (mu has one coordinate)", r"\|\mu\|_1\ \text{(one coordinate)}"),
    "l[i]": ("|xi_i|_1", r"\sum_{k} |\xi_{i,k}|"),
}
MEAN_VALUE = {
    "v": (
        "the mean row of W_V,+1 minus that of W_V,-1",
        r"\text{the mean row of}\ W_{V,+1}\ \text{minus that of}\ W_{V,-1}",
    )
}
OTHERS = {  # of the written systems
    "gradient": {
        "m2": ("|mu|^2", r"\|\mu\|^2"),
        "s1": ("|xi_1|_2^2", r"\|\xi_{1}\|_2^2"),
        "c2": ("2/m_v", r"\tfrac{2}{m_v}"),
    },
    "heads": {"a, b": ("the two heads", r"\text{the two heads}")},
    "adam": {
        "a_v_mu": ("first moment of the gradient by v_mu", r"\text{first moment of the gradient by}\ v_{\mu}"),
        "b_v_mu": ("its second moment", r"\text{its second moment}"),
        "B1": ("beta1 to the number of steps", r"\beta_{1}\ \text{to the number of steps}"),
        "B2": ("beta2 to the number of steps", r"\beta_{2}\ \text{to the number of steps}"),
    },
}
PLACES = {  # of the six inner products with the first neuron and sample, where they are not those of SPELLING
    "gradient": ("cv_mu", "cv_z1", "q_r1_mu", "q_r1_z1", "k_mu_r1", "k_z1_r1"),
    "heads": ("va_mu", "va_z1", "qa_1_mu", "qa_1_z1", "ka_1_mu", "ka_1_z1"),
}


def explained(system: System, name: str) -> System:
    """A written system with what the letters of its first sample and neuron (of its first head) stand for."""
    plain = ("v_mu", *(SPELLING[letter].format(i=1, r=1) for letter in ("v", "q_mu", "q", "k_mu", "k")))
    places = [x if x in system.names else x.replace("_r1", "") for x in PLACES.get(name, plain)]  # one neuron alone
    told = dict(zip(places, map(_first, INNER_PRODUCTS.values()), strict=True)) | MEAN_VALUE
    if name != "gradient":
        told |= {"m": NORMS["m"], "l1": _first(NORMS["l[i]"])}
    return replace(system, meanings=told | OTHERS.get(name, {}))


def _first(meaning: tuple[str, str]) -> tuple[str, str]:
    """The same for the first sample and neuron."""
    text, tex = (re.sub(r"(?<=[_,{])[ri](?![a-z])", "1", said) for said in meaning)
    return text, tex
