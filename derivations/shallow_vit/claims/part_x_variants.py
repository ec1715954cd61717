"""Beyond the paper, by derivation: the symmetric system for every number of patterns M."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from odesys import (
    ONE,
    EquationError,
    Evidence,
    Node,
    OdesysError,
    SymmetryError,
    System,
    Verdict,
    computed_once,
    equal,
    graph,
    interpolate_count,
    num,
    refuted,
    sym,
    undecided,
)

from .. import dynamics
from ..laboratory import Laboratory
from .book import claim, gates, put
from .common_equations import QUERIES, WrittenOut, gate

POSITIVE = ("alpha_s", "alpha_c", "beta", "pi", "M", "Gamma")
ELSEWHERE = (4, 5, 12)  # M that the system for every M is compared at and was not made of


@computed_once
def for_every_number(lab: Laboratory, variant: str = "") -> System:
    """The symmetric system, or that of a variant, with M a parameter."""
    return interpolate_count("M", {M: dynamics.in_prototypes(lab.symmetric(M, variant), M) for M in dynamics.MEMBERS})


def elsewhere(lab: Laboratory, system: System, variant: str = "") -> dict[str, tuple[Node, Node]]:
    """Right-hand sides and F of the system in M, and of the derived one, at the M it was not made of."""
    rows: dict[str, tuple[Node, Node]] = {}
    for M in ELSEWHERE:
        derived = dynamics.in_prototypes(lab.symmetric(M, variant), M)
        at = graph.substitute([*system.nodes, system.observables["F"]], {sym("M"): num(M)})
        rows |= {
            f"{name} at M = {M}": (left, right)
            for name, left, right in zip(
                [*derived.names, "F"], at, [*derived.nodes, derived.observables["F"]], strict=True
            )
        }
    return rows


def no_system(error: OdesysError) -> Verdict:
    """The verdict where there is no symmetric system, or where the comparison of its members found none in M."""
    if isinstance(error, SymmetryError):
        return refuted({"no symmetry": str(error)}, Evidence.PROOF)
    return undecided(str(error))


def matched(surfaces: list[Node], wanted: dict[Node, Node]) -> dict[Node, tuple[Node, Node]] | None:
    """For each gate symbol the surface that is a positive multiple of the wanted one, and that multiple.

    Found at three points in floats; what is found is to be proved. None if a surface is missing or met twice.
    """
    rng = np.random.default_rng(0)
    names = sorted(graph.symbols([*surfaces, *wanted.values()]))
    points = [{name: float(rng.uniform(0.2, 0.9)) for name in names} | {"M": 5.0 + k} for k in range(3)]
    out: dict[Node, tuple[Node, Node]] = {}
    for symbol, node in wanted.items():
        values = np.array([graph.evaluate([*surfaces, node], point, graph.FLOAT_FUNCTIONS) for point in points])
        ratios = values[:, :-1] / values[:, -1:]
        found = np.flatnonzero((np.ptp(ratios, axis=0) < 1e-9 * np.abs(ratios[0])) & (ratios[0] > 0))
        if found.size != 1:
            return None
        ratio = Fraction(float(ratios[0, found[0]])).limit_denominator(100)
        out[symbol] = surfaces[int(found[0])], num(ratio) * node
    return out


@claim(
    "Beyond.every-M",
    "21 equations for every M",
    kind="identity",
    uses=["Beyond.symmetric", "X3"],
    origin="ours",
    hypotheses=(),
    statement=r"\dot k_a=G_{11}r_a+G_{21}r_b+(M-2)G_{1n}r_c,\ \dots,\ \dot r_x=2G_{1n}k_n+G_{kk}k_x+G_{kx}k_o+(M-4)G_{kx}k_x\quad\text{for every }M\ge4",
    reading="one system in M from four members, against three others and the equations written by hand",
)
def every_number_of_patterns(lab: Laboratory) -> Verdict:
    """One system for every M against other members, and against the equations as written down.

    The derived quotients for M = 6, 7, 8, 9 are values of one system in M, which at M = 4, 5 and 12 is the derived
    one again; all 21 equations, the output and the six surfaces of the gates equal those written down by hand for M
    - 2 nuisance patterns (gates as symbols, while no margin is reached; fractions alpha_*, alpha_#, beta of each
    nuisance pattern in any unit).
    """
    try:
        system = for_every_number(lab)
    except (SymmetryError, EquationError) as error:
        return no_system(error)
    rows = elsewhere(lab, system)
    written = WrittenOut()
    found = [*system.nodes, system.observables["F"]]
    found = list(put(found, dict.fromkeys(gates(found, True), ONE)))
    steps = gates(found, False)
    root = graph.sqrt(sym("pi"))
    wanted = {gate(sign, q): root * written.before(sign, q) for sign in "+-" for q in QUERIES}
    same = matched([node.args[0] for node in steps], wanted) if len(steps) == len(wanted) else None
    if same is None:
        return refuted(
            {"gates": [str(symbol.args[0]) for symbol in wanted], "surfaces": len(steps)}, Evidence.CERTIFICATE
        )
    rows |= {str(symbol.args[0]): pair for symbol, pair in same.items()}
    symbols = {graph.step(surface): symbol for symbol, (surface, _) in same.items()}
    right = {**written.rates(), "F": graph.add(written.share[q] * written.pulled(q)[1] for q in QUERIES)}
    rows |= {name: (node, right[name]) for name, node in zip([*system.names, "F"], put(found, symbols), strict=True)}
    return equal(rows, positive=POSITIVE)
