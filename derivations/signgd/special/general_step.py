r"""The derived step for every number of samples and neurons, with sums and signs; here because of its letters.

It is read off the derived systems of a few sizes (`odesys.every_member`), whose named parts are those of
`written_step`. Two things are put in one form before, so that all samples look alike: :math:`1 - s_{22}` is written
:math:`s_{21}` (softmax weights of a row add up to one), and a margin is collected by the values.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import sympy as sp

from odesys import IndexedSystem, Member, Node, OdesysError, every_member, graph, sym, to_sympy

from .. import dynamics
from ..setting import DISJOINT, SUPPORTS
from .letters import INNER_PRODUCTS, NORMS, SPELLING, TEX

SIZES = {"i": "n", "r": "m_k"}  # samples and neurons
FOUND_FROM = ((2, 3), (3, 2))  # n and m_k, so that a factor n/m_k is noticed
MEANINGS = {  # text and TeX
    **INNER_PRODUCTS,
    **NORMS,
    "g[i]": ("-loss'(y_i f(X_i)), loss(z) = log(1 + exp(-z))", r"-\ell'(y_{i} f(X_{i})),\ \ell(z) = \log(1 + e^{-z})"),
    "r": ("the neuron, s in the paper", r"\text{the neuron, }s\text{ in the paper}"),
}
STEP_SIZE = {"eta": ("the step size", r"\text{the step size}")}
FLOW_TIME = {"t": ("theta = step size times number of steps", r"\theta = \text{step size times number of steps}")}
REMARKS = (
    "supports of the noise patches are disjoint and without the signal coordinate",
    "$v$ alone is the mean value vector of class $+1$ minus that of class $-1$",
    "$n$ and $m_k$ are both open",
    f"read off $(n, m_k)$ = {' and '.join(f'${size}$' for size in FOUND_FROM)}, and of this form for all, as the "
    "loss is a mean over samples and a logit a sum over neurons",
    "the same for every $m_v$, which does not enter",
)
ORDER = ("Gq", "Gk", "w", "B", "A", "g", "s11", "s12", "s21", "s22")  # of definitions, from the signs inwards


def meaning(name: str) -> str:
    """What a letter stands for, as a formula in TeX."""
    letter, indices, _ = name.partition("[")
    return f"{TEX[letter].format(i='i', r='r') if indices else TEX[letter]} = {MEANINGS[name][1]}"


def member(n: int, m_k: int, kind: str = "map") -> Member:
    """The derived system of a size in its named parts, samples in one form."""
    system = dynamics.reduced(n, m_k, kind)
    written = system.written
    assert written is not None  # from two samples on
    other = {"11": "12", "12": "11", "21": "22", "22": "21"}
    rest = {1 - sym(f"s{ab}_{i}"): sym(f"s{other[ab]}_{i}") for ab in other for i in range(1, n + 1)}
    names = list(written.definitions)
    nodes = graph.substitute([*written.definitions.values(), *written.equations], rest)
    definitions = dict(zip(names, nodes, strict=False))
    for i in range(1, n + 1):
        definitions[f"g_{i}"] = _by_values(definitions[f"g_{i}"], ["v_mu", f"v_z{i}"])
    return Member({"i": n, "r": m_k}, dict(zip(system.names, nodes[len(names) :], strict=True)), definitions)


def _by_values(slope: Node, values: list[str]) -> Node:
    """A sigmoid of a margin, with the margin collected by the values."""
    (margin,) = slope.args
    parts = graph.gradient(margin, [sym(name) for name in values])
    collected = graph.add([part * sym(name) for part, name in zip(parts, values, strict=True)])
    if sp.expand(to_sympy(margin - collected)) != 0:
        raise OdesysError(f"the margin {margin!r} is not linear in {' and '.join(values)}")
    return graph.call("sigmoid", collected)


@cache
def general(kind: str = "map") -> IndexedSystem:
    """The step (or the sign flow) for every n, m_k and m_v; refused where the derived systems are not of one form."""
    _every_width_of_values()
    members = [member(n, m_k, kind) for n, m_k in FOUND_FROM]
    parameters = ("eta", "m", "l") if kind == "map" else ("m", "l")
    found = every_member(members, SIZES, SPELLING, kind, parameters, TEX)
    place = {letter: k for k, letter in enumerate(ORDER)}
    names = sorted(found.definitions, key=lambda name: place.get(name.partition("[")[0], len(place)))
    definitions = {name: found.definitions[name] for name in names}
    meanings = MEANINGS | (STEP_SIZE if kind == "map" else FLOW_TIME)
    return replace(found, definitions=definitions, remarks=REMARKS, meanings=meanings)


def _every_width_of_values() -> None:
    """The step does not depend on m_v: a readout with entries of size 1/m_v has the length 2 in the sum of sizes."""
    one, *others = (dynamics.derived(2, 1, m_v).system().nodes for m_v in (1, 2, 3))
    if any(nodes != one for nodes in others):
        raise OdesysError("the derived step depends on m_v, so there is no form for every m_v")


def size_free(name: str, supports: int) -> IndexedSystem:
    """A system for the command line with n and m_k open; for disjoint supports alone."""
    if name not in ("full", "flow"):
        raise OdesysError(
            f"{name} is derived for numbers of samples and neurons; n=symbol is for --system full and --system flow"
        )
    if supports != DISJOINT:
        raise OdesysError(
            f"supports = {supports} ({SUPPORTS[supports]}): the inner products have no step of their own where "
            f"supports overlap; n=symbol and m_k=symbol are for supports={DISJOINT} ({SUPPORTS[DISJOINT]})"
        )
    return general("flow" if name == "flow" else "map")
