r"""The closed systems of the paper: the recursion on Gram scalars, its flow, its quotient and the mean-field systems.

With tokens Z (P of them), :math:`G = Z Z^\top` and :math:`S = q k^\top`, :math:`\mathcal Q = q q^\top`,
:math:`\mathcal K = k k^\top`, :math:`V = Z W_V w_O` a gradient step is a map on 2 P^2 + 2 P scalars, whatever the
widths. For orthogonal tokens and balanced classes the symmetries (samples of a class, weak tokens, the two classes with
the label flipped) leave few orbits: the exact infinite-width system. With inner products of different queries, and of
different keys, put to zero there are 18 variables (M = 2: 10), with the norms frozen 12 (M = 2: 6). Both are exact in
N: the equations are affine in 1/N, read off at N = 2 and 4 and checked at 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from odesys import (
    Block,
    BlockField,
    Data,
    Flow,
    InvariantSubspace,
    Node,
    ParameterError,
    ProgramSymmetry,
    Quotient,
    ScalarField,
    System,
    blocks,
    gradient_descent,
    gradient_flow,
    graph,
    interpolate_reciprocal,
    num,
    restrict_to_subspace,
    sym,
    symmetry,
)

from . import setting

TYPES = ("s", "2", "w")
#: norms of queries and keys by token type, and the squared length of the token that each starts proportional to
NORMS = {letter: {f"{letter}_{a}": f"m_{a}" for a in TYPES} for letter in "QK"}


def recursion(N: int, M: int, gram: Any, signs: Sequence[int] | None = None) -> Flow:
    """The exact gradient step on all Gram scalars: 2 P^2 + 2 P states."""
    words = setting.words(N, M, gram)
    return gradient_descent(setting.Network(words), Data(words, setting.samples(N, M, signs)), train=setting.TRAINED)


def flow(N: int, M: int, gram: Any, signs: Sequence[int] | None = None) -> Flow:
    """The gradient flow on the same states."""
    words = setting.words(N, M, gram)
    return gradient_flow(setting.Network(words), Data(words, setting.samples(N, M, signs)), train=setting.TRAINED)


def coefficients(made: Flow) -> tuple[Block, Block]:
    r"""The paper's alpha and beta as matrices A = eta G H and B = eta G H', with H = -dL/dS read off the derived loss.

    :math:`\Delta q_a = \sum_b A_{ab} k_b` and :math:`\Delta k_a = \sum_b B_{ab} q_b`: alpha_{+,+} is A at (mu+, mu+),
    alpha_{n,+,i} at (mu+, xi_{n,i}), alpha_{n,i,+} at (xi_{n,i}, mu+); beta_{n,+,i} is B at (mu+, xi_{n,i}).
    """
    field = made.system.field
    assert isinstance(field, BlockField)
    loss = field.observable_blocks["loss"]
    (leaf,) = {id(b): b for b in blocks.topological([loss]) if b.op == "leaf" and b.data == "KQ"}.values()
    (slope,) = blocks.gradient(loss, [leaf])
    H = blocks.multiply(blocks.constant([[-1]]), slope).T
    step = blocks.constant([[sym("eta")]])
    G = blocks.constant(made.data.words.pinned.gram_array())
    return blocks.multiply(step, G @ H), blocks.multiply(step, G @ H.T)


def coefficient_values(made: Flow, state: np.ndarray, parameters: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """alpha and beta at a state, in floats."""
    a, b = blocks.evaluate(list(coefficients(made)), made.layout.unpack(np.asarray(state, dtype=float)), parameters)
    return a, b


def with_paper_variables(made: Flow, words: Sequence[str]) -> System:
    """The system with alpha and beta between `words` as observables, e.g. alpha_mup_xi1t2, beta_mup_mup."""
    field = made.system.field
    assert isinstance(field, BlockField)
    found = dict(field.observable_blocks)
    place = {word: np.array([[made.data.words.pinned.parse(word)[0]]]) for word in words}
    for letter, table in zip(("alpha", "beta"), coefficients(made), strict=True):
        found |= {f"{letter}_{a}_{b}": blocks.take(table, (place[a], place[b])) for a in words for b in words}
    grown = replace(field, observable_blocks=found)
    return replace(made.system, field=grown, parameters=tuple(sorted({*made.system.parameters, "eta"})))


def gamma_rho(V: np.ndarray, start_V: np.ndarray, w2: float) -> np.ndarray:
    """gamma_{V,+-} (first two) and rho_{V,n,i}: the change of the values over |w_O|^2."""
    return (V - start_V) / w2


# ---- symmetries ------------------------------------------------------------------------------------------------------


def generators(made: Flow, N: int, M: int, one_class: bool = False) -> list[ProgramSymmetry]:
    """Neighbouring samples of the class +, neighbouring weak tokens of sample 1, and the two classes with the label."""
    half, tokens = N if one_class else N // 2, range(2, M + 1)
    noise = setting.noise_word

    def exchange(pairs: Iterable[tuple[str, str]], **more: Any) -> ProgramSymmetry:
        return symmetry(made, {a: b for pair in pairs for a, b in (pair, pair[::-1])}, **more)

    out = [exchange((noise(n, i), noise(n + 1, i)) for i in tokens) for n in range(1, half)]
    out += [exchange([(noise(1, i), noise(1, i + 1))]) for i in range(3, M)]
    if one_class:
        return out
    swap = [setting.SIGNAL, *((noise(n, i), noise(n + half, i)) for n in range(1, half + 1) for i in tokens)]
    return [*out, exchange(swap, maps={"W_V": "-W_V"})]


def reduced(made: Flow, N: int, M: int, one_class: bool = False) -> Quotient:
    """One variable per orbit of the symmetries (each checked exactly against model and data)."""
    return made.quotient(generators=generators(made, N, M, one_class))


# ---- mean field ------------------------------------------------------------------------------------------------------


def kinds(N: int, M: int) -> list[str]:
    """Type of each token: s for the signals, 2 for the first noise token of a sample, w for the weak ones."""
    return ["s", "s", *(["2", *["w"] * (M - 2)] * N)]


def orbit_names(
    quotient: Quotient, N: int, M: int, one_class: bool = False
) -> tuple[dict[str, str], list[str], dict[str, str]]:
    """Names of the orbits that the mean field keeps; those it puts to zero; those it ties.

    Scores within a sample are kept, S_ab having the query type a first; two different weak tokens are tied to one weak
    token. Queries (and keys) keep their norms Q_a, K_a. Everything else is put to zero: scores between samples are
    read by nothing, inner products of different tokens start at zero. With one class nothing reads the other signal.
    """
    made, kind, home = quotient.flow, kinds(N, M), [-1, -1, *(n for n in range(N) for _ in range(M - 1))]
    names, zero, tie = dict[str, str](), list[str](), dict[str, str]()
    found: dict[str, str] = {}
    y = (1,) * N if one_class else setting.labels(N)
    for leaf, table in made.matrices.items():
        for (i, j), state in np.ndenumerate(table):
            orbit, sign = quotient.variable(state)
            if sign == 0 or orbit in names or orbit in tie or orbit in zero:
                continue
            if one_class and (j == 1 or (i == 1 and leaf != "wOV")):
                zero.append(orbit)
                continue
            if leaf == "wOV":
                name = f"v_{kind[j]}"
            elif leaf == "KQ" and _together(i, j, home, y):
                name = f"S_{kind[j]}{kind[i]}"  # the query comes first in the paper, the key in the engine
            elif leaf in ("QQ", "KK") and i == j:
                name = f"{leaf[0]}_{kind[i]}"
            else:
                zero.append(orbit)
                continue
            if name in found:
                tie[orbit] = found[name]
            else:
                names[orbit], found[name] = name, orbit
    return names, zero, tie


def _together(i: int, j: int, home: Sequence[int], y: Sequence[int]) -> bool:
    """True if two tokens stand in one sample."""
    if home[i] < 0 or home[j] < 0:
        other = home[max(i, j)] if min(i, j) < 2 <= max(i, j) else -1
        return i == j if other < 0 else (y[other] > 0) == (min(i, j) == 0)
    return home[i] == home[j]


def mean_field_subspace(
    made: Flow, N: int, M: int, one_class: bool = False
) -> tuple[InvariantSubspace, dict[str, str]]:
    """The mean-field subspace of the quotient of a flow, with the names of what it keeps."""
    quotient = reduced(made, N, M, one_class)
    names, zero, tie = orbit_names(quotient, N, M, one_class)
    return restrict_to_subspace(quotient, zero, tie), names


def mean_field_at(made: Flow, N: int, M: int, one_class: bool = False) -> System:
    """The 18-variable system of one N, in the names v_a, S_ab, Q_a, K_a."""
    found, names = mean_field_subspace(made, N, M, one_class)
    return _renamed(found.system, names, M)


def _renamed(system: System, names: Mapping[str, str], M: int) -> System:
    order = state_tex(M)
    mapping = {sym(old): sym(new) for old, new in names.items()}
    nodes = dict(zip([names[n] for n in system.names], graph.substitute(list(system.nodes), mapping), strict=True))
    loss = graph.substitute([system.observables["loss"], system.observables["margin_1"]], mapping)
    field = ScalarField(tuple(nodes[name] for name in order), {"loss": loss[0], "f": loss[1]})
    structure = {names[name]: state for name, state in system.structure.items()}
    return System(tuple(order), field, system.parameters, system.kind, order, structure)


def state_tex(M: int, frozen: bool = False) -> dict[str, str]:
    """v_a, S_ab (query type first), and unless frozen Q_a, K_a: the names of the states with their TeX."""
    types = TYPES[: 2 if M == 2 else 3]
    pairs = [("v", a) for a in types] + [("S", a + b) for a in types for b in types]
    pairs += [] if frozen else [(x, a) for x in "QK" for a in types]
    return {f"{stem}_{index}": f"{stem}_{{{index}}}" for stem, index in pairs}


def in_every_N(derive: Callable[[int], System]) -> System:
    """One system with N a parameter: every coefficient is affine in 1/N, fixed by N = 2 and 4 and checked at 6."""
    return interpolate_reciprocal("N", {N: derive(N) for N in (2, 4, 6)})


def freeze(system: System) -> System:
    """The system with the norms held at their start, Q_a = K_a = kappa m_a."""
    lengths = NORMS["Q"] | NORMS["K"]
    values = {sym(name): sym("kappa") * sym(length) for name, length in lengths.items()}
    kept = tuple(name for name in system.names if name not in lengths)
    rhs = system.equations
    roots = graph.substitute([*(rhs[n] for n in kept), *system.observables.values()], values)
    field = ScalarField(tuple(roots[: len(kept)]), dict(zip(system.observables, roots[len(kept) :], strict=True)))
    parameters = tuple(dict.fromkeys((*system.parameters, "kappa")))
    tex = {name: text for name, text in system.tex.items() if name in kept}
    structure = {name: state for name, state in system.structure.items() if name in kept}
    return System(kept, field, parameters, system.kind, tex, structure)


@cache
def mean_field(M: int, frozen: bool = False) -> System:
    """The mean-field flow for every N: 18 variables (M = 2: 10), or 12 (M = 2: 6) with the norms frozen."""
    moving = with_test_loss(in_every_N(lambda N: mean_field_at(flow(N, M, setting.orthogonal_gram(N, M)), N, M)), M)
    return freeze(moving) if frozen else moving


def with_test_loss(system: System, M: int, sign: int = 1) -> System:
    """Margin and loss on a fresh sample added: its noise tokens have value 0 and score 0; `sign` is the output's."""
    margin = sign * test_margin(M)
    found = {**system.observables, "test_margin": margin, "test_loss": graph.call("softplus", -margin)}
    return replace(system, field=ScalarField(system.nodes, found))


def test_margin(M: int) -> Node:
    """y f of a fresh sample, from Eq. (1): one signal row and M - 1 noise rows that attend uniformly."""
    signal = graph.exp(sym("S_ss"))
    return sym("v_s") / M * (signal / (signal + (M - 1)) + num(M - 1) / M)


def start(M: int, values: Mapping[str, float], frozen: bool = False) -> dict[str, float]:
    """The infinite-width start: v = 0, S = 0, Q_a = K_a = kappa m_a."""
    out = dict.fromkeys(state_tex(M, frozen), 0.0)
    lengths = NORMS["Q"] | NORMS["K"]
    return out | {name: values["kappa"] * values[lengths[name]] for name in out if name in lengths}


# ---- by name ---------------------------------------------------------------------------------------------------------

LARGEST_WRITTEN = {
    "quotient": 40,
    "paper": 40,
    "full": 18,
    "descent": 10,
}  # tokens; with more, a system is used as matrices


def named_system(name: str, parameters: Mapping[str, Any]) -> System:
    """A system for the command line; tokens are orthogonal (their squared lengths are parameters)."""
    from .special import letters

    return letters.explained(_by_name(name, parameters), name)


def _by_name(name: str, parameters: Mapping[str, Any]) -> System:
    from .special import paper_recursion, two_classes

    N, M = parameters["N"], parameters["M"]
    if name in ("mean_field", "frozen", "unbalanced"):
        system = two_classes.both_classes(M, True) if name == "unbalanced" else mean_field(M, name == "frozen")
        return system if N == "symbol" else system.substitute({"N": int(N)})
    if N == "symbol":
        raise ParameterError(f"N = symbol is for --system mean_field and frozen; the {name} system lists its tokens")
    if N % 2 and name in ("quotient", "paper"):
        raise ParameterError(f"N = {N} can not be used: the {name} system exchanges the two classes, so N is even")
    P = 2 + N * (M - 1)
    if LARGEST_WRITTEN[name] < P:
        raise ParameterError(
            f"N = {N}, M = {M} has {P} tokens, too many to write out the equations of its "
            f"{2 * P**2 + 2 * P} scalars; set N=2, or use mean_field"
        )
    if name == "paper":
        return paper_recursion.paper_recursion(N, M)
    made = (recursion if name == "descent" else flow)(N, M, setting.orthogonal_gram(N, M))
    return reduced(made, N, M).system if name == "quotient" else made.system
