"""Where equations come from: files that check, and twins that must not."""

from functools import cache
from pathlib import Path

import pytest

from odesys import Data, Words, gradient_file, gradient_flow, logistic, maps, quotient_file, relu, softmax
from odesys.proofs import checking
from odesys.proofs.checking import COQUELICOT, Checked
from tests.coq import needs_coq, said_of


@cache
def flow():
    """A unit above attention over two words, trained as a whole."""
    words = Words("good bad")
    w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", words, words)

    def output(X):
        return relu((w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum() + "b") - 1

    return gradient_flow(output, Data(words, [("good bad", +1), ("good -bad", -1)]), logistic)


def checked(text: str, folder: Path) -> Checked:
    found = said_of(text, folder)
    if found.why == COQUELICOT:
        pytest.skip(COQUELICOT)
    return found


@needs_coq
def test_forces_are_minus_the_derivatives_of_the_loss(tmp_path: Path) -> None:
    text = gradient_file(["a unit above attention"], flow())
    found = checked(text, tmp_path)
    assert found.ok, found.why
    assert set(found.axioms) <= checking.AXIOMS_OF_THE_REALS
    assert text.count("\nTheorem gradient_") == 6
    assert text.count("\nTheorem flow_") == flow().system.dimension


@needs_coq
@pytest.mark.parametrize(
    ("start", "old", "new"),
    [("Definition loss ", "softplus", "exp"), ("Definition G_KQ_good_bad ", "sigmoid", "- sigmoid")],
    ids=["another loss", "a sign of a force"],
)
def test_a_broken_twin_does_not_check(tmp_path: Path, start: str, old: str, new: str) -> None:
    text = gradient_file(["a twin"], flow())
    line = next(each for each in text.splitlines() if each.startswith(start))
    names = [line, *(each for each in text.splitlines() if each.startswith("Definition part_"))]
    broken = next(each for each in names if old in each)
    assert not checked(text.replace(broken, broken.replace(old, new, 1)), tmp_path).ok


@needs_coq
def test_symmetric_states_stay_symmetric(tmp_path: Path) -> None:
    words = Words("good bad the")
    w = maps("w", 1, words)
    plain = gradient_flow(lambda X: (w @ X).sum(), Data(words, [("good the", +1), ("bad the", -1)]), logistic)
    text = quotient_file(["two words"], plain.quotient())
    found = checked(text, tmp_path / "law")
    assert found.ok, found.why
    assert "Theorem law_w_bad : (rate_w_bad (- w_good) 0) = - orbit_w_good." in text
    twin = text.replace(" = - orbit_w_good.", " = orbit_w_good.")
    assert not checked(twin, tmp_path / "twin").ok
