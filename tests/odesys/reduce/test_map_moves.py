"""Moves of maps: heads exchanged and signs of paths, filtered in floats; what passes is what is exact."""

from __future__ import annotations

from itertools import permutations, product

from odesys import Data, Words, gradient_flow, graph, heavy_ball, logistic, maps, relu, softmax, squared, sym
from odesys.reduce import map_moves
from odesys.reduce.map_moves import MapMoves
from odesys.reduce.program_symmetry import ProgramSymmetry, is_program_symmetry

WORDS = Words("a b")
SAMPLES = Data(WORDS, [("a b", 1), ("a -b", -1)])


def head(name: str):
    w, Z = maps("w", 1, WORDS, of=name), maps("Z", WORDS, WORDS, of=name)
    return lambda X: (w @ X @ softmax(X.T @ Z @ X)).sum()


def two(sign: int, active=relu):
    plus, minus = head("p"), head("m")
    return lambda X: active(plus(X) + 1) + sign * active(minus(X) + 1)


def test_all_moves_that_pass_are_symmetries_and_no_other() -> None:
    for f in (two(1), two(-1), two(-1, lambda z: z)):
        flow = gradient_flow(f, SAMPLES, logistic)
        moves = MapMoves.of(flow)
        assert len(moves.moves) == 2 * 2**4 and not moves.cut and moves.undo_negation
        passed = moves.alike(ProgramSymmetry())
        exact = [m for m in moves.moves if is_program_symmetry(flow, ProgramSymmetry((), m))]
        assert {e.maps for e in passed} == set(exact[1:])  # the first is the identity
    assert len(MapMoves.of(gradient_flow(two(1), SAMPLES, logistic)).alike(ProgramSymmetry())) == 1


def test_a_move_of_words_is_completed_by_the_head_swap() -> None:
    flow = gradient_flow(two(-1), SAMPLES, logistic)
    flip = ProgramSymmetry((("E", (("E", 0, 1), ("E", 1, -1))),))
    (found,) = MapMoves.of(flow).alike(flip)
    assert dict(found.maps)["w.p"] == ("w.m", 1) and is_program_symmetry(flow, found)


def test_velocities_go_along_and_shared_maps_have_no_sign() -> None:
    flow = heavy_ball(head("p"), SAMPLES, logistic)
    for maps_moved in MapMoves.of(flow).moves:
        signs = {name: sign for name, (_, sign) in maps_moved}
        assert signs["w.p"] == signs["dw.p"]
    W = maps("W", WORDS, WORDS)
    tied = gradient_flow(lambda X: (X.T @ W @ X).sum() + (X.T @ W.T @ W @ X).sum(), SAMPLES, logistic)
    assert len(MapMoves.of(tied).moves) == 1


def test_a_loss_may_have_many_parameters() -> None:
    w, factor = maps("w", 1, WORDS), graph.add([sym(f"b{k}") for k in range(120)])
    flow = gradient_flow(lambda X: factor * (w @ X[0]), SAMPLES, logistic)  # both labels of a: even in w
    (found,) = MapMoves.of(flow).alike(ProgramSymmetry())
    assert dict(found.maps) == {"w": ("w", -1)}


def linear_heads(names: str, extra: str = ""):
    """A sum of heads w, and of a product w v for those in `extra`, which then have other maps."""
    own = {n: maps("w", 1, WORDS, of=n) for n in names} | {n: maps("w v", 1, WORDS, of=n) for n in extra}

    def f(X):
        return sum((w @ X[0] if n in names else (w[0] @ X[0]) * (w[1] @ X[0])) for n, w in own.items())

    return gradient_flow(f, SAMPLES, squared)


def test_moves_are_all_permutations_of_heads_of_one_kind_with_all_signs() -> None:
    flow = linear_heads("abc", "de")
    made = MapMoves.of(flow)
    names = list(flow.naming.letters)
    wanted = set()
    for one, other in product(permutations("abc"), permutations("de")):
        goal = dict(zip("abcde", (*one, *other), strict=True))
        for signs in product((1, -1), repeat=len(names)):
            wanted.add(tuple((n, (f"{n[0]}.{goal[n[2]]}", s)) for n, s in zip(names, signs, strict=True)))
    assert set(made.moves) == wanted and len(made.moves) == len(wanted) == 12 * 2**7
    assert made.moves[0] == tuple((n, (n, 1)) for n in names) and not made.cut and made.undo_negation


def test_many_heads_stay_where_they_are(monkeypatch) -> None:
    six, seven = MapMoves.of(linear_heads("abcdef")), MapMoves.of(linear_heads("abcdefg"))
    assert seven.cut and len(seven.moves) == 2**7
    assert six.cut and len(six.moves) == 2**6, "720 orders times 64 signs are more than are tried"
    assert all(name == to for move in seven.moves for name, (to, _) in move)
    monkeypatch.setattr(map_moves, "MOST", 2 * 2**2)
    fits = MapMoves.of(linear_heads("ab"))
    assert len(fits.moves) == 8 and not fits.cut
    monkeypatch.setattr(map_moves, "MOST", 2 * 2**2 - 1)
    assert MapMoves.of(linear_heads("ab")).cut and len(MapMoves.of(linear_heads("ab")).moves) == 4
    monkeypatch.setattr(map_moves, "MOST", 2**2)
    assert len(MapMoves.of(linear_heads("ab")).moves) == 4
    monkeypatch.setattr(map_moves, "MOST", 2**2 - 1)
    assert len(MapMoves.of(linear_heads("ab")).moves) == 1


def test_the_sign_of_all_words_is_undone_where_each_end_has_a_sign_of_its_own() -> None:
    w, Z, m = maps("w", 1, WORDS), maps("Z", WORDS, WORDS), maps("m", WORDS, WORDS)
    inner = MapMoves.of(gradient_flow(lambda X: (X.T @ Z @ X).sum(), SAMPLES, squared))
    assert inner.undo_negation and len(inner.moves) == 2
    shared = MapMoves.of(
        gradient_flow(lambda X: (w @ m @ X).sum() + (w @ X).sum() * (X.T @ m @ X).sum(), SAMPLES, squared, train="w")
    )
    assert not shared.undo_negation and len(shared.moves) == 1
    assert MapMoves.of(gradient_flow(lambda X: (w @ X).sum(), SAMPLES, squared)).undo_negation


def test_moves_that_pass_in_floats_are_those_that_keep_the_loss() -> None:
    """With a move of words the one that moves no map may be listed; without one it is the identity, which is not."""
    w, v = maps("w v", 1, WORDS)
    made = gradient_flow(lambda X: (w @ X[0]) * (v @ X[0]), Data(WORDS, [("a", 1), ("b", 1)]), squared)
    moves = MapMoves.of(made)
    both = {dict(e.maps)["w"][1] for e in moves.alike(ProgramSymmetry())}
    assert both == {-1} and len(moves.alike(ProgramSymmetry())) == 1
    swap = ProgramSymmetry((("E", (("E", 1, 1), ("E", 0, 1))),))
    assert len(moves.alike(swap)) == 2 and all(e.pins == swap.pins for e in moves.alike(swap))
    odd = gradient_flow(lambda X: w @ X[0], Data(WORDS, [("a", 1), ("b", -1)]), squared)
    (found,) = MapMoves.of(odd).alike(swap)
    assert dict(found.maps) == {"w": ("w", -1)} and is_program_symmetry(odd, found)
    assert MapMoves.of(odd).alike(ProgramSymmetry()) == []
