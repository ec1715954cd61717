"""Arguments that a claim hands over in Coq, about expressions of its check."""

from pathlib import Path

import pytest

from benchmarks.proofs import broken
from odesys import decided, equal, sym
from odesys.proofs.arguments import argument, arguments, definition
from odesys.proofs.terms import NotExported
from odesys.proofs.theory import theory
from odesys.stated import Argued, Stated, recorded
from tests.coq import needs_coq, said_of

X = sym("x")
GROWS = """From Odesys Require Import sequences.

Theorem after_t_steps : forall (v : nat -> R) (h : R),
  (forall k, v (S k) = v k + h) -> forall t, v t = v 0%nat + moved (INR t) h.
Proof. intros v h step t. unfold moved. rewrite (steps_equal v h step t). ring. Qed.
"""


def handed(tmp_path: Path, node, text: str = GROWS, **more):
    """What a claim hands over with a file of theorems about `node`."""
    file = tmp_path / "argument.v"
    file.write_text(text)
    with recorded():
        return decided(True, {}).by_theorems(file, {"moved": (("t", "h"), node)}, **more).stated


@needs_coq
def test_theorems_about_an_expression_of_the_check(tmp_path: Path) -> None:
    found = theory(["a test"], [], handed(tmp_path, sym("t") * sym("h")))
    assert found.statements == 1 and found.by_definition == 0
    assert said_of(found.text, tmp_path).ok


@needs_coq
def test_another_expression_is_refused(tmp_path: Path) -> None:
    found = theory(["a test"], [], handed(tmp_path, -sym("t") * sym("h")))
    assert not said_of(found.text, tmp_path).ok


EITHER_SIGN = """Theorem size_of_a_move : forall t h, 0 <= Rabs (moved t h).
Proof. intros t h. apply Rabs_pos. Qed.
"""


@needs_coq
def test_a_twin_with_another_conclusion_is_refused_where_another_sign_is_not(tmp_path: Path) -> None:
    for node in (sym("t") * sym("h"), -sym("t") * sym("h")):
        found = theory(["a test"], [], handed(tmp_path, node, EITHER_SIGN))
        assert said_of(found.text, tmp_path).ok
        assert not said_of(broken(found.text) or "", tmp_path).ok


def test_several_files_are_one_argument(tmp_path: Path) -> None:
    shared, last = tmp_path / "shared.v", tmp_path / "last.v"
    head, _, tail = GROWS.partition("\n\n")
    shared.write_text(head + "\n")
    last.write_text(tail)
    with recorded():
        (argued,) = decided(True, {}).by_theorems([shared, last]).stated
    assert argued == Argued(GROWS)


@needs_coq
def test_theorems_stand_beside_statements(tmp_path: Path) -> None:
    (argued,) = handed(tmp_path, sym("t") * sym("h"))
    square = Stated("square", "=", (X + 1) ** 2, X**2 + 2 * X + 1)
    found = theory(["a test"], [square], [argued])
    assert "(claim_1, argument_1.after_t_steps)" in found.text
    assert said_of(found.text, tmp_path).ok


@pytest.mark.parametrize("word", ["Admitted.", "Axiom a : False.", "Parameter a : R."])
def test_what_is_not_proved_is_refused(word: str) -> None:
    with pytest.raises(NotExported, match="not proved"):
        argument(1, Argued(f"Theorem t : 0 = 0. Proof. {word}"))


def test_an_argument_has_theorems_and_speaks_of_its_definitions() -> None:
    with pytest.raises(NotExported, match="without theorems"):
        argument(1, Argued("Lemma t : 0 = 0. Proof. reflexivity. Qed."))
    with pytest.raises(NotExported, match="does not speak of moved"):
        argument(1, Argued("(* moved *)\nTheorem t : 0 = 0. Proof. reflexivity. Qed.", (("moved", (), 1),)))


def test_a_definition_names_all_its_symbols() -> None:
    with pytest.raises(NotExported, match="depends on x, too"):
        definition("moved", ("t",), X)


def test_an_argument_of_two_parts_is_written_once(tmp_path: Path) -> None:
    (argued,) = handed(tmp_path, sym("t") * sym("h"))
    assert len(arguments([argued, argued])) == 1


def test_theorems_alone_take_the_place_of_what_was_stated(tmp_path: Path) -> None:
    file = tmp_path / "argument.v"
    file.write_text(GROWS)
    told = {"moved": (("t", "h"), sym("t") * sym("h"))}
    with recorded():
        known = equal({"square": ((X + 1) ** 2, X**2 + 2 * X + 1)})
        assert [type(each) for each in known.by_theorems(file, told).stated] == [Stated, Argued]
        assert [type(each) for each in known.by_theorems(file, told, alone=True).stated] == [Argued]
    assert known.by_theorems(file, told).stated == known.stated  # nothing is read or kept where no proof is asked for
