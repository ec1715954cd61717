"""Kinds of arguments and results: read from annotations, or refused."""

import numpy as np
import pytest

from odesys.jit.loop_kinds import DOUBLE, INTEGER, NOTHING, POINTER, TRUTH, Array, Code, LoopError, call, signature


def everything(n: int, a: float, b: bool, x: Array, code: Code) -> None:
    """One argument of each kind."""


def chosen(n: int) -> bool:
    return n > 0


def worded(text: str) -> int:
    return len(text)


def bare(n) -> int:  # type: ignore[no-untyped-def]
    return int(n)


def test_kinds_are_read_from_annotations() -> None:
    assert signature(everything) == ((INTEGER, DOUBLE, TRUTH, POINTER, POINTER), NOTHING)
    assert signature(chosen) == ((INTEGER,), TRUTH)


@pytest.mark.parametrize(("function", "words"), [(worded, "str.* has no kind"), (bare, "'n' has no kind")])
def test_what_has_no_kind_is_refused_with_the_ones_there_are(function: object, words: str) -> None:
    with pytest.raises(LoopError, match=f"{words}; annotate arguments and result with int, float, Array or Code"):
        signature(function)  # type: ignore[arg-type]


def test_code_is_called_with_its_five_arguments() -> None:
    def doubled(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[:] = 2 * x + p + t

    out = np.zeros(2)
    call(doubled, 1.0, np.array([1.0, 2.0]), np.array([10.0]), np.empty(0), out)
    assert out.tolist() == [13.0, 15.0]
