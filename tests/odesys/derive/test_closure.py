"""Closed sets of paths: the terms of the key/query block by hand, and sets that do not close."""

from __future__ import annotations

import pytest

from odesys.derive import closure as closure_module
from odesys.derive.closure import Force, Term, close
from odesys.errors import ClosureError
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
