r"""The closed systems of the paper, derived by the engine: classes of tokens, coordinates, and 21 symmetric variables.

Samples enter as counts of patterns (real numbers or parameters), neurons as pinned axes, the loss as a hinge with the
margin Gamma. On inner products, with :math:`u = W_OW_VE`, :math:`S = E^\top W_K^\top W_QE` and E the patterns, the flow
closes with :math:`W_OW_O^\top` and the Gram matrices of values, keys and queries:
m M + M^2 + m (m + 1)/2 + 3 M (M + 1)/2 states. In coordinates of dimensions m_a and m_b there are m m_a + M (m_a + 2
m_b) states; for two mirrored neurons and m_a = m_b = M the exchange of the classes and the permutations of nuisance
patterns leave 21, for every M from 4 on: `symmetric.every_number_of_patterns` has them with M a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from odesys import (
    LOGISTIC,
    MARGIN,
    Data,
    Flow,
    Loss,
    Node,
    ParameterError,
    ProgramSymmetry,
    Quotient,
    Sample,
    ScalarField,
    Setting,
    Space,
    System,
    Units,
    Words,
    gradient_descent,
    gradient_flow,
    graph,
    maps,
    num,
    relu,
    rescale_system,
    softmax,
    sym,
)

from .setting import TRAINED

LARGEST_WRITTEN = 150  # states of a system that is written out
HIDDEN = num(-(10**9))  # the logit of a removed token: its exponential is zero in floats
HINGE = Loss("hinge with margin", graph.relu(sym("Gamma") - MARGIN))
MEMBERS = (6, 7, 8, 9)  # M of the systems that fix the one for every M; from 5 on all multiplicities are positive
STATES = (
    "d1",
    "d2",
    "dn",
    "x1",
    "x2",
    "xn",
    "z1",
    "zo",
    "zx",
    "ka",
    "kb",
    "kn",
    "kc",
    "ko",
    "kx",
    "ra",
    "rb",
    "rn",
    "rc",
    "ro",
    "rx",
)
#: logits of key and query, where they are states: pattern 1 or 2, a nuisance pattern k, another one x; and their place
LOGITS = {"s11": (0, 0), "s21": (1, 0), "sk1": (2, 0), "s1k": (0, 2), "skk": (2, 2), "skx": (3, 2)}


VALUES, KEYS = Space("v"), Space("m")
OVERLAP = "overlap"  # the network of the paper on patterns with one inner product lam, 0 <= lam < 1


def words(M: int, variant: str = "") -> Words:
    """The patterns mu1 .. muM, orthonormal, with one inner product lam, or (noisy tokens) any Gram matrix g12 .."""
    names = [f"mu{j + 1}" for j in range(M)]
    if variant == OVERLAP:
        return Words(names, [[1 if i == j else "lam" for j in range(M)] for i in range(M)])
    gram = [[f"g{min(i, j) + 1}{max(i, j) + 1}" for j in range(M)] for i in range(M)]
    return Words(names, gram) if variant == "noisy" else Words(names)


def model(
    M: int,
    readout: Sequence[Any],
    variant: str = "",
    sides: tuple[Space | Units, Space | Units] = (VALUES, KEYS),
    heads: Sequence[str] = ("",),
    activation: Callable[[Any], Any] = relu,
    scale: Any = 1,
    kept: Sequence[str] = (),
) -> Callable[[Any], Any]:
    """The network of Eq. (1), or with several heads of Eq. (240), as a program.

    Parameters
    ----------
    readout : frozen output weights, one per neuron, or one row of them per position.
    sides : the spaces of values and of keys; `Units` list their axes, so that the entries of weights are the states.
    scale : a factor of the logits.
    kept : names of parameters, 1 for a token that is kept and 0 for one that is removed, from the softmax too.
    """
    known, (values, keys) = words(M, variant), sides
    table = np.array(readout, dtype=object)
    weights = table.T if table.ndim == 2 else table[:, None]
    neurons = Units("n", len(weights))
    there = [sym(name) for name in kept]
    hidden = np.array([[HIDDEN * (1 - k)] * len(kept) for k in there])
    if kept:
        weights = weights * np.array(there) / graph.add(there)

    def head(of: str) -> Callable[[Any], Any]:
        W_O, W_V = maps("W_O", neurons, values, of=of), maps("W_V", values, known, of=of)
        if variant == "merged":
            logits = maps("W_S", known, known, of=of)
        else:
            W_K, W_Q = maps("W_K W_Q", keys, known, of=of)
            logits = W_K.T @ W_Q
        if kept:
            return lambda X: W_O @ W_V @ X @ softmax((X.T @ logits @ X) * scale + hidden)
        return lambda X: W_O @ W_V @ X @ softmax((X.T @ logits @ X) * scale)

    first, *more = [head(of) for of in heads]

    def f(X: Any) -> Any:
        before = sum((each(X) for each in more), first(X))
        return (activation(before) * (weights if kept else weights / X.count)).sum(1).sum(0)

    return f


def half_positive(m: int) -> list[Node]:
    """Output weights 1/sqrt(m), the second half with a minus sign."""
    return [1 / graph.sqrt(num(m))] * (m // 2) + [-1 / graph.sqrt(num(m))] * (m // 2)


#: what else the same network can be trained with: one matrix W_S in place of W_K' W_Q, or the logistic loss
VARIANTS = ("merged", "logistic")


def trained(variant: str = "") -> tuple[str, ...]:
    """The maps that are trained: with ``merged`` one matrix W_S stands for W_K' W_Q."""
    return ("W_O", "W_V", "W_S") if variant == "merged" else TRAINED


def loss_of(variant: str = "") -> Loss:
    """The hinge with margin Gamma, or the logistic loss."""
    return LOGISTIC if variant == "logistic" else HINGE


def samples(counts: Sequence[Sequence[Any]], labels: Sequence[int], variant: str = "") -> Data:
    """Equally weighted samples given by the counts of patterns: numbers, or names of parameters; 0 leaves one out."""
    out = []
    for row, y in zip(counts, labels, strict=True):
        present = [j for j, c in enumerate(row) if isinstance(c, str) or c != 0]
        out.append(Sample([f"mu{j + 1}" for j in present], int(y), counts=[row[j] for j in present]))
    return Data(words(len(counts[0]), variant if variant == OVERLAP else ""), out)


def parametric(M: int, variant: str = "") -> Data:
    """One sample per class with the fractions alpha_s, alpha_c and beta of each nuisance pattern as parameters."""
    rest = ["beta"] * (M - 2)
    return samples([["alpha_s", "alpha_c", *rest], ["alpha_c", "alpha_s", *rest]], [1, -1], variant)


def class_system(M: int, readout: Sequence[Any], data: Data, step: bool = False) -> Flow:
    """The class-level system on inner products, as a flow or as the exact gradient step."""
    made = gradient_descent if step else gradient_flow
    return made(model(M, readout), data, HINGE)


def weights_of(state: Any) -> dict[str, np.ndarray]:
    """The images of the words as the engine takes them, from a `class_network.State`."""
    return {"W_O": state.w, "W_V": state.v.T, "W_K": state.kappa.T, "W_Q": state.rho.T}


def axes(m_a: int, m_b: int) -> tuple[Units, Units]:
    """Listed axes of the values and of the keys and queries."""
    return Units("v", m_a), Units("k", m_b)


def coordinate_system(
    M: int, readout: Sequence[Any], data: Data, m_a: int, m_b: int, step: bool = False, variant: str = ""
) -> Flow:
    """The same system on the entries of w_i, v_j, kappa_j and rho_k (or on the logits themselves, if ``merged``)."""
    made = gradient_descent if step else gradient_flow
    return made(model(M, readout, variant, axes(m_a, m_b)), data, loss_of(variant))


# ---- the symmetric system --------------------------------------------------------------------------------------------


def generators(M: int, variant: str = "") -> list[ProgramSymmetry]:
    """The classes exchanged (mu1 <-> mu2, the two neurons, the label), and neighbouring nuisance patterns exchanged.

    Each moves the axes of both free spaces in the same way, since axis j starts as the feature of pattern j.
    """

    def element(i: int, j: int, neurons: tuple[int, ...]) -> ProgramSymmetry:
        moved = list(range(M))
        moved[i], moved[j] = j, i
        sets = {"E": moved, "n": neurons, "v": moved, **({} if variant == "merged" else {"k": moved})}
        return ProgramSymmetry(tuple((name, tuple((name, k, 1) for k in to)) for name, to in sets.items()))

    return [element(0, 1, (1, 0)), *(element(j, j + 1, (0, 1)) for j in range(2, M - 1))]


def place(name: str, M: int) -> tuple[str, int, int]:
    """Where a variable sits in the network with two mirrored neurons: matrix, row and column, from 0."""
    if name in ("d1", "d2", "dn"):
        return "O", 0, ("d1", "d2", "dn").index(name)
    if name in LOGITS:
        return "S", *LOGITS[name]
    matrix = {"x": "V", "z": "V", "k": "K", "r": "Q"}[name[0]]
    axis, word = {
        "1": (0, 0),
        "2": (1, 0),
        "n": (2, 0),
        "a": (0, 0),
        "b": (1, 0),
        "c": (0, 2),
        "o": (2, 2),
        "x": (3, 2),
    }[name[1]]
    return (matrix, 0, 2) if name == "z1" else (matrix, axis, word)


@cache
def mirrored(M: int, variant: str = "") -> System:
    r"""The 21-variable flow with gates as the ReLUs set them; parameters alpha_s, alpha_c, beta, Gamma and pi.

    It is the quotient of the network with two neurons, read out with :math:`\pm\sqrt\pi` and
    :math:`w_\pm = \sqrt\pi\,D_\pm`, written in the units of D: for :math:`\pi = 1/2` two neurons with
    :math:`a = \pm1/\sqrt2`, in general any network in which a fraction pi of the m neurons are copies of
    :math:`D_\pm/\sqrt m` and the others are dead. M = 3 has no pair of nuisance patterns: 18 variables.
    """
    root = graph.sqrt(sym("pi"))
    made = coordinate_system(M, [root, -root], parametric(M, variant), M, M, variant=variant)
    return in_prototypes(made.quotient(generators(M, variant)), M)


def in_prototypes(reduced: Quotient, M: int) -> System:
    """The quotient of two mirrored neurons under the names of `STATES` and `LOGITS`, with w in units of sqrt(pi) D."""
    root, index = graph.sqrt(sym("pi")), {segment.leaf: segment.index for segment in reduced.flow.layout.segments}
    names = {}
    for name in (n for n in (*STATES, *LOGITS) if M > 3 or n[-1] != "x"):
        leaf, row, column = place(name, M)
        if leaf in index:
            names[reduced.system.names[int(reduced.orbits.orbit[index[leaf][row, column]])]] = name
    flat = rescale_system(reduced.system, {old: root for old, new in names.items() if new[0] == "d"}, names=names)
    order = [name for name in (*STATES, *LOGITS) if name in flat.names]
    field = ScalarField(
        tuple(flat.equations[name] for name in order),
        {"loss": flat.observables["loss"], "F": flat.observables["margin_1"]},
    )
    return replace(flat, names=tuple(order), field=field, tex={**{name: tex(name) for name in order}, **letters(flat)})


#: the paper's letters: W_O p_l of a lucky neuron, value, key and query features of pattern 1 and of a nuisance pattern
_LETTERS = {"d": "w", "x": "p", "k": "q", "r": "r", "s": "S"}
_AXES = {"1": "1", "2": "2", "n": "n", "a": "1", "b": "2", "c": "1", "o": "k", "x": "l"}


def tex(name: str) -> str:
    r"""A state in the paper's letters: the component of :math:`p_1(t) = W_V\mu_1` along :math:`p_1` is :math:`p_{1,1}`.

    >>> tex("ka"), tex("z1"), tex("d2"), tex("s1k")
    ('q_{1,1}', 'p_{k,1}', 'w_{2}', 'S_{1k}')
    """
    kind, rest = name[0], name[1:]
    if kind == "d":
        return f"w_{{{_AXES[rest]}}}"
    if kind == "s":
        return f"S_{{{rest.replace('x', 'l')}}}"
    letter = _LETTERS.get(kind, "p")
    nuisance = kind == "z" or rest in ("c", "o") or (rest == "x" and kind != "x")
    return f"{letter}_{{{'k' if nuisance else '1'},{_AXES[rest]}}}"


def letter(name: str) -> str:
    """The same in plain text, as systems are printed and files name it.

    >>> letter("ka"), letter("z1"), letter("d2"), letter("s1k")
    ('q_11', 'p_k1', 'w_2', 'S_1k')
    """
    return re.sub("[{},]", "", tex(name))


def in_letters(system: System) -> System:
    """A symmetric system as it is printed: states under the paper's letters, in plain text and in TeX."""
    made = rescale_system(system, {}, names={name: letter(name) for name in system.names})
    return replace(made, tex={**{letter(name): tex(name) for name in system.names}, **letters(made)})


#: of the parameters, as the paper writes them
PARAMETER_TEX = {"alpha_s": r"\alpha_*", "alpha_c": r"\alpha_\#", "lam": r"\lambda", "beta": r"\beta", "pi": r"\pi"}


def letters(system: System) -> dict[str, str]:
    """TeX of the parameters that a system has."""
    return {name: told for name, told in PARAMETER_TEX.items() if name in system.parameters}


def whole(parameters: Mapping[str, Any]) -> Setting:
    """Model and data of the class-level system with two neurons, for the report."""
    return Setting(model(parameters["M"], half_positive(2)), parametric(parameters["M"]), TRAINED, HINGE, step=True)


# ---- by name ---------------------------------------------------------------------------------------------------------


def named_system(name: str, parameters: Mapping[str, Any]) -> System:
    """A system for the command line, with the fractions of tokens, Gamma (and eta, pi) as parameters."""
    from .special import letters

    return letters.explained(_by_name(name, parameters), name)


def _by_name(name: str, parameters: Mapping[str, Any]) -> System:
    M, m = parameters["M"], parameters["neurons"]
    if name in ("quotient", *VARIANTS, OVERLAP):
        from .special.symmetric_runs import every_number_of_patterns, system

        variant, gates = name if name != "quotient" else "", parameters["gates"]
        return in_letters(every_number_of_patterns(gates, variant) if M == "symbol" else system(M, gates, variant))
    if M == "symbol":
        raise ParameterError(
            f"M = symbol is for --system quotient, {OVERLAP}, {' and '.join(VARIANTS)}, which have 21 states "
            f"(merged: 15) for every M; the {name} system has a number of states that depends on M"
        )
    if m % 2:
        raise ParameterError(f"neurons = {m} can not be used: half of the output weights is positive, so it is even")
    readout = half_positive(m)
    if name == "coordinates":
        if M * (m + 3 * M) > LARGEST_WRITTEN:
            raise ParameterError(
                f"M = {M}, neurons = {m} has {M * (m + 3 * M)} entries of weights, too many to write "
                f"out; lower M, or use quotient"
            )
        return written_out(coordinate_system(M, readout, parametric(M), M, M))
    size = m * M + M**2 + m * (m + 1) // 2 + 3 * M * (M + 1) // 2
    if size > LARGEST_WRITTEN:
        raise ParameterError(
            f"M = {M}, neurons = {m} has {size} inner products, too many to write out; lower M or "
            f"neurons, or use quotient"
        )
    return written_out(class_system(M, readout, parametric(M), step=name == "descent"))


def written_out(flow: Flow) -> System:
    """The system as it is printed: axes and neurons by their numbers, and the outputs H of the samples."""
    system, tex = flow.system, dict(flow.system.tex)
    short = {name: re.sub(r"_[vk](\d+)", r"_\1", name) for name in system.names}
    for old, name in short.items():
        entry = re.fullmatch(r"([OVKQ])_n?(\d+)_(mu)?(\d+)", name)
        if entry:
            column = rf"\mu_{{{entry[4]}}}" if entry[3] else entry[4]
            tex[name] = rf"(W_{{{entry[1]}}})_{{{entry[2]},{column}}}"
        else:
            tex[name] = re.sub(r"e_\{n_\{(\d+)\}\}", r"e_{\1}", tex[old])
    if any(old != name for old, name in short.items()):
        system = rescale_system(system, {}, names=short)
    outputs = {
        f"H_{k + 1}": num(s.label) * system.observables[f"margin_{k + 1}"]
        for k, s in enumerate(flow.program.data.samples)
    }
    field = ScalarField(tuple(system.nodes), {**system.observables, **outputs})
    return replace(system, field=field, tex={name: tex[name] for name in system.names}, structure={})
