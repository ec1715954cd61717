"""The files that say where the equations come from."""

from pathlib import Path

import pytest

from derivations.two_mixture.claims import book
from odesys.proofs.checking import AXIOMS_OF_THE_REALS
from tests.coq import needs_coq, said_of

GRADIENT, QUOTIENT = "derivation_gradient.v", "derivation_quotient.v"


def test_all_derivatives_equations_and_laws_are_in_the_files() -> None:
    gradient, quotient = (book.derivations[file]() for file in (GRADIENT, QUOTIENT))
    assert gradient.count("\nTheorem gradient_") == 36  # of 40 read path scalars; no sample has both c_1 and c_2
    assert gradient.count("\nTheorem flow_") == quotient.count("\nTheorem law_") == 80
    assert gradient.count("\nHypothesis ") == 16  # a unit of each head on each sample
    assert quotient.count("\nDefinition orbit_") == 22
    assert "\nHypothesis " not in quotient


@needs_coq
@pytest.mark.nightly
@pytest.mark.parametrize("file", [GRADIENT, QUOTIENT])
def test_coq_checks_them(tmp_path: Path, file: str) -> None:
    found = said_of(book.derivations[file](), tmp_path)
    assert found.ok, found.why
    assert set(found.axioms) <= AXIOMS_OF_THE_REALS
