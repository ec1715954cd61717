"""Moves of maps: heads exchanged and signs of paths, filtered in floats; what passes is what is exact."""

from __future__ import annotations

from odesys import Data, Words, gradient_flow, graph, heavy_ball, logistic, maps, relu, softmax, sym
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
