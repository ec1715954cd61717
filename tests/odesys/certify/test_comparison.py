"""Linear lower bounds: exact where they can be, certified by balls elsewhere, and refuted where they are false."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import sympy as sp

from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, gradient_flow
from odesys.analysis.linear import LinearSystem
from odesys.certify.comparison import BoundResult, extract_linear, lower_linear_bound, settle_gates
from odesys.certify.region import Region
from odesys.errors import EquationError, ParameterError
from odesys.expr import graph
from odesys.expr.system import System
from tests.known_systems import GROWTH_MATRIX, X, Y, growth, logistic, lotka_volterra, rigid_body

SEED = 5
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
ONE = sp.eye(1)


def holds_at_samples(
    system: System,
    block: list[str],
    matrix: sp.Matrix,
    region: Region,
    bound: BoundResult,
    parameters: dict[str, float] | None = None,
) -> bool:
    """Whether F_S >= rate A x_S at random points of the region, in floats."""
    rng, field = random.Random(SEED), system.compile(parameters or {})
    index = [system.names.index(name) for name in block]
    numbers, hits = np.array(matrix.tolist(), dtype=float), 0
    while hits < 200:
        point = {s: low + (high - low) * Fraction(rng.random()) for s, (low, high) in region.box.items()}
        if region.contains(point):
            hits += 1
            x = np.array([float(point[name]) for name in system.names])
            if np.any(field(0.0, x)[index] < float(bound.rate) * numbers @ x[index] - 1e-12):
                return False
    return True


# ---- extracting a block --------------------------------------------------------------------------------------------


def test_extract_reports_what_is_left_out() -> None:
    found = extract_linear(lotka_volterra(), ["x"], {"y": 3}, {"a": 5, "b": 1, "c": 1, "d": 1})
    assert found.matrix == sp.Matrix([[2]]) and found.affine
    assert found.outside == ("y",) and found.coupling == sp.Matrix([[0]])
    x, y = graph.sym("x"), graph.sym("y")
    assert found.rest == (5 * x - x * y - 2 * x,)
    body = extract_linear(rigid_body(), ["x", "y"], {"z": 1})
    assert body.matrix == sp.Matrix([[0, -1], [1, 0]]) and body.outside == ("z",)
    assert not extract_linear(logistic(), ["x"], {}, {"r": 1}).affine


def test_extract_of_a_closed_linear_system_leaves_nothing() -> None:
    found = extract_linear(growth(), ["x1", "x2", "x3"])
    assert found.matrix == sp.Symbol("b", real=True) * GROWTH_MATRIX
    assert found.outside == () and all(node is graph.ZERO for node in found.rest) and found.affine


def test_extract_refuses_unknown_and_repeated_states() -> None:
    with pytest.raises(EquationError, match="q is not a state"):
        extract_linear(growth(), ["q"])
    with pytest.raises(EquationError, match="twice"):
        extract_linear(growth(), ["x1", "x1"])


# ---- regions -------------------------------------------------------------------------------------------------------


# ---- certified minima ----------------------------------------------------------------------------------------------


# ---- bounds --------------------------------------------------------------------------------------------------------


def test_affine_rows_are_exact_with_symbols() -> None:
    names = ["x1", "x2", "x3"]
    bound = lower_linear_bound(growth(), names, GROWTH_MATRIX, dict.fromkeys(names, (0, 1)))
    assert (bound.answer, bound.rate, bound.optimal) == ("holds", sp.Symbol("b", real=True), True)
    assert bound.evidence == "proof"
    assert bound.transfers.answer == "undecided"  # the sign of b is not known
    rate = sp.Symbol("b", positive=True)
    known = lower_linear_bound(growth(), names, GROWTH_MATRIX, dict.fromkeys(names, (0, 1)), {"b": rate})
    assert known.rate == rate and known.transfers.answer == "yes"
    two = lower_linear_bound(growth(), names, GROWTH_MATRIX, dict.fromkeys(names, (0, 1)), {"b": 2})
    assert two.rate == 2 and two.transfers.answer == "yes" and two.evidence == "proof"


def test_the_bound_of_the_logistic_equation() -> None:
    region = Region({"x": (0, QUARTER)})
    bound = lower_linear_bound(logistic(), ["x"], ONE, region, {"r": 2})
    assert (bound.answer, bound.rate, bound.optimal) == ("holds", sp.Rational(3, 2), True)
    assert bound.evidence == "certificate" and bound.tight_at["x"] == QUARTER
    assert holds_at_samples(logistic(), ["x"], ONE, region, bound, {"r": 2.0})
    with pytest.raises(ParameterError, match="number for r"):
        lower_linear_bound(logistic(), ["x"], ONE, region)


def test_the_bound_is_an_enclosure_where_no_corner_is_tight() -> None:
    system = System.from_equations({X: X * (1 + (X - sp.Rational(1, 3)) ** 2)})
    bound = lower_linear_bound(system, ["x"], ONE, {"x": (0, 1)}, tolerance=1e-4)
    assert bound.answer == "holds" and not bound.optimal
    assert bound.rate <= 1 <= bound.upper and bound.upper - bound.rate < sp.Rational(1, 1000)
    ratio = 1 + (bound.tight_at["x"] - Fraction(1, 3)) ** 2
    assert sp.Rational(ratio) <= bound.upper


def test_conditions_of_the_region_are_used() -> None:
    system = System.from_equations({X: X - Y * sp.exp(Y), Y: -Y})
    box = {"x": (0, 1), "y": (0, 1)}
    bound = lower_linear_bound(system, ["x"], ONE, Region(box, [X / 4 - Y]))
    assert bound.answer == "holds" and bound.optimal
    assert sp.expand(bound.rate - (1 - sp.exp(sp.Rational(1, 4)) / 4)) == 0
    assert holds_at_samples(system, ["x"], ONE, Region(box, [X / 4 - Y]), bound)
    without = lower_linear_bound(system, ["x"], ONE, box)
    assert without.answer == "fails" and without.rate is None
    witness = without.tight_at
    assert witness["x"] == 0 and float(witness["y"]) > 0  # there A x = 0 and F < 0: no rate can help


@pytest.mark.parametrize("plain", [1, 2, 3])
def test_the_rate_is_the_least_over_exact_rows_and_rows_of_balls(plain: int) -> None:
    """x' = x (2 + x) has the least ratio 2, at the end of the box; y' is `plain` times y everywhere."""
    system = System.from_equations({X: X * (2 + X), Y: plain * Y})
    region = Region({"x": (0, 1), "y": (0, 1)})
    for block in (["x", "y"], ["y", "x"]):
        bound = lower_linear_bound(system, block, sp.eye(2), region)
        assert bound.answer == "holds" and bound.evidence == "certificate"
        assert min(plain, 2) - Fraction(1, 100) <= bound.rate <= min(plain, 2) <= bound.upper
        assert holds_at_samples(system, block, sp.eye(2), region, bound)
        if plain < 3:  # balls reach 2 as well: that takes nothing from what is exact
            assert (bound.rate, bound.optimal, bound.upper, bound.row) == (plain, True, plain, "y")


def test_a_product_with_a_sum_is_distributed() -> None:
    """(2 x - y) e^y / x >= 3/2 for 0 <= y <= x/2, and no more: the ratio tends to 3/2 at the origin."""
    system = System.from_equations({X: (2 * X - Y) * sp.exp(Y), Y: -Y})
    region = Region({"x": (0, 1), "y": (0, 1)}, [X / 2 - Y])
    bound = lower_linear_bound(system, ["x"], ONE, region)
    assert (bound.answer, bound.rate) == ("holds", sp.Rational(3, 2)) and not bound.optimal
    assert bound.upper >= bound.rate and holds_at_samples(system, ["x"], ONE, region, bound)


def test_the_sign_of_the_field_matters() -> None:
    """The broken twin: one sign flipped, and the bound that held is refuted or negative."""
    names, box = ["x1", "x2", "x3"], dict.fromkeys(["x1", "x2", "x3"], (0, 1))
    x1, x2, x3 = sp.symbols("x1 x2 x3")
    broken = System.from_equations({x1: x2 - x3, x2: x1, x3: x1})
    assert lower_linear_bound(broken, names, GROWTH_MATRIX, box).rate == -1
    negative = lower_linear_bound(broken, names, GROWTH_MATRIX, box)
    assert negative.transfers.answer == "no"  # a negative multiple of A is not Metzler
    worse = System.from_equations({x1: x2 + x3 - sp.Rational(1, 10), x2: x1, x3: x1})
    assert lower_linear_bound(worse, names, GROWTH_MATRIX, box).answer == "fails"


def test_metzler_is_reported_apart_from_the_inequality() -> None:
    system = System.from_equations({X: Y - X, Y: X})
    region = {"x": (0, 1), "y": (0, 1)}
    bound = lower_linear_bound(system, ["x", "y"], sp.Matrix([[0, 1], [-1, 0]]), Region(region, [Y / 2 - X]))
    assert (bound.answer, bound.rate) == ("holds", sp.Rational(1, 2))
    assert (bound.transfers.answer, bound.transfers.entry) == ("no", (1, 0))
    step = System.from_equations({X: X + Y, Y: Y}, kind="map")
    assert lower_linear_bound(step, ["x", "y"], sp.Matrix([[1, 1], [0, 1]]), region).transfers.answer == "yes"


def test_not_knowing_is_said() -> None:
    kink = System.from_equations({X: sp.Max(X, 2 * X - sp.Rational(1, 2))})
    bound = lower_linear_bound(kink, ["x"], ONE, {"x": (0, 1)}, boxes=60)
    assert bound.answer == "undecided" and bound.evidence == "measurement"
    assert bound.upper is not None and bound.upper <= sp.Rational(11, 10)  # sampled: the ratio is 1 below the kink


def test_refusals_are_sentences() -> None:
    with pytest.raises(EquationError, match="y has no range"):
        lower_linear_bound(lotka_volterra(), ["x"], ONE, {"x": (0, 1)}, dict.fromkeys("abcd", 1))
    with pytest.raises(EquationError, match="2 states but the matrix is 1 by 1"):
        lower_linear_bound(lotka_volterra(), ["x", "y"], ONE, {"x": (0, 1), "y": (0, 1)})
    with pytest.raises(EquationError, match="rational"):
        lower_linear_bound(logistic(), ["x"], sp.Matrix([[sp.sqrt(2)]]), {"x": (0, 1)}, {"r": 1})


def test_the_bound_transfers_to_a_trajectory() -> None:
    """x' = x cos x >= cos(1) x on [0, 1], so x(t) >= x0 e^(cos(1) t) while x <= 1."""
    from scipy.integrate import solve_ivp

    system = System.from_equations({X: X * sp.cos(X)})
    bound = lower_linear_bound(system, ["x"], ONE, {"x": (0, 1)})
    assert bound.rate == sp.cos(1) and bound.transfers.answer == "yes"
    below = LinearSystem(bound.rate * ONE, sp.Matrix([sp.Rational(1, 10)]))
    run = solve_ivp(system.compile(), (0, 2.0), [0.1], rtol=1e-10, atol=1e-12, dense_output=True)
    for t in (0.5, 1.0, 1.9):
        assert 1 > run.sol(t)[0] >= float(below.solution(sp.Rational(str(t)))[0])


def test_a_search_for_a_rate_of_use_ends_at_a_point_that_excludes_it() -> None:
    x = sp.Symbol("x")
    system, region = System.from_equations({x: x * sp.cos(x)}), {"x": (Fraction(1, 2), Fraction(2))}
    plain = lower_linear_bound(system, ["x"], ONE, region)
    assert plain.answer == "holds" and float(plain.rate) == pytest.approx(math.cos(2), rel=1e-2)
    bound = lower_linear_bound(system, ["x"], ONE, region, wanted=Fraction(0))
    assert (bound.answer, bound.rate, bound.evidence, bound.details["boxes"]) == ("fails", None, "certificate", 0)
    assert bound.upper <= 0 and math.cos(bound.tight_at["x"]) <= float(bound.upper) + 1e-12
    met = lower_linear_bound(system, ["x"], ONE, region, wanted=Fraction(-1))
    assert met == plain, "a need that can be met changes nothing"


def test_a_rate_of_use_is_more_than_what_was_wanted() -> None:
    below, just = [
        lower_linear_bound(logistic(), ["x"], ONE, {"x": (0, QUARTER)}, {"r": 2}, wanted=wanted)
        for wanted in (Fraction(149, 100), Fraction(3, 2))
    ]
    assert (below.answer, below.rate) == ("holds", sp.Rational(3, 2))
    assert (just.answer, just.rate, just.upper) == ("fails", None, sp.Rational(3, 2))


def test_where_the_linear_system_rests_no_rate_makes_up_for_a_negative_field() -> None:
    """Of A = -1 on [0, 1] all large rates are lower bounds if the field at 0 is not negative, and none is if it is."""
    for field, answer in ((X, "holds"), (-X, "holds"), (X - 1, "fails")):
        bound = lower_linear_bound(System.from_equations({X: field}), ["x"], -ONE, {"x": (0, 1)})
        assert (bound.answer, bound.rate) == (answer, sp.oo if answer == "holds" else None)
    assert bound.tight_at == {"x": 0}


# ---- the two-mixture block -----------------------------------------------------------------------------------------


@cache
def stage_two() -> System:
    """The 22-state quotient of stage 2 by the symmetries of the whole data set; neurons become parameters."""
    samples = {}
    for k, s, r in itertools.product((1, 2), (1, -1), (1, -1)):
        words = [f"c{k}", f"{'' if s > 0 else '-'}v{k}", f"{'' if r > 0 else '-'}v{3 - k}"]
        samples[k, s, r] = words
    everything = Distribution([Sample(words, s, Fraction(1, 8)) for (k, s, r), words in samples.items()])
    conflicting = Distribution([Sample(words, s, QUARTER) for (k, s, r), words in samples.items() if r == -s])
    model = AttentionModel(Dictionary(["c1", "c2", "v1", "v2"]), [Head(1, "relu", "b"), Head(-1, "relu", "b")])
    generators = gradient_flow(model, everything).symmetries().generators
    flow = gradient_flow(model, conflicting, train=("W_K", "W_Q"), carry=("w", "W_K", "W_Q"))
    return flow.quotient(generators=generators).system.freeze_still()


BLOCK = ["KQ_p_c1_v1", "KK_p_c1_c1", "QQ_p_v1_v1"]


def dominance(size: Fraction) -> Region:
    """Scores up to `size`, and the dominance that Lemma E.1 provides, with constants 0.51, 0.26, 0.26."""
    system = stage_two()
    box = {s: (-size, size) if s.startswith("KQ") else (Fraction(-1), Fraction(1)) for s in system.names}
    conditions = []
    for same, other, constant in (
        ("KQ_p_c1_v1", "KQ_p_c1_v2", Fraction(51, 100)),
        ("KK_p_c1_c1", "KK_p_c1_c2", Fraction(26, 100)),
        ("QQ_p_v1_v1", "QQ_p_v1_v2", Fraction(26, 100)),
    ):
        box[same], box[other] = (Fraction(0), box[same][1]), (box[other][0], Fraction(0))
        diagonal = {"KK_p_v1_v1", "QQ_p_c1_c1"}
        for name in (s for s in system.names if s[:2] == same[:2] and s not in {same, other} | diagonal):
            for large in (graph.sym(same), -graph.sym(other)):
                conditions += [constant * large - graph.sym(name), constant * large + graph.sym(name)]
    for small, large in (("KK_p_v1_v1", "KK_p_c1_c1"), ("QQ_p_c1_c1", "QQ_p_v1_v1")):
        box[small] = (Fraction(0), Fraction(1))
        conditions.append(graph.sym(large) - graph.sym(small))
    return Region(box, conditions)


def neurons(n_c: Fraction) -> dict[str, Fraction]:
    return {"w_p_c1": n_c, "w_p_v1": Fraction(870339, 10**6), "b": HALF}


def test_two_mixture_block_at_the_start_of_stage_two() -> None:
    """With g = 1/2 the first row is kappa (A_cc + B_vv), the others 2 kappa M_cv and outside terms."""
    system, n_c, omega = stage_two(), Fraction(3, 10), Fraction(1, 100)
    assert system.dimension == 20
    point = {"KK_p_c1_c1": omega**2, "KK_p_v1_v1": omega**2, "QQ_p_c1_c1": omega**2, "QQ_p_v1_v1": omega**2}
    found = extract_linear(system, BLOCK, point, neurons(n_c))
    kappa = sp.Rational(n_c) / 18
    assert found.matrix[0, 1] == found.matrix[0, 2] == kappa
    assert found.matrix[1, 0] == found.matrix[2, 0] == 2 * kappa
    assert abs(found.matrix[0, 0]) < sp.Rational(omega**2) and found.matrix[1:, 1:] == sp.zeros(2, 2)
    coupled = {name for j, name in enumerate(found.outside) if any(abs(v) > kappa / 2 for v in found.coupling[:, j])}
    assert coupled == {"KQ_p_c1_v2", "KK_p_c1_c2", "QQ_p_v1_v2"}
    assert not found.affine


@pytest.mark.nightly  # the book's own tests have this bound every time
def test_two_mixture_scores_grow_exponentially() -> None:
    """Lemma E.2 on the whole region |M| <= 1/100: the rate is between 0.99 and 0.998 of kappa, certified from below."""
    n_c, region = Fraction(310170, 10**6), dominance(Fraction(1, 100))
    bound = lower_linear_bound(stage_two(), BLOCK, GROWTH_MATRIX, region, neurons(n_c), tolerance=1e-2)
    kappa = sp.Rational(n_c) / 18
    assert bound.answer == "holds" and bound.evidence == "certificate" and bound.transfers.answer == "yes"
    assert 0.99 < bound.rate / kappa < bound.upper / kappa < 0.998
    assert region.contains(bound.tight_at)
    field = stage_two().compile({name: float(v) for name, v in neurons(n_c).items()})
    x = np.array([float(bound.tight_at[name]) for name in stage_two().names])
    row = BLOCK.index(bound.row)
    at = [stage_two().names.index(name) for name in BLOCK]
    ratio = field(0.0, x)[at[row]] / (np.array(GROWTH_MATRIX.tolist(), dtype=float) @ x[at])[row]
    assert math.isclose(ratio, float(bound.upper), rel_tol=1e-9)


@pytest.mark.slow
def test_two_mixture_broken_twin_does_not_grow() -> None:
    """With the sign of the group neuron flipped no positive rate survives."""
    region, flipped = dominance(Fraction(1, 100)), neurons(Fraction(-3, 10))
    bound = lower_linear_bound(stage_two(), BLOCK, GROWTH_MATRIX, region, flipped, tolerance=1e-1, boxes=150)
    assert bound.rate is None or bound.rate < 0
    assert bound.upper is not None and bound.upper < 0


def test_a_bound_by_balls_keeps_its_certificate_where_that_is_asked_for() -> None:
    region = {"x": (QUARTER, HALF)}
    system = System.from_strings({"x": "x*exp(-x)"})
    found = lower_linear_bound(system, ["x"], ONE, region, keep_boxes=True)
    assert found.evidence == "certificate" and found.certificate is not None
    assert lower_linear_bound(system, ["x"], ONE, region).certificate is None


def random_rows(rng: random.Random, size: int, low: int, high: int) -> list[list[int]]:
    return [[rng.randint(low, high) for _ in range(size)] for _ in range(size)]


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_of_affine_rows_is_the_least_ratio_at_a_vertex(seed: int) -> None:
    """F - b A x is least at a vertex: where (A x)_i > 0 that limits b, elsewhere it is what b must meet."""
    rng = random.Random(seed)
    kinds = set()
    for _ in range(6):
        field, linear = random_rows(rng, 2, -2, 5), random_rows(rng, 2, -1, 2)
        shift = [rng.choice([0, 0, 1, 3]) for _ in range(2)]
        ends = [(rng.choice([0, 0, 1]), rng.choice([2, 3])) for _ in range(2)]
        x = sp.symbols("x y")
        system = System.from_equations({x[i]: sum(field[i][j] * x[j] for j in range(2)) + shift[i] for i in range(2)})
        region = Region({"x": ends[0], "y": ends[1]})
        pairs = []
        for place in itertools.product(*ends):
            for i in range(2):
                value = sum(field[i][j] * place[j] for j in range(2)) + shift[i]
                pairs.append((Fraction(value), Fraction(sum(linear[i][j] * place[j] for j in range(2))), i))
        ratios = [value / beta for value, beta, _ in pairs if beta > 0]
        rate = min(ratios) if ratios else None
        bad = [1 for value, beta, _ in pairs if (beta == 0 and value < 0) or (rate is not None and value < rate * beta)]
        found = lower_linear_bound(system, ["x", "y"], sp.Matrix(linear), region)
        assert found.answer == ("fails" if bad else "holds") and found.evidence == "proof", (field, linear, shift, ends)
        kinds.add(found.answer)
        if bad:
            assert found.rate is None and not found.optimal
            continue
        assert found.optimal and found.rate == (sp.oo if rate is None else sp.Rational(rate)) == found.upper
        if rate is not None:
            i = ["x", "y"].index(found.row)
            at = [found.tight_at[s] for s in "xy"]
            assert sum(field[i][j] * at[j] for j in range(2)) + shift[i] == rate * sum(
                linear[i][j] * at[j] for j in range(2)
            )
            off = [rate * linear[0][1], rate * linear[1][0]]
            assert found.transfers.answer == ("yes" if min(off) >= 0 else "no")
    assert "holds" in kinds


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_of_rows_with_a_factor_is_found_at_the_end_where_it_is_worst(seed: int) -> None:
    """F_i = e^z (M x)_i on a box with z in [0, 1]: e^z is least at 0 and largest at 1, so ratios are, too."""
    rng = random.Random(seed)
    for _ in range(2):
        field, linear = random_rows(rng, 2, -1, 5), random_rows(rng, 2, 0, 2)
        x = sp.symbols("x y z")
        rows = {x[i]: sp.exp(x[2]) * sum(field[i][j] * x[j] for j in range(2)) for i in range(2)}
        system = System.from_equations({**rows, x[2]: -x[2]})
        region = Region({"x": (0, 1), "y": (0, 1), "z": (0, 1)})
        entries = [(field[i][j], linear[i][j]) for i in range(2) for j in range(2)]
        ratios = [sp.Rational(m, a) * (sp.E if m < 0 else 1) for m, a in entries if a > 0]
        found = lower_linear_bound(system, ["x", "y"], sp.Matrix(linear), region)
        if any(a == 0 and m < 0 for m, a in entries):
            assert found.answer == "fails" and region.contains(found.tight_at)
            continue
        if not ratios:
            continue
        assert found.answer == "holds" and found.evidence in ("certificate", "proof")
        assert found.rate <= min(ratios) <= found.upper + sp.Rational(1, 10**9)
        assert min(ratios) - found.rate <= sp.Rational(1, 500) * abs(min(ratios)) + sp.Rational(1, 10**9)
        assert holds_at_samples(system, ["x", "y"], sp.Matrix(linear), region, found)


def test_a_flow_may_decay_and_a_map_may_not() -> None:
    """The diagonal is no matter for a flow; for a map with a negative entry nothing follows for its iterates."""
    for kind, answer in (("flow", "yes"), ("map", "no")):
        bound = lower_linear_bound(System.from_equations({X: -X}, kind=kind), ["x"], -ONE, {"x": (-1, 1)})
        assert bound.transfers.answer == answer


def test_gates_with_one_sign_on_a_region_are_settled() -> None:
    x, y, p = map(graph.sym, "xyp")
    region = Region({"x": (0, 1), "y": (0, 1)}, [x / 2 - y])
    open_one, shut, mixed, loose = x + 1, y - x - 1, x - HALF, x - p
    nodes = [graph.step(surface) * graph.step(-surface + 0) + graph.step(surface) for surface in (mixed, loose)]
    nodes += [graph.step(open_one) * 3 + graph.step(-open_one), graph.step(shut) * 5 + 7 * graph.step(-shut)]
    settled = settle_gates(nodes, region)
    assert settled[:2] == nodes[:2] and settled[2:] == [graph.num(3), graph.num(7)]
    tied = graph.step(x - y + Fraction(1, 10)) * x
    assert settle_gates([tied], region) == [x], "y is at most x/2"
    assert settle_gates([tied], Region({"x": (0, 1), "y": (0, 1)})) == [tied]
    assert settle_gates([graph.step(x)], region) == [graph.step(x)], "zero is in the region"


def test_floats_and_symbols_as_parameters_of_a_bound() -> None:
    """A float is the decimal that it prints as; in rows of balls every symbol needs a number."""
    bound = lower_linear_bound(logistic(), ["x"], ONE, {"x": (0, QUARTER)}, {"r": 0.1})
    assert (bound.answer, bound.rate) == ("holds", sp.Rational(3, 40))
    a, q = sp.Symbol("a", positive=True), sp.Symbol("q", positive=True)
    system = System.from_equations({X: a * X + q * Y, Y: q * X}, parameters=[a, q])
    matrix = sp.Matrix([[0, 1], [1, 0]])
    found = lower_linear_bound(system, ["x", "y"], matrix, {"x": (0, 1), "y": (0, 1)}, {"a": a, "q": q})
    assert (found.answer, found.rate, found.transfers.answer) == ("holds", q, "yes")
    with pytest.raises(ParameterError, match=r"whether .* is smaller depends on parameters; give numbers"):
        lower_linear_bound(system, ["x", "y"], sp.eye(2) + matrix, {"x": (0, 1), "y": (0, 1)}, {"a": a, "q": q})


def test_the_rest_of_a_block_is_what_its_matrix_leaves_of_the_field() -> None:
    """At every point F_S = A x_S + rest; A and the coupling are difference quotients at the point of extraction."""
    x, y, z = sp.symbols("x y z")
    system = System.from_equations({x: x * y - z**2 + 3 * x, y: sp.exp(x) * z, z: -z + x})
    point = {"x": Fraction(1, 2), "y": Fraction(-1), "z": Fraction(2)}
    found = extract_linear(system, ["z", "x"], point)
    assert found.states == ("z", "x") and found.outside == ("y",) and not found.affine
    assert found.matrix == sp.Matrix([[-1, 1], [-4, 2]]) and found.coupling == sp.Matrix([[0], [sp.Rational(1, 2)]])
    for at in ({"x": 0.3, "y": -0.7, "z": 1.1}, {"x": -2.0, "y": 0.5, "z": 0.25}):
        rest = graph.evaluate(list(found.rest), at, {"exp": math.exp}, float)
        field = system.compile()(0.0, np.array([at[name] for name in system.names]))
        linear = np.array(found.matrix.tolist(), dtype=float) @ [at["z"], at["x"]]
        assert linear + np.array(rest) == pytest.approx(field[[2, 0]], rel=1e-12)
    with pytest.raises(EquationError, match="it is empty"):
        extract_linear(system, [])


def test_the_point_of_least_slack_of_a_search_attains_its_upper_end() -> None:
    """Rows of balls: tight_at is in the region, and the ratio there is the upper end; boxes spent are counted."""
    x, y = sp.symbols("x y")
    system = System.from_equations({x: x * (2 + sp.sin(3 * y)) + y**2 * x, y: -y})
    region = Region({"x": (0, 1), "y": (-2, 2)})
    for boxes in (40, 3000):
        found = lower_linear_bound(system, ["x"], ONE, region, boxes=boxes)
        assert found.answer == "holds" and region.contains(found.tight_at) and 0 < found.details["boxes"] <= boxes + 1
        ratio = 2 + math.sin(3 * found.tight_at["y"]) + float(found.tight_at["y"]) ** 2
        assert float(found.upper) == pytest.approx(ratio, abs=1e-9) and found.rate <= found.upper
    grid = np.linspace(-2, 2, 4001)
    least = (2 + np.sin(3 * grid) + grid**2).min()
    assert least - 2e-3 * least <= float(found.rate) <= least + 1e-12 and not found.optimal


def test_the_certificate_of_a_bound_states_a_rate_below_all_that_is_known() -> None:
    system = System.from_strings({"x": "x*exp(-x)", "y": "y/7 + x*(1 - x)*0"})
    found = lower_linear_bound(system, ["x", "y"], sp.eye(2), {"x": (QUARTER, HALF), "y": (0, 1)}, keep_boxes=True)
    assert found.answer == "holds" and found.certificate is not None
    assert Fraction(found.certificate["rate"]) <= Fraction(1, 7) and found.rate == sp.Rational(1, 7)
    assert found.certificate["block"] == ["x", "y"] and found.certificate["matrix"] == [["1", "0"], ["0", "1"]]


@pytest.mark.parametrize("seed", range(8))
def test_vertices_where_the_linear_system_falls_ask_for_a_rate_that_is_large_enough(seed: int) -> None:
    """F = e^z (m x + n y) and (A x) = a x - c y with z in [0, 1]: b is limited along x, and must be met along y."""
    rng = random.Random(seed)
    answers = set()
    for _ in range(4):
        m, n, a, c = rng.randint(-2, 4), rng.randint(-6, 4), rng.randint(1, 2), rng.randint(1, 2)
        x, y, z = sp.symbols("x y z")
        system = System.from_equations({x: sp.exp(z) * (m * x + n * y), y: -y, z: -z})
        region = Region({"x": (0, 1), "y": (0, 1), "z": (0, 1)})
        found = lower_linear_bound(system, ["x", "y"], sp.Matrix([[a, -c], [0, -1]]), region)
        rate = min(m, m * math.e) / a  # of the row of x; the row of y allows all rates from 1 on, and asks for them
        least = min(n, n * math.e) + rate * c
        if abs(least) < 0.05 or abs(rate - 1) < 0.05:
            continue
        wanted = least > 0 and rate > 1
        answers.add(wanted)
        assert (found.answer == "holds") == wanted, (m, n, a, c)
        if rate > 1 and least < 0:
            assert found.answer == "fails" and found.tight_at["y"] > 0 and region.contains(found.tight_at)
        if wanted:
            assert rate - 0.01 <= float(found.rate) <= rate + 1e-9
    assert answers
