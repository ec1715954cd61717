"""Points of the natural domain: every drawn one is inside, what no network reaches is outside, witnesses are inside."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
import sympy as sp

from odesys import (
    AttentionModel,
    Dictionary,
    Distribution,
    Family,
    FamilyFlow,
    Flow,
    Head,
    Sample,
    SampleTemplate,
    family_flow,
    gradient_flow,
)
from odesys.errors import ModelError, ParameterError
from odesys.exact.evidence import equal, identity
from odesys.exact.positivity import always_positive
from odesys.exact.zero import zero_test
from odesys.expr.graph import step, sym
from odesys.reduce.natural_points import Source, _is_semidefinite, least_eigenvalue, natural_margin, natural_points
from tests.toy_models import benign_overfitting, cooccurrence, shallow_vit, two_mixture

HALF = Fraction(1, 2)


@cache
def pair_flow() -> Flow:
    pair = [Sample(["good", "the"], +1, HALF), Sample(["bad", "the"], -1, HALF)]
    return gradient_flow(AttentionModel(Dictionary(["good", "bad", "the"]), [Head(+1), Head(-1)]), Distribution(pair))


@cache
def family(scaled: bool = False) -> FamilyFlow:
    data = Family(["c", "v"], [SampleTemplate(["c", "v"], +1, HALF), SampleTemplate(["c", "-v"], -1, HALF)])
    return family_flow(data, lambda words: AttentionModel(words, [Head(+1), Head(-1)]), scaled=scaled)


def toy_flow(toy) -> Flow:
    return gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)


SOURCES = {
    "two heads": pair_flow,
    "quotient": lambda: pair_flow().quotient(),
    "family": family,
    "scaled family": lambda: family(True),
    "family of three groups": lambda: family().bind(K=3),
    "two mixture": lambda: toy_flow(two_mixture()),
    "frozen output vector": lambda: toy_flow(cooccurrence()),
    "words that are not orthogonal": lambda: toy_flow(benign_overfitting()),
    "neurons": lambda: toy_flow(shallow_vit()),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_drawn_point_is_inside(name: str) -> None:
    source: Source = SOURCES[name]()
    groups = ["K"] if isinstance(source, FamilyFlow) else []
    drawn = list(natural_points(source)([*source.system.names, *groups], 3))
    assert len(drawn) == 12
    margins = [natural_margin(source, point) for point in drawn]
    assert min(margins) >= 0, margins
    assert all(isinstance(value, Fraction) for point in drawn for value in point.values())
    assert len({tuple(point.values()) for point in drawn}) == 12
    floats = {key: float(value) for key, value in drawn[0].items()}
    assert natural_margin(source, floats) >= 0
    assert max(margins) > 1e-3
    if isinstance(source, Flow):  # means over orbits have a higher rank
        assert min(margins) < 1e-15


@pytest.mark.parametrize("name", SOURCES)
def test_what_no_network_reaches_is_outside(name: str) -> None:
    """Broken twins: a negative squared norm; a scalar product beyond Cauchy and Schwarz; a score beyond both norms."""
    source: Source = SOURCES[name]()
    groups = ["K"] if isinstance(source, FamilyFlow) else []
    point = next(iter(natural_points(source)([*source.system.names, *groups], 0)))
    squares = [n for n in point if n.startswith("KK") and natural_margin(source, point | {n: point[n] - 100}) < 0]
    large = [n for n in point if n.startswith("KQ") and natural_margin(source, point | {n: Fraction(100)}) < 0]
    assert squares and large
    assert natural_margin(source, {n: float(v) for n, v in (point | {squares[0]: Fraction(-1)}).items()}) < 0


def test_the_domain_is_that_of_both_self_scores_and_scores_together() -> None:
    flow = pair_flow()
    for point in natural_points(flow)(flow.system.names, 5):
        for head in "pm":
            table = {
                leaf: np.array([[float(point[name]) for name in row] for row in flow.matrices[f"{leaf}_{head}"]])
                for leaf in ("KK", "KQ", "QQ")
            }
            joint = np.block([[table["KK"], table["KQ"]], [table["KQ"].T, table["QQ"]]])
            assert np.linalg.eigvalsh(joint)[0] > -1e-12 * np.abs(joint).max()


def test_a_part_of_a_point_is_judged_by_what_is_given() -> None:
    flow = pair_flow()
    assert natural_margin(flow, {"KK_p_good_good": Fraction(-1, 10)}) == pytest.approx(-0.1)
    pair = {"KK_p_good_good": 1, "KK_p_the_the": 4}
    assert natural_margin(flow, pair | {"KK_p_good_the": 2}) == 0
    assert natural_margin(flow, pair | {"KK_p_good_the": Fraction(2) + Fraction(1, 10**40)}) < 0  # A_cc A_vv < A_cv^2
    assert natural_margin(flow, {"KK_p_good_good": "1/4", "QQ_p_the_the": "1", "KQ_p_good_the": "2/3"}) < 0
    assert natural_margin(flow, {"w_p_good": -7, "KQ_p_good_the": 50}) == float("inf")  # any network may have these
    rounded = {"KK_p_good_good": 0.1 * 3, "KK_p_the_the": 0.3, "KK_p_good_the": 0.3}
    assert natural_margin(flow, rounded) >= 0


def test_eigenvalues_of_exact_matrices_have_the_exact_sign() -> None:
    singular = [[Fraction(i * j, 3) for j in range(1, 6)] for i in range(1, 6)]
    assert least_eigenvalue(singular) >= 0
    singular[4][4] -= Fraction(1, 10**30)
    assert least_eigenvalue(singular) < 0
    assert least_eigenvalue([[0, 1], [1, 5]]) < 0 and least_eigenvalue([[0, 0], [0, 5]]) == 0


def test_a_false_identity_is_refuted_inside() -> None:
    quotient = pair_flow().quotient()
    points = natural_points(quotient, {"omega": "positive"})
    cc, vv, cv = (sym(f"KK_p_{ends}") for ends in ("good_good", "the_the", "good_the"))
    verdict = equal({"equality in Cauchy-Schwarz": (cc * vv, cv**2 + sym("omega"))}, points=points)
    assert verdict.as_stated == "fails" and natural_margin(quotient, verdict.witness.point) >= 0
    assert Fraction(verdict.witness.point["omega"]) > 0


def test_what_fails_only_outside_is_not_refuted() -> None:
    flow = pair_flow()
    gates = {"norm": step(-sym("KK_p_good_good")), "score": step(sym("KQ_p_good_the") ** 2 - norms("good", "the"))}
    for name, node in gates.items():
        result = zero_test(node)
        assert result.answer == "nonzero" and natural_margin(flow, result.witness) < 0, name
        assert zero_test(node, points=natural_points(flow)).answer == "undecided", name
        assert identity({name: node}, points=natural_points(flow)).as_stated == "undecided"
    cauchy = {"Cauchy-Schwarz": 1 + norms("good", "the") - sym("KQ_p_good_the") ** 2}
    assert always_positive(cauchy).as_stated == "fails"
    assert always_positive(cauchy, points=natural_points(flow)).as_stated == "undecided"
    assert always_positive({"twin": cauchy["Cauchy-Schwarz"] - 2}, points=natural_points(flow)).as_stated == "fails"


def norms(key: str, query: str):
    return sym(f"KK_p_{key}_{key}") * sym(f"QQ_p_{query}_{query}")


def test_other_symbols_come_from_their_domains() -> None:
    domains = {"omega": "positive", "g": "unit", "m": 4, "y": "real"}
    drawn = list(natural_points(pair_flow(), domains)([*domains, "KK_p_good_good"], 1))
    assert all(p["omega"] > 0 and 0 < p["g"] < 1 and p["m"] >= 4 and p["m"].denominator == 1 for p in drawn)
    assert {p["y"] > 0 for p in drawn} == {True, False}
    assert list(natural_points(pair_flow(), domains)(["g"], 1)) != list(natural_points(pair_flow(), domains)(["g"], 2))
    with pytest.raises(ParameterError, match="beta is no state"):
        zero_test(sym("beta") - sym("KK_p_good_good"), points=natural_points(pair_flow()))
    with pytest.raises(ParameterError, match="the domain 'any' of y is not known"):
        natural_points(pair_flow(), {"y": "any"})
    # names said to be positive are so in every witness
    result = zero_test(sym("y") + 3, positive=["y"], points=natural_points(pair_flow(), domains))
    assert result.answer == "nonzero" and result.witness is not None and result.witness["y"] > 0


def test_a_family_has_whole_numbers_of_groups() -> None:
    names = ["K", "KK_p_c_c_same", "KK_p_c_c_other"]
    assert {point["K"] for point in natural_points(family())(names, 0)} == {2, 3, 4}
    assert {point["K"] for point in natural_points(family().bind(K=3))(names, 0)} == {3}
    # other = -same / (K - 1) is the boundary: the sum over all groups has norm zero
    at = {"K": 3, "KK_p_c_c_same": Fraction(2)}
    assert natural_margin(family(), at | {"KK_p_c_c_other": Fraction(-1)}) == 0
    assert natural_margin(family(), at | {"KK_p_c_c_other": Fraction(-101, 100)}) < 0
    assert natural_margin(family(), at | {"K": 2, "KK_p_c_c_other": Fraction(-101, 100)}) > 0
    with pytest.raises(ParameterError, match="whole"):
        natural_margin(family(), at | {"K": Fraction(7, 4)})


def test_dependent_words_are_refused() -> None:
    words = Dictionary(["a", "b"], [[1, 1], [1, 1]])
    flow = gradient_flow(AttentionModel(words), Distribution([Sample(["a", "b"], 1)]))
    with pytest.raises(ModelError, match="linearly dependent"):
        next(iter(natural_points(flow)(flow.system.names, 0)))


@pytest.mark.parametrize("seed", range(5))
def test_semidefinite_matrices_are_those_without_negative_principal_minor(seed: int) -> None:
    """Small symmetric matrices of whole numbers: all principal minors, exactly, against the elimination."""
    rng, seen = np.random.default_rng(seed), set()
    for k in range(40):
        n = int(rng.integers(1, 4))
        root = rng.integers(-1, 2, (n, int(rng.integers(1, n + 1))))
        matrix = root @ root.T - (np.diag(rng.integers(0, 2, n)) if k % 2 else 0)
        minors = [
            sp.Matrix(matrix[np.ix_(chosen, chosen)].tolist()).det()
            for size in range(1, n + 1)
            for chosen in combinations(range(n), size)
        ]
        exact = [[int(x) for x in row] for row in matrix]
        inside = bool(min(minors) >= 0)
        assert _is_semidefinite(exact) is inside, exact
        value = least_eigenvalue(exact)
        assert (value >= 0) == inside and value == pytest.approx(np.linalg.eigvalsh(matrix)[0], abs=1e-12)
        seen.add(inside)
    assert seen == {True, False}


def test_rounding_of_floats_is_measured_by_their_size() -> None:
    for size in (1e-6, 1.0, 1e6):
        assert least_eigenvalue([[size, size], [size, size * (1 - 1e-13)]]) == 0.0
        assert least_eigenvalue([[size, size], [size, size * (1 - 1e-9)]]) < 0
        assert least_eigenvalue([[size, 0.0], [0.0, 2 * size]]) == size
    assert least_eigenvalue([[Fraction(3)]]) == 3.0 and least_eigenvalue([[Fraction(-1, 10**400)]]) < 0


def test_numbers_drawn_from_each_domain() -> None:
    domains = {"p": "positive", "u": "unit", "r": "real", "n": 5}
    drawn = list(natural_points(pair_flow(), domains)(list(domains), 7))
    seen = {name: {point[name] for point in drawn} for name in domains}
    assert seen["n"] <= {5, 6, 7} and len(seen["n"]) > 1
    assert all(Fraction(1, 8) <= v <= 3 and (8 * v).denominator == 1 for v in seen["p"])
    assert all(0 < v < 1 and (16 * v).denominator == 1 for v in seen["u"])
    assert all(-3 <= v <= 3 and (8 * v).denominator == 1 for v in seen["r"])
    with pytest.raises(ParameterError) as caught:
        natural_points(pair_flow(), {"y": "any"})
    assert caught.value.name == "y"
    with pytest.raises(ParameterError) as missing:
        next(natural_points(pair_flow())(["q"], 0))
    assert missing.value.name == "q"
    with pytest.raises(ParameterError, match="K is no state"):
        next(natural_points(pair_flow())(["K"], 0))


def test_points_of_a_quotient_are_means_over_orbits() -> None:
    """Drawn with one seed: those of the quotient are the signed means of those of the flow."""
    flow, quotient = pair_flow(), pair_flow().quotient()
    whole = natural_points(flow)(flow.system.names, 9)
    small = natural_points(quotient)(quotient.system.names, 9)
    for full, means in zip(whole, small, strict=True):
        wanted = quotient.orbits.project([float(full[n]) for n in flow.system.names])
        assert [float(means[n]) for n in quotient.system.names] == pytest.approx(wanted)


def test_margins_of_a_quotient_are_those_of_its_lift() -> None:
    quotient = pair_flow().quotient()
    rng = np.random.default_rng(2)
    for _ in range(4):
        z = {name: Fraction(int(v), 4) for name, v in zip(quotient.system.names, rng.integers(-6, 7, 99), strict=False)}
        full = quotient.lift([float(v) for v in z.values()])
        point = {n: Fraction(v) for n, v in zip(quotient.source.names, full, strict=True)}
        assert natural_margin(quotient, z) == pytest.approx(natural_margin(pair_flow(), point))
        assert natural_margin(quotient, {k: str(v) for k, v in z.items()}) == natural_margin(quotient, z)
