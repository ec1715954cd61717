"""Family flows: the same field as enumerated systems for small K, for several families, and its limit in K."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from derivations.two_mixture import dynamics, setting
from odesys import (
    AttentionModel,
    Dictionary,
    Distribution,
    FixedVector,
    Head,
    Neurons,
    Sample,
    Value,
    gradient_descent,
    gradient_flow,
    graph,
    maps,
)
from odesys.analysis.family_invariants import family_drift
from odesys.analysis.lax import invariant_drift
from odesys.errors import (
    EquationError,
    ModelError,
    NothingMovesWarning,
    ParameterError,
    SlavingError,
    SymmetryError,
)
from odesys.model.family import Family, OtherGroups, SampleTemplate
from odesys.model.family_symmetry import TypeSymmetry
from odesys.reduce.family_gradient import family_descent, family_flow

HALF = Fraction(1, 2)
SEED = 20


def states(dimension: int, count: int = 6) -> np.ndarray:
    """Random states, large enough that gates are on and off."""
    return np.random.default_rng(SEED).normal(size=(count, dimension)) * np.linspace(0.2, 2.0, count)[:, None]


# ---- the two-mixture family --------------------------------------------------------------------------------------


def by_hand(z: dict[str, float], K: int, L: int, b: float) -> tuple[dict[str, float], set[bool]]:
    """Field of the + head written as plain loops over all words and all ordered samples, with NumPy matrices."""
    kind = "c" * K + "v" * K
    group = [*range(K), *range(K)]

    def fill(letter: str) -> np.ndarray:
        def entry(i: int, j: int) -> float:
            relation = "same" if group[i] == group[j] else "other"
            kinds = kind[i] + kind[j]
            return z[f"{letter}_{kinds if letter == 'M' else ''.join(sorted(kinds))}_{relation}"]

        return np.array([[entry(i, j) for j in range(2 * K)] for i in range(2 * K)])

    flip = np.array([1.0] * K + [-1.0] * K)
    n = np.array([z[f"n_{k}"] for k in kind])
    M, A, B = fill("M"), fill("A"), fill("B")
    heads = {1: (n, M), -1: (flip * n, np.outer(flip, flip) * M)}
    force_n, G, seen = np.zeros(2 * K), np.zeros((2 * K, 2 * K)), set()
    for k, y in product(range(K), (1, -1)):
        others = [(K + j, s) for j in range(K) if j != k for s in (1, -1)]
        for draws in product(others, repeat=L - 2):
            tokens = [(k, 1), (K + k, y), *draws]
            weight = 1 / (2 * K * len(others) ** (L - 2))
            f, parts = 0.0, None
            for sign, (nn, MM) in heads.items():
                H, dn, dM = b, np.zeros(2 * K), np.zeros((2 * K, 2 * K))
                for q, sq in tokens:
                    e = np.exp([sq * sk * MM[key, q] for key, sk in tokens])
                    p = e / e.sum()
                    u = [sk * nn[key] for key, sk in tokens]
                    mean = float(p @ u)
                    H += mean
                    for (key, sk), pk, uk in zip(tokens, p, u, strict=True):
                        dn[key] += pk * sk
                        dM[key, q] += pk * (uk - mean) * sk * sq
                seen.add(H > 0)
                f += sign * max(H, 0.0)
                if sign > 0:
                    parts = (float(H > 0), dn, dM)
            gate, dn, dM = parts
            slope = weight * y * gate / (1 + np.exp(y * f))
            force_n += slope * dn
            G += slope * dM
    full = {"M": A @ G + G @ B, "A": M @ G.T + G @ M.T, "B": M.T @ G + G.T @ M}
    out = {"n_c": force_n[0], "n_v": force_n[K]}
    for letter, relation in product("MAB", ("same", "other")):
        for a, c in product("cv", repeat=2):
            i, j = "cv".index(a) * K, "cv".index(c) * K + (relation == "other")
            out[f"{letter}_{a}{c}_{relation}"] = full[letter][i, j]
    return out, seen


@pytest.mark.parametrize("L", [3, 4, pytest.param(5, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("K", [2, 3, 4])
def test_field_is_that_of_the_enumerated_system(K: int, L: int) -> None:
    flow, listed = dynamics.family("simultaneous", L), dynamics.reduced("simultaneous", K, L)
    assert flow.system.dimension == 22 == dynamics.family("simultaneous", L, K).system.dimension
    names = flow.system.names
    order = [listed.system.names.index(name) for name in names]
    field, own = flow.compile(K=K, b=0.5), dynamics.family("simultaneous", L, K).compile(b=0.5)
    full = listed.system.compile({"b": 0.5}, "block")
    gates = set()
    for z in states(22, 4):
        enumerated = np.empty(22)
        enumerated[order] = z
        expected = full(0.0, enumerated)[order]
        assert np.abs(field(0.0, z) - expected).max() < 1e-12 and np.abs(own(0.0, z) - expected).max() < 1e-12
        gates |= set(full.surfaces(0.0, enumerated) > 0)
    assert gates == {True, False}


@pytest.mark.parametrize(("K", "L"), [(2, 3), (3, 3), (4, 3), (2, 4), (3, 4), (4, 4), (2, 5), (3, 5), (4, 5)])
def test_field_is_that_of_plain_loops(K: int, L: int) -> None:
    flow = dynamics.family("simultaneous", L)
    field, gates = flow.compile(K=K, b=0.5), set()
    for z in states(22, 3 if K * L < 16 else 2):
        expected, seen = by_hand(dict(zip(flow.system.names, z, strict=True)), K, L, 0.5)
        gates |= seen
        assert max(abs(v - expected[n]) for n, v in zip(flow.system.names, field(0.0, z), strict=True)) < 1e-12
    assert gates == {True, False}


@pytest.mark.parametrize("stage", ["stage1", "stage2", "stage3"])
def test_stages_and_descent_and_slaving_agree_with_the_enumerated_ones(stage: str) -> None:
    for K in (2, 3):
        pairs = [
            (dynamics.family(stage).system, dynamics.reduced(stage, K).system, {"b": 0.5}),
            (dynamics.family_slaved(stage).system, dynamics.slaved(stage, K).system, {"b": 0.5, "omega": 0.3}),
            (dynamics.family_map().system, dynamics.reduced_descent(K).system, {"b": 0.5, "eta": 0.1}),
        ]
        for mine, listed, values in pairs:
            order = [listed.names.index(name) for name in mine.names]
            f, g = mine.compile({**values, "K": K}), listed.compile(values)
            for z in states(mine.dimension, 3):
                enumerated = np.empty(mine.dimension)
                enumerated[order] = z
                assert np.abs(f(0.0, z) - g(0.0, enumerated)[order]).max() < 1e-12


def test_sizes_for_every_length() -> None:
    for L in (3, 4, 6):
        flow = dynamics.family("simultaneous", L)
        kinds = [name[0] for name in flow.system.names]
        assert [kinds.count(kind) for kind in "nMAB"] == [2, 8, 6, 6]
        assert L > 4 or dynamics.family_slaved("simultaneous", L).system.dimension == 10
        assert set(flow.system.parameters) == {"K", "b"}
        (swap,) = flow.symmetries
        assert swap.describe(flow.family, flow.origin.labels) == "v -> -v, head p -> m, head m -> p, label -> -label"


def test_lift_project_and_start_are_those_of_the_enumerated_flow() -> None:
    flow = dynamics.family()
    for K in (2, 3):
        listed = dynamics.reduced("simultaneous", K)
        z = states(22, 1)[0]
        by_name = dict(zip(flow.system.names, z, strict=True))
        full = listed.lift(np.array([by_name[name] for name in listed.system.names]))
        assert (flow.bind(K=K).lift(z) == full).all() and np.abs(flow.bind(K=K).project(full) - z).max() < 1e-15
    assert flow.variable("KQ_p", "c", "v", "other") == ("M_cv_other", 1)
    assert flow.variable("KQ_m", "c", "v", "other") == ("M_cv_other", -1)
    assert flow.variable("w_m", None, "c") == ("n_c", 1)
    start = dict(zip(flow.system.names, flow.initial_state(0.1), strict=True))
    assert {name: value for name, value in start.items() if value} == {
        f"{a}_{b}_same": 0.1**2 for a in "AB" for b in ("cc", "vv")
    }


def test_drift_gauges_the_same_conserved_numbers() -> None:
    z = dynamics.family().initial_state(0.3)
    moved = np.array([z, z + 0.01 * states(22, 1)[0]])
    listed = dynamics.reduced("simultaneous", 3)
    order = [dynamics.family().system.names.index(name) for name in listed.system.names]
    assert family_drift(dynamics.family(), [z], 3) == 0
    mine = family_drift(dynamics.family(), moved, 3)
    other = invariant_drift(listed.flow, listed.lift(moved[:, order]))
    assert mine > 1e-4 and other > 1e-4 and 0.2 < mine / other < 20


# ---- the limit of many groups ------------------------------------------------------------------------------------


@pytest.mark.parametrize("L", [3, 4])
def test_scaled_flow_is_the_same_flow_and_has_a_limit(L: int) -> None:
    flow, scaled = dynamics.family("simultaneous", L), dynamics.family("simultaneous", L, scaled=True)
    limit = dynamics.family("simultaneous", L, "infinity").system
    assert limit.parameters == ("b",), "K does not occur in the limit"
    assert [name.replace("others", "other") for name in limit.names] == list(flow.system.names)
    f = limit.compile(b=0.5)
    gaps = []
    for K in (100, 1000, 10_000):
        units = np.array([K - 1 if name.endswith("other") else 1 for name in flow.system.names])
        one, other = flow.compile(K=K, b=0.5), scaled.compile(K=K, b=0.5)
        for z in states(22, 3):
            assert np.abs(K * units * one(0.0, z / units) - other(0.0, z)).max() < 1e-12
        gaps.append(max(np.abs(other(0.0, z) - f(0.0, z)).max() for z in states(22, 3)))
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.1) and gaps[1] / gaps[2] == pytest.approx(10, rel=0.01)
    assert gaps[2] < 1e-3


# ---- other families ----------------------------------------------------------------------------------------------


def other_labels() -> Family:
    """Two signal words per group: the label is the product of their signs; one distractor of either kind."""
    draw = OtherGroups({"u": Fraction(1, 3), "-v": Fraction(1, 3), "v": Fraction(1, 3)})
    signs = product((1, -1), repeat=2)
    return Family(
        ["c", "u", "v"],
        [
            SampleTemplate(["c", "u" if s > 0 else "-u", "v" if r > 0 else "-v", draw], s * r, Fraction(1, 4))
            for s, r in signs
        ],
    )


def listed_other_labels(K: int) -> Distribution:
    samples = []
    for k, s, r, j, word in product(range(1, K + 1), (1, -1), (1, -1), range(1, K + 1), ("u", "-v", "v")):
        if j != k:
            tokens = [f"c{k}", f"{'-' * (s < 0)}u{k}", f"{'-' * (r < 0)}v{k}", f"{word}{j}"]
            samples.append(Sample(tokens, s * r, Fraction(1, 4 * K * (K - 1) * 3)))
    return Distribution(samples)


def shared_words() -> Family:
    """A word that all groups share, and a group word that comes twice."""
    second = SampleTemplate(["c", OtherGroups(["v", "c"], 2), "the"], -1, HALF)
    return Family(["c", "v"], [SampleTemplate(["c", "c", "v", "the"], 1, HALF), second], shared=["the"])


def listed_shared_words(K: int) -> Distribution:
    samples = [Sample([f"c{k}", f"c{k}", f"v{k}", "the"], 1, HALF / K) for k in range(1, K + 1)]
    for k, a, j, c, i in product(range(1, K + 1), "vc", range(1, K + 1), "vc", range(1, K + 1)):
        if k not in (j, i):
            samples.append(Sample([f"c{k}", f"{a}{j}", f"{c}{i}", "the"], -1, HALF / (K * 4 * (K - 1) ** 2)))
    return Distribution(samples)


SHAPES = {
    "two heads": lambda words: AttentionModel(words, [Head(1, "relu", "b"), Head(-1, "relu", "b")]),
    "linear": lambda words: AttentionModel(words, [Head()], pooling="mean", scale=2),
    "output": lambda words: AttentionModel(words, [Head()], Value(("W", "W_V"), FixedVector("a", 3))),
    "neurons": lambda words: AttentionModel(words, [Head(1, "linear", HALF)], Value(("W_V",), Neurons((1, -2)))),
}
CASES = [(other_labels, listed_other_labels), (shared_words, listed_shared_words)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("make", "listing"), CASES)
def test_other_families_agree_with_their_enumeration(make, listing, shape: str) -> None:
    model = SHAPES[shape]
    family, train = make(), model(Dictionary(["x"])).weights
    for derive, listed in ((family_flow, gradient_flow), (family_descent, gradient_descent)):
        flow = derive(family, model, train=train)
        values = {name: 0.3 for name in flow.system.parameters if name != "K"}
        for K in (2, 3):
            full = listed(model(family.dictionary(K)), listing(K), train=train).system.compile(values, "block")
            field = flow.compile(K=K, **values)
            lift = flow.bind(K=K).lift
            for z in states(flow.system.dimension, 2):
                assert np.abs(lift(field(0.0, z)) - full(0.0, lift(z))).max() < 1e-12


def test_symmetries_of_other_families() -> None:
    flow = family_flow(other_labels(), SHAPES["two heads"])
    text = {e.describe(flow.family, flow.origin.labels) for e in flow.symmetries}
    assert text == {"v -> -v, head p -> m, head m -> p, label -> -label"}, "a distractor u has no negative"
    even = Family(
        ["u", "v"],
        [
            SampleTemplate([a, b], s * r, Fraction(1, 4))
            for (a, s), (b, r) in product((("u", 1), ("-u", -1)), (("v", 1), ("-v", -1)))
        ],
    )
    with pytest.warns(NothingMovesWarning):
        flow = family_flow(even, SHAPES["linear"])
    text = {e.describe(flow.family, flow.origin.labels) for e in flow.symmetries}
    assert "u -> v, v -> u" in text and "u -> -u, value -> -value, label -> -label" in text


# ---- refusals ----------------------------------------------------------------------------------------------------


def test_a_start_that_breaks_the_symmetry_is_refused() -> None:
    flow = dynamics.family()
    rng = np.random.default_rng(SEED)
    net = {"w": rng.normal(size=(2, 1, 6)), "W_K": rng.normal(size=(2, 4, 6)), "W_Q": rng.normal(size=(2, 4, 6))}
    with pytest.raises(SymmetryError, match=r"this start breaks the symmetry of the family: .* of these 3 groups"):
        flow.initial_state(weights=net, K=3)
    three = flow.bind(K=3)
    full = three.lift(states(22, 1)[0])
    full[0] += 1e-6
    with pytest.raises(SymmetryError, match="w_p_c1 is off the mean of its orbit"):
        three.project(full)
    with pytest.raises(EquationError, match=r"of 3 groups .* projects 168 numbers along the last axis"):
        three.project(np.zeros(80))


def test_the_limit_of_many_groups_is_no_flow_of_k_groups() -> None:
    limit = dynamics.family(K="infinity")
    assert "those of infinitely many groups" in repr(limit)
    law = limit.bind(K=3).law()
    assert law.as_stated == "fails" and law.witness
    assert dynamics.family(scaled=True).bind(K=3).law().as_stated == "holds"


# ---- rates, decay, and heads that do not move alike ------------------------------------------------------------------


@pytest.mark.parametrize("derive", [family_flow, family_descent])
@pytest.mark.parametrize(
    "options",
    [
        {"rates": {"w": "r", "W_K": Fraction(1, 3)}},
        {"decay": "lam"},
        {"rates": {"w": 2}, "decay": Fraction(1, 10), "train": "w W_K", "carry": "w W_K W_Q"},
    ],
)
def test_rates_and_decay_are_those_of_the_enumerated_system(derive, options) -> None:
    law = derive(setting.family(), SHAPES["linear"], **options).bind(K=3).law()
    assert law.as_stated == "holds" and law.evidence.name == "PROOF"


def test_heads_are_exchanged_only_if_they_move_alike() -> None:
    """Training one of two equal heads was derived as if both moved."""
    for options in ({"train": "w.p W_K W_Q"}, {"rates": {"w.p": 2}}):
        flow = family_flow(setting.family(), setting.TwoHeads, **options)
        assert flow.system.dimension > dynamics.family().system.dimension
        assert flow.bind(K=2).law().as_stated == "holds"
    with pytest.raises(SymmetryError, match="samples, heads and rates"):
        swap = dynamics.family().symmetries
        family_flow(setting.family(), setting.TwoHeads, rates={"w.p": 2}, symmetries=swap)


def test_no_decay_in_the_time_of_many_groups() -> None:
    for options in ({"K": "infinity"}, {"scaled": True}):
        with pytest.raises(ModelError, match="weight decay acts K times as fast"):
            family_flow(setting.family(), setting.TwoHeads, decay="lam", **options)
    with pytest.raises(SlavingError, match="do not move at one rate"):
        family_flow(setting.family(), SHAPES["linear"], decay="lam").slaved()


def test_mistakes() -> None:
    family = setting.family()
    with pytest.raises(ParameterError, match="K = 1 is too small"):
        family_flow(family, setting.TwoHeads, K=1)
    with pytest.raises(ParameterError, match=r"K = 2\.5 is not a whole number"):
        dynamics.family().compile(K=2.5, b=0.5)
    with pytest.raises(ParameterError, match="say how many groups the state has"):
        dynamics.family().lift(np.zeros(22))
    with pytest.raises(ParameterError, match="this flow has K = 3 groups, not 4"):
        dynamics.family(K=3).bind(K=4)
    with pytest.raises(ModelError, match="either omega"):
        dynamics.family().initial_state()
    with pytest.raises(ModelError, match="order of the tokens"):
        by_place = Value(("W",), Neurons(((1,), (1,), (1,))))
        family_flow(family, lambda words: AttentionModel(words, value=by_place), ("W",))
    with pytest.raises(ModelError, match="the parameter K of the model"):
        family_flow(family, lambda words: AttentionModel(words, [Head(1, "relu", "K")]))
    with pytest.raises(SymmetryError, match="c -> -c does not map the samples"):
        family_flow(family, setting.TwoHeads, symmetries=[TypeSymmetry(((0, -1), (1, 1)), ((0, 1), (1, 1)), 1)])
    with pytest.raises(SlavingError, match="sector of this family has size 3"):
        family_flow(other_labels(), SHAPES["linear"]).slaved()
    with pytest.raises(ParameterError, match="K tends to infinity"):
        family_flow(shared_words(), SHAPES["linear"], K="infinity")


# ---- small families: values, names, starts -----------------------------------------------------------------------


def small(**more):
    """One word type and a shared word, which is told by its sign."""
    templates = [SampleTemplate(["c", OtherGroups(["c"]), "the"], 1, HALF), SampleTemplate(["c", "-the"], -1, HALF)]
    return family_flow(Family(["c"], templates, shared=["the"]), SHAPES["linear"], **more)


def test_a_flow_says_how_many_groups_it_has() -> None:
    free, three, scaled = small(), small(K=3), small(scaled=True)
    assert (free.groups, three.groups, free.needs) == ("symbol", 3, ("K",))
    assert "those of K groups" in repr(free) and "those of 4 groups" in repr(free.bind(K=4))
    assert "those of 3 groups" in repr(three) and three.whole() == 3 and free.whole(5) == 5
    assert free.bind(K=4).whole() == 4 and free.bind(K=4).whole(2) == 2
    assert (free.bind(K=4).speed, scaled.bind(K=4).speed) == (1, 4)
    assert not free.scaled and scaled.scaled and free.naming is free.origin.naming
    for make, words in (
        (lambda: free.whole(), r"this flow is for every K; say how many groups the state has, with .bind\(K=3\)"),
        (lambda: three.whole(4), "this flow has K = 3 groups, not 4"),
        (lambda: free.whole(1), "K = 1 is too small"),
        (lambda: free.whole("symbol"), "K = symbol can not be used here"),
        (lambda: family_descent(free.family, SHAPES["linear"], K="infinity"), "a gradient step has no limit"),
    ):
        with pytest.raises(ParameterError, match=words):
            make()


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("K", [2, 3])
def test_lifts_of_small_families_come_back_and_obey_the_law(K: int, scaled: bool) -> None:
    """In scaled variables an entry between other groups is the sum of K - 1 equal ones, and time is K times slower."""
    flow = small(scaled=scaled, symmetries=[])
    bound, rng = flow.bind(K=K), np.random.default_rng(K)
    z = rng.normal(size=(2, flow.system.dimension))
    full = bound.lift(z)
    assert np.allclose(bound.project(full), z, rtol=1e-13) and full.shape == (2, bound.source.dimension)
    named = dict(zip(bound.source.names, full[0], strict=True))
    state = dict(zip(flow.system.names, z[0], strict=True))
    for name, value in state.items():
        if name.endswith(("other", "others")):
            stem = name.removesuffix("s").removesuffix("_other")
            assert value == pytest.approx((K - 1 if scaled else 1) * named[stem.replace("c_c", "c1_c2")])
        elif name.endswith("same"):
            assert value == named[name.removesuffix("_same").replace("c_c", "c1_c1")]
    assert np.allclose(
        bound.speed * bound.source.compile()(0.0, full[0]), bound.lift(flow.compile(K=K)(0.0, z[0])), atol=1e-12
    )
    assert bound.law().as_stated == "holds"
    lifted = bound.lifted
    at = graph.evaluate(list(lifted.values()), state, graph.FLOAT_FUNCTIONS, float)
    assert at == pytest.approx(list(full[0]))


def test_variables_are_found_by_their_words() -> None:
    flow = small(symmetries=[])
    assert flow.variable("KQ", "c", "c", "other") == ("KQ_c_c_other", 1)
    assert flow.variable("KQ", "c", "the") == ("KQ_c_the", 1) and flow.variable("w", None, "the") == ("w_the", 1)
    with pytest.raises(ModelError, match="KX is no matrix of this flow; there are w, KQ, KK, QQ"):
        flow.variable("KX", "c", "c", "same")
    for path in flow.closure.paths:
        assert flow.segment(path).leaf == flow.naming.leaf(path)
    other = flow.rename({"w_the": "n"})
    assert other.variable("w", None, "the") == ("n", 1) and "w_the" not in other.system.names
    assert len(flow.sample_names) == len(flow.samples.orbits) and flow.sample_names[0].startswith("(c1")


def test_starts_of_small_families() -> None:
    flow = small(symmetries=[])
    at = dict(zip(flow.system.names, flow.initial_state(W_K=4.0, W_Q=9.0, w=1.0), strict=True))
    assert {n for n, v in at.items() if v} == {"KK_c_c_same", "KK_the_the", "QQ_c_c_same", "QQ_the_the"}
    assert at["KK_c_c_same"] == 4 and at["QQ_the_the"] == 9
    net = {"w": [[2.0, 2.0, 2.0, -1.0]], "W_K": np.eye(4), "W_Q": np.ones((4, 4))}
    for start in (flow.initial_state(weights=net, K=3), flow.bind(K=3).initial_state(weights=net)):
        found = dict(zip(flow.system.names, start, strict=True))
        assert (found["w_c"], found["w_the"], found["KQ_c_c_other"], found["QQ_c_the"]) == (2, -1, 1, 4)
    for more in ({}, {"omega": 1, "weights": net}, {"weights": net, "W_K": 2.0}):
        with pytest.raises(ModelError, match=r"give either omega .* or weights="):
            flow.initial_state(**more)
    near = {**net, "w": [[2.0, 2.0, 2.0 + 1e-13, -1.0]]}
    assert flow.initial_state(weights=near, K=3).shape == (flow.system.dimension,)
    off = {**net, "w": [[2.0, 2.0, 2.0 + 1e-9, -1.0]]}
    with pytest.raises(SymmetryError) as caught:
        flow.initial_state(weights=off, K=3)
    assert caught.value.state == "w_c3" and "w_c3 is off the mean of its orbit by 6.67e-10" in str(caught.value)
    zero = flow.initial_state(weights={n: np.zeros_like(v) for n, v in net.items()}, K=3)
    assert not zero.any()


def test_names_of_parameters_that_have_another_meaning_are_refused() -> None:
    family = Family(["c"], [SampleTemplate(["c"], 1)])

    def biased(name: str):
        return lambda words: AttentionModel(words, [Head(1, "relu", name)])

    for name, derive, more in (
        ("t", family_flow, {}),
        ("K", family_flow, {}),
        ("eta", family_descent, {}),
        ("w_c", family_flow, {}),
    ):
        with pytest.raises(ModelError, match=f"the parameter {name} of the model or the loss has another meaning here"):
            derive(family, biased(name), **more)
    assert "eta" in family_flow(family, biased("eta")).system.parameters
    assert "K" in family_flow(family, biased("K"), K=3).system.parameters
    with pytest.raises(ModelError, match="the parameter w_c of the model"):
        family_flow(family, SHAPES["linear"], rates={"W_K": "w_c"})


def test_symmetries_that_leave_nothing_are_refused() -> None:
    even = Family(["c"], [SampleTemplate(["c"], 1, HALF), SampleTemplate(["c"], -1, HALF)])

    def read_out(words):
        w = maps("w", 1, words)
        return lambda X: (w @ X).sum()

    with pytest.raises(SymmetryError, match="every orbit variable is mapped to minus itself"):
        family_flow(even, read_out)
    assert family_flow(even, read_out, symmetries=[]).system.names == ("w_c",)
