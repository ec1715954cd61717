"""Errors: objects become attributes, and one base class catches everything a user can cause."""

from __future__ import annotations

import pytest

from odesys import errors
from odesys.errors import ClosureError, OdesysError

RAISED = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
KINDS = [kind for kind in RAISED if not issubclass(kind, Warning)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_caught_by_the_base_and_says_what_it_is_for(kind: type[OdesysError]) -> None:
    with pytest.raises(OdesysError, match="what was asked") as caught:
        raise kind("what was asked", witness=3)
    assert caught.value.witness == 3 and caught.value.objects == {"witness": 3} and kind.__doc__


def test_a_warning_says_what_it_is_for() -> None:
    assert all(kind.__doc__ for kind in RAISED if issubclass(kind, Warning)) and len(RAISED) > len(KINDS)


def test_the_message_is_all_that_is_printed() -> None:
    error = ClosureError("the flow does not close", path="a.U.W", chain=("a.U",))
    assert str(error) == "the flow does not close" and (error.path, error.chain) == ("a.U.W", ("a.U",))


def test_a_word_without_end_is_shown_by_its_ends() -> None:
    said = str(OdesysError(f"{'9' * 4000} = nan is not a number"))
    assert len(said) < 100 and said.startswith("999") and said.endswith("9 = nan is not a number")
    path = "/".join(["folder"] * 30)
    assert path in str(OdesysError(f"there is no {path}"))


def test_words_are_whole_up_to_a_length_and_then_their_ends_stay() -> None:
    limit, word = errors.LONG_WORD, "".join(chr(97 + k % 26) for k in range(errors.LONG_WORD + 1))
    assert str(OdesysError(f"{word[:limit]} is no name")) == f"{word[:limit]} is no name"
    assert str(OdesysError(f"it is {word} here")) == f"it is {word[:30]}...{word[-30:]} here"
