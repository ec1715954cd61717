"""Exact numbers: within limits they are exact, beyond them a sentence comes at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction

import pytest

from odesys import System, sym
from odesys.errors import EquationError
from odesys.expr import constants, graph


def from_nodes(*nodes: list) -> System:
    head = {"format": "odesys-system", "version": 1, "kind": "flow", "states": ["x"], "parameters": [], "tex": {}}
    return System.from_json(json.dumps({**head, "equations": [len(nodes) - 1], "observables": {}, "nodes": nodes}))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: from_nodes(["num", "3"], ["mul", [0, "1000000000"]]), "3 to the power 1000000000 has more than"),
        (lambda: from_nodes(["num", "3" * 5000]), "has 5000 digits"),
        (lambda: System.from_strings({"x": "3**(10**9)*x"}), "more than 4000 digits"),
        (lambda: System.from_strings({"x": "(1/3)**(10**9)*x"}), "more than 4000 digits"),
        (lambda: System.from_strings({"x": "9^9^9^9*x"}), "more than 4000 digits"),
        (lambda: System.from_strings({"x": "1e999999999*x"}), "has 999999999 digits"),
        (lambda: System.from_strings({"x": "1e-99999999999999*x"}), "99999999999999 digits"),
        (lambda: System.from_strings({"x": "9" * 5000 + "*x"}), "has 5000 digits"),
        (lambda: System.from_strings({"x": "(" * 10**5 + "x" + ")" * 10**5}), "too many brackets"),
        (lambda: graph.num(10**3000) * graph.num(10**3000), "more than 4300 digits"),
        (lambda: graph.num(1e300) ** 2, "beyond floating-point"),
        (lambda: graph.num(Fraction(4) ** 1000) ** Fraction(3**9, 2), "more than 4000 digits"),
    ],
)
def test_what_can_not_be_is_refused_at_once(build: Callable[[], object], words: str) -> None:
    began = time.process_time()
    with pytest.raises(EquationError) as refused:
        build()
    assert words in str(refused.value) and len(str(refused.value)) < 200 and time.process_time() - began < 5


@pytest.mark.parametrize("backend", ["scalar", "native"])
def test_a_constant_beyond_floats_is_refused_where_floats_begin(backend: str) -> None:
    system = System.from_strings({"x": "9" * 400 + "*x"})
    with pytest.raises(EquationError, match="beyond floating-point numbers"):
        system.compile(backend=backend)(0.0, [1.0])


def test_large_powers_that_can_be_are_exact() -> None:
    assert graph.num(2) ** 4000 is graph.num(2**4000)
    assert constants.whole_power(Fraction(1), 10**30) == 1 and constants.whole_power(Fraction(-1), 10**30 + 1) == -1
    assert (sym("x") ** 10**9) * (sym("x") ** -(10**9)) is graph.ONE
    assert constants.read_number("1e-400") == Fraction(1, 10**400) and constants.read_number("1_0e0003") == 10**4


def test_the_limits_themselves_are_allowed() -> None:
    assert constants.read_number("1e4000") == 10**4000 and constants.whole_power(Fraction(2), 13288) == 2**13288
    assert constants.whole_power(Fraction(1, 2), 13288) == Fraction(1, 2**13288)
    assert constants.read_number("7" * 4000) == int("7" * 4000)
    for text in ("1e4001", "7" * 4001):
        with pytest.raises(EquationError, match="4000"):
            constants.read_number(text)
    for base in (Fraction(2), Fraction(1, 2), Fraction(-2)):
        for exponent in (13289, -13289):
            with pytest.raises(EquationError, match="4000"):
                constants.whole_power(base, exponent)


def test_a_long_text_is_shown_by_its_ends_and_a_short_one_whole() -> None:
    for length in range(1, 60):
        text = "".join(chr(97 + k % 26) for k in range(length))
        short = constants.shown(text, 20)
        assert (short == text) == (length <= 20)
        assert text.startswith(short.partition("...")[0]) and text.endswith(short.rpartition("...")[2])
        assert len(short) <= max(20, len("..."))
