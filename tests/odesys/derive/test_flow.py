"""Flows of programs: two_mixture as it is, stages, rates, and sentences for what does not close."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derivations.two_mixture import setting
from derivations.two_mixture.dynamics import full_flow
from odesys import (
    AttentionModel,
    ClosureError,
    Data,
    Head,
    OdesysError,
    Space,
    Units,
    Words,
    gradient_descent,
    gradient_flow,
    graph,
    logistic,
    maps,
    normalised_descent,
    softmax,
    squared,
    sym,
)

WORDS, M = Words("a b c"), Space("m")
DATA = Data(WORDS, [("a b", 1), ("c b", -1)])
w, W_K, W_Q = maps("w", 1, WORDS), *maps("W_K W_Q", M, WORDS)


def f(X):
    return (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum()


def test_two_mixture_written_as_the_paper_writes_it() -> None:
    short = gradient_flow(AttentionModel(setting.words(), [Head(s, "relu", "b") for s in (1, -1)]), setting.data())
    long = full_flow()
    assert long.system.names == short.system.names and long.system.tex == short.system.tex
    assert all(a is b for a, b in zip(long.system.nodes, short.system.nodes, strict=True))
    assert long.system.structure == short.system.structure
    assert long.initial_state(omega=0.1).tolist() == short.initial_state(omega=0.1).tolist()


def test_stages_share_one_state_vector() -> None:
    whole = gradient_flow(f, DATA, logistic)
    stage = gradient_flow(f, DATA, logistic, train="w", carry="w W_K W_Q")
    assert stage.system.names == whole.system.names
    assert stage.system.equations["KQ_a_b"] is graph.ZERO
    assert stage.system.equations["w_a"] is whole.system.equations["w_a"]


def test_rates_and_decay() -> None:
    plain = gradient_flow(f, DATA, logistic).system.equations
    rated = gradient_flow(f, DATA, logistic, rates={"w": Fraction(1, 3)}, decay="lam").system.equations
    assert rated["w_a"] is plain["w_a"] / 3 - sym("lam") * sym("w_a")
    assert rated["KQ_a_b"] is plain["KQ_a_b"] - 2 * sym("lam") * sym("KQ_a_b")


def three_maps(*trained: str):
    U, V, W = maps("U", Units("y", 1), M), maps("V", M, Space("v")), maps("W", Space("v"), WORDS)
    return gradient_flow(lambda X: U @ V @ W @ X[0], DATA, squared, train=trained)


def test_three_trained_maps_escape_and_two_close() -> None:
    with pytest.raises(ClosureError, match="does not close with U, V, W all trained"):
        three_maps("U", "V", "W")
    assert three_maps("U", "V").system.dimension > 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gradient_flow(f, DATA, ("w",)), "the third argument is the loss; .* train="),
        (lambda: gradient_flow(f, DATA, logistic, train={"w": [0]}), "is a mapping"),
        (lambda: gradient_flow(f, DATA, logistic, train="W_X"), "has no such map; it has w, W_K, W_Q"),
        (lambda: gradient_flow(f, DATA, logistic, train=""), "nothing is trained"),
        (lambda: gradient_flow(f, DATA, logistic, train="w", rates={"W_K": 2}), "which is not trained"),
        (lambda: gradient_flow(f, DATA, logistic, train="w W_K", carry="w"), "is trained but not carried"),
        (lambda: gradient_flow(lambda X: w @ X[0] * "w_a", DATA, logistic), "is the name of a path scalar"),
        (lambda: gradient_flow(7, DATA, logistic), "derived from a function of the tokens"),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()


def test_only_a_step_has_a_size_whose_name_is_taken() -> None:
    def scaled(X):
        return maps("w", 1, WORDS) @ X[0] * "eta"

    assert "eta" in gradient_flow(scaled, DATA, logistic).system.parameters
    with pytest.raises(OdesysError, match="eta of the program is the name of the step size; rename it"):
        gradient_descent(scaled, DATA, logistic)
    for make in (gradient_flow, gradient_descent):
        with pytest.raises(OdesysError, match="is the name of time"):
            make(lambda X: maps("w", 1, WORDS) @ X[0] * "t", DATA, logistic)


def test_a_normalised_step_is_a_plain_one_shortened_by_the_size_of_the_gradient() -> None:
    """And the normalised flow is the plain one over that size, at any states and for any length of the step."""
    rng = np.random.default_rng(6)
    plain, normal = gradient_flow(f, DATA, logistic), normalised_descent(f, DATA, logistic, kind="flow")
    x = plain.initial_state(
        weights={"w": rng.normal(size=(1, 3)), **{W: rng.normal(size=(5, 3)) for W in ("W_K", "W_Q")}}
    )
    force, unit = plain.system.compile()(0.0, x), normal.system.compile()(0.0, x)
    size = np.linalg.norm(force) / np.linalg.norm(unit)
    assert np.allclose(unit * size, force, rtol=1e-12, atol=0)
    normal_step = normalised_descent(f, DATA, logistic, kind="step").system
    plain_step = gradient_descent(f, DATA, logistic).system
    for eta in (0.1, 0.7, 3.0):
        one = normal_step.compile({"eta": eta})(0.0, x)
        assert np.allclose(one, plain_step.compile({"eta": eta / size})(0.0, x), rtol=1e-12, atol=1e-12)


def heads(names: str = "pm"):
    each = {h: maps("w v", 1, WORDS, of=h) for h in names}
    return lambda X: sum((w @ X[0]) * (v @ X[0]) for w, v in each.values())


def test_maps_are_named_with_or_without_their_heads() -> None:
    made = gradient_flow(heads(), DATA, squared)
    names = made.program.maps
    assert set(names) == {"w.p", "v.p", "w.m", "v.m"} and made.train == names
    for given in ("w", ["w"], "w.p w.m", ("w.m", "w.p"), ["w", "w.p"]):
        assert gradient_flow(heads(), DATA, squared, train=given).train == tuple(n for n in names if n[0] == "w")
    assert gradient_flow(heads(), DATA, squared, train="v.m").train == ("v.m",)
    for train, carry, words in (
        ([3], None, "train=3: the program has no such map; it has "),
        (5, None, "train=5 is not a list of maps: write train='"),
        ([], None, "nothing is trained; choose some of"),
        ("w", {"w": 1}, "carry={'w': 1} is not a list of maps"),
        ("w", "w.p", "w.m is trained but not carried; carry must contain everything that moves"),
    ):
        with pytest.raises(OdesysError, match=words):
            gradient_flow(heads(), DATA, squared, train=train, carry=carry)


def test_rates_go_to_heads_and_are_exact_numbers_or_names() -> None:
    plain = gradient_flow(heads(), DATA, squared).system.equations
    rated = gradient_flow(heads(), DATA, squared, rates={"w": 3, "v.m": "r"}).system
    assert rated.parameters == ("r",)
    for name, node in plain.items():
        factor = {"w_p": 3, "w_m": 3, "v_p": 1, "v_m": sym("r")}.get(name[:3])
        if factor is not None:
            assert rated.equations[name] is factor * node
    for rates, words in (
        ([("w", 1)], "is a mapping from maps to their rates"),
        ({"q": 1}, "rates='q': the program has no such map"),
        ({"w": "x y"}, "."),
        ({"w": None}, "the rate of w.p has the entry None; a number is needed"),
    ):
        with pytest.raises(OdesysError, match=words):
            gradient_flow(heads(), DATA, squared, rates=rates)
    with pytest.raises(OdesysError, match=r"which is not trained; trained are w\.p, w\.m"):
        gradient_flow(heads(), DATA, squared, train="w", rates={"v": 1})
    with pytest.raises(OdesysError, match="the weight decay has the entry True"):
        gradient_flow(heads(), DATA, squared, decay=True)
    half = gradient_flow(heads(), DATA, squared, train="w", rates={"w": 2}, carry="w v")
    assert half.train == ("w.p", "w.m")


def test_a_flow_knows_its_places_words_and_loss() -> None:
    made = gradient_flow(f, DATA, logistic)
    assert made.data is DATA and made.model is f and made.batch is None and made.rule.step is False
    assert list(made.matrices) == [s.leaf for s in made.layout.segments] == ["w", "KQ", "KK", "QQ"]
    assert made.matrices["KK"].tolist()[1] == ["KK_a_b", "KK_b_b", "KK_b_c"] and made.matrices["w"].shape == (1, 3)
    for path in made.closure.paths:
        assert made.segment(path).leaf == made.naming.leaf(path)
    assert [[node is graph.ONE for node in row] for row in made.pin_gram("E")] == np.eye(3, dtype=bool).tolist()
    angled = Words("a b", [[2, 1], [1, 3]])
    skew = gradient_flow(lambda X: maps("w", 1, angled) @ X[0], Data(angled, [("a", 1)]), squared)
    assert [[int(n.args[0]) for n in row] for row in skew.pin_gram("E")] == [[2, 1], [1, 3]]
    point = dict(zip(made.system.names, np.random.default_rng(1).normal(size=made.system.dimension), strict=True))
    (value,) = graph.evaluate([made.loss], point, graph.FLOAT_FUNCTIONS, float)
    seen = made.system.compile().observables(0.0, np.array(list(point.values())))
    assert value == pytest.approx(seen["loss"])


def test_starts_are_given_in_one_way() -> None:
    made = gradient_flow(f, DATA, logistic)
    rng = np.random.default_rng(3)
    weights = {"w": rng.normal(size=(1, 3)), "W_K": rng.normal(size=(4, 3)), "W_Q": rng.normal(size=(4, 3))}
    assert made.initial_state(weights=weights).dtype == float and made.initial_state(1).dtype == float
    for more in ({"omega": 1}, {"W_K": 2.0}, {"values": {"w": [1, 2, 3]}}):
        with pytest.raises(OdesysError, match=r"give either omega .* or weights= .*, not both"):
            made.initial_state(weights=weights, **more)


def test_the_flow_goes_down_at_the_rate_of_its_squared_gradient() -> None:
    """d loss/dt = -|gradient|^2; a step of the normalised rule has length eta, that of the flow has length one."""
    words, R = Words("a b"), Units("r", 2)
    W, v = maps("W", R, words), maps("v", 1, R)
    data = Data(words, [("a", 1), ("b", -1)])
    plain, normal = (
        rule(lambda X: v @ W @ X[0], data, squared).system
        for rule in (gradient_flow, lambda *p: normalised_descent(*p, kind="flow"))
    )
    x = np.random.default_rng(2).normal(size=plain.dimension)
    rate, unit = plain.compile()(0.0, x), normal.compile()(0.0, x)
    loss = [plain.compile().observables(0.0, x + h * rate)["loss"] for h in (1e-6, -1e-6)]
    assert (loss[0] - loss[1]) / 2e-6 == pytest.approx(-(rate @ rate), rel=1e-6)
    assert np.linalg.norm(unit) == pytest.approx(1.0, rel=1e-12) and np.allclose(unit * np.linalg.norm(rate), rate)


def test_a_gram_parameter_may_not_be_called_as_a_state_or_time() -> None:
    for name, what in (("t", "time"), ("w_a", "a path scalar")):
        angled = Words("a b", [[name, 0], [0, 1]])
        with pytest.raises(OdesysError, match=f"the parameter {name} of the program is the name of {what}; rename it"):
            gradient_flow(lambda X, angled=angled: maps("w", 1, angled) @ X[0], Data(angled, [("a", 1)]), squared)
    taken = Words("a b", [["eta", 0], [0, 1]])
    with pytest.raises(OdesysError, match="eta of the program is the name of the step size"):
        gradient_descent(lambda X: maps("w", 1, taken) @ X[0], Data(taken, [("a", 1)]), squared)
