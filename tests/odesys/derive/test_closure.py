"""Closed sets of paths: the terms of the key/query block by hand, and sets that do not close."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from odesys.derive import closure as closure_module
from odesys.derive.closure import Closure, Force, Term, close, gradient_terms, restricted
from odesys.derive.motion import Motion, Rule, heavy_ball, plain
from odesys.errors import ClosureError
from odesys.expr import graph
from odesys.expr.graph import ONE, ZERO, num, sym
from odesys.model.paths import Letter, Path

K, Q, U, W, V = (Letter(name) for name in ("W_K", "W_Q", "U", "W", "V"))
SCORE = Path("E", (K.T, Q), "E")
KEYS, QUERIES = Path("E", (K.T, K), "E"), Path("E", (Q.T, Q), "E")
UNIT = Path("E", (), "E")


def terms(closure, path: Path) -> set:
    return {term.factors for term in closure.terms[path]}


def test_key_query_block() -> None:
    closure = close([SCORE], frozenset({"W_K", "W_Q"}))
    assert closure.paths == (SCORE, KEYS, QUERIES)
    force = Force(0, False), Force(0, True)
    assert terms(closure, SCORE) == {(KEYS, force[0], UNIT), (UNIT, force[0], QUERIES)}  # A G + G B
    assert terms(closure, KEYS) == {(SCORE, force[1], UNIT), (UNIT, force[0], SCORE.T)}  # M G' + G M'
    assert terms(closure, QUERIES) == {(SCORE.T, force[0], UNIT), (UNIT, force[1], SCORE)}  # M' G + G' M


def test_exact_step_has_the_second_order_terms() -> None:
    closure = close([SCORE], frozenset({"W_K", "W_Q"}), exact_step=True)
    second = {t.factors for t in closure.terms[SCORE] if t.order == 2}
    assert second == {(UNIT, Force(0, False), SCORE.T, Force(0, False), UNIT)}  # G M' G
    second = {t.factors for t in closure.terms[KEYS] if t.order == 2}
    assert second == {(UNIT, Force(0, False), QUERIES, Force(0, True), UNIT)}  # G B G'


def test_freezing_one_map_freezes_its_self_scores() -> None:
    closure = close([SCORE], frozenset({"W_Q"}))
    assert set(closure.paths) == {SCORE, KEYS} and closure.terms[KEYS] == ()


@pytest.mark.parametrize("trained", [{"U", "W", "V"}, {"U", "V"}])
def test_growth_without_end_is_reported_with_its_chain(trained: set[str]) -> None:
    with pytest.raises(ClosureError) as caught:
        close([Path("o", (U, W, V), "E")], frozenset(trained))
    lengths = [len(path.letters) for path in caught.value.chain]
    assert lengths[0] == 3 and lengths[-1] > 12 and caught.value.path in caught.value.chain


@pytest.mark.parametrize(("trained", "count"), [({"U", "W"}, 4), ({"W", "V"}, 4), ({"U"}, 2), ({"W"}, 3), ({"V"}, 2)])
def test_shorter_chains_close(trained: set[str], count: int) -> None:
    assert len(close([Path("o", (U, W, V), "E")], frozenset(trained)).paths) == count


@pytest.mark.parametrize("exact_step", [False, True])
def test_five_trained_maps_in_a_chain_are_refused_after_first_order_terms(
    monkeypatch: pytest.MonkeyPatch, exact_step: bool
) -> None:
    """Law: a path of n letters has n terms of first order; all orders together would be 2^n."""
    built: list[Term] = []

    def counted(*args: object) -> Term:
        built.append(Term(*args))
        return built[-1]

    monkeypatch.setattr(closure_module, "Term", counted)
    chain = Path("o", tuple(Letter(name) for name in ("W_1", "W_2", "W_3", "W_4", "W_5")), "E")
    with pytest.raises(ClosureError, match=r"does not close with W_1, W_2, W_3, W_4, W_5 all trained"):
        close([chain], frozenset(letter.name for letter in chain.letters), exact_step=exact_step)
    assert 100 < len(built) < 2000 and {term.order for term in built} == {1}


@pytest.mark.parametrize("trained", [{"W_K", "W_Q"}, {"W_Q"}, {"W", "V", "W_K"}, {"U", "W"}])
def test_the_first_order_of_a_step_is_the_flow(trained: set[str]) -> None:
    read = [Path("o", (U, W, V), "E"), SCORE]
    flow, step = close(read, frozenset(trained)), close(read, frozenset(trained), exact_step=True)
    for path in flow.paths:
        assert flow.terms[path] == tuple(term for term in step.terms[path] if term.order == 1)


def test_a_step_has_no_term_in_which_nothing_moves() -> None:
    """Law: the terms are the change of a path, so what is frozen has none."""
    frozen = close([SCORE], frozenset({"W_Q"}), exact_step=True)
    assert frozen.terms[KEYS] == () and all(term.order > 0 for term in frozen.terms[SCORE])


# ---- terms against moved weights -------------------------------------------------------------------------------------

SHAPES = {"U": (2, 4), "W": (4, 5), "V": (5, 3), "W_K": (6, 3), "W_Q": (6, 3)}
SIZES = {"o": 2, "E": 3}
CHAIN = Path("o", (U, W, V), "E")
READS = {
    "score": ([SCORE], ["W_K", "W_Q"]),
    "keys read too": ([SCORE, KEYS], ["W_K", "W_Q"]),
    "chain": ([CHAIN], ["W", "V"]),
    "chain and score": ([CHAIN, SCORE], ["U", "W_Q"]),
    "from the other end": ([CHAIN.T, SCORE], ["U", "W", "W_K"]),
    "read twice": ([CHAIN, Path("E", (V.T, V), "E")], ["V"]),
}


def product_of(path: Path, weights: dict[str, np.ndarray]) -> np.ndarray:
    factors = [weights[x.map].T if x.transposed else weights[x.map] for x in path.letters]
    return reduce(np.matmul, factors, np.eye(SIZES[path.left]))


def value(node, numbers: dict[str, float]) -> float:
    return float(graph.evaluate([node], numbers, graph.FLOAT_FUNCTIONS, float)[0])


def summed(terms, weights, forces, numbers, eta: float = 1.0) -> np.ndarray | float:
    """The terms of a path in floats; a force is a given matrix."""
    total: np.ndarray | float = 0.0
    for term in terms:
        out = np.eye(SIZES[term.factors[0].left])
        for factor in term.factors:
            if isinstance(factor, Force):
                out = out @ (forces[factor.read].T if factor.transposed else forces[factor.read])
            else:
                out = out @ product_of(factor, weights)
        total = total + value(term.coefficient, numbers) * eta**term.order * out
    return total


def forces_on_maps(read: list[Path], weights, forces) -> dict[str, np.ndarray]:
    """-dL/dW of every map: what <force, path> changes by."""
    out = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    for path, force in zip(read, forces, strict=True):
        for k, letter in enumerate(path.letters):
            left = product_of(Path(path.left, path.letters[:k], ""), weights)
            right = product_of(Path(path.right, tuple(x.T for x in reversed(path.letters[k + 1 :])), ""), weights)
            moved = left.T @ force @ right
            out[letter.map] = out[letter.map] + (moved.T if letter.transposed else moved)
    return out


def moved_weights(rule: Rule, weights, forces, numbers, eta: float) -> dict[str, np.ndarray]:
    """Every map after a step of size eta, or its rate where eta multiplies a flow."""
    out = {}
    for name in weights:
        motion = rule.motion(name)
        out[name] = eta * value(motion.force, numbers) * forces.get(motion.on or name, np.zeros(()))
        for other, factor in motion.maps.items():
            out[name] = out[name] + value(factor, numbers) * weights[other]
    return out


def rules_of(maps: frozenset[str], step: bool) -> list[Rule]:
    return [
        plain(maps, step),
        plain(maps, step, {min(maps): num(3)}, num(2)),
        heavy_ball(maps, step, sym("gamma"), {max(maps): num(2)}),
    ]


def setting(name: str, seed: int = 4):
    read, trained = READS[name]
    rng = np.random.default_rng(seed)
    weights = {n: rng.normal(size=shape) for n, shape in SHAPES.items()}
    weights |= {f"d{n.removeprefix('W_')}": rng.normal(size=shape) for n, shape in SHAPES.items()}
    forces = [rng.normal(size=(SIZES[p.left], SIZES[p.right])) for p in read]
    return read, frozenset(trained), weights, forces, {"gamma": 0.7, "eta": 0.3}


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("name", READS)
def test_terms_of_a_flow_are_the_rate_of_the_product(name: str, which: int) -> None:
    """Of each path: every map of it moves by its own rule, one at a time."""
    read, maps, weights, forces, numbers = setting(name)
    rule = rules_of(maps, False)[which]
    closed = close(read, rule.moving, rule=rule)
    rates = moved_weights(rule, weights, forces_on_maps(read, weights, forces), numbers, 1.0)
    assert closed.paths[: len(read)] == tuple(read) and set(closed.paths) == set(closed.terms)
    for path in closed.paths:
        wanted = 0.0
        for k, letter in enumerate(path.letters):
            rate = rates[letter.map]
            left = product_of(Path(path.left, path.letters[:k], ""), weights)
            right = product_of(Path(path.right, tuple(x.T for x in reversed(path.letters[k + 1 :])), ""), weights)
            wanted = wanted + left @ (rate.T if letter.transposed else rate) @ right.T
        assert np.allclose(summed(closed.terms[path], weights, forces, numbers), wanted, rtol=1e-10, atol=1e-10)
        assert all(term.order == 1 for term in closed.terms[path])


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("name", READS)
def test_terms_of_a_step_are_the_change_of_the_product(name: str, which: int) -> None:
    """All orders: the product of moved maps minus the product; forces alone carry the step size."""
    read, maps, weights, forces, numbers = setting(name)
    rule = rules_of(maps, True)[which]
    closed = close(read, rule.moving, exact_step=True, rule=rule)
    moved = moved_weights(rule, weights, forces_on_maps(read, weights, forces), numbers, numbers["eta"])
    for path in closed.paths:
        wanted = product_of(path, moved) - product_of(path, weights)
        found = 0.0
        for term in closed.terms[path]:
            count = sum(isinstance(factor, Force) for factor in term.factors)
            assert len(term.factors) == 2 * count + 1
            found = found + numbers["eta"] ** count * summed([term], weights, forces, numbers, 1.0)
        assert np.allclose(found, wanted, rtol=1e-10, atol=1e-9)


def test_plain_terms_of_the_read_paths() -> None:
    """Whatever the rule was: the change along the forces of the maps that are named."""
    read, maps, *_ = setting("chain and score")
    closed = close(read, maps, exact_step=True)
    found = gradient_terms(closed, frozenset({"U"}))
    assert tuple(found) == closed.read
    assert found[SCORE] == () and found[CHAIN] == close(read, frozenset({"U"})).terms[CHAIN]


def test_restricted_terms_are_those_of_fewer_maps() -> None:
    for step in (False, True):
        whole = close([SCORE], frozenset({"W_K", "W_Q"}), exact_step=step)
        less = restricted(whole, plain(frozenset({"W_Q"}), step))
        assert less.paths == whole.paths and less.trained == {"W_Q"} and less.exact_step is step
        alone = close([SCORE], frozenset({"W_Q"}), exact_step=step)
        assert all(less.terms[path] == alone.terms[path] for path in alone.paths)
        assert less.terms[KEYS] == () and less.terms[QUERIES] != ()


def test_paths_are_known_from_either_end() -> None:
    closed = close([SCORE, CHAIN], frozenset({"W_K", "W"}))
    assert closed.canonical(SCORE) == (SCORE, False) and closed.canonical(SCORE.T) == (SCORE, True)
    assert not closed.exact_step and closed.trained == {"W_K", "W"}
    assert repr(close([SCORE], frozenset({"W_K", "W_Q"}))) == "<Closure of E'.W_K'.W_Q.E: 3 paths>"
    assert isinstance(closed, Closure)
    later = list(map(str, closed.paths[2:]))
    assert later == sorted(later)


@pytest.mark.parametrize("step", [False, True])
def test_the_longest_path_is_four_times_the_longest_that_is_read(step: bool) -> None:
    """A limit of just the length that occurs is enough, and one less is an escape with its chain."""
    read, trained = [CHAIN], frozenset({"W", "V"})
    closed = close(read, trained, exact_step=step)
    longest = max(len(path.letters) for path in closed.paths)
    assert longest <= 12 and close(read, trained, step, limit=longest).paths == closed.paths
    with pytest.raises(ClosureError) as caught:
        close(read, trained, step, limit=longest - 1)
    chain = caught.value.chain
    assert chain[0] == CHAIN and len(chain[-1].letters) == longest and all(len(p.letters) < longest for p in chain[:-1])
    assert caught.value.path == next(p for p in chain if len(p.letters) > 3)
    escaped = [str(p) for p in chain[chain.index(caught.value.path) :][:3]]
    assert f"with V, W all trained: it needs {', which needs '.join(escaped)}, and so on" in str(caught.value)


def test_a_large_set_is_asked_for_its_longest_paths_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure_module, "MANY", 0)
    assert close([SCORE], frozenset({"W_K", "W_Q"})).paths == (SCORE, KEYS, QUERIES)
    with pytest.raises(ClosureError, match="does not close with U, V, W all trained") as caught:
        close([CHAIN], frozenset({"U", "W", "V"}))
    assert caught.value.chain[0] == CHAIN and len(caught.value.chain[-1].letters) > 12
    closure_module._check_growth(
        [CHAIN],
        frozenset({"U", "W", "V"}),
        12,
        closure_module._places([CHAIN]),
        plain(frozenset({"U", "W", "V"}), False),
        most=1,
    )


def test_maps_added_without_a_force_are_paths_of_their_own() -> None:
    rule = Rule({"W_K": Motion(ZERO, {"W_Q": num(2), "W_K": ONE})})
    closed = close([SCORE], rule.moving, rule=rule)
    assert [(t.factors, t.coefficient) for t in closed.terms[SCORE]] == [((QUERIES,), num(2)), ((SCORE,), ONE)]
    assert set(closed.paths) == {SCORE, QUERIES} and closed.terms[QUERIES] == ()
    heads = Path("E", (Letter("W_K", True, "p"), Letter("W_Q", of="p")), "E")
    own = Rule({"W_K.p": Motion(ZERO, {"W_Q.p": ONE})})
    assert close([heads], own.moving, rule=own).paths[1] == Path(
        "E", (Letter("W_Q", True, "p"), Letter("W_Q", of="p")), "E"
    )
