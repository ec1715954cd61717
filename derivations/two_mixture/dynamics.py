r"""The closed systems of the two-mixture paper and their reductions, each with its size.

For K = 2: two heads x (4 neurons + 16 scores + 10 key + 10 query self-scores) = 80 states; the head swap leaves 40, the
group swap 22, slaving 10 (8 of them move in stage 2, 2 in stages 1 and 3). For every K >= 2 the quotient has 22: the
family functions derive it once for all K, with K a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from odesys import (
    FamilyFlow,
    Flow,
    ParameterError,
    ProgramSymmetry,
    Quotient,
    Slaved,
    State,
    System,
    family_descent,
    family_flow,
    gradient_descent,
    gradient_flow,
    symmetry,
)

from . import setting

ALL = ("w", "W_K", "W_Q")
STAGES = {"stage1": ("w",), "stage2": ("W_K", "W_Q"), "stage3": ("w",), "simultaneous": ALL}
_LETTER = {"w": "n", "KQ": "M", "KK": "A", "QQ": "B"}


@cache
def full_flow(stage: str = "simultaneous", K: int = 2, L: int = 3) -> Flow:
    """Flow of one stage on all path scalars: 80 states for K = 2, 2 (2N^2 + 2N) with N = 2K in general."""
    data = setting.conflicting(K, L) if stage == "stage2" else setting.data(K, L)
    return gradient_flow(setting.model(K), data, train=STAGES[stage], carry=ALL)


@cache
def full_descent(K: int = 2, L: int = 3) -> Flow:
    """Exact gradient descent on the same scalars, all weights at once (the paper's experiments)."""
    return gradient_descent(setting.model(K), setting.data(K, L), train=ALL)


@cache
def symmetry_generators(K: int = 2, L: int = 3) -> tuple[ProgramSymmetry, ...]:
    """The group of the whole data set: order 2 K!, also valid in every stage from the infinite-width start."""
    return full_flow("simultaneous", K, L).symmetries().generators


@cache
def reduced(stage: str = "simultaneous", K: int = 2, L: int = 3) -> Quotient:
    """Quotient by groups and heads: 2 + 8 + 6 + 6 = 22 states, named n_c, M_cv_same, A_vv_other, ..."""
    return named(full_flow(stage, K, L).quotient(generators=symmetry_generators(K, L)))


@cache
def reduced_descent(K: int = 2, L: int = 3) -> Quotient:
    """The exact gradient-descent map on the 22 orbit variables."""
    return named(full_descent(K, L).quotient(generators=symmetry_generators(K, L)))


def one_head(K: int = 2, L: int = 3) -> Quotient:
    """Quotient by the head swap alone: 40 states for K = 2."""
    flow = full_flow("simultaneous", K, L)
    signals = {f"v{k}": f"-v{k}" for k in range(1, K + 1)}
    return flow.quotient(generators=[symmetry(flow, signals, heads={"p": "m", "m": "p"})])


@cache
def slaved(stage: str = "simultaneous", K: int = 2, L: int = 3) -> Slaved:
    """Self-scores eliminated at infinite width: 2 + 8 = 10 states."""
    return reduced(stage, K, L).slaved()


# ---- any number of groups: the family --------------------------------------------------------------------------------


@cache
def family(stage: str = "simultaneous", L: int = 3, K: int | str = "symbol", scaled: bool = False) -> FamilyFlow:
    """The 22 orbit variables for every K at once (K a parameter), for one K of any size, or for K = ``"infinity"``."""
    data = setting.conflicting_family(L) if stage == "stage2" else setting.family(L)
    flow = family_flow(data, setting.TwoHeads, train=STAGES[stage], carry=ALL, K=K, scaled=scaled)
    return flow.rename(orbit_names(flow.system))


@cache
def family_map(L: int = 3, K: int | str = "symbol") -> FamilyFlow:
    """The exact gradient-descent map on the same variables."""
    flow = family_descent(setting.family(L), setting.TwoHeads, train=ALL, K=K)
    return flow.rename(orbit_names(flow.system))


@cache
def family_slaved(stage: str = "simultaneous", L: int = 3, K: int | str = "symbol") -> Slaved:
    """Self-scores eliminated: 10 states for every K."""
    return family(stage, L, K).slaved()


def variables(stage: str, K: int, L: int = 3) -> Quotient | FamilyFlow:
    """The 22 orbit variables for K groups: enumerated while the samples can be listed, else through the family."""
    if setting.support_size(K, L) > setting.LARGEST_LISTED:
        return family(stage, L, K)
    return reduced(stage, K, L)


def descent_variables(K: int, L: int = 3) -> Quotient | FamilyFlow:
    """The same variables under exact gradient descent with a rate eta."""
    if setting.support_size(K, L) > setting.LARGEST_LISTED:
        return family_map(L, K)
    return reduced_descent(K, L)


def orbit_name(state: State) -> str:
    """Name of an orbit after its state of the + head: KQ between c1 and v2 becomes ``M_cv_other``, w at c2 ``n_c``.

    The ends are words, or word types of a family, which has the relation of their groups too.
    """
    relation = state.relation
    if state.left and not relation:
        relation = "same" if state.left[1:] == state.right[1:] else "other"
    kinds = state.left[:1] + state.right[:1]
    return "_".join(part for part in (_LETTER[state.path], kinds, relation) if part)


def orbit_names(system: System) -> dict[str, str]:
    """The name of the orbit of every state."""
    return {name: orbit_name(state) for name, state in system.structure.items()}


def named(quotient: Quotient) -> Quotient:
    """The quotient with its variables named after the orbits."""
    return quotient.rename(orbit_names(quotient.system))


def named_system(name: str, parameters: Mapping[str, Any]) -> System:
    """A system by the name the command line uses; those of the stages have only the states that move."""
    from .special import letters

    return letters.explained(_by_name(name, parameters))


def _by_name(name: str, parameters: Mapping[str, Any]) -> System:
    K, L = parameters["K"], parameters["L"]
    if isinstance(K, str) or (name not in ("full", "one_head") and setting.support_size(K, L) > setting.LARGEST_LISTED):
        return _family_system(name, K, L)
    if name in ("stage1", "stage2", "stage3"):
        return slaved(name, K, L).system.freeze_still()
    made: Flow | Quotient | Slaved
    if name in ("descent", "one_head"):
        made = reduced_descent(K, L) if name == "descent" else one_head(K, L)
    elif name == "full":
        made = full_flow("simultaneous", K, L)
    else:
        made = reduced("simultaneous", K, L) if name == "quotient" else slaved("simultaneous", K, L)
    return made.system


def _family_system(name: str, K: int | str, L: int) -> System:
    if name in ("full", "one_head"):
        raise ParameterError(
            f"the system {name} has a number of states that depends on K, so K can not be {K}; "
            f"quotient, slaved, stage1, stage2, stage3 and descent have a form for every K"
        )
    if name in ("stage1", "stage2", "stage3"):
        return family_slaved(name, L, K).system.freeze_still()
    if name == "descent":
        return family_map(L, K).system
    return family("simultaneous", L, K).system if name == "quotient" else family_slaved("simultaneous", L, K).system
